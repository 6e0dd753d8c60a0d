//! What other processes did to the memory of the recording.

use ascend_trace_recording::rows::{LossRow, Row};

use super::Collector;

impl Collector {
    /// Mends the memory. That it was cut is said once.
    pub(super) fn mend(&mut self) {
        let found = self.arena.mend();
        self.damage(found.damaged);
        if !found.is_cut {
            return;
        }
        // Records that had not been read are lost. Their number is not known.
        self.unreported += 1;
        if !std::mem::replace(&mut self.is_cut, true) {
            let path = self.arena.path().display();
            (self.file.say)(&format!(
                "another process cut the memory of the recording, {path}: calls after that may be missing"
            ));
        }
    }

    /// Counts places with contents that make no sense.
    pub(super) fn damage(&mut self, places: u64) {
        self.counts.unreadable += places;
        self.unreported += places;
    }

    /// Writes damage into the file as a loss of other records: so the recording is not complete.
    pub(super) fn tell_damage(&mut self) {
        let others = std::mem::take(&mut self.unreported);
        if others > 0 {
            self.file.push(&Row::Loss(LossRow {
                thread: None,
                calls: 0,
                others,
                times: 0,
            }));
        }
    }
}
