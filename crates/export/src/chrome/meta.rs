//! Names and order of the tracks, and what is known about the recording as a whole.

use std::io;

use ascend_trace_format::version::FILE_VERSION;
use ascend_trace_model::Trace;

use super::output::{Output, Track};
use super::tracks::{ProcessTrack, Tracks};
use crate::json::Json;

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
        let name = match thread.name.as_str() {
            "" => format!("thread {}", thread.tid),
            name => name.to_owned(),
        };
        let order = i64::from(thread.tid);
        write_lane(output, lane.pid, &lane.slices, &name, order)?;
        let captures = format!("{name} captures");
        write_lane(output, lane.pid, &lane.captures, &captures, order)?;
    }
    for (stream, lane) in trace.streams().iter().zip(&tracks.streams) {
        let mut name = format!("stream {}", stream.number());
        if stream.is_default {
            name.push_str(" (default)");
        }
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

fn process_name(trace: &Trace, track: &ProcessTrack) -> String {
    let process = trace.process(track.process);
    let mut name = match process.name.as_str() {
        "" => format!("process {}", process.pid),
        name => name.to_owned(),
    };
    if !process.rank.is_empty() {
        name.push_str(&format!(" rank {}", process.rank));
    }
    match track.device {
        None => name,
        Some(device) => format!("{name} device {device} (pid {})", process.pid),
    }
}

/// Names the tracks of a lane: the first after the lane, the others with a number.
fn write_lane(
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

pub(super) fn write_other_data(json: &mut Json, trace: &Trace, begin: i64, omitted: u64) {
    let session = trace.session();
    json.name("tool").string("ascend-trace");
    json.name("tool_version").string(&session.tool_version);
    json.name("trace_format").unsigned(u64::from(FILE_VERSION));
    json.name("command").string(&session.command.join(" "));
    json.name("host").string(&session.host);
    json.name("architecture").string(&session.architecture);
    json.name("runtime").string(&session.runtime);
    json.name("timing").string(&session.timing);
    json.name("start_time").string(&session.start_time);
    // CLOCK_MONOTONIC of the recording host at ts 0.
    json.name("begin_ns").integer(begin);
    json.name("complete").boolean(trace.end().is_some());
    json.name("calls").unsigned(trace.calls().len() as u64);
    json.name("tasks").unsigned(trace.tasks().len() as u64);
    let untimed = trace.tasks().iter().filter(|task| task.time.is_none());
    json.name("untimed_tasks").unsigned(untimed.count() as u64);
    json.name("lost_calls").unsigned(trace.losses().calls);
    json.name("lost_others").unsigned(trace.losses().others);
    // Dependencies that no pair of slices can show.
    json.name("omitted_flows").unsigned(omitted);
}
