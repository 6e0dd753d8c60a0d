//! Perfetto's trace format: packets of protocol buffers, for ui.perfetto.dev and its trace
//! processor.
//!
//! The content is that of the Chrome export, on the same tracks; the form is smaller and keeps more:
//! tracks nest (process › device › stream), times are nanoseconds of the host's `CLOCK_MONOTONIC` with
//! a snapshot that ties them to the time of day, encoded from event to event ([`sequences`]), and
//! arguments have types.
//!
//! The importer is strict about these rules, which are met as follows:
//! - it sorts packets by time and keeps the order of the file at equal times: the slices of a track are
//!   written in an order in which they nest, threads before streams ([`slices`]);
//! - an arrow points from the slice that begins first, regardless of its direction: a slice that was
//!   released late gets a mark at its end for the arrow ([`flows`]);
//! - every name has to be introduced before it is used ([`names`]).

mod captures;
mod counters;
mod critical;
mod fields;
mod flows;
mod meta;
mod names;
mod output;
mod ranges;
mod sequences;
mod slices;
mod stalls;
mod wire;

use std::io::Write;

use crate::counters::TraceCounters;
use crate::trace_facts::TraceFacts;
use crate::tracks::TrackLayout;
use crate::{ExportError, ExportPass, ExportSink, ExportSource, Exporter, OutputLayout, open};
use flows::SliceFlows;
use output::PacketOutput;
use slices::OpenCalls;

/// The exporter for `--format perfetto`.
#[derive(Clone, Copy, Debug)]
pub struct Perfetto;

impl Exporter for Perfetto {
    fn name(&self) -> &'static str {
        "perfetto"
    }

    fn layout(&self) -> OutputLayout {
        OutputLayout::File {
            extension: "pftrace",
        }
    }

    fn begin<'w>(
        &self,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError> {
        Ok(Box::new(PerfettoPass::new(open(sink, "")?)))
    }
}

struct PerfettoPass<'w> {
    output: PacketOutput<'w>,
    tracks: TrackLayout,
    counters: TraceCounters,
    facts: TraceFacts,
    open: OpenCalls,
    is_begun: bool,
}

impl<'w> PerfettoPass<'w> {
    fn new(file: Box<dyn Write + 'w>) -> Self {
        Self {
            output: PacketOutput::new(file),
            tracks: TrackLayout::default(),
            counters: TraceCounters::default(),
            facts: TraceFacts::default(),
            open: OpenCalls::default(),
            is_begun: false,
        }
    }
}

impl<'w> ExportPass<'w> for PerfettoPass<'w> {
    fn step(
        &mut self,
        source: &ExportSource<'_>,
        _: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError> {
        let (output, tracks) = (&mut self.output, &mut self.tracks);
        tracks.advance(source);
        self.facts.add(source);
        if !self.is_begun {
            self.is_begun = true;
            output.set_begin(source.part.begin, source.args);
            meta::write_start(output, source.trace)?;
        }
        meta::write_tracks(output, source.trace, tracks)?;
        let flows = SliceFlows::new(source, tracks);
        slices::write_calls(output, source, tracks, &flows, &mut self.open)?;
        slices::write_tasks(output, source, tracks, &flows)?;
        flows.write_far(output)?;
        self.facts.omitted_flows += flows.omitted();
        stalls::write(output, source, tracks)?;
        counters::write(output, source, tracks, &mut self.counters)?;
        if source.part.is_last {
            captures::write(output, source, tracks, &self.facts)?;
            critical::write(output, source, tracks)?;
            ranges::write(output, source, tracks, &self.facts)?;
            meta::write_recording(output, source, tracks, &self.facts)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(self.output.finish()?)
    }
}
