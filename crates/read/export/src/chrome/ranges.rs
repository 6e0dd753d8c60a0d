//! Ranges and marks that the program named, as slices next to the thread that began them.

use std::io;

use super::dialect::Dialect;
use super::output::EventOutput;
use crate::ExportSource;
use crate::fields::write_step;
use crate::trace_facts::TraceFacts;
use crate::tracks::TrackLayout;

pub(super) fn write(
    output: &mut EventOutput<'_>,
    dialect: &impl Dialect,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    facts: &TraceFacts,
) -> io::Result<()> {
    let trace = source.trace;
    for (place, track) in &tracks.ranges {
        let range = &trace.ranges()[*place];
        output.event(b'X', *track, |members| {
            let (name, category) = dialect.range(source, range);
            members.named(&name, category);
            members.lasting(range.begin, range.end);
            members.args(|json| {
                if let Some(step) = facts.steps().of_range(trace, range) {
                    write_step(json, source, step);
                }
            });
        })?;
    }
    Ok(())
}
