//! Counters on tracks below their stream or device.

use std::io;

use super::fields::event::COUNTER;
use super::meta::{process_uuid, uuid, write_counter_track};
use super::output::{EventPlace, PacketOutput, TrackUuid};
use super::sequences::SequenceOwner;
use crate::ExportSource;
use crate::counters::TraceCounters;
use crate::tracks::TrackLayout;

/// Tracks of counters begin here, beyond those of slices.
const FIRST: u64 = 1 << 27;

pub(super) fn write(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    counters: &mut TraceCounters,
) -> io::Result<()> {
    counters.advance(source, tracks, &mut |counter, step| {
        let track = TrackUuid(FIRST + counter.number);
        match step {
            None => {
                let parent = counter.track.map_or(process_uuid(counter.pid), uuid);
                // JSON has the unit in the name, as importers see it.
                let name = format!("{} {}", counter.name, counter.unit);
                write_counter_track(output, track, parent, &name, counter.unit)
            }
            Some(step) => {
                let owner = SequenceOwner::Counter(counter.number);
                let place = EventPlace { owner, track };
                output.event(COUNTER, place, step.time, |event| {
                    event.counter(step.amount)
                })
            }
        }
    })
}
