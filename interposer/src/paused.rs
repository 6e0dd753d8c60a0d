//! The program wants nothing recorded for a while (`ascend_trace.pause()`).
//!
//! Whatever is needed to understand what comes later is followed and recorded all the same: what comes into
//! being or goes, memory, captures and the program's own marks. Other calls are made as ever, and leave no
//! record; their tasks get no events. Where the hardware's log is read, tasks stay in the recording: an entry
//! of the log without its task would leave open whose it is.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use crate::session;
use crate::traits::Traits;

static IS_PAUSED: AtomicBool = AtomicBool::new(false);

/// Whether the program has paused the recording.
#[inline]
pub(crate) fn is_on() -> bool {
    IS_PAUSED.load(Relaxed)
}

/// Pauses the recording, or goes on. Returns whether that changes anything.
pub(crate) fn set(is_paused: bool) -> bool {
    IS_PAUSED.swap(is_paused, Relaxed) != is_paused
}

/// Whether a call of a function with these traits, which begins now, is left out.
#[inline]
pub(crate) fn leaves_out(traits: &Traits) -> bool {
    is_on() && !traits.is_lasting && !(traits.submits && session::wants_log())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::FUNCTIONS;
    use crate::traits;

    #[test]
    fn what_later_calls_depend_on_is_recorded_also_while_paused() {
        let lasts = |name: &str| {
            let id = FUNCTIONS.iter().position(|it| it.name == name);
            traits::of(id.expect(name)).is_some_and(|it| it.is_lasting)
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

    #[test]
    fn only_a_change_is_one() {
        assert!(!is_on() && !set(false));
        assert!(set(true) && is_on() && !set(true));
        assert!(set(false) && !is_on());
    }
}
