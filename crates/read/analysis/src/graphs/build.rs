//! Collects the graphs from the calls that name them.

use ascend_trace_format::api::{Fact, RetKind, Role};
use ascend_trace_recording::{Call, CallId, GraphRef, ProcessId, Trace, is_capture_code};

use super::return_codes::UNMATCHED;
use super::{Graph, GraphIndex, GraphNode, GraphOrigin, Graphs, Outcome, Replay};

impl Graphs {
    pub(super) fn take_all(&mut self, trace: &Trace) {
        for (id, call) in (0..).map(CallId).zip(trace.calls()) {
            match call.graph {
                Some(graph) if graph.serial != 0 => self.take(trace, id, graph),
                _ if failed(trace, call) && is_capture_code(call.ret) => self.unassigned.push(id),
                _ => {}
            }
        }
    }

    fn take(&mut self, trace: &Trace, id: CallId, graph: GraphRef) {
        let call = trace.call(id);
        let process = trace.thread(call.thread).process;
        let index = self.index(process, graph.serial);
        self.graphs[index].take(trace, id, graph.index);
    }

    pub(super) fn index(&mut self, process: ProcessId, serial: u32) -> GraphIndex {
        let next = self.graphs.len();
        let index = *self.serials.entry((process, serial)).or_insert(next);
        if index == next {
            self.graphs.push(Graph::new(process, serial));
        }
        index
    }
}

/// Whether the call returned an error.
pub(super) fn failed(trace: &Trace, call: &Call) -> bool {
    trace.function(call.function).ret == RetKind::Error && call.ret != 0
}

impl Graph {
    fn new(process: ProcessId, serial: u32) -> Self {
        Self {
            process,
            serial,
            making: GraphOrigin::Captured,
            origin: None,
            begin: None,
            end: None,
            outcome: Outcome::Open,
            destroyed: None,
            nodes: Vec::new(),
            replays: Vec::new(),
            refused: Vec::new(),
        }
    }

    fn take(&mut self, trace: &Trace, id: CallId, number: u32) {
        let call = trace.call(id);
        let role = trace.function(call.function).role;
        if failed(trace, call) {
            if role == Role::CaptureEnd {
                self.ended(trace, id);
            }
            // An end on the wrong stream leaves the capture as it is.
            if role != Role::CaptureEnd || call.ret == UNMATCHED {
                insert(&mut self.refused, id, |other| trace.call(*other).begin);
            }
            return;
        }
        match role {
            Role::CaptureBegin => {
                self.begin = Some(id);
                self.origin = call.stream;
            }
            Role::CaptureEnd => self.ended(trace, id),
            Role::BuildGraph => {
                self.begin = Some(id);
                self.making = GraphOrigin::Built;
            }
            Role::BindStream => self.making = GraphOrigin::Built,
            Role::UseGraph if trace.function(call.function).is(Fact::CompletesGraph) => {
                self.end = Some(id);
                self.outcome = Outcome::Ready;
            }
            Role::DestroyGraph => self.destroyed = Some(id),
            _ => self.grow(trace, id, number),
        }
    }

    /// Notes an attempt to end the capture: the last one counts, and a success more than any.
    fn ended(&mut self, trace: &Trace, id: CallId) {
        let call = trace.call(id);
        let is_later = |end: CallId| trace.call(end).begin <= call.begin;
        if self.outcome == Outcome::Ready || !self.end.is_none_or(is_later) {
            return;
        }
        self.end = Some(id);
        self.outcome = match call.ret {
            0 => Outcome::Ready,
            code => Outcome::Failed(code),
        };
    }

    /// Whoever replays a graph has it whole, whether its making was seen or not.
    pub(super) fn replayed(&mut self) {
        self.outcome = Outcome::Ready;
    }

    /// Notes a node or a replay.
    fn grow(&mut self, trace: &Trace, id: CallId, number: u32) {
        let call = trace.call(id);
        let node = call.task.filter(|task| !trace.runs(trace.task(*task)));
        let is_replay = trace.function(call.function).role == Role::ExecuteGraph;
        match (number, node, call.stream) {
            (0, _, _) => {}
            (_, Some(task), Some(stream)) => {
                let node = GraphNode {
                    number,
                    task,
                    call: id,
                    stream,
                };
                insert(&mut self.nodes, node, |node| node.number);
            }
            _ if call.task.is_some() || is_replay => {
                self.replayed();
                let replay = Replay {
                    number,
                    call: id,
                    task: call.task,
                };
                insert(&mut self.replays, replay, |replay| replay.number);
            }
            _ => {}
        }
    }
}

/// Puts an item in its place; nearly always that is the end.
fn insert<T, K: Ord>(items: &mut Vec<T>, item: T, key: impl Fn(&T) -> K) {
    let place = items.partition_point(|other| key(other) <= key(&item));
    items.insert(place, item);
}
