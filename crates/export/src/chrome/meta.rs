//! Names and order of the tracks.

use std::io;

use ascend_trace_model::Trace;

use super::output::Output;
use crate::labels::{numbered, process_name, stalls_name, stream_name, thread_name};
use crate::tracks::{Row, Track, Tracks};

/// Names what has not been named before.
pub(super) fn write_names(
    output: &mut Output<'_>,
    trace: &Trace,
    tracks: &mut Tracks,
) -> io::Result<()> {
    for (order, track) in tracks.fresh_processes() {
        let place = Track {
            pid: track.pid,
            tid: track.pid,
        };
        let name = process_name(trace, &track);
        write_label(output, place, "process", &name, order)?;
    }
    for (thread, lane) in trace.threads().iter().zip(&mut tracks.threads) {
        let order = i64::from(thread.tid);
        let name = || thread_name(thread);
        write_row(output, lane.pid, &mut lane.slices, name, order)?;
        let captures = || format!("{} captures", thread_name(thread));
        write_row(output, lane.pid, &mut lane.captures, captures, order)?;
    }
    for (stream, lane) in trace.streams().iter().zip(&mut tracks.streams) {
        let order = stream.number() * 2;
        let name = || stream_name(stream);
        write_row(output, lane.pid, &mut lane.slices, name, order)?;
        let name = || format!("stream {} events", stream.number());
        write_row(output, lane.pid, &mut lane.events, name, order + 1)?;
        let name = || stalls_name(stream);
        write_row(output, lane.pid, &mut lane.stalls, name, order + 1)?;
    }
    Ok(())
}

/// Names the tracks of a row: the first after the lane, the others with a number.
fn write_row(
    output: &mut Output<'_>,
    pid: u32,
    row: &mut Row,
    name: impl Fn() -> String,
    order: i64,
) -> io::Result<()> {
    for (place, tid) in row.fresh() {
        let name = numbered(name(), place);
        write_label(output, Track { pid, tid }, "thread", &name, order)?;
    }
    Ok(())
}

fn write_label(
    output: &mut Output<'_>,
    track: Track,
    what: &str,
    name: &str,
    order: i64,
) -> io::Result<()> {
    output.event(b'M', track, |members| {
        members.named(format!("{what}_name").into(), "");
        members.args(|json| json.name("name").string(name));
    })?;
    output.event(b'M', track, |members| {
        members.named(format!("{what}_sort_index").into(), "");
        members.args(|json| json.name("sort_index").integer(order));
    })
}
