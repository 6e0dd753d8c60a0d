//! Stalls of a stream: waits at its head, and gaps between its tasks.

use std::collections::HashMap;

use ascend_trace_recording::{StreamId, TaskGap, TaskId, TaskTime, TimeRange, Trace};

use super::gap_cause::{arrived, judge};
use super::host_stalls::HostStalls;
use super::stream_lifetimes::Lifetimes;
use super::switches::Switches;
use super::task_role::{TaskRole, held_stream, takes_time};
use super::untimed_gap::{Gap, GapPart};
use super::usual_durations::Lengths;
use super::{Cause, IDLE_FLOOR_NS, Lane, Stall, StallBound};
use crate::dependencies::{Dependencies, Node, is_pending};

/// Inputs of a stream's stalls.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) trace: &'a Trace,
    pub(super) dependencies: &'a Dependencies,
    pub(super) hosts: &'a HostStalls,
    pub(super) lives: &'a Lifetimes,
}

/// The stalls of one stream, and where the search for more stands.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamStalls {
    pub(super) stalls: Vec<Stall>,
    pub(super) reached: StreamState,
    /// From when on the time of a piece of work is its own. Mapped times can put its begin a little before the
    /// end of the one before it.
    late: HashMap<TaskId, i64>,
    next: usize,
}

/// The part of a gap that the tool's event records took, and the part that the device takes without them; the first is
/// empty where more than that happened.
fn split(gap: TimeRange, between: TaskGap) -> (TimeRange, TimeRange) {
    let most = between
        .records_ns
        .saturating_add(between.switch_ns)
        .saturating_add(IDLE_FLOOR_NS);
    let is_explained = between.records_ns > 0 && gap.duration() <= most;
    let usual = match is_explained {
        true => between.switch_ns,
        false => gap.duration(),
    };
    gap.split_at(gap.end.saturating_sub(usual).max(gap.begin))
}

/// The timing with which the tool adds no events to tasks.
const HARDWARE: &str = "hardware";

/// State of a stream up to one of its tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamState {
    /// The time in which the stream is accounted for: all of it is busy or in a stall.
    pub(super) life: Option<TimeRange>,
    /// Sequence of the last task that was looked at.
    sequence: Option<u32>,
    /// Since the end of the last timed task: something that takes device time but has no times
    /// ran, or tasks are missing from the trace.
    is_blind: bool,
    /// The last timed task ran a function of the program on the host.
    is_behind_callback: bool,
    /// The stream has had such tasks: from then on lengths are noted.
    has_untimed: bool,
    lengths: Lengths,
    switches: Switches,
}

impl StreamStalls {
    /// Continues from the state before the task at a place of the stream.
    pub(super) fn after(reached: StreamState, next: usize) -> Self {
        Self {
            reached,
            next,
            ..Self::default()
        }
    }

    /// Follows the stream's tasks, up to one with a time that may still arrive unless all is
    /// `finished`.
    pub(super) fn advance(&mut self, sources: Sources<'_>, stream: StreamId, finished: bool) {
        self.advance_to(sources, stream, usize::MAX, finished);
    }

    /// The same for the tasks before a place of the stream.
    pub(super) fn advance_to(
        &mut self,
        sources: Sources<'_>,
        stream: StreamId,
        end: usize,
        finished: bool,
    ) {
        let trace = sources.trace;
        let tasks = trace.stream_tasks(stream);
        let tasks = &tasks[..end.min(tasks.len())];
        while let Some(&id) = tasks.get(self.next) {
            if is_pending(trace, id) && !finished {
                return;
            }
            self.next += 1;
            self.take(sources, stream, id);
        }
    }

    /// Goes on to the next task.
    pub(super) fn take(&mut self, sources: Sources<'_>, stream: StreamId, id: TaskId) {
        let trace = sources.trace;
        self.count(sources, stream, id);
        match trace.task(id).time {
            Some(time) => self.timed(sources, stream, id, time),
            None if takes_time(trace, id) => {
                self.reached.is_blind = true;
                self.reached.has_untimed = true;
            }
            None => {}
        }
    }

    /// Notices tasks that are not in the trace. One that does not run has the sequence of the next
    /// that does.
    fn count(&mut self, sources: Sources<'_>, stream: StreamId, id: TaskId) {
        let trace = sources.trace;
        let task = trace.task(id);
        let expected = match self.reached.sequence {
            Some(before) => before.saturating_add(1),
            // The trace has all of a stream that it has from its creation, unless the recording was paused there.
            None => {
                let submitted = trace.call(task.call).begin;
                let made = sources.lives.begin(trace, stream, submitted);
                made.map_or(task.sequence, |_| 0)
            }
        };
        self.reached.is_blind |= task.sequence > expected;
        self.reached.sequence = Some(task.sequence);
    }

    fn timed(&mut self, sources: Sources<'_>, stream: StreamId, id: TaskId, time: TaskTime) {
        let trace = sources.trace;
        let class = TaskRole::of(trace, trace.task(id));
        let held = || held_stream(trace, sources.dependencies, id);
        let cause = match class {
            TaskRole::Mark => return,
            TaskRole::EventWait if held() => Some(Cause::EventWait),
            TaskRole::SignalWait if held() => Some(Cause::SignalWait),
            // A wait with a finished target is only a mark.
            TaskRole::EventWait | TaskRole::SignalWait => return,
            TaskRole::Callback => Some(Cause::Callback),
            TaskRole::Work => None,
        };
        let TimeRange {
            begin,
            end: busy_until,
        } = self.open(sources, stream, id, time);
        let gap = TimeRange::new(busy_until, time.begin);
        if !self.reached.is_blind || !self.parts(sources, stream, gap, id) {
            self.gap(sources, stream, gap, id);
        }
        if self.reached.has_untimed && class == TaskRole::Work {
            self.reached.lengths.note(trace, id, time);
        }
        // Mapped times can put the begin a little before the previous end; lanes do not overlap.
        let from = busy_until.max(time.begin);
        match cause {
            Some(cause) => {
                self.push(
                    stream,
                    TimeRange::new(from, time.end),
                    cause,
                    Node::Task(id),
                );
            }
            None if from > time.begin => drop(self.late.insert(id, from)),
            None => {}
        }
        self.reached.life = Some(TimeRange::new(begin, busy_until.max(time.end)));
        self.reached.is_blind = false;
        self.reached.is_behind_callback = class == TaskRole::Callback;
    }

    /// Begin of the stream's life and the end of the accounted time.
    fn open(
        &self,
        sources: Sources<'_>,
        stream: StreamId,
        id: TaskId,
        time: TaskTime,
    ) -> TimeRange {
        if let Some(life) = self.reached.life {
            return life;
        }
        let trace = sources.trace;
        let submitted = trace.call(trace.task(id).call).begin;
        let made = sources.lives.begin(trace, stream, submitted);
        let begin = made.map_or(time.begin, |made| made.0.min(time.begin));
        TimeRange::at(begin)
    }

    /// Splits a gap with untimed tasks in it.
    fn parts(
        &mut self,
        sources: Sources<'_>,
        stream: StreamId,
        range: TimeRange,
        next: TaskId,
    ) -> bool {
        let gap = Gap {
            trace: sources.trace,
            dependencies: sources.dependencies,
            lengths: &self.reached.lengths,
            range,
            next,
        };
        let Some(parts) = gap.parts(stream).filter(|_| !range.is_empty()) else {
            return false;
        };
        for part in parts {
            let (range, cause, node, bound) = match part {
                GapPart::Held(range, cause, task, bound) => (range, cause, task, Some(bound)),
                GapPart::Unknown(range) => (range, Cause::Unknown, next, None),
                GapPart::Worked(range) => (range, Cause::Untimed, next, None),
                GapPart::Idle(range, task) if task == next => {
                    self.idle(sources, stream, range, next);
                    continue;
                }
                GapPart::Idle(range, task) => {
                    let cause = match range.duration() < IDLE_FLOOR_NS {
                        true => Cause::Switch,
                        false => judge(sources.trace, sources.hosts, range, task),
                    };
                    // An idle part that a wait ended belongs to the part of the recording that has the next task.
                    let bound = Some(StallBound { next, error: 0 });
                    (range, cause, task, bound)
                }
            };
            self.push_bound(stream, range, cause, (Node::Task(node), bound));
        }
        true
    }

    fn gap(&mut self, sources: Sources<'_>, stream: StreamId, gap: TimeRange, next: TaskId) {
        match self.reached.is_blind {
            true => self.push(stream, gap, Cause::Unknown, Node::Task(next)),
            false => self.idle(sources, stream, gap, next),
        }
    }

    /// A time in which nothing ran before a task.
    fn idle(&mut self, sources: Sources<'_>, stream: StreamId, gap: TimeRange, next: TaskId) {
        let between = sources.trace.between(stream).unwrap_or_default();
        let is_usual = self.is_usual(sources.trace, stream, gap, next);
        let cause = match gap.duration() {
            _ if is_usual => Cause::Switch,
            length if length < IDLE_FLOOR_NS.max(between.switch_ns) => Cause::Switch,
            _ => judge(sources.trace, sources.hosts, gap, next),
        };
        // The next task had been submitted, and the tool's event records were between.
        let (records, rest) = split(gap, between);
        if cause == Cause::Unknown && !records.is_empty() {
            self.push(stream, records, Cause::TracerOverhead, Node::Task(next));
            self.push(stream, rest, Cause::Switch, Node::Task(next));
            return;
        }
        // The stream reached a function of the program before that ran, or did not continue yet after it.
        let task = sources.trace.task(next);
        let is_before = TaskRole::of(sources.trace, task) == TaskRole::Callback;
        let is_near = is_before || self.reached.is_behind_callback;
        let cause = match cause {
            Cause::Unknown if is_near => Cause::Callback,
            other => other,
        };
        self.push(stream, gap, cause, Node::Task(next));
    }

    /// Whether the device usually takes this time from one task to the next. Only the hardware log has gaps without event
    /// records of the tool in them.
    fn is_usual(&mut self, trace: &Trace, stream: StreamId, gap: TimeRange, next: TaskId) -> bool {
        let is_bare = !self.reached.is_blind && trace.timing_of(stream) == HARDWARE;
        if !is_bare || gap.is_empty() || arrived(trace, next) > gap.begin {
            return false;
        }
        self.reached.switches.note(gap.duration());
        let usual = self.reached.switches.usual();
        usual.is_some_and(|usual| gap.duration() <= usual.saturating_add(IDLE_FLOOR_NS))
    }

    /// Accounts for the rest until the stream's end, once no more tasks will arrive; the last task was
    /// submitted at `used`. A stream that never had a task was waiting for nothing.
    pub(super) fn close(&mut self, sources: Sources<'_>, stream: StreamId, used: Option<i64>) {
        let trace = sources.trace;
        let Some(used) = used else { return };
        let made = sources.lives.begin(trace, stream, used);
        let Some((end, call)) = sources.lives.end(trace, stream, used) else {
            return;
        };
        let known = self.reached.life;
        let Some(life) = known.or(made.map(|it| TimeRange::at(it.0))) else {
            return;
        };
        let cause = match self.reached.is_blind {
            true => Cause::Unknown,
            false => Cause::Drained,
        };
        self.push(
            stream,
            TimeRange::new(life.end, end),
            cause,
            Node::Call(call),
        );
        self.reached.life = Some(TimeRange::new(life.begin, life.end.max(end)));
    }

    /// Inserts stalls that are inside the time of a task each.
    pub(super) fn insert(&mut self, stalls: Vec<(TaskId, Stall)>) {
        let own = stalls.into_iter().map(|(task, stall)| Stall {
            begin: self.late.get(&task).copied().unwrap_or(stall.begin),
            ..stall
        });
        let own = own.filter(|it| it.begin < it.end);
        self.stalls.extend(own);
        self.stalls.sort_by_key(|stall| stall.begin);
    }

    fn push(&mut self, stream: StreamId, range: TimeRange, cause: Cause, node: Node) {
        self.push_bound(stream, range, cause, (node, None));
    }

    fn push_bound(
        &mut self,
        stream: StreamId,
        range: TimeRange,
        cause: Cause,
        (node, bound): (Node, Option<StallBound>),
    ) {
        if !range.is_empty() {
            self.stalls.push(Stall {
                lane: Lane::Stream(stream),
                begin: range.begin,
                end: range.end,
                cause,
                node,
                bound,
            });
        }
    }
}
