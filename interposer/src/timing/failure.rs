//! Contexts that have failed. A query about one takes the text of the failure away from the program: it
//! moves to the asking thread. So the tool makes none.

use core::sync::atomic::Ordering::Relaxed;

use crate::call_context::Context;
use crate::objects::{self, ContextEntry, StreamEntry};
use crate::timing::reference;

/// Whether a code says that a device, or its work, has failed; a wait on the device that timed out is
/// such a task. Codes of wrong use, of a timed-out wait of the host and of missing features of a chip
/// say nothing about the context.
pub(crate) const fn is_fault(code: i32) -> bool {
    matches!(
        code,
        107_019
            | 507_001
            | 507_010
            | 507_011
            | 507_013..=507_020
            | 507_033..=507_045
            | 507_048..=507_099
            | 507_899..=507_902
            | 507_904..=507_999
    )
}

/// A call of the program's has failed: if that means that its context has, the context is left alone
/// from now on.
pub(crate) fn note(call: &Context<'_>, stream: Option<&'static StreamEntry>, code: u64) {
    if !is_fault(code as i32) {
        return;
    }
    let own = call.state.context();
    let of_stream = stream.map(|stream| stream.context.load(Relaxed));
    let of_stream = of_stream.filter(|serial| *serial != 0);
    for context in objects::contexts() {
        let is_own = own.is_some_and(|own| core::ptr::eq(own, context));
        if is_own || of_stream == Some(context.serial.load(Relaxed)) {
            leave_alone(context);
        }
    }
}

/// From now on the tool makes no query about the context.
pub(crate) fn leave_alone(context: &ContextEntry) {
    context.timing.fail();
    reference::abandon(context);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_kernel_is_a_fault_and_wrong_use_is_not() {
        for code in [
            107_019, 507_014, 507_015, 507_018, 507_035, 507_053, 507_899,
        ] {
            assert!(is_fault(code), "{code}");
        }
        for code in [
            0, 100_000, 107_000, 107_006, 107_027, 207_000, 507_000, 507_012, 507_046, 507_047,
            507_903,
        ] {
            assert!(!is_fault(code), "{code}");
        }
    }
}
