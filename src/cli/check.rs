//! `check`: mistakes and costs of a recorded program.

mod deny;
mod sarif;
mod suppress;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use schemars::JsonSchema;
use serde::Serialize;

use ascend_trace_analysis::checks::{Finding, Findings, Remedy, all};
use ascend_trace_analysis::columns::rows;
use ascend_trace_analysis::stats::Site;
use ascend_trace_analysis::whatif::judge_costs;
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::units::{duration, moment};
use ascend_trace_recording::{Recording, text};

use super::args::CheckArgs;
use super::document_head::DocumentHead;
use super::report::{self, ReadRecordings, ReportOptions};
use super::trace_files::TraceFiles;
use crate::error::DENIED;
use crate::output::{print, print_message};
use crate::text_table::{TableRows, TextTable, count};
use suppress::Suppressions;

pub(crate) use deny::DeniedFindings;

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<u8> {
    if args.list {
        print(&list().render(0))?;
        return Ok(0);
    }
    if args.files.is_empty() {
        bail!("no trace is named");
    }
    report::run(&Check { args })
}

pub(super) struct Check<'a> {
    args: &'a CheckArgs,
}

/// The findings that no line of a file suppresses.
pub(super) struct JudgedFindings {
    findings: Vec<Finding>,
    suppressed: usize,
}

impl report::Report for Check<'_> {
    const DOCUMENT: &'static str = "check";
    const HAS_CALL_SITES: bool = true;
    type Outcome = JudgedFindings;
    type Document<'d> = CheckDocument<'d>;

    fn options(&self) -> ReportOptions<1> {
        ReportOptions {
            files: [TraceFiles::new(&self.args.files)],
            json: self.args.json,
            strict: self.args.strict,
        }
    }

    fn find(&self, [recording]: &mut [Recording; 1]) -> anyhow::Result<JudgedFindings> {
        let found =
            Findings::to_be_judged().of_recording(recording, WindowSize::default(), |_| true)?;
        let mut found = found.context("it was cancelled")?;
        judge_costs(&mut found, recording, WindowSize::default())?;
        let known = match &self.args.suppress {
            Some(file) => Suppressions::read(file)?,
            None => Suppressions::default(),
        };
        say_unused(self.args, &known, &found);
        if let Some(to) = &self.args.sarif {
            let first = self
                .args
                .files
                .first()
                .map_or(Path::new(""), PathBuf::as_path);
            write_sarif(to, &sarif::log(first, &found, &known))?;
        }
        let (suppressed, findings): (Vec<Finding>, Vec<Finding>) =
            found.into_iter().partition(|it| known.of(it).is_some());
        Ok(JudgedFindings {
            findings,
            suppressed: suppressed.len(),
        })
    }

    fn document<'d>(
        &self,
        found: &'d JudgedFindings,
        read: &ReadRecordings<1>,
    ) -> CheckDocument<'d> {
        CheckDocument::of(&found.findings, found.suppressed, read.head())
    }

    fn text(&self, found: &JudgedFindings, read: &ReadRecordings<1>) -> String {
        text(&found.findings, found.suppressed, read.begin())
    }

    fn denied(&self, found: &JudgedFindings) -> Option<u8> {
        let is_denied = |it: &Finding| self.args.deny.iter().any(|deny| deny.denies(it));
        found.findings.iter().any(is_denied).then_some(DENIED)
    }
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
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CheckDocument<'f> {
    #[serde(flatten)]
    head: DocumentHead,
    #[serde(serialize_with = "rows")]
    findings: &'f [Finding],
    /// How many findings `--suppress` took away.
    suppressed: usize,
}

impl<'f> CheckDocument<'f> {
    pub(super) fn of(findings: &'f [Finding], suppressed: usize, head: DocumentHead) -> Self {
        Self {
            head,
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
    let at = called_at("called at", site);
    let other = finding.other.as_ref().map_or_else(String::new, |other| {
        called_at(&format!("call {} was made at", other.call), other)
    });
    let cost = cost(finding);
    format!(
        "{}: {what} [{check}]\n    {times}{} in all, {first}at {} in thread {} of process {} (call {})\n{at}{other}{cost}    {advice}\n",
        severity.name(),
        duration(finding.total_ns),
        moment(finding.begin_ns.saturating_sub(begin)),
        finding.tid,
        finding.pid,
        site.call,
    )
}

/// A cost in words. The time of its calls is not the cost: a part of it may be needed.
fn cost(finding: &Finding) -> String {
    let condition = match finding.remedy {
        None => return String::new(),
        Some(Remedy::NoWait) => "if these calls waited for nothing",
        Some(Remedy::WaitForStream | Remedy::WaitForCopies) => {
            "if these calls waited for one stream"
        }
        Some(Remedy::PinnedMemory) => "if the host did not copy",
        Some(Remedy::NotSimulated) => "with this change",
    };
    // The device then makes the copies of the host, in an unknown time.
    let at_most = match finding.remedy {
        Some(Remedy::PinnedMemory) => "at most ",
        _ => "",
    };
    let shorter = match finding.saved_ns.zip(finding.saved_error_ns) {
        Some((saved, error)) => {
            format!(
                "the program would be {at_most}{} ± {} shorter",
                duration(saved),
                duration(error)
            )
        }
        None => "it is not known how much shorter the program would be".to_owned(),
    };
    format!("    {condition}, {shorter}\n")
}

/// Where a call was made, if stacks were recorded: also where the function around it was called, since that may be a short
/// one around the call.
fn called_at(words: &str, site: &Site) -> String {
    let Some(at) = &site.at else {
        return String::new();
    };
    let caller = at.caller.as_ref();
    let caller = caller.map_or_else(String::new, |it| format!(", from {}", text::plain(it)));
    format!("    {words} {}{caller}\n", text::plain(&at.call_site))
}
