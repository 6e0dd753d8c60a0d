//! `info`: what a trace holds, and how complete it is.

mod coverage;
mod document;
mod text;

use std::collections::BTreeSet;
use std::path::Path;

use super::args::ReportArgs;
use super::trace::{self, Opened};
use crate::output::{print, print_json};
use coverage::Coverage;
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

/// The operators that a program asked for by name and no library has, each once.
pub(super) fn missing_operators(file: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut opened = trace::open_any(file, SHORT)?;
    let facts = match &mut opened {
        Opened::Whole(trace, _) => Facts::of(trace),
        Opened::Long(archive) => Facts::of_archive(archive)?,
    };
    let damage = opened.condition().damage;
    let document = Document::of(opened.things(), facts, damage);
    let absent = document.coverage.iter().flat_map(Coverage::absent);
    Ok(operators(absent))
}

/// The operators of some functions, which have two phases each.
fn operators<'a>(functions: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    const FIRST_PHASE: &str = "GetWorkspaceSize";
    let operators = functions.filter(|name| name.starts_with("aclnn"));
    operators
        .map(|name| name.strip_suffix(FIRST_PHASE).unwrap_or(name).to_owned())
        .collect()
}

/// The content of `info --json`.
#[cfg(test)]
pub(super) fn document(trace: &ascend_trace_model::Trace) -> Document {
    Document::of(trace, Facts::of(trace), Vec::new())
}

#[cfg(test)]
mod tests {
    use super::operators;

    #[test]
    fn an_operator_is_missed_once_for_both_of_its_phases() {
        let asked = [
            "aclnnErfGetWorkspaceSize",
            "aclnnErf",
            "aclrtNew",
            "aclnnCross",
        ];
        let missed: Vec<String> = operators(asked.into_iter()).into_iter().collect();
        assert_eq!(missed, ["aclnnCross", "aclnnErf"]);
    }
}
