//! Which part of time is on screen, and how time becomes cells.
//!
//! Positions are counted in eighths of a cell, the finest step that block characters can draw.
//! All arithmetic is exact: times may be as large as the clock can count.

use ascend_trace_recording::TimeRange;

/// Steps into which one cell is divided.
pub(crate) const STEPS: i64 = 8;

/// The shortest range that can be shown. Device clocks tick every 20 ns, so nothing is lost, and a
/// column never gets shorter than a nanosecond.
pub(crate) const MIN_LENGTH: i64 = 2_000;

/// A range of time, never shorter than [`MIN_LENGTH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Viewport {
    begin: i64,
    length: i64,
}

impl Viewport {
    /// The range from `begin` to `end`, made longer if it is too short.
    pub(crate) fn new(begin: i64, end: i64) -> Self {
        Self {
            begin,
            length: end.saturating_sub(begin).max(MIN_LENGTH),
        }
    }

    /// A span of time with a little room on both sides.
    pub(crate) fn fitting(span: TimeRange) -> Self {
        let length = span.duration().max(MIN_LENGTH);
        let margin = length / 50;
        let spare = length.saturating_sub(span.duration()) / 2;
        Self {
            begin: span.begin.saturating_sub(margin).saturating_sub(spare),
            length: length.saturating_add(2 * margin),
        }
    }

    /// A span of time with a part of its length on both sides.
    pub(crate) fn with_room(span: TimeRange, part: i64) -> Self {
        let wide = span.widened(span.duration() / part);
        Self::new(wide.begin, wide.end).around(span)
    }

    pub(crate) fn range(&self) -> TimeRange {
        TimeRange::new(self.begin, self.end())
    }

    pub(crate) fn begin(&self) -> i64 {
        self.begin
    }

    pub(crate) fn end(&self) -> i64 {
        self.begin.saturating_add(self.length)
    }

    pub(crate) fn length(&self) -> i64 {
        self.length
    }

    pub(crate) fn middle(&self) -> i64 {
        self.begin.saturating_add(self.length / 2)
    }

    /// Whether any part of a span is in the range.
    pub(crate) fn overlaps(&self, span: TimeRange) -> bool {
        self.range().overlaps(span)
    }

    /// The step of a timestamp when the range fills `width` cells; below 0 or from `width * STEPS` on
    /// when it is out of sight.
    pub(crate) fn step(&self, time: i64, width: u16) -> i64 {
        let steps = i128::from(width) * i128::from(STEPS);
        let offset = i128::from(time) - i128::from(self.begin);
        clamp((offset * steps).div_euclid(i128::from(self.length)))
    }

    /// The cell of a timestamp.
    pub(crate) fn cell(&self, time: i64, width: u16) -> i64 {
        self.step(time, width).div_euclid(STEPS)
    }

    /// The first timestamp of a cell.
    pub(crate) fn time(&self, cell: i64, width: u16) -> i64 {
        let width = i128::from(width.max(1));
        let offset = i128::from(cell) * i128::from(self.length);
        let offset = offset.div_euclid(width) + i128::from(offset.rem_euclid(width) != 0);
        clamp(i128::from(self.begin) + offset)
    }

    /// The time of a cell: from its first timestamp to that of the next one.
    pub(crate) fn cell_time(&self, cell: i64, width: u16) -> TimeRange {
        TimeRange::new(
            self.time(cell, width),
            self.time(cell.saturating_add(1), width),
        )
    }

    /// Moved by a part of its length, in hundredths.
    pub(crate) fn panned(&self, hundredths: i64) -> Self {
        let offset = i128::from(self.length) * i128::from(hundredths) / 100;
        Self {
            begin: clamp(i128::from(self.begin) + offset),
            ..*self
        }
    }

    /// With its duration multiplied by `numerator
    /// denominator`; the timestamp `about` keeps its place.
    pub(crate) fn zoomed(&self, about: i64, numerator: i64, denominator: i64) -> Self {
        let scale = |value: i128| value * i128::from(numerator) / i128::from(denominator.max(1));
        let length = clamp(scale(i128::from(self.length))).max(MIN_LENGTH);
        let before = i128::from(about) - i128::from(self.begin);
        let before = before * i128::from(length) / i128::from(self.length);
        Self {
            begin: clamp(i128::from(about) - before),
            length,
        }
    }

    /// With the timestamp `time` in the middle.
    pub(crate) fn centred(&self, time: i64) -> Self {
        Self {
            begin: time.saturating_sub(self.length / 2),
            ..*self
        }
    }

    /// Moved so that the middle of a span is in its middle.
    pub(crate) fn around(&self, span: TimeRange) -> Self {
        self.centred(span.middle())
    }

    /// With its begin at `time`.
    pub(crate) fn beginning(&self, time: i64) -> Self {
        Self {
            begin: time,
            ..*self
        }
    }

    /// With its end at `time`.
    pub(crate) fn ending(&self, time: i64) -> Self {
        Self {
            begin: time.saturating_sub(self.length),
            ..*self
        }
    }

    /// Moved to the right by less than one of `columns` columns, so that their edges are the same
    /// timestamps for any range of this duration.
    pub(crate) fn by_columns(&self, columns: u16) -> Self {
        let column = (self.length / i64::from(columns.max(1))).max(1);
        let beyond = self.begin.rem_euclid(column);
        let missing = if beyond == 0 { 0 } else { column - beyond };
        Self {
            begin: self.begin.saturating_add(missing),
            ..*self
        }
    }

    /// Kept near the trace: not longer than all of it, and never more than half outside it.
    pub(crate) fn within(&self, span: TimeRange) -> Self {
        let whole = Self::fitting(span);
        if self.length > whole.length {
            return whole;
        }
        let length = self.length;
        let half = length / 2;
        let lowest = span.begin.saturating_sub(half);
        let highest = span.end.saturating_sub(half).max(lowest);
        Self {
            begin: self.begin.clamp(lowest, highest),
            length,
        }
    }
}

fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranges() -> impl Strategy<Value = Viewport> {
        let begin = prop_oneof![-1_000_000..1_000_000_i64, any::<i64>()];
        let length = prop_oneof![0..10_000_i64, 0..i64::MAX / 4];
        (begin, length)
            .prop_map(|(begin, length)| Viewport::new(begin, begin.saturating_add(length)))
    }

    proptest! {
        #[test]
        fn the_first_timestamp_of_a_cell_is_inside_it(range in ranges(), width in 1..500_u16, part in 0..500_i64) {
            let cell = part % i64::from(width);
            let time = range.time(cell, width);
            prop_assume!(time < i64::MAX);
            prop_assert_eq!(range.cell(time, width), cell);
            prop_assert!(range.cell(time.saturating_sub(1), width) < cell.max(1));
        }

        #[test]
        fn later_timestamps_are_never_further_left(range in ranges(), one: i64, other: i64, width in 1..500_u16) {
            let (early, late) = (one.min(other), one.max(other));
            prop_assert!(range.step(early, width) <= range.step(late, width));
        }

        #[test]
        fn zooming_keeps_the_pointed_timestamp_in_its_cell(
            begin in -1_i64 << 50..1 << 50, length in MIN_LENGTH..1 << 50, at in 0..=100_i64, inward: bool,
        ) {
            let range = Viewport::new(begin, begin + length);
            let about = begin + (i128::from(length) * i128::from(at) / 100) as i64;
            let (n, d) = if inward { (2, 3) } else { (3, 2) };
            let zoomed = range.zoomed(about, n, d);
            let moved = range.step(about, 100) - zoomed.step(about, 100);
            prop_assert!(moved.abs() <= 1, "moved by {} steps", moved);
            prop_assert!(zoomed.length() >= MIN_LENGTH);
        }

        #[test]
        fn the_range_never_leaves_the_trace(range in ranges(), begin in -1_i64 << 60..1 << 60, length in 0..1_i64 << 60) {
            let span = TimeRange::new(begin, begin + length);
            let kept = range.within(span);
            prop_assert!(kept.length() <= Viewport::fitting(span).length());
            prop_assert!(kept.overlaps(span));
            prop_assert_eq!(kept.within(span), kept);
        }

        #[test]
        fn panning_there_and_back_returns(begin in -1_i64 << 60..1 << 60, length in 0..1_i64 << 60, by in -500..500_i64) {
            let range = Viewport::new(begin, begin + length);
            prop_assert_eq!(range.panned(by).panned(-by), range);
        }
    }

    #[test]
    fn the_ends_of_the_clock_do_not_overflow() {
        let range = Viewport::fitting(TimeRange::EVERYTHING);
        assert!(range.length() > 0);
        assert!(range.zoomed(0, 3, 2).length() > 0);
        assert_eq!(
            range
                .panned(10_000)
                .within(TimeRange::new(0, 10))
                .within(TimeRange::new(0, 10))
                .length(),
            2_080
        );
    }
}
