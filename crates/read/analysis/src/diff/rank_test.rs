//! Whether two samples differ by more than their spread, and by how much.
//!
//! Consecutive steps are not independent: a loop that waits in every fourth step has three short ones
//! and a long one, and a chip that is hot stays hot. So steps are put into groups of neighbours, and
//! the mean of a group is one value of the sample. A pattern of a few steps is then in each value,
//! equally often.
//!
//! Times on a host have long tails: an interrupt makes one step ten times as long. Such a step moves a mean of all, and
//! widens its error, so a t test misses what all other steps show. A rank test (Mann and Whitney) only asks how often a
//! value of one side is above one of the other, so a group with such a step counts as one value, however long it was. There
//! are few values, so all ways to share them out are counted, and nothing is assumed of their distribution. The estimate of
//! the change is the one that belongs to this test: the median of all differences between a value of one side and one of
//! the other (Hodges and Lehmann).
//!
//! A comparison has a test for each operation, call and cause, so some would be found to differ by
//! chance. Holm's correction keeps the chance that any row is wrong below the level, for any dependence
//! between rows. They are dependent: the parts of a step add up to it.

/// About as many groups are made of the side with fewer steps. Sixteen values on each side can show a difference with a
/// chance of 3e-9, which is enough for any number of rows.
const GROUPS: usize = 16;

/// Groups of a side that are judged, spread evenly.
const MOST: usize = 32;

/// Fewer groups than these show nothing.
const LEAST: usize = 5;

/// The correlation of a step with a later one from which on the steps between them are a period.
const ALIKE: f64 = 0.5;

/// Standard deviations that hold 99 % of a normal distribution.
const WIDTH: f64 = 2.575_829;

/// The values of both samples: the means of groups of neighbours. Groups have the same size on both
/// sides, since a mean and a single step are not alike. The rest after the last group is left out.
pub(super) fn grouped(one: &[i64], other: &[i64]) -> (Vec<i64>, Vec<i64>) {
    // Each group has the same number of whole periods.
    let repeat = period(one).max(period(other));
    let shorter = shorter(one.len(), other.len());
    let size = size(shorter).next_multiple_of(repeat);
    let size = if shorter / size < LEAST { 1 } else { size };
    (groups(one, size), groups(other, size))
}

fn groups(values: &[i64], size: usize) -> Vec<i64> {
    let mean = |group: &[i64]| {
        let sum: i128 = group.iter().copied().map(i128::from).sum();
        i64::try_from(sum / group.len() as i128).unwrap_or(i64::MAX)
    };
    let means: Vec<i64> = values.chunks_exact(size).map(mean).collect();
    let kept = means.len().min(MOST);
    (0..kept).map(|it| means[it * means.len() / kept]).collect()
}

/// The steps of the side that has fewer, if it has any.
fn shorter(one: usize, other: usize) -> usize {
    match one.min(other) {
        0 => one.max(other),
        shorter => shorter,
    }
}

/// The size of groups, where nothing comes back.
fn size(shorter: usize) -> usize {
    (shorter / GROUPS).max(1)
}

/// After how many steps the values are alike again; 1 if they never are.
fn period(values: &[i64]) -> usize {
    let mean = values.iter().map(|it| *it as f64).sum::<f64>() / values.len() as f64;
    let away: Vec<f64> = values.iter().map(|it| *it as f64 - mean).collect();
    let all: f64 = away.iter().map(|it| it * it).sum();
    let alike = |lag: &usize| {
        let pairs = away.iter().zip(&away[*lag..]);
        pairs.map(|(one, other)| one * other).sum::<f64>() > ALIKE * all
    };
    (2..=values.len() / GROUPS).find(alike).unwrap_or(1)
}

/// A difference with the range in which it lies 99 times out of 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shift {
    pub(super) ns: i64,
    pub(super) low: i64,
    pub(super) high: i64,
}

/// The ranks of both samples, doubled, so that those of equal values are whole numbers.
struct Ranks {
    one: Vec<u32>,
    other: Vec<u32>,
    /// The sum of `t³ - t` over groups of `t` equal values.
    ties: f64,
}

impl Ranks {
    /// `None` where all values are the same: nothing can differ.
    fn of(one: &[i64], other: &[i64]) -> Option<Self> {
        let mut order: Vec<(i64, usize)> = one.iter().chain(other).copied().zip(0..).collect();
        order.sort_unstable();
        if one.is_empty() || other.is_empty() || order.first()?.0 == order.last()?.0 {
            return None;
        }
        let mut ranks = vec![0; order.len()];
        let (mut from, mut ties) = (0, 0.0);
        while from < order.len() {
            let value = order[from].0;
            let until = from + order[from..].partition_point(|it| it.0 == value);
            // The ranks from `from + 1` to `until`, doubled.
            let rank = (from + 1 + until) as u32;
            order[from..until].iter().for_each(|it| ranks[it.1] = rank);
            let equal = (until - from) as f64;
            ties += equal.powi(3) - equal;
            from = until;
        }
        let other = ranks.split_off(one.len());
        Some(Self {
            one: ranks,
            other,
            ties,
        })
    }

    /// The variance of the sum of the other's ranks, if both sides are alike.
    fn variance(&self) -> f64 {
        let (one, other) = (self.one.len() as f64, self.other.len() as f64);
        let all = one + other;
        one * other / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)))
    }

    /// Of all ways to share the ranks out, the part that is as far from the expected sum.
    fn exact(&self) -> f64 {
        let (other, all) = (self.other.len(), self.one.len() + self.other.len());
        let most = all * (all + 1);
        let mut ways = vec![vec![0.0_f64; most + 1]; other + 1];
        ways[0][0] = 1.0;
        for rank in self.one.iter().chain(&self.other) {
            let rank = *rank as usize;
            for taken in (1..=other).rev() {
                let (before, now) = ways.split_at_mut(taken);
                let (before, now) = (&before[taken - 1], &mut now[0]);
                let pairs = now[rank..].iter_mut().zip(before);
                pairs.for_each(|(now, before)| *now += before);
            }
        }
        // Both doubled.
        let expected = (other * (all + 1)) as i64;
        let away = |sum: i64| (sum - expected).abs();
        let found = away(self.other.iter().copied().map(i64::from).sum());
        let ways = &ways[other];
        let far = ways.iter().zip(0..).filter(|(_, sum)| away(*sum) >= found);
        far.map(|(ways, _)| ways).sum::<f64>() / ways.iter().sum::<f64>()
    }
}

/// The chance to find two samples as different as these, if nothing had changed. `None` where all values are the same.
pub(super) fn test(one: &[i64], other: &[i64]) -> Option<f64> {
    Some(Ranks::of(one, other)?.exact().min(1.0))
}

/// The smallest chance that a test with these numbers of steps can give.
pub(super) fn least(one: usize, other: usize) -> f64 {
    let size = size(shorter(one, other));
    let (one, other) = ((one / size).min(MOST), (other / size).min(MOST));
    let ways = (1..=other).map(|it| (one + it) as f64 / it as f64);
    (2.0 / ways.product::<f64>()).min(1.0)
}

/// How much larger the values of the other sample are.
pub(super) fn shift(one: &[i64], other: &[i64]) -> Option<Shift> {
    let variance = Ranks::of(one, other).map_or(0.0, |ranks| ranks.variance());
    let share = WIDTH * variance.sqrt() / (one.len() as f64 * other.len() as f64);
    let mut differences: Vec<i64> = other
        .iter()
        .flat_map(|other| one.iter().map(move |one| other - one))
        .collect();
    let last = differences.len().checked_sub(1)?;
    let mut at = |share: f64| {
        let place = (share.clamp(0.0, 1.0) * last as f64).round() as usize;
        *differences.select_nth_unstable(place).1
    };
    Some(Shift {
        ns: at(0.5),
        low: at(0.5 - share),
        high: at(0.5 + share),
    })
}

/// The middle one; the lower of two.
pub(super) fn median(values: &[i64]) -> Option<i64> {
    let mut values = values.to_vec();
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

/// Corrects chances for their number, in place (Holm).
pub(super) fn correct(chances: &mut [f64]) {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut reached = 0.0_f64;
    for (place, at) in order.iter().enumerate() {
        let left = (chances.len() - place) as f64;
        reached = reached.max((chances[*at] * left).min(1.0));
        chances[*at] = reached;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_samples_are_judged_by_all_ways() {
        // Of ten ways to share five values out, two have all of one side on one end.
        assert_eq!(test(&[1, 2, 3], &[4, 5]), Some(0.2));
        assert_eq!(least(3, 2), 0.2);
        assert!((least(5, 5) - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(test(&[7, 7], &[7, 7, 7]), None);
        assert_eq!(test(&[], &[1]), None);
        // Equal values: ranks 1.5, 1.5, 3.5, 3.5.
        assert!((test(&[1, 1], &[2, 2]).unwrap() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn chances_are_as_frequent_as_they_say() {
        // Of samples that are alike, one in twenty has a chance below 5 %.
        let mut seed = 1_u64;
        let mut roll = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 40) as i64
        };
        let mut sample = || -> Vec<i64> { (0..8).map(|_| roll()).collect() };
        let tests = (0..400).map(|_| test(&sample(), &sample()).unwrap());
        let found = tests.filter(|it| *it <= 0.05).count();
        assert!((8..=34).contains(&found), "{found}");
    }

    #[test]
    fn a_change_in_every_fourth_step_shows_in_groups() {
        let run = |long: i64| -> Vec<i64> {
            let step = |it: i64| if it % 4 == 3 { long } else { 180 };
            (0..160).map(|it| step(it) + it * 7 % 5).collect()
        };
        let (one, other) = (run(9_000), run(14_000));
        assert!(
            test(&one, &other).unwrap() > 0.001,
            "most steps are as before"
        );
        let (few, both) = (run(9_000), grouped(&one, &other));
        let (one, other) = both;
        // Twelve steps in each, with three long ones.
        assert_eq!((one.len(), other.len()), (13, 13));
        assert!(test(&one, &other).unwrap() < 1e-6);
        let found = shift(&one, &other).unwrap();
        assert!((found.ns - 1_250).abs() < 10, "{found:?}");
        let steps: Vec<i64> = (0..45).map(|it| it * 29 % 45).collect();
        let means = steps.chunks_exact(2).map(|it| (it[0] + it[1]) / 2);
        assert_eq!(grouped(&steps, &[]).0, means.collect::<Vec<_>>());
        assert_eq!(grouped(&steps[..31], &steps[..20]).0, steps[..31]);
        // The same loop, in a shorter recording: groups are as large on both sides.
        let (long, short) = grouped(&few, &few[..28]);
        assert_eq!((long.len(), short.len()), (MOST, 7));
        assert!(test(&long, &short).is_none_or(|it| it > 0.05));
    }

    #[test]
    fn a_shift_is_found_with_its_range() {
        let one: Vec<i64> = (0..31).map(|it| 1_000 + it * 17 % 31).collect();
        let mut other: Vec<i64> = one.iter().map(|it| it + 50).collect();
        other[3] = 900_000;
        let found = shift(&one, &other).unwrap();
        assert!((found.ns - 50).abs() <= 1, "{found:?}");
        assert!(found.low > 40 && found.high < 60 && found.low < found.high);
        assert_eq!(shift(&[], &[1]), None);
        let constant = shift(&[5, 5], &[9, 9]).unwrap();
        assert_eq!((constant.ns, constant.low, constant.high), (4, 4, 4));
    }

    #[test]
    fn chances_are_corrected_for_their_number() {
        let mut chances = [0.04, 0.01, 0.03, 0.5];
        correct(&mut chances);
        let expected = [0.09, 0.04, 0.09, 0.5];
        let pairs = chances.iter().zip(expected);
        assert!(
            pairs
                .into_iter()
                .all(|(it, other)| (it - other).abs() < 1e-12),
            "{chances:?}"
        );
    }
}
