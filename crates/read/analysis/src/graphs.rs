//! Graphs: captured, or built by hand; their nodes; the number of their replays; and failures.

mod build;
mod explain;
mod links;
mod return_codes;

use std::borrow::Cow;
use std::collections::HashMap;

use ascend_trace_format::record::ActivityKind;
use ascend_trace_recording::{
    CallId, GraphRef, ProcessId, StreamId, Task, TaskId, TaskPart, TimeRange, Trace,
};

pub use explain::{Explanation, Refusal};

/// Position of a graph in [`Graphs::all`].
pub type GraphIndex = usize;

/// How a graph came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphOrigin {
    /// From the submissions to a stream and to the streams that joined it.
    Captured,
    /// By hand: from the submissions to the streams that were bound to it.
    Built,
}

impl GraphOrigin {
    /// The word for it in tables and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Captured => "captured",
            Self::Built => "built",
        }
    }

    /// The verb for it.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Captured => "capture",
            Self::Built => "build",
        }
    }
}

/// Result of making a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Not ended, as far as the trace goes.
    Open,
    /// It can be replayed, or could until it was destroyed.
    Ready,
    /// Its capture could not be ended: the code.
    Failed(i64),
}

impl Outcome {
    /// The word for it in tables and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ready => "ready",
            Self::Failed(_) => "failed",
        }
    }
}

/// A task that became part of a graph instead of running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// Counts the nodes of the graph from 1, in the order in which their calls returned.
    pub number: u32,
    pub task: TaskId,
    pub call: CallId,
    pub stream: StreamId,
}

/// A graph that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Counts the replays of the graph from 1.
    pub number: u32,
    pub call: CallId,
    /// `None` when the call ran the graph itself and waited for it.
    pub task: Option<TaskId>,
}

/// A graph of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    pub process: ProcessId,
    /// Counts the graphs of the process from 1.
    pub serial: u32,
    pub making: GraphOrigin,
    /// The stream that the capture began on.
    pub origin: Option<StreamId>,
    /// The call that began it.
    pub begin: Option<CallId>,
    /// The last call that ended it, or failed to.
    pub end: Option<CallId>,
    pub outcome: Outcome,
    pub destroyed: Option<CallId>,
    /// In the order of the nodes' numbers.
    pub nodes: Vec<GraphNode>,
    pub replays: Vec<Replay>,
    /// Calls that failed on its streams or events while it was captured, or on the graph itself.
    pub refused: Vec<CallId>,
}

/// The graphs of a trace.
#[derive(Clone, Debug, Default)]
pub struct Graphs {
    graphs: Vec<Graph>,
    serials: HashMap<(ProcessId, u32), GraphIndex>,
    /// Calls that failed because of some capture, without a word on which.
    unassigned: Vec<CallId>,
}

/// The graph that a task replays, and the number of the replay.
fn replay_of(trace: &Trace, task: &Task) -> Option<GraphRef> {
    let graph = trace.call(task.call).graph?;
    (graph.index > 0 && trace.runs(task)).then_some(graph)
}

/// The name of a task's operation. All replays of a graph are one operation.
pub fn task_label<'t>(trace: &'t Trace, task: &Task) -> Cow<'t, str> {
    match replay_of(trace, task) {
        Some(graph) => format!("graph {}", graph.serial).into(),
        None => trace.task_name(task).into(),
    }
}

/// The name of a single task: the same, and of a replay also its number.
pub fn single_task_label<'t>(trace: &'t Trace, task: &Task) -> Cow<'t, str> {
    match replay_of(trace, task) {
        Some(graph) => format!("graph {} replay {}", graph.serial, graph.index).into(),
        None => trace.task_name(task).into(),
    }
}

/// The displayed name of a part of a task: the log's, else that of its captured node, else its kind.
pub fn part_label<'t>(
    trace: &'t Trace,
    graphs: &Graphs,
    task: TaskId,
    part: &TaskPart<'t>,
) -> Cow<'t, str> {
    let node = || {
        let (graph, _) = graphs.replayed(trace, task)?;
        let node = graphs.all().get(graph)?.node(part.node?)?;
        Some(trace.task_name(trace.task(node.task)))
    };
    let name = part.name.filter(|name| !name.is_empty());
    name.or_else(node).unwrap_or(part_kind(part)).into()
}

/// The kind of a part in the log.
pub fn part_kind(part: &TaskPart<'_>) -> &'static str {
    part.kind.map_or("other", ActivityKind::name)
}

impl Graphs {
    /// The graphs of a whole trace.
    pub fn of(trace: &Trace) -> Self {
        let mut graphs = Self::default();
        graphs.take_all(trace);
        graphs
    }

    /// The graphs of a trace that has the calls that made them but not those that replayed them, of
    /// which only the numbers are known.
    pub fn with_replays(trace: &Trace, replays: impl Iterator<Item = (ProcessId, u32)>) -> Self {
        let mut graphs = Self::of(trace);
        for (process, serial) in replays {
            let index = graphs.index(process, serial);
            graphs.graphs[index].replayed();
        }
        graphs
    }

    /// In the order in which the trace first mentions them.
    pub fn all(&self) -> &[Graph] {
        &self.graphs
    }

    /// The graph that a call has to do with, and the number of the node or replay: 0 for neither.
    pub fn of_call(&self, trace: &Trace, call: CallId) -> Option<(GraphIndex, u32)> {
        let call = trace.call(call);
        let graph = call.graph?;
        let process = trace.thread(call.thread).process;
        let index = self.serials.get(&(process, graph.serial))?;
        Some((*index, graph.index))
    }

    /// The graph that a task is a replay of, and the number of the replay.
    pub fn replayed(&self, trace: &Trace, task: TaskId) -> Option<(GraphIndex, u32)> {
        let task = trace.task(task);
        let found = self.of_call(trace, task.call)?;
        (trace.runs(task) && found.1 > 0).then_some(found)
    }

    /// The graph that a task is a node of, and the number of the node.
    pub fn captured(&self, trace: &Trace, task: TaskId) -> Option<(GraphIndex, u32)> {
        let task = trace.task(task);
        let found = self.of_call(trace, task.call)?;
        (!trace.runs(task) && found.1 > 0).then_some(found)
    }

    /// Why the graph's capture failed, in words; `None` when it did not.
    pub fn failure(&self, trace: &Trace, graph: &Graph) -> Option<Explanation> {
        explain::failure(self, trace, graph)
    }

    /// Calls that were refused because of the graph's capture, each with the reason in words.
    pub fn refusals(&self, trace: &Trace, graph: &Graph) -> Vec<Refusal> {
        explain::refusals(self, trace, graph)
    }
}

impl Graph {
    /// The streams in the order in which they joined.
    pub fn streams(&self) -> Vec<StreamId> {
        let mut streams: Vec<StreamId> = Vec::new();
        for stream in self
            .origin
            .into_iter()
            .chain(self.nodes.iter().map(|n| n.stream))
        {
            if !streams.contains(&stream) {
                streams.push(stream);
            }
        }
        streams
    }

    /// The node with this number.
    pub fn node(&self, number: u32) -> Option<&GraphNode> {
        let place = self.nodes.binary_search_by_key(&number, |node| node.number);
        self.nodes.get(place.ok()?)
    }

    /// For each node: the numbers of the nodes that must have run before it. Those are the one
    /// before it on its stream and, for a wait, the record that it waits for.
    pub fn dependencies(&self, trace: &Trace) -> Vec<Vec<u32>> {
        links::dependencies(self, trace)
    }

    /// Begin and end of its capture or building on the host, if both are known.
    pub fn making_span(&self, trace: &Trace) -> Option<TimeRange> {
        let begin = trace.call(self.begin?).begin;
        Some(TimeRange::new(begin, trace.call(self.end?).end))
    }
}
