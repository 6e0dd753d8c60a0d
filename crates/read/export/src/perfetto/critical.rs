//! The critical path as slices on a separate track.

use std::io;

use super::fields::event::{SLICE_BEGIN, SLICE_END};
use super::meta::write_critical_track;
use super::output::{EventPlace, PacketOutput};
use super::sequences::SequenceOwner;
use crate::ExportSource;
use crate::lane_labels::{CRITICAL, piece_name};
use crate::tracks::TrackLayout;

pub(super) fn write(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
) -> io::Result<()> {
    let Some(track) = tracks.critical else {
        return Ok(());
    };
    let place = EventPlace {
        owner: SequenceOwner::All,
        track: write_critical_track(output, track)?,
    };
    for piece in source.critical.iter() {
        output.event(SLICE_BEGIN, place, piece.begin_ns, |event| {
            event.named(&piece_name(&piece), CRITICAL);
        })?;
        output.event(SLICE_END, place, piece.end_ns, |_| {})?;
    }
    Ok(())
}
