//! Duration of an event record on a device. The time of an event is that of the end of its record, so
//! the duration of a task between two of them is too long by one. Two records in a row show it, where
//! the second was in the queue before the first was reached: their times differ by just that.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64};

use ascend_trace_format::record::figure::Figure;
use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::timing::spread::{Spread, emit_learnt};

/// This number of samples is taken as soon as possible; later ones from time to time.
const SOON: u32 = 32;
/// As many where some records take far longer than most.
const SOON_OF_TAIL: u32 = 128;
/// Attempts that may be spent on these: on streams that are never busy none says anything.
const MOST_SOON: u32 = 256;
/// One task in this number has a second record after it.
const STEP: u32 = 64;
/// Samples are summed up again when there are more by one part in this number.
const RARER: u32 = 32;
/// No record takes longer than this: something else was between the two.
const LONGEST_NS: i64 = 10_000_000;
/// Largest assumed duration of a record before any sample.
const UNKNOWN_NS: u32 = 5_000;
/// A record must have been reached this much later than submitting takes, before the one behind it
/// counts as waiting.
const MARGIN_NS: i64 = 20_000;
/// No device's clock drifts faster than one part in this number.
const DRIFT: i64 = 5_000;

const UNKNOWN: i64 = i64::MAX;
const UNREPORTED: u64 = u64::MAX;

/// Learnt values of one device.
pub(crate) struct RecordTime {
    attempts: AtomicU32,
    /// What records took.
    spread: Spread,
    /// The number of samples that the results are of.
    summed_up: AtomicU32,
    /// Results of the spread.
    median: AtomicU32,
    open: AtomicU32,
    /// Both of them, as the trace knows them.
    reported: AtomicU64,
    has_tail: AtomicBool,
    /// The least by which two records in a row were apart, whether the second was waiting or not: no record took more.
    bound: AtomicU32,
    /// The least that was seen of device time less the host's, from submission to execution, and
    /// when on the host's clock.
    quickest: AtomicI64,
    at: AtomicI64,
}

impl RecordTime {
    pub(crate) const fn new() -> Self {
        Self {
            attempts: AtomicU32::new(0),
            spread: Spread::new(),
            summed_up: AtomicU32::new(0),
            median: AtomicU32::new(0),
            open: AtomicU32::new(0),
            reported: AtomicU64::new(UNREPORTED),
            has_tail: AtomicBool::new(false),
            bound: AtomicU32::new(UNKNOWN_NS),
            quickest: AtomicI64::new(UNKNOWN),
            at: AtomicI64::new(0),
        }
    }

    /// Forgets everything after a fork.
    pub(crate) fn forget(&self) {
        self.attempts.store(0, Relaxed);
        if self.spread.samples() > 0 {
            self.spread.forget();
        }
        self.summed_up.store(0, Relaxed);
        self.median.store(0, Relaxed);
        self.open.store(0, Relaxed);
        self.reported.store(UNREPORTED, Relaxed);
        self.has_tail.store(false, Relaxed);
        self.bound.store(UNKNOWN_NS, Relaxed);
        self.quickest.store(UNKNOWN, Relaxed);
    }

    /// Whether the next task of a stream should have a second record behind it. `since` is the number of the stream's tasks since the
    /// last one with such a record.
    pub(crate) fn wants_sample(&self, since: &mut u32) -> bool {
        let attempts = self.attempts.load(Relaxed);
        let most = match self.has_tail.load(Relaxed) {
            true => SOON_OF_TAIL,
            false => SOON,
        };
        // Later, each stream has a counter, so that its submissions write nothing that others read.
        if self.spread.samples() < most && attempts < MOST_SOON {
            self.attempts.store(attempts.wrapping_add(1), Relaxed);
            return true;
        }
        *since = since.wrapping_add(1);
        let wants = *since >= STEP;
        if wants {
            *since = 0;
        }
        wants
    }

    /// An event submitted at `host` was reached at `device`.
    pub(crate) fn reached(&self, host: HostNs, device: DeviceNs) {
        let ahead = ahead(host, device);
        if ahead < self.quickest(host) {
            self.quickest.store(ahead, Relaxed);
            self.at.store(host.ns(), Relaxed);
        }
    }

    /// The least by which device time is ahead of the submission, as known at `host`.
    fn quickest(&self, host: HostNs) -> i64 {
        match self.quickest.load(Relaxed) {
            UNKNOWN => UNKNOWN,
            known => {
                let age = host.ns().wrapping_sub(self.at.load(Relaxed));
                known.saturating_add(age.max(0) / DRIFT)
            }
        }
    }

    /// Whether a record that was submitted at `host` was in its queue before `device`.
    pub(crate) fn was_waiting(&self, host: HostNs, device: DeviceNs) -> bool {
        let quickest = self.quickest(host);
        quickest != UNKNOWN && ahead(host, device) > quickest.saturating_add(MARGIN_NS)
    }

    /// A record that had been submitted by `host` was reached `apart` after the one before it, which
    /// was reached at `device`.
    pub(crate) fn sample(&self, host: HostNs, device: DeviceNs, apart: i64) {
        if !(0..=LONGEST_NS).contains(&apart) {
            return;
        }
        // Records differ: the next one may take half as much again.
        self.bound.fetch_min(apart as u32 / 2 * 3, Relaxed);
        if !self.was_waiting(host, device) {
            return;
        }
        let is_inside = self.spread.contains(apart as u32);
        self.spread.add(apart as u32);
        // A summary takes a look at all steps of the spread, as long as the events of some tasks. One sample among many that it is
        // not beyond changes next to nothing.
        let new = self
            .spread
            .samples()
            .wrapping_sub(self.summed_up.load(Relaxed));
        if !is_inside || new >= self.spread.samples() / RARER {
            self.sum_up();
        }
    }

    fn sum_up(&self) {
        let samples = self.spread.samples();
        if self.summed_up.swap(samples, Relaxed) == samples {
            return;
        }
        if let Some(known) = self.spread.known() {
            self.median.store(known.median, Relaxed);
            self.open.store(known.open, Relaxed);
            self.has_tail.store(known.has_tail, Relaxed);
        }
    }

    /// Nanoseconds that a record takes, and how far off that may be.
    pub(crate) fn known(&self) -> (u32, u32) {
        match self.spread.samples() {
            0 => (0, self.bound.load(Relaxed)),
            _ => (self.median.load(Relaxed), self.open.load(Relaxed)),
        }
    }

    /// Nanoseconds that a record takes; the most that it can take before a sample.
    pub(crate) fn estimate(&self) -> u32 {
        let (median, open) = self.known();
        match self.spread.samples() {
            0 => open,
            _ => median,
        }
    }

    /// Another session has none of the results.
    pub(crate) fn tell_again(&self) {
        self.reported.store(UNREPORTED, Relaxed);
    }

    /// Records new results of a device: they apply to all tasks. The thread must be marked busy.
    pub(crate) fn tell(&self, device: u32) {
        let samples = self.spread.samples();
        if samples == 0 {
            return;
        }
        self.sum_up();
        let (median, open) = self.known();
        let both = u64::from(median) << 32 | u64::from(open);
        if self.reported.swap(both, Relaxed) == both {
            return;
        }
        for (figure, ns) in [(Figure::RecordNs, median), (Figure::RecordOpenNs, open)] {
            emit_learnt(figure, device, samples, ns);
        }
    }
}

/// How far a device's time is ahead of the host's. An invalid time may have any value.
fn ahead(host: HostNs, device: DeviceNs) -> i64 {
    device.ns().wrapping_sub(host.ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The device is ahead by this.
    const AHEAD: i64 = 5_000_000;

    fn reached(time: &RecordTime, host: i64, ahead: i64) {
        time.reached(HostNs::new(host), DeviceNs::new(host + ahead));
    }

    fn learnt(lengths: impl Iterator<Item = i64>) -> RecordTime {
        let time = RecordTime::new();
        reached(&time, 1_000_000, AHEAD + 3_000);
        for (place, apart) in lengths.enumerate() {
            let host = HostNs::new(1_000_000 + place as i64 * 1_000);
            let device = DeviceNs::new(host.ns() + AHEAD + 90_000);
            time.sample(host, device, apart);
        }
        time
    }

    #[test]
    fn what_records_take_is_learnt_with_its_spread() {
        let time = learnt((0..100).map(|i| 1_200 + i % 7 * 100));
        let (middle, open) = time.known();
        assert_eq!(middle, 1_500);
        assert!((300..=500).contains(&open), "{open}");
        assert_eq!(learnt((0..100).map(|_| 0)).known(), (0, 0));
    }

    #[test]
    fn a_second_record_that_was_not_waiting_says_nothing() {
        let time = RecordTime::new();
        reached(&time, 1_000_000, AHEAD + 3_000);
        assert_eq!(time.known(), (0, UNKNOWN_NS));
        let device = DeviceNs::new(2_000_000 + AHEAD + 4_000);
        time.sample(HostNs::new(2_000_000), device, 700);
        // No record takes longer than that, or not much.
        assert_eq!(time.known(), (0, 1_050));
    }

    #[test]
    fn records_that_take_long_now_and_then_are_in_the_bar_and_move_nothing() {
        let time = learnt((0..100).map(|i| if i % 10 == 9 { 15_000 } else { 1_500 }));
        let (middle, open) = time.known();
        assert!((1_400..=1_600).contains(&middle), "{middle} {open}");
        assert!(open >= 13_500, "{open}");
    }

    #[test]
    fn samples_are_taken_soon_and_then_now_and_then() {
        let time = learnt((0..40).map(|_| 1_000));
        let count = |tasks: u32| {
            let mut since = 0;
            (0..tasks).filter(|_| time.wants_sample(&mut since)).count()
        };
        assert_eq!(
            [count(640), count(63), count(64)],
            [10, 0, 1],
            "of each stream"
        );
        assert_eq!(RecordTime::new().attempts.load(Relaxed), 0);
        let unknown = RecordTime::new();
        assert!((0..MOST_SOON).all(|_| unknown.wants_sample(&mut 0)));
        assert!(!unknown.wants_sample(&mut 0), "they say nothing");
    }
}
