//! Calls and tasks as slices.

use std::io;

use ascend_trace_analysis::graphs::{part_kind, part_label};
use ascend_trace_recording::{StreamId, ThreadId};

use super::dialect::Dialect;
use super::output::EventOutput;
use crate::ExportSource;
use crate::dependency_end::drawn_end;
use crate::fields::write_part;
use crate::tracks::{TrackLayout, is_waiter};

pub(super) fn write_calls(
    output: &mut EventOutput<'_>,
    dialect: &impl Dialect,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
) -> io::Result<()> {
    let trace = source.trace;
    for thread in 0..trace.threads().len() as u32 {
        for id in source.calls(ThreadId(thread)) {
            let call = trace.call(id);
            output.event(b'X', tracks.call(trace, id), |members| {
                let (name, category) = dialect.call(source, id);
                members.named(&name, category);
                members.lasting(call.begin, call.end);
                members.args(|json| dialect.write_call(json, source, id));
            })?;
        }
    }
    Ok(())
}

pub(super) fn write_tasks(
    output: &mut EventOutput<'_>,
    dialect: &impl Dialect,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
) -> io::Result<()> {
    let trace = source.trace;
    for stream in 0..trace.streams().len() as u32 {
        for id in source.tasks(StreamId(stream)) {
            let task = trace.task(id);
            let Some((time, track)) = task.time.zip(tracks.task(trace, id)) else {
                continue;
            };
            output.event(b'X', track, |members| {
                let (name, category) = dialect.task(source, id);
                members.named(&name, category);
                match is_waiter(trace, task) {
                    true => members.lasting_until(time.begin, drawn_end(source, id, time)),
                    false => members.lasting(time.begin, time.end),
                }
                members.args(|json| dialect.write_task(json, source, id));
            })?;
        }
    }
    Ok(())
}

/// What ran inside of tasks.
pub(super) fn write_parts(
    output: &mut EventOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
) -> io::Result<()> {
    let trace = source.trace;
    for stream in 0..trace.streams().len() as u32 {
        for id in source.tasks(StreamId(stream)) {
            for (at, part) in trace.parts(id).iter().enumerate() {
                let Some(track) = tracks.part(trace, id, at) else {
                    continue;
                };
                output.event(b'X', track, |members| {
                    let name = part_label(trace, &source.graphs, id, part);
                    members.named(&name, part_kind(part));
                    members.lasting(part.begin, part.end);
                    members.args(|json| write_part(json, source, id, part));
                })?;
            }
        }
    }
    Ok(())
}
