//! Category of a task or a call, for its colour and its sums.

use ascend_trace_format::api::{Blocks, TaskKind, WaitTarget};

use crate::trace::Function;

/// A kind of slice. Tasks have one of the first eight, calls one of the others or `Copy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    Kernel,
    Copy,
    Fill,
    HostFunc,
    Graph,
    Record,
    Wait,
    Other,
    /// A call that submits a task.
    Launch,
    /// A call that waits for the device.
    Sync,
    /// Any other call.
    Call,
}

/// Categories that a lane can hold: sums of a lane are arrays of this length.
pub const SLOTS: usize = 8;

impl Category {
    pub const ALL: [Self; 11] = [
        Self::Kernel,
        Self::Copy,
        Self::Fill,
        Self::HostFunc,
        Self::Graph,
        Self::Record,
        Self::Wait,
        Self::Other,
        Self::Launch,
        Self::Sync,
        Self::Call,
    ];

    pub fn of_task(kind: TaskKind) -> Self {
        match kind {
            TaskKind::Kernel | TaskKind::Collective => Self::Kernel,
            TaskKind::Memcpy => Self::Copy,
            TaskKind::Memset => Self::Fill,
            TaskKind::HostFunc => Self::HostFunc,
            TaskKind::Graph => Self::Graph,
            TaskKind::Record => Self::Record,
            TaskKind::Wait => Self::Wait,
            TaskKind::Notify | TaskKind::Value | TaskKind::Other => Self::Other,
        }
    }

    /// The category of a call of a function; `submits` says whether it submitted a task.
    pub fn of_call(function: &Function, submits: bool) -> Self {
        match function.role.meaning().waits {
            WaitTarget::Transfer => Self::Copy,
            waits if waits.is_sync() => Self::Sync,
            _ if submits => Self::Launch,
            _ if function.blocks == Blocks::Yes => Self::Sync,
            _ => Self::Call,
        }
    }

    /// Waiting is not work.
    pub fn is_work(self) -> bool {
        !self.is_stall()
    }

    pub fn is_stall(self) -> bool {
        matches!(self, Self::Wait | Self::Sync)
    }

    /// Where a lane's sums keep this category. Streams and threads have different ones, so some
    /// share a place.
    pub fn slot(self) -> usize {
        match self {
            Self::Kernel => 0,
            Self::Copy => 1,
            Self::Fill | Self::Launch => 2,
            Self::HostFunc => 3,
            Self::Graph => 4,
            Self::Record => 5,
            Self::Wait | Self::Sync => 6,
            Self::Other | Self::Call => 7,
        }
    }

    /// The category of a slot in the sums of a stream's lane.
    pub fn of_stream_slot(slot: usize) -> Self {
        Self::ALL.get(slot).copied().unwrap_or(Self::Other)
    }

    /// The category of a slot in the sums of a thread's lane.
    pub fn of_thread_slot(slot: usize) -> Self {
        match slot {
            1 => Self::Copy,
            2 => Self::Launch,
            6 => Self::Sync,
            _ => Self::Call,
        }
    }
}
