//! The critical path as slices on a separate track.

use std::io;

use super::meta::write_label;
use super::output::Output;
use crate::Source;
use crate::labels::{CRITICAL, CRITICAL_PATH, piece_name};
use crate::tracks::Tracks;

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
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
