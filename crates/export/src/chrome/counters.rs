//! Counters as events of phase `C`.

use std::io;

use super::meta::of_process;
use super::output::Output;
use crate::Source;
use crate::counters::Counters;
use crate::tracks::Tracks;

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
    counters: &mut Counters,
) -> io::Result<()> {
    counters.advance(source, tracks, &mut |counter, step| {
        let Some(step) = step else {
            return Ok(());
        };
        let track = counter.track.unwrap_or(of_process(counter.pid));
        output.event(b'C', track, |members| {
            members.named(&counter.name, "");
            members.at(step.time);
            members.args(|json| json.key(counter.unit).integer(step.amount));
        })
    })
}
