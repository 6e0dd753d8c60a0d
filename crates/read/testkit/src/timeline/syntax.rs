//! A timeline as it was written.

use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_recording::Ending;

/// Names a lane: its process and its number there.
pub(super) type LaneKey = (u32, u32);

#[derive(Debug)]
pub(super) enum LaneText {
    Stream {
        stream: LaneKey,
        device: Option<u32>,
        /// The default thread of submissions.
        by: u32,
        offset: usize,
        tasks: Vec<TaskItem>,
    },
    Thread {
        thread: LaneKey,
        calls: Vec<CallItem>,
    },
}

#[derive(Debug)]
pub(super) struct TaskItem {
    pub(super) offset: usize,
    pub(super) what: TaskWhat,
    pub(super) time: TimeSpec,
    pub(super) by: Option<Submitter>,
    /// Serial of the graph that it is a node or a replay of.
    pub(super) graph: Option<u32>,
    pub(super) ret: i64,
}

#[derive(Debug)]
pub(super) enum TaskWhat {
    /// Named by the function that launches it, with its numbers.
    Kernel(String, Vec<u64>),
    Work(TaskKind, Vec<u64>),
    Record(String),
    Wait(EventRef),
    Reset(String),
}

/// When a task ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeSpec {
    Given(i64, i64),
    /// As the tasks around it say.
    Derived,
    /// It has no time, for this reason; `Timed` means a time that has not been read yet.
    Untimed(Untimed),
}

/// The launch call of a task, where it is written out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Submitter {
    pub(super) thread: u32,
    pub(super) time: CallTime,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CallTime {
    pub(super) begin: i64,
    /// Of an open call, the last time at which the recorder saw it.
    pub(super) end: i64,
    pub(super) ending: Ending,
}

#[derive(Debug)]
pub(super) struct EventRef {
    pub(super) offset: usize,
    pub(super) name: String,
    pub(super) generation: Option<u32>,
}

#[derive(Debug)]
pub(super) struct CallItem {
    pub(super) offset: usize,
    pub(super) what: CallWhat,
    pub(super) time: CallTime,
    /// Serial of the graph that it is about.
    pub(super) graph: Option<u32>,
    pub(super) ret: i64,
}

#[derive(Debug)]
pub(super) enum CallWhat {
    CaptureBegin(u32),
    CaptureEnd(u32),
    CreateStream(u32),
    DestroyStream(u32),
    ForceStream(u32),
    /// The stream, and the thread that runs its callbacks.
    Subscribe(u32, u32),
    Unsubscribe(u32, u32),
    CreateEvent(EventRef),
    DestroyEvent(EventRef),
    SyncDevice,
    SyncStream(u32),
    SyncEvent(EventRef),
    /// With the status that the query gives.
    QueryStream(u32, u64),
    QueryEvent(EventRef, u64),
    Other(String, Vec<u64>),
}
