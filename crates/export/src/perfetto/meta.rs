//! The packets that say what the others are about: clocks, tracks, and the recording as a whole.

use std::io;

use ascend_trace_model::Trace;

use super::fields::event::INSTANT;
use super::fields::{clock, packet, track};
use super::flows::Flows;
use super::output::{Output, Uuid};
use super::wire::Wire;
use crate::Source;
use crate::fields::write_recording as write_facts;
use crate::labels::{process_name, stream_name, thread_name};
use crate::tracks::{LaneTracks, Track, Tracks};

const THREADS: u64 = 1 << 32;
const PROCESSES: u64 = 2 << 32;
const RECORDING: Uuid = Uuid(3 << 32);

/// The track of a lane; lanes have numbers that occur once.
pub(super) fn uuid(track: Track) -> Uuid {
    Uuid(THREADS + u64::from(track.tid))
}

/// The track of a process, or of a device below one.
pub(super) fn process_uuid(pid: u32) -> Uuid {
    Uuid(PROCESSES + u64::from(pid))
}

/// What every reader needs first: the sequence's defaults, and how its clock runs.
pub(super) fn write_start(output: &mut Output<'_, '_>, trace: &Trace) -> io::Result<()> {
    let session = trace.session();
    output.packet(|wire| {
        wire.unsigned(packet::FIRST_ON_SEQUENCE, 1);
        wire.unsigned(packet::SEQUENCE_FLAGS, packet::STATE_CLEARED);
        let defaults = wire.open(packet::DEFAULTS);
        wire.unsigned(packet::TIMESTAMP_CLOCK_ID, clock::MONOTONIC);
        wire.close(defaults);
        let snapshot = wire.open(packet::CLOCK_SNAPSHOT);
        write_clock(wire, clock::MONOTONIC, session.start_ns);
        write_clock(wire, clock::REALTIME, session.start_realtime_ns);
        wire.unsigned(clock::PRIMARY, clock::MONOTONIC);
        wire.close(snapshot);
    })
}

fn write_clock(wire: &mut Wire, id: u64, time: i64) {
    let open = wire.open(clock::CLOCK);
    wire.unsigned(clock::ID, id);
    wire.unsigned(clock::TIME, time.max(0) as u64);
    wire.close(open);
}

/// Describes every track: processes with their threads, devices below them with their streams.
pub(super) fn write_tracks(
    output: &mut Output<'_, '_>,
    trace: &Trace,
    tracks: &Tracks,
) -> io::Result<()> {
    let hosts = tracks.processes.iter().filter(|it| it.device.is_none());
    for (order, process) in tracks.processes.iter().enumerate() {
        let name = process_name(trace, process);
        let parent = hosts.clone().find(|host| host.process == process.process);
        write_track(output, process_uuid(process.pid), order as i64, |wire| {
            match process.device {
                None => {
                    let open = wire.open(track::PROCESS);
                    wire.unsigned(track::PROCESS_PID, u64::from(process.pid));
                    wire.text(track::PROCESS_NAME, &name);
                    wire.close(open);
                }
                Some(device) => {
                    wire.text(track::NAME, &format!("NPU {device}"));
                    let parent = parent.map_or(process.pid, |host| host.pid);
                    wire.unsigned(track::PARENT, process_uuid(parent).0);
                }
            }
            wire.unsigned(track::CHILD_ORDERING, track::EXPLICIT);
        })?;
    }
    for (thread, lane) in trace.threads().iter().zip(&tracks.threads) {
        let (name, order) = (thread_name(thread), i64::from(thread.tid));
        write_thread(output, lane, &name, order)?;
        let captures = format!("{name} captures");
        let process = process_uuid(lane.pid);
        write_lane(output, &lane.captures, process, &captures, order)?;
    }
    for (stream, lane) in trace.streams().iter().zip(&tracks.streams) {
        let name = stream_name(stream);
        let order = stream.number() * 2;
        let device = process_uuid(lane.pid);
        write_lane(output, &lane.slices, device, &name, order)?;
        let name = format!("stream {} events", stream.number());
        write_lane(output, &lane.events, device, &name, order + 1)?;
    }
    write_track(output, RECORDING, i64::MAX, |wire| {
        wire.text(track::NAME, "recording")
    })
}

/// A thread's own track, and those of calls that do not nest with the others.
fn write_thread(
    output: &mut Output<'_, '_>,
    lane: &LaneTracks,
    name: &str,
    order: i64,
) -> io::Result<()> {
    let Some((own, others)) = lane.slices.split_first() else {
        return Ok(());
    };
    let parent = Uuid(THREADS + u64::from(*own));
    write_track(output, parent, order, |wire| {
        let open = wire.open(track::THREAD);
        wire.unsigned(track::THREAD_PID, u64::from(lane.pid));
        wire.unsigned(track::THREAD_TID, u64::from(*own));
        wire.text(track::THREAD_NAME, name);
        wire.close(open);
    })?;
    write_lane(output, others, parent, &format!("{name} (more)"), order)
}

/// The tracks of a lane: the first is named after it, the others with a number.
pub(super) fn write_lane(
    output: &mut Output<'_, '_>,
    tids: &[u32],
    parent: Uuid,
    name: &str,
    order: i64,
) -> io::Result<()> {
    for (index, tid) in tids.iter().enumerate() {
        let name = match index {
            0 => name.to_owned(),
            _ => format!("{name} ({})", index + 1),
        };
        write_track(output, Uuid(THREADS + u64::from(*tid)), order, |wire| {
            wire.text(track::NAME, &name);
            wire.unsigned(track::PARENT, parent.0);
        })?;
    }
    Ok(())
}

/// A track of its own below another one.
pub(super) fn write_child(
    output: &mut Output<'_, '_>,
    own: Uuid,
    parent: Uuid,
    name: &str,
) -> io::Result<()> {
    write_track(output, own, 0, |wire| {
        wire.text(track::NAME, name);
        wire.unsigned(track::PARENT, parent.0);
    })
}

pub(super) fn write_counter_track(
    output: &mut Output<'_, '_>,
    counter: Uuid,
    parent: Uuid,
    name: &str,
    unit: &str,
) -> io::Result<()> {
    write_track(output, counter, 0, |wire| {
        wire.text(track::NAME, name);
        wire.unsigned(track::PARENT, parent.0);
        let open = wire.open(track::COUNTER);
        wire.text(track::UNIT_NAME, unit);
        wire.close(open);
    })
}

fn write_track(
    output: &mut Output<'_, '_>,
    own: Uuid,
    order: i64,
    fill: impl FnOnce(&mut Wire),
) -> io::Result<()> {
    output.packet(|wire| {
        let open = wire.open(packet::TRACK_DESCRIPTOR);
        wire.unsigned(track::UUID, own.0);
        wire.signed(track::ORDER, order.clamp(0, i64::from(i32::MAX)));
        fill(wire);
        wire.close(open);
    })
}

/// What is known about the recording as a whole, as a mark at its begin.
pub(super) fn write_recording<'t>(
    output: &mut Output<'_, 't>,
    source: &Source<'t>,
    flows: &Flows<'_, 't>,
) -> io::Result<()> {
    let trace = source.trace;
    let begin = trace.span().map_or(trace.session().start_ns, |span| span.0);
    output.event(INSTANT, RECORDING, begin, |event| {
        event.named("ascend-trace", "");
        write_facts(event, source, begin, flows.omitted());
    })
}
