//! Sums by operation and by function, and the rows that they make.

use std::borrow::Cow;

use ascend_trace_format::api::{RetKind, TaskKind};
use ascend_trace_recording::{Function, ProcessId, StreamId, Task, TaskId, TimeRange, Trace};

use super::durations::TaskDurations;
use super::histogram::Histogram;
use super::{ApiStats, OperationStats};
use crate::Window;
use crate::dependencies::runs;
use crate::estimate::{
    ClassKey, Classes, Estimate, Location, Measured, RunClasses, Tallies, Tally, Totals,
};

pub(super) type Range = Option<TimeRange>;

/// Whether an interval has a part in the range.
pub(super) fn overlaps(range: Range, interval: TimeRange) -> bool {
    range.is_some_and(|range| range.overlaps(interval))
}

/// Waits and records occupy a stream but are not work.
fn is_work(kind: TaskKind) -> bool {
    !matches!(kind, TaskKind::Wait | TaskKind::Record)
}

pub(super) fn is_copy(kind: TaskKind) -> bool {
    matches!(kind, TaskKind::Memcpy | TaskKind::Memset)
}

/// All replays of a graph are one operation, for any names of their calls.
pub(crate) fn replayed(trace: &Trace, task: &Task) -> Option<u32> {
    let graph = trace.call(task.call).graph?;
    (graph.index > 0 && trace.runs(task)).then_some(graph.serial)
}

/// Name of a task's operation.
pub(crate) fn operation<'t>(trace: &'t Trace, task: &Task) -> Cow<'t, str> {
    match replayed(trace, task) {
        Some(graph) => format!("graph {graph}").into(),
        None => trace.task_name(task).into(),
    }
}

/// The tasks of one operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    count: u64,
    /// Of those that run something.
    ran: u64,
    timed: u64,
    total: i64,
    /// Durations of which less than a half is open.
    clear: Histogram,
}

impl Tasks {
    pub(super) fn add(&mut self, measured: Option<&Measured>, ran: bool) {
        self.count += 1;
        self.ran += u64::from(ran);
        let Some(measured) = measured else { return };
        self.timed += 1;
        self.total = self.total.saturating_add(measured.length);
        if !measured.is_unclear() {
            self.clear.add(measured.length);
        }
    }

    /// `percentiles` are those of all tasks, where those with times are no fair sample.
    pub(super) fn durations(
        self,
        total: (Estimate, u64),
        percentiles: Option<[i64; 3]>,
    ) -> TaskDurations {
        let mut clear = self.clear.durations();
        if let Some([p50, p90, p99]) = percentiles {
            (clear.p50_ns, clear.p90_ns, clear.p99_ns) = (p50, p90, p99);
        }
        TaskDurations::of((self.timed, self.total), &clear, total, self.ran)
    }
}

/// Sums of tasks by operation, and by class for each stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Operations {
    classes: Classes,
    runs: RunClasses,
    rows: Vec<Tasks>,
    lanes: Vec<Tallies>,
    /// Made at the end.
    totals: Totals,
}

impl Operations {
    /// Takes in a task of a stream, and how much of its duration counts for the stream.
    pub(super) fn add(&mut self, trace: &Trace, id: TaskId, counted: i64) {
        let task = trace.task(id);
        let key = self.classes.key(trace, task);
        let operation = key.operation as usize;
        if self.rows.len() <= operation {
            self.rows.resize_with(operation + 1, Tasks::default);
        }
        let ran = runs(trace, id);
        let measured = task.time.as_ref().map(Measured::of);
        self.rows[operation].add(measured.as_ref(), ran);
        if ran {
            let stream = task.stream.index();
            if self.lanes.len() <= stream {
                self.lanes.resize_with(stream + 1, Tallies::default);
            }
            let tally = self.lanes[stream].of(key);
            tally.add(measured.as_ref(), counted);
            if let Some(run) = self.runs.take(trace, id, key) {
                tally.add_run(&run);
            }
        }
    }

    /// Makes the totals, after the last task.
    pub(super) fn close(&mut self) {
        self.totals = Totals::of(&self.classes, self.lanes.iter());
    }

    /// For how long a stream worked, or only copied, or did not copy; and how many of its tasks nothing is known of.
    pub(super) fn worked(&self, stream: StreamId, copies: Option<bool>) -> (Estimate, u64) {
        self.sum(stream, copies, Tally::counted)
    }

    /// For how long the tasks of a stream without a time worked at most, as far as anything is known of them.
    pub(super) fn untimed(&self, stream: StreamId, copies: Option<bool>) -> f64 {
        self.sum(stream, copies, Tally::untimed).0.high
    }

    fn sum(
        &self,
        stream: StreamId,
        copies: Option<bool>,
        of: impl Fn(&Tally, Option<&Location>) -> Option<Estimate>,
    ) -> (Estimate, u64) {
        let Some(lane) = self.lanes.get(stream.index()) else {
            return Default::default();
        };
        let is_wanted = |key: ClassKey| {
            let is_own = copies.is_none_or(|it| it == is_copy(self.classes.kind(key)));
            is_own && self.classes.is_work(key)
        };
        self.totals.sum(lane, is_wanted, of)
    }

    /// How long the replays of a graph took.
    pub(super) fn replays(&self, process: ProcessId, graph: u32) -> (Estimate, u64) {
        let key = self.classes.replays(process, graph);
        let known = key.and_then(|key| self.totals.class(key));
        known.unwrap_or_default()
    }

    pub(super) fn rows(self) -> Vec<OperationStats> {
        let totals = self.totals.operations(self.rows.len());
        let known = self.classes.operations().iter();
        let percentiles = (0..).map(|number| self.totals.percentiles(number));
        let rows = known
            .zip(self.rows)
            .zip(totals.into_iter().zip(percentiles));
        let rows = rows.map(
            |((operation, tasks), (total, percentiles))| OperationStats {
                name: match operation.graph {
                    Some(graph) => format!("graph {graph}"),
                    None => operation.name.clone(),
                },
                kind: operation.kind.name(),
                count: tasks.count,
                time: tasks.durations(total, percentiles),
                share: is_work(operation.kind).then_some(0.0),
            },
        );
        let mut rows: Vec<OperationStats> = rows.collect();
        rows.sort_by(|a, b| {
            let longest = (-a.time.estimate_ns()).cmp(&-b.time.estimate_ns());
            longest.then_with(|| (&a.name, a.kind).cmp(&(&b.name, b.kind)))
        });
        let work = rows.iter().filter(|row| row.share.is_some());
        let work: i64 = work.map(|row| row.time.estimate_ns()).sum();
        for row in &mut rows {
            let share = |estimate: i64| estimate as f64 / work as f64;
            let known = row.share.and(row.time.estimated_total_ns);
            row.share = known.filter(|_| work > 0).map(share);
        }
        rows
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
