//! The functions of one library: which ones are patched, and the outcomes.

use core::ffi::CStr;
use core::ops::ControlFlow;

use ascend_trace_format::engine::{EngineTable, HostTable, PatchOutcome, PatchRequest, VERSION};

use super::shape::{self, Shape};
use super::{entrance, patched};
use ascend_trace_format::record::{Text, kinds};

use crate::hooks::SHAPES;
use crate::loader::fork_guard::InsideGuard;
use crate::loader::walk::{self, Holder};
use crate::stubs::{self, Refusal};
use crate::{emit, libraries, names, real, symbol_lookups};

/// The number of a function that the table does not have.
const UNKNOWN: usize = usize::MAX;

/// A function that the library offers.
struct Export {
    name: &'static CStr,
    address: usize,
    size: usize,
}

/// Patches the functions of AscendCL that a library offers; `false` when that may work later. Every
/// outcome is reported, of a repeated try only success.
pub(super) fn patch(engine: &EngineTable, holder: &Holder, is_first: bool) -> bool {
    let exports = exports(holder);
    let mut patches = Vec::with_capacity(exports.len());
    for export in &exports {
        let (replacement, outcome) = match replacement(export, !is_first) {
            Ok(replacement) => (replacement, PatchOutcome::Untried),
            // Without a replacement, the engine leaves it alone.
            Err(refusal) => (0, refusal),
        };
        patches.push(PatchRequest {
            id: names::id(export.name.to_bytes()).unwrap_or(UNKNOWN),
            address: export.address,
            size: export.size,
            replacement,
            outcome: outcome as u32,
            ..PatchRequest::default()
        });
    }
    let host = HostTable {
        version: VERSION,
        own: walk::own_range(),
        publish,
    };
    // The engine asks the loader as well.
    let _inside = InsideGuard::enter();
    // SAFETY: the library is pinned, the replacements are wrappers and stubs for these functions;
    // only one thread comes here at a time.
    unsafe { (engine.install)(&raw const host, patches.as_mut_ptr(), patches.len()) };
    let mut is_done = true;
    for (export, patch) in exports.iter().zip(&patches) {
        let outcome = PatchOutcome::from_code(patch.outcome).unwrap_or(PatchOutcome::Untried);
        is_done &= outcome != PatchOutcome::ThreadsRunning;
        if is_first || outcome.is_patched() {
            tell(holder, export.name, outcome);
        }
    }
    is_done
}

/// The library is pinned, so its names stay.
fn exports(holder: &Holder) -> Vec<Export> {
    let mut exports = Vec::new();
    walk::each(|place| {
        if place.object.base != holder.base {
            return ControlFlow::Continue(());
        }
        let is_below = libraries::is_below(place.object.file_name());
        place.object.each_function(|name, address, size| {
            let bytes = name.to_bytes();
            let is_unknown = names::is_acl(bytes) || is_below && names::is_below(bytes);
            if names::id(bytes).is_some() || is_unknown {
                // SAFETY: the names of a library that is never unloaded stay where they are.
                let name = unsafe { CStr::from_ptr(name.as_ptr()) };
                exports.push(Export {
                    name,
                    address,
                    size,
                });
            }
        });
        ControlFlow::Break(())
    });
    exports
}

/// Where calls of a function are to go: to its wrapper, or to the stub of one that no table has, by
/// an entrance that keeps all registers. `is_again` when that was asked before.
fn replacement(export: &Export, is_again: bool) -> Result<usize, PatchOutcome> {
    let Some(id) = names::id(export.name.to_bytes()) else {
        let stub =
            stubs::install(export.name, export.address).map_err(|refusal| match refusal {
                Refusal::Twin => PatchOutcome::Twin,
                _ => PatchOutcome::NoStub,
            })?;
        return entrance::to(stub, UNKNOWN_SHAPE, is_again).ok_or(PatchOutcome::NoStub);
    };
    let wrapper = real::replacement(id, export.address).ok_or(PatchOutcome::NoStub)?;
    let shape = SHAPES.get(id).ok_or(PatchOutcome::NoStub)?;
    let entrance = match shape.stack {
        Some(_) => entrance::to(wrapper, *shape, is_again),
        // Two functions of such a name cannot be distinguished behind an entrance.
        None if real::is_wrapper(id, wrapper) => entrance::to_variadic(id, is_again),
        None => None,
    };
    entrance.ok_or(PatchOutcome::NoStub)
}

/// A function that no table has: as much of the stack as its stub passes on, and any result.
const UNKNOWN_SHAPE: Shape = Shape {
    stack: Some(stubs::STACK_BYTES as u32),
    results: shape::ANY,
};

/// The engine calls this when the ways around all patches are known, and before any patch is made.
unsafe extern "C" fn publish(patches: *const PatchRequest, count: usize) {
    // SAFETY: the engine passes the arguments of `patch`.
    let patches = unsafe { core::slice::from_raw_parts(patches, count) };
    for patch in patches.iter().filter(|patch| is_patched(patch)) {
        patched::remember(patch.address, patch.original);
        patched::remember(patch.entry, patch.original);
        if patch.id == UNKNOWN {
            if let Some(stub) = entrance::target(patch.replacement) {
                stubs::set_target(stub, patch.original);
            }
        } else {
            real::moved(patch.id, patch.address, patch.original);
        }
    }
}

fn is_patched(patch: &PatchRequest) -> bool {
    patch.original != 0
        && PatchOutcome::from_code(patch.outcome).is_some_and(PatchOutcome::is_patched)
}

fn tell(holder: &Holder, name: &CStr, outcome: PatchOutcome) {
    let path = holder.path.text().to_bytes();
    let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let patch = kinds::Patch {
        outcome,
        function: Text::new(name.to_bytes()),
        file: Text::new(file),
    };
    symbol_lookups::from_inside(|state| emit::record(state, &patch));
}

/// That there is no engine, and why.
pub(super) fn tell_failure(message: &[u8]) {
    let reason = Text::new(message);
    symbol_lookups::from_inside(|state| emit::record(state, &kinds::EngineFailure { reason }));
}
