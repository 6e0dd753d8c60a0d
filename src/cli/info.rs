//! `info`: what a trace holds, and how complete it is.

mod coverage;
mod document;
mod text;

use ascend_trace_model::Trace;

use super::args::ReportArgs;
use super::trace;
use crate::output::{print, print_json};
use document::Document;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let document = document(&trace::open(&args.file)?);
    if args.json {
        return print_json("info", &document);
    }
    print(&text::text(&document))
}

/// The content of `info --json`.
pub(super) fn document(trace: &Trace) -> Document {
    Document::of(trace)
}
