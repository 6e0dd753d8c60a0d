//! The options of a recording that keeps its last part, and their effects while the program runs.

use std::sync::Arc;
use std::time::Duration;

use ascend_trace_collector::ring::{RingOptions, SnapshotOrigin};
use ascend_trace_collector::switchboard::Switchboard;

use signal_hook::low_level::signal_name;

use crate::launch::signals::SignalRelay;

/// A recording that keeps its last part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RingPlan {
    pub(crate) options: RingOptions,
    /// Signals to the tool that take a snapshot.
    pub(crate) signals: Vec<i32>,
    /// The time without progress that takes one.
    pub(crate) watchdog: Option<Duration>,
    /// Recordings with this name take snapshots together.
    pub(crate) group: Option<String>,
}

impl RingPlan {
    /// Listens to the signals.
    pub(super) fn listen(&self, relay: &SignalRelay, board: &Arc<Switchboard>) {
        for signal in &self.signals {
            let board = Arc::clone(board);
            let name = signal_name(*signal).unwrap_or_default();
            let reason = format!("signal {}", name.trim_start_matches("SIG"));
            relay.keep(*signal, move || {
                board.want_snapshot(&reason, SnapshotOrigin::Request)
            });
        }
    }
}
