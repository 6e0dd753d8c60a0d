//! Waiting for a task, and asking the engine to drop some.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::line::StreamLine;
use crate::clock::mono;
use crate::progress::WaitResult;
use crate::sync::lock;
use crate::virtual_time;

/// How long a waiting thread looks before it goes to sleep.
const LOOK_NS: u64 = 4_000;

/// Tasks that the engine must drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DroppedTasks {
    Nothing,
    Current,
    Everything,
}

impl StreamLine {
    /// Waits until the task is complete.
    pub(crate) fn wait_for(&self, seq: u64, limit: Option<Duration>) -> WaitResult {
        self.demand(seq);
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
    fn wait_virtually(&self, seq: u64, limit: Option<Duration>) -> WaitResult {
        let interrupts = self.progress.interrupts();
        let hour = Duration::from_secs(3600);
        let waited = match limit {
            None => self.progress.sleep(seq, interrupts, || Some(hour)),
            Some(_) => {
                virtual_time::settle();
                let outcome = self.progress.outcome(seq, interrupts);
                outcome.unwrap_or(WaitResult::TimedOut)
            }
        };
        let last = limit.map_or(u64::MAX, |it| {
            virtual_time::now().saturating_add(it.as_nanos() as u64)
        });
        match waited {
            WaitResult::Done => {
                let end = lock(&self.ends).of(seq);
                virtual_time::reach(end.min(last));
                if end > last {
                    return WaitResult::TimedOut;
                }
            }
            WaitResult::TimedOut => virtual_time::reach(last),
            WaitResult::Aborted(_) => {}
        }
        waited
    }

    /// Takes the request to drop tasks.
    pub(crate) fn take_drop_request(&self) -> DroppedTasks {
        if self.drop_request.load(Ordering::Relaxed) == 0 {
            return DroppedTasks::Nothing;
        }
        match self.drop_request.swap(0, Ordering::SeqCst) {
            0 => DroppedTasks::Nothing,
            1 => DroppedTasks::Current,
            _ => DroppedTasks::Everything,
        }
    }
}
