//! Idle stretches of streams as slices next to them, named after their cause.

use std::io;

use super::output::EventOutput;
use crate::ExportSource;
use crate::fields::write_stall;
use crate::tracks::TrackLayout;

pub(super) fn write(
    output: &mut EventOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
) -> io::Result<()> {
    for (track, stall) in tracks.stalls(source) {
        output.event(b'X', track, |members| {
            members.named(stall.cause.name(), "stall");
            members.lasting(stall.begin, stall.end);
            members.args(|json| write_stall(json, source, stall));
        })?;
    }
    Ok(())
}
