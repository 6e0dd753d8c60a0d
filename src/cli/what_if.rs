//! `what-if`: how long the recorded program would have run with faster operations, or without some waits.

mod change_spec;

pub(super) use change_spec::{ChangeSpec, parse as change};

use ascend_trace_analysis::stats::CallSite;
use ascend_trace_analysis::whatif::{BusyThread, Narrow, Prediction, Report, Sync, WhatIf};
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::Recording;
use ascend_trace_recording::text::plain;
use ascend_trace_recording::units::duration;

use super::args::WhatIfArgs;
use super::document_head::ReportDocument;
use super::handovers;
use super::report::{self, ReadRecordings, ReportOptions};
use crate::text_table::{TableRows, count};

pub(crate) fn run(args: &WhatIfArgs) -> anyhow::Result<u8> {
    report::run(args)
}

impl report::Report for WhatIfArgs {
    const DOCUMENT: &'static str = "what-if";
    const HAS_CALL_SITES: bool = true;
    type Outcome = Report;
    type Document<'d> = ReportDocument<'d, Report>;

    fn options(&self) -> ReportOptions<1> {
        (&self.report).into()
    }

    fn find(&self, [recording]: &mut [Recording; 1]) -> anyhow::Result<Report> {
        let simulated = WhatIf::of_recording(recording, WindowSize::default())?;
        let changes = self.changes.iter().map(|it| it.resolve(&simulated));
        let changes: Vec<_> = changes.collect::<anyhow::Result<_>>()?;
        if !changes.is_empty() && !self.syncs {
            let words = self.changes.iter().map(ChangeSpec::text).collect();
            return Ok(simulated.predict(&changes, words));
        }
        let check = simulated.order_check();
        let verdicts = check.of_recording(recording, WindowSize::default(), |_| true)?;
        let verdicts = verdicts.unwrap_or_default();
        Ok(match self.syncs {
            true => simulated.syncs(&verdicts),
            false => simulated.suggest(&verdicts),
        })
    }

    fn document<'d>(
        &self,
        found: &'d Report,
        read: &ReadRecordings<1>,
    ) -> ReportDocument<'d, Report> {
        ReportDocument::of(found, read.head())
    }

    fn text(&self, found: &Report, _: &ReadRecordings<1>) -> String {
        match self.syncs {
            true => {
                let is_any = found.syncs.iter().any(|it| it.is_checked);
                head(found) + &syncs(&found.syncs) + &checked(found, is_any)
            }
            false => text(found, !self.changes.is_empty()),
        }
    }
}

fn head(report: &Report) -> String {
    let mut text = format!(
        "{} from the first call or task to the last. Simulated without changes: off by {}, and by {} with usual \
         latencies\n",
        duration(report.makespan_ns),
        duration(report.unchanged_error_ns),
        duration(report.usual_error_ns),
    );
    if report.overhead_ns > 0 {
        text += &format!(
            "The tracer overhead is {}: each error contains its effect\n",
            duration(report.overhead_ns)
        );
    }
    if report.untimed > 0 {
        text += &format!(
            "{} tasks have no time: the simulation takes their usual time\n",
            count(report.untimed)
        );
    }
    text += &handovers::text(&report.handovers);
    // Of others, the changed program does not have to wait.
    let least = report.predictions.iter().map(|it| it.makespan_ns).min();
    let others = report.other_threads.iter();
    let others = others.filter(|it| least.is_some_and(|least| it.work_ns > least));
    others.for_each(|it| text += &other_thread(it, report.makespan_ns));
    if report.awaits_others {
        text += "Some pauses may be waits for threads without recorded calls, which may take up all that a change saves: each error contains that\n";
    }
    if report.may_await_arrivals {
        text += "Some pauses may have ended at times that do not depend on the program, as when requests arrive: each error contains that\n";
    }
    for it in &report.periodic_threads {
        text += &format!(
            "Thread {} works every {} until the others have done their work: a faster program has fewer of its rounds\n",
            it.tid,
            duration(it.period_ns)
        );
    }
    text
}

/// A thread without recorded calls.
fn other_thread(found: &BusyThread, makespan: i64) -> String {
    format!(
        "Thread {} ({}) of process {} makes no recorded calls, and worked for about {}, {:.0} % of the time. If the program needs its \
         results, no change makes it faster than that: each error contains this\n",
        found.tid,
        plain(&found.name),
        found.pid,
        duration(found.work_ns),
        found.work_ns as f64 / makespan.max(1) as f64 * 100.0,
    )
}

/// An error, as far as it is known.
fn error(error: Option<String>) -> String {
    error.map_or_else(|| "± not known".to_owned(), |it| format!("± {it}"))
}

/// How a change was checked.
fn checked(report: &Report, is_any: bool) -> String {
    match is_any && report.checked_calls > 0 {
        true => format!(
            "checked: without the waits, the first {} calls leave no two uses of memory and no use of an event unordered that \
             the recorded program orders\n",
            count(report.checked_calls)
        ),
        false => String::new(),
    }
}

fn text(report: &Report, is_asked: bool) -> String {
    let mut text = head(report);
    match (report.predictions.as_slice(), is_asked) {
        ([], _) => text += "\nno change that the tool tries makes it shorter\n",
        ([one], true) => text += &requested_changes(one),
        (all, _) => {
            text += &format!("\nEach change alone\n{}", table(all));
            text += &checked(report, all.iter().any(|it| it.is_checked));
        }
    }
    text
}

/// The requested changes, with their streams.
fn requested_changes(found: &Prediction) -> String {
    let verb = if found.saved_ns < 0 { "more" } else { "less" };
    let head = format!(
        "\n{}: {:.1} % {} {verb}, {} {} instead of {}; {} tasks and calls are changed\n{}",
        found.changes.join(", "),
        found.saved.abs() * 100.0,
        error(found.error.map(|it| format!("{:.1} %", it * 100.0))),
        duration(found.makespan_ns),
        error(found.error_ns.map(duration)),
        duration(found.makespan_ns + found.saved_ns),
        count(found.changed),
        found
            .holds
            .iter()
            .map(|it| format!("{it}\n"))
            .collect::<String>(),
    );
    let percent = |it: f64| format!("{:.1} %", it * 100.0);
    let several = found
        .streams
        .windows(2)
        .any(|it| it[0].process != it[1].process);
    let table = TableRows::of(&found.streams)
        .left("process", |it| it.process)
        .left("device", |it| it.device)
        .left("stream", |it| it.stream_id)
        .right("busy", |it| percent(it.recorded))
        .right("then", |it| percent(it.predicted))
        .table();
    let table = table.with_only_if("process", several);
    format!("{head}\nStreams\n{}", table.render(2))
}

fn call_site(at: &CallSite) -> String {
    plain(&at.call_site).into_owned()
}

fn syncs(found: &[Sync]) -> String {
    if found.is_empty() {
        return "\nno call waited for a device\n".to_owned();
    }
    let several = found.windows(2).any(|it| it[0].tid != it[1].tid);
    let table = TableRows::of(found)
        .right("blocked", |it| duration(it.blocked_ns))
        .right("needed", |it| duration(it.needed_ns))
        .right("not needed", |it| duration(it.not_needed_ns))
        .right("returning", |it| duration(it.returning_ns))
        .right("calls", |it| count(it.count))
        .left("function", |it| it.function.clone())
        .left("after", |it| it.after.clone().unwrap_or_default())
        .left("thread", |it| it.tid)
        .left("called at", |it| {
            it.at.as_ref().map_or_else(String::new, call_site)
        })
        .left("would do", |it| {
            it.narrower.map_or("it is needed", Narrow::name)
        })
        .right("saves", |it| match it.narrower {
            Some(_) => format!(
                "{} {}",
                duration(it.saved_ns),
                error(it.error_ns.map(duration))
            ),
            None => String::new(),
        })
        .left("if", |it| holds(it.holds.as_deref(), it.is_checked))
        .table();
    let table = table.with_only_if("thread", several);
    let has_sites = found.iter().any(|it| it.at.is_some());
    let table = table.with_only_if("called at", has_sites);
    format!("\nBlocking calls\n{}", table.render(2))
}

/// What must hold for a change, and whether it was checked as far as that is possible.
fn holds(what: Option<&str>, is_checked: bool) -> String {
    let what = what.unwrap_or_default();
    match is_checked && !what.is_empty() {
        true => format!("{what} (checked)"),
        false => what.to_owned(),
    }
}

fn table(found: &[Prediction]) -> String {
    let percent = |it: f64| format!("{:.1} %", it * 100.0);
    let has_sites = found.iter().any(|it| it.at.is_some());
    TableRows::of(found)
        .right("less", |it| percent(it.saved))
        .right("±", |it| {
            it.error.map_or_else(|| "not known".to_owned(), percent)
        })
        .right("time", |it| duration(it.saved_ns))
        .right("changed", |it| count(it.changed))
        .left("change", |it| it.changes.join(", "))
        .left("called at", |it| {
            it.at.as_ref().map_or_else(String::new, call_site)
        })
        .left("if", |it| holds(it.holds.as_deref(), it.is_checked))
        .table()
        .with_only_if("called at", has_sites)
        .render(2)
}
