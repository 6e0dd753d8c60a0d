//! What calls and tasks waited for.

use ascend_trace_recording::{CallId, StreamId, TaskId, ThreadId, Trace};
use rustc_hash::FxHashMap;

use super::item_code::Code;
use crate::dependencies::runs;
use crate::{Certainty, Node, Release, ReleaseKind, TaskRole, Window, released};

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
    /// The reason for the end of a wait of this kind.
    fn of_end(kind: ReleaseKind) -> Option<Self> {
        match kind {
            ReleaseKind::Event | ReleaseKind::Signal => Some(Self::Release),
            ReleaseKind::CallbackEnd => Some(Self::CallbackEnd),
            ReleaseKind::Peer => Some(Self::Peer),
            ReleaseKind::GaveUp => Some(Self::Return),
            kind => kind.is_sync().then_some(Self::Return),
        }
    }

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

impl Cause {
    /// From the table of releases. The time of the waiter may be off by this.
    fn of(trace: &Trace, row: &Release, way: WaitReason, error: i64) -> Self {
        Self {
            code: Code::of(trace, row.by),
            way,
            leave: row.at,
            error: row.certainty.error().saturating_add(error),
        }
    }
}

/// What ran last on a stream or thread.
#[derive(Clone, Copy, Debug)]
struct LastRun {
    code: Code,
    end: i64,
    error: i64,
}

/// Finds the cause of each call and task, in order.
#[derive(Debug, Default)]
pub(super) struct Causes {
    streams: FxHashMap<StreamId, LastRun>,
    threads: FxHashMap<ThreadId, LastRun>,
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
        for row in released::of(trace, &window.dependencies, Node::Call(id)) {
            let way = match row.kind {
                ReleaseKind::Plan => WaitReason::Queue,
                ReleaseKind::CallbackBegin => WaitReason::CallbackBegin,
                _ => continue,
            };
            let cause = Cause::of(trace, &row, way, 0);
            found.push(Cause {
                leave: cause.leave.min(call.begin),
                ..cause
            });
        }
        if call.depth == 0 {
            let last = LastRun {
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
        let last = LastRun {
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
    for row in window.releases() {
        let way = WaitReason::of_end(row.kind);
        if let Some(way) = way.filter(|_| Code::of(trace, row.waiter) != Code::NONE) {
            let error = Certainty::of(trace, row.waiter).error();
            take(row.waiter, Cause::of(trace, &row, way, error));
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
pub(super) fn is_wait(class: TaskRole) -> bool {
    matches!(class, TaskRole::EventWait | TaskRole::SignalWait)
}
