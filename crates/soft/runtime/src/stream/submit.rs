//! Tasks enter the queue of a stream.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Stream, last_task};
use crate::code::{Outcome, RT_INVALID_HANDLE, SUCCESS, fault};
use crate::engine::task::{Task, Work};
use crate::engine::{inbox, player};
use crate::inlet::Queue;
use crate::progress::WaitResult;
use crate::sync::MutexGuard;
use crate::{clock, mspti, process, virtual_time};

impl Stream {
    /// Queues what `make` builds from the task's number. Blocks while the queue is full. A stream
    /// that captures hands the task to its graph instead, where it has no number yet.
    pub(crate) fn submit(self: &Arc<Self>, make: impl FnOnce(u64) -> Work) -> Outcome<u64> {
        if let Some(target) = self.route.target() {
            return target.take(make(0)).map(|()| 0);
        }
        loop {
            match self.room()? {
                Some(room) => return Ok(room.fill(make)),
                None => self.wait_for_room()?,
            }
        }
    }

    /// A place in the queue, or `None` when it is full. Who holds another lock has to give it up
    /// before it waits: the queue may depend on a callback that wants the same lock.
    pub(crate) fn room(self: &Arc<Self>) -> Outcome<Option<QueueRoom<'_>>> {
        virtual_time::submits();
        inbox::get().begin(player::run)?;
        let queue = self.inlet.lock();
        if queue.closed {
            return fault(RT_INVALID_HANDLE, "the stream was destroyed");
        }
        match self.stopped_by() {
            SUCCESS => {}
            code => return fault(code, "a task failed, and the stream stops on failure"),
        }
        let depth = u64::from(process::options().queue);
        let is_full = queue.pushed - self.completed() >= depth;
        Ok((!is_full).then_some(QueueRoom {
            stream: self,
            queue,
        }))
    }

    pub(crate) fn wait_for_room(&self) -> Outcome {
        let depth = u64::from(process::options().queue);
        let room_at = (self.inlet.lock().pushed + 1).saturating_sub(depth);
        let before = virtual_time::now();
        match self.wait_for(room_at, None) {
            WaitResult::Aborted(code) => fault(code, "the stream was aborted"),
            // The engine was late, and the thread's clock was not: there was room.
            _ if virtual_time::is_on() && virtual_time::now() == before => Ok(()),
            _ => {
                self.seen_by_submitter();
                Ok(())
            }
        }
    }

    /// A task that only takes its place in the order.
    pub(crate) fn mark(self: &Arc<Self>) -> Outcome {
        self.submit(|_| Work::Marker).map(drop)
    }
}

/// A reserved free place in a stream's queue.
pub(crate) struct QueueRoom<'a> {
    stream: &'a Arc<Stream>,
    queue: MutexGuard<'a, Queue<Task>>,
}

impl QueueRoom<'_> {
    /// Takes the place with what `make` builds from the task's number.
    pub(crate) fn fill(self, make: impl FnOnce(u64) -> Work) -> u64 {
        let Self { stream, mut queue } = self;
        queue.pushed += 1;
        let seq = queue.pushed;
        // The clock is read under the lock: times along a queue never go backwards.
        let work = make(seq);
        let correlation = mspti::submitted(stream.device, stream.id, || work.moved());
        queue.items.push_back(Task {
            work,
            submitted_ns: clock::now(),
            seq,
            correlation,
        });
        stream.submitted.store(seq, Ordering::Release);
        drop(queue);
        if stream.is_due(seq) {
            stream.device.wants_recycling.store(true, Ordering::Release);
            inbox::get().enqueue(stream);
        }
        // Who waits until the engine has played all has to know of each task.
        if stream.inlet.must_call() || virtual_time::is_on() {
            inbox::get().enqueue(stream);
        }
        last_task::remember(((seq - 1) as u32, stream.id as u32));
        seq
    }
}
