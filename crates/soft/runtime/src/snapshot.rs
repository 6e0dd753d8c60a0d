//! The lock of the process around a snapshot: calls that would change the devices wait for its end.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::code::{Outcome, RT_SNAPSHOT_LOCK_FAILED, RT_SNAPSHOT_UNLOCK_FAILED, fault};
use crate::per_process::PerProcess;
use crate::sync::{Condvar, LONGEST_SLEEP, Mutex, lock};

static STATE: PerProcess<ProcessLock> = PerProcess::new(ProcessLock::default);
/// A process locked itself; it may have been the parent.
static WAS_LOCKED: AtomicBool = AtomicBool::new(false);

#[derive(Default)]
struct ProcessLock {
    is_locked: Mutex<bool>,
    opened: Condvar,
}

/// What these begin with makes, ends, fills or submits something.
const WAITING: [&str; 27] = [
    "aclrtSetDevice",
    "aclrtResetDevice",
    "aclrtMalloc",
    "aclrtFree",
    "aclrtMem",
    "aclrtHostRegister",
    "aclrtHostUnregister",
    "aclrtMap",
    "aclrtUnmap",
    "aclrtReserve",
    "aclrtRelease",
    "aclrtCreate",
    "aclrtDestroy",
    "aclrtCntNotify",
    "aclrtRecord",
    "aclrtResetEvent",
    "aclrtStreamWait",
    "aclrtWait",
    "aclrtValue",
    "aclrtReduce",
    "aclrtRandom",
    "aclrtLaunch",
    "aclrtSynchronize",
    "aclmdlRICapture",
    "aclmdlRIExecute",
    "aclmdlRIDestroy",
    "aclnn",
];
/// The same letters, and only a question.
const ASKING: [&str; 4] = [
    "aclmdlRICaptureGetInfo",
    "aclrtMemGet",
    "aclrtMemPoolGet",
    "aclrtCntNotifyGet",
];

/// From now on calls of this process wait. Two locks in a row are a mistake.
pub(crate) fn close() -> Outcome {
    let mut is_locked = lock(&STATE.get().is_locked);
    if *is_locked {
        return fault(RT_SNAPSHOT_LOCK_FAILED, "the process is locked already");
    }
    *is_locked = true;
    WAS_LOCKED.store(true, Ordering::Release);
    Ok(())
}

pub(crate) fn open() -> Outcome {
    let state = STATE.get();
    let mut is_locked = lock(&state.is_locked);
    if !*is_locked {
        return fault(RT_SNAPSHOT_UNLOCK_FAILED, "the process is not locked");
    }
    *is_locked = false;
    state.opened.notify_all();
    Ok(())
}

/// A call begins. It waits while the process is locked, unless it only asks.
pub(crate) fn pass(function: &str) {
    if WAS_LOCKED.load(Ordering::Acquire) {
        wait(function);
    }
}

#[cold]
fn wait(function: &str) {
    let begins_like = |names: &[&str]| names.iter().any(|name| function.starts_with(name));
    if !begins_like(&WAITING) || begins_like(&ASKING) {
        return;
    }
    let state = STATE.get();
    let mut is_locked = lock(&state.is_locked);
    while *is_locked {
        is_locked = state.opened.sleep(is_locked, LONGEST_SLEEP);
    }
}
