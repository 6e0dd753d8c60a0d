//! The C boundary: what every exported function does around its body.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::code::{Code, Fault, Outcome, RT_INTERNAL, SUCCESS, fault};
use crate::ffi::complain;
use crate::{errors, guard, mspti, process, snapshot, virtual_time};

/// Runs the body of an exported function: nothing unwinds out of it, and failures are noted for
/// the calling thread.
pub(crate) fn call(function: &'static str, body: impl FnOnce() -> Outcome) -> Code {
    snapshot::pass(function);
    let _call = guard::enter(function);
    let _visit = virtual_time::enter(function, process::truth());
    let profiler_begin = mspti::enter();
    let outcome = process::injected_failure(function).map_or_else(
        || {
            catch_unwind(AssertUnwindSafe(body))
                .unwrap_or_else(|_| fault(RT_INTERNAL, "softacl panicked; please report it"))
        },
        |code| fault(code, "made to fail by the option `fail`"),
    );
    if let Some(begin) = profiler_begin {
        mspti::leave(function, begin);
    }
    match outcome {
        Ok(()) => SUCCESS,
        Err(failed) => {
            guard::left_an_error(function, failed.code);
            errors::note(function, failed);
            if failed.why.starts_with("this is no ") {
                tell_of_unknown_handle(function, failed);
            }
            failed.code
        }
    }
}

/// Handles that do not exist, or not any more, crash a card's runtime.
#[cold]
fn tell_of_unknown_handle(function: &str, failed: Fault) {
    if process::options().verbose {
        complain(&format!(
            "{function}: {} ({}); the library of a card would crash here",
            failed.why, failed.code
        ));
    }
}
