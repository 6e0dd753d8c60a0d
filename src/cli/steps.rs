//! `steps`: the steps of a training loop, the parts of their time, and the parts that made the slowest
//! ones slow.

use ascend_trace_analysis::WindowSize;
use ascend_trace_analysis::stats::StepStats;
use ascend_trace_analysis::steps::{Comparison, Report, StepClock, StepDifference, StepSums};
use ascend_trace_recording::Recording;
use ascend_trace_recording::units::duration;

use super::args::StepsArgs;
use super::document_head::ReportDocument;
use super::report::{self, ReadRecordings, ReportOptions};
use super::stats::with_host_word;
use super::step_choice::StepChoice;
use crate::text_table::{TableRows, count, declared};

/// Steps of a process that are listed, unless all are asked for.
const LISTED: usize = 40;

/// Differences of a slow step that are listed.
const DIFFERENCES: usize = 12;

pub(crate) fn run(args: &StepsArgs) -> anyhow::Result<u8> {
    report::run(args)
}

impl report::Report for StepsArgs {
    const DOCUMENT: &'static str = "steps";
    type Outcome = Report;
    type Document<'d> = ReportDocument<'d, Report>;

    fn options(&self) -> ReportOptions<1> {
        (&self.report).into()
    }

    fn find(&self, [recording]: &mut [Recording; 1]) -> anyhow::Result<Report> {
        let by = StepChoice::new(self.by.as_deref(), self.repeated);
        let found =
            by.with(|wanted| Report::of_recording(recording, WindowSize::default(), wanted))?;
        by.check(!found.steps.is_empty())?;
        Ok(found)
    }

    fn document<'d>(
        &self,
        found: &'d Report,
        read: &ReadRecordings<1>,
    ) -> ReportDocument<'d, Report> {
        ReportDocument::of(found, read.head())
    }

    fn text(&self, found: &Report, read: &ReadRecordings<1>) -> String {
        text(found, read.begin(), self.all)
    }
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
        let of = (sums.process, sums.loop_number);
        let compared = compared.filter(|it| (it.process, it.loop_number) == of);
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
    let measured = match sums.clock {
        StepClock::Device => ", on the device",
        StepClock::Host => "",
    };
    let left_out = match sums.left_out {
        0 => String::new(),
        more => format!("; {} more have no time on the device", count(more)),
    };
    format!(
        "{process}{} steps of thread {}, {found}{measured}: median {}, mean {} ± {}, {} to {}{left_out}\n",
        count(sums.count),
        sums.tid,
        duration(sums.median_ns),
        duration(sums.mean_ns),
        duration(sums.spread_ns),
        duration(sums.min_ns),
        duration(sums.max_ns),
    )
}

/// A step's time as `step_trace_time.csv` splits it, and what its free time was waited for.
fn table(report: &Report, sums: &StepSums, (begin, all): (i64, bool)) -> String {
    let own = report.steps.iter();
    let of = (sums.process, sums.loop_number);
    let own = own.filter(|it| (it.process, it.loop_number) == of);
    let own: Vec<&StepStats> = own.collect();
    let most = if all { usize::MAX } else { LISTED };
    let table = declared(own.iter().take(most).copied(), begin);
    let table = with_host_word(table, own.iter().copied());
    let table = table
        .with_only_if("process", false)
        .with_only_if("by %", false);
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
        .left("largest part", |it| largest_part(it))
        .table();
    text += &match table.is_empty() {
        true => "  nothing: no operation took longer\n".to_owned(),
        false => table.render(2),
    };
    text
}

fn counts(more: &StepDifference) -> String {
    match (more.kind, more.slow_count == more.median_count) {
        ("free", _) => String::new(),
        (_, true) => count(more.slow_count),
        (_, false) => format!("{} / {}", count(more.slow_count), count(more.median_count)),
    }
}

/// Where the difference is largest.
fn largest_part(more: &StepDifference) -> String {
    match (&more.place, &more.at) {
        (None, None) if more.there_ns > 0 => {
            format!("{} after the last operation", duration(more.there_ns))
        }
        (Some(place), Some(at)) => {
            let before = if more.kind == "free" { "before " } else { "" };
            let there = duration(more.there_ns);
            format!("{there} {before}{at}, operation {}", count(*place))
        }
        _ => String::new(),
    }
}
