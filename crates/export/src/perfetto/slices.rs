//! Calls and tasks as slices.

use std::collections::HashMap;
use std::io;

use ascend_trace_analysis::graphs::task_label;
use ascend_trace_model::{CallId, StreamId, TaskId, ThreadId};

use super::fields::event::{INSTANT, SLICE_BEGIN, SLICE_END};
use super::flows::{Arrival, Flows, Touch, of_graph, rank};
use super::meta::uuid;
use super::output::{Output, Uuid};
use crate::Source;
use crate::fields::{write_call, write_task};
use crate::tracks::Tracks;

/// Writes all tasks that have times: first those that can release others, then the waits.
pub(super) fn write_tasks<'t>(
    output: &mut Output<'_, 't>,
    source: &Source<'t>,
    tracks: &Tracks,
    flows: &Flows<'_, 't>,
) -> io::Result<()> {
    for pass in 0..2 {
        for stream in 0..source.trace.streams().len() as u32 {
            for id in source.tasks(StreamId(stream)) {
                if rank(source.trace.task(id).kind) == pass {
                    write_one_task(output, source, tracks, flows, id)?;
                }
            }
        }
    }
    Ok(())
}

fn write_one_task<'t>(
    output: &mut Output<'_, 't>,
    source: &Source<'t>,
    tracks: &Tracks,
    flows: &Flows<'_, 't>,
    id: TaskId,
) -> io::Result<()> {
    let trace = source.trace;
    let task = trace.task(id);
    let Some((time, track)) = task.time.zip(tracks.task(trace, id)) else {
        return Ok(());
    };
    let touch = flows.of_task(id);
    output.event(SLICE_BEGIN, uuid(track), time.begin, |event| {
        event.named(task_label(trace, task), task.kind.name());
        write_task(event, source, id);
        touch.write_arriving(Arrival::Begin, event);
        touch.write_leaving(event);
        if let Some((graph, _)) = source.graphs.replayed(trace, id) {
            event.flow_begins(of_graph(graph));
        }
    })?;
    write_end(output, uuid(track), time.end, &touch)
}

/// The slices of a track that are open.
type Open = Vec<(i64, Touch)>;

/// Writes all calls of all threads.
pub(super) fn write_calls<'t>(
    output: &mut Output<'_, 't>,
    source: &Source<'t>,
    tracks: &Tracks,
    flows: &Flows<'_, 't>,
) -> io::Result<()> {
    for thread in 0..source.trace.threads().len() as u32 {
        // The order of the tracks in the file does not matter, as they share nothing.
        let mut open: HashMap<Uuid, Open> = HashMap::new();
        for id in source.calls(ThreadId(thread)) {
            let track = uuid(tracks.call(source.trace, id));
            let begin = source.trace.call(id).begin;
            let open = open.entry(track).or_default();
            close(output, track, open, begin)?;
            let touch = begin_call(output, source, track, flows, id)?;
            open.push((source.trace.call(id).end, touch));
        }
        for (track, mut open) in open {
            close(output, track, &mut open, i64::MAX)?;
        }
    }
    Ok(())
}

fn begin_call<'t>(
    output: &mut Output<'_, 't>,
    source: &Source<'t>,
    track: Uuid,
    flows: &Flows<'_, 't>,
    id: CallId,
) -> io::Result<Touch> {
    let trace = source.trace;
    let call = trace.call(id);
    let function = trace.function(call.function);
    let touch = flows.of_call(id);
    output.event(SLICE_BEGIN, track, call.begin, |event| {
        event.named(function.name.as_str(), &function.category);
        write_call(event, source, id);
        touch.write_arriving(Arrival::Begin, event);
        touch.write_leaving(event);
    })?;
    Ok(touch)
}

/// Ends the slices that are over at a time, the innermost first.
fn close(output: &mut Output<'_, '_>, track: Uuid, open: &mut Open, time: i64) -> io::Result<()> {
    while let Some((end, touch)) = open.pop_if(|(end, _)| *end <= time) {
        write_end(output, track, end, &touch)?;
    }
    Ok(())
}

fn write_end(output: &mut Output<'_, '_>, track: Uuid, time: i64, touch: &Touch) -> io::Result<()> {
    if touch.has(Arrival::Mark) {
        output.event(INSTANT, track, time, |event| {
            event.named("released", "released");
            touch.write_arriving(Arrival::Mark, event);
        })?;
    }
    output.event(SLICE_END, track, time, |event| {
        touch.write_arriving(Arrival::End, event);
    })
}
