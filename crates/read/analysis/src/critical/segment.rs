//! The pieces of a critical path.

use std::sync::Arc;

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{StreamId, ThreadId, TimeRange, Trace};
use serde::Serialize;

use super::causes::{Way, is_wait};
use crate::{Class, Node};

/// Activity on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Computing,
    Communication,
    Copy,
    /// A callback's task, as far as no callback is known.
    Callback,
    /// A record of an event, or a wait that nothing is known to have released.
    Event,
    /// The host was in a call.
    Call,
    /// The host was in no call: the program itself.
    Program,
    /// An operator was planned, and not submitted yet.
    Queue,
    /// From the end of a call that submits to the begin of its task.
    Launch,
    /// Between two tasks of a stream.
    Switch,
    /// From the target of a wait to its end.
    Release,
    /// From the target of a call's wait to its end.
    Return,
    /// Before the first thing that is known of, or after the last.
    Edge,
}

impl Kind {
    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Computing => "computing",
            Self::Communication => "communication",
            Self::Copy => "copy",
            Self::Callback => "callback",
            Self::Event => "event",
            Self::Call => "call",
            Self::Program => "program",
            Self::Queue => "queue",
            Self::Launch => "launch",
            Self::Switch => "switch",
            Self::Release => "release",
            Self::Return => "return",
            Self::Edge => "edge",
        }
    }

    /// Of what something did itself.
    pub(super) fn of_own(trace: &Trace, node: Node) -> Self {
        let Node::Task(id) = node else {
            return Self::Call;
        };
        let task = trace.task(id);
        match (Class::of(trace, task), task.kind) {
            (Class::Callback, _) => Self::Callback,
            (class, _) if class == Class::Mark || is_wait(class) => Self::Event,
            (_, TaskKind::Collective) => Self::Communication,
            (_, TaskKind::Memcpy | TaskKind::Memset) => Self::Copy,
            _ => Self::Computing,
        }
    }

    /// The kind of the time between the target and the end of a wait.
    pub(super) fn of_way(way: Way) -> Self {
        match way {
            Way::None => Self::Edge,
            Way::Program | Way::Inside | Way::CallbackBegin => Self::Program,
            Way::Queue => Self::Queue,
            Way::Launch => Self::Launch,
            Way::Order => Self::Switch,
            Way::Release | Way::Peer | Way::CallbackEnd => Self::Release,
            Way::Return => Self::Return,
        }
    }
}

/// A call or a task, by properties that hold in every window of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Call {
        thread: ThreadId,
        depth: u8,
        begin: i64,
    },
    Task {
        stream: StreamId,
        sequence: u32,
        /// When its call began.
        launched: i64,
        begin: i64,
    },
}

/// A piece of the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Segment {
    pub kind: Kind,
    /// The operation, or the call that came next.
    pub name: Arc<str>,
    pub begin_ns: i64,
    pub end_ns: i64,
    /// Number of the process in the recording.
    pub process: u32,
    /// The thread, for activities of the host.
    pub tid: Option<u32>,
    /// The stream, for activities of a device.
    pub device: Option<u32>,
    pub stream_id: Option<i64>,
    /// By the error bars, something else may be on the path instead.
    pub tie: bool,
    /// The times of devices are estimates: by how much its duration may be off.
    pub error_ns: i64,
    /// What did it, or came next.
    #[serde(skip)]
    pub owner: Owner,
}

impl Segment {
    pub fn length(&self) -> i64 {
        self.end_ns - self.begin_ns
    }

    pub fn range(&self) -> TimeRange {
        TimeRange::new(self.begin_ns, self.end_ns)
    }
}
