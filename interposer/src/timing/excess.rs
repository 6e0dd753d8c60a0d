//! By how much longer tasks look when each has events around it. Between two tasks that follow each other the device
//! takes some time, and between a record and a task as well. The first time is unknown, but a stretch of
//! tasks without events shows by how much the second is longer: their time as a whole, next to that of the tasks before it
//! and behind it, each with its own events.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

use ascend_trace_format::record::figure::Figure;
use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::timing::record_time::RecordTime;
use crate::timing::spread::{Spread, emit_learnt};

/// Tasks of one stretch.
const STRETCH: core::ops::RangeInclusive<i64> = 2..=64;
/// No device takes longer between a record and a task.
const LONGEST_NS: i64 = 100_000;
/// Two tasks are alike if their durations differ by no more than this, and this part of them.
const ALIKE_NS: i64 = 200;
const ALIKE_PART: i64 = 32;
/// Fewer stretches give no estimate.
const LEAST: u32 = 4;
const UNTOLD: u64 = u64::MAX;

/// Results of one device.
pub(crate) struct Excess {
    /// The excess of a pair, less the time of the device between two tasks.
    beyond: Spread,
    /// The shortest task with its events: they take no longer.
    shortest: AtomicU32,
    told: AtomicU64,
    told_shortest: AtomicU32,
}

impl Excess {
    pub(crate) const fn new() -> Self {
        Self {
            beyond: Spread::new(),
            shortest: AtomicU32::new(u32::MAX),
            told: AtomicU64::new(UNTOLD),
            told_shortest: AtomicU32::new(u32::MAX),
        }
    }

    /// Forgets everything after a fork.
    pub(crate) fn forget(&self) {
        if self.beyond.samples() > 0 {
            self.beyond.forget();
        }
        self.shortest.store(u32::MAX, Relaxed);
        self.told.store(UNTOLD, Relaxed);
        self.told_shortest.store(u32::MAX, Relaxed);
    }

    /// The stretches that were measured.
    pub(crate) fn samples(&self) -> u32 {
        self.beyond.samples()
    }

    /// Records new results of a device: they apply to all tasks. The thread must be marked busy.
    pub(crate) fn tell(&self, device: u32) {
        let shortest = self.shortest.load(Relaxed);
        if self.told_shortest.swap(shortest, Relaxed) != shortest {
            // It falls, and counters grow.
            emit_learnt(
                Figure::ShortestPairNs,
                device,
                u32::MAX.wrapping_sub(shortest),
                shortest,
            );
        }
        if self.samples() < LEAST {
            return;
        }
        let Some(known) = self.beyond.known() else {
            return;
        };
        let both = u64::from(known.median) << 32 | u64::from(known.open);
        if self.told.swap(both, Relaxed) != both {
            emit_learnt(Figure::BeyondSwitchNs, device, known.samples, known.median);
            emit_learnt(
                Figure::BeyondSwitchOpenNs,
                device,
                known.samples,
                known.open,
            );
        }
    }
}

/// A task that was read with events around it, on the device's clock.
#[derive(Clone, Copy)]
pub(crate) struct Single {
    pub(crate) sequence: u32,
    pub(crate) begin: DeviceNs,
    pub(crate) end: DeviceNs,
    /// The event before it had been submitted by then.
    pub(crate) submitted: HostNs,
}

/// The tasks of a stream that have been read: for who reads them.
pub(crate) struct Before {
    sequence: AtomicU32,
    /// `NONE` when the previous task had no separate events.
    length: AtomicI64,
    /// Number of successive tasks that were alike.
    alike: AtomicU32,
}

const NONE: i64 = i64::MIN;

impl Before {
    pub(crate) const fn new() -> Self {
        Self {
            sequence: AtomicU32::new(0),
            length: AtomicI64::new(NONE),
            alike: AtomicU32::new(0),
        }
    }

    pub(crate) fn forget(&self) {
        self.length.store(NONE, Relaxed);
        self.alike.store(0, Relaxed);
    }

    /// Number of successive tasks of the stream that were as long as the one before them.
    pub(crate) fn alike(&self) -> u32 {
        self.alike.load(Relaxed)
    }

    /// Learns from a task. `last_end` is the device time of the record behind the one before it.
    pub(crate) fn read(&self, single: Single, last_end: i64, excess: &Excess, record: &RecordTime) {
        let length = single.end.ns().wrapping_sub(single.begin.ns());
        let before = self.length.swap(length, Relaxed);
        let sequence = self.sequence.swap(single.sequence, Relaxed);
        if let Ok(length) = u32::try_from(length) {
            excess.shortest.fetch_min(length, Relaxed);
        }
        let most = length.max(before);
        let is_alike = before != NONE
            && length.abs_diff(before)
                <= (most / ALIKE_PART).saturating_add(ALIKE_NS).unsigned_abs();
        if !is_alike {
            self.alike.store(0, Relaxed);
            return;
        }
        self.alike.fetch_add(1, Relaxed);
        let tasks = i64::from(single.sequence)
            .wrapping_sub(sequence.into())
            .wrapping_sub(1);
        // All of the stretch was in the queue when the stream came to it.
        let was_waiting = || record.was_waiting(single.submitted, DeviceNs::new(last_end));
        if !STRETCH.contains(&tasks) || !was_waiting() {
            return;
        }
        let whole = single.begin.ns().wrapping_sub(last_end);
        let singly = length.saturating_add(before).saturating_mul(tasks) / 2;
        let beyond = singly.saturating_sub(whole) / tasks.saturating_sub(1).max(1);
        if (-LONGEST_NS..=LONGEST_NS).contains(&beyond) {
            excess.beyond.add(beyond.max(0) as u32);
        }
    }

    /// Another task was read.
    pub(crate) fn skip(&self) {
        self.length.store(NONE, Relaxed);
    }
}

/// Whether the next tasks of a stream are timed as a whole: for who submits to it.
#[derive(Clone, Copy)]
pub(crate) struct Stretches {
    since: u32,
    left: u32,
}

/// Tasks of a stretch that is made for this, and one stretch in this number of tasks of a stream.
const TASKS: u32 = 3;
const SOON: u32 = 32;
const RARELY: u32 = 1024;
/// Number of stretches that are made soon.
const ENOUGH: u32 = 40;
/// Number of successive tasks that must be alike, and of tasks in the queue.
const LEAST_ALIKE: u32 = 16;
const LEAST_PENDING: usize = 32;

impl Stretches {
    pub(crate) const fn new() -> Self {
        Self { since: 0, left: 0 }
    }

    /// Whether the next task is one of a stretch.
    pub(crate) fn takes(&mut self, pending: usize, alike: u32, samples: u32) -> bool {
        if self.left > 0 {
            self.left = self.left.wrapping_sub(1);
            return true;
        }
        self.since = self.since.saturating_add(1);
        let step = if samples < ENOUGH { SOON } else { RARELY };
        if self.since < step || alike < LEAST_ALIKE || pending < LEAST_PENDING {
            return false;
        }
        *self = Self {
            since: 0,
            left: TASKS.wrapping_sub(1),
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks of `length` with `switch` between two of them, and `turn` between a record and a task; every fifth of
    /// six has its own events.
    fn learnt(length: i64, switch: i64, turn: i64) -> Excess {
        let (record, excess, before) = (RecordTime::new(), Excess::new(), Before::new());
        record.reached(HostNs::new(0), DeviceNs::new(3_000));
        let mut at = 1_000_000;
        for round in 0..20 {
            let last = at;
            at += turn + 4 * length + 3 * switch + turn;
            let begin = at;
            at += turn + length + turn;
            let single = Single {
                sequence: round * 5,
                begin: DeviceNs::new(begin),
                end: DeviceNs::new(at),
                submitted: HostNs::new(500),
            };
            before.read(single, last, &excess, &record);
        }
        excess
    }

    #[test]
    fn a_stretch_as_a_whole_shows_what_pairs_add() {
        for length in [2_000, 50_000] {
            let excess = learnt(length, 1_800, 2_000);
            let known = excess.beyond.known().unwrap();
            assert_eq!((known.median, known.open), (2 * 2_000 - 1_800, 0));
            assert_eq!(i64::from(excess.shortest.load(Relaxed)), length + 4_000);
        }
        assert_eq!(learnt(2_000, 0, 0).beyond.known().unwrap().median, 0);
    }

    #[test]
    fn tasks_that_differ_say_nothing() {
        let (record, excess, before) = (RecordTime::new(), Excess::new(), Before::new());
        record.reached(HostNs::new(0), DeviceNs::new(3_000));
        for (sequence, length) in [(0, 2_000), (5, 9_000), (10, 30_000)] {
            let begin = 1_000_000 + i64::from(sequence) * 50_000;
            let single = Single {
                sequence,
                begin: DeviceNs::new(begin),
                end: DeviceNs::new(begin + length),
                submitted: HostNs::new(500),
            };
            before.read(single, begin - 40_000, &excess, &record);
        }
        assert_eq!(excess.samples(), 0);
    }

    #[test]
    fn stretches_are_made_where_alike_tasks_wait_and_seldom() {
        let mut stretches = Stretches::new();
        assert!(!(0..200).any(|_| stretches.takes(2, 40, 0)));
        assert!(!(0..200).any(|_| stretches.takes(100, 3, 0)));
        let soon = (0..320).filter(|_| stretches.takes(100, 40, 0)).count();
        assert!((27..=33).contains(&soon), "{soon}");
        let later = (0..10_000)
            .filter(|_| stretches.takes(100, 40, ENOUGH))
            .count();
        assert!((24..=30).contains(&later), "{later}");
    }
}
