//! The packets that describe the others: clocks and tracks.

use std::io;

use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::SessionRow;

use super::fields::{clock, packet, track};
use super::output::{PacketOutput, TrackUuid};
use super::wire::MessageWriter;
use crate::counters::Counter;
use crate::lane_labels::device_name;
use crate::timeline::{NamedTrack, TrackParent};
use crate::tracks::{ProcessTrack, SliceTrack};

const PROCESSES: u64 = 2 << 32;
/// Where a recording without processes is described. No other track has its number.
pub(super) const NOWHERE: SliceTrack = SliceTrack {
    pid: 0,
    tid: 0,
    number: u32::MAX,
    lane: 0,
};

/// A track as it is numbered: small numbers take few bytes.
pub(super) fn uuid(track: SliceTrack) -> TrackUuid {
    match track.number {
        u32::MAX => TrackUuid(3 << 32),
        number => TrackUuid(u64::from(number)),
    }
}

/// The track of a process, or of a device below one.
fn process_uuid(pid: u32) -> TrackUuid {
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

/// Describes a process, or a device below one.
pub(super) fn write_process(
    output: &mut PacketOutput<'_>,
    trace: &Trace,
    all: &[ProcessTrack],
    (order, process, name): (i64, &ProcessTrack, &str),
) -> io::Result<()> {
    let mut hosts = all.iter().filter(|it| it.device.is_none());
    let parent = hosts.find(|host| host.process == process.process);
    write_track(output, process_uuid(process.pid), order, |wire| {
        match process.device {
            None => {
                let open = wire.open(track::PROCESS);
                wire.unsigned(track::PROCESS_PID, u64::from(process.pid));
                for word in trace.process(process.process).command() {
                    wire.text(track::PROCESS_COMMAND, word);
                }
                wire.text(track::PROCESS_NAME, name);
                wire.close(open);
            }
            Some(device) => {
                wire.text(track::NAME, &device_name(trace, process.process, device));
                let parent = parent.map_or(process.pid, |host| host.pid);
                wire.unsigned(track::PARENT, process_uuid(parent).0);
            }
        }
        wire.unsigned(track::CHILD_ORDERING, track::EXPLICIT);
    })
}

/// Describes a thread's own track, or one below another track or a process.
pub(super) fn write_named(output: &mut PacketOutput<'_>, named: &NamedTrack) -> io::Result<()> {
    let own = named.track;
    write_track(output, uuid(own), named.order, |wire| {
        let parent = match named.parent {
            TrackParent::Thread => {
                let open = wire.open(track::THREAD);
                wire.unsigned(track::THREAD_PID, u64::from(own.pid));
                wire.unsigned(track::THREAD_TID, u64::from(own.tid));
                wire.text(track::THREAD_NAME, &named.name);
                wire.close(open);
                return wire.unsigned(track::CHILD_ORDERING, track::EXPLICIT);
            }
            TrackParent::Track(parent) => Some(uuid(parent)),
            TrackParent::Process(pid) => Some(process_uuid(pid)),
            TrackParent::Nothing => None,
        };
        wire.text(track::NAME, &named.name);
        if let Some(parent) = parent {
            wire.unsigned(track::PARENT, parent.0);
        }
    })
}

pub(super) fn write_counter_track(
    output: &mut PacketOutput<'_>,
    own: TrackUuid,
    counter: &Counter,
) -> io::Result<()> {
    let parent = counter.track.map_or(process_uuid(counter.pid), uuid);
    write_track(output, own, 0, |wire| {
        // JSON has the unit in the name, as importers see it.
        wire.text(track::NAME, &format!("{} {}", counter.name, counter.unit));
        wire.unsigned(track::PARENT, parent.0);
        let open = wire.open(track::COUNTER);
        wire.text(track::UNIT_NAME, counter.unit);
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
