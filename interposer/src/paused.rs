//! The program wants nothing recorded for a while (`ascend_trace.pause()`).
//!
//! Data that later records need is still followed and recorded: creation and end of objects, memory,
//! captures and the program's marks. Other calls are made as usual, and leave no record; their tasks
//! get no events. Where the hardware log is read, tasks stay in the recording: an entry of the log
//! without its task would have no known owner.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use crate::session;
use crate::traits::Traits;

/// The id of the pause that lasts, 0 for none.
static PAUSE: AtomicU64 = AtomicU64::new(0);

/// Whether the program has paused the recording.
#[inline]
pub(crate) fn is_on() -> bool {
    PAUSE.load(Relaxed) != 0
}

/// The pause with this id begins, unless another one lasts. Returns whether it does.
pub(crate) fn begin(id: u64) -> bool {
    PAUSE.compare_exchange(0, id, Relaxed, Relaxed).is_ok()
}

/// The current pause ends. Returns its id, 0 without a pause.
pub(crate) fn end() -> u64 {
    PAUSE.swap(0, Relaxed)
}

/// Whether a call of a function with these traits, which begins now, is left out.
#[inline]
pub(crate) fn leaves_out(traits: &Traits) -> bool {
    is_on() && !traits.is_lasting && !(traits.submits && session::wants_log())
}

#[cfg(test)]
mod tests {
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
}
