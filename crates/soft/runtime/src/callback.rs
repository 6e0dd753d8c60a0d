//! Callbacks and host functions that run in threads of the program: `aclrtSubscribeReport` and its
//! family.

pub(crate) mod report;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::code::{
    INVALID_PARAM, Outcome, RT_NOT_SUPPORTED, RT_PARAM_INVALID, RT_STREAM_NO_CALLBACK,
    RT_STREAM_SUBSCRIBE, fault,
};
use crate::engine::task::Work;
use crate::ffi::Callback;
use crate::per_process::PerProcess;
use crate::process;
use crate::stream::{Stream, access};
use report::{Mailbox, Report, ReportThreads};

/// Threads that run callbacks.
static REPORTS: PerProcess<ReportThreads> = PerProcess::new(ReportThreads::default);
/// Threads that run host functions.
static HOST_REPORTS: PerProcess<ReportThreads> = PerProcess::new(ReportThreads::default);

/// The two families are kept apart: a stream that ran host functions takes no callbacks.
const MIXED: Outcome = fault(
    RT_STREAM_SUBSCRIBE,
    "the stream has callbacks or host functions of the other family",
);

pub(crate) fn subscribe(thread: u64, stream: usize) -> Outcome {
    let stream = access::of_context(stream)?;
    if stream.ran_host_functions.load(Ordering::Relaxed) {
        return MIXED;
    }
    REPORTS.get().subscribe(thread, &stream)
}

pub(crate) fn unsubscribe(thread: u64, stream: usize) -> Outcome {
    let stream = access::of_any_context(stream)?;
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
    let stream = access::of_context(stream)?;
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

/// Devices of the generation in strict mode do not let threads of the program run host functions.
fn host_reports() -> Outcome<&'static ReportThreads> {
    if process::options().strict {
        return fault(
            RT_NOT_SUPPORTED,
            "this device runs host functions in a separate thread",
        );
    }
    Ok(HOST_REPORTS.get())
}

pub(crate) fn subscribe_host(thread: u64, stream: usize) -> Outcome {
    host_reports()?.subscribe(thread, &*access::of_context(stream)?)
}

pub(crate) fn unsubscribe_host(thread: u64, stream: usize) -> Outcome {
    host_reports()?.unsubscribe(thread, &*access::of_any_context(stream)?)
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
    let stream = access::of_context(stream)?;
    if process::options().strict && REPORTS.get().serves(&stream) {
        return MIXED;
    }
    stream.ran_host_functions.store(true, Ordering::Relaxed);
    match HOST_REPORTS.get().mailbox(&stream) {
        Some(mailbox) => submit(callback, true, mailbox, &stream),
        None => {
            stream.host_thread.begin()?;
            stream.submit(|_| Work::HostFunction(callback)).map(drop)
        }
    }
}
