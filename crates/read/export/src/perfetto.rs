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
//!   written in an order in which they nest, threads before streams ([`open_calls`]);
//! - an arrow points from the slice that begins first, regardless of its direction: a slice that was
//!   released late gets a mark at its end for the arrow ([`flows`]);
//! - every name has to be introduced before it is used ([`names`]).

mod encoder;
mod fields;
mod flows;
mod meta;
mod names;
mod open_calls;
mod output;
mod sequences;
mod wire;

use crate::timeline::{PlainDialect, TimelineFile};
use crate::{ExportError, ExportPass, ExportSink, Exporter, OutputLayout, open};
use encoder::PerfettoEncoder;

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
        let encoder = PerfettoEncoder::new(open(sink, "")?);
        Ok(Box::new(TimelineFile::new(encoder, PlainDialect)))
    }
}
