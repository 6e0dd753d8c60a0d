//! `stats`: tables per operation, stream and API function.

mod communication;
mod memory;
mod training;

use anyhow::Context;
use ascend_trace_analysis::Stats;
use ascend_trace_analysis::columns::TableRow;
use ascend_trace_analysis::stats::{StreamStats, Tracing};
use ascend_trace_recording::units::duration;
use ascend_trace_recording::{Recording, TimeRange, Trace};

pub(super) use communication::CommunicationReport;
pub(super) use memory::MemoryReport;
pub(super) use training::with_host_word;

use super::args::StatsArgs;
use super::document_head::ReportDocument;
use super::open_trace::{self, Completeness};
use super::report::{self, ReadRecordings, ReportOptions};
use crate::text_table::{ProcessRanks, TextTable, count, declared};

/// Rows of a table before the rest is summed up.
const ROWS: usize = 40;

pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<u8> {
    match (args.communication, args.memory) {
        (true, _) => communication::run(args),
        (false, true) => memory::run(args),
        (false, false) => report::run(args),
    }
}

/// A titled table, or nothing if it has no rows.
fn section<R: TableRow>(title: &str, rows: &[R], begin: i64) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let table = declared(rows.iter().take(ROWS), begin).render(2);
    let more = match rows.len().saturating_sub(ROWS) {
        0 => String::new(),
        more => format!("  … and {more} more\n"),
    };
    format!("\n{title}\n{table}{more}")
}

impl report::Report for StatsArgs {
    const DOCUMENT: &'static str = "stats";
    const HAS_CALL_SITES: bool = true;
    type Outcome = Stats;
    type Document<'d> = ReportDocument<'d, Stats>;

    fn options(&self) -> ReportOptions<1> {
        (&self.report).into()
    }

    fn find(&self, [recording]: &mut [Recording; 1]) -> anyhow::Result<Stats> {
        let range = self.range.unwrap_or_default().of(recording)?;
        let stats = Stats::of_recording(recording, range, |_| true)?;
        stats.context("it was cancelled")
    }

    fn document<'d>(
        &self,
        found: &'d Stats,
        read: &ReadRecordings<1>,
    ) -> ReportDocument<'d, Stats> {
        ReportDocument::of(found, read.head())
    }

    fn text(&self, found: &Stats, read: &ReadRecordings<1>) -> String {
        let ([recording], [condition]) = (&read.recordings, &read.conditions);
        let entities = recording.entities();
        // Several processes may have the same pid.
        let several = entities.processes().len() > 1;
        let ranks = several.then(|| ProcessRanks::of_trace(entities));
        text(found, condition, (recording.span(), ranks)) + &unusual_clocks(entities)
    }
}

/// A line for each device with an unusual clock.
fn unusual_clocks(trace: &Trace) -> String {
    let clocks = trace.clocks().iter().filter(|clock| clock.is_unusual);
    let lines = clocks.map(|clock| {
        let process = trace.processes().get(clock.process as usize);
        let process = process.map(|process| process.serial);
        let line = open_trace::unusual_clock(clock.device, process, clock.drift_ppm);
        format!("\nDEVICE CLOCK: {line}\n")
    });
    lines.collect()
}

/// The content of `stats --json`.
#[cfg(test)]
pub(super) fn document_of(trace: &Trace) -> anyhow::Result<serde_json::Value> {
    let head = super::document_head::DocumentHead::of([&Completeness::of(trace, &[])]);
    let document = serde_json::to_value(ReportDocument::of(&Stats::of(trace), head));
    document.context("cannot write JSON")
}

/// `span` is that of the whole recording. With the `ranks` of several processes, tables have their numbers and ranks.
fn text(
    stats: &Stats,
    condition: &Completeness,
    (span, ranks): (Option<TimeRange>, Option<ProcessRanks>),
) -> String {
    let begin = span.map_or(0, |span| span.begin);
    let length = stats
        .end_ns
        .zip(stats.begin_ns)
        .map_or(0, |(end, begin)| end - begin);
    let mut text = format!("recorded time {}\n", duration(length));
    let sections = [
        ("Streams", table(used(stats), begin)),
        ("Devices", table(&stats.devices, begin)),
        ("Operations", table(&stats.operations, begin)),
        (
            "Kernels of operations, nodes of graphs",
            table(&stats.parts, begin),
        ),
        ("Graphs", table(&stats.graphs, begin)),
        ("API calls", table(&stats.apis, begin)),
        (
            "Calls that had not returned",
            table(&stats.open_calls, begin),
        ),
        ("Host threads", table(&stats.threads, begin)),
        (
            "Threads without recorded calls",
            table(&stats.other_threads, begin),
        ),
        ("Steps", (training::verdicts(stats), 0)),
        ("Longest steps", (training::longest(stats, begin), 0)),
        ("Ranges", table(&stats.ranges, begin)),
        (
            "Operations by module",
            table(&stats.module_operations, begin),
        ),
        ("Stalls by cause", table(&stats.stall_causes, begin)),
        ("Longest stalls", table(&stats.worst_stalls, begin)),
    ];
    for (title, (table, rows)) in sections {
        if table.is_empty() {
            continue;
        }
        let table = match &ranks {
            Some(ranks) => table.with_ranks(ranks),
            None => table.with_only_if("process", false),
        };
        text.push_str(&format!("\n{title}\n{}", table.render(2)));
        if rows > ROWS {
            text.push_str(&format!("  … and {} more\n", rows - ROWS));
        }
    }
    text.push_str(&unused(stats));
    text.push_str(&untimed(stats));
    if stats.tracing.events_per_task > 0.0 {
        text.push_str(&format!(
            "\nTracing put {:.1} event records around each timed task{}\n",
            stats.tracing.events_per_task,
            match stats.tracing.short_tasks {
                0 => String::new(),
                tasks => format!("; {} took less time than such a record", count(tasks)),
            }
        ));
        if stats.tracing.run_tasks > 0 {
            text.push_str(&format!(
                "{} short tasks ran in runs with one time for all tasks of a run\n",
                count(stats.tracing.run_tasks)
            ));
        }
        text.push_str(&event_cost(&stats.tracing));
    }
    if stats.lost.calls + stats.lost.others > 0 {
        text.push_str(&format!(
            "\nLOST: {} calls and {} other records are missing from these numbers\n",
            count(stats.lost.calls),
            count(stats.lost.others)
        ));
    }
    if !condition.damage.is_empty() {
        let places = condition.damage.len();
        text.push_str(&format!(
            "\nDAMAGED: the file cannot be read at {places} places, their contents are missing\n"
        ));
    }
    text
}

/// The first rows, and the number of all.
fn table<'r, R: TableRow>(rows: impl IntoIterator<Item = &'r R>, begin: i64) -> (TextTable, usize) {
    let rows: Vec<&R> = rows.into_iter().collect();
    let shown = rows.iter().take(ROWS).copied();
    (declared(shown, begin), rows.len())
}

/// The cost of the events around tasks, and the budget.
fn event_cost(tracing: &Tracing) -> String {
    let cost = &tracing.cost;
    let budget = tracing.budget_percent;
    let budget = budget.map_or_else(String::new, |percent| {
        format!("; the budget is {percent} %")
    });
    match cost.device.zip(cost.host) {
        Some((device, host)) => format!(
            "Of the time of streams, they took about {:.2} % on devices and {:.2} % in the program's threads{budget}\n",
            device * 100.0,
            host * 100.0
        ),
        None => String::new(),
    }
}

/// Streams that had something to do.
fn used(stats: &Stats) -> impl Iterator<Item = &StreamStats> {
    stats.streams.iter().filter(|row| !row.is_unused())
}

/// How many streams the tables leave out.
fn unused(stats: &Stats) -> String {
    match stats.streams.len() - used(stats).count() {
        0 => String::new(),
        1 => "\n1 stream without tasks is in none of the tables\n".to_owned(),
        all => format!("\n{all} streams without tasks are in none of the tables\n"),
    }
}

/// What tables say of tasks without a time.
fn untimed(stats: &Stats) -> String {
    let all: u64 = stats.streams.iter().map(|row| row.untimed).sum();
    match all {
        0 => String::new(),
        all => format!(
            "\n{} tasks have no time. Totals and busy times count them like others of their operation; percentiles are of \
             the others; stalls have them as `untimed`\n",
            count(all)
        ),
    }
}
