//! How durations are spread: the median, and how far the others are from it. Samples are counted in steps of a
//! 32nd of a power of two, so that memory does not grow with them.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::figure::{self, Figure};
use ascend_trace_format::record::kinds;

use crate::emit;

/// Steps in which a power of two is divided.
const PARTS: u32 = 32;
const POWER: u32 = PARTS.ilog2();
/// Durations from this on are not distinguished: 34 ms.
const LONGEST_POWER: u32 = 25;
const STEPS: usize = (PARTS * (LONGEST_POWER - POWER + 1)) as usize;
/// Of this number of samples, one may be left out. A shorter series keeps all.
const RARE: u32 = 2_000;
/// From this number of samples on the shape of the spread is known.
const SHAPED: u32 = 32;
/// The longest samples are this number of times as far from the median as the quarter above it where there is a tail.
const TAIL: u32 = 4;

/// A mean may be off by this number of its standard errors.
const DEVIATIONS: u64 = 3;

/// The most spreads that count their samples: eight for each device with a reference, and some more.
const SPREADS: usize = 8 * 64 + 16;

type Counts = [AtomicU32; STEPS];

/// Samples of each step of each spread. All of it is zero at the start, so it takes no room in the file.
static COUNTS: [Counts; SPREADS] = [const { [const { AtomicU32::new(0) }; STEPS] }; SPREADS];
/// The number of counts in use.
static USED: AtomicU32 = AtomicU32::new(0);

/// Samples of nanoseconds.
pub(crate) struct Spread {
    /// The place in [`COUNTS`], from 1; 0 before the first sample.
    place: AtomicU32,
    samples: AtomicU32,
    least: AtomicU32,
    most: AtomicU32,
    /// The sample that means 0: values may be below it.
    zero: u32,
}

/// A summary of the samples, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpreadSummary {
    pub(crate) samples: u32,
    pub(crate) median: u32,
    /// How far a further sample may be from the median.
    pub(crate) open: u32,
    /// How far the mean of many further samples may be from the median.
    pub(crate) mean_open: u32,
    /// A few of the samples are far beyond all others, so still longer ones may follow.
    pub(crate) has_tail: bool,
}

impl Spread {
    pub(crate) const fn new() -> Self {
        Self::with_zero(0)
    }

    pub(crate) const fn with_zero(zero: u32) -> Self {
        Self {
            place: AtomicU32::new(0),
            samples: AtomicU32::new(0),
            least: AtomicU32::new(u32::MAX),
            most: AtomicU32::new(0),
            zero,
        }
    }

    pub(crate) fn forget(&self) {
        for count in self.counts().into_iter().flatten() {
            count.store(0, Relaxed);
        }
        self.samples.store(0, Relaxed);
        self.least.store(u32::MAX, Relaxed);
        self.most.store(0, Relaxed);
    }

    pub(crate) fn samples(&self) -> u32 {
        self.samples.load(Relaxed)
    }

    fn counts(&self) -> Option<&'static Counts> {
        let place = self.place.load(Relaxed).checked_sub(1)?;
        COUNTS.get(place as usize)
    }

    /// The counts, which the first sample takes. `None` if no counts are left.
    fn taken(&self) -> Option<&'static Counts> {
        if self.place.load(Relaxed) == 0 {
            let next = USED.fetch_add(1, Relaxed).saturating_add(1);
            // Of two threads that add the first sample, one takes counts that nothing uses.
            let _ = self.place.compare_exchange(0, next, Relaxed, Relaxed);
        }
        self.counts()
    }

    pub(crate) fn add(&self, ns: u32) {
        let Some(counts) = self.taken() else {
            return;
        };
        if let Some(count) = counts.get(step(ns)) {
            count.fetch_add(1, Relaxed);
        }
        self.least.fetch_min(ns, Relaxed);
        self.most.fetch_max(ns, Relaxed);
        self.samples.fetch_add(1, Relaxed);
    }

    /// Whether a sample is not beyond the shortest and the longest one.
    pub(crate) fn contains(&self, ns: u32) -> bool {
        (self.least.load(Relaxed)..=self.most.load(Relaxed)).contains(&ns)
    }

    /// The summary; `None` without a sample. It looks at all steps.
    pub(crate) fn known(&self) -> Option<SpreadSummary> {
        let samples = self.samples().max(1);
        let (least, most) = (self.least.load(Relaxed), self.most.load(Relaxed));
        if least > most {
            return None;
        }
        let at = |rank: u32| self.at(rank).clamp(least, most);
        let longest = match samples / RARE {
            0 => most,
            rare => at(samples.saturating_sub(rare)),
        };
        let spread = longest.saturating_sub(least);
        let middle = least.saturating_add(spread / 2);
        let median = at(samples.div_ceil(2));
        let above = at(samples.saturating_sub(samples / 4)).saturating_sub(median);
        let beyond = longest.saturating_sub(median);
        let has_tail = samples >= SHAPED / 4 && beyond / TAIL > above.saturating_add(most / 32);
        // An even spread has its median in the middle, which few samples show better.
        let is_even = median.abs_diff(middle) <= spread / if samples < SHAPED { 4 } else { 8 };
        let median = if is_even { middle } else { median };
        let reach = longest
            .saturating_sub(median)
            .max(median.saturating_sub(least));
        // The longest and the shortest may still be to come.
        let suppressed = match samples {
            _ if has_tail => reach,
            0..8 => (median.abs_diff(self.zero) / 2).max(spread),
            8..SHAPED => spread,
            _ => spread / 4,
        };
        let open = reach.saturating_add(suppressed);
        Some(SpreadSummary {
            samples,
            median,
            open,
            mean_open: self.mean_open(median, open),
            has_tail,
        })
    }

    /// How far the mean of further samples may be from `median`: by the mean of these and its error.
    fn mean_open(&self, median: u32, open: u32) -> u32 {
        let (mut count, mut sum, mut squares) = (0_u64, 0_i64, 0_u64);
        for (step, samples) in self.counts().into_iter().flatten().enumerate() {
            let samples = u64::from(samples.load(Relaxed));
            let off = i64::from(middle_of(step)).saturating_sub(median.into());
            count = count.saturating_add(samples);
            sum = sum.saturating_add(off.saturating_mul(samples.cast_signed()));
            let square = off.unsigned_abs().saturating_pow(2);
            squares = squares.saturating_add(square.saturating_mul(samples));
        }
        // One more sample at the limit: a few samples show little of their spread.
        let open = u64::from(open);
        let squares = squares.saturating_add(open.saturating_pow(2));
        let count = count.max(1);
        let error = (squares / count / count).isqrt();
        let off = sum.unsigned_abs() / count;
        let mean_open = off.saturating_add(error.saturating_mul(DEVIATIONS));
        u32::try_from(mean_open.min(open)).unwrap_or(u32::MAX)
    }

    /// About the sample with this rank, counted from 1.
    fn at(&self, rank: u32) -> u32 {
        let mut left = rank;
        for (step, count) in self.counts().into_iter().flatten().enumerate() {
            let count = count.load(Relaxed);
            if count >= left {
                return middle_of(step);
            }
            left = left.saturating_sub(count);
        }
        u32::MAX
    }
}

/// Records a number that was learnt of a device. The thread must be marked busy.
pub(crate) fn emit_learnt(figure: Figure, device: u32, samples: u32, ns: u32) {
    if let Some(what) = figure.code(device) {
        emit::from_inside(&kinds::Counter {
            what,
            value: figure::packed(samples, ns),
        });
    }
}

fn step(ns: u32) -> usize {
    if ns < PARTS {
        return ns as usize;
    }
    let power = ns.ilog2();
    if power >= LONGEST_POWER {
        return STEPS.saturating_sub(1);
    }
    let scale = power.saturating_sub(POWER);
    let part = (ns >> scale).saturating_sub(PARTS);
    (scale
        .saturating_add(1)
        .saturating_mul(PARTS)
        .saturating_add(part)) as usize
}

/// The middle of a step.
fn middle_of(step: usize) -> u32 {
    let step = step as u32;
    let Some(scale) = (step / PARTS).checked_sub(1) else {
        return step;
    };
    let low = PARTS.saturating_add(step % PARTS) << scale;
    low.saturating_add((1 << scale) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(samples: impl Iterator<Item = u32>) -> SpreadSummary {
        let spread = Spread::new();
        samples.for_each(|ns| spread.add(ns));
        spread.known().unwrap()
    }

    #[test]
    fn a_step_holds_its_middle_and_steps_rise() {
        let mut last = 0;
        for ns in (0..40_000_000).step_by(977) {
            let here = step(ns);
            assert!(here >= last && here < STEPS, "{ns}");
            last = here;
            let off = middle_of(here).abs_diff(ns);
            assert!(
                ns >= 1 << LONGEST_POWER || off <= ns / 64 + 1,
                "{ns}: {off}"
            );
        }
    }

    /// Otherwise a total of many tasks would be as uncertain as one task is, or would miss a tail.
    #[test]
    fn the_mean_is_known_better_than_one_sample_and_includes_a_tail() {
        let jitter = |count: u32| known((0..count).map(|i| 6_000 + i * 7_919 % 400));
        let (few, many) = (jitter(4), jitter(400));
        assert!(few.mean_open > few.open / 2, "{few:?}");
        assert!(many.mean_open < many.open / 3, "{many:?}");
        let tail = known((0..400).map(|i| if i % 10 == 0 { 16_000 } else { 6_000 }));
        assert!((1_000..3_000).contains(&tail.mean_open), "{tail:?}");
    }

    #[test]
    fn an_even_spread_has_a_narrow_bar() {
        let even = known((0..100).map(|i| 1_200 + i % 7 * 100));
        assert_eq!((even.median, even.has_tail), (1_500, false));
        assert!((300..=450).contains(&even.open), "{even:?}");
        let same = known((0..100).map(|_| 1_300));
        assert_eq!((same.median, same.open), (1_300, 0));
    }

    #[test]
    fn one_slow_sample_does_not_move_the_median_but_is_inside_the_bar() {
        let one = known((0..100).map(|i| if i == 50 { 15_000 } else { 1_400 + i % 3 * 100 }));
        assert!((1_400..=1_600).contains(&one.median), "{one:?}");
        assert!(one.open >= 13_500 && one.has_tail, "{one:?}");
    }

    #[test]
    fn one_of_thousands_is_no_part_of_the_spread() {
        let long = known((0..4_000).map(|i| {
            if i == 50 {
                900_000
            } else {
                1_400 + i % 3 * 100
            }
        }));
        assert!((1_400..=1_600).contains(&long.median), "{long:?}");
        assert!(long.open <= 300, "{long:?}");
    }

    #[test]
    fn a_tail_that_is_not_seen_to_its_end_is_expected() {
        // Of records with this spread, a half takes 9 µs, one in ten 73 µs and none more than 153 µs.
        let tail = known((0..40).map(|i| 1_000 + 8_000 * (i * 24) / (1_000 - i * 24)));
        assert!((7_000..=9_000).contains(&tail.median), "{tail:?}");
        assert!(tail.has_tail && tail.open >= 145_000, "{tail:?}");
    }

    #[test]
    fn nothing_is_known_without_samples() {
        assert_eq!(Spread::new().known(), None);
    }
}
