//! Names and order of the tracks.

use std::io;

use ascend_trace_model::Trace;

use super::output::Output;
use crate::labels::{process_name, stream_name, thread_name};
use crate::tracks::{Track, Tracks};

pub(super) fn write_names(
    output: &mut Output<'_>,
    trace: &Trace,
    tracks: &Tracks,
) -> io::Result<()> {
    for (order, track) in tracks.processes.iter().enumerate() {
        let place = Track {
            pid: track.pid,
            tid: track.pid,
        };
        let name = process_name(trace, track);
        write_label(output, place, "process", &name, order as i64)?;
    }
    for (thread, lane) in trace.threads().iter().zip(&tracks.threads) {
        let name = thread_name(thread);
        let order = i64::from(thread.tid);
        write_lane(output, lane.pid, &lane.slices, &name, order)?;
        let captures = format!("{name} captures");
        write_lane(output, lane.pid, &lane.captures, &captures, order)?;
    }
    for (stream, lane) in trace.streams().iter().zip(&tracks.streams) {
        let name = stream_name(stream);
        write_lane(output, lane.pid, &lane.slices, &name, stream.number() * 2)?;
        let events = format!("stream {} events", stream.number());
        write_lane(
            output,
            lane.pid,
            &lane.events,
            &events,
            stream.number() * 2 + 1,
        )?;
    }
    Ok(())
}

/// Names the tracks of a lane: the first after the lane, the others with a number.
pub(super) fn write_lane(
    output: &mut Output<'_>,
    pid: u32,
    tids: &[u32],
    name: &str,
    order: i64,
) -> io::Result<()> {
    for (index, tid) in tids.iter().enumerate() {
        let name = match index {
            0 => name.to_owned(),
            _ => format!("{name} ({})", index + 1),
        };
        write_label(output, Track { pid, tid: *tid }, "thread", &name, order)?;
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
    output.event("M", track, |members| {
        members.named(&format!("{what}_name"), "");
        members.args(|json| json.name("name").string(name));
    })?;
    output.event("M", track, |members| {
        members.named(&format!("{what}_sort_index"), "");
        members.args(|json| json.name("sort_index").integer(order));
    })
}
