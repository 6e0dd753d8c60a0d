//! `--timing auto`: how the tasks of a stream are timed, depending on their durations. Two events
//! around a task of a few microseconds take the device too long: then a single event must do. Where even that
//! takes longer than the task, or a chip has few places for events, the tool times only every N-th
//! task.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicI8, AtomicU8};

use ascend_trace_format::record::Manner;

use crate::session;
use crate::timing::{chip, counters};

/// Tasks below this are short.
const SHORT_NS: i64 = 10_000;
/// A stream counts as one of short tasks when it has this many more short tasks than long ones, with
/// long ones counted fourfold; it does until long ones prevail.
const MANY: i8 = 32;
const MOST: i8 = 64;
/// One task in this number of a stream is timed, when not all are.
const STEP: u32 = 8;

const EVENTS: u8 = 0;
const CHAINED: u8 = 1;
const SAMPLED: u8 = 2;

/// The choice for one stream.
pub(crate) struct Choice {
    short: AtomicI8,
    tiny: AtomicI8,
    how: AtomicU8,
    /// The ways that it is counted for: each stream counts once, however often it changes.
    counted: AtomicU8,
}

impl Choice {
    pub(crate) const fn new() -> Self {
        Self {
            short: AtomicI8::new(0),
            tiny: AtomicI8::new(0),
            how: AtomicU8::new(EVENTS),
            counted: AtomicU8::new(0),
        }
    }

    /// The lane has another stream.
    pub(crate) fn forget(&self) {
        self.short.store(0, Relaxed);
        self.tiny.store(0, Relaxed);
        self.how.store(EVENTS, Relaxed);
        self.counted.store(0, Relaxed);
    }

    /// A task took `length_ns`, where an event record takes `record_ns`. Returns the new manner of
    /// timing the stream's tasks, if it changes.
    pub(crate) fn note(&self, length_ns: i64, record_ns: i64) -> Option<Manner> {
        let is_short = length_ns < SHORT_NS;
        // A budget selects tasks by their durations; places for events have another limit.
        let is_tiny =
            length_ns < record_ns && session::budget() == 0 || is_short && chip::has_few_places();
        let was = self.how.load(Relaxed);
        let short = weigh(&self.short, is_short, was >= CHAINED);
        let tiny = weigh(&self.tiny, is_tiny, was >= SAMPLED);
        let how = match (short, tiny) {
            (_, true) => SAMPLED,
            (true, false) => CHAINED,
            (false, false) => EVENTS,
        };
        if how == was {
            return None;
        }
        self.how.store(how, Relaxed);
        let is_first = self.is_first(how);
        Some(match how {
            CHAINED => {
                counters::CHAINED_STREAMS.add(is_first.into());
                Manner::Chained
            }
            SAMPLED => {
                counters::SAMPLED_STREAMS.add(is_first.into());
                Manner::Sampled
            }
            _ => Manner::Events,
        })
    }

    /// A task has no events because of the budget. Returns whether that is new of the stream.
    pub(crate) fn leaves_out(&self) -> bool {
        let is_new = self.counted.load(Relaxed) & 1 << SAMPLED == 0 && self.is_first(SAMPLED);
        counters::SAMPLED_STREAMS.add(is_new.into());
        is_new
    }

    /// Whether the stream has not been timed this way before.
    fn is_first(&self, how: u8) -> bool {
        let way = 1 << how;
        self.counted.fetch_or(way, Relaxed) & way == 0
    }

    /// Whether the end event of a task may be the start of the next.
    pub(crate) fn is_chained(&self) -> bool {
        self.how.load(Relaxed) >= CHAINED
    }

    /// One task in this number is timed.
    pub(crate) fn step(&self) -> u32 {
        match self.how.load(Relaxed) {
            SAMPLED => STEP,
            _ => 1,
        }
    }
}

/// Counts a task for or against; returns whether those for it prevail. Only the reader of the lane's
/// times calls this.
fn weigh(count: &AtomicI8, is_for: bool, prevailed: bool) -> bool {
    let step = if is_for { 1 } else { -4 };
    let now = count.load(Relaxed).saturating_add(step).clamp(0, MOST);
    count.store(now, Relaxed);
    if prevailed { now > 0 } else { now >= MANY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_tasks_are_chained_tiny_ones_sampled_and_long_ones_bring_pairs_back() {
        chip::is_free();
        let choice = Choice::new();
        let note = |count: usize, length: i64| {
            (0..count).filter_map(|_| choice.note(length, 1_500)).last()
        };
        assert_eq!(note(31, 4_000), None);
        assert!(!choice.is_chained());
        assert_eq!(note(1, 4_000), Some(Manner::Chained));
        assert!(choice.is_chained());
        assert_eq!(choice.step(), 1);
        assert_eq!(note(40, 900), Some(Manner::Sampled));
        assert_eq!(choice.step(), STEP);
        note(20, 4_000);
        assert_eq!((choice.is_chained(), choice.step()), (true, 1));
        assert_eq!(note(20, 50_000), Some(Manner::Events));
        assert!(!choice.is_chained());
    }

    #[test]
    fn a_stream_counts_once_for_each_way() {
        let choice = Choice::new();
        let counted = [CHAINED, EVENTS, CHAINED, SAMPLED, CHAINED].map(|how| choice.is_first(how));
        assert_eq!(counted, [true, true, false, true, false]);
        choice.forget();
        assert!(choice.is_first(CHAINED), "another stream");
    }

    #[test]
    fn a_long_task_now_and_then_changes_nothing() {
        chip::is_free();
        let choice = Choice::new();
        for place in 0..400 {
            choice.note(if place % 10 == 9 { 90_000 } else { 3_000 }, 0);
        }
        assert!(choice.is_chained());
    }
}
