//! Ranges of time, and all arithmetic with them.
//!
//! A range has two meanings. *Timestamps*: both ends belong to it, so that two ranges that touch
//! overlap. *Time that passes*: a range that begins where another ends shares no time with it, and of
//! ranges that follow one another exactly one owns each timestamp. The names of the methods say which
//! is meant.

/// A range of time: two timestamps in nanoseconds, on the host's clock where nothing else is said. One that ends
/// before it begins holds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeRange {
    /// The first timestamp that belongs to it, in nanoseconds.
    pub begin: i64,
    /// The last one, in nanoseconds.
    pub end: i64,
}

impl TimeRange {
    /// No recording is longer.
    pub const EVERYTHING: Self = Self::new(i64::MIN, i64::MAX);
    /// Holds nothing, and adds nothing to a hull.
    pub const NOTHING: Self = Self::new(i64::MAX, i64::MIN);

    pub const fn new(begin: i64, end: i64) -> Self {
        Self { begin, end }
    }

    /// A single timestamp, in which no time passes.
    pub const fn at(time: i64) -> Self {
        Self::new(time, time)
    }

    /// Between two timestamps of which either may be the earlier one.
    pub fn between(one: i64, other: i64) -> Self {
        Self::new(one.min(other), one.max(other))
    }

    /// The smallest range that holds all of those that there are.
    pub fn around(ranges: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        ranges.into_iter().flatten().reduce(Self::hull)
    }

    /// A range that grows by one: the smallest that contains both, or the other one without a first.
    #[inline]
    pub fn grown(range: Option<Self>, other: Self) -> Option<Self> {
        Some(range.map_or(other, |range| range.hull(other)))
    }

    /// Nanoseconds from begin to end; negative where it ends before it begins.
    pub const fn duration(self) -> i64 {
        self.end.saturating_sub(self.begin)
    }

    /// Whether no time passes in it.
    pub const fn is_empty(self) -> bool {
        self.end <= self.begin
    }

    /// The timestamp in its middle, rounded to its begin.
    pub const fn middle(self) -> i64 {
        self.begin.saturating_add(self.duration() / 2)
    }

    /// Whether a timestamp belongs to it, both ends included.
    pub const fn contains(self, time: i64) -> bool {
        self.begin <= time && time <= self.end
    }

    /// Whether it is the one that a timestamp belongs to, of ranges that follow one another: the end is the next one's.
    pub const fn owns(self, time: i64) -> bool {
        self.begin <= time && time < self.end
    }

    /// Whether all of another range is inside.
    pub const fn covers(self, other: Self) -> bool {
        self.begin <= other.begin && other.end <= self.end
    }

    /// Whether they have a timestamp in common, be it an end.
    pub const fn overlaps(self, other: Self) -> bool {
        self.begin <= other.end && other.begin <= self.end
    }

    /// Whether some of the time of one passes in the other. A range in which no time passes is in one that it lies
    /// within and does not only touch.
    pub const fn shares_time(self, other: Self) -> bool {
        self.begin < other.end && other.begin < self.end
    }

    /// The nearest timestamp of it.
    pub fn clamp(self, time: i64) -> i64 {
        time.max(self.begin).min(self.end)
    }

    /// The timestamps that both hold.
    #[inline]
    pub fn intersection(self, other: Self) -> Self {
        Self::new(self.begin.max(other.begin), self.end.min(other.end))
    }

    /// The smallest range that holds both.
    #[inline]
    pub fn hull(self, other: Self) -> Self {
        Self::new(self.begin.min(other.begin), self.end.max(other.end))
    }

    /// What passes before a timestamp and what passes from it on, as far as either is in the range.
    #[inline]
    pub fn split_at(self, time: i64) -> (Self, Self) {
        let time = self.clamp(time);
        (Self::new(self.begin, time), Self::new(time, self.end))
    }

    /// With `by_ns` more on either side.
    pub const fn widened(self, by_ns: i64) -> Self {
        Self::new(
            self.begin.saturating_sub(by_ns),
            self.end.saturating_add(by_ns),
        )
    }
}

impl From<(i64, i64)> for TimeRange {
    fn from((begin, end): (i64, i64)) -> Self {
        Self { begin, end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ranges between six timestamps, those in which no time passes included.
    fn ranges() -> impl Iterator<Item = TimeRange> {
        (0..6).flat_map(|begin| (begin..6).map(move |end| TimeRange::new(begin, end)))
    }

    /// All pairs of them.
    fn pairs() -> impl Iterator<Item = (TimeRange, TimeRange)> {
        ranges().flat_map(|one| ranges().map(move |other| (one, other)))
    }

    fn timestamps(range: TimeRange) -> Vec<i64> {
        (0..6).filter(|it| range.contains(*it)).collect()
    }

    /// The units of time that pass in a range, each by its begin.
    fn units(range: TimeRange) -> Vec<i64> {
        (0..6).filter(|it| range.owns(*it)).collect()
    }

    fn common(one: &[i64], other: &[i64]) -> Vec<i64> {
        let both = one.iter().filter(|it| other.contains(it));
        both.copied().collect()
    }

    #[test]
    fn timestamps_belong_to_a_range_with_both_ends() {
        for (one, other) in pairs() {
            let (own, others) = (timestamps(one), timestamps(other));
            let both = common(&own, &others);
            assert_eq!(one.overlaps(other), !both.is_empty(), "{one:?} {other:?}");
            assert_eq!(one.covers(other), both == others, "{one:?} {other:?}");
            assert_eq!(timestamps(one.intersection(other)), both);
        }
    }

    #[test]
    fn time_that_passes_is_shared_only_where_ranges_do_more_than_touch() {
        for (one, other) in pairs().filter(|(one, other)| !one.is_empty() && !other.is_empty()) {
            let both = common(&units(one), &units(other));
            assert_eq!(
                one.shares_time(other),
                !both.is_empty(),
                "{one:?} {other:?}"
            );
            let shared = one.intersection(other);
            assert_eq!(shared.is_empty(), both.is_empty());
            assert_eq!(shared.duration().max(0), both.len() as i64);
        }
        assert!(TimeRange::new(0, 4).shares_time(TimeRange::at(2)));
        assert!(!TimeRange::new(0, 4).shares_time(TimeRange::at(4)));
    }

    #[test]
    fn a_hull_is_the_smallest_range_around_others() {
        for (one, other) in pairs() {
            let hull = one.hull(other);
            assert!(hull.covers(one) && hull.covers(other));
            let mut others = ranges().filter(|it| it.covers(one) && it.covers(other));
            assert!(others.all(|it| it.covers(hull)));
            let some = [Some(one), None, Some(other)];
            assert_eq!(TimeRange::around(some), Some(hull));
            assert_eq!(TimeRange::grown(Some(one), other), Some(hull));
            assert_eq!(TimeRange::between(hull.end, hull.begin), hull);
        }
        assert_eq!(TimeRange::around([None, None]), None);
        let range = TimeRange::new(1, 3);
        assert_eq!(TimeRange::grown(None, range), Some(range));
    }

    #[test]
    fn the_parts_of_a_split_own_all_of_the_whole() {
        for range in ranges() {
            for time in -1..7 {
                let (before, after) = range.split_at(time);
                let both = [units(before), units(after)].concat();
                assert_eq!(both, units(range), "{range:?} at {time}");
                assert!(units(before).iter().all(|it| *it < time));
                assert!(units(after).iter().all(|it| *it >= time));
                assert_eq!(before.duration() + after.duration(), range.duration());
            }
        }
    }

    #[test]
    fn the_nearest_timestamp_of_a_range_is_in_it() {
        for range in ranges() {
            for time in -1..7 {
                let nearest = range.clamp(time);
                assert!(range.contains(nearest));
                let is_nearest = |it: i64| (it - time).abs() >= (nearest - time).abs();
                assert!(timestamps(range).into_iter().all(is_nearest));
            }
            assert!(range.contains(range.middle()));
        }
    }

    #[test]
    fn nothing_holds_nothing_and_everything_holds_all() {
        let (nothing, everything) = (TimeRange::NOTHING, TimeRange::EVERYTHING);
        for range in ranges() {
            assert_eq!(range.hull(nothing), range);
            assert!(!range.overlaps(nothing) && !range.shares_time(nothing));
            assert_eq!(range.intersection(everything), range);
            assert!(everything.covers(range));
        }
        assert!(nothing.is_empty() && !nothing.contains(0) && !everything.is_empty());
        assert!(nothing.duration() < 0);
    }

    #[test]
    fn arithmetic_at_the_ends_of_the_clock_saturates() {
        let late = TimeRange::new(i64::MAX - 1, i64::MAX);
        assert_eq!(late.widened(5), TimeRange::new(i64::MAX - 6, i64::MAX));
        assert_eq!(TimeRange::EVERYTHING.duration(), i64::MAX);
        assert_eq!(TimeRange::EVERYTHING.widened(1), TimeRange::EVERYTHING);
        assert!(late.contains(late.middle()));
    }
}
