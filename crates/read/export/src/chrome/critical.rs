//! The critical path as slices on a separate track.

use std::io;

use super::meta::write_label;
use super::output::EventOutput;
use crate::ExportSource;
use crate::lane_labels::{CRITICAL, CRITICAL_PATH, piece_name};
use crate::tracks::TrackLayout;

pub(super) fn write(
    output: &mut EventOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
) -> io::Result<()> {
    let Some(track) = tracks.critical else {
        return Ok(());
    };
    write_label(output, track, "thread", CRITICAL_PATH, -1)?;
    for piece in source.critical.iter() {
        output.event(b'X', track, |members| {
            members.named(&piece_name(&piece), CRITICAL);
            members.lasting(piece.begin_ns, piece.end_ns);
        })?;
    }
    Ok(())
}
