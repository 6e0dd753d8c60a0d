//! The other way to catch calls: patching the functions themselves.
//!
//! An engine is a library that the environment may name. It is loaded when the first library of
//! AscendCL is loaded, and patches the functions of that and of every later one, so that calls which
//! never pass the dynamic linker reach the wrappers as well. Everything else is the same without an
//! engine: wrappers are still found by name, only the way from them to the real functions leads around
//! the patches ([`patched`]).

mod entrance;
mod library;
mod load;
pub(crate) mod loaded;
pub(crate) mod patched;
pub(crate) mod shape;

use core::ops::ControlFlow;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize};

use crate::errno::Errno;
use crate::loader::walk::{self, Holder};
use crate::{large_stack, libraries, loader, session};

/// How often a library is tried again that could not be patched because threads were running.
const TRIES: u8 = 4;

/// A library that was looked at.
struct PatchedLibrary {
    base: AtomicUsize,
    /// Number of remaining tries; 0 when it is done.
    tries: AtomicU8,
}

/// Libraries beyond this number are not patched.
static SEEN: [PatchedLibrary; 128] = [const {
    PatchedLibrary {
        base: AtomicUsize::new(0),
        tries: AtomicU8::new(0),
    }
}; 128];

/// The loader's count of added objects at the last look.
static ADDITIONS: AtomicU64 = AtomicU64::new(0);
/// Whether a library needs another try.
static PENDING: AtomicBool = AtomicBool::new(false);
/// Whether a thread is at it. Others do not wait.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Patches the objects that were loaded since the last time. Call it while this thread loads no object;
/// when another one loads, this waits for it, as any call of the loader does.
#[inline]
pub(crate) fn look() {
    if load::is_wanted() {
        look_now();
    }
}

#[cold]
fn look_now() {
    if !session::is_on() || BUSY.swap(true, Acquire) {
        return;
    }
    let _errno = Errno::save();
    let additions = walk::added();
    let is_new = ADDITIONS.swap(additions, AcqRel) != additions;
    if is_new || PENDING.load(Relaxed) {
        PENDING.store(false, Relaxed);
        large_stack::run(|| {
            SEEN.iter().for_each(patch_again);
            while let Some((seen, holder)) = next_new() {
                patch(seen, &holder, true);
            }
        });
    }
    BUSY.store(false, Release);
}

/// A library of AscendCL that was not looked at yet.
fn next_new() -> Option<(&'static PatchedLibrary, Holder)> {
    let mut found = None;
    walk::each(|place| {
        if !libraries::is_acl(place.object.file_name()) {
            return ControlFlow::Continue(());
        }
        if let Some(seen) = take(place.object.base) {
            found = Holder::of(&place).map(|holder| (seen, holder));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    found
}

/// A place for a library, if it has none yet.
fn take(base: usize) -> Option<&'static PatchedLibrary> {
    for seen in &SEEN {
        match seen.base.compare_exchange(0, base, AcqRel, Acquire) {
            Ok(_) => return Some(seen),
            Err(known) if known == base => return None,
            Err(_) => {}
        }
    }
    None
}

fn patch_again(seen: &'static PatchedLibrary) {
    if seen.tries.load(Relaxed) > 0
        && let Some(holder) = walk::holder_of_base(seen.base.load(Relaxed))
    {
        patch(seen, &holder, false);
    }
}

fn patch(seen: &PatchedLibrary, holder: &Holder, is_first: bool) {
    // Pinned first: that also waits until the loader is done with it, relocations included.
    loader::pin(holder);
    let Some(engine) = load::engine() else {
        return;
    };
    let is_done = library::patch(engine, holder, is_first);
    let tries = match (is_done, is_first) {
        (true, _) => 0,
        (false, true) => TRIES,
        (false, false) => seen.tries.load(Relaxed).saturating_sub(1),
    };
    seen.tries.store(tries, Relaxed);
    if tries > 0 {
        PENDING.store(true, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_new_once() {
        let first = take(0x1000).unwrap();
        assert!(take(0x1000).is_none());
        let second = take(0x2000).unwrap();
        assert!(!core::ptr::eq(first, second));
    }

    #[test]
    fn without_an_engine_nothing_is_looked_at() {
        look();
        assert_eq!(ADDITIONS.load(Relaxed), 0);
    }
}
