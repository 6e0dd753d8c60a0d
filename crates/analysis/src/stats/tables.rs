//! Sums by operation and by function, and the rows that they make.

use std::borrow::Cow;

use ascend_trace_format::api::{RetKind, TaskKind};
use ascend_trace_recording::{Function, StreamId, Task, TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::histogram::Histogram;
use super::{ApiStats, Durations, OperationStats};
use crate::Window;

pub(super) type Range = Option<TimeRange>;

/// Whether an interval has a part in the range.
pub(super) fn overlaps(range: Range, interval: TimeRange) -> bool {
    range.is_some_and(|range| range.overlaps(interval))
}

/// Waits and records occupy a stream but are not work.
fn is_work(kind: TaskKind) -> bool {
    !matches!(kind, TaskKind::Wait | TaskKind::Record)
}

/// All replays of a graph are one operation, whatever their calls are named.
pub(super) fn replayed(trace: &Trace, task: &Task) -> Option<u32> {
    let graph = trace.call(task.call).graph?;
    (graph.index > 0 && trace.runs(task)).then_some(graph.serial)
}

/// What a task is called where tasks of one operation are one thing.
pub(crate) fn operation<'t>(trace: &'t Trace, task: &Task) -> Cow<'t, str> {
    match replayed(trace, task) {
        Some(graph) => format!("graph {graph}").into(),
        None => trace.task_name(task).into(),
    }
}

/// Tasks, and the durations of those with a time.
#[derive(Clone, Debug, Default)]
struct Tasks {
    count: u64,
    time: Histogram,
}

impl Tasks {
    fn add(&mut self, task: &Task) {
        self.count += 1;
        if let Some(time) = task.time {
            self.time.add(time.end - time.begin);
        }
    }
}

/// What an operation is told by, beside its name: the graph that it replays, and its kind.
type Sort = (Option<u32>, TaskKind);

/// Sums of tasks by operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Operations {
    sums: FxHashMap<Sort, FxHashMap<String, Tasks>>,
}

impl Operations {
    pub(super) fn take(&mut self, window: &Window<'_>, range: Range) {
        let trace = window.trace;
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in window.stream_tasks(stream) {
                let task = trace.task(id);
                if overlaps(range, trace.extent(task)) {
                    self.task(trace, task);
                }
            }
        }
    }

    fn task(&mut self, trace: &Trace, task: &Task) {
        let graph = replayed(trace, task);
        let name = graph.map_or_else(|| trace.task_name(task), |_| "");
        let named = self.sums.entry((graph, task.kind)).or_default();
        match named.get_mut(name) {
            Some(tasks) => tasks.add(task),
            None => named.entry(name.to_owned()).or_default().add(task),
        }
    }

    pub(super) fn rows(self) -> Vec<OperationStats> {
        let mut work = 0;
        let mut rows: Vec<(TaskKind, Cow<'_, str>, u64, Durations)> = Vec::new();
        for ((graph, kind), named) in self.sums {
            for (name, tasks) in named {
                let name = graph.map_or(name.into(), |graph| format!("graph {graph}").into());
                let time = tasks.time.durations();
                if is_work(kind) {
                    work += time.total_ns;
                }
                rows.push((kind, name, tasks.count, time));
            }
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
}

/// The calls of one function.
#[derive(Clone, Debug, Default)]
struct Calls {
    time: Histogram,
    errors: u64,
    nested: u64,
}

/// Sums of calls by function.
#[derive(Clone, Debug, Default)]
pub(super) struct Apis {
    sums: Vec<Calls>,
}

impl Apis {
    pub(super) fn take(&mut self, window: &Window<'_>, range: Range) {
        let trace = window.trace;
        self.sums
            .resize_with(trace.functions().len(), Calls::default);
        for call in window.calls().map(|id| trace.call(id)) {
            if !overlaps(range, call.range()) {
                continue;
            }
            let has_code = trace.function(call.function).ret == RetKind::Error;
            let sums = &mut self.sums[call.function.index()];
            sums.time.add(call.end - call.begin);
            sums.errors += u64::from(has_code && call.ret != 0);
            sums.nested += u64::from(call.depth > 0);
        }
    }

    pub(super) fn rows(&mut self, functions: &[Function]) -> Vec<ApiStats> {
        let called = functions.iter().zip(std::mem::take(&mut self.sums));
        let rows = called.filter_map(|(function, calls)| {
            let time = calls.time.durations();
            (time.count > 0).then(|| ApiStats {
                name: function.name.clone(),
                category: function.category.clone(),
                count: time.count,
                errors: calls.errors,
                nested: calls.nested,
                time,
            })
        });
        let mut rows: Vec<ApiStats> = rows.collect();
        rows.sort_by(|a, b| (-a.time.total_ns, &a.name).cmp(&(-b.time.total_ns, &b.name)));
        rows
    }
}
