//! `info`: what a trace holds, and how complete it is.

mod document;
mod text;

use super::args::ReportArgs;
use super::trace;
use crate::output::{print, print_json};

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let trace = trace::open(&args.file)?;
    let document = document::Document::of(&trace);
    if args.json {
        return print_json("info", &document);
    }
    print(&text::text(&document))
}
