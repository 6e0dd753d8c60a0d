//! Progress of a stream: the part that records, events and waiting threads need.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering};

use super::demand::Demand;
use super::failures::Failures;
use super::recycled::Recycled;
use crate::code::SUCCESS;
use crate::device::Device;
use crate::engine::host::HostThread;
use crate::process;
use crate::progress::Progress;
use crate::sync::{Mutex, lock};
use crate::virtual_time::{self, TaskEnds};

pub(crate) mod flag {
    /// What default streams have.
    pub(crate) const DEFAULT_STREAM: u32 = 0x3;
    pub(crate) const PERSISTENT: u32 = 0x4;
    pub(crate) const CPU_SCHEDULE: u32 = 0x10;
    pub(crate) const DEVICE_USE_ONLY: u32 = 0x20;
    /// All flags that a program can give.
    pub(crate) const KNOWN: u32 = 0x3f;
    /// Streams with one of these are not waited for by the host.
    pub(crate) const NOT_AWAITED: u32 = PERSISTENT | CPU_SCHEDULE | DEVICE_USE_ONLY;
}

/// What streams have of the context that they are made in.
pub(crate) struct StreamOwner {
    pub(crate) device: &'static Device,
    /// Handle of the context.
    pub(crate) context: usize,
    pub(crate) failures: Arc<Failures>,
    pub(crate) host_thread: Arc<HostThread>,
}

/// Where a host function belongs: the task, and the node when the task is a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) seq: u64,
    pub(crate) node: Option<usize>,
}

/// When a host function ran.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostRun {
    pub(crate) called_ns: u64,
    pub(crate) returned_ns: u64,
}

/// A stream without its tasks.
pub(crate) struct StreamLine {
    pub(crate) handle: usize,
    pub(crate) id: i32,
    pub(crate) device: &'static Device,
    /// Handle of the context it belongs to.
    pub(crate) context: usize,
    pub(crate) flags: u32,
    pub(super) progress: Progress,
    pub(super) submitted: AtomicU64,
    /// In virtual time. A leaf among the locks.
    pub(super) ends: Mutex<TaskEnds>,
    pub(super) recycled: Recycled,
    pub(super) demand: Demand,
    pub(super) drop_request: AtomicU8,
    pub(super) error: AtomicI32,
    pub(super) failures: Arc<Failures>,
    /// Host functions that returned and were not seen to: which, and the host time.
    host_done: Mutex<Vec<(Token, HostRun)>>,
}

impl StreamLine {
    pub(super) fn new(handle: usize, id: i32, flags: u32, owner: &StreamOwner) -> Self {
        Self {
            handle,
            id,
            device: owner.device,
            context: owner.context,
            flags,
            progress: Progress::new(),
            submitted: AtomicU64::new(0),
            ends: Mutex::default(),
            recycled: Recycled::default(),
            demand: Demand::default(),
            drop_request: AtomicU8::new(0),
            error: AtomicI32::new(SUCCESS),
            failures: Arc::clone(&owner.failures),
            host_done: Mutex::default(),
        }
    }

    pub(crate) fn complete(&self, seq: u64, end_ns: u64) {
        if virtual_time::is_on() {
            let keep = 2 * process::options().queue as usize;
            lock(&self.ends).push(end_ns, keep);
        }
        self.progress.complete(seq);
    }

    /// How many tasks are complete, as the calling thread can know.
    pub(super) fn completed(&self) -> u64 {
        if virtual_time::is_on() {
            return lock(&self.ends).until(virtual_time::now());
        }
        self.progress.completed()
    }

    pub(crate) fn submitted_so_far(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    pub(crate) fn wake_sleepers(&self) {
        self.progress.wake();
    }

    pub(crate) fn has_completed(&self, seq: u64) -> bool {
        self.completed() >= seq
    }

    /// As a query asks it.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_found_complete(self.submitted_so_far())
    }

    /// When this host function ran; returned once.
    pub(crate) fn host_run(&self, token: Token) -> Option<HostRun> {
        let mut done = lock(&self.host_done);
        let index = done.iter().position(|(known, _)| *known == token)?;
        Some(done.swap_remove(index).1)
    }

    /// Forgets host functions of tasks that were dropped.
    pub(crate) fn forget_host_work(&self) {
        lock(&self.host_done).clear();
    }

    /// A host function was called and has returned at these times. The engine has to look at the stream.
    pub(crate) fn host_work_done(&self, token: Token, (called_ns, returned_ns): (u64, u64)) {
        let run = HostRun {
            called_ns,
            returned_ns,
        };
        lock(&self.host_done).push((token, run));
    }
}
