//! A few of many durations, spread evenly over all of them.

/// The most that are kept.
const KEPT: usize = 32;

/// Every N-th duration, in a bounded place. Which ones depends on the order in which they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    kept: [u32; KEPT],
    len: u8,
    /// Every `1 << thinned`-th is kept.
    thinned: u8,
    seen: u64,
}

impl Sample {
    pub(super) fn add(&mut self, length: i64) {
        let is_next = self.seen.trailing_zeros() >= u32::from(self.thinned);
        self.seen += 1;
        if !is_next {
            return;
        }
        if usize::from(self.len) == KEPT {
            for place in 0..KEPT / 2 {
                self.kept[place] = self.kept[2 * place];
            }
            self.len = (KEPT / 2) as u8;
            self.thinned += 1;
        }
        self.kept[usize::from(self.len)] = u32::try_from(length.max(0)).unwrap_or(u32::MAX);
        self.len += 1;
    }

    pub(super) fn values(&self) -> &[u32] {
        &self.kept[..usize::from(self.len)]
    }
}

/// The width of the lower half of durations. A measured duration is often too long and seldom too short, so durations differ
/// by this at most.
pub(super) fn lower_spread(values: &mut [u32]) -> f64 {
    values.sort_unstable();
    let at = |part: usize| values.get(values.len() * part / 100).copied().unwrap_or(0);
    f64::from(at(50) - at(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_over_everything_that_was_seen() {
        let mut sample = Sample::default();
        (0..10_000).for_each(|it| sample.add(it));
        let values = sample.values();
        assert!((KEPT / 2..=KEPT).contains(&values.len()));
        let steps = values.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.clone().all(|it| it == 512), "{values:?}");
        assert_eq!(values[0], 0);
    }

    #[test]
    fn the_spread_is_that_of_the_lower_half() {
        let mut values: Vec<u32> = (0..100).map(|it| 1000 + it).collect();
        values.extend([50_000; 10]);
        assert!((lower_spread(&mut values) - 50.0).abs() <= 2.0);
        assert!(lower_spread(&mut [7]).abs() < 1e-9);
        assert!(lower_spread(&mut []).abs() < 1e-9);
    }
}
