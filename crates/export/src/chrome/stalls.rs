//! Idle stretches of streams as slices next to them, named after their cause.

use std::io;

use super::output::Output;
use crate::Source;
use crate::fields::write_stall;
use crate::tracks::Tracks;

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
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
