//! What calls and tasks waited for.

use ascend_trace_recording::{CallId, StreamId, TaskId, ThreadId, TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::item_code::Code;
use crate::dependencies::runs;
use crate::{Cause as StallCause, Class, EdgeKind, Node, Window};

/// How one thing waited for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum WaitReason {
    /// For nothing that is known.
    None,
    /// A call for the one before it on its thread.
    Program,
    /// A call for the begin of the one that it was made in.
    Inside,
    /// A call that submits for the one that planned.
    Queue,
    /// A callback for the task that it serves.
    CallbackBegin,
    /// A task for the call that submitted it.
    Launch,
    /// A task for the one before it on its stream.
    Order,
    /// The end of a wait for what released it.
    Release,
    /// The end of a call that blocked for the task that it waited for.
    Return,
    /// The end of a callback's task for the callback.
    CallbackEnd,
    /// The work of a collective for the begin of its last peer.
    Peer,
    /// A call for what its thread seems to have waited for outside of AscendCL.
    Handover,
    /// The same, for the begin of a function on the host.
    HandoverBegin,
    /// A call for the one before it on its thread, after a pause of which no cause is known.
    Outside,
}

impl WaitReason {
    /// Whether it says why something ended, rather than why it began.
    pub(super) fn is_of_end(self) -> bool {
        matches!(
            self,
            Self::Release | Self::Return | Self::CallbackEnd | Self::Peer
        )
    }

    /// Whether the target of the wait had not ended when it was left.
    pub(super) fn leaves_early(self) -> bool {
        matches!(
            self,
            Self::Inside | Self::Launch | Self::CallbackBegin | Self::Peer | Self::HandoverBegin
        )
    }
}

/// Something that was waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cause {
    pub(super) code: Code,
    pub(super) way: WaitReason,
    /// The time from which on it was available, and its error.
    pub(super) leave: i64,
    pub(super) error: i64,
}

/// What ran last on a stream or thread.
#[derive(Clone, Copy, Debug)]
struct Last {
    code: Code,
    end: i64,
    error: i64,
}

/// Finds the cause of each call and task, in order.
#[derive(Debug, Default)]
pub(super) struct Causes {
    streams: FxHashMap<StreamId, Last>,
    threads: FxHashMap<ThreadId, Last>,
}

impl Causes {
    /// Hands out the calls and tasks of a window's part, each with the causes of its begin.
    pub(super) fn of_begins(&mut self, window: &Window<'_>, take: &mut dyn FnMut(Node, &[Cause])) {
        let trace = window.trace;
        let mut found = Vec::new();
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            for id in window.thread_calls(thread) {
                found.clear();
                self.call(window, id, &mut found);
                take(Node::Call(id), &found);
            }
        }
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in window.stream_tasks(stream) {
                found.clear();
                if self.task(trace, stream, id, &mut found) {
                    take(Node::Task(id), &found);
                }
            }
        }
    }

    fn call(&mut self, window: &Window<'_>, id: CallId, found: &mut Vec<Cause>) {
        let trace = window.trace;
        let call = trace.call(id);
        if let Some(last) = self.threads.get(&call.thread) {
            let (way, leave) = match call.depth {
                0 => (WaitReason::Program, last.end.min(call.begin)),
                _ => (WaitReason::Inside, call.begin),
            };
            found.push(Cause {
                code: last.code,
                way,
                leave,
                error: 0,
            });
        }
        for (_, edge) in window.dependencies.stored_incoming(Node::Call(id)) {
            let way = match edge.kind {
                EdgeKind::Plan => WaitReason::Queue,
                EdgeKind::HostFunc => WaitReason::CallbackBegin,
                _ => continue,
            };
            if let Some(times) = edge.times(trace) {
                found.push(Cause {
                    code: Code::of(trace, edge.from),
                    way,
                    leave: times.leave.min(call.begin),
                    error: error(trace, edge.from),
                });
            }
        }
        if call.depth == 0 {
            let last = Last {
                code: Code::of(trace, Node::Call(id)),
                end: call.end,
                error: 0,
            };
            self.threads.insert(call.thread, last);
        }
    }

    /// Returns whether the task has a time.
    fn task(&mut self, trace: &Trace, on: StreamId, id: TaskId, found: &mut Vec<Cause>) -> bool {
        let task = trace.task(id);
        let Some(time) = task.time.filter(|_| runs(trace, id)) else {
            return false;
        };
        let call = trace.call(task.call);
        // The device's clock need not agree with the host's to the nanosecond.
        found.push(Cause {
            code: Code::of(trace, Node::Call(task.call)),
            way: WaitReason::Launch,
            leave: call.end.min(time.begin),
            error: time.error,
        });
        if let Some(last) = self.streams.get(&on) {
            found.push(Cause {
                code: last.code,
                way: WaitReason::Order,
                leave: last.end.min(time.begin),
                error: last.error,
            });
        }
        let last = Last {
            code: Code::of(trace, Node::Task(id)),
            end: time.end,
            error: time.local_error,
        };
        self.streams.insert(on, last);
        true
    }
}

/// Passes on the causes of the ends of calls and tasks in a window's part: all causes of one come in a
/// row.
pub(super) fn of_ends(window: &Window<'_>, take: &mut dyn FnMut(Node, Cause)) {
    let trace = window.trace;
    let edges = window.dependencies.edges().iter();
    for edge in edges.filter(|edge| window.owns_edge(edge)) {
        let (node, from, way) = match edge.kind {
            EdgeKind::RecordToWait | EdgeKind::SignalToWait => {
                (edge.to, edge.from, WaitReason::Release)
            }
            EdgeKind::TaskToSync | EdgeKind::TimedOut => (edge.to, edge.from, WaitReason::Return),
            // The task goes on when the callback has returned.
            EdgeKind::HostFunc => (edge.from, edge.to, WaitReason::CallbackEnd),
            _ => continue,
        };
        let is_reported = |node| Code::of(trace, node) != Code::NONE;
        if let (Some(from_range), true) = (span(trace, from), is_reported(node)) {
            take(
                node,
                Cause {
                    code: Code::of(trace, from),
                    way,
                    leave: from_range.end,
                    error: error(trace, from) + error(trace, node),
                },
            );
        }
    }
    for stall in window.stalls() {
        let (StallCause::CollectivePeer, Node::Task(id)) = (stall.cause, stall.node) else {
            continue;
        };
        if let Some(peer) = window.stalls.peer(id) {
            let code = Code::of(trace, Node::Task(peer));
            let error = error(trace, Node::Task(peer))
                .saturating_add(error(trace, stall.node))
                .saturating_add(clock_error(trace, [peer, id]));
            let leave = stall.end;
            let way = WaitReason::Peer;
            take(
                stall.node,
                Cause {
                    code,
                    way,
                    leave,
                    error,
                },
            );
        }
    }
}

/// When something ran; of a task without a time, its call.
pub(super) fn span(trace: &Trace, node: Node) -> Option<TimeRange> {
    let call = match node {
        Node::Task(id) => match trace.task(id).time {
            Some(time) => return Some(time.range()),
            None => trace.task(id).call,
        },
        Node::Call(id) => id,
    };
    Some(trace.call(call).range())
}

fn error(trace: &Trace, node: Node) -> i64 {
    match node {
        Node::Task(id) => trace.task(id).time.map_or(0, |time| time.error),
        Node::Call(_) => 0,
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

/// The one that was available last, and whether it may have been another.
pub(super) fn latest(causes: &[Cause]) -> Option<(Cause, Option<Code>)> {
    // Of several at the same time, those on the device come first: the device caused it.
    let last = causes.iter().max_by_key(|it| (it.leave, it.way))?;
    let rival = causes.iter().find(|it| {
        let is_other = it.code != last.code;
        is_other && it.leave >= last.leave.saturating_sub(it.error.max(last.error))
    });
    Some((*last, rival.map(|it| it.code)))
}

/// Whether a task waits for what others do.
pub(super) fn is_wait(class: Class) -> bool {
    matches!(class, Class::EventWait | Class::SignalWait)
}
