//! Whether two samples differ by more than their spread, and by how much.
//!
//! Times on a host have long tails: an interrupt makes one step ten times as long. Such a step moves a mean, and widens
//! its error, so a t test misses what all other steps show. A rank test (Mann and Whitney) only asks how often a value of
//! one side is above one of the other, so one step counts as one, however long it was. The estimate of the change is the
//! one that belongs to this test: the median of all differences between a value of one side and one of the other (Hodges
//! and Lehmann).
//!
//! Steps that follow each other are often alike, for example while the chip is hot. Then so many steps say less than their
//! number. The variance is widened by how much a step is like the one before it.
//!
//! A comparison has a test for each operation, call and cause, so some would be found to differ by chance. Holm's
//! correction keeps the chance that any row is wrong below the level, whatever the rows have to do with each other. They do
//! have to do with each other: the parts of a step add up to it.

/// Samples up to this size, both together, are judged by all ways to share their values out.
const EXACT: usize = 40;

/// Values of each side from which differences are made.
const PAIRED: usize = 200;

/// Standard deviations that hold 99 % of a normal distribution.
const WIDTH: f64 = 2.575_829;

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

    /// How much wider the sum of ranks spreads than that of values that have nothing to do with each other.
    fn widening(&self) -> f64 {
        let mut sums = (0.0, 0.0);
        for side in [&self.one, &self.other] {
            let mean = side.iter().copied().map(f64::from).sum::<f64>() / side.len() as f64;
            let away: Vec<f64> = side.iter().map(|it| f64::from(*it) - mean).collect();
            sums.0 += away.windows(2).map(|it| it[0] * it[1]).sum::<f64>();
            sums.1 += away.iter().map(|it| it * it).sum::<f64>();
        }
        let alike = match sums.1 > 0.0 {
            true => (sums.0 / sums.1).clamp(0.0, 0.9),
            false => 0.0,
        };
        (1.0 + alike) / (1.0 - alike)
    }

    /// The variance of the sum of the other's ranks, if both sides are alike.
    fn variance(&self) -> f64 {
        let (one, other) = (self.one.len() as f64, self.other.len() as f64);
        let all = one + other;
        one * other / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0))) * self.widening()
    }

    fn by_normal(&self) -> f64 {
        let (other, all) = (self.other.len(), self.one.len() + self.other.len());
        let sum = self.other.iter().copied().map(f64::from).sum::<f64>() / 2.0;
        let expected = other as f64 * (all as f64 + 1.0) / 2.0;
        let away = ((sum - expected).abs() - 0.5).max(0.0);
        upper_tail(away / self.variance().sqrt()) * 2.0
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
/// Values are in the order of time.
pub(super) fn test(one: &[i64], other: &[i64]) -> Option<f64> {
    let ranks = Ranks::of(one, other)?;
    let p = match one.len() + other.len() <= EXACT {
        true => ranks.exact(),
        false => ranks.by_normal(),
    };
    Some(p.min(1.0))
}

/// The smallest chance that a test of samples of these sizes can give.
pub(super) fn least(one: usize, other: usize) -> f64 {
    if one + other > EXACT {
        return 0.0;
    }
    let ways = (1..=other).map(|it| (one + it) as f64 / it as f64);
    (2.0 / ways.product::<f64>()).min(1.0)
}

/// How much larger the values of the other sample are.
pub(super) fn shift(one: &[i64], other: &[i64]) -> Option<Shift> {
    let variance = Ranks::of(one, other).map_or(0.0, |ranks| ranks.variance());
    let share = WIDTH * variance.sqrt() / (one.len() as f64 * other.len() as f64);
    let (one, other) = (spread(one), spread(other));
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

/// Values at even distances in the order of size.
fn spread(values: &[i64]) -> Vec<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let count = sorted.len();
    if count <= PAIRED {
        return sorted;
    }
    let place = |it: usize| sorted[(2 * it + 1) * count / (2 * PAIRED)];
    (0..PAIRED).map(place).collect()
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

/// The part of a standard normal distribution above `z`, which is not negative. The relative error is below 1.2e-7.
fn upper_tail(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    // Chebyshev's approximation of the complementary error function.
    let terms = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let sum = terms.iter().rev().fold(0.0, |sum, term| sum * t + term);
    0.5 * t * (sum - x * x).exp()
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
    fn large_samples_agree_with_all_ways() {
        // The same 40 values by both ways; they are in no order.
        let one: Vec<i64> = (0..20).map(|it| (it * 7) % 20 * 10).collect();
        let other: Vec<i64> = (0..20).map(|it| (it * 13) % 20 * 10 + 35).collect();
        let ranks = Ranks::of(&one, &other).unwrap();
        let (exact, normal) = (ranks.exact(), ranks.by_normal());
        assert!(exact > 0.01 && exact < 0.2, "{exact}");
        // What looks alike by chance may only make it more careful.
        assert!(
            normal > exact * 0.9 && normal < exact * 2.0,
            "{exact} {normal}"
        );
    }

    #[test]
    fn tails_are_those_of_the_tables() {
        for (z, tail) in [
            (0.0, 0.5),
            (1.0, 0.158_655_3),
            (1.96, 0.024_997_9),
            (6.0, 9.865_9e-10),
        ] {
            assert!((upper_tail(z) / tail - 1.0).abs() < 1e-5, "{z}");
        }
    }

    #[test]
    fn steps_that_are_like_the_one_before_say_less() {
        let blocks = |at: i64| (0..60).map(move |it| at + (it / 20) * 10 + it % 3);
        let (one, other): (Vec<i64>, Vec<i64>) = (blocks(0).collect(), blocks(4).collect());
        let shuffle = |it: &Vec<i64>| (0..60).map(|at| it[at * 23 % 60]).collect::<Vec<_>>();
        let (apart, alike) = (test(&shuffle(&one), &shuffle(&other)), test(&one, &other));
        assert!(alike.unwrap() > 2.0 * apart.unwrap(), "{alike:?} {apart:?}");
    }

    #[test]
    fn a_shift_is_found_with_its_range() {
        let one: Vec<i64> = (0..99).map(|it| 1_000 + it * 31 % 99).collect();
        let mut other: Vec<i64> = one.iter().map(|it| it + 50).collect();
        other[3] = 900_000;
        let found = shift(&one, &other).unwrap();
        assert!((found.ns - 50).abs() <= 1, "{found:?}");
        assert!(found.low > 35 && found.high < 65 && found.low < found.high);
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
