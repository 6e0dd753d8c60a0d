//! Stalls of host threads: the time inside calls that block.

use ascend_trace_format::api::{Untimed, WaitTarget};
use ascend_trace_recording::{Call, CallId, ThreadId, TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::call_release::release;
use super::full_queue::is_full;
use super::{Cause, Lane, Stall};
use crate::dependencies::{Dependencies, Node, waited};
use crate::polls::{PollStep, Polls};

/// The stalls of all threads.
#[derive(Clone, Debug, Default)]
pub(super) struct HostStalls {
    threads: Vec<HostLane>,
    polls: Polls,
    /// Queries that belong to loops.
    pub(super) loops: FxHashMap<CallId, PollStep>,
    /// The loops in which threads were before the next passage.
    next_polls: Polls,
}

/// The stalls of one thread, with their sums.
#[derive(Clone, Debug, Default)]
struct HostLane {
    stalls: Vec<Stall>,
    /// For each stall the time in those before it: waiting for the device, and for a full queue.
    before: Vec<Blocked>,
    total: Blocked,
}

/// State of threads that the next passage goes on from.
#[derive(Clone, Debug, Default)]
pub(super) struct HostsBefore {
    /// The last stalls of each thread.
    pub(super) lanes: Vec<Vec<Stall>>,
    polls: Polls,
}

/// How many stalls of a thread are looked at for one of a stream, however many there were meanwhile.
pub(crate) const MOST_STALLS: usize = 1024;

/// For how long a thread was held up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocked {
    /// By calls that waited for the device.
    pub(super) waiting: i64,
    /// By calls that returned from such a wait.
    pub(super) returning: i64,
    /// By full queues.
    pub(super) queue: i64,
}

impl Blocked {
    fn add(&mut self, cause: Cause, length: i64) {
        match cause {
            Cause::QueueFull => self.queue += length,
            Cause::ReturnLatency => self.returning += length,
            _ => self.waiting += length,
        }
    }

    pub(super) fn total(&self) -> i64 {
        self.waiting + self.returning + self.queue
    }
}

impl HostStalls {
    /// Goes on from the stalls of each thread that began before the first new call.
    pub(super) fn after(before: HostsBefore) -> Self {
        Self {
            threads: before.lanes.into_iter().map(HostLane::after).collect(),
            next_polls: before.polls.clone(),
            polls: before.polls,
            loops: FxHashMap::default(),
        }
    }

    /// The last stalls of each thread in calls that began before `since`: as many as anything later looks at.
    pub(super) fn before(&self, trace: &Trace, since: i64) -> HostsBefore {
        let called = |stall: &Stall| match stall.node {
            Node::Call(id) => trace.call(id).begin,
            Node::Task(_) => stall.begin,
        };
        let last = |lane: &HostLane| {
            let upto = lane.stalls.partition_point(|stall| called(stall) < since);
            lane.stalls[upto.saturating_sub(MOST_STALLS)..upto].to_vec()
        };
        HostsBefore {
            lanes: self.threads.iter().map(last).collect(),
            polls: self.next_polls.clone(),
        }
    }

    /// Takes in the calls that begin at `since` or later, in the order in which they returned. The next passage takes
    /// those that begin at `next` or later again.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        dependencies: &Dependencies,
        (since, next): (i64, i64),
    ) {
        self.threads
            .resize_with(trace.threads().len(), HostLane::default);
        let calls = (0..).map(CallId).zip(trace.calls());
        for (id, call) in calls.filter(|(_, call)| call.begin >= since) {
            if call.begin < next {
                self.next_polls.note(trace, call);
            }
            let step = self.polls.note(trace, call);
            if step != PollStep::default() {
                self.loops.insert(id, step);
            }
            let polled = step.waited_since;
            let begin = polled.unwrap_or(call.begin);
            let cause = polled.map_or_else(|| blocking(trace, call), |_| Some(Cause::HostSync));
            let cause = cause.or_else(|| is_full(trace, call).then_some(Cause::QueueFull));
            if let (Some(cause), Some(lane)) = (cause, self.threads.get_mut(call.thread.index())) {
                let release = match cause {
                    Cause::QueueFull => None,
                    _ => release(trace, dependencies, (id, begin)),
                };
                let range = TimeRange::new(begin, call.end);
                lane.push((id, call.thread), range, cause, release);
            }
        }
    }

    pub(super) fn thread(&self, thread: ThreadId) -> &[Stall] {
        let lane = self.threads.get(thread.index());
        lane.map_or(&[], |lane| lane.stalls.as_slice())
    }

    pub(super) fn lanes(&self) -> impl Iterator<Item = &[Stall]> {
        self.threads.iter().map(|lane| lane.stalls.as_slice())
    }

    /// For how much of `[begin, end)` the thread was held up.
    pub(super) fn blocked(&self, thread: ThreadId, begin: i64, end: i64) -> Blocked {
        let lane = self.threads.get(thread.index());
        lane.map_or(Blocked::default(), |lane| lane.blocked(begin, end))
    }

    /// From when on, at `begin` or later, what held the thread up until `end` is looked at: as far as its last
    /// [`MOST_STALLS`] stalls reach back.
    pub(super) fn looked_at_from(&self, thread: ThreadId, begin: i64, end: i64) -> i64 {
        let stalls = self.thread(thread);
        let last = stalls.partition_point(|stall| stall.begin < end);
        let first = last.checked_sub(MOST_STALLS).map(|place| stalls[place]);
        first.map_or(begin, |stall| stall.begin.max(begin))
    }

    /// The stall of the thread that took most of `[begin, end)`, of those that `wanted` accepts.
    pub(super) fn longest(
        &self,
        thread: ThreadId,
        TimeRange { begin, end }: TimeRange,
        wanted: impl Fn(&Stall) -> bool,
    ) -> Option<Stall> {
        let begin = self.looked_at_from(thread, begin, end);
        let stalls = self.thread(thread);
        let first = stalls.partition_point(|stall| stall.end <= begin);
        let inside = stalls[first..].iter().take_while(|stall| stall.begin < end);
        let found = inside.filter(|stall| wanted(stall));
        let part = |stall: &&Stall| stall.end.min(end) - stall.begin.max(begin);
        found.max_by_key(part).copied()
    }
}

impl HostLane {
    fn after(stalls: Vec<Stall>) -> Self {
        let mut lane = Self::default();
        for stall in stalls {
            lane.before.push(lane.total);
            lane.total.add(stall.cause, stall.length());
            lane.stalls.push(stall);
        }
        lane
    }

    /// Calls arrive as they return, so the blocking calls made inside this one came before it. The
    /// outermost one represents all.
    fn push(
        &mut self,
        (id, thread): (CallId, ThreadId),
        call: TimeRange,
        cause: Cause,
        release: Option<i64>,
    ) {
        let first = self.stalls.partition_point(|it| it.begin < call.begin);
        self.truncate(first);
        let is_inside = self.stalls.last().is_some_and(|it| it.end > call.begin);
        if is_inside || call.begin >= call.end {
            return;
        }
        for (begin, end, cause) in parts(call, cause, release) {
            if begin < end {
                self.before.push(self.total);
                self.total.add(cause, end - begin);
                self.stalls.push(Stall {
                    lane: Lane::Thread(thread),
                    begin,
                    end,
                    cause,
                    node: Node::Call(id),
                    bound: None,
                });
            }
        }
    }

    /// Forgets all stalls from this one on.
    fn truncate(&mut self, first: usize) {
        self.total = self.before.get(first).copied().unwrap_or(self.total);
        self.stalls.truncate(first);
        self.before.truncate(first);
    }

    fn blocked(&self, begin: i64, end: i64) -> Blocked {
        let first = self.stalls.partition_point(|stall| stall.end <= begin);
        let last = self.stalls.partition_point(|stall| stall.begin < end);
        if first >= last {
            return Blocked::default();
        }
        let upto = |index: usize| self.before.get(index).copied().unwrap_or(self.total);
        let (from, to) = (upto(first), upto(last));
        let mut blocked = Blocked {
            waiting: to.waiting - from.waiting,
            returning: to.returning - from.returning,
            queue: to.queue - from.queue,
        };
        // Only the first and the last stall can reach beyond the interval.
        let (early, late) = (&self.stalls[first], &self.stalls[last - 1]);
        blocked.add(early.cause, -(begin - early.begin).max(0));
        blocked.add(late.cause, -(late.end - end).max(0));
        blocked
    }
}

/// A call's time until its target was done, and from then on. While that is not known, all of it counts
/// as waiting, except for a copy, which mostly copies.
fn parts(call: TimeRange, cause: Cause, release: Option<i64>) -> [(i64, i64, Cause); 2] {
    let whole = [(call.begin, call.end, cause), (call.end, call.end, cause)];
    let Some(moment) = release else {
        return whole;
    };
    let moment = moment.clamp(call.begin, call.end);
    let after = match cause {
        Cause::HostSync => Cause::ReturnLatency,
        cause => cause,
    };
    [
        (call.begin, moment, Cause::HostSync),
        (moment, call.end, after),
    ]
}

/// What kept the host inside a call, if it is a call that waits for the device.
fn blocking(trace: &Trace, call: &Call) -> Option<Cause> {
    match trace.function(call.function).role.meaning().waits {
        WaitTarget::Transfer => Some(Cause::HostCopy),
        waits if waits != WaitTarget::Nothing && waited(trace, call) => Some(Cause::HostSync),
        // An asynchronous copy of pageable memory is done by the host, after a stream sync.
        _ => call
            .task
            .is_some_and(|task| trace.task(task).untimed == Untimed::HostCopy)
            .then_some(Cause::HostCopy),
    }
}
