//! `stats`: tables per operation, stream and API function.

mod training;

use anyhow::Context;
use serde_json::Value;

use ascend_trace_analysis::Stats;
use ascend_trace_analysis::stats::{Site, Spent, StallStats, StreamStats};
use ascend_trace_recording::Trace;
use ascend_trace_recording::units::duration;

use super::args::StatsArgs;
use super::trace::{self, Condition};
use crate::output::{print, print_json};
use crate::table::{Align, Table, count};

/// Rows of a table before the rest is summed up.
const ROWS: usize = 40;

pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<u8> {
    let file = &args.report.file;
    let mut archive = trace::open_any(file)?;
    let range = args.range.unwrap_or_default().of(archive.span())?;
    let stats = Stats::of_archive(&mut archive, range, |_| true)
        .with_context(|| format!("cannot read {}", file.display()))?
        .context("it was cancelled")?;
    trace::check(&mut archive, args.report.strict)?;
    trace::say_warnings(file, &archive);
    let condition = Condition::of_archive(&archive);
    match args.report.json {
        true => print_json("stats", &document(&stats, &condition)?)?,
        false => {
            let things = archive.things();
            let several = things.processes().len() > 1;
            let text = text(&stats, &condition, (archive.span(), several));
            print(&(text + &unusual_clocks(things)))?;
        }
    }
    Ok(condition.status(args.report.strict))
}

/// The content of `stats --json`.
fn document(stats: &Stats, condition: &Condition) -> anyhow::Result<Value> {
    let mut document = serde_json::to_value(stats).context("cannot write JSON")?;
    if let Some(fields) = document.as_object_mut() {
        // The frame says which document this is, and its version.
        fields.remove("schema");
        let complete = condition.ended && condition.damage.is_empty();
        fields.insert("complete".to_owned(), complete.into());
        fields.insert("damage".to_owned(), condition.damage.clone().into());
    }
    Ok(document)
}

/// A line for each device whose clock runs as clocks usually do not.
fn unusual_clocks(trace: &Trace) -> String {
    let clocks = trace.clocks().iter().filter(|clock| clock.is_unusual);
    let lines = clocks.map(|clock| {
        let process = trace.processes().get(clock.process as usize);
        let process = process.map(|process| process.serial);
        let line = trace::unusual_clock(clock.device, process, clock.drift_ppm);
        format!("\nDEVICE CLOCK: {line}\n")
    });
    lines.collect()
}

/// The same of a trace that is in memory.
#[cfg(test)]
pub(super) fn document_of(trace: &Trace) -> anyhow::Result<Value> {
    let stats = Stats::of(trace);
    document(&stats, &Condition::of(trace, &[]))
}

/// `span` is that of the whole recording. With `several` processes in it, of which pids need not tell, tables have
/// their numbers.
fn text(
    stats: &Stats,
    condition: &Condition,
    (span, several): (Option<(i64, i64)>, bool),
) -> String {
    let begin = span.map_or(0, |span| span.0);
    let length = stats
        .end_ns
        .zip(stats.begin_ns)
        .map_or(0, |(end, begin)| end - begin);
    let mut text = format!("recorded time {}\n", duration(length));
    let sections = [
        ("Streams", streams(stats), used(stats).count()),
        ("Devices", devices(stats), stats.devices.len()),
        ("Operations", operations(stats), stats.operations.len()),
        (
            "Kernels of operations, nodes of graphs",
            parts(stats),
            stats.parts.len(),
        ),
        ("Graphs", graphs(stats), stats.graphs.len()),
        ("API calls", apis(stats), stats.apis.len()),
        (
            "Calls that had not returned",
            open_calls(stats, begin),
            stats.open_calls.len(),
        ),
        ("Host threads", threads(stats), stats.threads.len()),
        ("Steps", training::verdicts(stats), 0),
        ("Longest steps", training::longest(stats), 0),
        ("Ranges", training::ranges(stats), stats.ranges.len()),
        (
            "Operations by module",
            training::modules(stats),
            stats.module_operations.len(),
        ),
        ("Stalls by cause", causes(stats), stats.stall_causes.len()),
        ("Longest stalls", worst(stats), stats.worst_stalls.len()),
    ];
    for (title, table, rows) in sections {
        if table.is_empty() {
            continue;
        }
        let table = table.with_only_if("process", several);
        text.push_str(&format!("\n{title}\n{}", table.render(2)));
        if rows > ROWS {
            text.push_str(&format!("  … and {} more\n", rows - ROWS));
        }
    }
    text.push_str(&unused(stats));
    if stats.tracing.events_per_task > 0.0 {
        text.push_str(&format!(
            "\nTracing put {:.1} event records around each timed task{}\n",
            stats.tracing.events_per_task,
            match stats.tracing.short_tasks {
                0 => String::new(),
                tasks => format!("; {} took less time than such a record", count(tasks)),
            }
        ));
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
            "\nDAMAGED: the file cannot be read at {places} places, what was there is missing\n"
        ));
    }
    text
}

const DURATIONS: [(&str, Align); 6] = [
    ("total", Align::Right),
    ("mean", Align::Right),
    ("p50", Align::Right),
    ("p90", Align::Right),
    ("p99", Align::Right),
    ("max", Align::Right),
];

fn durations(durations: &ascend_trace_analysis::stats::Durations) -> [String; 6] {
    [
        durations.total_ns,
        durations.mean_ns,
        durations.p50_ns,
        durations.p90_ns,
        durations.p99_ns,
        durations.max_ns,
    ]
    .map(duration)
}

/// The causes that took most of some time.
const CAUSES: usize = 2;

fn main_causes(causes: &[Spent]) -> String {
    let causes = causes.iter().take(CAUSES);
    let words = causes.map(|it| format!("{} {}", it.cause, duration(it.total_ns)));
    words.collect::<Vec<_>>().join(", ")
}

fn percent(part: i64, whole: i64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1}", part as f64 / whole as f64 * 100.0),
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

fn streams(stats: &Stats) -> Table {
    let mut table = Table::new([
        ("process", Align::Right),
        ("pid", Align::Right),
        ("device", Align::Right),
        ("stream", Align::Right),
        ("tasks", Align::Right),
        ("untimed", Align::Right),
        ("busy", Align::Right),
        ("waiting", Align::Right),
        ("idle", Align::Right),
        ("busy %", Align::Right),
        ("timing", Align::Left),
        ("mostly because of", Align::Left),
    ]);
    for stream in used(stats).take(ROWS) {
        let default = if stream.is_default { " (default)" } else { "" };
        table.row([
            stream.process.to_string(),
            stream.pid.to_string(),
            stream.device.to_string(),
            format!("{}{default}", stream.stream_id),
            count(stream.tasks),
            count(stream.untimed),
            duration(stream.busy_ns),
            duration(stream.waiting_ns),
            duration(stream.idle_ns),
            format!("{:.1}", stream.busy_share * 100.0),
            stream.timing.clone(),
            main_causes(&stream.causes),
        ]);
    }
    table
}

fn devices(stats: &Stats) -> Table {
    let mut table = Table::new([
        ("process", Align::Right),
        ("pid", Align::Right),
        ("device", Align::Right),
        ("streams", Align::Right),
        ("busy", Align::Right),
        ("idle", Align::Right),
        ("busy %", Align::Right),
        ("copy", Align::Right),
        ("compute", Align::Right),
        ("both", Align::Right),
        ("2+ streams", Align::Right),
    ]);
    for device in stats.devices.iter().take(ROWS) {
        table.row([
            device.process.to_string(),
            device.pid.to_string(),
            device.device.to_string(),
            count(device.streams),
            duration(device.busy_ns),
            duration(device.idle_ns),
            percent(device.busy_ns, device.end_ns - device.begin_ns),
            duration(device.copy_ns),
            duration(device.compute_ns),
            duration(device.copy_compute_ns),
            duration(device.shared_ns),
        ]);
    }
    table
}

fn threads(stats: &Stats) -> Table {
    let mut table = Table::new([
        ("process", Align::Right),
        ("pid", Align::Right),
        ("tid", Align::Right),
        ("name", Align::Left),
        ("calls", Align::Right),
        ("in calls", Align::Right),
        ("blocked", Align::Right),
        ("mostly in", Align::Left),
        ("streams waited for it", Align::Left),
    ]);
    for thread in stats.threads.iter().take(ROWS) {
        table.row([
            thread.process.to_string(),
            thread.pid.to_string(),
            thread.tid.to_string(),
            thread.name.clone(),
            count(thread.calls),
            duration(thread.in_calls_ns),
            duration(thread.blocked_ns),
            main_causes(&thread.causes),
            main_causes(&thread.streams_late),
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

fn parts(stats: &Stats) -> Table {
    let columns = [
        ("operation", Align::Left),
        ("node", Align::Right),
        ("part", Align::Left),
        ("kind", Align::Left),
        ("count", Align::Right),
    ];
    let mut table = Table::new(columns.into_iter().chain(DURATIONS));
    for part in stats.parts.iter().take(ROWS) {
        let cells = [
            part.operation.clone(),
            part.node
                .map_or_else(|| "-".to_owned(), |node| node.to_string()),
            part.name.clone(),
            part.kind.to_owned(),
            count(part.time.count),
        ];
        table.row(cells.into_iter().chain(durations(&part.time)));
    }
    table
}

fn graphs(stats: &Stats) -> Table {
    let columns = [
        ("process", Align::Right),
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
            graph.process.to_string(),
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

/// Moments are told from the begin of the recording on, as ranges are given.
fn open_calls(stats: &Stats, begin: i64) -> Table {
    let mut table = Table::new([
        ("function", Align::Left),
        ("pid", Align::Right),
        ("tid", Align::Right),
        ("thread", Align::Left),
        ("stream", Align::Left),
        ("since", Align::Right),
        ("for", Align::Right),
    ]);
    for call in stats.open_calls.iter().take(ROWS) {
        let stream = call.device.zip(call.stream_id);
        table.row([
            call.name.clone(),
            call.pid.to_string(),
            call.tid.to_string(),
            call.thread.clone(),
            stream.map_or_else(String::new, |(device, stream)| {
                format!("device {device} stream {stream}")
            }),
            duration(call.begin_ns.saturating_sub(begin)),
            duration(call.length_ns),
        ]);
    }
    table
}

fn causes(stats: &Stats) -> Table {
    let columns = [
        ("cause", Align::Left),
        ("of", Align::Left),
        ("count", Align::Right),
    ];
    let share = ("share %", Align::Right);
    let mut table = Table::new(columns.into_iter().chain(DURATIONS).chain([share]));
    for cause in stats.stall_causes.iter().take(ROWS) {
        let lengths = [
            cause.total_ns,
            cause.mean_ns,
            cause.p50_ns,
            cause.p90_ns,
            cause.p99_ns,
            cause.max_ns,
        ];
        let cells = [
            cause.cause.to_owned(),
            format!("{}s", cause.lane),
            count(cause.count),
        ];
        let share = format!("{:.1}", cause.share * 100.0);
        table.row(
            cells
                .into_iter()
                .chain(lengths.map(duration))
                .chain([share]),
        );
    }
    table
}

fn worst(stats: &Stats) -> Table {
    let mut table = Table::new([
        ("duration", Align::Right),
        ("cause", Align::Left),
        ("process", Align::Right),
        ("where", Align::Left),
        ("what", Align::Left),
        ("because of", Align::Left),
        ("call", Align::Left),
        ("culprit", Align::Left),
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
            stall.process.to_string(),
            place,
            stall.name.clone(),
            culprit(stall),
            site(Some(&stall.site)),
            site(stall.culprit_site.as_ref()),
        ]);
    }
    table
}

/// A call by its number in `calls.csv` and its thread.
fn site(site: Option<&Site>) -> String {
    site.map_or_else(String::new, |site| {
        format!("{} #{} in {}", site.name, site.call, site.tid)
    })
}

fn culprit(stall: &StallStats) -> String {
    let event = stall.event.map(|event| format!("event {event}"));
    let stream = stall
        .culprit_device
        .zip(stall.culprit_stream_id)
        .map(|(device, stream)| format!("device {device} stream {stream}"));
    let chain = stall.chain.get(1..).filter(|it| !it.is_empty());
    let chain = chain.map(|links| format!("via {}", links.join(", ")));
    let root = stall.root.as_ref().map(|root| format!("root {root}"));
    let meanwhile = stall.meanwhile.first().map(|it| {
        let time = duration(it.total_ns);
        match it.count {
            0 => format!("meanwhile {} for {time}", it.name),
            1 => format!("meanwhile 1 call of {} for {time}", it.name),
            count => format!("meanwhile {count} calls of {} for {time}", it.name),
        }
    });
    let parts = [
        event,
        stream,
        stall.culprit_task.clone(),
        chain,
        root,
        stall.culprit_call.clone(),
        meanwhile,
        stall.late.as_ref().map(training::late),
        stall.why.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
