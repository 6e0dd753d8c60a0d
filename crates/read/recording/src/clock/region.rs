//! The set of straight lines that a device clock can still be, as a convex polygon.
//!
//! Over a short time, host time minus device time is a line `offset + rate * t`. Each bound on it cuts
//! a half plane off the (offset, rate) plane; the rest is the exact set of possible lines.

/// Corners beyond this number are not worth their cost: the region is then made a little larger,
/// with fewer corners.
const MAX_CORNERS: usize = 64;
const FEW_CORNERS: usize = 32;

/// One line: `offset` nanoseconds at the region's pivot and its change per nanosecond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClockLine {
    pub(super) offset: f64,
    pub(super) rate: f64,
}

impl ClockLine {
    /// The line's value `t` nanoseconds after the pivot.
    pub(super) fn at(self, t: f64) -> f64 {
        self.offset + self.rate * t
    }
}

/// A convex set of lines, given by its corners in order.
#[derive(Clone, Debug)]
pub(super) struct LineRegion {
    corners: Vec<ClockLine>,
}

impl LineRegion {
    /// Every line with an offset and a rate between these.
    pub(super) fn rectangle(offset: (f64, f64), rate: (f64, f64)) -> Self {
        let corner = |offset, rate| ClockLine { offset, rate };
        Self {
            corners: vec![
                corner(offset.0, rate.0),
                corner(offset.1, rate.0),
                corner(offset.1, rate.1),
                corner(offset.0, rate.1),
            ],
        }
    }

    /// Keeps the lines with a value at `t` inside the band. If no line would remain, the region stays
    /// unchanged and the result is false.
    pub(super) fn clip(&mut self, t: f64, band: (f64, f64)) -> bool {
        let Some(above) = self.cut(|line| line.at(t) - band.0) else {
            return false;
        };
        let Some(within) = above.cut(|line| band.1 - line.at(t)) else {
            return false;
        };
        *self = within;
        self.simplify();
        true
    }

    /// The same lines measured from a pivot at `t` later, and all lines with an offset and a rate that
    /// differ from one of them by no more than these.
    pub(super) fn carried(&self, t: f64, offset: f64, rate: f64) -> Self {
        let shifts = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
        let corners = self.corners.iter().flat_map(|line| {
            shifts.map(|(by_offset, by_rate)| ClockLine {
                offset: line.at(t) + by_offset * offset,
                rate: line.rate + by_rate * rate,
            })
        });
        Self {
            corners: hull(corners.collect()),
        }
    }

    /// Keeps the lines with a rate within these limits, unless no line would remain.
    pub(super) fn limit_rate(&mut self, (slow, fast): (f64, f64)) {
        let limited = self
            .cut(|line| fast - line.rate)
            .and_then(|below| below.cut(|line| line.rate - slow));
        if let Some(limited) = limited {
            *self = limited;
        }
    }

    /// Keeps the lines that are in the other region too, unless there would be none.
    pub(super) fn meet(&mut self, other: &Self) {
        let mut rest = self.clone();
        let Some(mut from) = other.corners.last().copied() else {
            return;
        };
        for &to in &other.corners {
            match rest.cut(|line| turn(from, to, line)) {
                Some(cut) => rest = cut,
                None => return,
            }
            from = to;
        }
        *self = rest;
        self.simplify();
    }

    /// Removes sides where they are too many, those first with neighbours that meet closest outside.
    fn simplify(&mut self) {
        if self.corners.len() <= MAX_CORNERS {
            return;
        }
        while self.corners.len() > FEW_CORNERS {
            let count = self.corners.len();
            let side = |i: usize| {
                let at = |step: usize| self.corners[(i + step) % count];
                let (meet, added) = meeting(at(0), at(1), at(2), at(3))?;
                Some((i, meet, added))
            };
            let cheapest = (0..count)
                .filter_map(side)
                .min_by(|a, b| a.2.total_cmp(&b.2));
            let Some((i, meet, _)) = cheapest else { return };
            self.corners[(i + 1) % count] = meet;
            self.corners.remove((i + 2) % count);
        }
    }

    /// The part of the region where `inside` is not negative; `inside` is linear.
    fn cut(&self, inside: impl Fn(ClockLine) -> f64) -> Option<Self> {
        let mut corners = Vec::with_capacity(self.corners.len() + 1);
        let mut previous = *self.corners.last()?;
        let mut previous_inside = inside(previous);
        for &corner in &self.corners {
            let corner_inside = inside(corner);
            if (corner_inside < 0.0) != (previous_inside < 0.0) {
                let share = previous_inside / (previous_inside - corner_inside);
                corners.push(ClockLine {
                    offset: previous.offset + share * (corner.offset - previous.offset),
                    rate: previous.rate + share * (corner.rate - previous.rate),
                });
            }
            if corner_inside >= 0.0 {
                corners.push(corner);
            }
            (previous, previous_inside) = (corner, corner_inside);
        }
        (!corners.is_empty()).then_some(Self { corners })
    }

    /// Whether the band at `t` would take nothing away: the common case, worth no allocation.
    pub(super) fn lies_within(&self, t: f64, band: (f64, f64)) -> bool {
        let (low, high) = self.range(t);
        band.0 <= low && high <= band.1
    }

    /// Smallest and largest value that a line of the region has at `t`.
    pub(super) fn range(&self, t: f64) -> (f64, f64) {
        range(self.corners.iter().map(|line| line.at(t)))
    }

    /// The line with the smallest value at `t`.
    pub(super) fn lowest(&self, t: f64) -> ClockLine {
        let lines = self.corners.iter().copied();
        let lowest = lines.min_by(|a, b| a.at(t).total_cmp(&b.at(t)));
        lowest.unwrap_or(ClockLine {
            offset: 0.0,
            rate: 0.0,
        })
    }

    /// Smallest and largest offset of the lines with this rate, which is one of a corner.
    pub(super) fn at_rate(&self, rate: f64) -> (f64, f64) {
        let mut offsets = (f64::INFINITY, f64::NEG_INFINITY);
        let mut take = |offset: f64| {
            offsets = (offsets.0.min(offset), offsets.1.max(offset));
        };
        let Some(mut from) = self.corners.last().copied() else {
            return (0.0, 0.0);
        };
        for &to in &self.corners {
            if to.rate == rate {
                take(to.offset);
            } else if (from.rate < rate) != (to.rate < rate) && from.rate != rate {
                let share = (rate - from.rate) / (to.rate - from.rate);
                take(from.offset + share * (to.offset - from.offset));
            }
            from = to;
        }
        offsets
    }

    /// Smallest and largest rate in the region.
    pub(super) fn rates(&self) -> (f64, f64) {
        range(self.corners.iter().map(|line| line.rate))
    }
}

/// Where the sides before and after the side `b`-`c` meet when they are made longer, and the area
/// that this adds. `None` when they do not meet on that side.
fn meeting(a: ClockLine, b: ClockLine, c: ClockLine, d: ClockLine) -> Option<(ClockLine, f64)> {
    let towards = between(a, b);
    let back = between(d, c);
    let side = between(b, c);
    let closing = cross(towards, back);
    let (along, across) = (cross(side, back) / closing, cross(side, towards) / closing);
    if !(along >= 0.0 && across >= 0.0 && along.is_finite() && across.is_finite()) {
        return None;
    }
    let meet = ClockLine {
        offset: b.offset + along * towards.offset,
        rate: b.rate + along * towards.rate,
    };
    Some((meet, turn(b, meet, c)))
}

fn between(from: ClockLine, to: ClockLine) -> ClockLine {
    ClockLine {
        offset: to.offset - from.offset,
        rate: to.rate - from.rate,
    }
}

fn cross(a: ClockLine, b: ClockLine) -> f64 {
    a.offset * b.rate - a.rate * b.offset
}

/// The corners of the smallest convex region that holds these lines.
fn hull(mut lines: Vec<ClockLine>) -> Vec<ClockLine> {
    lines.sort_by(|a, b| {
        a.offset
            .total_cmp(&b.offset)
            .then(a.rate.total_cmp(&b.rate))
    });
    let mut corners = half_hull(lines.iter().copied());
    let upper = half_hull(lines.iter().rev().copied());
    // Each half ends where the other begins.
    corners.pop();
    corners.extend(&upper[..upper.len().saturating_sub(1)]);
    if corners.is_empty() { lines } else { corners }
}

/// The chain that turns left all the way along sorted lines.
fn half_hull(lines: impl Iterator<Item = ClockLine>) -> Vec<ClockLine> {
    let mut chain: Vec<ClockLine> = Vec::new();
    for line in lines {
        while let [.., a, b] = chain[..] {
            if turn(a, b, line) > 0.0 {
                break;
            }
            chain.pop();
        }
        chain.push(line);
    }
    chain
}

/// Positive when the way from `a` over `b` to `c` turns left, as it does around every region.
fn turn(a: ClockLine, b: ClockLine, c: ClockLine) -> f64 {
    cross(between(a, b), between(a, c))
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bands_leave_the_lines_through_both() {
        let mut region = LineRegion::rectangle((-10.0, 10.0), (-1.0, 1.0));
        assert!(region.clip(100.0, (40.0, 60.0)));
        let (low, high) = region.rates();
        assert!((low - 0.3).abs() < 1e-9 && (high - 0.7).abs() < 1e-9);
        let (low, high) = region.range(50.0);
        assert!((low - 15.0).abs() < 1e-9 && (high - 35.0).abs() < 1e-9);
    }

    #[test]
    fn a_band_out_of_reach_changes_nothing() {
        let mut region = LineRegion::rectangle((0.0, 1.0), (0.0, 0.1));
        assert!(!region.clip(10.0, (5.0, 6.0)));
        assert_eq!(region.range(10.0), (0.0, 2.0));
    }

    #[test]
    fn a_region_is_carried_to_a_later_pivot_and_grows() {
        let mut region = LineRegion::rectangle((-10.0, 10.0), (-1.0, 1.0));
        assert!(region.clip(100.0, (40.0, 60.0)));
        let carried = region.carried(100.0, 2.0, 0.5);
        let (low, high) = carried.range(0.0);
        assert!((low - 38.0).abs() < 1e-9 && (high - 62.0).abs() < 1e-9);
        let (low, high) = carried.rates();
        assert!((low + 0.2).abs() < 1e-9 && (high - 1.2).abs() < 1e-9);
        // Offset and rate stay tied to each other: a high value here with a low rate back there.
        let (low, high) = carried.range(-100.0);
        assert!((low + 62.0).abs() < 1e-9 && (high - 62.0).abs() < 1e-9);
    }

    #[test]
    fn regions_meet_in_what_both_allow() {
        let mut region = LineRegion::rectangle((0.0, 10.0), (0.0, 1.0));
        region.meet(&LineRegion::rectangle((4.0, 20.0), (-1.0, 0.5)));
        assert_eq!(
            (region.range(0.0), region.rates()),
            ((4.0, 10.0), (0.0, 0.5))
        );
        region.meet(&LineRegion::rectangle((50.0, 60.0), (0.0, 1.0)));
        assert_eq!(region.range(0.0), (4.0, 10.0));
    }

    #[test]
    fn a_region_is_cut_at_a_rate() {
        let mut region = LineRegion::rectangle((0.0, 10.0), (-1.0, 1.0));
        assert_eq!(region.at_rate(1.0), (0.0, 10.0));
        region.clip(10.0, (0.0, 10.0));
        let lowest = region.lowest(5.0);
        assert!((lowest.at(5.0) - 0.0).abs() < 5.0, "{lowest:?}");
        let (low, high) = region.at_rate(lowest.rate);
        assert!(low <= lowest.offset && lowest.offset <= high);
    }

    #[test]
    fn a_rate_is_limited() {
        let mut region = LineRegion::rectangle((0.0, 1.0), (-3.0, 0.5));
        region.limit_rate((-1.0, 1.0));
        assert_eq!(region.rates(), (-1.0, 0.5));
        assert_eq!(region.range(0.0), (0.0, 1.0));
    }

    #[test]
    fn a_wide_band_takes_nothing_away() {
        let region = LineRegion::rectangle((0.0, 1.0), (0.0, 0.1));
        assert!(region.lies_within(10.0, (-1.0, 3.0)));
        assert!(!region.lies_within(10.0, (-1.0, 1.5)));
    }

    #[test]
    fn too_many_corners_become_fewer_and_nothing_is_lost() {
        // A circle of cuts around the middle.
        let cuts = |region: &mut LineRegion| {
            for i in -100..=100 {
                let t = f64::from(i);
                let reach = (1.0 + t * t).sqrt();
                assert!(region.clip(t, (-reach, reach)));
                assert!(region.corners.len() <= MAX_CORNERS);
            }
        };
        let mut region = LineRegion::rectangle((-2.0, 2.0), (-2.0, 2.0));
        cuts(&mut region);
        for i in 0..360 {
            let (rate, offset) = (f64::from(i).to_radians() * 1.0).sin_cos();
            let inside = ClockLine {
                offset: offset * 0.999,
                rate: rate * 0.999,
            };
            let mut from = region.corners[region.corners.len() - 1];
            for &to in &region.corners {
                assert!(turn(from, to, inside) >= 0.0, "{inside:?}");
                from = to;
            }
        }
        let (low, high) = region.range(0.0);
        assert!(low > -1.05 && high < 1.05, "{low} {high}");
    }
}
