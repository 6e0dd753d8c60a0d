//! Idle stretches of streams as slices beside them, named after their cause.

use std::io;

use super::fields::event::{SLICE_BEGIN, SLICE_END};
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
        output.event(SLICE_BEGIN, track, stall.begin, |event| {
            event.named(stall.cause.name().into(), "stall");
            write_stall(event, source, stall);
        })?;
        output.event(SLICE_END, track, stall.end, |_| {})?;
    }
    Ok(())
}
