//! The packets that describe the others: clocks, tracks, and the recording as a whole.

use std::io;

use ascend_trace_recording::rows::SessionRow;
use ascend_trace_recording::{Thread, Trace};

use super::fields::event::INSTANT;
use super::fields::{clock, packet, track};
use super::output::{EventPlace, PacketOutput, TrackUuid};
use super::sequences::SequenceOwner;
use super::wire::MessageWriter;
use crate::ExportSource;
use crate::fields::write_recording as write_facts;
use crate::lane_labels::{
    CRITICAL_PATH, RECORDED, RECORDING, numbered, parts_name, process_name, stalls_name,
    stream_name, thread_name,
};
use crate::trace_facts::TraceFacts;
use crate::tracks::{ParallelTracks, SliceTrack, TrackLayout};

const PROCESSES: u64 = 2 << 32;
/// Where a recording without processes is described.
const NOWHERE: TrackUuid = TrackUuid(3 << 32);

/// A track as it is numbered: small numbers take few bytes.
pub(super) fn uuid(track: SliceTrack) -> TrackUuid {
    TrackUuid(u64::from(track.number))
}

/// The track of a process, or of a device below one.
pub(super) fn process_uuid(pid: u32) -> TrackUuid {
    TrackUuid(PROCESSES + u64::from(pid))
}

/// What every reader needs first: the sequence's defaults, and how its clock runs.
pub(super) fn write_start(output: &mut PacketOutput<'_>, trace: &Trace) -> io::Result<()> {
    let session = trace.session();
    output.packet(|wire| {
        wire.unsigned(packet::FIRST_ON_SEQUENCE, 1);
        wire.unsigned(packet::SEQUENCE_FLAGS, packet::STATE_CLEARED);
        let defaults = wire.open(packet::DEFAULTS);
        wire.unsigned(packet::TIMESTAMP_CLOCK_ID, clock::MONOTONIC);
        wire.close(defaults);
        let snapshot = wire.open(packet::CLOCK_SNAPSHOT);
        write_clock(wire, clock::MONOTONIC, session.start_ns);
        // Importers relate everything to this one, and traces of the system use it.
        write_clock(wire, clock::BOOTTIME, boottime(session));
        write_clock(wire, clock::REALTIME, session.start_realtime_ns);
        wire.unsigned(clock::PRIMARY, clock::MONOTONIC);
        wire.close(snapshot);
    })?;
    // Of the root, which is an invisible track: processes and threads are at the place of their
    // descriptions.
    output.packet(|wire| {
        let open = wire.open(packet::TRACK_DESCRIPTOR);
        wire.unsigned(track::UUID, 0);
        wire.unsigned(track::PROCESS_ORDERING, track::EXPLICIT_ORDERING);
        wire.unsigned(track::THREAD_ORDERING, track::EXPLICIT_ORDERING);
        wire.close(open);
    })
}

/// Older traces do not contain it: then the host is assumed to have run without suspension since its
/// start.
pub(crate) fn boottime(session: &SessionRow) -> i64 {
    match session.start_boottime_ns {
        0 => session.start_ns,
        known => known,
    }
}

pub(super) fn write_clock(wire: &mut MessageWriter, id: u64, time: i64) {
    let open = wire.open(clock::CLOCK);
    wire.unsigned(clock::ID, id);
    wire.unsigned(clock::TIME, time.max(0) as u64);
    wire.close(open);
}

/// Describes every track: processes with their threads, devices below them with their streams.
pub(super) fn write_tracks(
    output: &mut PacketOutput<'_>,
    trace: &Trace,
    tracks: &mut TrackLayout,
) -> io::Result<()> {
    for (order, process) in tracks.fresh_processes() {
        let name = process_name(trace, &process);
        let mut hosts = tracks.processes.iter().filter(|it| it.device.is_none());
        let parent = hosts.find(|host| host.process == process.process);
        write_track(output, process_uuid(process.pid), order, |wire| {
            match process.device {
                None => {
                    let open = wire.open(track::PROCESS);
                    wire.unsigned(track::PROCESS_PID, u64::from(process.pid));
                    for word in trace.process(process.process).command() {
                        wire.text(track::PROCESS_COMMAND, word);
                    }
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
    for (thread, lane) in trace.threads().iter().zip(&mut tracks.threads) {
        let order = i64::from(thread.tid);
        let process = process_uuid(lane.pid);
        let own = lane.own();
        for (place, track) in lane.slices.fresh() {
            write_thread_track(output, thread, (own, place, track))?;
        }
        let captures = || format!("{} captures", thread_name(thread));
        write_parallel(output, &mut lane.captures, process, captures, order)?;
        let ranges = || format!("{} ranges", thread_name(thread));
        let parent = own.map_or(process, uuid);
        write_parallel(output, &mut lane.ranges, parent, ranges, order)?;
    }
    for (stream, lane) in trace.streams().iter().zip(&mut tracks.streams) {
        let order = stream.number() * 2;
        let device = process_uuid(lane.pid);
        let name = || stream_name(stream);
        write_parallel(output, &mut lane.slices, device, name, order)?;
        let name = || format!("stream {} events", stream.number());
        write_parallel(output, &mut lane.events, device, name, order + 1)?;
        let name = || parts_name(stream);
        write_parallel(output, &mut lane.parts, device, name, order + 1)?;
        let name = || stalls_name(stream);
        write_parallel(output, &mut lane.stalls, device, name, order + 1)?;
    }
    Ok(())
}

/// A thread's own track, or one below it for calls that do not nest with the others.
fn write_thread_track(
    output: &mut PacketOutput<'_>,
    thread: &Thread,
    (own, place, track): (Option<SliceTrack>, usize, SliceTrack),
) -> io::Result<()> {
    let (name, order) = (thread_name(thread), i64::from(thread.tid));
    write_track(output, uuid(track), order, |wire| {
        match own.filter(|own| *own != track) {
            None => {
                let open = wire.open(track::THREAD);
                wire.unsigned(track::THREAD_PID, u64::from(track.pid));
                wire.unsigned(track::THREAD_TID, u64::from(track.tid));
                wire.text(track::THREAD_NAME, &name);
                wire.close(open);
                wire.unsigned(track::CHILD_ORDERING, track::EXPLICIT);
            }
            Some(own) => {
                wire.text(track::NAME, &numbered(name, place));
                wire.unsigned(track::PARENT, uuid(own).0);
            }
        }
    })
}

/// The new ones of parallel tracks.
fn write_parallel(
    output: &mut PacketOutput<'_>,
    tracks: &mut ParallelTracks,
    parent: TrackUuid,
    name: impl Fn() -> String,
    order: i64,
) -> io::Result<()> {
    for (place, track) in tracks.fresh() {
        let name = numbered(name(), place);
        write_track(output, uuid(track), order, |wire| {
            wire.text(track::NAME, &name);
            wire.unsigned(track::PARENT, parent.0);
        })?;
    }
    Ok(())
}

pub(super) fn write_counter_track(
    output: &mut PacketOutput<'_>,
    counter: TrackUuid,
    parent: TrackUuid,
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
    output: &mut PacketOutput<'_>,
    own: TrackUuid,
    order: i64,
    fill: impl FnOnce(&mut MessageWriter),
) -> io::Result<()> {
    output.packet(|wire| {
        let open = wire.open(packet::TRACK_DESCRIPTOR);
        wire.unsigned(track::UUID, own.0);
        wire.signed(track::ORDER, order.clamp(0, i64::from(i32::MAX)));
        fill(wire);
        wire.close(open);
    })
}

/// Names the track of the critical path.
pub(super) fn write_critical_track(
    output: &mut PacketOutput<'_>,
    track: SliceTrack,
) -> io::Result<TrackUuid> {
    let own = uuid(track);
    write_track(output, own, 0, |wire| {
        wire.text(track::NAME, CRITICAL_PATH);
        wire.unsigned(track::PARENT, process_uuid(track.pid).0);
    })?;
    Ok(own)
}

/// Facts about the recording as a whole, as a mark at its begin.
pub(super) fn write_recording(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    facts: &TraceFacts,
) -> io::Result<()> {
    let own = tracks.recording.map_or(NOWHERE, uuid);
    write_track(output, own, i64::MAX, |wire| {
        wire.text(track::NAME, RECORDING);
        if let Some(track) = tracks.recording {
            wire.unsigned(track::PARENT, process_uuid(track.pid).0);
        }
    })?;
    let trace = source.trace;
    let begin = trace
        .span()
        .map_or(trace.session().start_ns, |_| source.part.begin);
    let place = EventPlace {
        owner: SequenceOwner::All,
        track: own,
    };
    output.event(INSTANT, place, begin, |event| {
        event.named(RECORDED, RECORDING);
        write_facts(event, source, facts);
    })
}
