//! `check`: mistakes and costs of a recorded program.

mod deny;
mod sarif;
mod suppress;

use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use ascend_trace_analysis::checks::{Finding, Findings, all};
use ascend_trace_recording::text;
use ascend_trace_recording::units::{duration, moment};

use super::args::CheckArgs;
use super::document_head::DocumentHead;
use super::open_trace::{self, Completeness, Reported};
use crate::error::DENIED;
use crate::output::{print, print_json, print_message};
use crate::stack_symbols;
use crate::text_table::{TableRows, TextTable, count};
use suppress::Suppressions;

pub(crate) use deny::DeniedFindings;

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<u8> {
    if args.list {
        print(&list().render(0))?;
        return Ok(0);
    }
    let file = args.file.as_deref().context("no trace is named")?;
    let mut recording = open_trace::open_any(file)?;
    let Reported {
        answer: found,
        condition,
        begin,
    } = open_trace::fold(file, &mut recording, Findings::default(), args.strict)?;
    stack_symbols::say_missing(&recording);
    let known = match &args.suppress {
        Some(file) => Suppressions::read(file)?,
        None => Suppressions::default(),
    };
    say_unused(args, &known, &found);
    if let Some(to) = &args.sarif {
        write_sarif(to, &sarif::log(file, &found, &known))?;
    }
    let (suppressed, found): (Vec<Finding>, Vec<Finding>) =
        found.into_iter().partition(|it| known.of(it).is_some());
    match args.json {
        true => print_json(
            "check",
            &CheckDocument::of(&found, suppressed.len(), &condition),
        )?,
        false => print(&text(&found, suppressed.len(), begin))?,
    }
    let is_denied = |it: &Finding| args.deny.iter().any(|deny| deny.denies(it));
    Ok(match found.iter().any(is_denied) {
        true => DENIED,
        false => condition.status(args.strict),
    })
}

/// Lines that suppress nothing may be mistaken, or no longer needed.
fn say_unused(args: &CheckArgs, known: &Suppressions, found: &[Finding]) {
    let Some(file) = &args.suppress else { return };
    for line in known.unused(found) {
        print_message(format!(
            "{}:{line}: it suppresses no finding",
            file.display()
        ));
    }
}

fn write_sarif(to: &Path, log: &serde_json::Value) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(log).context("cannot write JSON")?;
    text.push('\n');
    std::fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))
}

/// The content of `check --json`.
#[derive(Debug, Serialize)]
pub(super) struct CheckDocument<'f> {
    #[serde(flatten)]
    head: DocumentHead,
    findings: &'f [Finding],
    /// How many findings `--suppress` took away.
    suppressed: usize,
}

impl<'f> CheckDocument<'f> {
    pub(super) fn of(findings: &'f [Finding], suppressed: usize, condition: &Completeness) -> Self {
        Self {
            head: DocumentHead::of([condition]),
            findings,
            suppressed,
        }
    }
}

/// The checks that there are.
fn list() -> TextTable {
    TableRows::of(all())
        .left("check", |it| it.id)
        .left("severity", |it| it.severity.name())
        .left("finds", |it| it.summary)
        .table()
}

/// Timestamps are counted from the begin of the recording, as ranges are given.
fn text(found: &[Finding], suppressed: usize, begin: i64) -> String {
    let known = match suppressed {
        0 => String::new(),
        1 => "1 finding is suppressed\n".to_owned(),
        more => format!("{more} findings are suppressed\n"),
    };
    if found.is_empty() {
        return format!("nothing was found\n{known}");
    }
    let found = found.iter().map(|finding| paragraph(finding, begin));
    found.collect::<String>() + &known
}

fn paragraph(finding: &Finding, begin: i64) -> String {
    let Finding {
        check,
        severity,
        what,
        advice,
        ..
    } = finding;
    let site = &finding.site;
    let times = match finding.count {
        1 => String::new(),
        more => format!("{} times, ", count(more)),
    };
    let first = if finding.count > 1 { "first " } else { "" };
    let at = site.at.as_ref();
    let at = at.map_or_else(String::new, |at| {
        format!("    called at {}\n", text::plain(&at.call_site))
    });
    format!(
        "{}: {what} [{check}]\n    {times}{} in all, {first}at {} in thread {} of process {} (call {})\n{at}    {advice}\n",
        severity.name(),
        duration(finding.total_ns),
        moment(finding.begin_ns.saturating_sub(begin)),
        finding.tid,
        finding.pid,
        site.call,
    )
}
