//! Streams by their handles, as calls of the program name them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::line::flag;
use super::{Stream, find};
use crate::code::{
    Fault, INVALID_PARAM, Outcome, RT_INVALID_HANDLE, RT_PARAM_INVALID, RT_STREAM_CONTEXT,
    RT_STREAM_MODEL, fault, refusal,
};
use crate::{current, observers};

const UNKNOWN: Fault = Fault {
    code: RT_INVALID_HANDLE,
    why: "this is no stream",
};

/// The stream for a call that submits: it must belong to the thread's current context.
pub(crate) fn of_context(handle: usize) -> Outcome<Arc<Stream>> {
    current::with(|context| {
        if handle == 0 {
            return Ok(Arc::clone(context.default_stream()));
        }
        let stream = find(handle).ok_or(UNKNOWN)?;
        if stream.context != context.handle {
            return fault(RT_STREAM_CONTEXT, "the stream belongs to another context");
        }
        Ok(stream)
    })
}

/// The stream for a call that may look at streams of any context.
pub(crate) fn of_any_context(handle: usize) -> Outcome<Arc<Stream>> {
    if handle == 0 {
        return current::with(|context| Ok(Arc::clone(context.default_stream())));
    }
    find(handle).ok_or(UNKNOWN)
}

/// Creates an explicit stream in the thread's current context.
pub(crate) fn create(flags: u32, priority: u32) -> Outcome<usize> {
    current::with(|context| {
        // Flags that do not exist are dropped.
        let flags = flags & flag::KNOWN;
        let stream = Stream::create(&context.owner(), flags, priority, false)?;
        context.adopt(&stream);
        observers::stream_changes(stream.handle, observers::stream_state::CREATE_POST);
        Ok(stream.handle)
    })
}

/// Destroys an explicit stream; unless forced, its queued tasks are completed first.
pub(crate) fn destroy(handle: usize, force: bool) -> Outcome {
    if handle == 0 {
        return fault(INVALID_PARAM, "the stream is NULL");
    }
    let stream = of_context(handle)?;
    stream.refuse_while_capturing()?;
    if stream.is_hidden {
        return fault(RT_STREAM_MODEL, "the stream belongs to a graph");
    }
    if force {
        stream.abort(None);
    } else {
        let seq = stream.submitted.load(Ordering::Acquire);
        stream.wait_for(seq, None);
        stream.recycle_to(seq);
    }
    // A default stream lives as long as its context: its tasks are complete, and it takes more.
    if stream.is_default {
        return Ok(());
    }
    current::with(|context| {
        context.disown(handle);
        Ok(())
    })?;
    stream.retire();
    Ok(())
}

/// A timeout argument in milliseconds: -1 waits for ever, otherwise it must be positive.
pub(crate) fn timeout(milliseconds: i32) -> Outcome<Option<Duration>> {
    match milliseconds {
        -1 => Ok(None),
        1.. => Ok(Some(Duration::from_millis(milliseconds as u64))),
        0 => fault(RT_PARAM_INVALID, "the timeout is 0"),
        _ => fault(RT_PARAM_INVALID, refusal::TIMEOUT),
    }
}
