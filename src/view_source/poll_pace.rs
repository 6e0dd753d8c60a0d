//! The pause between two reads of a growing file.

use std::time::{Duration, Instant};

/// The shortest time between two reads of a file that grows.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// The same where more data is unlikely.
pub(super) const IDLE_TICK: Duration = Duration::from_secs(1);
/// No data will arrive: only the view's requests matter.
pub(super) const UNTIL_ASKED: Duration = Duration::from_secs(24 * 3600);
/// The pause after a read, as a multiple of its processor time: the recording has priority.
const PATIENCE: u32 = 2;

/// The time of the next read.
pub(super) struct PollPace {
    due: Instant,
    /// Processor time of this thread when the last read began.
    used: Duration,
}

impl PollPace {
    pub(super) fn new() -> Self {
        Self {
            due: Instant::now(),
            used: used(),
        }
    }

    pub(super) fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// The time until the next read.
    pub(super) fn rest(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// Begins a look.
    pub(super) fn begin(&mut self) {
        self.used = used();
    }

    /// Notes that the look has ended.
    pub(super) fn end(&mut self) {
        let took = used().saturating_sub(self.used);
        self.due = Instant::now() + TICK.max(took * PATIENCE);
    }
}

/// Processor time of this thread.
fn used() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Has the thread that reads for the view run after all others: neither the traced program nor the
/// collector waits for it.
pub(crate) fn step_back() {
    /// Of 19 at most: it gets a third of what another thread gets where there is not enough for all.
    const NICE: i32 = 5;
    let own = rustix::thread::gettid();
    // Where that is not allowed it competes like any other.
    let _ = rustix::process::setpriority_process(Some(own), NICE);
}
