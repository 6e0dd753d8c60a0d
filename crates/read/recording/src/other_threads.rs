//! Threads without recorded calls: how much they worked, as far as the recorder could see.

use std::collections::{BTreeMap, BTreeSet};

use crate::rows::OtherThreadRow;
use crate::time_range::TimeRange;
use crate::trace::Trace;

/// The number of a recorded process, and the pid and the tid of a thread.
pub(crate) type OtherThreadKey = (u32, u32, u32);

/// Rows become rarer: from one to the next, the time since the first look grows by this part, as a divisor, or by this time in
/// nanoseconds.
const LATE: i64 = 8;
const LATE_NS: i64 = 50_000_000;

impl OtherThreadRow {
    pub(crate) fn key(&self) -> OtherThreadKey {
        (self.process, self.pid, self.tid)
    }

    /// The part of the seen time in which it used a processor.
    pub fn share(&self) -> f64 {
        let seen = (self.at_ns - self.first_ns).max(1);
        (self.cpu_ns as f64 / seen as f64).min(1.0)
    }

    /// The part of a range for which the sums hold. The first look is later than the begin of a thread, and the last row is earlier
    /// than its end.
    fn within(&self, range: TimeRange) -> TimeRange {
        let late = (self.at_ns - self.first_ns) / LATE + LATE_NS;
        let begin = match self.first_ns - late <= range.begin {
            true => range.begin,
            false => self.first_ns,
        };
        let end = match self.at_ns + late >= range.end {
            true => range.end,
            false => self.at_ns,
        };
        TimeRange::new(begin, end.max(begin))
    }

    /// About how long it used a processor in a range.
    pub fn work_ns(&self, range: TimeRange) -> i64 {
        (self.share() * self.within(range).duration() as f64) as i64
    }

    /// About how often it got a processor in a range.
    pub fn runs_in(&self, range: TimeRange) -> u64 {
        let seen = (self.at_ns - self.first_ns).max(1);
        let part = self.within(range).duration() as f64 / seen as f64;
        (self.runs as f64 * part) as u64
    }
}

impl Trace {
    /// Threads without recorded calls that the recorder saw work, of recorded processes and of their children.
    pub fn other_threads(&self) -> Vec<&OtherThreadRow> {
        let mut last: BTreeMap<OtherThreadKey, &OtherThreadRow> = BTreeMap::new();
        for row in self.rows::<OtherThreadRow>() {
            let known = last.entry(row.key()).or_insert(row);
            if known.at_ns <= row.at_ns {
                *known = row;
            }
        }
        if last.is_empty() {
            return Vec::new();
        }
        // Their first calls may have come later.
        let recorded: BTreeSet<(u32, u32)> = self
            .threads()
            .iter()
            .map(|it| (self.process(it.process).pid, it.tid))
            .collect();
        let others = last.into_values();
        others
            .filter(|it| !recorded.contains(&(it.pid, it.tid)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn seen(first: i64, at: i64) -> OtherThreadRow {
        OtherThreadRow {
            first_ns: first * MS,
            at_ns: at * MS,
            cpu_ns: u64::try_from((at - first) * MS / 2).unwrap(),
            runs: 10,
            ..OtherThreadRow::default()
        }
    }

    #[test]
    fn sums_hold_until_the_next_row_is_due() {
        let all = TimeRange::new(0, 1_000 * MS);
        // Seen for nearly all of the time.
        assert_eq!(seen(20, 900).work_ns(all), 500 * MS);
        assert_eq!(seen(20, 900).runs_in(all), 11);
        // It ended early, or began late.
        assert_eq!(seen(20, 520).work_ns(all), 260 * MS);
        assert_eq!(seen(500, 990).work_ns(all), 250 * MS);
        // Seen for longer than the range.
        let part = TimeRange::new(400 * MS, 600 * MS);
        assert_eq!(seen(0, 1_000).work_ns(part), 100 * MS);
        assert_eq!(seen(0, 100).work_ns(part), 0);
    }

    #[test]
    fn a_thread_works_for_no_longer_than_it_was_seen() {
        let row = OtherThreadRow {
            cpu_ns: 70,
            at_ns: 60,
            ..OtherThreadRow::default()
        };
        assert_eq!(row.share(), 1.0);
        assert_eq!(OtherThreadRow::default().share(), 0.0);
    }
}
