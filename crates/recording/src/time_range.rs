//! Ranges of time.

/// A range of time with its first and its last moment. One that ends before it begins holds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeRange {
    pub begin: i64,
    pub end: i64,
}

impl TimeRange {
    /// Holds nothing, and adds nothing to what it is joined with.
    pub const NOTHING: Self = Self::new(i64::MAX, i64::MIN);

    pub const fn new(begin: i64, end: i64) -> Self {
        Self { begin, end }
    }

    /// The smallest range that holds all of those that there are.
    pub fn around(ranges: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        ranges.into_iter().flatten().reduce(Self::joined)
    }

    pub const fn length(self) -> i64 {
        self.end.saturating_sub(self.begin)
    }

    /// Whether they have a moment in common.
    pub const fn overlaps(self, other: Self) -> bool {
        self.begin <= other.end && other.begin <= self.end
    }

    /// The moments that both hold.
    pub fn clipped(self, other: Self) -> Self {
        Self::new(self.begin.max(other.begin), self.end.min(other.end))
    }

    /// The smallest range that holds both.
    pub fn joined(self, other: Self) -> Self {
        Self::new(self.begin.min(other.begin), self.end.max(other.end))
    }
}

impl From<(i64, i64)> for TimeRange {
    fn from((begin, end): (i64, i64)) -> Self {
        Self { begin, end }
    }
}

impl From<TimeRange> for (i64, i64) {
    fn from(range: TimeRange) -> Self {
        (range.begin, range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_agree_with_sets_of_moments() {
        let ranges = (0..5).flat_map(|begin| (0..5).map(move |end| TimeRange::new(begin, end)));
        let ranges: Vec<TimeRange> = ranges.filter(|it| it.begin <= it.end).collect();
        let holds = |range: TimeRange, moment: i64| (range.begin..=range.end).contains(&moment);
        for one in &ranges {
            for other in &ranges {
                let both = |moment: &i64| holds(*one, *moment) && holds(*other, *moment);
                assert_eq!(one.overlaps(*other), (0..5).any(|it| both(&it)));
                assert!((0..5).all(|it| holds(one.clipped(*other), it) == both(&it)));
                let all = one.joined(*other);
                assert_eq!(
                    TimeRange::around([Some(*one), None, Some(*other)]),
                    Some(all)
                );
                assert_eq!(all.begin, one.begin.min(other.begin));
                assert_eq!(all.end, one.end.max(other.end));
            }
            assert_eq!(one.joined(TimeRange::NOTHING), *one);
            assert!(!one.overlaps(TimeRange::NOTHING));
        }
    }
}
