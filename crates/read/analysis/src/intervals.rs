//! Arithmetic on sets of time intervals. Times of things that overlap are united, never summed:
//! two tasks that ran side by side for 5 µs kept the device busy for 5 µs.

use ascend_trace_recording::TimeRange;

/// A set of times, held as sorted, disjoint, half-open intervals `[begin, end)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals {
    parts: Vec<TimeRange>,
}

impl Intervals {
    /// The union of any intervals, in any order. Empty and reversed ones contain no time.
    pub fn union_of<T: Into<TimeRange>>(intervals: impl IntoIterator<Item = T>) -> Self {
        let all = intervals.into_iter().map(T::into);
        let mut all: Vec<TimeRange> = all.filter(|it| !it.is_empty()).collect();
        all.sort_unstable();
        let mut union = Self::default();
        all.into_iter().for_each(|it| union.append(it));
        union
    }

    /// The same of intervals that mostly come by their begins: it takes less time if all do.
    pub fn in_order(intervals: impl Iterator<Item = TimeRange> + Clone) -> Self {
        let mut union = Self::default();
        let mut begun = i64::MIN;
        for next in intervals.clone().filter(|it| !it.is_empty()) {
            if next.begin < begun {
                return Self::union_of(intervals);
            }
            begun = next.begin;
            union.append(next);
        }
        union
    }

    /// The times in at least two of the sets.
    pub fn shared_by<'a>(sets: impl IntoIterator<Item = &'a Self>) -> Self {
        let parts = sets.into_iter().flat_map(|set| &set.parts);
        let mut parts: Vec<TimeRange> = parts.copied().collect();
        // Each set is in order: this merges them.
        parts.sort();
        let mut shared = Self::default();
        let mut reached = i64::MIN;
        for part in parts {
            // The parts of one set are apart, so the earlier part that reaches furthest is of another set.
            let both = TimeRange::new(part.begin, part.end.min(reached).max(part.begin));
            if !both.is_empty() {
                shared.append(both);
            }
            reached = reached.max(part.end);
        }
        shared
    }

    /// The whole of an interval.
    pub fn span(interval: impl Into<TimeRange>) -> Self {
        Self::union_of([interval])
    }

    /// Adds an interval that begins no earlier than any part until now.
    fn append(&mut self, next: TimeRange) {
        match self.parts.last_mut() {
            Some(last) if last.overlaps(next) => *last = last.hull(next),
            _ => self.parts.push(next),
        }
    }

    /// The disjoint parts in order; neighbours that touch are one part.
    pub fn parts(&self) -> &[TimeRange] {
        &self.parts
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The length of all parts together.
    pub fn total(&self) -> i64 {
        self.parts.iter().map(|part| part.duration()).sum()
    }

    /// Moments in either set.
    pub fn union(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.parts.as_slice(), other.parts.as_slice());
        let mut union = Self::default();
        union.parts.reserve(left.len().max(right.len()));
        while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
            if a.begin <= b.begin {
                union.append(*a);
                left = left_rest;
            } else {
                union.append(*b);
                right = right_rest;
            }
        }
        left.iter().chain(right).for_each(|it| union.append(*it));
        union
    }

    /// Moments in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.parts.as_slice(), other.parts.as_slice());
        let mut both = Self::default();
        while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
            let shared = a.intersection(*b);
            if !shared.is_empty() {
                both.append(shared);
            }
            if a.end <= b.end {
                left = left_rest;
            } else {
                right = right_rest;
            }
        }
        both
    }

    /// Moments in this set and not in the other.
    pub fn difference(&self, other: &Self) -> Self {
        let mut rest = Self::default();
        let mut cuts = other.parts.as_slice();
        for part in &self.parts {
            let mut begin = part.begin;
            while let [cut, after @ ..] = cuts {
                if cut.begin >= part.end {
                    break;
                }
                if begin < cut.begin {
                    rest.append(TimeRange::new(begin, cut.begin));
                }
                begin = begin.max(cut.end);
                if cut.end > part.end {
                    break;
                }
                cuts = after;
            }
            if begin < part.end {
                rest.append(TimeRange::new(begin, part.end));
            }
        }
        rest
    }

    /// Moments of an interval that are not in this set.
    pub fn gaps(&self, interval: impl Into<TimeRange>) -> Self {
        Self::span(interval).difference(self)
    }

    /// The part of this set in an interval.
    pub fn clip(&self, interval: impl Into<TimeRange>) -> Self {
        self.intersection(&Self::span(interval))
    }

    /// How much of an interval this set covers.
    pub fn covered(&self, interval: impl Into<TimeRange>) -> i64 {
        let interval = interval.into();
        let first = self
            .parts
            .partition_point(|part| part.end <= interval.begin);
        self.parts[first..]
            .iter()
            .take_while(|part| part.begin < interval.end)
            .map(|part| part.intersection(interval).duration())
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(parts: &[(i64, i64)]) -> Intervals {
        Intervals::union_of(parts.iter().copied())
    }

    #[test]
    fn overlapping_and_touching_intervals_become_one() {
        assert_eq!(
            set(&[(5, 9), (0, 3), (3, 4), (2, 3)]).parts(),
            [(0, 4), (5, 9)].map(TimeRange::from)
        );
        assert_eq!(set(&[(0, 10), (2, 3)]).total(), 10);
    }

    #[test]
    fn intervals_in_any_order_have_the_same_union() {
        for all in [
            vec![(0, 3), (3, 4), (2, 3), (5, 9)],
            vec![(5, 9), (4, 4), (0, 3)],
            vec![(0, 1), (9, 3), (2, 8), (3, 4), (8, 9)],
        ] {
            let all: Vec<TimeRange> = all.into_iter().map(TimeRange::from).collect();
            let found = Intervals::in_order(all.iter().copied());
            assert_eq!(found, Intervals::union_of(all));
        }
    }

    #[test]
    fn empty_and_reversed_intervals_hold_nothing() {
        assert!(set(&[(4, 4), (9, 1)]).is_empty());
        assert_eq!(Intervals::span((3, 3)).total(), 0);
    }

    #[test]
    fn the_operations_agree_with_sets_of_single_times() {
        // Every pair of subsets of 0..6 compared with the same operation on single points.
        let moments = |mask: u32| (0..6).filter(move |i| mask >> i & 1 == 1);
        let of = |mask: u32| Intervals::union_of(moments(mask).map(|i| (i, i + 1)));
        for a in 0..64 {
            for b in 0..64 {
                assert_eq!(of(a).union(&of(b)), of(a | b), "{a:b} or {b:b}");
                assert_eq!(of(a).intersection(&of(b)), of(a & b), "{a:b} and {b:b}");
                assert_eq!(of(a).difference(&of(b)), of(a & !b), "{a:b} but not {b:b}");
                let c = (a * 7 + b * 3) & 63;
                let shared = a & b | a & c | b & c;
                assert_eq!(Intervals::shared_by([&of(a), &of(b), &of(c)]), of(shared));
            }
            assert_eq!(of(a).gaps((0, 6)), of(!a & 63));
            assert_eq!(of(a).clip((1, 4)), of(a & 0b1110));
            assert_eq!(of(a).covered((1, 4)), i64::from((a & 0b1110).count_ones()));
        }
    }
}
