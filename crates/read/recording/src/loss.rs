//! When records were lost. The file contains a loss when the recorder has noticed it, so the time of a
//! loss is one by which it had happened.

use std::collections::HashMap;

use crate::entities::ThreadId;
use crate::rows::LossRow;

/// Entries that are kept; of more, neighbours are put together.
const MOST: usize = 1 << 15;

/// Records that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// `None` when it belongs to no thread that is known.
    pub thread: Option<ThreadId>,
    /// By then it had happened: the end of the last call in the file before the loss.
    pub at: i64,
    pub calls: u64,
    /// Lost times of tasks.
    pub times: u64,
    /// Other records: names, events, ends.
    pub others: u64,
}

impl Loss {
    pub(crate) fn new(thread: Option<ThreadId>, at: i64, row: &LossRow) -> Self {
        Self {
            thread,
            at,
            calls: row.calls,
            times: row.times,
            others: row.others.saturating_sub(row.times),
        }
    }

    /// All of them together.
    pub fn total(&self) -> u64 {
        self.calls
            .saturating_add(self.times)
            .saturating_add(self.others)
    }

    fn absorb(&mut self, other: &Self) {
        self.at = self.at.max(other.at);
        self.calls = self.calls.saturating_add(other.calls);
        self.times = self.times.saturating_add(other.times);
        self.others = self.others.saturating_add(other.others);
    }
}

/// All losses of a recording, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossSeries {
    losses: Vec<Loss>,
    /// Losses of a thread that are no further apart share an entry.
    width: i64,
    /// Threads that lost something, where they alone are too many: each keeps an entry.
    threads: usize,
}

impl LossSeries {
    pub(crate) fn all(&self) -> &[Loss] {
        &self.losses
    }

    pub(crate) fn push(&mut self, loss: Loss) {
        self.losses.push(loss);
        while self.losses.len() > MOST.max(self.threads.saturating_mul(2)) {
            self.width = self.width.saturating_mul(2).max(1_000_000);
            self.shrink();
            if self.width == i64::MAX {
                self.threads = self.losses.len();
            }
        }
    }

    fn shrink(&mut self) {
        let all = std::mem::take(&mut self.losses);
        let mut last: HashMap<Option<ThreadId>, (usize, i64)> = HashMap::new();
        for loss in all {
            match last.get(&loss.thread) {
                Some((place, begin)) if loss.at.saturating_sub(*begin) <= self.width => {
                    self.losses[*place].absorb(&loss);
                }
                _ => {
                    last.insert(loss.thread, (self.losses.len(), loss.at));
                    self.losses.push(loss);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_than_entries_have_an_entry_each() {
        let mut series = LossSeries::default();
        let threads = 3 * MOST as u32;
        for thread in 0..threads {
            series.push(Loss {
                thread: Some(ThreadId(thread)),
                at: 0,
                calls: 1,
                times: 0,
                others: 0,
            });
        }
        assert_eq!(series.all().len(), 3 * MOST);
    }

    #[test]
    fn all_of_many_losses_are_kept() {
        let mut series = LossSeries::default();
        for index in 0..200_000_i64 {
            series.push(Loss {
                thread: Some(ThreadId((index % 7) as u32)),
                at: index * 10_000,
                calls: 2,
                times: 1,
                others: 0,
            });
        }
        assert!(series.all().len() <= MOST);
        let calls: u64 = series.all().iter().map(|loss| loss.calls).sum();
        assert_eq!(calls, 400_000);
        assert_eq!(series.all().last().map(|loss| loss.at), Some(1_999_990_000));
    }
}
