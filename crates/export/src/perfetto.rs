//! Perfetto's trace format: packets of protocol buffers, for ui.perfetto.dev and its trace
//! processor.
//!
//! The content is that of the Chrome export, on the same tracks; the form is smaller and keeps more:
//! tracks nest (process › device › stream), times are nanoseconds of the host's `CLOCK_MONOTONIC`
//! with a snapshot that ties them to the time of day, and arguments have types.
//!
//! What the importer is strict about, and how it is met:
//! - it sorts packets by time and keeps the order of the file at equal times: the slices of a track
//!   are written in an order in which they nest, streams before threads ([`slices`]);
//! - an arrow points from the slice that begins first, whatever it was meant to: what was released
//!   late gets a mark at its end that the arrow can point to ([`flows`]);
//! - every name has to be introduced before it is used ([`names`]).

mod captures;
mod counters;
mod fields;
mod flows;
mod meta;
mod names;
mod output;
mod ranges;
mod slices;
mod stalls;
mod wire;

use crate::tracks::Tracks;
use crate::{ExportError, Exporter, Layout, Sink, Source, open};
use flows::Flows;
use output::Output;

/// The exporter for `--format perfetto`.
#[derive(Clone, Copy, Debug)]
pub struct Perfetto;

impl Exporter for Perfetto {
    fn name(&self) -> &'static str {
        "perfetto"
    }

    fn layout(&self) -> Layout {
        Layout::File {
            extension: "pftrace",
        }
    }

    fn export(&self, source: &Source<'_>, sink: &mut dyn Sink) -> Result<(), ExportError> {
        let mut file = open(sink, "")?;
        let begin = source.trace.span().map_or(0, |span| span.0);
        let mut output = Output::new(&mut *file, begin);
        let tracks = Tracks::of(source);
        let flows = Flows::new(source, &tracks);
        meta::write_start(&mut output, source.trace)?;
        meta::write_tracks(&mut output, source.trace, &tracks)?;
        slices::write_tasks(&mut output, source, &tracks, &flows)?;
        slices::write_calls(&mut output, source, &tracks, &flows)?;
        captures::write(&mut output, source, &tracks)?;
        ranges::write(&mut output, source, &tracks)?;
        stalls::write(&mut output, source, &tracks)?;
        counters::write(&mut output, source, &tracks)?;
        meta::write_recording(&mut output, source, &flows)?;
        output.finish()?;
        Ok(())
    }
}
