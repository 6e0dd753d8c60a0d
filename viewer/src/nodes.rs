//! The nodes of graphs inside their replays. A replay is one task, so nodes have no separate times,
//! except in the hardware log: they share its time in their order.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_analysis::{Graph, Graphs};
use ascend_trace_recording::{StreamId, TaskId, TaskPart, TimeRange, Trace};

/// A node in a replay, with its share of the replay's time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplayNode {
    pub(crate) replay: TaskId,
    /// The task that was captured.
    pub(crate) task: TaskId,
    /// Counts the nodes of the graph from 1.
    pub(crate) number: u32,
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

/// Times of a replay may still be corrected while a trace grows; the node stays the same.
impl PartialEq for ReplayNode {
    fn eq(&self, other: &Self) -> bool {
        (self.replay, self.number) == (other.replay, other.number)
    }
}

impl Eq for ReplayNode {}

/// A replay and its parts.
#[derive(Clone, Debug)]
pub(crate) struct ReplayNodes<'g> {
    graph: &'g Graph,
    replay: TaskId,
    span: TimeRange,
    /// The time of each node in the hardware log. Nodes without an entry have no duration.
    times: Option<Vec<TimeRange>>,
}

impl<'g> ReplayNodes<'g> {
    /// Nothing when the task is no replay, has no time, or its graph's nodes are not known.
    pub(crate) fn of(graphs: &'g Graphs, trace: &Trace, task: TaskId) -> Option<Self> {
        let time = trace.task(task).time?;
        let (index, _) = graphs.replayed(trace, task)?;
        let graph = graphs.all().get(index)?;
        (!graph.nodes.is_empty()).then_some(Self {
            graph,
            replay: task,
            span: TimeRange::new(time.begin, time.end.max(time.begin)),
            times: times(graph, &trace.parts(task), time.begin),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.graph.nodes.len()
    }

    /// The node at a place, from 0.
    pub(crate) fn node(&self, place: usize) -> Option<ReplayNode> {
        let node = self.graph.nodes.get(place)?;
        let TimeRange { begin, end } = match &self.times {
            Some(times) => *times.get(place)?,
            None => TimeRange::new(self.share(place), self.share(place + 1)),
        };
        Some(ReplayNode {
            replay: self.replay,
            task: node.task,
            number: node.number,
            begin,
            end,
        })
    }

    /// When the share of the node at a place begins.
    fn share(&self, place: usize) -> i64 {
        let length = i128::from(self.span.end) - i128::from(self.span.begin);
        let part = length * place as i128 / self.len().max(1) as i128;
        self.span.begin.saturating_add(part as i64)
    }

    /// The node that runs at a timestamp, or has the share around it.
    pub(crate) fn at(&self, time: i64) -> Option<ReplayNode> {
        if let Some(times) = &self.times {
            let away = |span: TimeRange| {
                let early = span.begin.saturating_sub(time);
                let outside = early.max(time.saturating_sub(span.end));
                (outside.max(0), span.is_empty())
            };
            let places = (0..).zip(times);
            let (place, _) = places.min_by_key(|(_, span)| away(**span))?;
            return self.node(place);
        }
        let length = (i128::from(self.span.end) - i128::from(self.span.begin)).max(1);
        let offset = (i128::from(time) - i128::from(self.span.begin)).clamp(0, length - 1);
        let place = (offset * self.len() as i128 / length) as usize;
        // The share was rounded down, so the timestamp may belong to the next one.
        let next = place + 1 < self.len() && self.share(place + 1) <= time;
        self.node(place + usize::from(next))
    }

    /// The place of a node with this number.
    pub(crate) fn place(&self, number: u32) -> Option<usize> {
        let nodes = &self.graph.nodes;
        nodes.binary_search_by_key(&number, |node| node.number).ok()
    }
}

/// When the nodes of a graph ran in a replay, if that is known.
fn times(graph: &Graph, parts: &[TaskPart<'_>], begin: i64) -> Option<Vec<TimeRange>> {
    let mut spans: BTreeMap<u32, TimeRange> = BTreeMap::new();
    let known = parts.iter().filter_map(|part| {
        let node = part.node.filter(|node| *node > 0)?;
        Some((node, TimeRange::new(part.begin, part.end)))
    });
    for (node, span) in known {
        let all = spans.entry(node).or_insert(span);
        *all = all.hull(span);
    }
    let mut last = begin;
    let nodes = graph.nodes.iter().map(|node| {
        let span = spans
            .get(&node.number)
            .copied()
            .unwrap_or(TimeRange::at(last));
        last = span.end;
        span
    });
    (!spans.is_empty()).then(|| nodes.collect())
}

/// The streams that have a line for nodes, and for what else runs inside of tasks.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeLines {
    streams: BTreeSet<StreamId>,
    /// By graph: the replays that have been looked at.
    seen: Vec<usize>,
}

impl NodeLines {
    /// Takes in the replays that are new.
    pub(crate) fn update(&mut self, trace: &Trace, graphs: &Graphs) {
        self.seen.resize(graphs.all().len(), 0);
        for (graph, seen) in graphs.all().iter().zip(&mut self.seen) {
            if graph.nodes.is_empty() {
                continue;
            }
            let new = graph.replays.get(*seen..).unwrap_or_default();
            let tasks = new.iter().filter_map(|replay| replay.task);
            self.streams
                .extend(tasks.map(|task| trace.lane_of(trace.task(task).stream)));
            *seen = graph.replays.len();
        }
        let streams = (0..trace.streams().len() as u32).map(StreamId);
        self.streams.extend(
            streams
                .filter(|id| trace.has_parts(*id))
                .map(|id| trace.lane_of(id)),
        );
    }

    /// With the lines that another part of the recording had.
    pub(crate) fn with_lines_of(mut self, other: &Self) -> Self {
        self.streams.extend(&other.streams);
        self
    }

    pub(crate) fn has(&self, stream: StreamId) -> bool {
        self.streams.contains(&stream)
    }
}
