//! Nothing is recorded for a while: the program wants that (`ascend_trace.pause()`), the recorder does, or the window of the
//! recording has not begun or has ended.
//!
//! Data that later records need is still followed and recorded: creation and end of objects, memory,
//! captures and the program's marks. Other calls are made as usual, and leave no record; their tasks
//! get no events. Where the hardware log is read, tasks stay in the recording: an entry of the log
//! without its task would have no known owner.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::function_facts::Traits;
use crate::session;

pub(crate) use crate::session::{AT_BEGIN, BY_PROGRAM, BY_RECORDER, OUTSIDE};

/// The id of the pause that the recording has as lasting, 0 for none.
static REPORTED: AtomicU64 = AtomicU64::new(0);

/// Whether nothing is recorded.
#[inline]
pub(crate) fn is_on() -> bool {
    session::is_paused()
}

/// These causes begin, or no longer exist. Returns which of them existed before.
pub(crate) fn set(causes: u32, is_so: bool) -> u32 {
    session::note(causes, is_so) & causes
}

/// Whether the recording does not show yet that a pause has begun or ended.
#[inline]
pub(crate) fn is_unreported() -> bool {
    session::shows_pause() != (REPORTED.load(Relaxed) != 0) && !session::is_armed()
}

/// The pause with this id will be reported as lasting, unless another one is. Returns whether it will.
pub(crate) fn begin_report(id: u64) -> bool {
    let begins = REPORTED.compare_exchange(0, id, SeqCst, Relaxed).is_ok();
    note();
    begins
}

/// The end of the reported pause will be reported. Returns its id, 0 without one.
pub(crate) fn end_report() -> u64 {
    let id = REPORTED.swap(0, SeqCst);
    note();
    id
}

/// Notes for the fast path whether the recording has a pause. Another thread may report meanwhile: the last one that notes
/// it sees the latest state.
fn note() {
    loop {
        let is_reported = REPORTED.load(SeqCst) != 0;
        session::note(session::REPORTED, is_reported);
        if (REPORTED.load(SeqCst) != 0) == is_reported {
            return;
        }
    }
}

/// This process joins another session, which shows no pause.
pub(crate) fn begin_again() {
    end_report();
}

/// This process is a forked child: the pauses of its parent's program are not its own.
pub(crate) fn forget() {
    end_report();
    set(BY_PROGRAM, false);
}

/// Whether a call of a function with these traits, which begins now, is left out.
#[inline]
pub(crate) fn leaves_out(traits: &Traits) -> bool {
    is_on() && !traits.is_lasting && !(traits.submits && session::wants_log())
}

#[cfg(test)]
mod tests {
    use crate::function_facts;
    use crate::functions::FUNCTIONS;

    #[test]
    fn what_later_calls_depend_on_is_recorded_also_while_paused() {
        let lasts = |name: &str| {
            let id = FUNCTIONS.iter().position(|it| it.name == name);
            function_facts::of(id.expect(name)).is_some_and(|it| it.is_lasting)
        };
        for name in [
            "aclrtCreateStream",
            "aclrtDestroyEvent",
            "aclrtSetDevice",
            "aclrtSetCurrentContext",
            "aclrtMalloc",
            "aclrtFree",
            "aclmdlRICaptureBegin",
            "aclmdlRICaptureEnd",
        ] {
            assert!(lasts(name), "{name}");
        }
        for name in [
            "aclrtMemcpyAsync",
            "aclrtRecordEvent",
            "aclrtSynchronizeStream",
            "aclrtGetDevice",
        ] {
            assert!(!lasts(name), "{name}");
        }
    }
}
