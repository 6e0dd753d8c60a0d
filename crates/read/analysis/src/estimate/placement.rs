//! Where tasks without a time probably ran.
//!
//! Tasks without a time that follow each other on a stream are a *row*. The row ran after the task with a time before it, and before
//! the next one, or before the end of a call that waited for it. Each of its tasks took the usual time of its class
//! ([`RowRoom`]). Where the next task waited in the queue, the stream had no pause, and the rest of the time lies evenly
//! between the tasks. A row with a task of unknown duration has no places: neither would those after it.
//!
//! Tasks of a run are a separate row, between the begin and the end of the run.
//!
//! A recording is read in windows. A row is closed when all waits that may end it are known: when the window reaches its end. So the
//! places do not depend on the windows.

use std::collections::VecDeque;
use std::sync::Arc;

use ascend_trace_recording::{Placement, StreamId, Task, TaskId, TaskRun, TimeRange, Trace};

use super::{Estimate, Estimates, RowRoom, RowTask, scaled};
use crate::dependencies::{is_pending, runs};
use crate::window::{AnalysisNeeds, Fold, Window};
use crate::{Dependencies, Edge, EdgeKind, Node, TaskRole};

/// Tasks of a stream that keep a place, so that memory has a bound. Later ones have none.
const MOST: usize = 1 << 20;

/// Where the tasks of a recording that have no time probably ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedTasks {
    /// By stream: the tasks by their number on it.
    streams: Vec<Vec<(u32, Placement)>>,
}

impl PlacedTasks {
    /// The place of a task of the recording.
    pub fn get(&self, task: &Task) -> Option<Placement> {
        let stream = self.streams.get(task.stream.index())?;
        let found = stream.binary_search_by_key(&task.sequence, |it| it.0);
        found.ok().map(|at| stream[at].1)
    }

    pub fn is_empty(&self) -> bool {
        self.streams.iter().all(Vec::is_empty)
    }

    /// The number of tasks with a place.
    pub fn len(&self) -> usize {
        self.streams.iter().map(Vec::len).sum()
    }

    fn add(&mut self, stream: usize, (sequence, placement): (u32, Placement)) {
        if self.streams.len() <= stream {
            self.streams.resize_with(stream + 1, Vec::new);
        }
        let stream = &mut self.streams[stream];
        if stream.len() < MOST {
            stream.push((sequence, placement));
        }
    }
}

/// Places the tasks of a trace that have no time, where the trace shows enough.
pub fn place_untimed(
    trace: &Trace,
    dependencies: &Dependencies,
    estimates: &Estimates,
) -> Vec<(TaskId, Placement)> {
    let mut placed = Vec::new();
    let mut waits = Waits::default();
    dependencies
        .edges()
        .iter()
        .for_each(|it| waits.add(trace, it));
    for stream in 0..trace.streams().len() as u32 {
        let mut rows = StreamRows::default();
        let tasks = trace.stream_tasks(StreamId(stream));
        for id in tasks.iter().copied() {
            rows.push(trace, id, estimates);
        }
        rows.take_waits(waits.of(stream as usize));
        rows.close_until(i64::MAX, &mut |(sequence, placement)| {
            let at = tasks.partition_point(|id| trace.task(*id).sequence < sequence);
            placed.extend(tasks.get(at).map(|id| (*id, placement)));
        });
    }
    placed
}

/// Places the tasks of a recording that have no time, by estimates of all of it.
#[derive(Debug)]
pub struct UntimedPlacer {
    estimates: Arc<Estimates>,
    streams: Vec<StreamRows>,
    placed: PlacedTasks,
}

impl UntimedPlacer {
    pub fn new(estimates: Arc<Estimates>) -> Self {
        Self {
            estimates,
            streams: Vec::new(),
            placed: PlacedTasks::default(),
        }
    }
}

impl Fold for UntimedPlacer {
    type Answer = PlacedTasks;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Dependencies;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let until = match window.part.is_last {
            true => i64::MAX,
            false => window.part.until,
        };
        let mut waits = Waits::default();
        let edges = window.dependencies.edges().iter();
        for edge in edges.filter(|it| window.owns_edge(it)) {
            waits.add(trace, edge);
        }
        let number = trace.streams().len();
        self.streams.resize_with(number, StreamRows::default);
        for (stream, rows) in self.streams.iter_mut().enumerate() {
            for id in window.stream_tasks(StreamId(stream as u32)) {
                rows.push(trace, id, &self.estimates);
            }
            rows.take_waits(waits.of(stream));
            let placed = &mut self.placed;
            rows.close_until(until, &mut |it| placed.add(stream, it));
        }
    }

    fn finish(self) -> PlacedTasks {
        self.placed
    }
}

/// Ends of calls that waited for tasks: by stream, with the number of the task on it.
#[derive(Debug, Default)]
struct Waits(Vec<Vec<(u32, i64)>>);

impl Waits {
    fn add(&mut self, trace: &Trace, edge: &Edge) {
        if let (EdgeKind::TaskToSync, Node::Task(task), Node::Call(call)) =
            (edge.kind, edge.from, edge.to)
        {
            let task = trace.task(task);
            let stream = task.stream.index();
            if self.0.len() <= stream {
                self.0.resize_with(stream + 1, Vec::new);
            }
            self.0[stream].push((task.sequence, trace.call(call).end));
        }
    }

    fn of(&self, stream: usize) -> &[(u32, i64)] {
        self.0.get(stream).map_or(&[], Vec::as_slice)
    }
}

/// A bound of a row, and by how much it may be off.
#[derive(Clone, Copy, Debug)]
struct Bound {
    at: i64,
    error: i64,
}

/// The end of the first row of a queue.
#[derive(Clone, Copy, Debug)]
enum RowEnd {
    /// A call that waited for the row returned at this time.
    Call(i64),
    /// The next task has a time: its begin, its end and its launch.
    Timed(Bound, Bound, i64),
    /// The next task begins a run: the begin of the run, and the launch of the task.
    BeforeRun(Bound, i64),
    /// It is a run, with this begin and end.
    Run(Bound, Bound),
    /// Nothing is known of the stream from there on.
    Unknown,
}

/// A task on its stream.
#[derive(Clone, Copy, Debug)]
struct QueuedTask {
    sequence: u32,
    launched: i64,
    state: TaskState,
    /// When the first call that waited for it returned.
    waited_for: Option<i64>,
    /// The run that begins with it.
    run: Option<RunBounds>,
}

/// The number of tasks of a run, its begin and its end.
#[derive(Clone, Copy, Debug)]
struct RunBounds {
    tasks: usize,
    begin: Bound,
    end: Bound,
}

impl RunBounds {
    fn of(run: &TaskRun) -> Self {
        let bound = |at| Bound {
            at,
            error: run.time.error,
        };
        Self {
            tasks: run.tasks as usize,
            begin: bound(run.time.begin),
            end: bound(run.time.end),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum TaskState {
    /// With its begin and its end.
    Timed(Bound, Bound),
    /// `None` where its duration is not known.
    Untimed {
        usual: Option<Estimate>,
        is_work: bool,
    },
    /// Nothing is known of the stream from here on.
    Unknown,
}

/// The tasks of a stream that have no place yet.
#[derive(Debug, Default)]
struct StreamRows {
    queue: VecDeque<QueuedTask>,
    /// The end of the task before the queue, where it is known.
    floor: Option<Bound>,
    /// The number of the next task, if none is missing.
    expected: Option<u32>,
}

impl StreamRows {
    fn push(&mut self, trace: &Trace, id: TaskId, estimates: &Estimates) {
        if !runs(trace, id) {
            return;
        }
        let task = trace.task(id);
        let mut queued = QueuedTask {
            sequence: task.sequence,
            launched: trace.call(task.call).begin,
            state: TaskState::Unknown,
            waited_for: None,
            run: None,
        };
        // Tasks that are missing from the trace ran in between.
        if self.expected.is_some_and(|next| next != task.sequence) || is_pending(trace, id) {
            self.queue.push_back(queued);
        }
        self.expected = Some(task.sequence.saturating_add(1));
        if let Some(time) = task.time {
            let bound = |at| Bound {
                at,
                error: time.error,
            };
            queued.state = TaskState::Timed(bound(time.begin), bound(time.end));
        } else if !is_pending(trace, id) {
            let role = TaskRole::of(trace, task);
            queued.run = trace.run(id).as_ref().map(RunBounds::of);
            queued.state = TaskState::Untimed {
                usual: match role {
                    TaskRole::Mark => Some(Estimate::default()),
                    TaskRole::Work => estimates.usual(trace, task),
                    _ => None,
                },
                is_work: role == TaskRole::Work,
            };
        } else {
            return;
        }
        self.queue.push_back(queued);
    }

    fn take_waits(&mut self, waits: &[(u32, i64)]) {
        for (sequence, returned) in waits {
            let first = self.queue.partition_point(|it| it.sequence < *sequence);
            let tasks = self.queue.range_mut(first..);
            for task in tasks.take_while(|it| it.sequence == *sequence) {
                let known = task.waited_for.unwrap_or(i64::MAX);
                task.waited_for = Some(known.min(*returned));
            }
        }
    }

    /// Closes the rows that ended before this time, when all waits that returned before it are known.
    fn close_until(&mut self, until: i64, place: &mut impl FnMut((u32, Placement))) {
        while let Some((length, end)) = self.first_row(until) {
            let row: Vec<_> = self.queue.drain(..length).collect();
            place_row(&row, self.floor, end, place);
            self.floor = match end {
                // When the call returned, the tasks that it waited for were done.
                RowEnd::Call(at) => Some(Bound { at, error: 0 }),
                RowEnd::Timed(_, end, _) | RowEnd::Run(_, end) => Some(end),
                RowEnd::BeforeRun(..) => self.floor,
                RowEnd::Unknown => None,
            };
            if matches!(end, RowEnd::Timed(..) | RowEnd::Unknown) {
                self.queue.pop_front();
            }
        }
    }

    /// The number of tasks in the first row that is complete, and its end.
    fn first_row(&self, until: i64) -> Option<(usize, RowEnd)> {
        for (at, task) in self.queue.iter().enumerate() {
            if let Some(run) = task.run {
                if run.end.at > until {
                    return None;
                }
                let is_whole = self.has_all_of(at, run.tasks);
                match at {
                    _ if !is_whole => {}
                    0 => return Some((run.tasks, RowEnd::Run(run.begin, run.end))),
                    _ => return Some((at, RowEnd::BeforeRun(run.begin, task.launched))),
                }
            }
            match task.state {
                TaskState::Timed(begin, end) => {
                    let end = RowEnd::Timed(begin, end, task.launched);
                    return (begin.at <= until).then_some((at, end));
                }
                TaskState::Unknown => return Some((at, RowEnd::Unknown)),
                TaskState::Untimed { .. } => {}
            }
            let returned = task.waited_for.filter(|it| *it <= until);
            if let Some(returned) = returned.filter(|it| !self.begins_before(*it, at + 1)) {
                return Some((at + 1, RowEnd::Call(returned)));
            }
        }
        None
    }

    /// Whether the queue has all tasks of a run, which follow each other.
    fn has_all_of(&self, first: usize, tasks: usize) -> bool {
        let Some(last) = first
            .checked_add(tasks)
            .filter(|it| *it <= self.queue.len())
        else {
            return false;
        };
        let mut own = self.queue.range(first..last);
        own.all(|it| matches!(it.state, TaskState::Untimed { .. }))
    }

    /// Whether the next task with a time began before this time, or the stream is unknown from before it on.
    fn begins_before(&self, time: i64, from: usize) -> bool {
        let mut later = self.queue.range(from..);
        let next =
            later.find(|it| it.launched > time || !matches!(it.state, TaskState::Untimed { .. }));
        next.is_some_and(|it| match it.state {
            TaskState::Timed(begin, _) => begin.at < time,
            TaskState::Unknown => it.launched < time,
            TaskState::Untimed { .. } => false,
        })
    }
}

/// Places the work of a row after the end of the task before it, if that is known.
fn place_row(
    row: &[QueuedTask],
    floor: Option<Bound>,
    end: RowEnd,
    place: &mut impl FnMut((u32, Placement)),
) {
    let (floor, until, launched_next) = match end {
        RowEnd::Call(at) => (floor, Bound { at, error: 0 }, None),
        RowEnd::Timed(begin, _, launched) | RowEnd::BeforeRun(begin, launched) => {
            (floor, begin, Some(launched))
        }
        // It ends with its last task.
        RowEnd::Run(begin, end) => (Some(begin), end, None),
        RowEnd::Unknown => return,
    };
    let Some(usual) = row.iter().map(|it| it.usual()).collect::<Option<Vec<_>>>() else {
        return;
    };
    let Some(first) = row.first() else {
        return;
    };
    let from = floor.map_or(first.launched, |floor| floor.at.max(first.launched));
    if from > until.at {
        return;
    }
    let room = TimeRange::new(from, until.at);
    let outer = until.error.max(floor.map_or(0, |floor| floor.error));
    let mut spans = spans(row, &usual, room, launched_next);
    if matches!(end, RowEnd::Run(..)) {
        spread_over(&mut spans, room.end);
    }
    let limits = limits(row, &usual, room);
    for ((task, span), limit) in row.iter().zip(spans).zip(limits) {
        if !task.is_work() {
            continue;
        }
        let open = (span.begin - limit.begin).max(limit.end - span.end).max(0);
        let placement = Placement {
            range: span,
            error: open.saturating_add(outer),
        };
        place((task.sequence, placement));
    }
}

impl QueuedTask {
    fn usual(&self) -> Option<Estimate> {
        match self.state {
            TaskState::Untimed { usual, .. } => usual,
            TaskState::Timed(..) | TaskState::Unknown => None,
        }
    }

    fn is_work(&self) -> bool {
        matches!(self.state, TaskState::Untimed { is_work: true, .. })
    }
}

/// The times of a row's tasks between two limits, if each took its usual time.
fn spans(
    row: &[QueuedTask],
    usual: &[Estimate],
    room: TimeRange,
    launched_next: Option<i64>,
) -> Vec<TimeRange> {
    let usual = usual.iter().map(|it| it.value as i64);
    let mut cursor = RowRoom::new(room, usual.clone().sum());
    let mut spans: Vec<TimeRange> = Vec::with_capacity(row.len());
    // The first task since the stream last waited for the host.
    let mut unpaused = 0;
    for (place, (task, usual)) in row.iter().zip(usual).enumerate() {
        if task.launched > cursor.reached() {
            unpaused = place;
        }
        spans.push(cursor.take(RowTask {
            launched: task.launched,
            usual,
            released: None,
        }));
    }
    let reached = cursor.reached();
    let rest = room.end - reached;
    if rest > 0 && launched_next.is_some_and(|launched| launched < reached) {
        let later = &mut spans[unpaused..];
        let gaps = later.len() as i64 + 1;
        for (span, number) in later.iter_mut().zip(1..) {
            let shift = rest / gaps * number;
            *span = TimeRange::new(span.begin + shift, span.end + shift);
        }
    }
    spans
}

/// Moves the tasks of a run apart evenly, so that the last one ends with it.
fn spread_over(spans: &mut [TimeRange], end: i64) {
    let rest = spans.last().map_or(0, |last| end - last.end);
    let gaps = (spans.len() as i64 - 1).max(1);
    for (span, number) in spans.iter_mut().zip(0..) {
        let shift = scaled(rest, number, gaps);
        *span = TimeRange::new(span.begin + shift, span.end + shift);
    }
}

/// The earliest begin and the latest end of each task, if none took less than its usual time at the least.
fn limits(row: &[QueuedTask], usual: &[Estimate], room: TimeRange) -> Vec<TimeRange> {
    let mut limits = Vec::with_capacity(row.len());
    let mut earliest = room.begin;
    for (task, usual) in row.iter().zip(usual) {
        let begin = earliest.max(task.launched).min(room.end);
        limits.push(TimeRange::new(begin, room.end));
        earliest = begin + usual.low as i64;
    }
    let mut latest = room.end;
    for (limit, usual) in limits.iter_mut().zip(usual).rev() {
        limit.end = latest.max(limit.begin);
        latest -= usual.low as i64;
    }
    limits
}
