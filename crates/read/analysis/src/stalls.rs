//! Stalls: intervals in which a lane could not go on, each with one cause.
//!
//! A stream stalls whenever it runs nothing: its stalls and its work together fill the time from
//! its creation to its end, to the nanosecond. A host thread stalls inside a call that blocks. The
//! stalls of one lane never overlap.

mod blame;
mod call_release;
mod cause;
mod chain;
mod culprit;
mod evidence;
mod full_queue;
mod gap_cause;
mod host_stalls;
mod overhead;
mod peers;
mod schedule;
mod stream_lifetimes;
mod streams;
mod switches;
mod task_role;
pub(crate) mod untimed_gap;
mod usual_durations;

use std::collections::HashMap;

use ascend_trace_recording::{CallId, StreamId, TaskId, ThreadId, TimeRange, Trace};

use crate::dependencies::{Dependencies, Node};
use crate::polls::PollStep;
use crate::retention::Keys;
use peers::Peers;
use streams::Sources;

pub use blame::{Blame, Blamed};
pub use cause::Cause;
pub use chain::{Chain, Link, Root};
pub use culprit::Culprit;
pub(crate) use culprit::work_until;
pub(crate) use full_queue::least_full;
pub use task_role::TaskRole;

pub use evidence::{ActivityDuringWait, Evidence, ThreadActivity, UnknownReason};

/// Gaps of a stream shorter than this are the cost of switching from one task to the next, in any case.
/// Waits and blocking calls count for any duration.
pub const IDLE_FLOOR_NS: i64 = 1_000;

/// What stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    Stream(StreamId),
    Thread(ThreadId),
}

/// One interval in which a lane could not go on. Its [`Stall::culprit`] says who is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    pub lane: Lane,
    pub begin: i64,
    pub end: i64,
    pub cause: Cause,
    /// The item that could not continue: the wait, the task after the gap, the blocking call; or the
    /// call that ended a stream without further work.
    pub node: Node,
    /// For a task without a time: the stall is derived from other tasks.
    pub bound: Option<StallBound>,
}

/// How the stall of an untimed task was derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallBound {
    /// The next task with a time: the stall ended before that.
    pub next: TaskId,
    /// How far begin and end may be off, as far as known.
    pub error: i64,
}

impl Stall {
    pub const fn range(&self) -> TimeRange {
        TimeRange::new(self.begin, self.end)
    }

    pub fn length(&self) -> i64 {
        self.end - self.begin
    }

    /// Whether it lies between the tasks of a stream, rather than in the time of a task or a call.
    pub fn is_gap(&self) -> bool {
        let in_task = matches!(
            self.cause,
            Cause::EventWait | Cause::SignalWait | Cause::Callback | Cause::CollectivePeer
        );
        matches!(self.lane, Lane::Stream(_)) && !in_task
    }

    /// Whether a search for lost time should stop here: not at a short switch between two tasks, nor at
    /// a stream without further work.
    pub fn is_notable(&self) -> bool {
        let is_tail = matches!((self.lane, self.node), (Lane::Stream(_), Node::Call(_)));
        self.cause.is_notable() && !is_tail
    }
}

/// A part of a trace that has forgotten most of what began before.
#[derive(Debug)]
pub(crate) struct Passage<'p> {
    pub(crate) keys: &'p Keys,
    /// Calls and tasks with keys from here on are in the trace, and have not been dealt with.
    pub(crate) since: i64,
    /// Up to this key the parts own the stalls.
    pub(crate) until: i64,
    /// From this key on the next part looks at everything again.
    pub(crate) next: i64,
    /// Nothing more will come.
    pub(crate) is_last: bool,
}

/// State from earlier parts that later ones depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct CarriedState {
    pub(crate) peers: Peers,
    streams: Vec<streams::StreamState>,
    hosts: host_stalls::HostsBefore,
}

impl CarriedState {
    /// Goes over to the calls that are kept, which `moved` gives new ids.
    pub(crate) fn renumber(&mut self, moved: impl Fn(CallId) -> Option<CallId>) {
        for stall in self.hosts.lanes.iter_mut().flatten() {
            if let Node::Call(id) = &mut stall.node {
                *id = moved(*id).unwrap_or(*id);
            }
        }
    }

    /// The calls that blocked threads.
    pub(crate) fn calls(&self) -> impl Iterator<Item = CallId> {
        let nodes = self.hosts.lanes.iter().flatten().map(|stall| stall.node);
        nodes.filter_map(|node| match node {
            Node::Call(id) => Some(id),
            Node::Task(_) => None,
        })
    }
}

/// The stalls of a trace, by lane and time.
///
/// O(n) to build. The newest stalls of a growing trace have the present facts.
#[derive(Clone, Debug, Default)]
pub struct Stalls {
    streams: Vec<streams::StreamStalls>,
    hosts: host_stalls::HostStalls,
    lives: stream_lifetimes::Lifetimes,
    /// Collectives that waited, with the peer that came last.
    peers: HashMap<TaskId, TaskId>,
}

impl Stalls {
    /// The stalls of a whole trace: times that are not known now count as lost.
    pub fn of(trace: &Trace) -> Self {
        Self::with(trace, &Dependencies::of(trace))
    }

    /// The stalls of a whole trace with known dependencies.
    pub fn with(trace: &Trace, dependencies: &Dependencies) -> Self {
        let mut stalls = Self::default();
        stalls.advance(trace, dependencies, true);
        stalls.close(trace, dependencies);
        stalls.wait_for_all_peers(trace);
        stalls
    }

    /// The stalls of a part of a trace: of the tasks in a range of time. At the begin and end of the
    /// part, streams get no stalls, since the time before and after is not known. Unless it is `final`,
    /// a stream is followed up to its first task without a time yet.
    pub fn of_part(trace: &Trace, dependencies: &Dependencies, is_final: bool) -> Self {
        let mut stalls = Self::default();
        stalls.advance(trace, dependencies, is_final);
        stalls.wait_for_all_peers(trace);
        stalls
    }

    /// The stalls of a trace from `passage.since` on. The carried state moves to `passage.next`.
    pub(crate) fn of_passage(
        trace: &Trace,
        dependencies: &Dependencies,
        carried: &mut CarriedState,
        passage: &Passage<'_>,
    ) -> Self {
        let mut stalls = Self {
            hosts: host_stalls::HostStalls::after(std::mem::take(&mut carried.hosts)),
            ..Self::default()
        };
        let range = (passage.since, passage.next);
        stalls.hosts.take(trace, dependencies, range);
        stalls.lives = stream_lifetimes::Lifetimes::of(trace);
        let mut reached = std::mem::take(&mut carried.streams);
        reached.resize_with(trace.streams().len(), Default::default);
        for (id, reached) in (0..).map(StreamId).zip(&mut reached) {
            let stream = stalls.pass(trace, dependencies, passage, (id, reached));
            stalls.streams.push(stream);
        }
        carried.streams = reached;
        if passage.is_last {
            stalls.close(trace, dependencies);
        }
        let peers = &mut carried.peers;
        stalls.wait_for_peers(trace, peers.take(trace, passage.keys, passage.until));
        carried.hosts = stalls.hosts.before(trace, passage.next);
        stalls
    }

    /// Follows a stream from its last point; the reached state moves to the next passage.
    fn pass(
        &self,
        trace: &Trace,
        dependencies: &Dependencies,
        passage: &Passage<'_>,
        (id, reached): (StreamId, &mut streams::StreamState),
    ) -> streams::StreamStalls {
        let sources = Sources {
            trace,
            dependencies,
            hosts: &self.hosts,
            lives: &self.lives,
        };
        let tasks = trace.stream_tasks(id);
        let first = |key: i64| tasks.partition_point(|id| passage.keys.task(*id) < key);
        let before = std::mem::take(reached);
        let mut stream = streams::StreamStalls::after(before, first(passage.since));
        stream.advance_to(sources, id, first(passage.next), true);
        *reached = stream.reached.clone();
        stream.advance(sources, id, true);
        stream
    }

    /// Accounts for the ends of all streams.
    fn close(&mut self, trace: &Trace, dependencies: &Dependencies) {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let sources = Sources {
                trace,
                dependencies,
                hosts: &self.hosts,
                lives: &self.lives,
            };
            let id = StreamId(index as u32);
            let last = trace.stream_tasks(id).last();
            let used = last.map(|id| trace.call(trace.task(*id).call).begin);
            stream.close(sources, id, used);
        }
    }

    fn advance(&mut self, trace: &Trace, dependencies: &Dependencies, finished: bool) {
        self.hosts.take(trace, dependencies, (i64::MIN, i64::MIN));
        self.lives = stream_lifetimes::Lifetimes::of(trace);
        self.streams
            .resize_with(trace.streams().len(), Default::default);
        let sources = Sources {
            trace,
            dependencies,
            hosts: &self.hosts,
            lives: &self.lives,
        };
        for (index, stream) in self.streams.iter_mut().enumerate() {
            stream.advance(sources, StreamId(index as u32), finished);
        }
    }

    /// Notes the waits of all collectives of a trace.
    fn wait_for_all_peers(&mut self, trace: &Trace) {
        let keys = Keys::of(trace, Keys::default());
        self.wait_for_peers(trace, Peers::default().take(trace, &keys, i64::MAX));
    }

    /// Notes the time in which collectives waited for their peers.
    fn wait_for_peers(&mut self, trace: &Trace, waits: Vec<peers::PeerWait>) {
        let mut found: HashMap<StreamId, Vec<(TaskId, Stall)>> = HashMap::new();
        for wait in waits {
            let task = trace.task(wait.task);
            let Some(time) = task.time else { continue };
            self.peers.insert(wait.task, wait.peer);
            let stall = Stall {
                lane: Lane::Stream(task.stream),
                begin: time.begin,
                end: wait.until,
                cause: Cause::CollectivePeer,
                node: Node::Task(wait.task),
                bound: None,
            };
            let lane = found.entry(task.stream).or_default();
            lane.push((wait.task, stall));
        }
        for (stream, stalls) in found {
            if let Some(lane) = self.streams.get_mut(stream.index()) {
                lane.insert(stalls);
            }
        }
    }

    /// The time in which a stream is accounted for: all of it is work or a stall. `None` for an unknown
    /// stream, and for one that never had a task.
    pub fn life(&self, stream: StreamId) -> Option<TimeRange> {
        self.streams.get(stream.index())?.reached.life
    }

    /// For how much of `[begin, end)` a thread was inside calls that waited, for the device or for
    /// room in a queue, or that returned from such a wait.
    pub fn blocked(&self, thread: ThreadId, begin: i64, end: i64) -> i64 {
        self.hosts.blocked(thread, begin, end).total()
    }

    /// How a call of the passage belongs to a loop of queries.
    pub(crate) fn poll_step(&self, id: CallId) -> PollStep {
        self.hosts.loops.get(&id).copied().unwrap_or_default()
    }

    /// The peer that came last, of a collective that waited.
    pub fn peer(&self, task: TaskId) -> Option<TaskId> {
        self.peers.get(&task).copied()
    }

    /// The stalls of one lane by begin time; they do not overlap.
    pub fn lane(&self, lane: Lane) -> &[Stall] {
        match lane {
            Lane::Stream(stream) => {
                let lane = self.streams.get(stream.index());
                lane.map_or(&[], |lane| lane.stalls.as_slice())
            }
            Lane::Thread(thread) => self.hosts.thread(thread),
        }
    }

    /// Whether a stall continues a call with a first part that is another stall of its lane.
    pub fn continues(&self, stall: &Stall) -> bool {
        let lane = match stall.lane {
            Lane::Thread(_) => self.lane(stall.lane),
            Lane::Stream(_) => return false,
        };
        let place = lane.partition_point(|it| it.begin < stall.begin);
        let before = place.checked_sub(1).and_then(|place| lane.get(place));
        before.is_some_and(|before| before.node == stall.node)
    }

    /// The stalls of one lane that have a part in `[begin, end]`.
    pub fn in_window(&self, lane: Lane, begin: i64, end: i64) -> &[Stall] {
        let stalls = self.lane(lane);
        let first = stalls.partition_point(|stall| stall.end < begin);
        let last = stalls.partition_point(|stall| stall.begin <= end);
        stalls.get(first..last).unwrap_or(&[])
    }

    fn lanes(&self) -> impl Iterator<Item = &[Stall]> {
        let streams = self.streams.iter().map(|stream| stream.stalls.as_slice());
        streams.chain(self.hosts.lanes())
    }

    /// Every stall, lane by lane.
    pub fn iter(&self) -> impl Iterator<Item = &Stall> {
        self.lanes().flatten()
    }

    /// Every stall by begin time.
    pub fn sorted(&self) -> Vec<&Stall> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_by_key(|stall| (stall.begin, stall.lane));
        all
    }

    /// The `n` longest stalls, longest first.
    pub fn worst(&self, n: usize) -> Vec<&Stall> {
        self.worst_where(n, |_| true)
    }

    /// The `n` longest of the stalls that `wanted` accepts, longest first.
    pub fn worst_where(&self, n: usize, wanted: impl Fn(&Stall) -> bool) -> Vec<&Stall> {
        let mut all: Vec<_> = self.iter().filter(|stall| wanted(stall)).collect();
        let order = |stall: &&Stall| (-stall.length(), stall.begin, stall.lane);
        if n < all.len() {
            all.select_nth_unstable_by_key(n, order);
            all.truncate(n);
        }
        all.sort_by_key(order);
        all
    }
}
