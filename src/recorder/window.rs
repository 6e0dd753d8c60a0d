//! The options of a recording's window, and their effects while the program runs.

use std::sync::Arc;
use std::time::Duration;

use ascend_trace_collector::switchboard::{Switchboard, WindowClock};
use ascend_trace_format::window::{Condition, Window};

use crate::launch::signals::SignalRelay;

/// The window of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WindowOptions {
    /// The part that each process looks after itself.
    pub(crate) in_processes: Window,
    pub(crate) delay: Option<Duration>,
    pub(crate) duration: Option<Duration>,
    /// Signals to the tool that begin and end the recording.
    pub(crate) start_signal: Option<i32>,
    pub(crate) stop_signal: Option<i32>,
}

impl WindowOptions {
    /// The part that the recorder's clock looks after.
    pub(crate) fn clock(&self) -> WindowClock {
        let window = &self.in_processes;
        WindowClock {
            delay: self.delay,
            duration: self.duration,
            waits_for_signal: self.start_signal.is_some(),
            waits_for_processes: window.is_paused || window.start != Condition::None,
        }
    }

    /// The time after which the recording is over, where only the clock decides.
    pub(crate) fn ends_after(&self) -> Option<Duration> {
        let clock = self.clock();
        let is_clocked = !clock.waits_for_signal && !clock.waits_for_processes;
        let duration = clock.duration.filter(|_| is_clocked)?;
        Some(clock.delay.unwrap_or_default().saturating_add(duration))
    }

    /// Listens to the signals. One signal for both turns the recording on and off.
    pub(crate) fn listen(&self, relay: &SignalRelay, board: &Arc<Switchboard>) {
        let is_one = self.start_signal == self.stop_signal;
        if let Some(signal) = self.start_signal {
            let board = Arc::clone(board);
            relay.keep(signal, move || match is_one && !board.is_paused() {
                true => board.pause(),
                false => board.release(),
            });
        }
        if let Some(signal) = self.stop_signal.filter(|_| !is_one) {
            let board = Arc::clone(board);
            relay.keep(signal, move || board.pause());
        }
    }
}
