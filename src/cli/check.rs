//! `check`: what the program of a recording does wrong or at a cost.

use anyhow::Context;
use serde::Serialize;

use ascend_trace_analysis::checks::{Finding, Findings, Severity, all};
use ascend_trace_analysis::{Fold, Step};
use ascend_trace_recording::units::{duration, moment};

use super::args::{CheckArgs, SeverityWord};
use super::head::Head;
use super::trace::{self, Condition};
use crate::error::DENIED;
use crate::output::{print, print_json};
use crate::table::{Rows, Table, count};

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<u8> {
    if args.list {
        print(&list().render(0))?;
        return Ok(0);
    }
    let file = args.file.as_deref().context("no trace is named")?;
    let mut archive = trace::open_any(file)?;
    let found = Findings::default()
        .of_archive(&mut archive, Step::default(), |_| true)
        .with_context(|| format!("cannot read {}", file.display()))?
        .context("it was cancelled")?;
    trace::check(&mut archive, args.strict)?;
    trace::say_warnings(file, &archive);
    let condition = Condition::of_archive(&archive);
    let begin = archive.span().map_or(0, |span| span.begin);
    match args.json {
        true => print_json("check", &Document::of(&found, &condition))?,
        false => print(&text(&found, begin))?,
    }
    let denied = args.deny.map(Severity::from);
    let is_denied = |it: &Finding| denied.is_some_and(|denied| it.severity <= denied);
    Ok(match found.iter().any(is_denied) {
        true => DENIED,
        false => condition.status(args.strict),
    })
}

impl From<SeverityWord> for Severity {
    fn from(word: SeverityWord) -> Self {
        match word {
            SeverityWord::Error => Self::Error,
            SeverityWord::Warning => Self::Warning,
            SeverityWord::Info => Self::Info,
        }
    }
}

/// The content of `check --json`.
#[derive(Debug, Serialize)]
pub(super) struct Document<'f> {
    #[serde(flatten)]
    head: Head,
    findings: &'f [Finding],
}

impl<'f> Document<'f> {
    pub(super) fn of(findings: &'f [Finding], condition: &Condition) -> Self {
        Self {
            head: Head::of([condition]),
            findings,
        }
    }
}

/// The checks that there are.
fn list() -> Table {
    Rows::of(all())
        .left("check", |it| it.id)
        .left("severity", |it| it.severity.name())
        .left("finds", |it| it.summary)
        .table()
}

/// Timestamps are counted from the begin of the recording, as ranges are given.
fn text(found: &[Finding], begin: i64) -> String {
    if found.is_empty() {
        return "nothing was found\n".to_owned();
    }
    found
        .iter()
        .map(|finding| paragraph(finding, begin))
        .collect()
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
    format!(
        "{}: {what} [{check}]\n    {times}{} in all, {first}at {} in thread {} of process {} (call {})\n    {advice}\n",
        severity.name(),
        duration(finding.total_ns),
        moment(finding.begin_ns.saturating_sub(begin)),
        finding.tid,
        finding.pid,
        site.call,
    )
}
