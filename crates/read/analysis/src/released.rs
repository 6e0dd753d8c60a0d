//! The table of releases: the end of each wait, and its cause.
//!
//! A row is a wait of a task or a call, the task or call that released it, and when. A wait for several streams has a row for
//! each of them. A wait without a row was released by nothing that the recording shows. Readers take rows and do not search:
//! those of a window in a stream ([`Window::releases`]), or those of one waiter ([`of`]). No row is kept, so the table needs no
//! memory. A row belongs to one window, as its dependency or its stall does.
//!
//! Waits of threads outside of AscendCL are learnt from a whole recording ([`crate::whatif`]). These rows name calls and tasks by
//! their numbers ([`NumberedNode`]), because windows have forgotten them.
//!
//! Two readers ask something else and have their own rules. `checks::happens_before` follows knowledge: a single query, which
//! waits for nothing, also shows that tasks are done. `hang` looks at waits that nothing has released yet, and takes only signals
//! from here.

use ascend_trace_format::api::{Role, WaitTarget};
use ascend_trace_recording::{CallId, TaskId, Trace};

use crate::{Cause, Dependencies, Edge, EdgeKind, Lane, Node, Stall, Window};

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release<N = Node> {
    /// The task or the call that waited.
    pub waiter: N,
    /// The task or the call that released it.
    pub by: N,
    /// When that was done, or for some kinds began. A task without a time has the time of the call that submitted it.
    pub at: i64,
    pub certainty: Certainty,
    pub kind: ReleaseKind,
}

/// How well the time of a release is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// It is a time of the host.
    Exact,
    /// It was measured on a device, and may be off by this.
    Within(i64),
    /// The release itself was learnt from times that repeat.
    Learnt {
        /// The thread may as well have worked.
        may_be_own: bool,
    },
    /// The task has no time.
    NotKnown,
}

impl Certainty {
    /// For the time of a call or a task.
    pub(crate) fn of(trace: &Trace, node: Node) -> Self {
        match node {
            Node::Call(_) => Self::Exact,
            Node::Task(id) => {
                let time = trace.task(id).time;
                time.map_or(Self::NotKnown, |it| Self::Within(it.error))
            }
        }
    }

    /// By how much the time may be off, as far as that is known.
    pub fn error(self) -> i64 {
        match self {
            Self::Within(error) => error,
            _ => 0,
        }
    }
}

/// The kind of a wait, by its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReleaseKind {
    /// A stream waited for the record of an event.
    Event,
    /// A stream waited for the task that set a notify or a value.
    Signal,
    /// A collective waited for the begin of its last peer.
    Peer,
    /// A call waited for the record of an event.
    EventSync,
    /// A call waited for the last task of a stream.
    StreamSync,
    /// A call waited for the last tasks of all streams: this is one of them.
    DeviceSync,
    /// A copy by the host waited for the earlier work of its stream.
    HostCopy,
    /// A call waited for the replay that it submitted.
    Replay,
    /// A loop of queries ended with this call.
    QueryLoop,
    /// A call stopped to wait before this task was done.
    GaveUp,
    /// A call waited for room in the queue of a stream: this task left it.
    Room,
    /// A stream without work waited for the call that submitted its next task.
    Submission,
    /// A call that submits waited for another thread's call that plans.
    Plan,
    /// A call that runs callbacks waited for the begin of a callback's task.
    CallbackBegin,
    /// The task of a callback waited for the call that ran the callback.
    CallbackEnd,
    /// A thread seems to have waited outside of AscendCL for another thread or for a function on the host.
    Handover,
    /// The same, for the begin of a function on the host.
    HandoverBegin,
}

impl ReleaseKind {
    /// Whether a call waited until tasks were done.
    pub fn is_sync(self) -> bool {
        (Self::EventSync..=Self::QueryLoop).contains(&self)
    }

    /// Whether the wait ended with the begin of its target.
    pub fn is_of_begin(self) -> bool {
        matches!(
            self,
            Self::Submission | Self::CallbackBegin | Self::HandoverBegin | Self::Peer
        )
    }

    /// The kind of a call's wait for tasks.
    fn of_call(trace: &Trace, id: CallId) -> Self {
        let call = trace.call(id);
        let role = trace.function(call.function).role;
        match role.meaning().waits {
            _ if role.asks_for_an_end() => Self::QueryLoop,
            WaitTarget::Event => Self::EventSync,
            WaitTarget::Device => Self::DeviceSync,
            WaitTarget::Nothing if role == Role::Task => Self::HostCopy,
            _ => Self::StreamSync,
        }
    }
}

/// A call or a task by its number in the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberedNode {
    Call(u32),
    Task(u32),
}

impl Release {
    fn new(trace: &Trace, kind: ReleaseKind, by: Node, waiter: Node) -> Self {
        let range = by.range(trace);
        let is_of_begin = kind.is_of_begin();
        Self {
            waiter,
            by,
            at: if is_of_begin { range.begin } else { range.end },
            certainty: Certainty::of(trace, by),
            kind,
        }
    }

    /// The task that released the wait.
    pub fn task(&self) -> Option<TaskId> {
        match self.by {
            Node::Task(id) => Some(id),
            Node::Call(_) => None,
        }
    }

    /// The rows of a dependency: a callback releases its call, and then its task.
    fn of_edge(trace: &Trace, edge: Edge) -> [Option<Self>; 2] {
        let kind = match (edge.kind, edge.to) {
            (EdgeKind::RecordToWait, _) => ReleaseKind::Event,
            (EdgeKind::SignalToWait, _) => ReleaseKind::Signal,
            (EdgeKind::TaskToSync, Node::Call(id)) => ReleaseKind::of_call(trace, id),
            (EdgeKind::TimedOut, _) => ReleaseKind::GaveUp,
            (EdgeKind::Plan, _) => ReleaseKind::Plan,
            (EdgeKind::HostFunc, _) => ReleaseKind::CallbackBegin,
            _ => return [None, None],
        };
        let end = || Self::new(trace, ReleaseKind::CallbackEnd, edge.to, edge.from);
        let end = (kind == ReleaseKind::CallbackBegin).then(end);
        [Some(Self::new(trace, kind, edge.from, edge.to)), end]
    }

    /// The row of a stall, where no dependency shows it.
    fn of_stall(window: &Window<'_>, stall: &Stall) -> Option<Self> {
        let trace = window.trace;
        match (stall.cause, stall.lane, stall.node) {
            (Cause::CollectivePeer, _, Node::Task(id)) => {
                let peer = window.stalls.peer(id)?;
                let row = Self::new(trace, ReleaseKind::Peer, Node::Task(peer), stall.node);
                let error = row.certainty.error();
                let error = error.saturating_add(clock_error(trace, [peer, id]));
                Some(Self {
                    at: stall.end,
                    certainty: Certainty::Within(error),
                    ..row
                })
            }
            (Cause::HostLate | Cause::GraphLaunch, _, Node::Task(id)) => {
                let call = Node::Call(trace.task(id).call);
                Some(Self::new(trace, ReleaseKind::Submission, call, stall.node))
            }
            (Cause::QueueFull, Lane::Thread(_), Node::Call(id)) => {
                let left = Node::Task(made_room(trace, id)?);
                Some(Self::new(trace, ReleaseKind::Room, left, stall.node))
            }
            _ => None,
        }
    }

    /// A replay releases the call that runs it to its end.
    fn of_replay(trace: &Trace, id: CallId) -> Option<Self> {
        let call = trace.call(id);
        let waits = trace.function(call.function).role == Role::ExecuteGraph;
        let task = call.task.filter(|_| waits)?;
        Some(Self::new(
            trace,
            ReleaseKind::Replay,
            Node::Task(task),
            Node::Call(id),
        ))
    }
}

/// The rows of one waiter, except those that only stalls show. The newest dependency comes first.
pub fn of(
    trace: &Trace,
    dependencies: &Dependencies,
    waiter: Node,
) -> impl Iterator<Item = Release> {
    let incoming = dependencies.stored_incoming(waiter);
    let (callbacks, replay) = match waiter {
        Node::Task(_) => (Some(dependencies.stored_outgoing(waiter)), None),
        Node::Call(id) => (None, Release::of_replay(trace, id)),
    };
    let edges = incoming.chain(callbacks.into_iter().flatten());
    let rows = edges.flat_map(|(_, edge)| Release::of_edge(trace, edge));
    let rows = rows.flatten().chain(replay);
    rows.filter(move |row| row.waiter == waiter)
}

/// The tasks that released one waiter, the newest dependency first.
pub(crate) fn tasks(
    trace: &Trace,
    dependencies: &Dependencies,
    waiter: Node,
) -> impl Iterator<Item = TaskId> {
    of(trace, dependencies, waiter).filter_map(|row| row.task())
}

impl Window<'_> {
    /// The rows that belong to the window's part.
    pub fn releases(&self) -> impl Iterator<Item = Release> {
        let edges = self.dependencies.edges().iter();
        let edges = edges.filter(|edge| self.owns_edge(edge));
        let edges = edges.flat_map(|edge| Release::of_edge(self.trace, *edge));
        let replays = self
            .calls()
            .filter_map(|id| Release::of_replay(self.trace, id));
        let stalls = self.stalls();
        let stalls = stalls.filter_map(|stall| Release::of_stall(self, stall));
        edges.flatten().chain(replays).chain(stalls)
    }
}

/// How far the clocks of the hosts of two tasks may be apart.
fn clock_error(trace: &Trace, tasks: [TaskId; 2]) -> i64 {
    let processes = tasks.map(|id| {
        let call = trace.call(trace.task(id).call);
        trace.process(trace.thread(call.thread).process)
    });
    let [one, other] = processes;
    match one.clock == other.clock {
        true => 0,
        false => {
            let bars = processes.map(|it| it.clock_error.unwrap_or(0));
            bars.into_iter().fold(0, i64::saturating_add)
        }
    }
}

/// The task that made room for a call's task: the last one before it that had ended when the call returned.
fn made_room(trace: &Trace, id: CallId) -> Option<TaskId> {
    let call = trace.call(id);
    let own = call.task?;
    let tasks = trace.stream_tasks(trace.task(own).stream);
    let before = tasks.iter().rev().skip_while(|it| **it != own).skip(1);
    let mut ended = before.filter(|it| trace.task(**it).time.is_some_and(|it| it.end <= call.end));
    ended.next().copied()
}
