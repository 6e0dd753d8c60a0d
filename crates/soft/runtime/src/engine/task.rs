//! Kinds of work for a stream.

use std::sync::Arc;

use crate::callback::report::Report;
use crate::event::record::Record;
use crate::ffi::Callback;
use crate::graph::body::{NodePatch, Replay};
use crate::hccl::collective::Collective;
use crate::kernel::Launch;
use crate::memory::reduce::Reduce;
use crate::memory::transfer::{Fill, Transfer};
use crate::memory::value::ValueWait;
use crate::mspti::Activity;
use crate::mspti::record::ActivityKind;
use crate::signal::{Signal, SignalChange, SignalWait};

/// One entry of a stream's queue.
pub(crate) struct Task {
    pub(crate) work: Work,
    /// Host time at which the program submitted it.
    pub(crate) submitted_ns: u64,
    pub(crate) seq: u64,
    /// The call that submitted it, as msPTI numbers calls.
    pub(crate) correlation: u64,
}

/// An operation of an operator library: its effect on memory, and its duration on the device.
///
/// The effect runs once per execution: a captured operation is repeated by every replay of its graph.
/// So it must hold its inputs by value, and reads device memory only when it runs.
pub(crate) struct Operator {
    /// In the truth log; a C identifier.
    pub(crate) name: &'static str,
    pub(crate) duration_ns: u64,
    pub(crate) effect: Box<dyn Fn() + Send + Sync>,
}

pub(crate) enum Work {
    /// Some copies; they have no order among them.
    Transfer {
        transfers: Box<[Transfer]>,
        duration_ns: u64,
    },
    Fill {
        fill: Fill,
        duration_ns: u64,
    },
    Reduce(Box<Reduce>),
    Kernel(Box<Launch>),
    Operator(Box<Operator>),
    /// Ends when all ranks have joined it.
    Collective(Box<Collective>),
    Record(Arc<Record>),
    /// Timeout 0 waits for ever.
    Wait {
        record: Arc<Record>,
        timeout_ns: u64,
    },
    Change {
        signal: Arc<Signal>,
        change: SignalChange,
    },
    Pass(Box<SignalWait>),
    WriteValue {
        address: usize,
        value: u64,
    },
    WaitValue(ValueWait),
    /// Runs on the context's helper thread; the stream waits for it.
    HostFunction(Callback),
    /// Runs in the thread that subscribed to the stream.
    Report(Arc<Report>),
    /// Gives device memory back in the order of the stream.
    Free {
        address: usize,
    },
    /// The new tasks of a task group.
    Patch(Box<[NodePatch]>),
    Graph(Box<Replay>),
    /// Takes part in the stream's order and does nothing by itself.
    Marker,
}

impl Work {
    pub(crate) fn copy(transfer: Transfer, duration_ns: u64) -> Self {
        Self::Transfer {
            transfers: Box::new([transfer]),
            duration_ns,
        }
    }

    pub(crate) const fn fill(fill: Fill, duration_ns: u64) -> Self {
        Self::Fill { fill, duration_ns }
    }

    /// The name in the truth log.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Transfer { .. } => "memcpy",
            Self::Fill { .. } => "memset",
            Self::Kernel(_) | Self::Operator(_) | Self::Collective(_) => "kernel",
            Self::Record(_) => "record",
            Self::Wait { .. } => "wait",
            Self::Change { .. } | Self::Pass(_) => "notify",
            Self::WriteValue { .. } | Self::WaitValue(_) => "value",
            Self::HostFunction(_) | Self::Report(_) => "hostfunc",
            Self::Graph(_) => "graph",
            Self::Reduce(_) | Self::Free { .. } | Self::Patch(_) | Self::Marker => "other",
        }
    }

    /// Has it been aborted?
    pub(crate) fn is_aborted(&self) -> bool {
        matches!(self, Self::Graph(replay) if replay.is_aborted())
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Kernel(launch) => Some(launch.name()),
            Self::Operator(operator) => Some(operator.name),
            Self::Collective(collective) => Some(collective.name),
            _ => None,
        }
    }

    /// Identity and flags of the event behind a record or wait.
    pub(crate) fn event(&self) -> Option<(usize, u32)> {
        match self {
            Self::Record(record) | Self::Wait { record, .. } => {
                Some((record.event.handle, record.event.flags))
            }
            _ => None,
        }
    }

    /// Its kind in the hardware log; waits and records leave no entry in it, nor do copies and fills.
    pub(crate) fn activity(&self) -> Option<Activity<'_>> {
        let kind = match self {
            Self::Kernel(_) | Self::Operator(_) => ActivityKind::Kernel,
            Self::Collective(_) => ActivityKind::Communication,
            _ => return None,
        };
        Some(Activity {
            kind,
            name: self.name(),
            has_parts: matches!(self, Self::Operator(_)),
        })
    }

    /// Kind and bytes for the entry of the call that submitted it.
    pub(crate) fn moved(&self) -> Option<(ActivityKind, u64)> {
        match self {
            Self::Transfer { transfers, .. } => {
                let sizes = transfers.iter();
                let bytes = sizes.map(|it| (it.width * it.rows) as u64).sum();
                Some((ActivityKind::Memcpy, bytes))
            }
            Self::Reduce(_) => Some((ActivityKind::Memcpy, 0)),
            Self::Fill { .. } => Some((ActivityKind::Memset, 0)),
            _ => None,
        }
    }
}
