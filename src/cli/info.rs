//! `info`: what a trace holds, and how complete it is.

mod coverage;
mod document;
mod text;

use super::args::ReportArgs;
use super::trace::{self, Opened};
use crate::output::{print, print_json};
use document::{Document, Facts};

/// A trace with fewer calls and task times has no index, and is read in no time.
const SHORT: u64 = 1 << 17;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<u8> {
    let mut opened = trace::open_any(&args.file, SHORT)?;
    let facts = match &mut opened {
        Opened::Whole(trace, _) => Facts::of(trace),
        Opened::Long(archive) => Facts::of_archive(archive)?,
    };
    opened.check(args.strict)?;
    trace::say_warnings(&args.file, &opened);
    let condition = opened.condition();
    let status = condition.status(args.strict);
    let document = Document::of(opened.things(), facts, condition.damage);
    match args.json {
        true => print_json("info", &document)?,
        false => print(&text::text(&document))?,
    }
    Ok(status)
}

/// The content of `info --json`.
#[cfg(test)]
pub(super) fn document(trace: &ascend_trace_model::Trace) -> Document {
    Document::of(trace, Facts::of(trace), Vec::new())
}
