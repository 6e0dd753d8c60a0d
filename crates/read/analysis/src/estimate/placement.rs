//! Where tasks without a time probably ran.
//!
//! Tasks without a time that follow each other on a stream are a *row*. The row ran after the task with a time before it, and before
//! the next one, or before the end of a call that waited for it. Each of its tasks ran after its launch and took the usual time of
//! its class. Where the next task waited in the queue, the stream had no pause, and the rest of the time lies evenly
//! between the tasks. A row with a task of unknown duration has no places: neither would those after it.

use ascend_trace_recording::{Placement, StreamId, TaskId, TimeRange, Trace};

use super::{Estimate, Estimates};
use crate::dependencies::{is_pending, runs};
use crate::{Dependencies, EdgeKind, Node, TaskRole};

/// Places the tasks of a trace that have no time, where the trace shows enough.
pub fn place_untimed(
    trace: &Trace,
    dependencies: &Dependencies,
    estimates: &Estimates,
) -> Vec<(TaskId, Placement)> {
    let mut placed = Vec::new();
    for stream in 0..trace.streams().len() as u32 {
        Rows {
            trace,
            dependencies,
            estimates,
            row: Vec::new(),
            floor: None,
            placed: &mut placed,
        }
        .of_stream(StreamId(stream));
    }
    placed
}

/// A bound of a row, and by how much it may be off.
#[derive(Clone, Copy, Debug)]
struct Bound {
    at: i64,
    error: i64,
}

/// The end of a row.
#[derive(Clone, Copy, Debug)]
enum RowEnd {
    /// A task with a time began, and was launched at this time.
    Task { begin: Bound, launched: i64 },
    /// A call that waited for the row returned.
    Call(i64),
}

/// A task of a row.
#[derive(Clone, Copy, Debug)]
struct RowTask {
    id: TaskId,
    launched: i64,
    /// `None` where its duration is not known.
    usual: Option<Estimate>,
}

struct Rows<'a> {
    trace: &'a Trace,
    dependencies: &'a Dependencies,
    estimates: &'a Estimates,
    row: Vec<RowTask>,
    /// The end of the task before the row, where it has a time.
    floor: Option<Bound>,
    placed: &'a mut Vec<(TaskId, Placement)>,
}

impl Rows<'_> {
    fn of_stream(&mut self, stream: StreamId) {
        let trace = self.trace;
        let mut expected = None;
        for id in trace.stream_tasks(stream).iter().copied() {
            if !runs(trace, id) {
                continue;
            }
            let task = trace.task(id);
            // Tasks that are missing from the trace ran in between.
            if expected.is_some_and(|next| next != task.sequence) || is_pending(trace, id) {
                self.forget();
            }
            expected = Some(task.sequence.saturating_add(1));
            let launched = trace.call(task.call).begin;
            if let Some(time) = task.time {
                let begin = Bound {
                    at: time.begin,
                    error: time.error,
                };
                self.close(RowEnd::Task { begin, launched });
                self.floor = Some(Bound {
                    at: time.end,
                    error: time.error,
                });
            } else if !is_pending(trace, id) {
                let usual = self.usual(id);
                self.row.push(RowTask {
                    id,
                    launched,
                    usual,
                });
                if let Some(returned) = self.waited_for(id) {
                    self.close(RowEnd::Call(returned));
                }
            }
        }
    }

    fn usual(&self, id: TaskId) -> Option<Estimate> {
        let task = self.trace.task(id);
        match TaskRole::of(self.trace, task) {
            TaskRole::Mark => Some(Estimate::default()),
            TaskRole::Work => self.estimates.usual(self.trace, task),
            _ => None,
        }
    }

    /// When the first call that waited for a task returned.
    fn waited_for(&self, id: TaskId) -> Option<i64> {
        let edges = self.dependencies.stored_outgoing(Node::Task(id));
        let calls = edges.filter_map(|(_, edge)| match (edge.kind, edge.to) {
            (EdgeKind::TaskToSync, Node::Call(call)) => Some(self.trace.call(call).end),
            _ => None,
        });
        calls.min()
    }

    fn forget(&mut self) {
        self.row.clear();
        self.floor = None;
    }

    fn close(&mut self, end: RowEnd) {
        let row = std::mem::take(&mut self.row);
        let floor = self.floor;
        let (until, error) = match end {
            RowEnd::Task { begin, .. } => (begin.at, begin.error),
            RowEnd::Call(returned) => (returned, 0),
        };
        // When the call returned, the tasks that it waited for were done.
        self.floor = Some(Bound {
            at: until,
            error: 0,
        });
        let Some(usual) = row.iter().map(|it| it.usual).collect::<Option<Vec<_>>>() else {
            return;
        };
        let Some(first) = row.first() else {
            return;
        };
        let from = floor.map_or(first.launched, |floor| floor.at.max(first.launched));
        if from > until {
            return;
        }
        let launched_next = match end {
            RowEnd::Task { launched, .. } => Some(launched),
            RowEnd::Call(_) => None,
        };
        let outer = error.max(floor.map_or(0, |floor| floor.error));
        let spans = spans(&row, &usual, TimeRange::new(from, until), launched_next);
        let limits = limits(&row, &usual, TimeRange::new(from, until));
        for ((task, span), limit) in row.iter().zip(spans).zip(limits) {
            let trace = self.trace;
            if TaskRole::of(trace, trace.task(task.id)) != TaskRole::Work {
                continue;
            }
            let open = (span.begin - limit.begin).max(limit.end - span.end).max(0);
            let placement = Placement {
                range: span,
                error: open.saturating_add(outer),
            };
            self.placed.push((task.id, placement));
        }
    }
}

/// The times of a row's tasks between two limits, if each took its usual time.
fn spans(
    row: &[RowTask],
    usual: &[Estimate],
    room: TimeRange,
    launched_next: Option<i64>,
) -> Vec<TimeRange> {
    let needed: f64 = usual.iter().map(|it| it.value).sum();
    let part = (room.duration() as f64 / needed.max(1.0)).min(1.0);
    let mut spans: Vec<TimeRange> = Vec::with_capacity(row.len());
    let mut reached = room.begin;
    // The first task since the stream last waited for the host.
    let mut unpaused = 0;
    for (place, (task, usual)) in row.iter().zip(usual).enumerate() {
        let length = (usual.value * part) as i64;
        if task.launched > reached {
            unpaused = place;
        }
        let begin = reached.max(task.launched).min(room.end - length);
        reached = begin + length;
        spans.push(TimeRange::new(begin, reached));
    }
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

/// The earliest begin and the latest end of each task, if none took less than its usual time at the least.
fn limits(row: &[RowTask], usual: &[Estimate], room: TimeRange) -> Vec<TimeRange> {
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
