//! What a stream can be asked to do.

use std::sync::Arc;

use crate::callback::Report;
use crate::event::Record;
use crate::ffi::Callback;
use crate::memory::copy::{Fill, Transfer};

/// One entry of a stream's queue.
pub(crate) struct Task {
    pub(crate) work: Work,
    /// Host time at which the program submitted it.
    pub(crate) submitted_ns: u64,
    pub(crate) seq: u64,
}

pub(crate) enum Work {
    Transfer {
        transfer: Box<Transfer>,
        duration_ns: u64,
    },
    Fill {
        fill: Fill,
        duration_ns: u64,
    },
    Record(Arc<Record>),
    /// Timeout 0 waits for ever.
    Wait {
        record: Arc<Record>,
        timeout_ns: u64,
    },
    /// Runs on the context's helper thread; the stream waits for it.
    HostFunction(Callback),
    /// Runs in the thread that subscribed to the stream.
    Report(Arc<Report>),
    /// Takes part in the stream's order and does nothing by itself.
    Marker,
}

impl Work {
    pub(crate) fn copy(transfer: Transfer, duration_ns: u64) -> Self {
        Self::Transfer {
            transfer: Box::new(transfer),
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
            Self::Record(_) => "record",
            Self::Wait { .. } => "wait",
            Self::HostFunction(_) | Self::Report(_) => "hostfunc",
            Self::Marker => "other",
        }
    }

    /// Identity and flags of the event behind a record or wait.
    pub(crate) fn event(&self) -> Option<(usize, u32)> {
        match self {
            Self::Record(record) | Self::Wait { record, .. } => Some(record.event),
            _ => None,
        }
    }
}
