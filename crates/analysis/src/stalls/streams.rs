//! Stalls of a stream: waits at its head, and gaps between its tasks.

use ascend_trace_model::{StreamId, TaskId, TaskTime, Trace};

use super::class::{Class, held, takes_time};
use super::hosts::HostStalls;
use super::judge::judge;
use super::lives::Lives;
use super::{Cause, IDLE_FLOOR_NS, Lane, Stall};
use crate::dependencies::{Dependencies, Node, is_pending};

/// What the stalls of a stream depend on.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) trace: &'a Trace,
    pub(super) dependencies: &'a Dependencies,
    pub(super) hosts: &'a HostStalls,
    pub(super) lives: &'a Lives,
}

/// The stalls of one stream, and where the search for more stands.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamStalls {
    pub(super) stalls: Vec<Stall>,
    /// From when to when the stream is accounted for: every moment of it is busy or in a stall.
    pub(super) life: Option<(i64, i64)>,
    next: usize,
    /// Sequence of the last task that was looked at.
    sequence: Option<u32>,
    /// Since the end of the last timed task: something that takes device time but has no times
    /// ran, or tasks are missing from the trace.
    is_blind: bool,
}

impl StreamStalls {
    /// Follows the stream's tasks, up to one whose time may still come unless all is `finished`.
    pub(super) fn advance(&mut self, sources: Sources<'_>, stream: StreamId, finished: bool) {
        let trace = sources.trace;
        let tasks = trace.stream_tasks(stream);
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
        self.count(trace, id);
        match trace.task(id).time {
            Some(time) => self.timed(sources, stream, id, time),
            None => self.is_blind |= takes_time(trace, id),
        }
    }

    /// Notices tasks that are not in the trace. One that does not run has the sequence of the next
    /// that does.
    fn count(&mut self, trace: &Trace, id: TaskId) {
        let task = trace.task(id);
        let before = self.sequence.unwrap_or(task.sequence);
        self.is_blind |= task.sequence > before.saturating_add(1);
        self.sequence = Some(task.sequence);
    }

    fn timed(&mut self, sources: Sources<'_>, stream: StreamId, id: TaskId, time: TaskTime) {
        let trace = sources.trace;
        let class = Class::of(trace, trace.task(id));
        let held = || held(trace, sources.dependencies, id);
        let cause = match class {
            Class::Mark => return,
            Class::EventWait if held() => Some(Cause::EventWait),
            Class::SignalWait if held() => Some(Cause::SignalWait),
            // A wait that found what it waited for is no more than a mark.
            Class::EventWait | Class::SignalWait => return,
            Class::Callback => Some(Cause::Callback),
            Class::Work => None,
        };
        let (begin, busy_until) = self.open(sources, stream, id, time);
        self.gap(sources, stream, (busy_until, time.begin), id);
        // Mapped times can put the begin a little before the previous end; lanes do not overlap.
        let from = busy_until.max(time.begin);
        if let Some(cause) = cause {
            self.push(stream, (from, time.end), cause, Node::Task(id));
        }
        self.life = Some((begin, busy_until.max(time.end)));
        self.is_blind = false;
    }

    /// Begin of the stream's life and the moment up to which it is accounted for.
    fn open(
        &self,
        sources: Sources<'_>,
        stream: StreamId,
        id: TaskId,
        time: TaskTime,
    ) -> (i64, i64) {
        if let Some(life) = self.life {
            return life;
        }
        let trace = sources.trace;
        let submitted = trace.call(trace.task(id).call).begin;
        let made = sources.lives.begin(trace, stream, submitted);
        let begin = made.map_or(time.begin, |made| made.0.min(time.begin));
        (begin, begin)
    }

    fn gap(
        &mut self,
        sources: Sources<'_>,
        stream: StreamId,
        (begin, end): (i64, i64),
        next: TaskId,
    ) {
        let cause = match end.saturating_sub(begin) {
            _ if self.is_blind => Cause::Unknown,
            length if length < IDLE_FLOOR_NS => Cause::Switch,
            _ => judge(sources.trace, sources.hosts, (begin, end), next),
        };
        self.push(stream, (begin, end), cause, Node::Task(next));
    }

    /// Accounts for what is left until the stream's end, once nothing more will come; the last task
    /// was submitted at `used`. A stream that never had a task was waiting for nothing.
    pub(super) fn close(&mut self, sources: Sources<'_>, stream: StreamId, used: Option<i64>) {
        let trace = sources.trace;
        let Some(used) = used else { return };
        let made = sources.lives.begin(trace, stream, used);
        let Some((end, call)) = sources.lives.end(trace, stream, used) else {
            return;
        };
        let Some((begin, busy_until)) = self.life.or(made.map(|it| (it.0, it.0))) else {
            return;
        };
        let cause = match self.is_blind {
            true => Cause::Unknown,
            false => Cause::Drained,
        };
        self.push(stream, (busy_until, end), cause, Node::Call(call));
        self.life = Some((begin, busy_until.max(end)));
    }

    /// Puts in stalls that lie in the time of a task each. Mapped times can reach into what lies
    /// before and after; that part is taken.
    pub(super) fn insert(&mut self, stalls: Vec<Stall>) {
        let free = |stall: Stall| {
            let place = self.stalls.partition_point(|it| it.begin <= stall.begin);
            let before = place.checked_sub(1).map(|it| self.stalls[it].end);
            let after = self.stalls.get(place).map(|it| it.begin);
            Stall {
                begin: stall.begin.max(before.unwrap_or(i64::MIN)),
                end: stall.end.min(after.unwrap_or(i64::MAX)),
                ..stall
            }
        };
        let stalls: Vec<Stall> = stalls.into_iter().map(free).collect();
        let stalls = stalls.into_iter().filter(|it| it.begin < it.end);
        self.stalls.extend(stalls);
        self.stalls.sort_by_key(|stall| stall.begin);
    }

    fn push(&mut self, stream: StreamId, (begin, end): (i64, i64), cause: Cause, node: Node) {
        if begin < end {
            self.stalls.push(Stall {
                lane: Lane::Stream(stream),
                begin,
                end,
                cause,
                node,
            });
        }
    }
}
