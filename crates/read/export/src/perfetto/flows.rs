//! Dependencies as flows.
//!
//! The importer joins the slices that name the same flow, in the order in which their events come,
//! and lets the arrow point from the slice that begins first. A wait or a blocking call begins
//! before what releases it: such an arrow ends at a mark inside it, at its end.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;

use ascend_trace_analysis::{Edge, EdgeKind, Node};
use ascend_trace_recording::Trace;

use super::fields::event::INSTANT;
use super::output::{PacketOutput, TrackEvent};
use crate::ExportSource;
use crate::dependency_end::drawn_end;
use crate::dependency_slices::{NodeSlice, first_pair};
use crate::timeline::TimelinePart;
use crate::tracks::{SliceTrack, is_waiter};

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

/// Which flows touch which slice of a part.
pub(super) struct SliceFlows<'p, 't> {
    part: TimelinePart<'p, 't>,
    linked: &'p LinkedNodes,
}

impl SliceFlows<'_, '_> {
    /// The flows of a slice. That of a call has its own, and those of its task that the task's slice cannot take.
    pub(super) fn of(&self, slice: NodeSlice) -> TouchingFlows {
        let mut touch = TouchingFlows::default();
        match slice {
            NodeSlice::Task(id) => self.add(Node::Task(id), slice, &mut touch),
            NodeSlice::Call(id) => {
                self.add(Node::Call(id), slice, &mut touch);
                if let Some(task) = self.part.source.trace.call(id).task {
                    self.add(Node::Task(task), slice, &mut touch);
                }
            }
        }
        touch
    }

    /// Whether a dependency is known when both its ends are written. Longer ones get separate marks;
    /// see [`SliceFlows::write_far`].
    fn is_near(&self, edge: &Edge) -> bool {
        let source = self.part.source;
        let part = &source.part;
        let is_known = || source.keys.edge(source.trace, edge) < part.known;
        (part.is_last || is_known()) && source.selection.edge(edge)
    }

    /// Adds the flows of a node that this slice of it takes part in.
    fn add(&self, node: Node, slice: NodeSlice, touch: &mut TouchingFlows) {
        let source = self.part.source;
        let (trace, dependencies) = (source.trace, &source.dependencies);
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
                None => self.linked.omit(matches!(slice, NodeSlice::Call(_))),
            }
        }
        // A launch arrives at the task's own slice.
        let launch = match (node, slice) {
            (Node::Task(task), NodeSlice::Task(_)) => Some(Edge::launch(trace, task)),
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
    pub(super) fn write_far(&self, output: &mut PacketOutput<'_>) -> io::Result<u64> {
        let source = self.part.source;
        let (trace, mut omitted) = (source.trace, 0);
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
                omitted += 1;
                continue;
            };
            let (leave, arrive) = (self.mark(route.from), self.mark(route.to));
            let arrive_begin = match route.arrival {
                ArrowArrival::Begin => self.extent(route.to).map_or(i64::MAX, |it| it.begin),
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
        Ok(omitted)
    }

    /// Where a mark for a slice goes.
    fn mark(&self, slice: NodeSlice) -> (SliceTrack, i64) {
        let TimelinePart { source, tracks } = self.part;
        let trace = source.trace;
        let call = match slice {
            NodeSlice::Call(id) => id,
            NodeSlice::Task(id) => trace.task(id).call,
        };
        let own = match slice {
            NodeSlice::Call(_) => None,
            NodeSlice::Task(id) => tracks.task(trace, id).zip(self.extent(slice)),
        };
        match own {
            Some((track, extent)) => (track, extent.end),
            None => (tracks.call(trace, call), trace.call(call).end),
        }
    }

    /// Between which slices an edge is drawn.
    fn route(&self, edge: &Edge) -> Option<FlowRoute> {
        first_pair(self.part.source.trace, edge, |from, to| {
            let arrival = arrival(edge.kind, &self.extent(from)?, &self.extent(to)?)?;
            Some(FlowRoute { from, to, arrival })
        })
    }

    fn extent(&self, slice: NodeSlice) -> Option<SliceExtent> {
        let source = self.part.source;
        let trace = source.trace;
        Some(match slice {
            NodeSlice::Task(id) => {
                let task = trace.task(id);
                let time = task.time?;
                SliceExtent {
                    begin: time.begin,
                    end: drawn_end(source, id, time),
                    rank: if is_waiter(trace, task) { WAITS } else { TASKS },
                }
            }
            NodeSlice::Call(id) => {
                let call = trace.call(id);
                SliceExtent {
                    begin: call.begin,
                    end: call.end,
                    rank: CALLS,
                }
            }
        })
    }
}

/// Which calls and tasks of a part have stored edges: most have none, and need not be looked up.
#[derive(Default)]
pub(super) struct LinkedNodes {
    calls: Vec<bool>,
    tasks: Vec<bool>,
    /// Dependencies that no pair of slices can show.
    omitted: Cell<u64>,
}

impl LinkedNodes {
    /// Begins a part.
    pub(super) fn update(&mut self, source: &ExportSource<'_>) {
        self.calls.clear();
        self.calls.resize(source.trace.calls().len(), false);
        self.tasks.clear();
        self.tasks.resize(source.trace.tasks().len(), false);
        for edge in source.dependencies.edges() {
            self.mark(edge.from);
            self.mark(edge.to);
        }
    }

    pub(super) fn flows<'p, 't>(&'p self, part: TimelinePart<'p, 't>) -> SliceFlows<'p, 't> {
        SliceFlows { part, linked: self }
    }

    fn omit(&self, is_counted: bool) {
        self.omitted.set(self.omitted.get() + u64::from(is_counted));
    }

    pub(super) fn take_omitted(&self) -> u64 {
        self.omitted.take()
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
    let early = kind.arrives_early();
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
const TASKS: u8 = 1;
const WAITS: u8 = 2;

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
