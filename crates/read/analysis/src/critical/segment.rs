//! The pieces of a critical path.

use std::sync::Arc;

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{StreamId, ThreadId, TimeRange, Trace};
use schemars::JsonSchema;

use super::wait_reasons::{WaitReason, is_wait};
use crate::columns::declare::*;
use crate::{Node, TaskRole};

/// Activity on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum SegmentKind {
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
    /// A thread seems to have waited outside of AscendCL: from the end of that wait to its next call.
    Handover,
    /// The host was in no call, and whether it worked or waited is not known.
    Outside,
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

impl SegmentKind {
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
            Self::Handover => "handover",
            Self::Outside => "outside",
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
        match (TaskRole::of(trace, task), task.kind) {
            (TaskRole::Callback, _) => Self::Callback,
            (class, _) if class == TaskRole::Mark || is_wait(class) => Self::Event,
            (_, TaskKind::Collective) => Self::Communication,
            (_, TaskKind::Memcpy | TaskKind::Memset) => Self::Copy,
            _ => Self::Computing,
        }
    }

    /// The kind of the time between the target and the end of a wait.
    pub(super) fn of_way(way: WaitReason) -> Self {
        match way {
            WaitReason::None => Self::Edge,
            WaitReason::Program | WaitReason::Inside | WaitReason::CallbackBegin => Self::Program,
            WaitReason::Handover | WaitReason::HandoverBegin => Self::Handover,
            WaitReason::Outside => Self::Outside,
            WaitReason::Queue => Self::Queue,
            WaitReason::Launch => Self::Launch,
            WaitReason::Order => Self::Switch,
            WaitReason::Release | WaitReason::Peer | WaitReason::CallbackEnd => Self::Release,
            WaitReason::Return => Self::Return,
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

table_row! {
/// A piece of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    => column("", Moment, |it: &Self| it.begin_ns.into(), "when it began").shown("begin", 120);
    => column("", Duration, |it: &Self| Value::estimate((it.length(), it.error_ns), 0), "its duration and the error").shown("duration", 0);
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").exported("process");
    pub tid: Option<u32> => column("tid", Id, |it: &Self| it.tid.into(), "the thread, for the host; else `null`").exported("tid");
    pub device: Option<u32> => column("device", Id, |it: &Self| it.device.into(), "the device of the stream, for a device; else `null`").exported("device");
    pub stream_id: Option<i64> => column("stream_id", Id, |it: &Self| it.stream_id.into(), "number of the stream, for a device; else `null`").exported("stream_id");
    pub kind: SegmentKind => column("kind", Word, |it: &Self| it.kind.name().into(), "a word of [ANALYSIS.md](ANALYSIS.md#the-critical-path)").shown("what", 0).exported("kind");
    pub name: Arc<str> => column("name", Text, |it: &Self| it.name.as_ref().into(), "the task or call, or the call that came next").shown("name", 0).exported("name");
    pub begin_ns: i64 => column("begin_ns", Moment, |it: &Self| it.begin_ns.into(), "when it began").exported("begin_ns");
    pub end_ns: i64 => column("end_ns", Moment, |it: &Self| it.end_ns.into(), "when it ended").exported("end_ns");
    => column("", Duration, |it: &Self| it.length().into(), "the time between").exported("length_ns");
    => column("", Text, |it: &Self| it.place().into(), "the stream or the thread").shown("where", 100);
    pub tie: bool => column("tie", Flag, |it: &Self| it.tie.into(), "whether something else may be on the path instead, because of the error bars").exported("tie");
    => column("", Text, |it: &Self| if it.tie { "or another way" } else { "" }.into(), "the same").shown("", 0);
    pub error_ns: i64 => column("error_ns", Duration, |it: &Self| it.error_ns.into(), "by how much its duration may be off").exported("error_ns");
    /// What did it, or came next.
    pub owner: Owner;
}
}

impl Segment {
    fn place(&self) -> String {
        match (self.device, self.stream_id, self.tid) {
            (Some(device), Some(stream), _) => format!("device {device} stream {stream}"),
            (_, _, Some(tid)) => format!("thread {tid}"),
            _ => String::new(),
        }
    }

    pub fn length(&self) -> i64 {
        self.end_ns - self.begin_ns
    }

    pub fn range(&self) -> TimeRange {
        TimeRange::new(self.begin_ns, self.end_ns)
    }
}
