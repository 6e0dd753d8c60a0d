//! Dependencies as flows.
//!
//! The importer joins the slices that name the same flow, in the order in which their events come,
//! and lets the arrow point from the slice that begins first. A wait or a blocking call begins
//! before what releases it: such an arrow ends at a mark inside it, at its end.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;

use ascend_trace_analysis::{Edge, EdgeKind, Node};
use ascend_trace_recording::{CallId, Task, TaskId, Trace};

use super::fields::event::INSTANT;
use super::output::{PacketOutput, TrackEvent};
use crate::ExportSource;
use crate::dependency_end::{arrives_early, drawn_end};
use crate::tracks::{SliceTrack, TrackLayout, is_waiter};

/// The number of a flow: which two things it joins. Calls and tasks of one trace have numbers
/// of 31 bits as far as anyone has memory for an export of more.
fn number(trace: &Trace, edge: &Edge) -> u64 {
    let end = |node| match node {
        Node::Call(id) => (1, u64::from(trace.call_number(id))),
        Node::Task(id) => (0, u64::from(trace.task_number(id))),
    };
    let ((from_call, from), (to_call, to)) = (end(edge.from), end(edge.to));
    const MASK: u64 = (1 << 31) - 1;
    from_call << 63 | to_call << 62 | (from & MASK) << 31 | to & MASK
}

/// Where an arrow arrives at a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrowArrival {
    /// With the slice's begin.
    Begin,
    /// With the slice's end.
    End,
    /// At a separate mark just before the slice's end.
    Mark,
}

/// Which slice of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeSlice {
    /// A task's own.
    Task,
    /// That of a call, also for the task that it submitted.
    Call,
}

/// Between which slices an edge is drawn.
#[derive(Clone, Copy, Debug)]
struct FlowRoute {
    from: NodeSlice,
    to: NodeSlice,
    arrival: ArrowArrival,
}

/// A slice as far as the order of events goes.
#[derive(Clone, Copy, Debug)]
struct SliceExtent {
    begin: i64,
    end: i64,
    /// Orders slices at equal times as the file does.
    rank: u8,
}

/// Where a mark is, when, and whether arrows leave there.
type FarMark = (SliceTrack, i64, bool);

/// Which flows touch which slice.
pub(super) struct SliceFlows<'s, 't> {
    source: &'s ExportSource<'t>,
    tracks: &'s TrackLayout,
    linked: LinkedNodes,
    /// Dependencies that no pair of slices can show.
    omitted: Cell<u64>,
}

impl<'s, 't> SliceFlows<'s, 't> {
    pub(super) fn new(source: &'s ExportSource<'t>, tracks: &'s TrackLayout) -> Self {
        Self {
            source,
            tracks,
            linked: LinkedNodes::of(source),
            omitted: Cell::new(0),
        }
    }

    pub(super) fn omitted(&self) -> u64 {
        self.omitted.get()
    }

    /// The flows of a task's slice.
    pub(super) fn of_task(&self, id: TaskId) -> TouchingFlows {
        let mut touch = TouchingFlows::default();
        self.add(Node::Task(id), NodeSlice::Task, &mut touch);
        touch
    }

    /// The flows of a call's slice: its own, and those of its task that its slice cannot take.
    pub(super) fn of_call(&self, id: CallId) -> TouchingFlows {
        let mut touch = TouchingFlows::default();
        self.add(Node::Call(id), NodeSlice::Call, &mut touch);
        if let Some(task) = self.source.trace.call(id).task {
            self.add(Node::Task(task), NodeSlice::Call, &mut touch);
        }
        touch
    }

    /// Whether a dependency is known when both its ends are written. Longer ones get separate marks;
    /// see [`SliceFlows::write_far`].
    fn is_near(&self, edge: &Edge) -> bool {
        let (source, part) = (self.source, &self.source.part);
        let is_known = || source.keys.edge(source.trace, edge) < part.known;
        (part.is_last || is_known()) && source.selection.edge(edge)
    }

    /// Adds the flows of a node that this slice of it takes part in.
    fn add(&self, node: Node, slice: NodeSlice, touch: &mut TouchingFlows) {
        let trace = self.source.trace;
        let dependencies = &self.source.dependencies;
        let launched = match node {
            Node::Call(call) => trace.call(call).task,
            Node::Task(_) => None,
        };
        let launch = launched.map(|task| Edge::launch(trace, task));
        let is_linked = self.linked.has(node);
        let stored = is_linked.then(|| dependencies.stored_outgoing(node));
        let stored = stored.into_iter().flatten().map(|(_, edge)| edge);
        let edges = launch.into_iter().chain(stored);
        for edge in edges.filter(|edge| self.is_near(edge)) {
            match self.route(&edge) {
                Some(route) if route.from == slice => touch.leaving.push(number(trace, &edge)),
                Some(_) => {}
                // Counted once: every node with edges has one slice that is a call's.
                None if slice == NodeSlice::Call => self.omitted.set(self.omitted.get() + 1),
                None => {}
            }
        }
        // A launch arrives at the task's own slice.
        let launch = match (node, slice) {
            (Node::Task(task), NodeSlice::Task) => Some(Edge::launch(trace, task)),
            _ => None,
        };
        let stored = is_linked.then(|| dependencies.stored_incoming(node));
        let stored = stored.into_iter().flatten().map(|(_, edge)| edge);
        let edges = launch.into_iter().chain(stored);
        for edge in edges.filter(|edge| self.is_near(edge)) {
            if let Some(route) = self.route(&edge).filter(|route| route.to == slice) {
                touch.arriving.push((route.arrival, number(trace, &edge)));
            }
        }
    }

    /// Writes the missing ends of arrows with another end in this part that were not known when these
    /// ends were written. Those of a slice share a mark at its end: importers limit the depth of slices
    /// on top of each other.
    pub(super) fn write_far(&self, output: &mut PacketOutput<'_>) -> io::Result<()> {
        let (source, trace) = (self.source, self.source.trace);
        let key = |node| source.keys.node(trace, node);
        let mut marks: BTreeMap<FarMark, Vec<u64>> = BTreeMap::new();
        let edges = source.dependencies.edges().iter();
        for edge in edges.filter(|edge| source.owns_edge(edge)) {
            let of_edge = key(edge.from).max(key(edge.to));
            let is_far = |node| source.part.is_far(key(node), of_edge);
            if !is_far(edge.from) && !is_far(edge.to) {
                continue;
            }
            let Some(route) = self.route(edge) else {
                self.omitted.set(self.omitted.get() + 1);
                continue;
            };
            let (leave, arrive) = (
                self.mark(edge.from, route.from),
                self.mark(edge.to, route.to),
            );
            let arrive_begin = match route.arrival {
                ArrowArrival::Begin => self.begin(edge.to, route.to),
                ArrowArrival::End | ArrowArrival::Mark => arrive.1,
            };
            if is_far(edge.from) {
                let time = leave.1.min(arrive_begin);
                let flows = marks.entry((leave.0, time, true)).or_default();
                flows.push(number(trace, edge));
            }
            if is_far(edge.to) {
                let flows = marks.entry((arrive.0, arrive.1, false)).or_default();
                flows.push(number(trace, edge));
            }
        }
        for ((track, time, leaves), flows) in marks {
            output.event(INSTANT, track, time, |event| {
                let name = if leaves { "releases" } else { "released" };
                event.named(name, "released");
                for flow in flows {
                    match leaves {
                        true => event.flow_begins(flow),
                        false => event.flow_ends(flow),
                    }
                }
            })?;
        }
        Ok(())
    }

    /// When a slice of a node begins.
    fn begin(&self, node: Node, slice: NodeSlice) -> i64 {
        let trace = self.source.trace;
        match (node, slice) {
            (Node::Task(id), NodeSlice::Task) => {
                let task = trace.task(id);
                task.time.map_or(i64::MAX, |time| time.begin)
            }
            (Node::Task(id), NodeSlice::Call) => trace.call(trace.task(id).call).begin,
            (Node::Call(id), _) => trace.call(id).begin,
        }
    }

    /// Where a mark for a slice of a node goes.
    fn mark(&self, node: Node, slice: NodeSlice) -> (SliceTrack, i64) {
        let trace = self.source.trace;
        let call = match node {
            Node::Call(id) => id,
            Node::Task(id) => trace.task(id).call,
        };
        let of_call = (self.tracks.call(trace, call), trace.call(call).end);
        match (node, slice) {
            (Node::Task(id), NodeSlice::Task) => {
                let track = self.tracks.task(trace, id);
                let time = trace.task(id).time;
                let end = time.map(|time| drawn_end(self.source, id, time));
                track.zip(end).unwrap_or(of_call)
            }
            _ => of_call,
        }
    }

    /// Between which slices an edge is drawn: those of the tasks, unless they have none or their
    /// mapped times contradict the dependency; then those of the calls that submitted them.
    fn route(&self, edge: &Edge) -> Option<FlowRoute> {
        // A launch comes from its call and cannot go there.
        if let (EdgeKind::LaunchToTask, Node::Call(from), Node::Task(to)) =
            (edge.kind, edge.from, edge.to)
        {
            let arrival = arrival(edge.kind, &self.call(from), &self.task(to)?)?;
            let (from, to) = (NodeSlice::Call, NodeSlice::Task);
            return Some(FlowRoute { from, to, arrival });
        }
        let (froms, tos) = (self.candidates(edge.from), self.candidates(edge.to));
        let pairs = froms
            .iter()
            .flat_map(|from| tos.iter().map(move |to| (from, to)));
        for (from, to) in pairs {
            let (Some(from), Some(to)) = (from, to) else {
                continue;
            };
            if let Some(arrival) = arrival(edge.kind, &from.1, &to.1) {
                return Some(FlowRoute {
                    from: from.0,
                    to: to.0,
                    arrival,
                });
            }
        }
        None
    }

    fn candidates(&self, node: Node) -> [Option<(NodeSlice, SliceExtent)>; 2] {
        match node {
            Node::Call(id) => [Some((NodeSlice::Call, self.call(id))), None],
            Node::Task(id) => {
                let call = self.call(self.source.trace.task(id).call);
                [
                    self.task(id).map(|extent| (NodeSlice::Task, extent)),
                    Some((NodeSlice::Call, call)),
                ]
            }
        }
    }

    fn task(&self, id: TaskId) -> Option<SliceExtent> {
        let task = self.source.trace.task(id);
        let time = task.time?;
        Some(SliceExtent {
            begin: time.begin,
            end: drawn_end(self.source, id, time),
            rank: rank(self.source.trace, task),
        })
    }

    fn call(&self, id: CallId) -> SliceExtent {
        let call = self.source.trace.call(id);
        SliceExtent {
            begin: call.begin,
            end: call.end,
            rank: CALLS,
        }
    }
}

/// Which calls and tasks have stored edges: most have none, and need not be looked up.
struct LinkedNodes {
    calls: Vec<bool>,
    tasks: Vec<bool>,
}

impl LinkedNodes {
    fn of(source: &ExportSource<'_>) -> Self {
        let mut linked = Self {
            calls: vec![false; source.trace.calls().len()],
            tasks: vec![false; source.trace.tasks().len()],
        };
        for edge in source.dependencies.edges() {
            linked.mark(edge.from);
            linked.mark(edge.to);
        }
        linked
    }

    fn mark(&mut self, node: Node) {
        let entry = match node {
            Node::Call(id) => self.calls.get_mut(id.index()),
            Node::Task(id) => self.tasks.get_mut(id.index()),
        };
        entry.into_iter().for_each(|is_linked| *is_linked = true);
    }

    fn has(&self, node: Node) -> bool {
        let entry = match node {
            Node::Call(id) => self.calls.get(id.index()),
            Node::Task(id) => self.tasks.get(id.index()),
        };
        entry.copied().unwrap_or(false)
    }
}

/// How the flow of an edge arrives, if it can be drawn between these slices.
fn arrival(kind: EdgeKind, from: &SliceExtent, to: &SliceExtent) -> Option<ArrowArrival> {
    let after = |time: i64| (time, to.rank) > (from.begin, from.rank);
    let early = arrives_early(kind);
    if after(to.begin) && (early || to.begin >= from.end) {
        Some(ArrowArrival::Begin)
    } else if kind == EdgeKind::LaunchToTask {
        (to.begin >= from.begin && after(to.end)).then_some(ArrowArrival::End)
    } else {
        after(to.end).then_some(ArrowArrival::Mark)
    }
}

/// The file contains the calls, then the tasks, then the waits: a task can begin at the time of its
/// launch, but a call that waits takes time.
const CALLS: u8 = 0;
pub(super) const TASKS: u8 = 1;
pub(super) const WAITS: u8 = 2;

pub(super) fn rank(trace: &Trace, task: &Task) -> u8 {
    if is_waiter(trace, task) { WAITS } else { TASKS }
}

/// The flows that touch one slice.
#[derive(Debug, Default)]
pub(super) struct TouchingFlows {
    leaving: ShortList<u64>,
    arriving: ShortList<(ArrowArrival, u64)>,
}

/// A list that nearly always has one entry, which needs no allocation.
#[derive(Debug)]
struct ShortList<T> {
    first: Option<T>,
    others: Vec<T>,
}

impl<T> Default for ShortList<T> {
    fn default() -> Self {
        Self {
            first: None,
            others: Vec::new(),
        }
    }
}

impl<T> ShortList<T> {
    fn push(&mut self, item: T) {
        match self.first {
            None => self.first = Some(item),
            Some(_) => self.others.push(item),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.others)
    }
}

impl TouchingFlows {
    pub(super) fn has(&self, arrival: ArrowArrival) -> bool {
        self.arriving.iter().any(|entry| entry.0 == arrival)
    }

    pub(super) fn write_leaving(&self, event: &mut TrackEvent<'_>) {
        self.leaving
            .iter()
            .for_each(|flow| event.flow_begins(*flow));
    }

    pub(super) fn write_arriving(&self, arrival: ArrowArrival, event: &mut TrackEvent<'_>) {
        let arriving = self.arriving.iter().filter(|entry| entry.0 == arrival);
        arriving.for_each(|(_, flow)| event.flow_ends(*flow));
    }
}
