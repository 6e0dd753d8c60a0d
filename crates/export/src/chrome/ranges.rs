//! Ranges and marks that the program named, as slices beside the thread that began them.

use std::io;

use super::output::Output;
use crate::Source;
use crate::tracks::Tracks;

/// The category of events whose range has no domain with a name.
const CATEGORY: &str = "mstx";

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
) -> io::Result<()> {
    let trace = source.trace;
    for (place, track) in &tracks.ranges {
        let range = &trace.ranges()[*place];
        output.event(b'X', *track, |members| {
            let domain = trace.domain(range).filter(|name| !name.is_empty());
            let category = domain.unwrap_or(CATEGORY);
            members.named(range.name.as_str().into(), category);
            members.lasting(range.begin, range.end);
            members.args(|_| {});
        })?;
    }
    Ok(())
}
