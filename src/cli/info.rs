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

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let document = match trace::open_any(&args.file, SHORT)? {
        Opened::Whole(trace) => Document::of(&trace, Facts::of(&trace)),
        Opened::Long(mut archive) => {
            let facts = Facts::of_archive(&mut archive)?;
            trace::say_all(&args.file, &archive.final_warnings());
            Document::of(archive.things(), facts)
        }
    };
    if args.json {
        return print_json("info", &document);
    }
    print(&text::text(&document))
}

/// The content of `info --json`.
#[cfg(test)]
pub(super) fn document(trace: &ascend_trace_model::Trace) -> Document {
    Document::of(trace, Facts::of(trace))
}
