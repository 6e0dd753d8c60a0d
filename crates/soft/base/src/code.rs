//! AscendCL result codes, and the error type of everything inside this crate.

/// Return type of C functions.
pub type Code = i32;

pub const SUCCESS: Code = 0;
pub const INVALID_PARAM: Code = 100_000;
pub const UNINITIALIZE: Code = 100_001;
pub const REPEAT_INITIALIZE: Code = 100_002;
pub const INVALID_FILE: Code = 100_003;
pub const PARSE_FILE: Code = 100_006;
pub const REPEAT_FINALIZE: Code = 100_037;
pub const API_NOT_SUPPORTED: Code = 200_001;
pub const FEATURE_UNSUPPORTED: Code = 200_006;
pub const RT_PARAM_INVALID: Code = 107_000;
pub const RT_INVALID_DEVICE: Code = 107_001;
pub const RT_CONTEXT_NULL: Code = 107_002;
pub const RT_STREAM_CONTEXT: Code = 107_003;
pub const RT_MODEL_CONTEXT: Code = 107_004;
pub const RT_STREAM_MODEL: Code = 107_005;
pub const RT_TIMESTAMP_INVALID: Code = 107_006;
pub const RT_FILE_OPEN: Code = 107_009;
pub const RT_STREAM_SUBSCRIBE: Code = 107_011;
pub const RT_THREAD_SUBSCRIBE: Code = 107_012;
pub const RT_STREAM_NO_CALLBACK: Code = 107_015;
pub const RT_INVALID_HANDLE: Code = 107_017;
pub const RT_WAIT_TIMEOUT: Code = 107_019;
pub const RT_SYSPARAM_NOT_SET: Code = 107_021;
pub const RT_DEVICE_TASK_ABORT: Code = 107_022;
pub const RT_STREAM_ABORT: Code = 107_023;
pub const RT_CAPTURE_DEPENDENCY: Code = 107_024;
pub const RT_STREAM_UNJOINED: Code = 107_025;
pub const RT_MODEL_CAPTURED: Code = 107_026;
pub const RT_STREAM_CAPTURED: Code = 107_027;
pub const RT_EVENT_CAPTURED: Code = 107_028;
pub const RT_STREAM_NOT_CAPTURED: Code = 107_029;
pub const RT_CAPTURE_MODE: Code = 107_030;
pub const RT_CAPTURE_IMPLICIT: Code = 107_031;
pub const RT_CAPTURE_CONFLICT: Code = 107_032;
pub const RT_TASK_GROUP_STATUS: Code = 107_033;
pub const RT_CAPTURE_UNMATCHED: Code = 107_036;
pub const RT_MODEL_RUNNING: Code = 107_037;
pub const RT_CAPTURE_WRONG_THREAD: Code = 107_038;
pub const RT_MODEL_UPDATE: Code = 107_040;
pub const RT_CAPTURE_BLOCK_ASYNC: Code = 107_041;
pub const RT_NOT_SUPPORTED: Code = 207_000;
pub const RT_OUT_OF_MEMORY: Code = 207_001;
pub const RT_NO_EVENT: Code = 207_007;
pub const RT_NO_STREAM: Code = 207_008;
pub const RT_NO_NOTIFY: Code = 207_009;
pub const RT_INTERNAL: Code = 507_000;
pub const RT_NOT_COMPLETE: Code = 507_004;
pub const RT_NOT_COMPLETE_EVENT: Code = 507_006;
pub const RT_DEVICE_NOT_SET: Code = 507_007;
pub const RT_TASK_TYPE: Code = 507_009;
pub const RT_MODEL_EXECUTE: Code = 507_011;
pub const RT_REPORT_TIMEOUT: Code = 507_012;
pub const RT_KERNEL_LOOKUP: Code = 507_027;
pub const RT_VECTOR_CORE: Code = 507_035;
pub const RT_STREAM_SYNC_TIMEOUT: Code = 507_046;
pub const RT_EVENT_SYNC_TIMEOUT: Code = 507_047;

pub const RT_CAPTURE_INVALIDATED: Code = 507_903;
pub const RT_SNAPSHOT_LOCK_FAILED: Code = 507_906;
pub const RT_SNAPSHOT_UNLOCK_FAILED: Code = 507_907;
pub const RT_ALREADY_REGISTERED: Code = 507_910;
pub const RT_NOT_REGISTERED: Code = 507_911;

/// A failed call: the code for the caller and one line for `aclGetRecentErrMsg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub code: Code,
    pub why: &'static str,
}

impl Fault {
    /// The upper layer refuses some calls with a code of the runtime, which then never hears of them.
    pub fn is_of_upper_layer(&self) -> bool {
        self.code < RT_PARAM_INVALID || refusal::WITH_RUNTIME_CODES.contains(&self.why)
    }
}

/// Texts of refusals that have a code of the runtime and are the upper layer's.
pub mod refusal {
    pub const TIMEOUT: &str = "the timeout is below -1";
    pub const EXCEPTION_CALLBACK: &str = "the function for exceptions is NULL";
    pub const WITH_RUNTIME_CODES: [&str; 2] = [TIMEOUT, EXCEPTION_CALLBACK];
}

pub type Outcome<T = ()> = Result<T, Fault>;

/// Shorthand for returning an error.
pub const fn fault<T>(code: Code, why: &'static str) -> Outcome<T> {
    Err(Fault { code, why })
}

/// Fails with `INVALID_PARAM`, as the upper layer does, unless the condition holds.
pub const fn require(holds: bool, why: &'static str) -> Outcome {
    if holds {
        Ok(())
    } else {
        fault(INVALID_PARAM, why)
    }
}

/// Fails with `RT_PARAM_INVALID`, as the runtime does, unless the condition holds.
pub const fn check(holds: bool, why: &'static str) -> Outcome {
    if holds {
        Ok(())
    } else {
        fault(RT_PARAM_INVALID, why)
    }
}
