//! Calls, with columns that are made by hand: they make up most of a file.

use std::sync::Arc;

use ascend_trace_format::coded_enum;
use ascend_trace_format::record::CpuTime;

/// The task that a call submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// Position among the tasks submitted to the call's stream.
    pub sequence: u32,
    /// `TaskKind` code.
    pub kind: u8,
    /// `Untimed` code known at submission.
    pub untimed: u8,
}

/// The relation of a call to a graph: to a capture, or to a model that is built by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphRef {
    /// Counts the graphs of the process from 1.
    pub serial: u32,
    /// Number of the node that the call added, or of the replay that it started, from 1; 0 for
    /// calls on the graph as a whole and for calls that were refused.
    pub index: u32,
}

coded_enum! {
    /// How a call ended.
    #[derive(Default)]
    Ending {
        #[default]
        Returned = 0 "returned",
        /// By an exception, a jump or the end of its thread, at its end or before. It has no return value.
        Left = 1 "left",
        /// It had not when its process, or the recording, ended: that is its end. It has no return value.
        Open = 2 "open",
    }
}

impl Ending {
    /// What exports call it; nothing for a call that returned.
    pub fn exported(self) -> Option<&'static str> {
        (!self.is_return()).then(|| self.name())
    }

    /// Whether the call returned, and so has a return value and output values.
    pub const fn is_return(self) -> bool {
        matches!(self, Self::Returned)
    }
}

/// A call, as a rule one that returned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallRow {
    pub thread: u32,
    pub function: u16,
    pub begin_ns: i64,
    pub end_ns: i64,
    pub ret: i64,
    pub depth: u8,
    pub device: Option<u8>,
    /// Serial of the stream it worked on.
    pub stream: Option<u32>,
    pub context: Option<u32>,
    /// Serial and generation of the event it worked on. Generation 0: not recorded yet.
    pub event: Option<(u32, u32)>,
    pub task: Option<TaskRow>,
    pub graph: Option<GraphRef>,
    pub args: Vec<u64>,
    /// One entry per argument of kind `string`, in order; `None` for NULL. None of a call that did not
    /// return. Each text of a chunk is in memory once, however many calls have it.
    pub strings: Vec<Option<Arc<str>>>,
    /// Of a call that did not return only the first arguments may be known.
    pub ending: Ending,
    /// Number of the stack that it was made with.
    pub stack: Option<u32>,
    /// Processor time of the thread until it began.
    pub cpu: Option<CpuTime>,
}
