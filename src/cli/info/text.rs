//! `info` for people.

use std::path::Path;

use ascend_trace_recording::rows::SessionRow;
use ascend_trace_recording::text::plain;
use ascend_trace_recording::units::duration;

use super::coverage::LibraryCoverage;
use super::document::{DeviceInfo, InfoDocument, StreamInfo, TracerCost};
use crate::cli::clocks;
use crate::cli::open_trace::unusual_clock;
use crate::quote::quoted_path;
use crate::text_table::{ProcessRanks, TableRows, TextTable, count, percent};

pub(crate) fn text(document: &InfoDocument) -> String {
    let mut text = head(document);
    let ranks = document.processes.iter().map(|it| (it.process, it.rank));
    let ranks = ProcessRanks::of(ranks);
    for (title, table) in [
        ("Processes", processes(document)),
        (
            "Recordings inside this one, with the calls of the processes that they started",
            inner(document),
        ),
        ("Streams", streams(document)),
        ("Tasks by kind", kinds(document)),
        ("Tasks without a time", untimed(document)),
        ("Captures that failed", failed_graphs(document)),
        ("Device clocks", clocks(document)),
        ("Functions called", functions(document)),
        ("How calls were intercepted", coverage(document)),
        ("Looked up by name, calls not seen", unseen(document)),
        ("Looked up by name, in no library", absent(document)),
        ("Not patched: seen when called by name", refused(document)),
    ] {
        // Several processes may have the same pid.
        let several = document.processes.len() > 1 || title == "Processes";
        let table = match several {
            true => table.with_ranks(&ranks),
            false => table.with_only_if("process", false),
        };
        let table = table.with_only_if("host", !document.session.hosts.is_empty());
        if !table.is_empty() {
            text.push_str(&format!("\n{title}\n{}", table.render(2)));
        }
    }
    text
}

fn inner(document: &InfoDocument) -> TextTable {
    TableRows::of(document.inner.iter())
        .right("recorder", |it| it.pid.to_string())
        .left("trace", |it| match &it.trace {
            None => "its standard output".to_owned(),
            Some(trace) if trace.exists() => quoted_path(trace),
            Some(trace) => format!("{} (no such file here)", quoted_path(trace)),
        })
        .table()
}

/// Result of the hardware log; empty if it was not requested.
fn hardware_log(document: &InfoDocument) -> String {
    let log = &document.hardware_log;
    if log.states.is_empty() {
        return String::new();
    }
    let states: Vec<&str> = log.states.iter().copied().collect();
    let mut text = format!(
        "{:<12} {}: {} entries, {} of tasks, {} of other work; {} without times, {} stretches unclear, \
         {} times no memory for more\n",
        "hardware log",
        states.join(", "),
        count(log.entries),
        count(log.joined),
        count(log.not_joined),
        count(log.without_times),
        count(log.mismatches),
        count(log.buffers_short),
    );
    for it in &log.compared {
        text.push_str(&format!(
            "{:<12} device {}: {} tasks by both; events make tasks {} longer (p99 {}) and pauses {} shorter \
             (p99 {}); clocks {} to {} apart, {:.1} ppm\n",
            "compared",
            it.device,
            count(it.compared_tasks),
            duration(it.longer_ns.p50),
            duration(it.longer_ns.p99),
            duration(it.shorter_pause_ns.p50),
            duration(it.shorter_pause_ns.p99),
            duration(it.apart_ns.min),
            duration(it.apart_ns.max),
            it.log_drift_ppm,
        ));
    }
    text
}

/// The part of a recording that a ring or a snapshot has, and the snapshot's reason; empty for other recordings.
fn ring(document: &InfoDocument) -> String {
    let Some(kept) = &document.session.kept else {
        return String::new();
    };
    let since = |moment: i64| duration(moment - document.session.start_ns);
    if let Some(part) = &document.session.part {
        let (number, at) = (part.number, since(kept.since_ns));
        return format!(
            "{:<12} begins with file {number} of the recording (--roll), {at} after its start\n",
            "part"
        );
    }
    let mut text = format!(
        "{:<12} only the last part: from {} after the start of the recording on\n",
        "ring",
        since(kept.since_ns)
    );
    if let Some(snapshot) = &kept.snapshot {
        let (at, reason) = (since(snapshot.at_ns), plain(&snapshot.reason));
        text.push_str(&format!("{:<12} at {at}: {reason}\n", "snapshot"));
    }
    text
}

/// The runtime. Which one a program has loaded by itself is known from the end of the recording on.
fn runtime(document: &InfoDocument) -> String {
    let has_end = document.exit_status.is_some() || document.end_reason.is_some();
    match document.session.runtime.as_str() {
        "installed" if !has_end => {
            "installed, or softacl if the program loads it: known at the end of the recording"
                .to_owned()
        }
        known => known.to_owned(),
    }
}

/// How a recorder came to a program that was running; empty for other recordings.
fn attached(session: &SessionRow) -> String {
    let also = match session.injected {
        false => "",
        true => {
            ". The library came with it (--inject): calls through addresses of functions that the program had fetched before \
                 are not known either"
        }
    };
    session.attached.map_or_else(String::new, |pid| {
        format!(
            "to process {pid} while it ran: earlier calls and tasks are not known, and the coverage is that since then{also}"
        )
    })
}

/// The recording around this one; empty for other recordings.
fn outer(session: &SessionRow) -> String {
    session.outer.as_ref().map_or_else(String::new, |it| {
        let trace = match &it.trace {
            Some(trace) => quoted_path(Path::new(trace)),
            None => "its standard output".to_owned(),
        };
        format!("the recording of process {}: {trace}", it.pid)
    })
}

/// The lost recorder in the place of which this one was started; empty for other recordings.
fn continued(session: &SessionRow) -> String {
    session.continues.as_ref().map_or_else(String::new, |it| {
        let gap = duration(session.start_ns.saturating_sub(it.lost_ns));
        format!(
            "{}: its recorder ended {}. The calls of {gap}, and those until the program joined, are in no file",
            it.file, it.reason
        )
    })
}

fn head(document: &InfoDocument) -> String {
    let session = &document.session;
    let span = document.end_ns.zip(document.begin_ns);
    let length = span.map_or_else(|| "-".to_owned(), |(end, begin)| duration(end - begin));
    let kept = session.kept.as_ref();
    let status = match document.exit_status {
        None if kept.is_some_and(|it| it.snapshot.is_some()) => {
            "unknown: this is a snapshot".to_owned()
        }
        Some(status) => status.to_string(),
        None => match &document.end_reason {
            Some(reason) => format!("unknown: {reason}"),
            None => "unknown: still running, or stopped short".to_owned(),
        },
    };
    let tasks = &document.tasks;
    let calls = &document.calls;
    let rows = [
        ("command", session.command.join(" ")),
        ("attached", attached(session)),
        ("continues", continued(session)),
        ("inside", outer(session)),
        ("exit status", status),
        ("complete", document.head.text()),
        ("recorded", format!("{}, {length} long", session.start_time)),
        (
            "host",
            format!("{} ({})", session.host, session.architecture),
        ),
        ("tool", format!("ascend-trace {}", session.tool_version)),
        ("runtime", runtime(document)),
        ("timing", session.timing.clone()),
        (
            "calls",
            format!(
                "{} ({} nested, {} with an error{})",
                count(calls.count),
                count(calls.nested),
                count(calls.errors),
                endings(calls.open, calls.left)
            ),
        ),
        (
            "tasks",
            format!(
                "{}, {} timed",
                count(tasks.count),
                percent(tasks.timed, tasks.count)
            ),
        ),
        ("streams", stream_counts(document)),
        ("events", count(document.events)),
        ("graphs", graphs(document)),
        (
            "lost",
            format!(
                "{} calls, {} other records",
                count(document.head.lost.calls),
                count(document.head.lost.others)
            ),
        ),
        (
            "overhead",
            format!(
                "{} of the program's time: {} per call, {} more per timed task, {} to read times; \
                 {} device events injected ({:.1} per task), {} never read",
                duration(i64::try_from(document.cost.host_ns).unwrap_or(i64::MAX)),
                duration(document.cost.host_ns_per_call.round() as i64),
                duration(document.cost.host_ns_per_task.round() as i64),
                duration(i64::try_from(document.cost.harvest_ns).unwrap_or(i64::MAX)),
                count(document.cost.injected_events),
                document.cost.events_per_task,
                count(document.cost.lost_pairs),
            ),
        ),
    ];
    let is_known = |row: &&(&str, String)| {
        !["attached", "continues", "inside"].contains(&row.0) || !row.1.is_empty()
    };
    let mut text: String = rows
        .iter()
        .filter(is_known)
        .map(|(name, value)| format!("{name:<12} {}\n", plain(value)))
        .collect();
    text.push_str(&ring(document));
    for host in &session.hosts {
        text.push_str(&format!(
            "{:<12} {}\n",
            "clock",
            plain(&clocks::of_row(host))
        ));
        for note in &host.notes {
            text.push_str(&format!("{:<12} {}\n", "note", plain(note)));
        }
    }
    if document.cost.chained_streams > 0 || document.cost.sampled_streams > 0 {
        text.push_str(&format!(
            "{:<12} auto: one event per task on {} streams, some tasks without events on {}\n",
            "timing",
            count(document.cost.chained_streams),
            count(document.cost.sampled_streams),
        ));
    }
    if document.cost.events_device_ns > 0 {
        let line = event_cost(&document.cost, session.budget);
        text.push_str(&format!("{:<12} {line}\n", "event cost"));
    }
    text.push_str(&hardware_log(document));
    if document.cost.short_tasks > 0 {
        text.push_str(&format!(
            "{:<12} {} timed tasks took less time than an event record: the records around them take longer\n",
            "short tasks",
            count(document.cost.short_tasks),
        ));
    }
    if document.cost.run_tasks > 0 {
        text.push_str(&format!(
            "{:<12} {} short tasks ran in runs with one time for all tasks of a run\n",
            "runs",
            count(document.cost.run_tasks),
        ));
    }
    if !session.filters.is_empty() {
        text.push_str(&format!(
            "{:<12} {}: {} calls were left out\n",
            "filters",
            session.filters.join(", "),
            count(document.cost.filtered_calls),
        ));
    }
    if document.cost.pauses > 0 {
        text.push_str(&format!(
            "{:<12} the recording was paused {}, for {}\n",
            "paused",
            match document.cost.pauses {
                1 => "once".to_owned(),
                several => format!("{} times", count(several)),
            },
            duration(i64::try_from(document.cost.paused_ns).unwrap_or(i64::MAX)),
        ));
    }
    if document.cost.suspended_ns > 0 || document.cost.wall_clock_steps > 0 {
        text.push_str(&format!(
            "{:<12} suspended for {}, wall clock set {} times\n",
            "host clock",
            duration(i64::try_from(document.cost.suspended_ns).unwrap_or(i64::MAX)),
            document.cost.wall_clock_steps,
        ));
    }
    for device in document.devices.iter().filter(|device| device.unusual) {
        let line = unusual_clock(device.device, device.process, device.drift_ppm);
        text.push_str(&format!("{:<12} {line}\n", "device clock"));
    }
    if document.cost.functions_without_stub > 0 {
        text.push_str(&format!(
            "{:<12} all taken: calls of {} functions that no table has are not seen\n",
            "stubs",
            count(document.cost.functions_without_stub),
        ));
    }
    text
}

/// The cost of the events around tasks, and the budget.
fn event_cost(cost: &TracerCost, budget: Option<u32>) -> String {
    let device = i64::try_from(cost.events_device_ns).unwrap_or(i64::MAX);
    let mut text = format!("about {} on devices", duration(device));
    if let Some((device, host)) = cost.events_device_share.zip(cost.events_host_share) {
        let (device, host) = (device * 100.0, host * 100.0);
        text.push_str(&format!(
            "; of the time of streams: {device:.2} % on devices, {host:.2} % in the program's threads"
        ));
    }
    if let Some(budget) = budget {
        text.push_str(&format!("; budget {} %", f64::from(budget) / 100.0));
    }
    text
}

fn coverage(document: &InfoDocument) -> TextTable {
    let libraries = document.coverage.iter();
    // Functions in no library have another table: their calls were not intercepted.
    let libraries = libraries.filter(|it| it.library.is_some() || it.called + it.fetched > 0);
    TableRows::of(libraries)
        .left("library", |it: &&LibraryCoverage| {
            let path = it.library.clone();
            path.unwrap_or_else(|| "(not known)".to_owned())
        })
        .right("functions", |it| count(it.exported))
        .right("hooked", |it| count(it.hooked))
        .right("fetched", |it| count(it.fetched))
        .right("called", |it| count(it.called))
        .table()
}

fn unseen(document: &InfoDocument) -> TextTable {
    let of_library = |it| {
        let functions = LibraryCoverage::unseen(it);
        functions.map(move |function| (function, it.library.clone()))
    };
    TableRows::of(document.coverage.iter().flat_map(of_library))
        .left("function", |it| it.0.to_owned())
        .left("library", |it| it.1.clone().unwrap_or_default())
        .table()
}

/// Programs ask for what newer releases have, so there may be many: the first ones, and how many more there are.
fn absent(document: &InfoDocument) -> TextTable {
    const SHOWN: usize = 20;
    let names: Vec<&str> = document
        .coverage
        .iter()
        .flat_map(LibraryCoverage::absent)
        .collect();
    let more = names.len().checked_sub(SHOWN).filter(|more| *more > 0);
    let more = more.map(|more| format!("{more} more: info --json"));
    let shown = names.iter().take(SHOWN).map(|name| (*name).to_owned());
    TableRows::of(shown.chain(more))
        .left("function", String::clone)
        .table()
}

fn refused(document: &InfoDocument) -> TextTable {
    TableRows::of(document.coverage.iter().flat_map(LibraryCoverage::refused))
        .right("functions", |it| count(it.1.len() as u64))
        .left("reason", |it| it.0.to_owned())
        .left("such as", |it| {
            it.1.first().copied().unwrap_or_default().to_owned()
        })
        .table()
}

fn graphs(document: &InfoDocument) -> String {
    let graphs = &document.graphs;
    let failed = match graphs.failed.len() as u64 {
        0 => String::new(),
        failed => format!(", {} FAILED", count(failed)),
    };
    format!(
        "{} with {} nodes, replayed {} times{failed}",
        count(graphs.count),
        count(graphs.nodes),
        count(graphs.replays)
    )
}

fn failed_graphs(document: &InfoDocument) -> TextTable {
    TableRows::of(&document.graphs.failed)
        .right("process", |it| it.process)
        .right("pid", |it| it.pid)
        .right("graph", |it| it.graph)
        .right("code", |it| {
            it.code
                .map_or_else(|| "-".to_owned(), |code| code.to_string())
        })
        .left("reason", |it| it.reason.clone())
        .table()
}

/// Characters of a command line that are shown.
const COMMAND: usize = 100;

/// A command line on one line: line breaks and a long end are left out.
fn command(words: &[String]) -> String {
    let text = words.join(" ");
    let mut shown: String = text
        .chars()
        .filter(|it| !it.is_control())
        .take(COMMAND)
        .collect();
    if text.chars().count() > COMMAND {
        shown.push('…');
    }
    shown
}

fn processes(document: &InfoDocument) -> TextTable {
    // Since the first record, as all times in texts. A process that joined before it began at a negative time, and one that
    // outlives the recording has no end.
    let first = document.begin_ns.unwrap_or(document.session.start_ns);
    let since = |moment: i64| duration(moment - first);
    TableRows::of(&document.processes)
        .right("process", |it| it.process)
        .right("pid", |it| match it.outer_pid {
            None => it.pid.to_string(),
            Some(outer) => format!("{} (here {outer})", it.pid),
        })
        .right("parent", |it| it.parent_pid)
        .left("rank", |it| number(it.rank))
        .left("host", |it| it.host.clone())
        .right("begin", |it| since(it.begin_ns))
        .right("end", |it| it.end_ns.map_or_else(String::new, since))
        .left("devices", |it| listed(&it.devices))
        .right("threads", |it| count(it.threads))
        .right("calls", |it| count(it.calls))
        .left("name", |it| it.name.clone())
        .left("command", |it| command(&it.command))
        .table()
}

fn number(known: Option<impl ToString>) -> String {
    known.map_or_else(String::new, |number| number.to_string())
}

fn listed(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    words.join(", ")
}

/// Frameworks make dozens of streams and use a few.
fn stream_counts(document: &InfoDocument) -> String {
    let all = document.streams.len() as u64;
    match all - used_streams(document).count() as u64 {
        0 => count(all),
        unused => format!("{}, {} without tasks", count(all), count(unused)),
    }
}

fn used_streams(document: &InfoDocument) -> impl Iterator<Item = &StreamInfo> {
    document.streams.iter().filter(|stream| stream.tasks > 0)
}

fn streams(document: &InfoDocument) -> TextTable {
    TableRows::of(used_streams(document))
        .right("process", |it| it.process)
        .right("pid", |it| it.pid)
        .right("device", |it| it.device)
        .right("stream", |it| it.stream_id)
        .right("tasks", |it| count(it.tasks))
        .right("timed", |it| percent(it.timed, it.tasks))
        .left("timing", |it| it.timing.clone())
        .left("", |it| if it.is_default { "default" } else { "" })
        .table()
}

fn kinds(document: &InfoDocument) -> TextTable {
    let rows = TableRows::of(&document.tasks.kinds).left("kind", |it| *it.0);
    rows.right("tasks", |it| count(*it.1)).table()
}

fn untimed(document: &InfoDocument) -> TextTable {
    let rows = TableRows::of(&document.tasks.untimed).left("reason", |it| *it.0);
    rows.right("tasks", |it| count(*it.1)).table()
}

fn clocks(document: &InfoDocument) -> TextTable {
    // Without a comparison there is nothing to judge the clock by.
    let known = |it: &&DeviceInfo, error: i64| match it.anchors {
        0 => "-".to_owned(),
        _ => duration(error),
    };
    let by_driver = |it: &&DeviceInfo| match it.driver_anchors {
        0 => "-".to_owned(),
        _ if it.driver_disagrees => "disagrees".to_owned(),
        _ => duration(it.driver_median_error_ns),
    };
    let drift = |it: &&DeviceInfo| {
        let known = it.drift_ppm.map(|ppm| format!("{ppm:.3}"));
        known.unwrap_or_else(|| "not known".to_owned())
    };
    TableRows::of(&document.devices)
        .right("process", |it| number(it.process))
        .right("pid", |it| number(it.pid))
        .right("device", |it| it.device)
        .right("card", |it| number(it.card))
        .right("anchors", |it| count(u64::from(it.anchors)))
        .right("median error", move |it| known(it, it.median_error_ns))
        .right("largest error", move |it| known(it, it.max_error_ns))
        .right("by driver", |it| count(u64::from(it.driver_anchors)))
        .right("median error", by_driver)
        .right("drift ppm", drift)
        .right("steps", |it| count(it.steps))
        .right("mistakes", |it| count(it.mistakes))
        .table()
}

fn functions(document: &InfoDocument) -> TextTable {
    let rows = TableRows::of(&document.calls.functions).left("function", |it| it.0.clone());
    rows.right("calls", |it| count(*it.1)).table()
}

/// Calls that did not return, where there are any.
fn endings(open: u64, left: u64) -> String {
    [(open, "open at the end"), (left, "left without a return")]
        .into_iter()
        .filter(|(calls, _)| *calls > 0)
        .map(|(calls, how)| format!(", {} {how}", count(calls)))
        .collect()
}
