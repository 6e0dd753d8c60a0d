//! Synchronising with a stream, and dropping its tasks.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Stream;
use super::line::{StreamLine, flag};
use super::waiting::DroppedTasks;
use crate::code::{Code, Outcome, RT_STREAM_SYNC_TIMEOUT, fault};
use crate::engine::inbox;
use crate::progress::WaitResult;

impl StreamLine {
    /// Waits for all earlier submissions and reports failures on the device meanwhile.
    pub(crate) fn synchronize(&self, limit: Option<Duration>) -> Outcome {
        if self.flags & flag::NOT_AWAITED != 0 {
            return Ok(());
        }
        let seq = self.submitted.load(Ordering::Acquire);
        let waited = {
            let _alone = self.hold_synchronising();
            self.wait_for(seq, limit)
        };
        self.seen_by_wait();
        self.failures.hand_over("a synchronisation");
        match waited {
            WaitResult::Done => {}
            WaitResult::TimedOut => {
                return fault(RT_STREAM_SYNC_TIMEOUT, "the stream is not done yet");
            }
            WaitResult::Aborted(code) => return fault(code, "the stream was aborted"),
        }
        self.take_error()
    }
}

impl Stream {
    /// Drops all queued tasks. Threads that wait for the stream get the code, if there is one.
    pub(crate) fn abort(self: &Arc<Self>, code: Option<Code>) {
        if let Some(code) = code {
            self.progress.interrupt(code);
        }
        let seq = self.request_drop(DroppedTasks::Everything);
        // The wait is short and must not be taken for an interrupted one.
        while matches!(self.wait_for(seq, None), WaitResult::Aborted(_)) {}
    }

    /// Drops the task that is running.
    pub(crate) fn stop_current(self: &Arc<Self>) {
        self.request_drop(DroppedTasks::Current);
    }

    fn request_drop(self: &Arc<Self>, what: DroppedTasks) -> u64 {
        let queue = self.inlet.lock();
        let seq = queue.pushed;
        self.drop_request.store(what as u8, Ordering::SeqCst);
        drop(queue);
        self.call_engine();
        seq
    }

    /// Makes the engine look at the stream. A second look does no harm.
    pub(crate) fn call_engine(self: &Arc<Self>) {
        self.inlet.must_call();
        inbox::get().enqueue(self);
    }
}
