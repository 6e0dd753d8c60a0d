//! Calls and tasks as slices.

use std::io;

use ascend_trace_analysis::graphs::task_label;
use ascend_trace_model::{StreamId, ThreadId};

use super::output::Output;
use crate::Source;
use crate::fields::{write_call, write_task};
use crate::release::drawn_end;
use crate::tracks::{Tracks, is_waiter};

pub(super) fn write_calls(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
) -> io::Result<()> {
    let trace = source.trace;
    for thread in 0..trace.threads().len() as u32 {
        for id in source.calls(ThreadId(thread)) {
            let call = trace.call(id);
            let function = trace.function(call.function);
            output.event(b'X', tracks.call(trace, id), |members| {
                let category = source.host_category(call);
                members.named(function.name.as_str().into(), category);
                members.lasting(call.begin, call.end);
                members.args(|json| write_call(json, source, id));
            })?;
        }
    }
    Ok(())
}

pub(super) fn write_tasks(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
) -> io::Result<()> {
    let trace = source.trace;
    for stream in 0..trace.streams().len() as u32 {
        for id in source.tasks(StreamId(stream)) {
            let task = trace.task(id);
            let Some((time, track)) = task.time.zip(tracks.task(trace, id)) else {
                continue;
            };
            output.event(b'X', track, |members| {
                members.named(task_label(trace, task), task.kind.name());
                match is_waiter(trace, task) {
                    true => members.lasting_until(time.begin, drawn_end(source, id, time)),
                    false => members.lasting(time.begin, time.end),
                }
                members.args(|json| write_task(json, source, id));
            })?;
        }
    }
    Ok(())
}
