//! The owners of a path's pieces, in a few bytes each.

use std::sync::Arc;

use ascend_trace_recording::Trace;
use rustc_hash::FxHashMap;

use super::segment::{Owner, Segment};
use super::segments::PathPiece;
use crate::{Lane, Node};

/// A call or task on the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathItem {
    pub(super) begin: i64,
    /// When its call began.
    launched: i64,
    /// The depth of a call, the sequence of a task.
    number: u32,
    label: Label,
}

/// A lane and a name, by number.
#[derive(Clone, Copy, Debug)]
struct Label(u32);

/// Threads, streams and names, by number.
#[derive(Debug, Default)]
pub(super) struct Owners {
    lanes: Vec<PieceLane>,
    lane_numbers: FxHashMap<Lane, u32>,
    names: Vec<Arc<str>>,
    name_numbers: FxHashMap<Arc<str>, u32>,
    /// Lane and name.
    labels: Vec<(u32, u32)>,
    label_numbers: FxHashMap<(u32, u32), Label>,
}

/// A thread or stream, as pieces name it.
#[derive(Clone, Copy, Debug)]
struct PieceLane {
    lane: Lane,
    process: u32,
    tid: Option<u32>,
    device: Option<u32>,
    stream_id: Option<i64>,
}

impl PieceLane {
    fn of(trace: &Trace, lane: Lane) -> Self {
        match lane {
            Lane::Thread(id) => {
                let thread = trace.thread(id);
                Self {
                    lane,
                    process: trace.process(thread.process).serial,
                    tid: Some(thread.tid),
                    device: None,
                    stream_id: None,
                }
            }
            Lane::Stream(id) => {
                let stream = trace.stream(id);
                Self {
                    lane,
                    process: trace.process(stream.process).serial,
                    tid: None,
                    device: Some(stream.device),
                    stream_id: Some(stream.number()),
                }
            }
        }
    }
}

impl Owners {
    /// The kept facts about an item on the path.
    pub(super) fn own(&mut self, trace: &Trace, node: Node, begin: i64) -> PathItem {
        let (call, lane, number, name) = match node {
            Node::Call(id) => {
                let call = trace.call(id);
                let name = &trace.function(call.function).name;
                (
                    call,
                    Lane::Thread(call.thread),
                    call.depth.into(),
                    name.as_str(),
                )
            }
            Node::Task(id) => {
                let task = trace.task(id);
                let lane = Lane::Stream(task.stream);
                let name = trace.task_name(task);
                (trace.call(task.call), lane, task.sequence, name)
            }
        };
        PathItem {
            begin,
            launched: call.begin,
            number,
            label: self.label(trace, lane, name),
        }
    }

    fn label(&mut self, trace: &Trace, lane: Lane, name: &str) -> Label {
        let both = (self.lane(trace, lane), self.name(name));
        let labels = &mut self.labels;
        *self.label_numbers.entry(both).or_insert_with(|| {
            labels.push(both);
            Label(labels.len() as u32 - 1)
        })
    }

    fn lane(&mut self, trace: &Trace, lane: Lane) -> u32 {
        let lanes = &mut self.lanes;
        *self.lane_numbers.entry(lane).or_insert_with(|| {
            lanes.push(PieceLane::of(trace, lane));
            lanes.len() as u32 - 1
        })
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(number) = self.name_numbers.get(name) {
            return *number;
        }
        let (number, name) = (self.names.len() as u32, Arc::<str>::from(name));
        self.names.push(Arc::clone(&name));
        self.name_numbers.insert(name, number);
        number
    }

    /// A piece of the path that belongs to something.
    pub(super) fn segment(&self, own: PathItem, piece: &PathPiece) -> Segment {
        let (lane, name) = self.labels[own.label.0 as usize];
        let place = self.lanes[lane as usize];
        Segment {
            kind: piece.kind,
            name: Arc::clone(&self.names[name as usize]),
            begin_ns: piece.range.begin,
            end_ns: piece.range.end,
            process: place.process,
            tid: place.tid,
            device: place.device,
            stream_id: place.stream_id,
            tie: piece.tie,
            error_ns: piece.error.into(),
            owner: match place.lane {
                Lane::Thread(thread) => Owner::Call {
                    thread,
                    depth: own.number as u8,
                    begin: own.begin,
                },
                Lane::Stream(stream) => Owner::Task {
                    stream,
                    sequence: own.number,
                    launched: own.launched,
                    begin: own.begin,
                },
            },
        }
    }

    /// The number of the process that a call or task is of.
    pub(super) fn process(&self, own: PathItem) -> u32 {
        let (lane, _) = self.labels[own.label.0 as usize];
        self.lanes[lane as usize].process
    }
}
