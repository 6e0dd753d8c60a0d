//! Synchronisations of the program's that are under way.

use crate::stream_progress::StreamProgress;
use crate::thread;

/// A synchronisation of a stream under way. The thread notes it as well: a call that is left by a jump ends
/// no wait, and times of the stream would never be read again.
pub(crate) struct Waiting {
    seen: &'static StreamProgress,
    /// How many calls are around the one that waits.
    depth: u8,
}

impl Waiting {
    /// The call that is about to be made in this thread waits.
    pub(crate) fn begin(seen: &'static StreamProgress) -> Self {
        seen.is_waited_for();
        let depth = thread::with(|state| state.note_wait(seen));
        Self { seen, depth }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if thread::with(|state| state.take_wait(self.depth, self.seen)) {
            self.seen.is_left();
        }
    }
}
