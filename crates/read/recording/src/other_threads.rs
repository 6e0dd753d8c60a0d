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
}

/// A thread without recorded calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherThread {
    /// Its sums by time, at least one.
    rows: Vec<OtherThreadRow>,
}

impl OtherThread {
    fn add(&mut self, row: &OtherThreadRow) {
        let is_later = self.rows.last().is_none_or(|it| it.at_ns < row.at_ns);
        if is_later {
            self.rows.push(row.clone());
        }
    }

    /// Its sums at the last look; those of nothing without a row.
    pub fn last(&self) -> OtherThreadRow {
        self.rows.last().cloned().unwrap_or_default()
    }

    /// About how long it used a processor in a range.
    pub fn work_ns(&self, range: TimeRange) -> i64 {
        self.within(range, |it| it.cpu_ns) as i64
    }

    /// About how often it got a processor in a range.
    pub fn runs(&self, range: TimeRange) -> u64 {
        self.within(range, |it| it.runs) as u64
    }

    /// The part of a sum that grew in a range, as if it grew evenly between rows. The first look is later than the begin of a thread, and
    /// the last row is earlier than its end.
    fn within(&self, range: TimeRange, sum: impl Fn(&OtherThreadRow) -> u64) -> f64 {
        let first = self.rows.iter().take(1).map(|it| (it.first_ns, 0));
        let others = self.rows.iter().map(|it| (it.at_ns, sum(it)));
        let mut points: Vec<(i64, f64)> =
            first.chain(others).map(|it| (it.0, it.1 as f64)).collect();
        let late = self
            .rows
            .last()
            .map_or(0, |it| (it.at_ns - it.first_ns) / LATE);
        let beyond = |(from, to): ((i64, f64), (i64, f64)), by: i64| {
            let length = (to.0 - from.0) as f64;
            let part = if length == 0.0 {
                0.0
            } else {
                by as f64 / length
            };
            (to.0 + by, to.1 + part * (to.1 - from.1))
        };
        if let [first, second, ..] = points[..] {
            points.insert(0, beyond((second, first), -LATE_NS));
        }
        if let [.., before, last] = points[..] {
            points.push(beyond((before, last), late + LATE_NS));
        }
        grown(&points, range.end) - grown(&points, range.begin)
    }
}

/// The value of a line through points, in order, at a place. It does not grow beyond them.
fn grown(points: &[(i64, f64)], at: i64) -> f64 {
    let next = points.partition_point(|it| it.0 <= at);
    match (
        next.checked_sub(1).and_then(|it| points.get(it)),
        points.get(next),
    ) {
        (Some(before), Some(after)) => {
            let part = (at - before.0) as f64 / (after.0 - before.0) as f64;
            before.1 + part * (after.1 - before.1)
        }
        (Some(only), None) | (None, Some(only)) => only.1,
        (None, None) => 0.0,
    }
}

impl Trace {
    /// Threads without recorded calls that the recorder saw work, of recorded processes and of their children.
    pub fn other_threads(&self) -> Vec<OtherThread> {
        let mut all: BTreeMap<OtherThreadKey, OtherThread> = BTreeMap::new();
        for row in self.rows::<OtherThreadRow>() {
            all.entry(row.key()).or_default().add(row);
        }
        if all.is_empty() {
            return Vec::new();
        }
        // A thread may be recorded later: then its first rows are old.
        let recorded: BTreeSet<(u32, u32)> = self
            .threads()
            .iter()
            .map(|it| (self.process(it.process).pid, it.tid))
            .collect();
        let others = all.into_iter();
        let others = others.filter(|it| !recorded.contains(&(it.0.1, it.0.2)));
        others.map(|it| it.1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// From a time on, half of the time until a later one.
    fn seen(first: i64, until: &[i64]) -> OtherThread {
        let mut thread = OtherThread::default();
        for at in until {
            thread.add(&OtherThreadRow {
                first_ns: first * MS,
                at_ns: at * MS,
                cpu_ns: u64::try_from((at - first) * MS / 2).unwrap(),
                runs: u64::try_from(at - first).unwrap(),
                ..OtherThreadRow::default()
            });
        }
        thread
    }

    fn range(begin: i64, end: i64) -> TimeRange {
        TimeRange::new(begin * MS, end * MS)
    }

    #[test]
    fn sums_hold_until_the_next_row_is_due() {
        let all = range(0, 1_000);
        // Seen for nearly all of the time.
        assert_eq!(seen(20, &[900]).work_ns(all), 500 * MS);
        assert_eq!(seen(20, &[900]).runs(all), 1_000);
        // It ended early, or began late.
        assert_eq!(seen(20, &[320, 420]).work_ns(all), 260 * MS);
        assert_eq!(seen(500, &[990]).work_ns(all), 275 * MS);
        assert_eq!(OtherThread::default().work_ns(all), 0);
    }

    #[test]
    fn a_part_of_the_time_has_its_part_of_the_sums() {
        assert_eq!(seen(0, &[1_000]).work_ns(range(400, 600)), 100 * MS);
        assert_eq!(seen(0, &[100]).work_ns(range(400, 600)), 0);
        // It worked at the begin alone.
        let mut thread = seen(0, &[100]);
        let last = thread.last();
        thread.add(&OtherThreadRow {
            at_ns: 800 * MS,
            ..last
        });
        assert_eq!(thread.work_ns(range(0, 50)), 25 * MS);
        assert_eq!(thread.work_ns(range(200, 900)), 0);
        // A row that goes back in time says nothing.
        thread.add(&seen(0, &[500]).last());
        assert_eq!(thread.work_ns(range(200, 900)), 0);
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
