//! Sums over stretches of a track, so that a cell with a million slices costs no more than one with a
//! hundred.

use crate::item::Category;

/// Children of a node.
const FAN: usize = 32;

/// Nanoseconds by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CategoryTotals([u64; Category::ALL.len()]);

impl CategoryTotals {
    pub(crate) fn add(&mut self, category: Category, length: u64) {
        let sum = &mut self.0[category as usize];
        *sum = sum.saturating_add(length);
    }

    pub(crate) fn take(&mut self, category: Category, length: u64) {
        let sum = &mut self.0[category as usize];
        *sum = sum.saturating_sub(length);
    }

    fn merge(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(more);
        }
    }

    /// All time, over all categories.
    pub(crate) fn all(&self) -> u64 {
        self.0.iter().fold(0, |sum, it| sum.saturating_add(*it))
    }

    /// Time spent working rather than waiting.
    pub(crate) fn busy(&self) -> u64 {
        let working = Category::ALL.iter().filter(|it| it.is_work());
        working.fold(0, |sum, it| sum.saturating_add(self.0[*it as usize]))
    }

    /// What most of the time was spent on that was work.
    pub(crate) fn main_work(&self) -> Category {
        let working = Category::ALL.iter().copied().filter(|it| it.is_work());
        working
            .max_by_key(|it| self.0[*it as usize])
            .unwrap_or(Category::Other)
    }

    /// What most of the time was spent on.
    pub(crate) fn main(&self) -> Category {
        let all = Category::ALL.iter().copied();
        all.max_by_key(|it| self.0[*it as usize])
            .unwrap_or(Category::Other)
    }
}

/// Sums of 32 slices, of 32 times 32, and so on. Only full nodes are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct SumPyramid {
    levels: Vec<Vec<CategoryTotals>>,
}

impl SumPyramid {
    /// Forgets what depends on slice `index` and later ones.
    pub(crate) fn truncate(&mut self, index: usize) {
        let mut keep = index;
        for level in &mut self.levels {
            keep /= FAN;
            level.truncate(keep);
        }
    }

    /// Adds the new ones among the first `count` slices.
    pub(crate) fn extend(&mut self, count: usize, slice: impl Fn(usize) -> (Category, u64)) {
        let Some(ground) = self.level(0, count) else {
            return;
        };
        for node in ground.len()..count / FAN {
            let mut totals = CategoryTotals::default();
            for index in node * FAN..(node + 1) * FAN {
                let (category, length) = slice(index);
                totals.add(category, length);
            }
            ground.push(totals);
        }
        let mut height = 1;
        let mut below = count / FAN;
        while below >= FAN {
            self.lift(height, below);
            below /= FAN;
            height += 1;
        }
    }

    fn level(&mut self, height: usize, below: usize) -> Option<&mut Vec<CategoryTotals>> {
        if below < FAN {
            return None;
        }
        if self.levels.len() <= height {
            self.levels.push(Vec::new());
        }
        self.levels.get_mut(height)
    }

    fn lift(&mut self, height: usize, below: usize) {
        let mut level = self
            .level(height, below)
            .map(std::mem::take)
            .unwrap_or_default();
        for node in level.len()..below / FAN {
            let mut totals = CategoryTotals::default();
            let children = &self.levels[height - 1][node * FAN..(node + 1) * FAN];
            children.iter().for_each(|child| totals.merge(child));
            level.push(totals);
        }
        self.levels[height] = level;
    }

    /// The sums over slices `begin..end`.
    pub(crate) fn sum(
        &self,
        begin: usize,
        end: usize,
        slice: impl Fn(usize) -> (Category, u64),
    ) -> CategoryTotals {
        let mut totals = CategoryTotals::default();
        let mut direct = |range: std::ops::Range<usize>| {
            for index in range {
                let (category, length) = slice(index);
                totals.add(category, length);
            }
        };
        let (first, last) = (begin.div_ceil(FAN), end / FAN);
        let known = self.levels.first().map_or(0, Vec::len);
        if first >= last || last > known {
            direct(begin..end);
            return totals;
        }
        direct(begin..first * FAN);
        direct(last * FAN..end);
        self.sum_nodes(0, first, last, &mut totals);
        totals
    }

    fn sum_nodes(&self, height: usize, begin: usize, end: usize, totals: &mut CategoryTotals) {
        let nodes = &self.levels[height];
        let (first, last) = (begin.div_ceil(FAN), end / FAN);
        let above = self.levels.get(height + 1).map_or(0, Vec::len);
        if first >= last || last > above {
            nodes[begin..end].iter().for_each(|it| totals.merge(it));
            return;
        }
        nodes[begin..first * FAN]
            .iter()
            .for_each(|it| totals.merge(it));
        nodes[last * FAN..end]
            .iter()
            .for_each(|it| totals.merge(it));
        self.sum_nodes(height + 1, first, last, totals);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn slice(index: usize) -> (Category, u64) {
        let category = Category::ALL[index % Category::ALL.len()];
        (category, (index * 7 % 13) as u64)
    }

    fn plain_sum(begin: usize, end: usize) -> CategoryTotals {
        let mut totals = CategoryTotals::default();
        (begin..end).map(slice).for_each(|(c, l)| totals.add(c, l));
        totals
    }

    #[test]
    fn any_stretch_sums_as_if_added_one_by_one() {
        let mut pyramid = SumPyramid::default();
        for count in [0, 1, 31, 32, 1_000, 1_024, 40_000] {
            pyramid.extend(count, slice);
            for begin in [0, 1, 31, 33, 500, 1_023] {
                for end in [begin, begin + 1, begin + 90, count] {
                    let (begin, end) = (begin.min(count), end.min(count).max(begin.min(count)));
                    assert_eq!(pyramid.sum(begin, end, slice), plain_sum(begin, end));
                }
            }
        }
    }

    #[test]
    fn a_forgotten_stretch_is_summed_again() {
        let mut pyramid = SumPyramid::default();
        pyramid.extend(5_000, |_| (Category::Kernel, 1));
        pyramid.truncate(100);
        let changed = |index| (Category::Kernel, if index < 100 { 1 } else { 3 });
        pyramid.extend(5_000, changed);
        assert_eq!(pyramid.sum(0, 5_000, changed).all(), 100 + 4_900 * 3);
    }

    #[test]
    fn a_long_stretch_touches_few_slices() {
        let mut pyramid = SumPyramid::default();
        pyramid.extend(1 << 20, slice);
        let touched = Cell::new(0);
        pyramid.sum(17, (1 << 20) - 5, |index| {
            touched.set(touched.get() + 1);
            slice(index)
        });
        assert!(touched.get() < 2 * FAN, "{} slices", touched.get());
    }
}
