//! `info` for people.

use ascend_trace_recording::text::plain;
use ascend_trace_recording::units::duration;

use super::coverage::Coverage;
use super::document::Document;
use crate::cli::trace::unusual_clock;
use crate::table::{Align, Table, count, percent};

pub(crate) fn text(document: &Document) -> String {
    let mut text = head(document);
    for (title, table) in [
        ("Processes", processes(document)),
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
        // Of several processes the pids need not tell them apart.
        let several = document.processes.len() > 1 || title == "Processes";
        let table = table.with_only_if("process", several);
        if !table.is_empty() {
            text.push_str(&format!("\n{title}\n{}", table.render(2)));
        }
    }
    text
}

/// What came of the hardware's log; nothing where it was not asked for.
fn hardware_log(document: &Document) -> String {
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

fn head(document: &Document) -> String {
    let session = &document.session;
    let span = document.end_ns.zip(document.begin_ns);
    let length = span.map_or_else(|| "-".to_owned(), |(end, begin)| duration(end - begin));
    let status = match document.exit_status {
        Some(status) => status.to_string(),
        None => "unknown: still running, or stopped short".to_owned(),
    };
    let complete = match (document.complete, document.damage.len()) {
        (true, _) => "yes".to_owned(),
        (false, 0) => "no: the recording has no end".to_owned(),
        (false, places) => format!("no: damaged at {places} places"),
    };
    let tasks = &document.tasks;
    let calls = &document.calls;
    let rows = [
        ("command", session.command.join(" ")),
        ("exit status", status),
        ("complete", complete),
        ("recorded", format!("{}, {length} long", session.start_time)),
        (
            "host",
            format!("{} ({})", session.host, session.architecture),
        ),
        ("tool", format!("ascend-trace {}", session.tool_version)),
        ("runtime", session.runtime.clone()),
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
        ("events", count(document.events)),
        ("graphs", graphs(document)),
        (
            "lost",
            format!(
                "{} calls, {} other records",
                count(document.lost.calls),
                count(document.lost.others)
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
    let mut text: String = rows
        .iter()
        .map(|(name, value)| format!("{name:<12} {}\n", plain(value)))
        .collect();
    if document.cost.chained_streams > 0 || document.cost.sampled_streams > 0 {
        text.push_str(&format!(
            "{:<12} auto: one event per task on {} streams, every eighth task on {}\n",
            "timing",
            count(document.cost.chained_streams),
            count(document.cost.sampled_streams),
        ));
    }
    text.push_str(&hardware_log(document));
    if document.cost.short_tasks > 0 {
        text.push_str(&format!(
            "{:<12} {} timed tasks took less time than an event record: the records around them take longer\n",
            "short tasks",
            count(document.cost.short_tasks),
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

fn coverage(document: &Document) -> Table {
    let mut table = Table::new([
        ("library", Align::Left),
        ("functions", Align::Right),
        ("hooked", Align::Right),
        ("fetched", Align::Right),
        ("called", Align::Right),
    ]);
    for library in &document.coverage {
        let path = library.library.clone();
        table.row([
            path.unwrap_or_else(|| "(in no library)".to_owned()),
            count(library.exported),
            count(library.hooked),
            count(library.fetched),
            count(library.called),
        ]);
    }
    table
}

fn unseen(document: &Document) -> Table {
    let mut table = Table::new([("function", Align::Left), ("library", Align::Left)]);
    for library in &document.coverage {
        for function in library.unseen() {
            let path = library.library.clone();
            table.row([function.to_owned(), path.unwrap_or_default()]);
        }
    }
    table
}

/// Programs ask for what newer releases have, so there may be many: the first ones, and how many more there are.
fn absent(document: &Document) -> Table {
    const SHOWN: usize = 20;
    let mut table = Table::new([("function", Align::Left)]);
    let names: Vec<&str> = document
        .coverage
        .iter()
        .flat_map(Coverage::absent)
        .collect();
    for name in names.iter().take(SHOWN) {
        table.row([(*name).to_owned()]);
    }
    if let Some(more @ 1..) = names.len().checked_sub(SHOWN) {
        table.row([format!("{more} more: info --json")]);
    }
    table
}

fn refused(document: &Document) -> Table {
    let mut table = Table::new([
        ("functions", Align::Right),
        ("reason", Align::Left),
        ("such as", Align::Left),
    ]);
    for library in &document.coverage {
        for (reason, names) in library.refused() {
            let first = names.first().copied().unwrap_or_default();
            table.row([
                count(names.len() as u64),
                reason.to_owned(),
                first.to_owned(),
            ]);
        }
    }
    table
}

fn graphs(document: &Document) -> String {
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

fn failed_graphs(document: &Document) -> Table {
    let mut table = Table::new([
        ("process", Align::Right),
        ("pid", Align::Right),
        ("graph", Align::Right),
        ("code", Align::Right),
        ("reason", Align::Left),
    ]);
    for graph in &document.graphs.failed {
        table.row([
            graph.process.to_string(),
            graph.pid.to_string(),
            graph.graph.to_string(),
            graph
                .code
                .map_or_else(|| "-".to_owned(), |code| code.to_string()),
            graph.reason.clone(),
        ]);
    }
    table
}

/// Characters of a command line that are shown.
const COMMAND: usize = 100;

/// A command line on one line: what would not stay on it is left out, and so is what is too long.
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

fn processes(document: &Document) -> Table {
    let mut table = Table::new([
        ("process", Align::Right),
        ("pid", Align::Right),
        ("parent", Align::Right),
        ("rank", Align::Left),
        ("begin", Align::Right),
        ("end", Align::Right),
        ("devices", Align::Left),
        ("threads", Align::Right),
        ("calls", Align::Right),
        ("name", Align::Left),
        ("command", Align::Left),
    ]);
    // Since the recording began. A process that outlives it has no end.
    let since = |moment: i64| duration(moment - document.session.start_ns);
    for process in &document.processes {
        table.row([
            process.process.to_string(),
            process.pid.to_string(),
            process.parent_pid.to_string(),
            process
                .rank
                .map_or_else(String::new, |rank| rank.to_string()),
            since(process.begin_ns),
            process.end_ns.map_or_else(String::new, since),
            listed(&process.devices),
            count(process.threads),
            count(process.calls),
            process.name.clone(),
            command(&process.command),
        ]);
    }
    table
}

fn number(known: Option<u32>) -> String {
    known.map_or_else(String::new, |number| number.to_string())
}

fn listed(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    words.join(", ")
}

fn streams(document: &Document) -> Table {
    let mut table = Table::new([
        ("process", Align::Right),
        ("pid", Align::Right),
        ("device", Align::Right),
        ("stream", Align::Right),
        ("tasks", Align::Right),
        ("timed", Align::Right),
        ("timing", Align::Left),
        ("", Align::Left),
    ]);
    for stream in &document.streams {
        table.row([
            stream.process.to_string(),
            stream.pid.to_string(),
            stream.device.to_string(),
            stream.stream_id.to_string(),
            count(stream.tasks),
            percent(stream.timed, stream.tasks),
            stream.timing.clone(),
            if stream.is_default { "default" } else { "" }.to_owned(),
        ]);
    }
    table
}

fn kinds(document: &Document) -> Table {
    let mut table = Table::new([("kind", Align::Left), ("tasks", Align::Right)]);
    for (kind, number) in &document.tasks.kinds {
        table.row([(*kind).to_owned(), count(*number)]);
    }
    table
}

fn untimed(document: &Document) -> Table {
    let mut table = Table::new([("reason", Align::Left), ("tasks", Align::Right)]);
    for (reason, number) in &document.tasks.untimed {
        table.row([(*reason).to_owned(), count(*number)]);
    }
    table
}

fn clocks(document: &Document) -> Table {
    let mut table = Table::new([
        ("process", Align::Right),
        ("pid", Align::Right),
        ("device", Align::Right),
        ("anchors", Align::Right),
        ("median error", Align::Right),
        ("largest error", Align::Right),
        ("by driver", Align::Right),
        ("median error", Align::Right),
        ("drift ppm", Align::Right),
        ("steps", Align::Right),
        ("mistakes", Align::Right),
    ]);
    for device in &document.devices {
        // Without a comparison there is nothing to judge the clock by.
        let known = |text: String| {
            if device.anchors == 0 {
                "-".to_owned()
            } else {
                text
            }
        };
        table.row([
            number(device.process),
            number(device.pid),
            device.device.to_string(),
            count(u64::from(device.anchors)),
            known(duration(device.median_error_ns)),
            known(duration(device.max_error_ns)),
            count(u64::from(device.driver_anchors)),
            match device.driver_anchors {
                0 => "-".to_owned(),
                _ if device.driver_disagrees => "disagrees".to_owned(),
                _ => duration(device.driver_median_error_ns),
            },
            device
                .drift_ppm
                .map_or_else(|| "not known".to_owned(), |ppm| format!("{ppm:.3}")),
            count(device.steps),
            count(device.mistakes),
        ]);
    }
    table
}

fn functions(document: &Document) -> Table {
    let mut table = Table::new([("function", Align::Left), ("calls", Align::Right)]);
    for (name, calls) in &document.calls.functions {
        table.row([name.clone(), count(*calls)]);
    }
    table
}

/// Calls that did not return, where there are any.
fn endings(open: u64, left: u64) -> String {
    [(open, "open at the end"), (left, "left without a return")]
        .into_iter()
        .filter(|(calls, _)| *calls > 0)
        .map(|(calls, how)| format!(", {} {how}", count(calls)))
        .collect()
}
