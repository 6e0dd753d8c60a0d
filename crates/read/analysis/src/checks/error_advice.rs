//! What to do about each error code.

/// Codes and what to do about them, by code.
const ADVICE: [(i64, &str); 46] = [
    (
        100_000,
        "an argument is null or outside of its range: compare the arguments in the trace with the reference of the call",
    ),
    (
        100_001,
        "call aclInit first, and do not use AscendCL after aclFinalize",
    ),
    (
        100_002,
        "call aclInit once for each process; a library may ignore this code",
    ),
    (100_037, "call aclFinalize once"),
    (
        107_000,
        "an argument is outside of its range: check sizes, pointers, and that handles still exist",
    ),
    (
        107_001,
        "the device's number is too large: aclrtGetDeviceCount says how many there are, and ASCEND_RT_VISIBLE_DEVICES hides some",
    ),
    (
        107_002,
        "the thread has no context: call aclrtSetDevice or aclrtSetCurrentContext in this thread first, and none after the device was reset",
    ),
    (
        107_003,
        "the stream belongs to another context: make the stream's context current in this thread with aclrtSetCurrentContext",
    ),
    (
        107_004,
        "the graph or model belongs to another context: make its context current in this thread",
    ),
    (
        107_005,
        "the stream is not bound to this model: bind it first, or use the stream that the model was made with",
    ),
    (
        107_006,
        "the event has no time yet: wait until it is complete before you ask for its time, and make it with ACL_EVENT_TIME_LINE",
    ),
    (
        107_007,
        "the end event is earlier than the begin event: exchange them, or record both on one stream",
    ),
    (
        107_008,
        "align the address as the call requires, often to 64 bytes",
    ),
    (
        107_011,
        "the stream already has a thread for callbacks, or host functions: use one of the two kinds for each stream",
    ),
    (
        107_012,
        "call aclrtSubscribeReport once for each thread and stream",
    ),
    (
        107_015,
        "give the stream a thread for its callbacks with aclrtSubscribeReport before the first callback",
    ),
    (
        107_017,
        "the handle was destroyed, or never was one: look for the destroy before this call",
    ),
    (
        107_018,
        "this policy of allocation is not supported: use ACL_MEM_MALLOC_HUGE_FIRST or ACL_MEM_MALLOC_NORMAL_ONLY",
    ),
    (
        107_019,
        "a wait of a stream was too long: look for the record that it waits for, or raise the limit with aclrtSetOpWaitTimeout",
    ),
    (
        107_022,
        "the tasks of the device were aborted: look for the call that aborted them, and reset the device",
    ),
    (
        107_023,
        "the stream was aborted: look for the call that aborted it, and make a new stream",
    ),
    (
        200_000,
        "the host or the device is out of memory: free what is not needed",
    ),
    (
        200_001,
        "this release or chip does not have the call: look for another way before you call it",
    ),
    (
        207_000,
        "this chip or driver does not support the call with these arguments: look for another way, or ask for the ability first",
    ),
    (
        207_001,
        "the device is out of memory: free what is not needed, use smaller batches, or see `stats --memory`: it has the largest holders",
    ),
    (
        207_003,
        "a computation overflowed: check the data and the scale of the loss",
    ),
    (
        207_004,
        "no device is free or visible: check the driver with npu-smi, and ASCEND_RT_VISIBLE_DEVICES",
    ),
    (
        207_005,
        "a resource of the device is used up: destroy streams, events and notifies that are not needed",
    ),
    (
        207_006,
        "the process may not use the device: check its user's group and the permissions of /dev/davinci*",
    ),
    (
        207_007,
        "the device has no free events: destroy events that are not needed, or use them again",
    ),
    (
        207_008,
        "the device has no free streams: destroy streams that are not needed, or use them again",
    ),
    (
        207_009,
        "the device has no free notifies: destroy notifies that are not needed",
    ),
    (
        207_010,
        "the device has no room for another model or graph: destroy those that are not needed",
    ),
    (
        207_018,
        "the device is out of memory: free what is not needed, use smaller batches, or see `stats --memory`: it has the largest holders",
    ),
    (
        500_000,
        "the error is inside CANN: read aclGetRecentErrMsg and the log in ~/ascend/log",
    ),
    (
        507_000,
        "the error is inside the runtime: read aclGetRecentErrMsg, and check that all handles still exist",
    ),
    (
        507_007,
        "the device or context was not set in this process, or was released before: count calls that set and reset it",
    ),
    (
        507_009,
        "this kind of task is not allowed here: take it out of the task group or the update",
    ),
    (
        507_011,
        "a task of the graph or model failed: read aclGetRecentErrMsg, and run its operators one by one",
    ),
    (
        507_014,
        "a kernel ran too long: look for an endless loop, or raise the limit with aclrtSetOpExecuteTimeOut",
    ),
    (
        507_015,
        "a kernel failed, often by an address outside of its memory: an earlier call launched it; wait after each launch to find it",
    ),
    (
        507_017,
        "an operator on the AI CPU ran too long: raise the limit with aclrtSetOpExecuteTimeOut, or check its input",
    ),
    (
        507_018,
        "an operator on the AI CPU failed: an earlier call launched it; check its input, and read aclGetRecentErrMsg",
    ),
    (
        507_034,
        "a kernel on a vector core ran too long: look for an endless loop, or raise the limit with aclrtSetOpExecuteTimeOut",
    ),
    (
        507_035,
        "a kernel on a vector core failed, often by an address outside of its memory: an earlier call launched it; wait after each launch to find it",
    ),
    (
        507_903,
        "the capture was broken by an earlier call: look at the first failure since aclmdlRICaptureBegin",
    ),
];

/// What to do about a code, if that is known.
pub(super) fn advice(code: i64) -> Option<&'static str> {
    let at = ADVICE.binary_search_by_key(&code, |it| it.0).ok()?;
    Some(ADVICE[at].1)
}

#[cfg(test)]
mod tests {
    use ascend_trace_format::api::is_answer;

    use super::*;

    #[test]
    fn each_code_finds_its_own_advice() {
        assert!(ADVICE.is_sorted_by(|a, b| a.0 < b.0));
        for (code, text) in ADVICE {
            assert_eq!(advice(code), Some(text));
            assert!(!is_answer(code));
        }
        assert_eq!(advice(1), None);
    }
}
