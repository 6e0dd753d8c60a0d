//! Recorded amounts up to now, for observers: they may not be in the file yet.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Largest number of failed calls that wait for an observer.
const MOST_FAILED: usize = 64;

/// Counts of a recorder up to now, which its file may not contain yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedCounts {
    pub calls: u64,
    /// Calls and other records that could not be recorded.
    pub lost: u64,
}

/// A trace file that cannot be written any more, and the records that it does not have since then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteFailure {
    /// The reason of the system.
    pub error: String,
    pub calls: u64,
    pub others: u64,
}

/// Records in memory that wait until the trace file can be written again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingRecords {
    /// The reason of the system.
    pub error: String,
    /// Packed, as they will be in the file.
    pub bytes: u64,
}

/// When something moved last. Nanoseconds of the host's clock; 0: nothing has been recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastMoved {
    /// A call began or returned.
    pub called_ns: i64,
    /// The same, or the time of a task came.
    pub any_ns: i64,
}

/// A call that was blocked, and then returned an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCall {
    pub tid: u32,
    pub function: String,
    /// The name of the code, and its number.
    pub code: String,
    pub begin_ns: i64,
    pub end_ns: i64,
}

/// Counts of the collecting thread, published after each pass over the shared memory.
#[derive(Debug, Default)]
pub struct Gauge {
    calls: AtomicU64,
    lost: AtomicU64,
    called_ns: AtomicI64,
    moved_ns: AtomicI64,
    failed: Mutex<Vec<FailedCall>>,
    unwritten: Mutex<Option<WriteFailure>>,
    waiting: Mutex<Option<WaitingRecords>>,
    libraries: Mutex<Vec<PathBuf>>,
}

impl Gauge {
    pub fn publish(&self, counted: RecordedCounts) {
        self.calls.store(counted.calls, Ordering::Relaxed);
        self.lost.store(counted.lost, Ordering::Relaxed);
    }

    pub fn now(&self) -> RecordedCounts {
        RecordedCounts {
            calls: self.calls.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
        }
    }

    /// The file cannot be written, and lacks this many more records.
    pub(crate) fn tell_unwritten(&self, error: &str, (calls, others): (u64, u64)) {
        let mut unwritten = self
            .unwritten
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let failure = unwritten.get_or_insert_with(|| WriteFailure {
            error: error.to_owned(),
            calls: 0,
            others: 0,
        });
        failure.calls += calls;
        failure.others += others;
    }

    /// Whether the file cannot be written any more, and its losses by that.
    pub fn unwritten(&self) -> Option<WriteFailure> {
        let unwritten = self
            .unwritten
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        unwritten.clone()
    }

    /// This many bytes of records wait for room; none if nothing waits.
    pub(crate) fn tell_waiting(&self, known: Option<(&str, u64)>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = known.map(|(error, bytes)| WaitingRecords {
            error: error.to_owned(),
            bytes,
        });
    }

    /// A process has loaded a library of AscendCL.
    pub(crate) fn tell_library(&self, path: PathBuf) {
        let mut all = self
            .libraries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.push(path);
    }

    /// The libraries of AscendCL that processes have loaded.
    pub fn libraries(&self) -> Vec<PathBuf> {
        let all = self.libraries.lock();
        all.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records that wait for room in the file.
    pub fn waiting(&self) -> Option<WaitingRecords> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.clone()
    }

    pub(crate) fn tell_moved(&self, called_ns: i64, any_ns: i64) {
        self.called_ns.store(called_ns, Ordering::Relaxed);
        self.moved_ns.store(any_ns, Ordering::Relaxed);
    }

    pub fn moved(&self) -> LastMoved {
        LastMoved {
            called_ns: self.called_ns.load(Ordering::Relaxed),
            any_ns: self.moved_ns.load(Ordering::Relaxed),
        }
    }

    /// Without an observer, the oldest ones are dropped.
    pub(crate) fn tell_failed(&self, failed: FailedCall) {
        let mut all = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_FAILED {
            all.remove(0);
        }
        all.push(failed);
    }

    /// Calls that failed since this was asked last.
    pub fn take_failed(&self) -> Vec<FailedCall> {
        let mut all = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *all)
    }
}
