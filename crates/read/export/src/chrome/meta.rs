//! Names and order of the tracks.

use std::io;

use ascend_trace_recording::Trace;

use super::dialect::Dialect;
use super::output::EventOutput;
use crate::ExportSource;
use crate::fields::write_recording;
use crate::lane_labels::{
    RECORDED, RECORDING, numbered, parts_name, stalls_name, stream_name, thread_name,
};
use crate::trace_facts::TraceFacts;
use crate::tracks::{ParallelTracks, SliceTrack, TrackLayout};

/// The track of facts about a process as a whole.
pub(super) fn of_process(pid: u32) -> SliceTrack {
    SliceTrack {
        pid,
        tid: pid,
        number: 0,
        lane: 0,
    }
}

/// Facts about the recording as a whole, as a mark at its begin.
pub(super) fn write_recording_mark(
    output: &mut EventOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    facts: &TraceFacts,
) -> io::Result<()> {
    let Some(track) = tracks.recording else {
        return Ok(());
    };
    write_label(output, track, "thread", RECORDING, i64::from(i32::MAX))?;
    let begin = source.part.begin;
    output.event(b'X', track, |members| {
        members.named(RECORDED, RECORDING);
        members.lasting(begin, begin);
        members.args(|json| write_recording(json, source, facts));
    })
}

/// Names tracks without a name.
pub(super) fn write_names(
    output: &mut EventOutput<'_>,
    dialect: &impl Dialect,
    trace: &Trace,
    tracks: &mut TrackLayout,
) -> io::Result<()> {
    for (order, track) in tracks.fresh_processes() {
        let name = dialect.process_name(trace, &track);
        write_label(output, of_process(track.pid), "process", &name, order)?;
    }
    for (thread, lane) in trace.threads().iter().zip(&mut tracks.threads) {
        let order = i64::from(thread.tid);
        let name = || thread_name(thread);
        write_parallel(output, &mut lane.slices, name, order)?;
        let captures = || format!("{} captures", thread_name(thread));
        write_parallel(output, &mut lane.captures, captures, order)?;
        let ranges = || format!("{} ranges", thread_name(thread));
        write_parallel(output, &mut lane.ranges, ranges, order)?;
    }
    for (stream, lane) in trace.streams().iter().zip(&mut tracks.streams) {
        let order = stream.number() * 2;
        let name = || stream_name(stream);
        write_parallel(output, &mut lane.slices, name, order)?;
        let name = || format!("stream {} events", stream.number());
        write_parallel(output, &mut lane.events, name, order + 1)?;
        let name = || parts_name(stream);
        write_parallel(output, &mut lane.parts, name, order + 1)?;
        let name = || stalls_name(stream);
        write_parallel(output, &mut lane.stalls, name, order + 1)?;
    }
    Ok(())
}

/// Names tracks that are parallel: the first after the lane, the others with a number.
fn write_parallel(
    output: &mut EventOutput<'_>,
    tracks: &mut ParallelTracks,
    name: impl Fn() -> String,
    order: i64,
) -> io::Result<()> {
    for (place, track) in tracks.fresh() {
        let name = numbered(name(), place);
        write_label(output, track, "thread", &name, order)?;
    }
    Ok(())
}

pub(super) fn write_label(
    output: &mut EventOutput<'_>,
    track: SliceTrack,
    what: &str,
    name: &str,
    order: i64,
) -> io::Result<()> {
    output.event(b'M', track, |members| {
        members.named(&format!("{what}_name"), "");
        members.args(|json| json.name("name").string(name));
    })?;
    output.event(b'M', track, |members| {
        members.named(&format!("{what}_sort_index"), "");
        members.args(|json| json.name("sort_index").integer(order));
    })
}
