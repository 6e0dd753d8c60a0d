//! Tenths of many numbers, exactly, without keeping the numbers: they are counted twice, first in coarse classes, then
//! one by one in those classes that hold the tenths.

use rustc_hash::FxHashMap;

use super::typical::Spread;

/// Bits of a number that its class keeps.
const BITS: u32 = 11;

/// The tenths that are looked for.
const TENTHS: [u64; 3] = [1, 5, 9];

/// Numbers on their way.
#[derive(Debug, Default)]
pub(super) struct Tally {
    classes: FxHashMap<i32, u64>,
    count: u64,
    /// In the second pass: for each tenth its class, and how many come before the tenth in it.
    wanted: Option<[(i32, u64); 3]>,
    exact: FxHashMap<i64, u64>,
}

impl Tally {
    /// Counts a number. In the second pass, they have to be the same ones as in the first.
    pub(super) fn add(&mut self, number: i64) {
        let class = class(number);
        match &self.wanted {
            None => {
                self.count += 1;
                *self.classes.entry(class).or_default() += 1;
            }
            Some(wanted) => {
                if wanted.iter().any(|it| it.0 == class) {
                    *self.exact.entry(number).or_default() += 1;
                }
            }
        }
    }

    /// Ends the first pass.
    pub(super) fn turn(&mut self) {
        let mut classes: Vec<(i32, u64)> = std::mem::take(&mut self.classes).into_iter().collect();
        classes.sort_unstable();
        let last = self.count.saturating_sub(1);
        self.wanted = Some(TENTHS.map(|tenth| place(&classes, last * tenth / 10)));
    }

    /// Ends the second pass.
    pub(super) fn spread(self) -> Spread {
        let mut exact: Vec<(i64, u64)> = self.exact.into_iter().collect();
        exact.sort_unstable();
        let wanted = self.wanted.unwrap_or_default();
        let [low, middle, high] = wanted.map(|(wanted, before)| {
            let own: Vec<(i64, u64)> = exact
                .iter()
                .filter(|it| class(it.0) == wanted)
                .copied()
                .collect();
            place(&own, before).0
        });
        Spread { low, middle, high }
    }
}

/// The sorted row at this place if each row has its number of places, and the number of its places
/// before.
fn place<T: Copy + Default>(rows: &[(T, u64)], place: u64) -> (T, u64) {
    let mut left = place;
    for (row, count) in rows {
        if left < *count {
            return (*row, left);
        }
        left -= count;
    }
    (T::default(), 0)
}

/// Numbers of a class differ by less than a thousandth. Classes are in the order of the numbers.
fn class(number: i64) -> i32 {
    let size = if number < 0 { !number } else { number } as u64;
    let shift = (u64::BITS - size.leading_zeros()).saturating_sub(BITS);
    let class = ((shift << (BITS - 1)) as u64 + (size >> shift)) as i32;
    if number < 0 { !class } else { class }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tallied(numbers: &[i64]) -> Spread {
        let mut tally = Tally::default();
        numbers.iter().for_each(|it| tally.add(*it));
        tally.turn();
        numbers.iter().for_each(|it| tally.add(*it));
        tally.spread()
    }

    #[test]
    fn tenths_are_exact() {
        assert_eq!(tallied(&[]), Spread::default());
        let mut state = 3_u64;
        for count in [1, 2, 9, 10, 11, 5_000] {
            for shift in [1, 20, 40, 60] {
                let mut numbers = Vec::new();
                for _ in 0..count {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    numbers.push(state as i64 >> shift);
                }
                let found = tallied(&numbers);
                numbers.sort_unstable();
                let at = |tenth: usize| numbers[(count - 1) * tenth / 10];
                let spread = (found.low, found.middle, found.high);
                assert_eq!(spread, (at(1), at(5), at(9)), "{count} of {shift}");
            }
        }
    }

    #[test]
    fn classes_are_in_order() {
        let numbers = (0..62).flat_map(|bit| [(1_i64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        let mut numbers: Vec<i64> = numbers.flat_map(|it| [it, -it]).collect();
        numbers.extend([i64::MIN, i64::MAX]);
        numbers.sort_unstable();
        let classes: Vec<i32> = numbers.iter().map(|it| class(*it)).collect();
        assert!(classes.is_sorted(), "{classes:?}");
        assert_ne!(class(2_046), class(2_047));
        assert_ne!(class(-1), class(0));
    }
}
