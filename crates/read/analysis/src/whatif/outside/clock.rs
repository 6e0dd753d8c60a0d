//! Pauses that a clock ends: the thread sleeps until the next multiple of a period, for example the time of the next frame or
//! of the next request.
//!
//! Such a pause becomes longer where the work before it becomes shorter, so the rounds do not take less time. A pause of a
//! constant time looks alike, but the errors of its ends add up from round to round. The errors of a clock's ticks do not.

use super::pauses::Quartiles;

/// From this number of pauses on, their errors alone show the difference.
const MANY_TICKS: usize = 64;

/// From this number on, they show it together with the mean interval.
const LEAST_TICKS: usize = 20;

/// Programs choose periods of whole multiples of this time, or a whole number of ticks in a second. Nanoseconds.
const ROUND_NS: f64 = 100_000.0;
const MOST_PER_SECOND: f64 = 240.0;
const SECOND_NS: f64 = 1e9;

/// The spread of ticks, as a part of the period. That of times that have nothing to do with the period is half of it.
const NEAR: f64 = 8.0;

/// Intervals that are more alike do not show whether errors add up.
const LEAST_SPREAD_NS: i64 = 1_000;

/// The spread of the sums of this number of steps from a straight line is as large as that of a step. The spread of sums is
/// seldom below this part of the expected one: in one of 500 loops.
const RUN_IN_STEPS: f64 = 15.0;
const PART_OF_SUMS: f64 = 0.4;

/// The same for fewer pauses with a mean interval that is this near to a chosen period. Intervals by chance are so near in one loop of
/// 33.
const PART_OF_FEW: f64 = 0.7;
const CHANCE: f64 = 0.03;

/// The period of the clock that ends pauses, by their ends in order; `None` if none does.
pub(super) fn period(ends: &[i64]) -> Option<i64> {
    let usual = Quartiles::of(ends.windows(2).map(|it| it[1] - it[0])).second as f64;
    if ends.len() < LEAST_TICKS || usual < ROUND_NS / 2.0 {
        return None;
    }
    let per_second = (SECOND_NS / usual).round();
    let multiple = (usual / ROUND_NS).round() * ROUND_NS;
    let periods = [multiple, SECOND_NS / per_second.max(1.0)];
    let is_chosen = [multiple > 0.0, per_second <= MOST_PER_SECOND];
    let chosen = periods.into_iter().zip(is_chosen).filter(|it| it.1);
    let mut found = chosen.map(|it| it.0).filter(|it| are_ticks(ends, *it));
    found.next().map(|it| it.round() as i64)
}

/// Whether times are at multiples of a period, with errors that do not add up.
fn are_ticks(times: &[i64], period: f64) -> bool {
    let first = times.first().copied().unwrap_or(0);
    // Ticks may be missing, and a late one does not move the others.
    let off = |it: &i64| {
        let since = (it - first) as f64;
        (since - (since / period).round() * period) as i64
    };
    let errors: Vec<i64> = times.iter().map(off).collect();
    let of_ticks = Quartiles::of(errors.iter().copied()).spread();
    let of_steps = Quartiles::of(errors.windows(2).map(|it| it[1] - it[0])).spread();
    let of_sums = of_steps as f64 * f64::sqrt(times.len() as f64 / RUN_IN_STEPS);
    let is_near = of_ticks as f64 <= period / NEAR && of_steps >= LEAST_SPREAD_NS;
    let part = of_ticks as f64 / of_sums;
    let is_sure = times.len() >= MANY_TICKS && part <= PART_OF_SUMS;
    is_near && (is_sure || part <= PART_OF_FEW && is_exact(&errors))
}

/// Whether the mean interval is so near to the period that this is hardly chance: the errors do not grow from the first third of the
/// times to the last.
fn is_exact(errors: &[i64]) -> bool {
    let third = errors.len() / 3;
    let usual = |part: &[i64]| Quartiles::of(part.iter().copied()).second;
    let grown = usual(&errors[errors.len() - third..]) - usual(&errors[..third]);
    let steps = (errors.len() - third).max(1) as f64;
    2.0 * (grown as f64 / steps).abs() <= CHANCE * ROUND_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_clocked(ends: &[i64]) -> bool {
        period(ends).is_some()
    }

    /// Numbers below a thousand, in a fixed order.
    fn noise() -> impl FnMut() -> i64 {
        let mut state = 7_u64;
        move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) as i64 % 1_000
        }
    }

    #[test]
    fn ticks_of_a_clock_are_no_sum_of_pauses() {
        for period in [4_000_000, 16_666_667, 500_000] {
            let mut noise = noise();
            let ticks: Vec<i64> = (0..100).map(|it| it * period + 60 * noise()).collect();
            assert_eq!(super::period(&ticks), Some(period));
            // One in five is missing.
            let some = (0..100).filter(|it| it % 5 != 3);
            let mut some: Vec<i64> = some.map(|it| ticks[it]).collect();
            assert!(is_clocked(&some), "{period}");
            // One is late by almost a period, and the next one is in time.
            some[20] += period * 9 / 10;
            assert!(is_clocked(&some), "{period}");
            let mut now = 0;
            let mut later = || {
                now += period + 60 * noise();
                now
            };
            let sums: Vec<i64> = (0..100).map(|_| later()).collect();
            assert!(!is_clocked(&sums), "{period}");
        }
    }

    #[test]
    fn few_ticks_are_a_clock_if_their_mean_interval_is_exact() {
        let mut noise = noise();
        let (mut clocks, mut sums, mut others) = (0, 0, 0);
        for round in 0..200 {
            let ticks: Vec<i64> = (0..30).map(|it| it * 5_000_000 + 60 * noise()).collect();
            clocks += i32::from(is_clocked(&ticks));
            let mut pauses = |interval: i64| {
                let mut now = 0;
                let mut later = || {
                    now += interval + 60 * (noise() - 500);
                    now
                };
                let all: Vec<i64> = (0..30).map(|_| later()).collect();
                i32::from(is_clocked(&all))
            };
            sums += pauses(5_000_000);
            others += pauses(4_950_000 + 500 * round);
        }
        assert!(clocks > 120, "{clocks}");
        assert!(sums < 40, "{sums}");
        assert!(others < 16, "{others}");
    }

    #[test]
    fn few_pauses_other_periods_and_equal_intervals_show_no_clock() {
        // Pauses of very different durations.
        let mut noise = noise();
        let mut now = 0;
        let mut later = || {
            now += 2_000_000 + 2_000 * noise();
            now
        };
        let pauses: Vec<i64> = (0..1_000).map(|_| later()).collect();
        assert!(!is_clocked(&pauses));
        let mut ticks = |count: i64, period: i64, size: i64| {
            let all = (0..count).map(|it| it * period + size * noise());
            all.collect::<Vec<i64>>()
        };
        assert!(!is_clocked(&ticks(16, 4_000_000, 60)));
        assert!(!is_clocked(&ticks(100, 4_013_000, 60)));
        assert!(!is_clocked(&ticks(100, 4_000_000, 0)));
        assert!(!is_clocked(&ticks(100, 50_000, 10)));
        assert!(!is_clocked(&[]));
    }
}
