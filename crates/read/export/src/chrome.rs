//! The Chrome trace event format, as JSON, for Perfetto and `chrome://tracing`.
//!
//! A traced process is a process; its host threads are threads. Each device that a process uses is a
//! separate process with the streams as threads. Calls and timed tasks are `X` slices, the dependencies
//! `s`/`f` flows, captures slices next to their thread, causes of idle time slices next to their
//! stream, queue depths and busy streams counters. Times are microseconds since the begin of the trace
//! with three decimals, so that no nanosecond is lost.
//!
//! Importers are strict about these rules, which are met as follows:
//! - slices of one track nest or are apart: overlapping ones go to a sub-track ([`crate::tracks`]);
//! - a flow binds to the innermost slice at its time: its ends are inside their slices, and event
//!   records and waits have separate tracks ([`flows`]);
//! - numbers are numbers, and ids are exact in a double.
//!
//! The parts of a trace are written one after the other; readers put events in order by their times.
//!
//! Other readers of this format want other names and categories: a [`Dialect`] has those.

mod captures;
mod counters;
mod critical;
mod dialect;
mod flows;
mod meta;
mod output;
mod ranges;
mod slices;
mod stalls;

use std::io::Write;

pub(crate) use dialect::{Dialect, EventLabel};
pub(crate) use output::EventOutput;

use crate::counters::TraceCounters;
use crate::fields::write_recording;
use crate::trace_facts::TraceFacts;
use crate::tracks::TrackLayout;
use crate::{ExportError, ExportPass, ExportSink, ExportSource, Exporter, OutputLayout, open};
use dialect::PlainDialect;

/// The exporter for `--format chrome`.
#[derive(Clone, Copy, Debug)]
pub struct Chrome;

impl Exporter for Chrome {
    fn name(&self) -> &'static str {
        "chrome"
    }

    fn layout(&self) -> OutputLayout {
        OutputLayout::File { extension: "json" }
    }

    fn begin<'w>(
        &self,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError> {
        Ok(Box::new(ChromePass(EventFile::new(
            open(sink, "")?,
            PlainDialect,
        ))))
    }
}

struct ChromePass<'w>(EventFile<'w, PlainDialect>);

impl<'w> ExportPass<'w> for ChromePass<'w> {
    fn step(
        &mut self,
        source: &ExportSource<'_>,
        _: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError> {
        self.0.step(source)
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(())
    }
}

/// A file of trace events on its way through a trace.
pub(crate) struct EventFile<'w, D> {
    output: EventOutput<'w>,
    dialect: D,
    tracks: TrackLayout,
    counters: TraceCounters,
    facts: TraceFacts,
    /// Number of the last flow.
    flows: u64,
}

impl<'w, D: Dialect> EventFile<'w, D> {
    pub(crate) fn new(file: Box<dyn Write + 'w>, dialect: D) -> Self {
        let mut output = EventOutput::new(file, D::IS_LIST);
        output.begin(|json| dialect.write_head(json));
        Self {
            output,
            dialect,
            tracks: TrackLayout::new(D::NUMBERING),
            counters: TraceCounters::default(),
            facts: TraceFacts::default(),
            flows: 0,
        }
    }

    /// Writes a part of the trace.
    pub(crate) fn step(&mut self, source: &ExportSource<'_>) -> Result<(), ExportError> {
        let (output, tracks) = (&mut self.output, &mut self.tracks);
        output.begin_part(self.dialect.base(source.part.begin));
        tracks.advance(source);
        self.dialect.advance(source, tracks);
        let dialect = &self.dialect;
        self.facts.add(source);
        meta::write_names(output, dialect, source.trace, tracks)?;
        slices::write_calls(output, dialect, source, tracks)?;
        slices::write_tasks(output, dialect, source, tracks)?;
        if D::HAS_EXTRAS {
            slices::write_parts(output, source, tracks)?;
            stalls::write(output, source, tracks)?;
            counters::write(output, source, tracks, &mut self.counters)?;
            critical::write(output, source, tracks)?;
        }
        // Flows come after their slices: at equal times an importer handles events in the order of
        // the file, and a flow must find its slice.
        self.facts.omitted_flows += flows::write(output, dialect, source, tracks, &mut self.flows)?;
        if source.part.is_last {
            ranges::write(output, dialect, source, tracks, &self.facts)?;
            captures::write(output, source, tracks, &self.facts)?;
            meta::write_recording_mark(output, source, tracks, &self.facts)?;
            dialect.write_last(output, source, tracks)?;
            output.end(|json| write_recording(json, source, &self.facts))?;
        }
        Ok(())
    }
}
