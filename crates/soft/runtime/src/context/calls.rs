//! What calls do with contexts and devices: creating, waiting, and ending.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{CONTEXTS, Context, device_contexts, find};
use crate::code::{
    Code, Fault, INVALID_PARAM, Outcome, RT_CONTEXT_NULL, RT_DEVICE_TASK_ABORT, RT_PARAM_INVALID,
    RT_STREAM_CAPTURED, RT_STREAM_SYNC_TIMEOUT, fault,
};
use crate::observers::{self, device_state};
use crate::sync::lock;
use crate::{clock, current, device, process};

impl Context {
    /// Drops the tasks of all streams; waiting threads get the code.
    pub(crate) fn abort(&self, code: Code) {
        for stream in self.all_streams() {
            stream.abort(Some(code));
        }
    }

    /// Waits for every stream of the context, none of which may be capturing.
    pub(crate) fn synchronize_device(&self, limit: Option<Duration>) -> Outcome {
        if self.has_captures() {
            return fault(RT_STREAM_CAPTURED, "a stream of the context is capturing");
        }
        self.synchronize(limit)
    }

    /// Waits for every stream of the context.
    pub(crate) fn synchronize(&self, limit: Option<Duration>) -> Outcome {
        let deadline = limit.map(|limit| clock::now().saturating_add(limit.as_nanos() as u64));
        let mut outcome = Ok(());
        let streams = self.all_streams();
        // It waits for all of them at once, in any order of their ends.
        streams.iter().for_each(|stream| stream.demand_all());
        for stream in streams {
            let left = deadline.map(|end| Duration::from_nanos(end.saturating_sub(clock::now())));
            let one = stream.synchronize(left);
            if one.is_err_and(|failed| failed.code == RT_STREAM_SYNC_TIMEOUT) {
                return one;
            }
            outcome = outcome.and(one);
        }
        outcome
    }

    /// Ends the context: waits for its streams and takes them away.
    pub(crate) fn release(&self) {
        for graph in self.graphs() {
            graph.end_with_context();
        }
        // A failure on the device has no receiver any more.
        let _ = self.synchronize(None);
        self.alive.store(false, Ordering::Release);
        for stream in self.all_streams() {
            stream.retire();
        }
        lock(&self.streams).clear();
        self.host_thread.close();
        CONTEXTS.get().remove(self.handle);
    }
}

pub(crate) fn create(device: i32) -> Outcome<usize> {
    process::require_usable()?;
    let device = device::of(device)?;
    let context = Context::create(device, false)?;
    device_contexts::of(device).adopt(&context);
    context.announce();
    let handle = context.handle;
    current::set(Some(context));
    Ok(handle)
}

/// An unknown handle gives the code of the call for it.
fn of(handle: usize, unknown: Code) -> Outcome<Arc<Context>> {
    if handle == 0 {
        return fault(INVALID_PARAM, "the context is NULL");
    }
    find(handle).ok_or(Fault {
        code: unknown,
        why: "this is no context",
    })
}

pub(crate) fn destroy(handle: usize) -> Outcome {
    let context = of(handle, RT_CONTEXT_NULL)?;
    if context.is_primary {
        return fault(
            RT_PARAM_INVALID,
            "a default context is destroyed by resetting its device",
        );
    }
    context.release();
    device_contexts::of(context.device).disown(handle);
    Ok(())
}

pub(crate) fn set_current(handle: usize) -> Outcome {
    let context = of(handle, RT_PARAM_INVALID)?;
    current::set(Some(context));
    Ok(())
}

/// `aclrtResetDevice` and its forced form. The last one waits for the default context's streams
/// and releases them.
pub(crate) fn reset_device(id: i32, force: bool) -> Outcome {
    let device = device::of(id)?;
    observers::device_changes(device.id, device_state::RESET_PRE);
    let released = device_contexts::of(device).release(force)?;
    if let Some(context) = released {
        context.release();
        current::forget_dead();
    }
    observers::device_changes(device.id, device_state::RESET_POST);
    Ok(())
}

/// `aclrtDeviceTaskAbort`: drops the tasks of every stream; waiting threads return.
pub(crate) fn abort_tasks(id: i32, timeout_ms: u32) -> Outcome {
    const PRE: u32 = 0;
    const POST: u32 = 1;
    let device = device::of(id)?;
    observers::device_aborts(device.id, PRE, timeout_ms);
    for context in device_contexts::of(device).contexts() {
        context.abort(RT_DEVICE_TASK_ABORT);
    }
    observers::device_aborts(device.id, POST, timeout_ms);
    Ok(())
}
