//! Calls with several messages: the wait of one ends when the last of its other ranks has begun.

use std::collections::BTreeMap;

use super::part_times::SplitTime;
use super::sums::PartOf;
use crate::estimate::Estimate;

/// Calls that wait for further ranks.
const MOST_OPEN: usize = 1 << 14;

/// A call with several messages, until the begins of all its other ranks are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// `None` outside the range of interest.
    pub(super) part: Option<PartOf>,
    /// Its place among all collectives, where they are wanted one by one.
    pub(super) run: Option<usize>,
    pub(super) begin: i64,
    /// From its begin to its end.
    pub(super) whole: Estimate,
    /// Messages with an unknown wait.
    pub(super) left: usize,
    /// The longest of the known waits.
    pub(super) wait: Estimate,
}

#[derive(Debug, Default)]
pub(super) struct Batches {
    open: BTreeMap<u64, Batch>,
    count: u64,
}

impl Batches {
    /// Adds a call, and returns its number.
    pub(super) fn add(&mut self, batch: Batch) -> u64 {
        let number = self.count;
        self.count += 1;
        self.open.insert(number, batch);
        if self.open.len() > MOST_OPEN {
            self.open.pop_first();
        }
        number
    }

    /// Takes the wait of one message. Returns the call if it was the last one, with its wait.
    pub(super) fn take(&mut self, number: u64, wait: Estimate) -> Option<(Batch, SplitTime)> {
        let batch = self.open.get_mut(&number)?;
        batch.left = batch.left.saturating_sub(1);
        batch.wait = Estimate {
            value: batch.wait.value.max(wait.value),
            low: batch.wait.low.max(wait.low),
            high: batch.wait.high.max(wait.high),
        };
        if batch.left > 0 {
            return None;
        }
        let batch = self.open.remove(&number)?;
        Some((batch, SplitTime::of(batch.wait, batch.whole)))
    }
}
