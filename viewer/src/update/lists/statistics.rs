//! Tables of the visible range.

use std::borrow::Cow;

use ascend_trace_analysis::stats::{
    CauseStats, Durations, Spent, StepStats, StreamStats, TaskDurations,
};
use ascend_trace_analysis::{Cause, Stats};
use ascend_trace_recording::{Stream, StreamId, Thread, ThreadId, Trace};

use crate::app::{App, ViewData};
use crate::display_names;
use crate::idle_streams;
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, RowId, StatsPage, left, right};
use crate::text::{duration, duration_with_error};

use super::{ListContent, steps};
use crate::update::background_query;

const TIMES: [ListColumn; 5] = [
    right("total"),
    right("mean").from(60),
    right("p50").from(100),
    right("p99").from(70),
    right("max"),
];

const OPERATIONS: &[ListColumn] = &[
    left("operation"),
    left("kind").from(100),
    right("count"),
    right("share").from(70),
    TIMES[0],
    TIMES[1],
    TIMES[2],
    TIMES[3],
    TIMES[4],
];

const STREAMS: &[ListColumn] = &[
    left("stream"),
    right("tasks"),
    right("busy"),
    right(""),
    right("waiting"),
    right("idle"),
    left("mostly").from(70),
];

const DEVICES: &[ListColumn] = &[
    left("device"),
    left("process").from(100),
    right("streams"),
    right("busy"),
    right(""),
    right("computing").from(70),
    right("copying").from(70),
    right("both").from(60),
    right("idle"),
    left("streams mostly").from(100),
];

const THREADS: &[ListColumn] = &[
    left("thread"),
    right("calls"),
    right("in calls"),
    right("blocked"),
    left("mostly").from(70),
    right("streams late by it").from(90),
];

const FUNCTIONS: &[ListColumn] = &[
    left("function"),
    right("count"),
    right("errors"),
    TIMES[0],
    TIMES[1],
    TIMES[2],
    TIMES[3],
    TIMES[4],
];

const CAUSES: &[ListColumn] = &[
    left("cause"),
    left("of").from(60),
    right("count"),
    right("share"),
    TIMES[0],
    TIMES[1],
    TIMES[2],
    TIMES[3],
    TIMES[4],
];

pub(super) fn content(app: &App, world: ViewData<'_>, page: StatsPage) -> ListContent {
    let trace = world.trace;
    let range = app.viewport.range();
    let part = !world.overview.is_loaded(range);
    let summed = background_query::known_statistics(app, range).filter(|_| part);
    let near = || Stats::within(&app.window(trace), Some(range));
    let stats = summed.map_or_else(|| Cow::Owned(near()), Cow::Borrowed);
    let (columns, entries) = match page {
        StatsPage::Operations => (OPERATIONS, operations(&stats)),
        StatsPage::Streams => (STREAMS, streams(trace, &stats)),
        StatsPage::Devices => (DEVICES, devices(trace, &stats)),
        StatsPage::Threads => (THREADS, threads(trace, &stats)),
        StatsPage::Functions => (FUNCTIONS, functions(&stats)),
        StatsPage::Causes => (CAUSES, stats.stall_causes.iter().map(cause).collect()),
        StatsPage::Steps => {
            let known = |step: &StepStats| {
                let span = steps::range(step);
                summed.is_some() || world.overview.is_loaded(span)
            };
            (steps::COLUMNS, steps::entries(trace, &stats, known))
        }
    };
    let note = match part && summed.is_none() {
        true => "only of the loaded part, so far".to_owned(),
        false => format!("in the {} on screen", duration(app.viewport.length())),
    };
    let unused = stats.streams.iter().filter(|row| row.is_unused()).count();
    let note = match page {
        StatsPage::Streams if unused > 0 => {
            format!("{note}; {} left out", idle_streams::words(unused))
        }
        StatsPage::Steps if entries.len() < stats.steps.len() => {
            let others = stats.steps.len() - entries.len();
            format!("{note}; without {others} that are not loaded completely")
        }
        _ => note,
    };
    ListContent {
        columns,
        entries,
        note,
    }
}

fn times(time: &Durations) -> [ListCell; 5] {
    let all = [
        time.total_ns,
        time.mean_ns,
        time.p50_ns,
        time.p99_ns,
        time.max_ns,
    ];
    match time.count {
        0 => all.map(|_| ListCell::unknown()),
        _ => all.map(ListCell::duration),
    }
}

fn task_times(time: &TaskDurations) -> [ListCell; 5] {
    let known = |it: Option<i64>| it.map_or_else(ListCell::unknown, ListCell::duration);
    let total = time.estimated_total_ns.zip(time.total_error_ns);
    let total = total.map_or_else(ListCell::unknown, |(value, error)| {
        worked(value, error, time.unestimated)
    });
    [
        total,
        known(time.mean_ns),
        known(time.p50_ns),
        known(time.p99_ns),
        known(time.max_ns),
    ]
}

fn operations(stats: &Stats) -> Vec<ListEntry> {
    // Waits and records are no work: they come last.
    let (work, others): (Vec<_>, Vec<_>) =
        stats.operations.iter().partition(|row| row.share.is_some());
    let rows = work.into_iter().chain(others).map(|row| {
        let mut cells = vec![
            row.name.as_str().into(),
            row.kind.into(),
            ListCell::count(row.count),
            row.share.map_or_else(ListCell::unknown, ListCell::percent),
        ];
        cells.extend(task_times(&row.time));
        let name = row.name.clone();
        ListEntry {
            id: RowId::Operation(name.clone(), row.kind),
            cells,
            target: JumpTarget::Slowest { name, task: true },
        }
    });
    rows.collect()
}

fn functions(stats: &Stats) -> Vec<ListEntry> {
    let rows = stats.apis.iter().map(|row| {
        let mut cells = vec![
            row.name.as_str().into(),
            ListCell::count(row.count),
            ListCell::count(row.errors),
        ];
        cells.extend(times(&row.time));
        let name = row.name.clone();
        ListEntry {
            id: RowId::Function(name.clone()),
            cells,
            target: JumpTarget::Slowest { name, task: false },
        }
    });
    rows.collect()
}

fn streams(trace: &Trace, stats: &Stats) -> Vec<ListEntry> {
    let used = stats.streams.iter().filter(|row| !row.is_unused());
    let rows = used.map(|row| {
        let id = stream_of(trace, row);
        let lane = id.map(|id| display_names::lane(trace, crate::item::TrackKey::Stream(id)));
        let cells = vec![
            lane.unwrap_or_default().into(),
            ListCell::count(row.tasks),
            worked(row.estimated_busy_ns, row.busy_error_ns, row.unestimated),
            ListCell::percent(row.busy_share),
            ListCell::duration(row.waiting_ns),
            ListCell::duration(row.estimated_idle_ns()),
            mostly(&row.causes).into(),
        ];
        ListEntry {
            id: RowId::Stream(row.process, row.device, row.stream_id, row.is_default),
            cells,
            target: id.map_or(JumpTarget::Nowhere, JumpTarget::Stream),
        }
    });
    rows.collect()
}

/// An estimate with its error: at least that, where nothing is known of some tasks.
fn worked(value: i64, error: i64, unestimated: u64) -> ListCell {
    let text = duration_with_error(value, error);
    let text = match unestimated {
        0 => text,
        _ => format!("≥ {text}"),
    };
    ListCell::number(text, value)
}

/// What took most of a time, and how much.
fn mostly(causes: &[Spent]) -> String {
    let first = causes.first();
    let words = first.map(|spent| format!("{} {}", spent.cause, duration(spent.total_ns)));
    words.unwrap_or_default()
}

/// The streams that a process has on one device, together. Leads to the first of them.
fn devices(trace: &Trace, stats: &Stats) -> Vec<ListEntry> {
    let rows = stats.devices.iter().map(|row| {
        let own = |stream: &Stream| {
            let process = trace.process(stream.process).serial;
            (process, stream.device) == (row.process, row.device)
        };
        let first = trace.streams().iter().position(own);
        let length = (row.end_ns - row.begin_ns).max(1);
        let cells = vec![
            ListCell::number(format!("device {}", row.device), i64::from(row.device)),
            ListCell::number(row.pid.to_string(), i64::from(row.pid)),
            ListCell::count(row.streams),
            worked(row.estimated_busy_ns, row.busy_error_ns, row.unestimated),
            ListCell::percent(row.estimated_busy_ns as f64 / length as f64),
            worked(row.estimated_compute_ns, row.compute_error_ns, 0),
            worked(row.estimated_copy_ns, row.copy_error_ns, 0),
            ListCell::duration(row.copy_compute_ns),
            ListCell::duration(row.estimated_idle_ns()),
            mostly(&row.causes).into(),
        ];
        ListEntry {
            id: RowId::Device(row.process, row.device),
            cells,
            target: first.map_or(JumpTarget::Nowhere, |first| {
                JumpTarget::Stream(StreamId(first as u32))
            }),
        }
    });
    rows.collect()
}

fn threads(trace: &Trace, stats: &Stats) -> Vec<ListEntry> {
    let rows = stats.threads.iter().map(|row| {
        let own = |thread: &Thread| {
            let process = trace.process(thread.process).serial;
            (process, thread.tid) == (row.process, row.tid)
        };
        let id = trace.threads().iter().position(own);
        let id = id.map(|index| ThreadId(index as u32));
        let name = id.map_or_else(
            || row.tid.to_string(),
            |id| display_names::thread(trace, id),
        );
        let late: i64 = row.streams_late.iter().map(|it| it.total_ns).sum();
        let cells = vec![
            name.into(),
            ListCell::count(row.calls),
            ListCell::duration(row.in_calls_ns),
            ListCell::duration(row.blocked_ns),
            mostly(&row.causes).into(),
            ListCell::duration(late),
        ];
        ListEntry {
            id: RowId::Thread(id, row.tid),
            cells,
            target: id.map_or(JumpTarget::Nowhere, JumpTarget::Thread),
        }
    });
    rows.collect()
}

fn stream_of(trace: &Trace, row: &StreamStats) -> Option<StreamId> {
    let is_same = |stream: &ascend_trace_recording::Stream| {
        trace.process(stream.process).pid == row.pid
            && stream.device == row.device
            && stream.number() == row.stream_id
            && stream.is_default == row.is_default
    };
    let index = trace.streams().iter().position(is_same)?;
    Some(StreamId(index as u32))
}

fn cause(row: &CauseStats) -> ListEntry {
    let time = Durations {
        count: row.count,
        total_ns: row.total_ns,
        mean_ns: row.mean_ns,
        p50_ns: row.p50_ns,
        p90_ns: row.p90_ns,
        p99_ns: row.p99_ns,
        max_ns: row.max_ns,
    };
    let mut cells = vec![
        row.cause.into(),
        format!("{}s", row.lane).into(),
        ListCell::count(row.count),
        ListCell::percent(row.share),
    ];
    cells.extend(times(&time));
    let cause = Cause::ALL.into_iter().find(|it| it.name() == row.cause);
    let target = cause.filter(|it| it.is_notable());
    ListEntry {
        id: RowId::Cause(row.cause, row.lane),
        cells,
        target: target.map_or(JumpTarget::Nowhere, JumpTarget::Cause),
    }
}
