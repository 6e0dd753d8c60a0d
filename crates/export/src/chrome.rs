//! The Chrome trace event format, as JSON, for Perfetto and `chrome://tracing`.
//!
//! A traced process is a process; its host threads are threads. Each device that a process uses is
//! a process of its own, whose threads are the streams. Calls and timed tasks are `X` slices, the
//! dependencies `s`/`f` flows, captures slices beside their thread with flows to the replays, causes of
//! idle time slices beside their stream, queue depths and busy streams counters. Times are microseconds since the trace's first moment with
//! three decimals, so that no nanosecond is lost.
//!
//! What importers are strict about, and how it is met:
//! - slices of one track nest or are apart: whatever overlaps goes to a sub-track ([`crate::tracks`]);
//! - a flow binds to the innermost slice at its time: its ends lie inside their slices, and event
//!   records and waits have tracks beside their stream's ([`flows`]);
//! - numbers are numbers, and ids are exact in a double.
//!
//! Nothing is held in memory but the slices that are not on the first track of their lane.

mod captures;
mod counters;
mod flows;
mod meta;
mod output;
mod ranges;
mod slices;
mod stalls;

use crate::fields::write_recording;
use crate::tracks::Tracks;
use crate::{ExportError, Exporter, Layout, Sink, Source, open};
use output::Output;

/// The exporter for `--format chrome`.
#[derive(Clone, Copy, Debug)]
pub struct Chrome;

impl Exporter for Chrome {
    fn name(&self) -> &'static str {
        "chrome"
    }

    fn layout(&self) -> Layout {
        Layout::File { extension: "json" }
    }

    fn export(&self, source: &Source<'_>, sink: &mut dyn Sink) -> Result<(), ExportError> {
        let mut file = open(sink, "")?;
        let begin = source.trace.span().map_or(0, |span| span.0);
        let mut output = Output::new(&mut *file, begin);
        let tracks = Tracks::of(source);
        output.begin();
        meta::write_names(&mut output, source.trace, &tracks)?;
        slices::write_calls(&mut output, source, &tracks)?;
        slices::write_tasks(&mut output, source, &tracks)?;
        ranges::write(&mut output, source, &tracks)?;
        captures::write(&mut output, source, &tracks)?;
        stalls::write(&mut output, source, &tracks)?;
        counters::write(&mut output, source, &tracks)?;
        // Flows come last: at equal times an importer handles events in the order of the file, and
        // a flow must find its slice.
        let mut id = 0;
        let mut omitted = flows::write(&mut output, source, &tracks, &mut id)?;
        omitted += captures::write_flows(&mut output, source, &tracks, &mut id)?;
        output.end(|json| write_recording(json, source, begin, omitted))?;
        Ok(())
    }
}
