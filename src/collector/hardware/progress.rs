//! How far the log of a device has come, all streams together: entries of one may lie before those of another that ran first.

/// Entries are handed over in batches, one after another; a batch is known by when it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    batch: i64,
    /// The latest begin in batches up to this one.
    newest: i64,
    /// The same without this one, of which more may come.
    whole: i64,
}

impl Progress {
    /// An entry of a batch has come.
    pub(super) fn note(&mut self, batch: i64, begin: i64) {
        if batch > self.batch {
            self.whole = self.newest;
            self.batch = batch;
        }
        self.newest = self.newest.max(begin);
    }

    /// All that ended before this moment of the log's has come.
    pub(super) const fn whole(self) -> i64 {
        self.whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_whole_when_the_next_one_has_come() {
        let mut progress = Progress::default();
        progress.note(10, 500);
        progress.note(10, 400);
        assert_eq!(progress.whole(), 0);
        progress.note(11, 450);
        assert_eq!(progress.whole(), 500);
        progress.note(11, 700);
        assert_eq!(progress.whole(), 500);
        progress.note(12, 0);
        assert_eq!(progress.whole(), 700);
    }
}
