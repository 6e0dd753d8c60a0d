//! When the target of a blocking call was done: from then on the call only had to return.

use ascend_trace_format::api::{Role, WaitTarget};
use ascend_trace_recording::{Call, CallId, Trace};

use super::untimed_gap::done;
use crate::dependencies::{Dependencies, Node};
use crate::released::{self, ReleaseKind};

/// When the call had nothing more to wait for, within the error bar of the last task. It began to wait at `begin`, which may be
/// later. `None` where that was not while it waited, or is not known.
pub(super) fn release(
    trace: &Trace,
    dependencies: &Dependencies,
    (id, begin): (CallId, i64),
) -> Option<i64> {
    let call = trace.call(id);
    let rows = released::of(trace, dependencies, Node::Call(id));
    let ends = rows.filter_map(|row| match row.kind {
        // It gave up before.
        ReleaseKind::GaveUp => Some(None),
        kind => kind.is_sync().then(|| done(trace, row.task()?)),
    });
    let last = ends.reduce(|one, other| Some(one?.max(other?)));
    let at = last.unwrap_or_else(|| nothing_found(trace, call))?;
    // The rest of the recording may contain its target.
    (at >= begin || trace.reaches(call.end)).then_some(at)
}

/// No task is known that the call waited for.
fn nothing_found(trace: &Trace, call: &Call) -> Option<i64> {
    let role = trace.function(call.function).role;
    let is_named = match role.meaning().waits {
        WaitTarget::Stream => call.stream.is_some(),
        // The target of a copy by the host is known from its stream.
        WaitTarget::Nothing if role == Role::Task => call.stream.is_some(),
        WaitTarget::Device => call.context.is_some() || call.device.is_some(),
        WaitTarget::Event => match call.event {
            // It had not been recorded.
            Some(generation) if generation.number == 0 => true,
            Some(_) => trace.has_past(),
            None => false,
        },
        _ => false,
    };
    let is_all_there = trace.losses().calls == 0 && !trace.is_filtered();
    (is_named && is_all_there).then_some(i64::MIN)
}
