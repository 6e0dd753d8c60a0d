//! Patches a number of functions: examine, plan, check the threads, patch, report, seal.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use ascend_trace_format::engine::{HostTable, PatchOutcome, PatchRequest, VERSION};

use crate::forwarder::{self, ProgramMemory};
use crate::image::MemoryImage;
use crate::plan::{self, Candidate};
use crate::{protection, threads};

/// A library that patches functions. Its input was examined before.
///
/// # Safety
/// After `replace` has succeeded, a call of its result must at once have the effect of the original
/// function; after `commit`, calls of the function must reach the replacement with every register and
/// the stack unchanged; and both must last until the process ends.
pub unsafe trait Patcher {
    fn begin(&mut self);

    /// Prepares a patch, which takes effect with [`Patcher::commit`]; returns an address that runs the
    /// original function.
    ///
    /// # Safety
    /// `entry` must be that of a function that can be patched and stays loaded, `replacement` a
    /// function that takes its calls.
    unsafe fn replace(&mut self, entry: usize, replacement: usize) -> Result<usize, PatchOutcome>;

    fn commit(&mut self);
}

/// Entries that were patched. They stay so.
static TAKEN: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Implements an engine's table, with a patcher that is made on first use.
///
/// # Safety
/// As `Engine::install`: `host` must be null or valid, `patches` must lead to `count` of them, with
/// functions that stay loaded and replacements for them.
pub unsafe fn install(
    host: *const HostTable,
    patches: *mut PatchRequest,
    count: usize,
    patcher: impl FnOnce() -> Box<dyn Patcher>,
) {
    if host.is_null() || patches.is_null() {
        return;
    }
    // SAFETY: as the caller says.
    let (host, patches) = unsafe { (&*host, core::slice::from_raw_parts_mut(patches, count)) };
    if host.version != VERSION {
        return;
    }
    // A panic must not reach the program; patches that were committed before it stay and work.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // Whoever forked while another thread was here finds it locked for ever, and patches no more.
        if let Ok(mut taken) = TAKEN.try_lock() {
            work(host, patches, &mut taken, patcher);
        }
    }));
}

fn work(
    host: &HostTable,
    patches: &mut [PatchRequest],
    taken: &mut BTreeSet<usize>,
    patcher: impl FnOnce() -> Box<dyn Patcher>,
) {
    let image = MemoryImage::now(host.own);
    let mut candidates = Vec::new();
    for (index, patch) in patches.iter_mut().enumerate() {
        if patch.replacement == 0 {
            continue;
        }
        match forwarder::entry(&image, patch.address, patch.size) {
            Ok(entry) => candidates.push(Candidate { index, entry }),
            Err(outcome) => patch.outcome = outcome as u32,
        }
    }
    let plan = plan::settle(&candidates, taken);
    let tell = |patches: &mut [PatchRequest], index: usize, outcome: PatchOutcome| {
        if let Some(patch) = patches.get_mut(index) {
            patch.outcome = outcome as u32;
        }
    };
    for (index, outcome) in &plan.refused {
        tell(patches, *index, *outcome);
    }
    if let Some(obstacle) = obstacle(&plan.patched) {
        for candidate in &plan.patched {
            tell(patches, candidate.index, obstacle);
        }
        return;
    }
    if !plan.patched.is_empty() {
        apply(host, patches, &plan.patched, taken, &mut *patcher());
        for Candidate { entry, .. } in &plan.patched {
            // Where the function goes on may be the first byte of a page.
            let behind = entry.address.saturating_add(entry.moved);
            let goes_on = image.code(behind).is_some();
            protection::seal(entry.address, entry.moved + usize::from(goes_on));
        }
    }
}

/// What forbids to patch anything now.
fn obstacle(planned: &[Candidate]) -> Option<PatchOutcome> {
    if planned.is_empty() {
        return None;
    }
    if !protection::can_be_changed() {
        return Some(PatchOutcome::CodeIsLocked);
    }
    let ranges: Vec<_> = planned
        .iter()
        .map(|it| it.entry.address..it.entry.address + it.entry.moved)
        .collect();
    (!threads::are_away(&ranges)).then_some(PatchOutcome::ThreadsRunning)
}

fn apply(
    host: &HostTable,
    patches: &mut [PatchRequest],
    planned: &[Candidate],
    taken: &mut BTreeSet<usize>,
    patcher: &mut dyn Patcher,
) {
    patcher.begin();
    for Candidate { index, entry } in planned {
        let Some(patch) = patches.get_mut(*index) else {
            continue;
        };
        // SAFETY: the entry was judged; the host keeps the library and vouches for the replacement.
        let replaced = unsafe { patcher.replace(entry.address, patch.replacement) };
        let outcome = match replaced {
            Ok(original) => {
                patch.original = original;
                patch.entry = entry.address;
                taken.insert(entry.address);
                if entry.is_forwarded {
                    PatchOutcome::PatchedAtTarget
                } else {
                    PatchOutcome::Patched
                }
            }
            Err(outcome) => outcome,
        };
        patch.outcome = outcome as u32;
    }
    // SAFETY: the host's function, with the number of patches.
    unsafe { (host.publish)(patches.as_ptr(), patches.len()) };
    patcher.commit();
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn publish(_: *const PatchRequest, _: usize) {}

    #[test]
    fn who_forked_while_another_thread_patched_neither_waits_nor_patches() {
        let taken = TAKEN.lock().unwrap();
        let host = HostTable {
            version: VERSION,
            own: [0; 2],
            publish,
        };
        let mut patch = PatchRequest {
            address: publish as *const () as usize,
            size: 64,
            replacement: 1,
            ..PatchRequest::default()
        };
        let no_patcher = || -> Box<dyn Patcher> { panic!("there is nothing to patch with") };
        // SAFETY: one patch, which is not used.
        unsafe { install(&raw const host, &raw mut patch, 1, no_patcher) };
        assert_eq!(
            PatchOutcome::from_code(patch.outcome),
            Some(PatchOutcome::Untried)
        );
        drop(taken);
    }
}
