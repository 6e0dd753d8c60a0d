//! The dependency graph: which call or task had to happen before which other one.
//!
//! Edges point from cause to effect. Stream order is not stored: it is the order of
//! [`Trace::stream_tasks`]. Launch edges are not stored either, since every task names its call; the
//! queries still return them.

mod build;
mod callbacks;
mod signals;
mod window;

use ascend_trace_format::api::Untimed;
use ascend_trace_recording::{CallId, StreamId, TaskId, TimeRange, Trace};
use rustc_hash::FxHashMap;

use window::Blocks;

pub use build::runs;
pub(crate) use build::{device_failed, streams_of, timed_out, took_effect, waited};

/// An end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    Task(TaskId),
    Call(CallId),
}

impl Node {
    /// When it ran; of a task without a time, its call.
    pub(crate) fn range(self, trace: &Trace) -> TimeRange {
        match self {
            Self::Call(id) => trace.call(id).range(),
            Self::Task(id) => trace.extent(trace.task(id)),
        }
    }
}

/// Why one thing had to wait for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// From the call that submitted a task, to the task.
    LaunchToTask,
    /// From an event record, to a wait on a stream that it released.
    RecordToWait,
    /// From the last task that a host call waited for, to the call. A call that waits for several
    /// streams has one edge for each.
    TaskToSync,
    /// From a task, to the host function or callback that it started.
    HostFunc,
    /// From the call that ran a callback, to the task that its stream went on with.
    HostResume,
    /// From what set a notify or a value in memory, to a wait on a stream that it released.
    SignalToWait,
    /// From a record to a wait that were captured into the same graph: replays keep this order.
    Captured,
    /// From the call that completed a graph, to a replay of it.
    Replay,
    /// From the last task that a host call waited for, to the call, which gave up before.
    TimedOut,
    /// From a task to the next one on its stream.
    StreamOrder,
    /// From the call that planned an operator, to the call of another thread that submitted it.
    Plan,
}

impl EdgeKind {
    pub const ALL: [Self; 11] = [
        Self::LaunchToTask,
        Self::RecordToWait,
        Self::TaskToSync,
        Self::HostFunc,
        Self::HostResume,
        Self::SignalToWait,
        Self::Captured,
        Self::Replay,
        Self::TimedOut,
        Self::StreamOrder,
        Self::Plan,
    ];

    /// Whether such a dependency lets its effect begin. The others let it end.
    pub const fn arrives_early(self) -> bool {
        matches!(
            self,
            Self::LaunchToTask
                | Self::HostFunc
                | Self::HostResume
                | Self::Replay
                | Self::StreamOrder
                | Self::Plan
        )
    }

    /// The word for this kind in tables and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LaunchToTask => "launch",
            Self::RecordToWait => "record-wait",
            Self::TaskToSync => "sync",
            Self::HostFunc => "host-function",
            Self::HostResume => "host-resume",
            Self::SignalToWait => "signal-wait",
            Self::Captured => "captured",
            Self::Replay => "replay",
            Self::TimedOut => "timed-out",
            Self::StreamOrder => "stream-order",
            Self::Plan => "plan",
        }
    }
}

/// `to` could not go on before `from` had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    pub kind: EdgeKind,
    pub from: Node,
    pub to: Node,
}

impl Edge {
    /// The edge from a task's call to the task.
    pub fn launch(trace: &Trace, task: TaskId) -> Self {
        Self {
            kind: EdgeKind::LaunchToTask,
            from: Node::Call(trace.task(task).call),
            to: Node::Task(task),
        }
    }

    /// When the edge leaves `from` and when it arrives at `to`; `None` while a time is still to
    /// be read. A task that will never have a time is replaced by its call.
    pub fn times(&self, trace: &Trace) -> Option<EdgeTimes> {
        // A callback begins while its task waits for it.
        let leaves_early = matches!(self.kind, EdgeKind::LaunchToTask | EdgeKind::HostFunc);
        let at = |node, is_early| {
            let span = span_of(trace, node)?;
            Some(if is_early { span.begin } else { span.end })
        };
        Some(EdgeTimes {
            leave: at(self.from, leaves_early)?,
            arrive: at(self.to, self.kind.arrives_early())?,
        })
    }
}

/// When an edge leaves and when it arrives, in nanoseconds on the host's clock. The clock mapping can put the cause a
/// little after its effect, so either may be the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeTimes {
    pub leave: i64,
    pub arrive: i64,
}

/// Whether a task has no time yet, but may still get one.
pub fn is_pending(trace: &Trace, task: TaskId) -> bool {
    let task = trace.task(task);
    task.time.is_none() && task.untimed == Untimed::Timed
}

fn span_of(trace: &Trace, node: Node) -> Option<TimeRange> {
    match node {
        Node::Task(task) if is_pending(trace, task) => None,
        node => Some(node.range(trace)),
    }
}

/// Edges that were found in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visible {
    pub edges: Vec<Edge>,
    /// False when there are more than were asked for.
    pub complete: bool,
}

/// The edges of a trace, with an index from both ends and over time.
///
/// Building costs one pass over the calls (O(n), a hash lookup per wait and sync), memory only for
/// records, waits and syncs.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    edges: Vec<Edge>,
    /// Newest edge of a node, and for every edge the next older one of the same node.
    first_in: FxHashMap<Node, u32>,
    first_out: FxHashMap<Node, u32>,
    next_in: Vec<Option<u32>>,
    next_out: Vec<Option<u32>>,
    counts: [usize; EdgeKind::ALL.len()],
    blocks: Blocks,
    builder: build::Builder,
}

impl Dependencies {
    /// The dependencies of a whole trace.
    pub fn of(trace: &Trace) -> Self {
        let mut dependencies = Self::default();
        dependencies.builder = build::Builder::of(trace, &mut |edge| dependencies.insert(edge));
        dependencies.counts[EdgeKind::LaunchToTask as usize] = trace.tasks().len();
        callbacks::link(trace, &mut |edge| dependencies.insert(edge));
        dependencies.blocks = Blocks::of(trace, &dependencies.edges);
        dependencies
    }

    fn insert(&mut self, edge: Edge) {
        let index = u32::try_from(self.edges.len()).unwrap_or(u32::MAX);
        self.counts[edge.kind as usize] += 1;
        self.next_in.push(self.first_in.insert(edge.to, index));
        self.next_out.push(self.first_out.insert(edge.from, index));
        self.edges.push(edge);
    }

    /// The stored edges: all but the launches and the order within streams.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Every edge but the order within streams: the launches in task order, then the others.
    pub fn all<'a>(&'a self, trace: &'a Trace) -> impl Iterator<Item = Edge> + 'a {
        let launches = (0..trace.tasks().len() as u32).map(|i| Edge::launch(trace, TaskId(i)));
        launches.chain(self.edges.iter().copied())
    }

    /// What `node` had to wait for.
    pub fn incoming(&self, trace: &Trace, node: Node) -> Vec<Edge> {
        let mut edges = self.chain(self.first_in.get(&node), &self.next_in);
        if let Node::Task(task) = node {
            edges.push(Edge::launch(trace, task));
        }
        edges.reverse();
        edges
    }

    /// The items that had to wait for `node`.
    pub fn outgoing(&self, trace: &Trace, node: Node) -> Vec<Edge> {
        let mut edges = self.chain(self.first_out.get(&node), &self.next_out);
        if let Node::Call(call) = node
            && let Some(task) = trace.call(call).task
        {
            edges.push(Edge::launch(trace, task));
        }
        edges.reverse();
        edges
    }

    fn chain(&self, first: Option<&u32>, next: &[Option<u32>]) -> Vec<Edge> {
        std::iter::successors(first.copied(), |at| next[*at as usize])
            .map(|at| self.edges[at as usize])
            .collect()
    }

    /// The stored edges into `node` with their numbers, newest first: [`Self::incoming`] without
    /// the launches, for callers that ask about every node.
    pub fn stored_incoming(&self, node: Node) -> impl Iterator<Item = (u32, Edge)> {
        self.numbered(self.first_in.get(&node), &self.next_in)
    }

    /// The stored edges out of `node`; see [`Self::stored_incoming`].
    pub fn stored_outgoing(&self, node: Node) -> impl Iterator<Item = (u32, Edge)> {
        self.numbered(self.first_out.get(&node), &self.next_out)
    }

    fn numbered<'a>(
        &'a self,
        first: Option<&u32>,
        next: &'a [Option<u32>],
    ) -> impl Iterator<Item = (u32, Edge)> + 'a {
        std::iter::successors(first.copied(), |at| next[*at as usize])
            .map(|at| (at, self.edges[at as usize]))
    }

    /// Edges that cross `[begin, end]`, launches apart, at most `limit`. The cost grows with what
    /// is in view and with a 256th of all edges.
    pub fn in_window(&self, trace: &Trace, begin: i64, end: i64, limit: usize) -> Visible {
        self.blocks
            .search(trace, &self.edges, TimeRange::new(begin, end), limit)
    }

    /// The order within streams: from each task that runs to the next one that does.
    pub fn stream_order<'a>(&self, trace: &'a Trace) -> impl Iterator<Item = Edge> + 'a {
        let streams = (0..trace.streams().len() as u32).map(StreamId);
        streams.flat_map(move |stream| {
            let ids = trace.stream_tasks(stream).iter().copied();
            let ran = move || ids.clone().filter(move |id| trace.runs(trace.task(*id)));
            ran().zip(ran().skip(1)).map(|(from, to)| Edge {
                kind: EdgeKind::StreamOrder,
                from: Node::Task(from),
                to: Node::Task(to),
            })
        })
    }

    /// How many edges of a kind there are; the order within streams is not counted.
    pub fn count(&self, kind: EdgeKind) -> usize {
        self.counts[kind as usize]
    }

    /// Waits on streams that no record is known for: the event had not been recorded, or its
    /// record is not in the trace.
    pub fn unresolved(&self, trace: &Trace) -> Vec<TaskId> {
        self.builder.unresolved(trace)
    }
}
