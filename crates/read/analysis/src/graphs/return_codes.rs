//! What return codes mean for a capture.

/// An event call or a task could not be added, in a way that spoils the capture.
pub(super) const DEPENDENCY: i64 = 107_024;
pub(super) const UNJOINED: i64 = 107_025;
pub(super) const MODEL_CAPTURED: i64 = 107_026;
pub(super) const STREAM_CAPTURED: i64 = 107_027;
pub(super) const EVENT_CAPTURED: i64 = 107_028;
pub(super) const NOT_CAPTURED: i64 = 107_029;
pub(super) const MODE: i64 = 107_030;
pub(super) const IMPLICIT: i64 = 107_031;
pub(super) const CONFLICT: i64 = 107_032;
pub(super) const GROUP_STATUS: i64 = 107_033;
pub(super) const GROUP_INTERRUPTED: i64 = 107_034;
pub(super) const UNMATCHED: i64 = 107_036;
pub(super) const WRONG_THREAD: i64 = 107_038;
pub(super) const BLOCK_ASYNC: i64 = 107_041;
pub(super) const SUB_GRAPH: i64 = 107_045;
pub(super) const NOT_SUPPORTED: i64 = 207_000;
pub(super) const TASK_TYPE: i64 = 507_009;
pub(super) const INVALIDATED: i64 = 507_903;

/// Why a call was refused during a capture, and what to do instead.
pub(super) fn refusal(code: i64) -> Option<&'static str> {
    Some(match code {
        DEPENDENCY => {
            "it waits for an event that was recorded outside the capture: record the event inside \
             it, or wait before the capture begins"
        }
        MODEL_CAPTURED => "the graph is still being captured",
        STREAM_CAPTURED => {
            "a stream that is being captured can be neither synchronised, queried, destroyed, \
             captured again nor replay a graph: do it before or after the capture"
        }
        EVENT_CAPTURED => {
            "an event that was captured can be neither synchronised, queried nor timed before the \
             capture ends"
        }
        NOT_CAPTURED => "the stream is not being captured",
        MODE => {
            "calls that block the host are not allowed in this capture mode: copy asynchronously \
             on a captured stream, or outside the capture; another thread may exchange its mode \
             for relaxed"
        }
        IMPLICIT => "it would draw the default stream into the capture, which cannot be captured",
        CONFLICT => "its event belongs to another capture: both captures are invalid now",
        GROUP_STATUS => "a task group is open already, or none is",
        GROUP_INTERRUPTED => "it interrupted a task group",
        UNMATCHED => "only the stream that began the capture can end it",
        WRONG_THREAD => "only the thread that began the capture can end it, except in relaxed mode",
        BLOCK_ASYNC => {
            "the copy's host memory is pageable, so it would have blocked the host, which this \
             capture mode does not allow: use memory of aclrtMallocHost"
        }
        SUB_GRAPH => "a part of the graph is still being captured",
        NOT_SUPPORTED => {
            "it cannot be captured; an event must be made by aclrtCreateEventExWithFlag with \
             ACL_EVENT_SYNC for that"
        }
        TASK_TYPE => "only kernels may be in a task group or an update of it",
        INVALIDATED => "the capture had been invalidated before",
        _ => return None,
    })
}
