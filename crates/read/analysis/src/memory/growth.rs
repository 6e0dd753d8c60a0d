//! Memory that grows from step to step and never comes back.

use super::curves::MemoryCurve;
use super::step_ranges::StepRange;

/// The least number of steps in which the memory grows.
const LEAST: usize = 8;
/// Parts of the growing time, and the share of the growth that each of them must have: one in `EVEN`.
const PARTS: usize = 4;
const EVEN: u64 = 10;

/// Growth of the memory of one place in a program, up to the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryGrowth {
    /// The first step that grows.
    pub(crate) since: usize,
    /// The number of steps from there on.
    pub(crate) steps: usize,
    /// The growth in these steps.
    pub(crate) bytes: u64,
}

impl MemoryGrowth {
    /// The growth of memory over the steps of its process, if it is steady until the last step, goes beyond all earlier memory,
    /// and is still in use at the end.
    pub(crate) fn of(curve: &MemoryCurve, steps: &[StepRange]) -> Option<Self> {
        let first = steps.first()?.begin;
        let times = std::iter::once(first).chain(steps.iter().map(|it| it.end));
        // Memory that is in use for a short time only is above the least of a piece.
        let levels: Vec<u64> = times.map(|it| curve.bounds((it, it)).least).collect();
        Self::of_levels(&levels, curve.end_bytes())
    }

    /// The same for the memory in use at the begin of the first step and at the end of each.
    fn of_levels(levels: &[u64], end: u64) -> Option<Self> {
        let least = levels.iter().min()?;
        let lowest = levels.iter().rposition(|it| it == least)?;
        let mut begins = [lowest, levels.len() / 2, levels.len() * 3 / 4];
        begins.sort_unstable();
        let mut since = begins.into_iter().find(|it| grows(levels, *it, end))?;
        while since > 0 && levels[since - 1] < levels[since] {
            since -= 1;
        }
        Some(Self {
            since,
            steps: levels.len() - 1 - since,
            bytes: levels.last()?.checked_sub(levels[since])?,
        })
    }
}

/// Whether the memory grows steadily from one level on.
fn grows(levels: &[u64], since: usize, end: u64) -> bool {
    let (before, after) = levels.split_at(since);
    let Some((first, last)) = after.first().zip(after.last()) else {
        return false;
    };
    let Some(grown) = last.checked_sub(*first).filter(|it| *it > 0) else {
        return false;
    };
    let rises = after.windows(2).filter(|two| two[0] < two[1]).count();
    let is_higher = before.iter().all(|it| it < last);
    let stays = end >= last - grown / EVEN;
    let at = |part: usize| after[(after.len() - 1) * part / PARTS];
    let is_even = |part: usize| {
        let growth = at(part + 1).saturating_sub(at(part));
        growth.saturating_mul(EVEN) >= grown
    };
    rises >= LEAST && is_higher && stays && (0..PARTS).all(is_even)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(levels: &[u64]) -> Option<(usize, usize, u64)> {
        let end = levels.last().copied().unwrap_or(0);
        let found = MemoryGrowth::of_levels(levels, end)?;
        Some((found.since, found.steps, found.bytes))
    }

    fn levels(count: u64, level: impl Fn(u64) -> u64) -> Vec<u64> {
        (0..=count).map(level).collect()
    }

    #[test]
    fn a_leak_in_each_step_is_found_with_its_begin() {
        assert_eq!(growth(&levels(20, |it| 100 + 7 * it)), Some((0, 20, 140)));
        let late = levels(200, |it| 1_000 + 3 * it.saturating_sub(120));
        assert_eq!(growth(&late), Some((120, 80, 240)));
        // After a cache has filled.
        let cached = levels(200, |it| it.min(10) * 5 + it.saturating_sub(90));
        assert_eq!(growth(&cached), Some((90, 110, 110)));
    }

    #[test]
    fn a_leak_in_some_steps_is_found() {
        let found = growth(&levels(100, |it| it / 4)).unwrap();
        assert_eq!((found.0, found.2), (3, 25));
    }

    #[test]
    fn memory_that_reaches_a_limit_is_no_growth() {
        assert_eq!(growth(&levels(100, |it| it.min(60))), None);
        assert_eq!(growth(&levels(100, |_| 5)), None);
        // Fewer and fewer shapes are new.
        let cache = |it: u64| u64::from(u64::BITS - it.leading_zeros());
        assert_eq!(growth(&levels(1_000, cache)), None);
    }

    #[test]
    fn memory_that_is_cleared_now_and_then_is_no_growth() {
        for count in 150..220 {
            assert_eq!(growth(&levels(count, |it| it % 64)), None, "{count}");
        }
    }

    #[test]
    fn memory_that_comes_back_at_the_end_is_no_growth() {
        let levels = levels(20, |it| 7 * it);
        assert!(MemoryGrowth::of_levels(&levels, 140).is_some());
        assert_eq!(MemoryGrowth::of_levels(&levels, 0), None);
    }

    #[test]
    fn a_few_steps_are_no_growth() {
        assert_eq!(growth(&levels(7, |it| it)), None);
        assert_eq!(growth(&[]), None);
    }
}
