//! Waiting for a stream, failures of its tasks, and dropping them.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Stream, flag};
use crate::clock::mono;
use crate::code::{Code, Outcome, RT_STREAM_SYNC_TIMEOUT, SUCCESS, check, fault};
pub(crate) use crate::progress::Waited;
use crate::sync::lock;
use crate::{engine, errors, guard, virtual_time};

/// How long a waiting thread looks before it goes to sleep.
const LOOK_NS: u64 = 4_000;

/// What the streams of a context share about failing tasks.
#[derive(Default)]
pub(crate) struct Failures {
    stops: AtomicBool,
    /// The failure after which nothing may be submitted any more.
    pub(super) stopped_by: AtomicI32,
    /// What the device said of failures, until somebody who looks takes it along.
    texts: Mutex<String>,
}

/// Texts beyond this are dropped.
const MOST_TEXT: usize = 16 << 10;

impl Failures {
    fn tell(&self, text: &str) {
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

    /// Gives the texts to the calling thread: whoever looks first has them.
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

/// What the engine is asked to throw away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drop {
    Nothing,
    Current,
    Everything,
}

impl Stream {
    /// Waits until the task is complete.
    pub(crate) fn wait_for(&self, seq: u64, limit: Option<Duration>) -> Waited {
        if virtual_time::is_on() {
            return self.wait_virtually(seq, limit);
        }
        let begin = mono();
        let interrupts = self.progress.interrupts();
        while mono() < begin + LOOK_NS {
            if let Some(waited) = self.progress.outcome(seq, interrupts) {
                return waited;
            }
            std::hint::spin_loop();
        }
        let deadline = limit.map(|limit| begin.saturating_add(limit.as_nanos() as u64));
        self.progress.sleep(seq, interrupts, || match deadline {
            None => Some(Duration::from_secs(3600)),
            Some(end) => Some(end.saturating_sub(mono()))
                .filter(|&left| left != 0)
                .map(Duration::from_nanos),
        })
    }

    /// Waits until the engine has played the task, and sets the thread's clock to its end. With a limit, what
    /// cannot be played now never comes.
    fn wait_virtually(&self, seq: u64, limit: Option<Duration>) -> Waited {
        let interrupts = self.progress.interrupts();
        let hour = Duration::from_secs(3600);
        let waited = match limit {
            None => self.progress.sleep(seq, interrupts, || Some(hour)),
            Some(_) => {
                virtual_time::settle();
                let outcome = self.progress.outcome(seq, interrupts);
                outcome.unwrap_or(Waited::TimedOut)
            }
        };
        let last = limit.map_or(u64::MAX, |it| {
            virtual_time::now().saturating_add(it.as_nanos() as u64)
        });
        match waited {
            Waited::Done => {
                let end = lock(&self.ends).of(seq);
                virtual_time::reach(end.min(last));
                if end > last {
                    return Waited::TimedOut;
                }
            }
            Waited::TimedOut => virtual_time::reach(last),
            Waited::Aborted(_) => {}
        }
        waited
    }

    /// Waits for everything submitted so far and reports what failed on the device meanwhile.
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
            Waited::Done => {}
            Waited::TimedOut => return fault(RT_STREAM_SYNC_TIMEOUT, "the stream is not done yet"),
            Waited::Aborted(code) => return fault(code, "the stream was aborted"),
        }
        self.take_error()
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
        self.error.store(code, Ordering::Release);
        self.failures.tell(&format!(
            "EZ9999: a task of the stream {} failed on the device ({code})\n",
            self.id
        ));
        if self.failures.stops.load(Ordering::Acquire) {
            self.failures.stopped_by.store(code, Ordering::Release);
        }
    }

    /// May be called once per stream. Stopping is contagious within the context. Modes that do not exist
    /// are accepted and mean nothing.
    pub(crate) fn set_failure_mode(&self, mode: u64) -> Outcome {
        if mode > 1 {
            return Ok(());
        }
        let was_set = self.failure_mode_was_set.swap(true, Ordering::AcqRel);
        check(!was_set, "the failure mode was set before")?;
        if mode == 1 {
            self.failures.stops.store(true, Ordering::Release);
        }
        Ok(())
    }

    pub(crate) fn failure_mode(&self) -> FailureMode {
        let stops = self.failures.stops.load(Ordering::Acquire);
        if stops {
            FailureMode::Stop
        } else {
            FailureMode::Continue
        }
    }

    /// Drops all queued tasks. Threads that wait for the stream get the code, if there is one.
    pub(crate) fn abort(self: &Arc<Self>, code: Option<Code>) {
        if let Some(code) = code {
            self.progress.interrupt(code);
        }
        let seq = self.request_drop(Drop::Everything);
        // The wait is short and must not be taken for an interrupted one.
        while matches!(self.wait_for(seq, None), Waited::Aborted(_)) {}
    }

    /// Drops the task that is running.
    pub(crate) fn stop_current(self: &Arc<Self>) {
        self.request_drop(Drop::Current);
    }

    fn request_drop(self: &Arc<Self>, what: Drop) -> u64 {
        let queue = self.inlet.lock();
        let seq = queue.pushed;
        self.drop_request.store(what as u8, Ordering::SeqCst);
        drop(queue);
        // The engine is called in any case; a second look does no harm.
        self.inlet.must_call();
        engine::get().enqueue(self);
        seq
    }

    /// What the engine has to drop; asked for once.
    pub(crate) fn take_drop_request(&self) -> Drop {
        if self.drop_request.load(Ordering::Relaxed) == 0 {
            return Drop::Nothing;
        }
        match self.drop_request.swap(0, Ordering::SeqCst) {
            0 => Drop::Nothing,
            1 => Drop::Current,
            _ => Drop::Everything,
        }
    }
}
