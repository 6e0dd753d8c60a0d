//! Callbacks that run in threads of the program: `aclrtSubscribeReport` and its family, and the same
//! for host functions.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::code::{
    INVALID_PARAM, Outcome, RT_NOT_SUPPORTED, RT_PARAM_INVALID, RT_REPORT_TIMEOUT,
    RT_STREAM_NO_CALLBACK, RT_STREAM_SUBSCRIBE, RT_THREAD_SUBSCRIBE, fault,
};
use crate::engine::task::{Token, Work};
use crate::ffi::Callback;
use crate::per_process::PerProcess;
use crate::stream::{self, Stream};
use crate::sync::lock;
use crate::{process, virtual_time};

static REPORTS: PerProcess<Reports> = PerProcess::new(Reports::default);
/// The same for host functions.
static HOST_REPORTS: PerProcess<Reports> = PerProcess::new(Reports::default);

/// Which thread serves which stream.
#[derive(Default)]
pub(crate) struct Reports {
    state: Mutex<Subscriptions>,
}

#[derive(Default)]
struct Subscriptions {
    by_thread: HashMap<u64, Arc<Mailbox>>,
    /// Stream handle to thread.
    by_stream: HashMap<usize, u64>,
}

/// What waits for one subscribed thread.
struct Mailbox {
    device: u32,
    due: Mutex<VecDeque<Due>>,
    arrived: Condvar,
    closed: AtomicBool,
}

/// A callback that may run, and where its task is.
struct Due {
    report: Arc<Report>,
    stream: Arc<Stream>,
    token: Token,
    begin_ns: u64,
}

/// A callback task.
pub(crate) struct Report {
    callback: Callback,
    blocks: bool,
    mailbox: Arc<Mailbox>,
}

impl Report {
    /// Hands the callback to its thread; tells whether the stream has to wait for it. Nobody processes
    /// it after the thread has unsubscribed.
    pub(crate) fn deliver(
        self: &Arc<Self>,
        stream: &Arc<Stream>,
        token: Token,
        begin_ns: u64,
    ) -> bool {
        let mut waiting = lock(&self.mailbox.due);
        if self.mailbox.closed.load(Ordering::Acquire) {
            return false;
        }
        waiting.push_back(Due {
            report: Arc::clone(self),
            stream: Arc::clone(stream),
            token,
            begin_ns,
        });
        drop(waiting);
        self.mailbox.arrived.notify_one();
        self.blocks
    }
}

impl Due {
    fn finish(&self) {
        if self.report.blocks {
            self.stream.host_work_done(self.token);
        }
    }
}

impl Reports {
    fn subscribe(&self, thread: u64, stream: &Stream) -> Outcome {
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
    fn unsubscribe(&self, thread: u64, stream: &Stream) -> Outcome {
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
            // Under the lock: what is delivered later sees it.
            let mut waiting = lock(&mailbox.due);
            mailbox.closed.store(true, Ordering::Release);
            let dropped = std::mem::take(&mut *waiting);
            drop(waiting);
            for due in dropped {
                due.finish();
            }
            mailbox.arrived.notify_all();
        }
        Ok(())
    }

    fn serves(&self, stream: &Stream) -> bool {
        lock(&self.state).by_stream.contains_key(&stream.handle)
    }

    /// What waits for the thread that serves the stream.
    fn mailbox(&self, stream: &Stream) -> Option<Arc<Mailbox>> {
        let state = lock(&self.state);
        let thread = state.by_stream.get(&stream.handle)?;
        state.by_thread.get(thread).cloned()
    }

    /// Runs the callbacks that are due in the calling thread; waits for the first one.
    fn process(&self, timeout_ms: i32) -> Outcome {
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
            one.report.callback.run();
            one.finish();
        }
        Ok(())
    }
}

impl Mailbox {
    fn take(&self, limit: Option<Duration>) -> VecDeque<Due> {
        let deadline = limit.map(|limit| Instant::now() + limit);
        let mut due = lock(&self.due);
        while due.is_empty() {
            let left = deadline.map_or(Duration::from_secs(3600), |deadline| {
                deadline.saturating_duration_since(Instant::now())
            });
            if left.is_zero() || self.closed.load(Ordering::Acquire) {
                break;
            }
            due = self
                .arrived
                .wait_timeout(due, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        std::mem::take(&mut due)
    }
}

/// The two families are kept apart: in strict mode a stream takes one of them.
const MIXED: Outcome = fault(
    RT_STREAM_SUBSCRIBE,
    "the stream has callbacks or host functions of the other family",
);

pub(crate) fn subscribe(thread: u64, stream: usize) -> Outcome {
    let stream = stream::of_context(stream)?;
    if process::options().strict && stream.ran_host_functions.load(Ordering::Relaxed) {
        return MIXED;
    }
    REPORTS.get().subscribe(thread, &stream)
}

pub(crate) fn unsubscribe(thread: u64, stream: usize) -> Outcome {
    let stream = stream::of_any_context(stream)?;
    REPORTS.get().unsubscribe(thread, &stream)
}

pub(crate) fn process(timeout_ms: i32) -> Outcome {
    REPORTS.get().process(timeout_ms)
}

pub(crate) fn launch(callback: Option<Callback>, block_type: u32, stream: usize) -> Outcome {
    let Some(callback) = callback else {
        return fault(RT_PARAM_INVALID, "the function is NULL");
    };
    if block_type > 1 {
        return fault(INVALID_PARAM, "this block type does not exist");
    }
    let stream = stream::of_context(stream)?;
    let Some(mailbox) = REPORTS.get().mailbox(&stream) else {
        if stream.ran_host_functions.load(Ordering::Relaxed) {
            return MIXED;
        }
        return fault(
            RT_STREAM_NO_CALLBACK,
            "no thread has subscribed to the stream",
        );
    };
    submit(callback, block_type == 1, mailbox, &stream)
}

fn submit(
    callback: Callback,
    blocks: bool,
    mailbox: Arc<Mailbox>,
    stream: &Arc<Stream>,
) -> Outcome {
    let report = Report {
        callback,
        blocks,
        mailbox,
    };
    stream.submit(|_| Work::Report(Arc::new(report))).map(drop)
}

/// Devices of the generation that strict mode stands for do not let threads of the program run host
/// functions.
fn host_reports() -> Outcome<&'static Reports> {
    if process::options().strict {
        return fault(
            RT_NOT_SUPPORTED,
            "this device runs host functions in a thread of its own",
        );
    }
    Ok(HOST_REPORTS.get())
}

pub(crate) fn subscribe_host(thread: u64, stream: usize) -> Outcome {
    host_reports()?.subscribe(thread, &*stream::of_context(stream)?)
}

pub(crate) fn unsubscribe_host(thread: u64, stream: usize) -> Outcome {
    host_reports()?.unsubscribe(thread, &*stream::of_any_context(stream)?)
}

pub(crate) fn process_host(timeout_ms: i32) -> Outcome {
    host_reports()?.process(timeout_ms)
}

/// `aclrtLaunchHostFunc`: runs on the context's helper thread, or where a thread has subscribed to
/// the stream's host functions; the stream waits for it.
pub(crate) fn launch_host(callback: Option<Callback>, stream: usize) -> Outcome {
    let Some(callback) = callback else {
        return fault(RT_PARAM_INVALID, "the function is NULL");
    };
    let stream = stream::of_context(stream)?;
    if process::options().strict && REPORTS.get().serves(&stream) {
        return MIXED;
    }
    stream.ran_host_functions.store(true, Ordering::Relaxed);
    match HOST_REPORTS.get().mailbox(&stream) {
        Some(mailbox) => submit(callback, true, mailbox, &stream),
        None => {
            stream.begin_host()?;
            stream.submit(|_| Work::HostFunction(callback)).map(drop)
        }
    }
}
