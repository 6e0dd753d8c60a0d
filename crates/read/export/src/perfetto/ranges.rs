//! Ranges and marks that the program named, as slices next to the thread that began them.

use std::io;

use super::fields::event::{INSTANT, SLICE_BEGIN, SLICE_END};
use super::output::PacketOutput;
use crate::ExportSource;
use crate::fields::write_step;
use crate::trace_facts::TraceFacts;
use crate::tracks::TrackLayout;

/// The category of a range in a domain without a name.
const CATEGORY: &str = "mstx";

pub(super) fn write(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    facts: &TraceFacts,
) -> io::Result<()> {
    let trace = source.trace;
    for (place, track) in &tracks.ranges {
        let range = &trace.ranges()[*place];
        let domain = trace.domain(range).filter(|name| !name.is_empty());
        let category = domain.unwrap_or(CATEGORY);
        let kind = match range.begin == range.end {
            true => INSTANT,
            false => SLICE_BEGIN,
        };
        output.event(kind, *track, range.begin, |event| {
            event.named(&range.name, category);
            if let Some(step) = facts.steps().of_range(trace, range) {
                write_step(event, source, step);
            }
        })?;
        if kind == SLICE_BEGIN {
            output.event(SLICE_END, *track, range.end, |_| {})?;
        }
    }
    Ok(())
}
