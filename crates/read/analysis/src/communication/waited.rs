//! How long a rank waited in messages: waits at the same time count once.

use std::collections::BTreeMap;

use super::part_times::SplitTime;
use crate::estimate::Estimate;

/// Waits that are apart from each other. The earliest half of more is only summed up.
const MOST_APART: usize = 1 << 14;

/// The waits of a rank, united.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WaitedTime {
    /// Begin and end of the waits that may still touch others.
    apart: BTreeMap<i64, i64>,
    /// The sum of those before `floor`.
    summed: i64,
    floor: Option<i64>,
    error: f64,
}

impl WaitedTime {
    /// Adds the wait of a call that begins at this time.
    pub(super) fn add(&mut self, begin: i64, split: &SplitTime) {
        let Estimate { value, low, high } = split.wait;
        self.error += (value - low).max(high - value).max(0.0);
        let end = begin.saturating_add(value as i64);
        let begin = self.floor.map_or(begin, |floor| floor.max(begin));
        self.unite(begin, end);
        if self.apart.len() > MOST_APART {
            self.sum_up();
        }
    }

    fn unite(&mut self, mut begin: i64, mut end: i64) {
        if begin >= end {
            return;
        }
        while let Some((from, to)) = self.apart.range(..=end).next_back() {
            let (from, to) = (*from, *to);
            if to < begin {
                break;
            }
            self.apart.remove(&from);
            begin = begin.min(from);
            end = end.max(to);
        }
        self.apart.insert(begin, end);
    }

    fn sum_up(&mut self) {
        for _ in 0..MOST_APART / 2 {
            if let Some((begin, end)) = self.apart.pop_first() {
                self.summed += end - begin;
                self.floor = Some(end);
            }
        }
    }

    /// The time and how far it may be off.
    pub(super) fn time(&self) -> (i64, i64) {
        let apart = self.apart.iter().map(|(begin, end)| end - begin);
        let error = self.error.ceil() as i64;
        (self.summed + apart.sum::<i64>(), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(waits: &[(i64, i64)]) -> (i64, i64) {
        let mut time = WaitedTime::default();
        for (begin, length) in waits {
            let length = *length as f64;
            let wait = Estimate {
                value: length,
                low: length - 1.0,
                high: length + 2.0,
            };
            let transfer = Estimate::default();
            time.add(*begin, &SplitTime { wait, transfer });
        }
        time.time()
    }

    #[test]
    fn waits_at_the_same_time_count_once() {
        assert_eq!(waited(&[(0, 10), (20, 10)]), (20, 4));
        assert_eq!(waited(&[(0, 10), (20, 10), (5, 20)]), (30, 6));
        assert_eq!(waited(&[(20, 10), (0, 100)]), (100, 4));
        assert_eq!(waited(&[(0, 10), (10, 10), (40, 0)]), (20, 6));
    }

    #[test]
    fn the_earliest_of_many_waits_are_summed_up() {
        let many: Vec<(i64, i64)> = (0..3 * MOST_APART as i64).map(|it| (10 * it, 5)).collect();
        assert_eq!(waited(&many).0, 5 * many.len() as i64);
        let mut time = WaitedTime::default();
        let wait = Estimate::between(5.0, 5.0);
        let transfer = Estimate::default();
        many.iter()
            .for_each(|(begin, _)| time.add(*begin, &SplitTime { wait, transfer }));
        assert!(time.apart.len() <= MOST_APART);
    }
}
