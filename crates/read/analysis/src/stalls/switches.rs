//! How long a stream's device usually takes from one task to the next, where no event records of the tool are between them.

/// Gaps that are kept.
const LAST: usize = 15;
/// With fewer gaps, nothing is usual.
const LEAST: usize = 5;
/// A longer gap has another reason.
const MOST_NS: i64 = 10_000;

/// The last gaps of a stream in which the next task had long been submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Switches {
    last: [i64; LAST],
    count: usize,
}

impl Switches {
    pub(super) fn note(&mut self, gap: i64) {
        if gap <= MOST_NS {
            self.last[self.count % LAST] = gap;
            self.count += 1;
        }
    }

    /// The median of the last gaps.
    pub(super) fn usual(&self) -> Option<i64> {
        let known = self.count.min(LAST);
        let mut last = self.last;
        let last = last.get_mut(..known).filter(|it| it.len() >= LEAST)?;
        last.sort_unstable();
        last.get(known / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_the_last_gaps_is_usual() {
        let mut switches = Switches::default();
        for gap in [1_100, 1_200, 9_000, 1_000_000] {
            switches.note(gap);
            assert_eq!(switches.usual(), None);
        }
        switches.note(1_150);
        assert_eq!(switches.usual(), None);
        switches.note(1_000);
        assert_eq!(switches.usual(), Some(1_150));
        (0..100).for_each(|_| switches.note(2_000));
        assert_eq!(switches.usual(), Some(2_000));
    }
}
