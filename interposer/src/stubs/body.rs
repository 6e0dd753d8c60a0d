//! What happens between the entry of a stub and the return to the program.

use ascend_trace_format::record::{STUB, Shape};

use super::frame::Frame;
use super::table::{self, Stub};
use super::{FEW_STACK_BYTES, STACK_BYTES, entry, planning, reach, submit};
use crate::session;
use crate::simple::Simple;
use crate::timing::lane;
use crate::{runtime_layer, thread};

/// A stub has been entered. Returns where to continue with all registers unchanged, or 0 when the call
/// has been made and its results are in the frame.
///
/// # Safety
/// `frame` must be the one that the assembly has just made.
pub(super) unsafe extern "C-unwind" fn enter(index: u32, frame: *mut Frame) -> usize {
    let index = index as usize;
    let Some(stub) = table::get(index) else {
        return 0;
    };
    if session::passes(false) && (stub.is_unknown() || thread::may_pass()) {
        return stub.target();
    }
    // SAFETY: the frame belongs to the assembly, without another user until this returns.
    let limit = unsafe { &mut *frame };
    if !stub.is_unknown() {
        return match stub.shape() {
            Shape::Submitting => submit::way(index, limit),
            // SAFETY: as this function.
            Shape::Unknown => unsafe { below(index, stub, frame) },
            // SAFETY: as this function.
            _ => unsafe { plan(index, stub, frame) },
        };
    }
    // SAFETY: as this function.
    unsafe { pass(index, stub, frame) }
}

/// Makes and records a call of which nothing else is known.
///
/// # Safety
/// As [`enter`].
#[inline(always)]
unsafe fn pass(index: usize, stub: &'static Stub, frame: *mut Frame) -> usize {
    let target = stub.target();
    // SAFETY: as in `enter`.
    let limit = unsafe { &mut *frame };
    let Some(call) = Simple::enter(usize::from(STUB) + index, limit.stack, &[]) else {
        return target;
    };
    limit.passed = reach::readable(limit.stack, FEW_STACK_BYTES);
    // SAFETY: the call is the program's, with its arguments; the bytes are readable.
    unsafe { entry::invoke(target, frame) };
    // SAFETY: as above; the results have been stored.
    let result = unsafe { (*frame).integers[0] };
    call.leave_stub(index, &[], number(result));
    0
}

/// The same for a function of the layer below AscendCL, which may submit anything to any stream.
///
/// # Safety
/// As [`enter`].
#[inline(never)]
unsafe fn below(index: usize, stub: &'static Stub, frame: *mut Frame) -> usize {
    // SAFETY: as in `enter`.
    let here = unsafe { (*frame).stack };
    if runtime_layer::reports_unknown(here) {
        return stub.target();
    }
    let is_on_its_own = thread::with(|state| !state.in_task());
    if is_on_its_own {
        lane::note_unknown();
    }
    // SAFETY: as this function.
    let way = unsafe { pass(index, stub, frame) };
    if is_on_its_own {
        lane::note_unknown();
    }
    way
}

/// The same for a function that plans an operator. Apart from the others, which need no room for what
/// is looked at here.
///
/// # Safety
/// As [`enter`].
#[inline(never)]
unsafe fn plan(index: usize, stub: &'static Stub, frame: *mut Frame) -> usize {
    let target = stub.target();
    // SAFETY: as in `enter`.
    let limit = unsafe { &mut *frame };
    let Some(call) = Simple::enter(usize::from(STUB) + index, limit.stack, &[]) else {
        return target;
    };
    limit.passed = reach::readable(limit.stack, STACK_BYTES);
    let plan = planning::before(stub, limit);
    // SAFETY: as in `enter`.
    unsafe { entry::invoke(target, frame) };
    // SAFETY: as in `enter`.
    let result = unsafe { (*frame).integers[0] };
    planning::after(&plan, index, stub, call, result);
    0
}

/// A result as its most likely number. Most functions return 32 bits, and leave the rest of the
/// register unchanged or empty.
fn number(result: u64) -> u64 {
    match result >> 32 {
        0 => i64::from(result as i32) as u64,
        _ => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_signed_numbers_unless_they_need_more_room() {
        assert_eq!(number(0xffff_ffff) as i64, -1);
        assert_eq!(number(100_000), 100_000);
        assert_eq!(number(0x7fff_0000_1000), 0x7fff_0000_1000);
        assert_eq!(number(u64::MAX) as i64, -1);
    }
}
