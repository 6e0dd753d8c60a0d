//! `stats`: tables per operation, stream and API function.

mod training;

use anyhow::Context;
use serde_json::Value;

use ascend_trace_analysis::Stats;
use ascend_trace_analysis::stats::{
    Durations, GraphStats, MeanwhileStats, OpenCallStats, Site, Spent, StallStats, StreamStats,
    TaskDurations,
};
use ascend_trace_recording::text;
use ascend_trace_recording::units::{duration, duration_with_error};
use ascend_trace_recording::{TimeRange, Trace};

use super::args::StatsArgs;
use super::document_head::DocumentHead;
use super::open_trace::{self, Completeness};
use crate::output::{print, print_json};
use crate::stack_symbols;
use crate::text_table::{TableRows, TextTable, count};

/// Rows of a table before the rest is summed up.
const ROWS: usize = 40;

pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<u8> {
    let file = &args.report.file;
    let mut recording = open_trace::open_any(file)?;
    let range = args.range.unwrap_or_default().of(recording.span())?;
    let stats = Stats::of_recording(&mut recording, range, |_| true)
        .with_context(|| format!("cannot read {}", file.display()))?
        .context("it was cancelled")?;
    open_trace::check(&mut recording, args.report.strict)?;
    open_trace::say_warnings(file, &recording);
    stack_symbols::say_missing(&recording);
    let condition = Completeness::of_recording(&recording);
    match args.report.json {
        true => print_json("stats", &document(&stats, &condition)?)?,
        false => {
            let things = recording.things();
            let several = things.processes().len() > 1;
            let text = text(&stats, &condition, (recording.span(), several));
            print(&(text + &unusual_clocks(things)))?;
        }
    }
    Ok(condition.status(args.report.strict))
}

/// The content of `stats --json`.
fn document(stats: &Stats, condition: &Completeness) -> anyhow::Result<Value> {
    let mut document = serde_json::to_value(stats).context("cannot write JSON")?;
    if let Some(fields) = document.as_object_mut() {
        // The frame says which document this is, and its version.
        fields.remove("schema");
        let head =
            serde_json::to_value(DocumentHead::of([condition])).context("cannot write JSON")?;
        if let Value::Object(head) = head {
            fields.extend(head);
        }
    }
    Ok(document)
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

/// The same of a trace that is in memory.
#[cfg(test)]
pub(super) fn document_of(trace: &Trace) -> anyhow::Result<Value> {
    let stats = Stats::of(trace);
    document(&stats, &Completeness::of(trace, &[]))
}

/// `span` is that of the whole recording. With `several` processes, which may have the same pid, tables
/// have their numbers.
fn text(
    stats: &Stats,
    condition: &Completeness,
    (span, several): (Option<TimeRange>, bool),
) -> String {
    let begin = span.map_or(0, |span| span.begin);
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
        (
            "Longest stalls",
            longest_stalls(stats),
            stats.worst_stalls.len(),
        ),
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

/// An estimate with its error: at least that, where nothing is known of some tasks.
fn worked((value, error): (i64, i64), unestimated: u64) -> String {
    let text = duration_with_error(value, error);
    match unestimated {
        0 => text,
        _ => format!("≥ {text}"),
    }
}

/// Adds the columns that say how long tasks took.
fn task_durations<T>(
    rows: TableRows<T>,
    tasks: impl Fn(&T) -> u64,
    of: impl Fn(&T) -> &TaskDurations,
) -> TableRows<T> {
    let untimed = rows.iter().any(|it| of(it).count < tasks(it));
    let unclear = rows.iter().any(|it| of(it).unclear > 0);
    let known = |it: Option<i64>| or_dash(it.map(duration));
    rows.right("timed", |it| count(of(it).count))
        .right("unclear", |it| count(of(it).unclear))
        .right("total", |it| {
            let known = of(it).estimated_total_ns.zip(of(it).total_error_ns);
            or_dash(known.map(|known| worked(known, of(it).unestimated)))
        })
        .right("mean", |it| known(of(it).mean_ns))
        .right("p50", |it| known(of(it).p50_ns))
        .right("p90", |it| known(of(it).p90_ns))
        .right("p99", |it| known(of(it).p99_ns))
        .right("max", |it| known(of(it).max_ns))
        .with_only_if("timed", untimed)
        .with_only_if("unclear", unclear)
}

/// Adds the columns that say how long something took.
fn durations<T>(rows: TableRows<T>, of: impl Fn(&T) -> &Durations) -> TableRows<T> {
    rows.right("total", |it| duration(of(it).total_ns))
        .right("mean", |it| duration(of(it).mean_ns))
        .right("p50", |it| duration(of(it).p50_ns))
        .right("p90", |it| duration(of(it).p90_ns))
        .right("p99", |it| duration(of(it).p99_ns))
        .right("max", |it| duration(of(it).max_ns))
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
        0 => "–".to_owned(),
        _ => format!("{:.1}", part as f64 / whole as f64 * 100.0),
    }
}

fn or_dash(known: Option<impl ToString>) -> String {
    known.map_or_else(|| "–".to_owned(), |it| it.to_string())
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
            "\n{} tasks have no time. Totals and busy times count them like others of their operation; stalls and percentiles \
             do not know them\n",
            count(all)
        ),
    }
}

fn streams(stats: &Stats) -> TextTable {
    let named = |it: &&StreamStats| match it.is_default {
        true => format!("{} (default)", it.stream_id),
        false => it.stream_id.to_string(),
    };
    TableRows::of(used(stats).take(ROWS))
        .right("process", |it| it.process)
        .right("pid", |it| it.pid)
        .right("device", |it| it.device)
        .right("stream", named)
        .right("tasks", |it| count(it.tasks))
        .right("untimed", |it| count(it.untimed))
        .right("busy", |it| {
            worked((it.estimated_busy_ns, it.busy_error_ns), it.unestimated)
        })
        .right("waiting", |it| duration(it.waiting_ns))
        .right("idle", |it| duration(it.estimated_idle_ns()))
        .right("busy %", |it| format!("{:.1}", it.busy_share * 100.0))
        .left("timing", |it| it.timing.clone())
        .left("mostly because of", |it| main_causes(&it.causes))
        .table()
}

fn devices(stats: &Stats) -> TextTable {
    TableRows::of(stats.devices.iter().take(ROWS))
        .right("process", |it| it.process)
        .right("pid", |it| it.pid)
        .right("device", |it| it.device)
        .right("streams", |it| count(it.streams))
        .right("busy", |it| {
            worked((it.estimated_busy_ns, it.busy_error_ns), it.unestimated)
        })
        .right("idle", |it| duration(it.estimated_idle_ns()))
        .right("busy %", |it| {
            percent(it.estimated_busy_ns, it.end_ns - it.begin_ns)
        })
        .right("copy", |it| {
            duration_with_error(it.estimated_copy_ns, it.copy_error_ns)
        })
        .right("compute", |it| {
            duration_with_error(it.estimated_compute_ns, it.compute_error_ns)
        })
        .right("both", |it| duration(it.copy_compute_ns))
        .right("2+ streams", |it| duration(it.shared_ns))
        .table()
}

fn threads(stats: &Stats) -> TextTable {
    TableRows::of(stats.threads.iter().take(ROWS))
        .right("process", |it| it.process)
        .right("pid", |it| it.pid)
        .right("tid", |it| it.tid)
        .left("name", |it| it.name.clone())
        .right("calls", |it| count(it.calls))
        .right("in calls", |it| duration(it.in_calls_ns))
        .right("blocked", |it| duration(it.blocked_ns))
        .left("mostly in", |it| main_causes(&it.causes))
        .left("streams waited for it", |it| main_causes(&it.streams_late))
        .table()
}

fn operations(stats: &Stats) -> TextTable {
    let rows = TableRows::of(stats.operations.iter().take(ROWS))
        .left("operation", |it| it.name.clone())
        .left("kind", |it| it.kind)
        .right("count", |it| count(it.count));
    task_durations(rows, |it| it.count, |it| &it.time)
        .right("share %", |it| {
            or_dash(it.share.map(|share| format!("{:.1}", share * 100.0)))
        })
        .table()
}

fn parts(stats: &Stats) -> TextTable {
    let rows = TableRows::of(stats.parts.iter().take(ROWS))
        .left("operation", |it| it.operation.clone())
        .right("node", |it| or_dash(it.node))
        .left("part", |it| it.name.clone())
        .left("kind", |it| it.kind)
        .right("count", |it| count(it.time.count));
    durations(rows, |it| &it.time).table()
}

fn graphs(stats: &Stats) -> TextTable {
    let outcome = |it: &&GraphStats| match it.code {
        Some(code) => format!("{} {code}", it.outcome),
        None => it.outcome.to_owned(),
    };
    let streams = |it: &&GraphStats| {
        let streams = it.streams.iter().map(i64::to_string);
        streams.collect::<Vec<_>>().join(" ")
    };
    let rows = TableRows::of(stats.graphs.iter().take(ROWS))
        .right("process", |it| it.process)
        .right("pid", |it| it.pid)
        .right("graph", |it| it.graph)
        .left("outcome", outcome)
        .left("streams", streams)
        .right("nodes", |it| count(it.nodes))
        .right("replays", |it| count(it.replays));
    task_durations(rows, |it| it.replays, |it| &it.time)
        .left("reason", |it| it.reason.clone().unwrap_or_default())
        .table()
}

fn apis(stats: &Stats) -> TextTable {
    let rows = TableRows::of(stats.apis.iter().take(ROWS))
        .left("function", |it| it.name.clone())
        .right("count", |it| count(it.count))
        .right("errors", |it| count(it.errors));
    durations(rows, |it| &it.time).table()
}

/// Times are relative to the begin of the recording, as in ranges.
fn open_calls(stats: &Stats, begin: i64) -> TextTable {
    let stream = |it: &&OpenCallStats| it.device.zip(it.stream_id).map(of_device);
    TableRows::of(stats.open_calls.iter().take(ROWS))
        .left("function", |it| it.name.clone())
        .right("pid", |it| it.pid)
        .right("tid", |it| it.tid)
        .left("thread", |it| it.thread.clone())
        .left("stream", move |it| stream(it).unwrap_or_default())
        .right("since", move |it| {
            duration(it.begin_ns.saturating_sub(begin))
        })
        .right("for", |it| duration(it.length_ns))
        .left("called at", |it| {
            let at = it
                .at
                .as_ref()
                .map(|it| text::plain(&it.call_site).into_owned());
            at.unwrap_or_default()
        })
        .table()
        .with_only_if(
            "called at",
            stats.open_calls.iter().any(|it| it.at.is_some()),
        )
}

fn of_device((device, stream): (u32, i64)) -> String {
    format!("device {device} stream {stream}")
}

fn causes(stats: &Stats) -> TextTable {
    TableRows::of(stats.stall_causes.iter().take(ROWS))
        .left("cause", |it| it.cause)
        .left("of", |it| format!("{}s", it.lane))
        .right("count", |it| count(it.count))
        .right("total", |it| duration(it.total_ns))
        .right("mean", |it| duration(it.mean_ns))
        .right("p50", |it| duration(it.p50_ns))
        .right("p90", |it| duration(it.p90_ns))
        .right("p99", |it| duration(it.p99_ns))
        .right("max", |it| duration(it.max_ns))
        .right("share %", |it| format!("{:.1}", it.share * 100.0))
        .table()
}

fn longest_stalls(stats: &Stats) -> TextTable {
    let place = |it: &&StallStats| match (it.tid, it.device, it.stream_id) {
        (Some(tid), ..) => format!("thread {tid}"),
        (None, Some(device), Some(stream)) => of_device((device, stream)),
        _ => format!("process {}", it.pid),
    };
    TableRows::of(stats.worst_stalls.iter().take(ROWS))
        .right("duration", |it| {
            duration_with_error(it.length_ns, it.error_ns.unwrap_or(0))
        })
        .left("cause", |it| it.cause)
        .right("process", |it| it.process)
        .left("where", place)
        .left("what", |it| it.name.clone())
        .left("because of", |it| culprit(it))
        .left("call", |it| site(Some(&it.site)))
        .left("culprit", |it| site(it.culprit_site.as_ref()))
        .table()
}

/// A call by its number in `calls.csv`, its thread, and the line that made it.
fn site(site: Option<&Site>) -> String {
    site.map_or_else(String::new, |site| {
        let at = site.at.as_ref();
        let at = at.map_or_else(String::new, |at| {
            format!(" at {}", text::plain(&at.call_site))
        });
        format!("{} #{} in {}{at}", site.name, site.call, site.tid)
    })
}

fn culprit(stall: &StallStats) -> String {
    let event = stall.event.map(|event| format!("event {event}"));
    let is_other = stall.culprit_process.is_some_and(|it| it != stall.process);
    let rank = stall.culprit_rank.filter(|_| is_other);
    let stream = stall.culprit_device.zip(stall.culprit_stream_id);
    let chain = stall.chain.get(1..).filter(|it| !it.is_empty());
    let chain = chain.map(|links| format!("via {}", links.join(", ")));
    let root = stall.root.as_ref().map(|root| format!("root {root}"));
    // The reason for the host's delay says more than that no call was running.
    let says_more = |name: &str| stall.late.is_none() || name != MeanwhileStats::OUTSIDE;
    let meanwhile = stall.meanwhile.first().filter(|it| says_more(&it.name));
    let meanwhile = meanwhile.map(|it| {
        let time = duration(it.total_ns);
        match it.count {
            0 if it.name == MeanwhileStats::EARLIER => {
                format!("meanwhile {time} before the last calls")
            }
            0 => format!("meanwhile {} for {time}", it.name),
            1 => format!("meanwhile 1 call of {} for {time}", it.name),
            count => format!("meanwhile {count} calls of {} for {time}", it.name),
        }
    });
    let parts = [
        rank.map(|it| format!("rank {it}")),
        event,
        stream.map(of_device),
        stall.culprit_task.clone(),
        chain,
        root,
        stall.culprit_call.clone().filter(|it| *it != stall.name),
        stall.late.as_ref().map(training::late),
        meanwhile,
        stall.why.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
