//! Idle stretches of streams as slices next to them, named after their cause.

use std::io;

use super::fields::event::{SLICE_BEGIN, SLICE_END};
use super::meta::uuid;
use super::output::{EventPlace, PacketOutput};
use super::sequences::SequenceOwner;
use crate::ExportSource;
use crate::fields::write_stall;
use crate::tracks::TrackLayout;

pub(super) fn write(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
) -> io::Result<()> {
    for (track, stall) in tracks.stalls(source) {
        let place = EventPlace {
            owner: SequenceOwner::Lane(track.lane, 3),
            track: uuid(track),
        };
        output.event(SLICE_BEGIN, place, stall.begin, |event| {
            event.named(stall.cause.name(), "stall");
            write_stall(event, source, stall);
        })?;
        output.event(SLICE_END, place, stall.end, |_| {})?;
    }
    Ok(())
}
