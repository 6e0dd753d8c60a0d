//! Ranges and marks that the program named, as slices next to the thread that began them.

use std::io;

use super::dialect::Dialect;
use super::output::Output;
use crate::Source;
use crate::facts::Facts;
use crate::fields::write_step;
use crate::tracks::Tracks;

pub(super) fn write(
    output: &mut Output<'_>,
    dialect: &impl Dialect,
    source: &Source<'_>,
    tracks: &Tracks,
    facts: &Facts,
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
