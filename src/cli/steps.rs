//! `steps`: the steps of a training loop, the parts of their time, and the parts that made the slowest
//! ones slow.

use anyhow::Context;

use ascend_trace_analysis::Step;
use ascend_trace_analysis::stats::{StepStats, Verdict};
use ascend_trace_analysis::steps::{Comparison, More, Report, StepSums};
use ascend_trace_recording::units::{duration, moment};

use super::args::StepsArgs;
use super::document_head::ReportDocument;
use super::open_trace::{self, Completeness};
use super::step_choice::StepChoice;
use crate::output::{print, print_json};
use crate::text_table::{TableRows, count};

/// Steps of a process that are listed, unless all are asked for.
const LISTED: usize = 40;

/// Differences of a slow step that are listed.
const DIFFERENCES: usize = 12;

pub(crate) fn run(args: &StepsArgs) -> anyhow::Result<u8> {
    let file = &args.report.file;
    let mut recording = open_trace::open_any(file)?;
    let by = StepChoice::new(args.by.as_deref(), args.repeated);
    let report = by.with(|wanted| Report::of_recording(&mut recording, Step::default(), wanted));
    let report = report.with_context(|| format!("cannot read {}", file.display()))?;
    open_trace::check(&mut recording, args.report.strict)?;
    open_trace::say_warnings(file, &recording);
    let condition = Completeness::of_recording(&recording);
    by.check(!report.steps.is_empty())?;
    let begin = recording.span().map_or(0, |span| span.begin);
    match args.report.json {
        true => print_json("steps", &ReportDocument::of(&report, &condition))?,
        false => print(&text(&report, begin, args.all))?,
    }
    Ok(condition.status(args.report.strict))
}

fn text(report: &Report, begin: i64, all: bool) -> String {
    if report.processes.is_empty() {
        return "no steps: no range has the name of a step, and no work repeats; --by PATTERN selects ranges or marks\n"
            .to_owned();
    }
    let several = report.processes.len() > 1;
    let mut parts = Vec::new();
    for sums in &report.processes {
        parts.push(headline(sums, several));
        parts.push(table(report, sums, (begin, all)));
        let compared = report.comparisons.iter();
        let compared = compared.filter(|it| it.process == sums.process);
        parts.extend(compared.map(comparison));
    }
    parts.join("\n")
}

fn headline(sums: &StepSums, several: bool) -> String {
    let found = match sums.origin.name() {
        "framework" => "reported by the framework",
        "named" => "from names of ranges",
        "pattern" => "from the pattern",
        "graph" => "found from launches of a graph",
        _ => "found from work that repeats",
    };
    let process = match (several, sums.rank) {
        (false, _) => String::new(),
        (true, Some(rank)) => format!("process {} (rank {rank}): ", sums.process),
        (true, None) => format!("process {}: ", sums.process),
    };
    format!(
        "{process}{} steps of thread {}, {found}: median {}, mean {} ± {}, {} to {}\n",
        count(sums.count),
        sums.tid,
        duration(sums.median_ns),
        duration(sums.mean_ns),
        duration(sums.spread_ns),
        duration(sums.min_ns),
        duration(sums.max_ns),
    )
}

/// Whether a step may have been another one by more than a twentieth.
fn has_open(steps: &[&StepStats]) -> bool {
    steps.iter().any(|it| it.error_ns * 20 > it.length_ns)
}

/// The verdict, and whether another one is possible.
pub(super) fn verdict(step: &StepStats) -> String {
    let word = step.verdict.map_or("too few times", Verdict::name);
    match step.is_close {
        true => format!("{word}, close"),
        false => word.to_owned(),
    }
}

/// A step's time as `step_trace_time.csv` splits it, and what its free time was waited for.
fn table(report: &Report, sums: &StepSums, (begin, all): (i64, bool)) -> String {
    let own = report.steps.iter();
    let own: Vec<&StepStats> = own.filter(|it| it.process == sums.process).collect();
    let most = if all { usize::MAX } else { LISTED };
    let table = TableRows::of(own.iter().take(most))
        .left("step", |it| it.name.clone())
        .right("begin", |it| moment(it.begin_ns - begin))
        .right("duration", |it| duration(it.length_ns))
        .right("computing", |it| duration(it.compute_ns))
        .right("communication", |it| duration(it.communication_ns))
        .right("not overlapped", |it| duration(it.exposed_communication_ns))
        .right("copies not overlapped", |it| duration(it.exposed_copy_ns))
        .right("free", |it| duration(it.idle_ns))
        .right("loading", |it| duration(it.loading_ns))
        .right("python", |it| duration(it.python_ns))
        .right("planning", |it| duration(it.planning_ns))
        .right("queue", |it| duration(it.queue_ns))
        .right("launch", |it| duration(it.launch_ns))
        .right("±", |it| duration(it.error_ns))
        .left("bound by", |it| verdict(it))
        .with_only_if("±", has_open(&own))
        .table();
    let mut text = table.render(2);
    if own.len() > most {
        let more = count((own.len() - most) as u64);
        text += &format!("  … and {more} more; --all lists them\n");
    }
    text
}

fn comparison(found: &Comparison) -> String {
    let Comparison { slow, median, .. } = found;
    let mut text = format!(
        "The slowest, {}, took {}, {} more than the median one, {}:\n",
        slow.name,
        duration(slow.length_ns),
        duration(slow.length_ns - median.length_ns),
        median.name,
    );
    let more = found.more.iter().filter(|it| it.difference_ns() > 0);
    let table = TableRows::of(more.take(DIFFERENCES))
        .right("more", |it| duration(it.difference_ns()))
        .left("of", |it| it.kind)
        .left("what", |it| it.name.clone())
        .right("slow", |it| duration(it.slow_ns))
        .right("median", |it| duration(it.median_ns))
        .right("count", |it| counts(it))
        .left("most of it", |it| most_of(it))
        .table();
    text += &match table.is_empty() {
        true => "  nothing: no operation took longer\n".to_owned(),
        false => table.render(2),
    };
    text
}

fn counts(more: &More) -> String {
    match (more.kind, more.slow_count == more.median_count) {
        ("free", _) => String::new(),
        (_, true) => count(more.slow_count),
        (_, false) => format!("{} / {}", count(more.slow_count), count(more.median_count)),
    }
}

/// Where most of the difference is.
fn most_of(more: &More) -> String {
    match (&more.place, &more.at) {
        (Some(place), Some(at)) => {
            let before = if more.kind == "free" { "before " } else { "" };
            let there = duration(more.there_ns);
            format!("{there} {before}{at}, operation {}", count(*place))
        }
        _ => String::new(),
    }
}
