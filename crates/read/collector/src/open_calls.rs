//! Calls that have been running for long. The file contains them while they last: so the live view
//! shows the call in which a program hangs, and the file of a killed recorder has it too.

use std::collections::BTreeMap;

use ascend_trace_recording::rows::CallRow;

/// Interval at which threads are checked for running calls.
const LOOK_NS: i64 = 50_000_000;
/// A call of this duration is written.
const LONG_NS: i64 = 100_000_000;
/// For each call in the file, the next call must have lasted longer by this: thousands of waiting
/// threads add little to the file.
const SHARE_NS: i64 = 1_000_000;
/// A running call is written again after a part of its duration, within these limits.
const AGAIN: i64 = 64;
const SOONEST_NS: i64 = 250_000_000;
const LATEST_NS: i64 = 10_000_000_000;

/// A thread, and the ticks at which a call of it began.
type CallKey = (u32, u64);

#[derive(Debug, Default)]
pub(crate) struct OpenCallList {
    calls: BTreeMap<CallKey, NotedCall>,
    /// Counts the looks.
    look: u64,
    looked_ns: i64,
    /// The running calls in the file have changed, or exist.
    changed: bool,
    has_listed: bool,
    listed_ns: i64,
}

#[derive(Debug)]
struct NotedCall {
    row: CallRow,
    /// When it was last seen.
    look: u64,
}

impl OpenCallList {
    /// Whether it is time to look at all threads; then [`Self::end_look`] comes after that.
    pub(super) fn begin_look(&mut self, now_ns: i64) -> bool {
        let is_due = now_ns - self.looked_ns >= LOOK_NS;
        if is_due {
            self.looked_ns = now_ns;
            self.look += 1;
        }
        is_due
    }

    /// All threads have been looked at: calls that were not seen have ended.
    pub(super) fn end_look(&mut self) {
        let before = self.calls.len();
        self.calls.retain(|_, noted| noted.look == self.look);
        self.changed |= self.calls.len() < before;
    }

    /// Whether a call that began then has lasted long.
    pub(super) fn is_long(&self, begin_ns: i64, now_ns: i64) -> bool {
        let share = i64::try_from(self.calls.len()).unwrap_or(i64::MAX);
        now_ns.saturating_sub(begin_ns) >= LONG_NS.max(share.saturating_mul(SHARE_NS))
    }

    /// A call is still under way; `false` when it has not been noted before.
    pub(super) fn goes_on(&mut self, key: CallKey, now_ns: i64) -> bool {
        let Some(noted) = self.calls.get_mut(&key) else {
            return false;
        };
        noted.look = self.look;
        noted.row.end_ns = now_ns.max(noted.row.begin_ns);
        true
    }

    /// A call has lasted long, up to its row's end.
    pub(super) fn note(&mut self, key: CallKey, row: CallRow) {
        let look = self.look;
        self.calls.insert(key, NotedCall { row, look });
        self.changed = true;
    }

    /// A call is recorded as any other.
    pub(super) fn ended(&mut self, key: CallKey) {
        if !self.calls.is_empty() && self.calls.remove(&key).is_some() {
            self.changed = true;
        }
    }

    /// No call goes on when the recording ends.
    pub(super) fn clear(&mut self) {
        self.changed |= !self.calls.is_empty();
        self.calls.clear();
    }

    /// Whether an update of the file is due, even without rows.
    pub(super) fn is_due(&self, now_ns: i64) -> bool {
        let lengths = self.calls.values();
        let lengths = lengths.map(|noted| noted.row.end_ns.saturating_sub(noted.row.begin_ns));
        let pause = lengths
            .min()
            .map(|it| (it / AGAIN).clamp(SOONEST_NS, LATEST_NS));
        self.changed || pause.is_some_and(|pause| now_ns - self.listed_ns >= pause)
    }

    /// The rows of an update of the file, if anything is new.
    pub(super) fn take_news(&mut self, now_ns: i64) -> Option<Vec<CallRow>> {
        if !self.is_due(now_ns) {
            return None;
        }
        self.changed = false;
        self.listed_ns = now_ns;
        let had_any = std::mem::replace(&mut self.has_listed, !self.calls.is_empty());
        let rows = self.calls.values().map(|noted| noted.row.clone());
        (had_any || self.has_listed).then(|| rows.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn row(begin_ns: i64, end_ns: i64) -> CallRow {
        CallRow {
            begin_ns,
            end_ns,
            ..CallRow::default()
        }
    }

    fn look(calls: &mut OpenCallList, now_ns: i64, seen: &[CallKey]) {
        assert!(calls.begin_look(now_ns));
        for key in seen {
            if !calls.goes_on(*key, now_ns) {
                calls.note(*key, row(0, now_ns));
            }
        }
        calls.end_look();
    }

    #[test]
    fn a_call_is_listed_while_it_lasts_and_removed_when_it_ends() {
        let mut calls = OpenCallList::default();
        assert!(!calls.is_long(0, 99 * MS));
        assert!(calls.is_long(0, 100 * MS));
        look(&mut calls, 100 * MS, &[(1, 7)]);
        assert_eq!(calls.take_news(100 * MS), Some(vec![row(0, 100 * MS)]));
        assert!(!calls.begin_look(120 * MS), "not so soon");
        look(&mut calls, 150 * MS, &[(1, 7)]);
        assert_eq!(calls.take_news(150 * MS), None);
        look(&mut calls, 350 * MS, &[(1, 7)]);
        assert_eq!(calls.take_news(350 * MS), Some(vec![row(0, 350 * MS)]));
        calls.ended((1, 7));
        assert_eq!(calls.take_news(351 * MS), Some(Vec::new()));
        assert_eq!(calls.take_news(900 * MS), None);
    }

    #[test]
    fn a_call_that_is_no_longer_seen_has_ended() {
        let mut calls = OpenCallList::default();
        look(&mut calls, 100 * MS, &[(1, 7), (2, 8)]);
        calls.take_news(100 * MS);
        look(&mut calls, 150 * MS, &[(2, 8)]);
        assert_eq!(calls.take_news(150 * MS).map(|it| it.len()), Some(1));
    }

    #[test]
    fn a_call_that_was_never_listed_is_not_removed() {
        let mut calls = OpenCallList::default();
        look(&mut calls, 100 * MS, &[(1, 7)]);
        calls.ended((1, 7));
        assert_eq!(calls.take_news(100 * MS), None);
        calls.clear();
        assert_eq!(calls.take_news(100 * MS), None);
    }

    #[test]
    fn of_thousands_of_waiting_calls_the_longest_are_listed() {
        let mut calls = OpenCallList::default();
        let keys: Vec<CallKey> = (0..1000).map(|thread| (thread, 1)).collect();
        look(&mut calls, 100 * MS, &keys);
        assert!(!calls.is_long(0, 999 * MS));
        assert!(calls.is_long(0, 1000 * MS));
    }
}
