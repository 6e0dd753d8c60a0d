//! The rows of the tables.

use std::borrow::Cow;
use std::collections::HashMap;

use ascend_trace_format::api::{RetKind, TaskKind};
use ascend_trace_model::{Call, StreamId, Task, Trace};

use super::{
    ApiStats, CauseStats, Durations, OperationStats, StallStats, StreamStats, WORST_STALLS,
};
use crate::dependencies::Node;
use crate::{Cause, Dependencies, Intervals, Lane, Stall, Stalls};

pub(super) type Range = Option<(i64, i64)>;

/// Whether an interval has a part in the range.
pub(super) fn overlaps(range: Range, begin: i64, end: i64) -> bool {
    range.is_some_and(|range| begin <= range.1 && end >= range.0)
}

/// When a task kept anyone busy: its own time, or that of its call when it has none.
fn extent(trace: &Trace, task: &Task) -> (i64, i64) {
    let call = trace.call(task.call);
    task.time
        .map_or((call.begin, call.end), |time| (time.begin, time.end))
}

fn tasks_in(trace: &Trace, range: Range) -> impl Iterator<Item = &Task> {
    trace.tasks().iter().filter(move |task| {
        let (begin, end) = extent(trace, task);
        overlaps(range, begin, end)
    })
}

/// Waits and records occupy a stream but are not work.
fn is_work(kind: TaskKind) -> bool {
    !matches!(kind, TaskKind::Wait | TaskKind::Record)
}

/// All replays of a graph are one operation.
fn operation_name<'t>(trace: &'t Trace, task: &Task) -> Cow<'t, str> {
    match trace.call(task.call).graph {
        Some(graph) if graph.index > 0 && trace.runs(task) => {
            format!("graph {}", graph.serial).into()
        }
        _ => trace.task_name(task).into(),
    }
}

pub(super) fn operations(trace: &Trace, range: Range) -> Vec<OperationStats> {
    let mut groups: HashMap<(Cow<'_, str>, TaskKind), (u64, Vec<i64>)> = HashMap::new();
    for task in tasks_in(trace, range) {
        let group = groups
            .entry((operation_name(trace, task), task.kind))
            .or_default();
        group.0 += 1;
        group.1.extend(task.time.map(|time| time.end - time.begin));
    }
    let mut work = 0;
    let mut rows = Vec::with_capacity(groups.len());
    for ((name, kind), (count, mut values)) in groups {
        let time = Durations::of(&mut values);
        if is_work(kind) {
            work += time.total_ns;
        }
        rows.push((kind, name, count, time));
    }
    rows.sort_by(
        |(kind, name, _, time), (other_kind, other_name, _, other)| {
            (-time.total_ns, name, kind).cmp(&(-other.total_ns, other_name, other_kind))
        },
    );
    let row =
        |(kind, name, count, time): (TaskKind, Cow<'_, str>, u64, Durations)| OperationStats {
            name: name.into_owned(),
            kind: kind.name(),
            count,
            time,
            share: (is_work(kind) && work > 0).then(|| time.total_ns as f64 / work as f64),
        };
    rows.into_iter().map(row).collect()
}

pub(super) fn streams(trace: &Trace, range: Range) -> Vec<StreamStats> {
    let ids = (0..trace.streams().len() as u32).map(StreamId);
    let mut rows: Vec<_> = ids.map(|id| stream(trace, id, range)).collect();
    rows.sort_by_key(|row| (row.pid, row.device, row.stream_id));
    rows
}

fn stream(trace: &Trace, id: StreamId, range: Range) -> StreamStats {
    let inside = |task: &&Task| {
        let (begin, end) = extent(trace, task);
        overlaps(range, begin, end)
    };
    let all = trace.stream_tasks(id).iter().map(|id| trace.task(*id));
    let tasks: Vec<&Task> = all.filter(inside).collect();
    let times = |wanted: fn(TaskKind) -> bool| {
        let tasks = tasks.iter().filter(move |task| wanted(task.kind));
        Intervals::union_of(tasks.filter_map(|task| Some((task.time?.begin, task.time?.end))))
    };
    let active = active_span(trace, &tasks, range);
    let (begin, end) = active.unwrap_or((0, 0));
    let busy = times(is_work).clip(begin, end);
    let waiting = times(|kind| kind == TaskKind::Wait)
        .clip(begin, end)
        .difference(&busy);
    let stream = trace.stream(id);
    let length = end - begin;
    StreamStats {
        pid: trace.process(stream.process).pid,
        device: stream.device,
        stream_id: stream.number(),
        is_default: stream.is_default,
        tasks: tasks.len() as u64,
        untimed: tasks.iter().filter(|task| task.time.is_none()).count() as u64,
        begin_ns: active.map(|span| span.0),
        end_ns: active.map(|span| span.1),
        busy_ns: busy.total(),
        waiting_ns: waiting.total(),
        idle_ns: length - busy.total() - waiting.total(),
        busy_share: match length {
            0 => 0.0,
            _ => busy.total() as f64 / length as f64,
        },
    }
}

/// From the first submission to the last end, clipped to the range.
fn active_span(trace: &Trace, tasks: &[&Task], range: Range) -> Range {
    let range = range?;
    let begins = tasks.iter().map(|task| trace.call(task.call).begin);
    let begin = begins.min()?.clamp(range.0, range.1);
    let end = tasks.iter().map(|task| extent(trace, task).1).max()?;
    Some((begin, end.clamp(begin, range.1)))
}

pub(super) fn apis(trace: &Trace, range: Range) -> Vec<ApiStats> {
    let mut values: Vec<Vec<i64>> = vec![Vec::new(); trace.functions().len()];
    let mut errors = vec![0; values.len()];
    let mut nested = vec![0; values.len()];
    let inside = |call: &&Call| overlaps(range, call.begin, call.end);
    for call in trace.calls().iter().filter(inside) {
        let function = call.function.index();
        let failed = trace.functions()[function].ret == RetKind::Error && call.ret != 0;
        values[function].push(call.end - call.begin);
        errors[function] += u64::from(failed);
        nested[function] += u64::from(call.depth > 0);
    }
    let mut rows = Vec::new();
    for (index, function) in trace.functions().iter().enumerate() {
        if !values[index].is_empty() {
            rows.push(ApiStats {
                name: function.name.clone(),
                category: function.category.clone(),
                count: values[index].len() as u64,
                errors: errors[index],
                nested: nested[index],
                time: Durations::of(&mut values[index]),
            });
        }
    }
    rows.sort_by(|a, b| (-a.time.total_ns, &a.name).cmp(&(-b.time.total_ns, &b.name)));
    rows
}

pub(super) fn causes(stalls: &Stalls, range: Range) -> Vec<CauseStats> {
    let mut rows: Vec<_> = Cause::ALL
        .iter()
        .map(|cause| CauseStats {
            cause: cause.name(),
            count: 0,
            total_ns: 0,
            max_ns: 0,
        })
        .collect();
    for stall in stalls.iter().filter(|it| overlaps(range, it.begin, it.end)) {
        let row = &mut rows[stall.cause as usize];
        row.count += 1;
        row.total_ns += stall.length();
        row.max_ns = row.max_ns.max(stall.length());
    }
    rows.retain(|row| row.count > 0);
    rows.sort_by_key(|row| -row.total_ns);
    rows
}

pub(super) fn worst(
    trace: &Trace,
    dependencies: &Dependencies,
    stalls: &Stalls,
    range: Range,
) -> Vec<StallStats> {
    let worst = stalls.worst_where(WORST_STALLS, |it| {
        it.is_notable() && overlaps(range, it.begin, it.end)
    });
    let row = |stall: &&Stall| StallStats::of(trace, dependencies, stall);
    worst.iter().map(row).collect()
}

impl StallStats {
    /// One stall in words and numbers.
    pub fn of(trace: &Trace, dependencies: &Dependencies, stall: &Stall) -> Self {
        let culprit = stall.culprit(trace, dependencies);
        let blamed = culprit.stream.map(|id| trace.stream(id));
        let (process, thread, stream) = match stall.lane {
            Lane::Thread(id) => (trace.thread(id).process, Some(trace.thread(id)), None),
            Lane::Stream(id) => (trace.stream(id).process, None, Some(trace.stream(id))),
        };
        Self {
            cause: stall.cause.name(),
            pid: trace.process(process).pid,
            tid: thread.map(|thread| thread.tid),
            device: stream.map(|stream| stream.device),
            stream_id: stream.map(|stream| stream.number()),
            begin_ns: stall.begin,
            end_ns: stall.end,
            length_ns: stall.length(),
            name: name_of(trace, stall.node),
            culprit_device: blamed.map(|stream| stream.device),
            culprit_stream_id: blamed.map(|stream| stream.number()),
            culprit_task: culprit.task.map(|task| name_of(trace, Node::Task(task))),
            event: culprit.event.map(|it| trace.event(it.event).serial),
            culprit_call: culprit.call.map(|call| name_of(trace, Node::Call(call))),
        }
    }
}

fn name_of(trace: &Trace, node: Node) -> String {
    match node {
        Node::Task(task) => trace.task_name(trace.task(task)).to_owned(),
        Node::Call(call) => trace.function(trace.call(call).function).name.clone(),
    }
}
