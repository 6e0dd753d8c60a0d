//! What collectives leave open of the clocks of two ranks, by trying all lines: a linear program of two unknowns.

use ascend_trace_analysis::align::{Recorded, Round};

/// A limit of a line `offset + rate * t`: below or above `value` at `t`.
#[derive(Clone, Copy, Debug)]
struct Limit {
    t: f64,
    value: f64,
    is_upper: bool,
}

fn rounds(recorded: &Recorded) -> &[Round] {
    &recorded.participants[0].comms[0].lanes[0].rounds
}

fn limits(own: &Recorded, other: &Recorded, pivot: i64) -> Vec<Limit> {
    let pairs = rounds(own).iter().zip(rounds(other));
    let all = pairs.flat_map(|(own, other)| {
        let begin = own.begin - own.error;
        let end = own.end + own.error;
        // The other clock, less this one and their distance.
        let apart = |other: i64, own: i64| (other - own) as f64;
        [
            Limit {
                t: (begin - pivot) as f64,
                value: apart(other.end + other.error, begin),
                is_upper: true,
            },
            Limit {
                t: (end - pivot) as f64,
                value: apart(other.begin - other.error, end),
                is_upper: false,
            },
        ]
    });
    all.collect()
}

/// The largest value at the pivot that a line with this rate can have, and the smallest.
fn at_rate(limits: &[Limit], rate: f64) -> (f64, f64) {
    limits
        .iter()
        .fold((f64::NEG_INFINITY, f64::INFINITY), |(low, high), limit| {
            let value = limit.value - rate * limit.t;
            match limit.is_upper {
                true => (low, high.min(value)),
                false => (low.max(value), high),
            }
        })
}

/// The extreme of a concave function between two rates, by thirds.
fn largest(value: impl Fn(f64) -> f64) -> f64 {
    let (mut slow, mut fast) = (-210e-6, 210e-6);
    for _ in 0..200 {
        let third = (fast - slow) / 3.0;
        match value(slow + third) < value(fast - third) {
            true => slow += third,
            false => fast -= third,
        }
    }
    value((slow + fast) / 2.0)
}

/// Half of the span of values that lines which keep all limits have at `at`.
pub(super) fn half_width(own: &Recorded, other: &Recorded, at: i64) -> f64 {
    let limits = limits(own, other, at);
    // The largest value is that of the rate with the largest upper limit that leaves a line at all. Where none is
    // left, the value falls as fast as it takes to lead back.
    let steep = 1e3;
    let lack = |(low, high): (f64, f64)| (low - high).max(0.0) * steep;
    let most = largest(|rate| {
        let (low, high) = at_rate(&limits, rate);
        high - lack((low, high))
    });
    let least = largest(|rate| {
        let (low, high) = at_rate(&limits, rate);
        -low - lack((low, high))
    });
    f64::midpoint(most, least)
}
