//! What the pieces of a path belong to, in a few bytes each.

use ascend_trace_recording::{TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::segment::{Kind, Owner, Segment};
use crate::{Lane, Node};

/// A call or task on the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    /// When its call began.
    launched: i64,
    /// The depth of a call, the sequence of a task.
    number: u32,
    lane: u32,
    name: u32,
}

/// Threads, streams and names, by number.
#[derive(Debug, Default)]
pub(super) struct Owners {
    lanes: Vec<Place>,
    lane_numbers: FxHashMap<Lane, u32>,
    names: Vec<String>,
    name_numbers: FxHashMap<String, u32>,
}

/// A thread or stream, as pieces name it.
#[derive(Clone, Copy, Debug)]
struct Place {
    lane: Lane,
    process: u32,
    tid: Option<u32>,
    device: Option<u32>,
    stream_id: Option<i64>,
}

impl Place {
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
    /// What is kept of something on the path.
    pub(super) fn own(&mut self, trace: &Trace, node: Node) -> Own {
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
        Own {
            launched: call.begin,
            number,
            lane: self.lane(trace, lane),
            name: self.name(name),
        }
    }

    fn lane(&mut self, trace: &Trace, lane: Lane) -> u32 {
        let lanes = &mut self.lanes;
        *self.lane_numbers.entry(lane).or_insert_with(|| {
            lanes.push(Place::of(trace, lane));
            lanes.len() as u32 - 1
        })
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(number) = self.name_numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.name_numbers.insert(name.to_owned(), number);
        number
    }

    /// A piece of the path that belongs to something which began at a moment.
    pub(super) fn segment(
        &self,
        own: Own,
        begin: i64,
        (kind, piece): (Kind, TimeRange),
    ) -> Segment {
        let place = self.lanes[own.lane as usize];
        Segment {
            kind,
            name: self.names[own.name as usize].clone(),
            begin_ns: piece.begin,
            end_ns: piece.end,
            process: place.process,
            tid: place.tid,
            device: place.device,
            stream_id: place.stream_id,
            tie: false,
            owner: match place.lane {
                Lane::Thread(thread) => Owner::Call {
                    thread,
                    depth: own.number as u8,
                    begin,
                },
                Lane::Stream(stream) => Owner::Task {
                    stream,
                    sequence: own.number,
                    launched: own.launched,
                    begin,
                },
            },
        }
    }
}
