//! The stalls of waits without times.
//!
//! Between two timed tasks, a stream may have untimed ones. A wait among them ended when the device reached its record: at
//! the end of the work before that record. If that end is not known, the wait has the part of the gap that the usual lengths
//! of the other tasks leave.

use ascend_trace_recording::{StreamId, TaskId, TimeRange, Trace};

use super::schedule::{Schedule, Step, StepKind};
use super::task_role::{TaskRole, takes_time};
use super::usual_durations::Lengths;
use super::{Cause, IDLE_FLOOR_NS, StallBound};
use crate::dependencies::{Dependencies, Node, runs};
use crate::released;
use crate::retention::MOST_BACK;

/// How long a task may be on its way to the device after its call.
pub(super) const IN_FLIGHT_NS: i64 = 10_000;

/// A part of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GapPart {
    /// This task held the stream.
    Held(TimeRange, Cause, TaskId, StallBound),
    /// Nothing is known to have run, and this task came next.
    Idle(TimeRange, TaskId),
    /// Tasks without times ran, for as long as they usually take.
    Worked(TimeRange),
    /// Tasks without times ran, or may have run.
    Unknown(TimeRange),
}

/// When a record was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordReached {
    /// Then, with this error.
    At(i64, i64),
    /// Not known.
    Unknown,
    /// Tasks before it are missing from the trace.
    Missing,
}

/// When a task was done. One without a time that takes none was done with the work before it.
pub(super) fn done(trace: &Trace, id: TaskId) -> Option<i64> {
    let is_known = trace.task(id).time.is_some() || !takes_time(trace, id);
    match reached(trace, id, &mut Vec::new()) {
        RecordReached::At(moment, _) if is_known => Some(moment),
        _ => None,
    }
}

/// The tasks before an untimed record by which its time is derived: marks, and the task before them.
pub(crate) fn behind(trace: &Trace, record: TaskId) -> Vec<TaskId> {
    let mut found = Vec::new();
    reached(trace, record, &mut found);
    found
}

fn reached(trace: &Trace, record: TaskId, looked_at: &mut Vec<TaskId>) -> RecordReached {
    let task = trace.task(record);
    if let Some(time) = task.time {
        return RecordReached::At(time.end, time.error);
    }
    let call = trace.call(task.call);
    let submitted = RecordReached::At(call.end, (call.end - call.begin).max(IN_FLIGHT_NS));
    let tasks = trace.stream_tasks(task.stream);
    let upto = tasks.partition_point(|id| trace.task(*id).sequence < task.sequence);
    let mut expected = task.sequence;
    for id in tasks[..upto].iter().rev().take(MOST_BACK) {
        let before = trace.task(*id);
        if before.sequence.saturating_add(1) < expected {
            return RecordReached::Missing;
        }
        expected = before.sequence;
        looked_at.push(*id);
        match before.time {
            Some(time) if time.end < call.end => return submitted,
            Some(time) => return RecordReached::At(time.end, time.error),
            None if takes_time(trace, *id) => return RecordReached::Unknown,
            None => {}
        }
    }
    match expected {
        0 => submitted,
        _ => RecordReached::Missing,
    }
}

/// A gap before a task, with untimed tasks in it.
pub(super) struct Gap<'a> {
    pub(super) trace: &'a Trace,
    pub(super) dependencies: &'a Dependencies,
    pub(super) lengths: &'a Lengths,
    pub(super) range: TimeRange,
    pub(super) next: TaskId,
}

impl Gap<'_> {
    /// The parts of the gap, which follow each other without a space. `None` where tasks are missing from the trace.
    pub(super) fn parts(&self, stream: StreamId) -> Option<Vec<GapPart>> {
        let tasks = self.untimed(stream)?;
        let has_work = tasks.iter().any(|id| self.cause(*id).is_none());
        let parts = match has_work {
            false => self.with_waits(&tasks),
            true => self.with_work(&tasks),
        };
        Some(parts)
    }

    /// The tasks without times in the gap that take time.
    fn untimed(&self, stream: StreamId) -> Option<Vec<TaskId>> {
        let trace = self.trace;
        let tasks = trace.stream_tasks(stream);
        let mut expected = trace.task(self.next).sequence;
        let upto = tasks.partition_point(|id| trace.task(*id).sequence < expected);
        let mut found = Vec::new();
        for id in tasks[..upto].iter().rev().take(MOST_BACK) {
            let task = trace.task(*id);
            if task.sequence.saturating_add(1) < expected {
                return None;
            }
            expected = task.sequence;
            match task.time {
                Some(time) if time.end > self.range.begin => {}
                Some(_) if TaskRole::of(trace, task) == TaskRole::Mark => {}
                Some(_) => {
                    found.reverse();
                    return Some(found);
                }
                None if takes_time(trace, *id) && runs(trace, *id) => found.push(*id),
                None => {}
            }
        }
        found.reverse();
        (expected == 0).then_some(found)
    }

    /// Why a task holds its stream; `None` for work.
    fn cause(&self, id: TaskId) -> Option<Cause> {
        match TaskRole::of(self.trace, self.trace.task(id)) {
            TaskRole::EventWait => Some(Cause::EventWait),
            TaskRole::SignalWait => Some(Cause::SignalWait),
            TaskRole::Callback => Some(Cause::Callback),
            TaskRole::Work | TaskRole::Mark => None,
        }
    }

    /// When the record of a wait was reached; a function on the host has none.
    fn released(&self, id: TaskId) -> RecordReached {
        if self.cause(id) == Some(Cause::Callback) {
            return RecordReached::Unknown;
        }
        let record = released::tasks(self.trace, self.dependencies, Node::Task(id)).next();
        record.map_or(RecordReached::Missing, |record| {
            reached(self.trace, record, &mut Vec::new())
        })
    }

    fn bound(&self, error: i64) -> StallBound {
        StallBound {
            next: self.next,
            error,
        }
    }

    /// Where nothing but waits, and functions on the host, ran.
    fn with_waits(&self, tasks: &[TaskId]) -> Vec<GapPart> {
        let mut parts = Vec::new();
        let (mut at, end) = (self.range.begin, self.range.end);
        let mut unknown = None;
        for &id in tasks {
            let (Some(cause), submitted) = (self.cause(id), self.submitted(id)) else {
                continue;
            };
            match self.released(id) {
                _ if unknown.is_some() => return self.with_work(tasks),
                RecordReached::Unknown => unknown = Some((id, cause)),
                RecordReached::Missing => return vec![GapPart::Unknown(self.range)],
                RecordReached::At(moment, error) => {
                    let until = moment.min(end);
                    let begin = submitted.max(at);
                    if until > begin {
                        parts.push(GapPart::Idle(TimeRange::new(at, begin), id));
                        let held = TimeRange::new(begin, until);
                        parts.push(GapPart::Held(held, cause, id, self.bound(error)));
                        at = until;
                    }
                }
            }
        }
        let rest = TimeRange::new(at, end);
        // If the next task was in the queue, the wait held the stream.
        match unknown {
            None => parts.push(GapPart::Idle(rest, self.next)),
            Some((id, cause)) => {
                let begin = rest.clamp(self.submitted(id));
                let came = self.submitted(self.next).saturating_add(IN_FLIGHT_NS);
                let open = came.saturating_sub(begin).max(0);
                let held = TimeRange::new(begin, end);
                if open < held.duration() {
                    parts.push(GapPart::Idle(TimeRange::new(at, begin), id));
                    parts.push(GapPart::Held(held, cause, id, self.bound(open)));
                } else {
                    parts.push(GapPart::Unknown(rest));
                }
            }
        }
        parts
    }

    fn submitted(&self, id: TaskId) -> i64 {
        self.trace.call(self.trace.task(id).call).begin
    }

    /// Where work ran as well: the gap is this work, the waits, and the time before a submission.
    fn with_work(&self, tasks: &[TaskId]) -> Vec<GapPart> {
        let Some(steps) = self.steps(tasks) else {
            return vec![GapPart::Unknown(self.range)];
        };
        let schedule = Schedule {
            range: self.range,
            came: self.submitted(self.next),
            steps,
        };
        let parts = schedule.parts(self.next);
        parts.unwrap_or_else(|| self.worked(&schedule))
    }

    /// Where no wait certainly held the stream. Which of the tasks the rest came before is not known.
    fn worked(&self, schedule: &Schedule) -> Vec<GapPart> {
        let (count, length, error) = schedule.work();
        let stream = self.trace.task(self.next).stream;
        let switch = self.trace.between(stream).unwrap_or_default().switch_ns;
        let length = length.saturating_add(switch.saturating_mul(count.saturating_sub(1)));
        let rest = self.range.duration().saturating_sub(length);
        if rest <= error.max(IDLE_FLOOR_NS) {
            return vec![GapPart::Worked(self.range)];
        }
        let (worked, rest) = self.range.split_at(self.range.begin.saturating_add(length));
        let rest = match count == schedule.steps.len() as i64 {
            true => GapPart::Idle(rest, self.next),
            false => GapPart::Unknown(rest),
        };
        vec![GapPart::Worked(worked), rest]
    }

    fn steps(&self, tasks: &[TaskId]) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        for &id in tasks {
            let submitted = self.submitted(id);
            let kind = match self.cause(id) {
                Some(cause) => StepKind::Wait(cause, self.released(id)),
                None => {
                    let (length, error) = self.lengths.usual(self.trace, id)?;
                    StepKind::Work(length, error)
                }
            };
            steps.push(Step {
                id,
                submitted,
                kind,
            });
        }
        Some(steps)
    }
}
