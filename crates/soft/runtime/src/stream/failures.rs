//! Failures of tasks.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use super::line::StreamLine;
use crate::code::{Code, Outcome, RT_NOT_SUPPORTED, SUCCESS, fault};
use crate::sync::{Mutex, lock};
use crate::{errors, guard};

/// State about failing tasks that the streams of a context share.
#[derive(Default)]
pub(crate) struct Failures {
    stops: AtomicBool,
    /// The failure after which nothing may be submitted any more.
    stopped_by: AtomicI32,
    /// The device's texts about failures, until a query takes them.
    texts: Mutex<String>,
}

/// Texts beyond this are dropped.
const MOST_TEXT: usize = 16 << 10;

impl Failures {
    fn push_message(&self, text: &str) {
        let mut texts = lock(&self.texts);
        if texts.len() < MOST_TEXT {
            texts.push_str(text);
        }
    }

    /// As `Stream::check_context`.
    pub(crate) fn check(&self) -> Outcome {
        match self.stopped_by.load(Ordering::Acquire) {
            SUCCESS => Ok(()),
            code => {
                self.hand_over("a query");
                fault(code, "a task failed, and the context stops on failure")
            }
        }
    }

    /// Did a task fail after which nothing may be submitted any more? Nobody's texts move.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped_by.load(Ordering::Acquire) != SUCCESS
    }

    /// Gives the texts to the calling thread: the first query gets them.
    pub(super) fn hand_over(&self, function: &str) {
        let texts = std::mem::take(&mut *lock(&self.texts));
        if !texts.is_empty() {
            guard::took_an_error(function);
            errors::adopt(&texts);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureMode {
    Continue,
    Stop,
}

impl StreamLine {
    /// The failure after which nothing may be submitted any more.
    pub(super) fn stopped_by(&self) -> Code {
        self.failures.stopped_by.load(Ordering::Acquire)
    }

    /// Reports what failed on the device since the last report.
    pub(crate) fn take_error(&self) -> Outcome {
        match self.error.swap(SUCCESS, Ordering::AcqRel) {
            SUCCESS => Ok(()),
            code => fault(code, "a task of the stream failed"),
        }
    }

    /// Refuses when a task of the context failed and its streams stop then. Whoever asks gets the device's
    /// texts.
    pub(crate) fn check_context(&self) -> Outcome {
        self.failures.check()
    }

    /// Notes that a task failed on the device; the next synchronisation reports it.
    pub(crate) fn fail(&self, code: Code) {
        self.fail_by(code, "");
    }

    /// As `fail`, with more to say.
    pub(crate) fn fail_by(&self, code: Code, more: &str) {
        self.error.store(code, Ordering::Release);
        self.failures.push_message(&format!(
            "EZ9999: a task of the stream {} failed on the device ({code}){more}\n",
            self.id
        ));
        if self.failures.stops.load(Ordering::Acquire) {
            self.failures.stopped_by.store(code, Ordering::Release);
        }
    }

    /// Only the lowest bit of a mode counts. Stopping is contagious within the context, and it stays.
    pub(crate) fn set_failure_mode(&self, mode: u64) -> Outcome {
        match (self.failure_mode(), mode & 1) {
            (FailureMode::Stop, 0) => {
                fault(RT_NOT_SUPPORTED, "the stream stops on failure already")
            }
            (_, 1) => {
                self.failures.stops.store(true, Ordering::Release);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn failure_mode(&self) -> FailureMode {
        let stops = self.failures.stops.load(Ordering::Acquire);
        if stops {
            FailureMode::Stop
        } else {
            FailureMode::Continue
        }
    }
}
