//! Calls and tasks as slices.

use std::io;

use ascend_trace_analysis::graphs::task_label;
use ascend_trace_analysis::queue_wait;
use ascend_trace_model::{Call, CallId, StreamId, Task, TaskId, TaskTime, ThreadId, Trace};

use super::output::Output;
use super::tracks::Tracks;
use crate::Source;
use crate::arguments::{write_arguments, write_result};
use crate::json::Json;

pub(super) fn write_calls(
    output: &mut Output<'_>,
    trace: &Trace,
    tracks: &Tracks,
) -> io::Result<()> {
    for thread in 0..trace.threads().len() as u32 {
        for id in trace.thread_calls(ThreadId(thread)) {
            let call = trace.call(*id);
            let function = trace.function(call.function);
            output.event("X", tracks.call(trace, *id), |members| {
                members.named(&function.name, &function.category);
                members.lasting(call.begin, call.end);
                members.args(|json| write_call_args(json, trace, *id, call));
            })?;
        }
    }
    Ok(())
}

fn write_call_args(json: &mut Json, trace: &Trace, id: CallId, call: &Call) {
    write_arguments(json, trace, call);
    write_result(json, trace, call);
    json.name("call").unsigned(u64::from(id.0));
    if let Some(stream) = call.stream {
        json.name("stream_id")
            .integer(trace.stream(stream).number());
    }
    write_event(json, trace, call);
    if let Some(graph) = call.graph {
        json.name("graph").unsigned(u64::from(graph.serial));
        json.name("graph_index").unsigned(u64::from(graph.index));
    }
    let untimed = call.task.map(|task| trace.task(task));
    if let Some(task) = untimed.filter(|task| task.time.is_none()) {
        json.name("seq").unsigned(u64::from(task.sequence));
        json.name("kind").string(task.kind.name());
        json.name("untimed").string(crate::untimed_reason(task));
    }
}

pub(super) fn write_tasks(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
) -> io::Result<()> {
    let trace = source.trace;
    for stream in 0..trace.streams().len() as u32 {
        for id in trace.stream_tasks(StreamId(stream)) {
            let task = trace.task(*id);
            let Some((time, track)) = task.time.zip(tracks.task(trace, *id)) else {
                continue;
            };
            output.event("X", track, |members| {
                members.named(&task_label(trace, task), task.kind.name());
                members.lasting(time.begin, time.end);
                members.args(|json| {
                    write_task_args(json, trace, task, time);
                    write_replay(json, source, *id);
                });
            })?;
        }
    }
    Ok(())
}

fn write_task_args(json: &mut Json, trace: &Trace, task: &Task, time: TaskTime) {
    let call = trace.call(task.call);
    json.name("kind").string(task.kind.name());
    json.name("stream_id")
        .integer(trace.stream(task.stream).number());
    json.name("seq").unsigned(u64::from(task.sequence));
    json.name("err_ns").integer(time.error);
    if let Some(wait) = queue_wait(trace, task) {
        json.name("queue_ns").integer(wait);
    }
    if let Some(bytes) = trace.bytes(call) {
        json.name("bytes").unsigned(bytes);
    }
    write_event(json, trace, call);
    json.name("call").unsigned(u64::from(task.call.0));
}

/// Which graph a replay is of.
fn write_replay(json: &mut Json, source: &Source<'_>, task: TaskId) {
    let Some((index, number)) = source.graphs.replayed(source.trace, task) else {
        return;
    };
    let graph = &source.graphs.all()[index];
    json.name("graph").unsigned(u64::from(graph.serial));
    json.name("replay").unsigned(u64::from(number));
    json.name("nodes").unsigned(graph.nodes.len() as u64);
}

fn write_event(json: &mut Json, trace: &Trace, call: &Call) {
    if let Some(generation) = call.event {
        let serial = trace.event(generation.event).serial;
        json.name("event_serial").unsigned(u64::from(serial));
        json.name("event_generation")
            .unsigned(u64::from(generation.number));
    }
}
