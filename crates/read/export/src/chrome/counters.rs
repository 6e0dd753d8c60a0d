//! Counters as events of phase `C`.

use std::io;

use super::meta::of_process;
use super::output::EventOutput;
use crate::ExportSource;
use crate::counters::TraceCounters;
use crate::tracks::TrackLayout;

pub(super) fn write(
    output: &mut EventOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    counters: &mut TraceCounters,
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
