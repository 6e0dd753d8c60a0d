//! Which threads of the program run the callbacks of which streams, and what waits for them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::clock;
use crate::code::{
    INVALID_PARAM, Outcome, RT_REPORT_TIMEOUT, RT_STREAM_SUBSCRIBE, RT_THREAD_SUBSCRIBE, fault,
};
use crate::ffi::Callback;
use crate::stream::line::StreamLine;
use crate::sync::{Condvar, LONGEST_SLEEP, Mutex, lock};
use crate::virtual_time;

/// Which thread serves which stream.
#[derive(Default)]
pub(crate) struct ReportThreads {
    state: Mutex<Subscriptions>,
}

#[derive(Default)]
struct Subscriptions {
    by_thread: HashMap<u64, Arc<Mailbox>>,
    /// Stream handle to thread.
    by_stream: HashMap<usize, u64>,
}

/// What waits for one subscribed thread.
pub(super) struct Mailbox {
    device: u32,
    due: Mutex<VecDeque<DueReport>>,
    arrived: Condvar,
    closed: AtomicBool,
}

/// A callback that may run, and where its task is.
struct DueReport {
    report: Arc<Report>,
    begin_ns: u64,
    /// Reports to the stream when it was called and when it returned.
    done: Box<dyn FnOnce((u64, u64)) + Send>,
}

/// A callback task.
pub(crate) struct Report {
    pub(super) callback: Callback,
    pub(super) blocks: bool,
    pub(super) mailbox: Arc<Mailbox>,
}

impl Report {
    /// Passes the callback to its thread; returns whether the stream has to wait for it. After the
    /// thread has unsubscribed, no thread processes it.
    pub(crate) fn deliver(
        self: &Arc<Self>,
        begin_ns: u64,
        done: Box<dyn FnOnce((u64, u64)) + Send>,
    ) -> bool {
        let mut waiting = lock(&self.mailbox.due);
        if self.mailbox.closed.load(Ordering::Acquire) {
            return false;
        }
        waiting.push_back(DueReport {
            report: Arc::clone(self),
            begin_ns,
            done,
        });
        drop(waiting);
        self.mailbox.arrived.notify_one();
        self.blocks
    }
}

impl DueReport {
    fn finish(self, ran: (u64, u64)) {
        if self.report.blocks {
            (self.done)(ran);
        }
    }
}

impl ReportThreads {
    pub(super) fn subscribe(&self, thread: u64, stream: &StreamLine) -> Outcome {
        let mut state = lock(&self.state);
        if state.by_stream.contains_key(&stream.handle) {
            return fault(RT_STREAM_SUBSCRIBE, "a thread serves this stream already");
        }
        let device = stream.device.id;
        let mailbox = state.by_thread.entry(thread).or_insert_with(|| {
            let (due, arrived, closed) = (Mutex::default(), Condvar::new(), AtomicBool::new(false));
            Arc::new(Mailbox {
                device,
                due,
                arrived,
                closed,
            })
        });
        if mailbox.device != device {
            return fault(
                RT_THREAD_SUBSCRIBE,
                "the thread serves streams of another device",
            );
        }
        state.by_stream.insert(stream.handle, thread);
        Ok(())
    }

    /// Ends a subscription. Callbacks that were not processed yet are dropped, and streams that
    /// wait for them go on.
    pub(super) fn unsubscribe(&self, thread: u64, stream: &StreamLine) -> Outcome {
        let mut state = lock(&self.state);
        if !state.by_thread.contains_key(&thread) {
            return fault(RT_THREAD_SUBSCRIBE, "the thread has not subscribed");
        }
        if state.by_stream.get(&stream.handle) != Some(&thread) {
            return fault(RT_STREAM_SUBSCRIBE, "the thread does not serve this stream");
        }
        state.by_stream.remove(&stream.handle);
        let unused = !state.by_stream.values().any(|&other| other == thread);
        let mailbox = if unused {
            state.by_thread.remove(&thread)
        } else {
            None
        };
        drop(state);
        if let Some(mailbox) = mailbox {
            // Under the lock: a later delivery sees it.
            let mut waiting = lock(&mailbox.due);
            mailbox.closed.store(true, Ordering::Release);
            let dropped = std::mem::take(&mut *waiting);
            drop(waiting);
            for due in dropped {
                let now = clock::now();
                due.finish((now, now));
            }
            mailbox.arrived.notify_all();
        }
        Ok(())
    }

    pub(super) fn serves(&self, stream: &StreamLine) -> bool {
        lock(&self.state).by_stream.contains_key(&stream.handle)
    }

    /// What waits for the thread that serves the stream.
    pub(super) fn mailbox(&self, stream: &StreamLine) -> Option<Arc<Mailbox>> {
        let state = lock(&self.state);
        let thread = state.by_stream.get(&stream.handle)?;
        state.by_thread.get(thread).cloned()
    }

    /// Runs the callbacks that are due in the calling thread; waits for the first one.
    pub(super) fn process(&self, timeout_ms: i32) -> Outcome {
        if timeout_ms < -1 || timeout_ms == 0 {
            return fault(INVALID_PARAM, "the timeout is neither -1 nor positive");
        }
        // SAFETY: has no preconditions.
        let thread = unsafe { libc::pthread_self() };
        let mailbox = lock(&self.state).by_thread.get(&thread).cloned();
        let Some(mailbox) = mailbox else {
            return fault(RT_THREAD_SUBSCRIBE, "the thread has not subscribed");
        };
        let limit = u64::try_from(timeout_ms).ok().map(Duration::from_millis);
        let due = mailbox.take(limit);
        if due.is_empty() {
            return fault(RT_REPORT_TIMEOUT, "no callback came in time");
        }
        for one in due {
            if virtual_time::is_on() {
                virtual_time::reach(one.begin_ns);
            }
            let called = clock::now();
            one.report.callback.run();
            one.finish((called, clock::now()));
        }
        Ok(())
    }
}

impl Mailbox {
    fn take(&self, limit: Option<Duration>) -> VecDeque<DueReport> {
        let deadline = limit.map(|limit| Instant::now() + limit);
        let mut due = lock(&self.due);
        while due.is_empty() {
            let left = deadline.map_or(LONGEST_SLEEP, |deadline| {
                deadline.saturating_duration_since(Instant::now())
            });
            if left.is_zero() || self.closed.load(Ordering::Acquire) {
                break;
            }
            due = self.arrived.sleep(due, left);
        }
        std::mem::take(&mut due)
    }
}
