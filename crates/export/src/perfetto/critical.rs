//! The critical path as slices on a separate track.

use std::io;

use super::fields::event::{SLICE_BEGIN, SLICE_END};
use super::meta::write_critical_track;
use super::output::{Output, Place};
use super::sequences::Owner;
use crate::Source;
use crate::labels::{CRITICAL, piece_name};
use crate::tracks::Tracks;

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
) -> io::Result<()> {
    let Some(track) = tracks.critical else {
        return Ok(());
    };
    let place = Place {
        owner: Owner::All,
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
