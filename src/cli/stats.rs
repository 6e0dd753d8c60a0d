//! `stats`: tables per operation, stream and API function.

use anyhow::Context;
use serde_json::Value;

use ascend_trace_analysis::{Dependencies, Stalls, Stats};
use ascend_trace_model::Trace;

use super::args::ReportArgs;
use super::trace;
use crate::output::{print, print_json};
use crate::table::{Align, Table, count, duration};

/// Rows of a table before the rest is summed up.
const ROWS: usize = 40;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let trace = trace::open(&args.file)?;
    if args.json {
        return print_json("stats", &document(&trace)?);
    }
    print(&text(&stats(&trace)))
}

fn stats(trace: &Trace) -> Stats {
    Stats::of(trace, &Dependencies::of(trace), &Stalls::of(trace))
}

/// The content of `stats --json`.
pub(super) fn document(trace: &Trace) -> anyhow::Result<Value> {
    let mut document = serde_json::to_value(stats(trace)).context("cannot write JSON")?;
    if let Some(fields) = document.as_object_mut() {
        // The frame says which document this is, and its version.
        fields.remove("schema");
    }
    Ok(document)
}

fn text(stats: &Stats) -> String {
    let length = stats
        .end_ns
        .zip(stats.begin_ns)
        .map_or(0, |(end, begin)| end - begin);
    let mut text = format!("recorded time {}\n", duration(length));
    let sections = [
        ("Streams", streams(stats), stats.streams.len()),
        ("Operations", operations(stats), stats.operations.len()),
        ("Graphs", graphs(stats), stats.graphs.len()),
        ("API calls", apis(stats), stats.apis.len()),
        ("Stalls by cause", causes(stats), stats.stall_causes.len()),
        ("Longest stalls", worst(stats), stats.worst_stalls.len()),
    ];
    for (title, table, rows) in sections {
        if table.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{title}\n{}", table.render(2)));
        if rows > ROWS {
            text.push_str(&format!("  … and {} more\n", rows - ROWS));
        }
    }
    if stats.lost.calls + stats.lost.others > 0 {
        text.push_str(&format!(
            "\nLOST: {} calls and {} other records are missing from these numbers\n",
            count(stats.lost.calls),
            count(stats.lost.others)
        ));
    }
    text
}

const DURATIONS: [(&str, Align); 5] = [
    ("total", Align::Right),
    ("mean", Align::Right),
    ("p50", Align::Right),
    ("p99", Align::Right),
    ("max", Align::Right),
];

fn durations(durations: &ascend_trace_analysis::stats::Durations) -> [String; 5] {
    [
        durations.total_ns,
        durations.mean_ns,
        durations.p50_ns,
        durations.p99_ns,
        durations.max_ns,
    ]
    .map(duration)
}

fn streams(stats: &Stats) -> Table {
    let mut table = Table::new([
        ("pid", Align::Right),
        ("device", Align::Right),
        ("stream", Align::Right),
        ("tasks", Align::Right),
        ("untimed", Align::Right),
        ("busy", Align::Right),
        ("waiting", Align::Right),
        ("idle", Align::Right),
        ("busy %", Align::Right),
    ]);
    for stream in stats.streams.iter().take(ROWS) {
        let default = if stream.is_default { " (default)" } else { "" };
        table.row([
            stream.pid.to_string(),
            stream.device.to_string(),
            format!("{}{default}", stream.stream_id),
            count(stream.tasks),
            count(stream.untimed),
            duration(stream.busy_ns),
            duration(stream.waiting_ns),
            duration(stream.idle_ns),
            format!("{:.1}", stream.busy_share * 100.0),
        ]);
    }
    table
}

fn operations(stats: &Stats) -> Table {
    let columns = [
        ("operation", Align::Left),
        ("kind", Align::Left),
        ("count", Align::Right),
    ];
    let share = ("share %", Align::Right);
    let mut table = Table::new(columns.into_iter().chain(DURATIONS).chain([share]));
    for operation in stats.operations.iter().take(ROWS) {
        let share = operation
            .share
            .map_or_else(|| "-".to_owned(), |share| format!("{:.1}", share * 100.0));
        let cells = [
            operation.name.clone(),
            operation.kind.to_owned(),
            count(operation.count),
        ];
        table.row(
            cells
                .into_iter()
                .chain(durations(&operation.time))
                .chain([share]),
        );
    }
    table
}

fn graphs(stats: &Stats) -> Table {
    let columns = [
        ("pid", Align::Right),
        ("graph", Align::Right),
        ("outcome", Align::Left),
        ("streams", Align::Left),
        ("nodes", Align::Right),
        ("replays", Align::Right),
    ];
    let reason = ("reason", Align::Left);
    let mut table = Table::new(columns.into_iter().chain(DURATIONS).chain([reason]));
    for graph in stats.graphs.iter().take(ROWS) {
        let streams = graph.streams.iter().map(i64::to_string);
        let outcome = match graph.code {
            Some(code) => format!("{} {code}", graph.outcome),
            None => graph.outcome.to_owned(),
        };
        let cells = [
            graph.pid.to_string(),
            graph.graph.to_string(),
            outcome,
            streams.collect::<Vec<_>>().join(" "),
            count(graph.nodes),
            count(graph.replays),
        ];
        let reason = graph.reason.clone().unwrap_or_default();
        let cells = cells.into_iter().chain(durations(&graph.time));
        table.row(cells.chain([reason]));
    }
    table
}

fn apis(stats: &Stats) -> Table {
    let columns = [
        ("function", Align::Left),
        ("count", Align::Right),
        ("errors", Align::Right),
    ];
    let mut table = Table::new(columns.into_iter().chain(DURATIONS));
    for api in stats.apis.iter().take(ROWS) {
        let cells = [api.name.clone(), count(api.count), count(api.errors)];
        table.row(cells.into_iter().chain(durations(&api.time)));
    }
    table
}

fn causes(stats: &Stats) -> Table {
    let mut table = Table::new([
        ("cause", Align::Left),
        ("count", Align::Right),
        ("total", Align::Right),
        ("max", Align::Right),
    ]);
    for cause in stats.stall_causes.iter().take(ROWS) {
        let cells = [
            count(cause.count),
            duration(cause.total_ns),
            duration(cause.max_ns),
        ];
        table.row([cause.cause.to_owned()].into_iter().chain(cells));
    }
    table
}

fn worst(stats: &Stats) -> Table {
    let mut table = Table::new([
        ("length", Align::Right),
        ("cause", Align::Left),
        ("where", Align::Left),
        ("what", Align::Left),
        ("because of", Align::Left),
    ]);
    for stall in stats.worst_stalls.iter().take(ROWS) {
        let place = match (stall.tid, stall.device, stall.stream_id) {
            (Some(tid), ..) => format!("thread {tid}"),
            (None, Some(device), Some(stream)) => format!("device {device} stream {stream}"),
            _ => format!("process {}", stall.pid),
        };
        table.row([
            duration(stall.length_ns),
            stall.cause.to_owned(),
            place,
            stall.name.clone(),
            culprit(stall),
        ]);
    }
    table
}

fn culprit(stall: &ascend_trace_analysis::stats::StallStats) -> String {
    let event = stall.event.map(|event| format!("event {event}"));
    let stream = stall
        .culprit_device
        .zip(stall.culprit_stream_id)
        .map(|(device, stream)| format!("device {device} stream {stream}"));
    let parts = [
        event,
        stream,
        stall.culprit_task.clone(),
        stall.culprit_call.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
