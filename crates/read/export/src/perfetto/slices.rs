//! Calls and tasks as slices.

use std::io;

use ascend_trace_analysis::graphs::{part_kind, part_label, task_label};
use ascend_trace_recording::{CallId, StreamId, Task, TaskId, ThreadId, Trace};

use super::fields::event::{INSTANT, SLICE_BEGIN, SLICE_END};
use super::flows::{ArrowArrival, SliceFlows, TASKS, TouchingFlows, WAITS, rank};
use super::meta::uuid;
use super::output::{EventPlace, PacketOutput};
use super::sequences::SequenceOwner;
use crate::ExportSource;
use crate::dependency_end::drawn_end;
use crate::fields::{write_call, write_part, write_task};
use crate::tracks::{SliceTrack, TrackLayout, is_beside};
use rustc_hash::FxHashMap;

/// Writes all tasks that have times: first those that can release others, then the waits.
pub(super) fn write_tasks(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    flows: &SliceFlows<'_, '_>,
) -> io::Result<()> {
    for pass in [TASKS, WAITS] {
        for stream in 0..source.trace.streams().len() as u32 {
            for id in source.tasks(StreamId(stream)) {
                if rank(source.trace, source.trace.task(id)) == pass {
                    write_one_task(output, source, tracks, flows, id)?;
                }
            }
        }
    }
    Ok(())
}

fn write_one_task(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    flows: &SliceFlows<'_, '_>,
    id: TaskId,
) -> io::Result<()> {
    let trace = source.trace;
    let task = trace.task(id);
    let Some((time, track)) = task.time.zip(tracks.task(trace, id)) else {
        return write_parts(output, source, tracks, (id, None));
    };
    let touch = flows.of_task(id);
    let place = EventPlace {
        owner: SequenceOwner::Lane(track.lane, task_row(trace, task)),
        track: uuid(track),
    };
    output.event(SLICE_BEGIN, place, time.begin, |event| {
        event.named(&task_label(trace, task), task.kind.name());
        write_task(event, source, id, "stream");
        touch.write_arriving(ArrowArrival::Begin, event);
        touch.write_leaving(event);
    })?;
    write_parts(output, source, tracks, (id, Some(track)))?;
    let end = drawn_end(source, id, time);
    write_end(output, place, end, &touch)
}

/// What ran inside of a task: on the task's own track, or where there is no room for it, on others.
fn write_parts(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    (id, own): (TaskId, Option<SliceTrack>),
) -> io::Result<()> {
    let trace = source.trace;
    for (at, part) in trace.parts(id).iter().enumerate() {
        let Some(track) = tracks.part(trace, id, at) else {
            continue;
        };
        let row = match Some(track) == own {
            true => task_row(trace, trace.task(id)),
            false => 4,
        };
        let place = EventPlace {
            owner: SequenceOwner::Lane(track.lane, row),
            track: uuid(track),
        };
        output.event(SLICE_BEGIN, place, part.begin, |event| {
            event.named(
                &part_label(trace, &source.graphs, id, part),
                part_kind(part),
            );
            write_part(event, source, id, part);
        })?;
        output.event(SLICE_END, place, part.end, |_| {})?;
    }
    Ok(())
}

/// Rows of a stream's tasks that are in the order of time: tasks on its main track, tasks on separate
/// tracks, and the waits, which are written last.
fn task_row(trace: &Trace, task: &Task) -> u8 {
    match rank(trace, task) {
        WAITS => 2,
        _ => u8::from(is_beside(task)),
    }
}

/// The slices of a track that are open.
type OpenSlices = Vec<(i64, TouchingFlows)>;

/// The slices of all threads' tracks that are open, from one part of a trace to the next.
pub(super) type OpenCalls = FxHashMap<u32, (Option<SliceTrack>, OpenSlices)>;

/// Writes all calls of all threads.
pub(super) fn write_calls(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    flows: &SliceFlows<'_, '_>,
    open_calls: &mut OpenCalls,
) -> io::Result<()> {
    // Most calls are on the track of the call before.
    let mut track = None;
    let mut open = OpenSlices::default();
    let number = |track: Option<SliceTrack>| track.map_or(0, |track| track.number);
    for thread in 0..source.trace.threads().len() as u32 {
        for id in source.calls(ThreadId(thread)) {
            let next = tracks.call(source.trace, id);
            if track != Some(next) {
                let other = open_calls.remove(&next.number).unwrap_or_default();
                let before = std::mem::replace(&mut open, other.1);
                open_calls.insert(number(track), (track, before));
                track = Some(next);
            }
            let call = source.trace.call(id);
            close(output, next.into(), &mut open, call.begin)?;
            let touch = begin_call(output, source, next.into(), flows, id)?;
            open.push((call.end, touch));
        }
    }
    open_calls.insert(number(track), (track, open));
    let until = match source.part.is_last {
        true => i64::MAX,
        false => source.part.until,
    };
    // The order of the tracks in the file does not matter, as they share nothing.
    for (track, open) in open_calls.values_mut() {
        if let Some(track) = track {
            close(output, (*track).into(), open, until)?;
        }
    }
    Ok(())
}

fn begin_call(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    track: EventPlace,
    flows: &SliceFlows<'_, '_>,
    id: CallId,
) -> io::Result<TouchingFlows> {
    let trace = source.trace;
    let call = trace.call(id);
    let function = trace.function(call.function);
    let touch = flows.of_call(id);
    output.event(SLICE_BEGIN, track, call.begin, |event| {
        event.named(&function.name, source.host_category(call));
        write_call(event, source, id, "stream");
        touch.write_arriving(ArrowArrival::Begin, event);
        touch.write_leaving(event);
    })?;
    Ok(touch)
}

/// Ends the slices that are over at a time, the innermost first.
fn close(
    output: &mut PacketOutput<'_>,
    track: EventPlace,
    open: &mut OpenSlices,
    time: i64,
) -> io::Result<()> {
    while let Some((end, touch)) = open.pop_if(|(end, _)| *end <= time) {
        write_end(output, track, end, &touch)?;
    }
    Ok(())
}

fn write_end(
    output: &mut PacketOutput<'_>,
    track: EventPlace,
    time: i64,
    touch: &TouchingFlows,
) -> io::Result<()> {
    if touch.has(ArrowArrival::Mark) {
        output.event(INSTANT, track, time, |event| {
            event.named("released", "released");
            touch.write_arriving(ArrowArrival::Mark, event);
        })?;
    }
    output.event(SLICE_END, track, time, |event| {
        touch.write_arriving(ArrowArrival::End, event);
    })
}
