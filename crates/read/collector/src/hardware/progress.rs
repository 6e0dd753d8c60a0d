//! Progress of the hardware log of a device, over all streams. Entries of a stream may precede those of another stream
//! that ran tasks earlier.

use ascend_trace_format::time::{DeviceNs, HostNs};

/// How far the log is complete. Entries arrive in batches; a batch is identified by its read time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BatchProgress {
    batch: HostNs,
    /// The latest begin in batches up to this one.
    newest: DeviceNs,
    /// The latest begin in the earlier batches. More entries of the newest batch may still arrive.
    complete: DeviceNs,
}

impl BatchProgress {
    /// Takes an entry of a batch.
    pub(super) fn note(&mut self, batch: HostNs, begin: DeviceNs) {
        if batch > self.batch {
            self.complete = self.newest;
            self.batch = batch;
        }
        self.newest = self.newest.max(begin);
    }

    /// All entries that ended before this time of the log have arrived.
    pub(super) const fn complete_until(self) -> DeviceNs {
        self.complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_whole_when_the_next_one_arrives() {
        let mut progress = BatchProgress::default();
        let note = |progress: &mut BatchProgress, batch, begin| {
            progress.note(HostNs::new(batch), DeviceNs::new(begin));
        };
        note(&mut progress, 10, 500);
        note(&mut progress, 10, 400);
        assert_eq!(progress.complete_until(), DeviceNs::new(0));
        note(&mut progress, 11, 450);
        assert_eq!(progress.complete_until(), DeviceNs::new(500));
        note(&mut progress, 11, 700);
        assert_eq!(progress.complete_until(), DeviceNs::new(500));
        note(&mut progress, 12, 0);
        assert_eq!(progress.complete_until(), DeviceNs::new(700));
    }
}
