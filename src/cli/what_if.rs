//! `what-if`: how long the recorded program would have run with faster operations, or without some waits.

mod change_spec;

pub(super) use change_spec::{ChangeSpec, parse as change};

use anyhow::Context;

use ascend_trace_analysis::Step;
use ascend_trace_analysis::stats::Place;
use ascend_trace_analysis::whatif::{Narrow, Prediction, Report, Sync, WhatIf};
use ascend_trace_recording::text::plain;
use ascend_trace_recording::units::duration;

use super::args::WhatIfArgs;
use super::document_head::ReportDocument;
use super::open_trace::{self, Completeness};
use crate::output::{print, print_json};
use crate::text_table::{TableRows, count};

pub(crate) fn run(args: &WhatIfArgs) -> anyhow::Result<u8> {
    let file = &args.report.file;
    let mut recording = open_trace::open_any(file)?;
    let simulated = WhatIf::of_recording(&mut recording, Step::default())
        .with_context(|| format!("cannot read {}", file.display()))?;
    open_trace::check(&mut recording, args.report.strict)?;
    open_trace::say_warnings(file, &recording);
    let condition = Completeness::of_recording(&recording);
    let changes: Vec<_> = args
        .changes
        .iter()
        .map(|it| it.resolve(&simulated))
        .collect::<anyhow::Result<_>>()?;
    let words = args.changes.iter().map(ChangeSpec::text).collect();
    let report = match changes.is_empty() {
        _ if args.syncs => simulated.syncs(),
        true => simulated.suggest(),
        false => simulated.predict(&changes, words),
    };
    match args.report.json {
        true => print_json("what-if", &ReportDocument::of(&report, &condition))?,
        false if args.syncs => print(&(head(&report) + &syncs(&report.syncs)))?,
        false => print(&text(&report, !changes.is_empty()))?,
    }
    Ok(condition.status(args.report.strict))
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
            "The tracer overhead is {}: each error contains it twice\n",
            duration(report.overhead_ns)
        );
    }
    if report.untimed > 0 {
        text += &format!(
            "{} tasks have no time: the simulation takes them as instant\n",
            count(report.untimed)
        );
    }
    text
}

fn text(report: &Report, is_asked: bool) -> String {
    let mut text = head(report);
    match (report.predictions.as_slice(), is_asked) {
        ([], _) => text += "\nno change that the tool tries makes it shorter\n",
        ([one], true) => text += &requested_changes(one),
        (all, _) => text += &format!("\nEach change alone\n{}", table(all)),
    }
    text
}

/// The requested changes, with their streams.
fn requested_changes(found: &Prediction) -> String {
    let verb = if found.saved_ns < 0 { "more" } else { "less" };
    let head = format!(
        "\n{}: {:.1} % ± {:.1} % {verb}, {} ± {} instead of {}; {} tasks and calls are changed\n",
        found.changes.join(", "),
        found.saved.abs() * 100.0,
        found.error * 100.0,
        duration(found.makespan_ns),
        duration(found.error_ns),
        duration(found.makespan_ns + found.saved_ns),
        count(found.changed),
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

fn call_site(at: &Place) -> String {
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
            Some(_) => format!("{} ± {}", duration(it.saved_ns), duration(it.error_ns)),
            None => String::new(),
        })
        .table();
    let table = table.with_only_if("thread", several);
    let has_sites = found.iter().any(|it| it.at.is_some());
    let table = table.with_only_if("called at", has_sites);
    format!("\nBlocking calls\n{}", table.render(2))
}

fn table(found: &[Prediction]) -> String {
    let percent = |it: f64| format!("{:.1} %", it * 100.0);
    TableRows::of(found)
        .right("less", |it| percent(it.saved))
        .right("±", |it| percent(it.error))
        .right("time", |it| duration(it.saved_ns))
        .right("changed", |it| count(it.changed))
        .left("change", |it| it.changes.join(", "))
        .table()
        .render(2)
}
