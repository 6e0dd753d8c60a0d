//! Finds what repeats in a sequence.
//!
//! A few symbols in a row that occur once in each period are an *anchor*: the symbols between two
//! occurrences are then nearly always the same. The layers of a network repeat as well, but at the end
//! of a step the distance of two of them is much longer: such anchors are not regular, and that of the
//! step is. Of several regular ones the most frequent is used: work after every tenth step repeats,
//! too.

use rustc_hash::FxHashMap;

/// Symbols in a row that make an anchor, at most.
const LONGEST: usize = 3;

/// An anchor occurs so often at least.
pub(super) const LEAST: usize = 3;

/// The first two periods and the last may be anything: warming up, and winding down.
const EDGES: usize = 3;

/// Shorter periods have to be the same each time.
const SHORT: usize = 4;

/// Occurrences of an anchor, and the usual symbols between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rhythm {
    pub(super) places: Vec<u32>,
    /// How many symbols there are from one to the next.
    pub(super) period: usize,
    /// The place of one that the usual follows.
    pub(super) model: usize,
}

/// What repeats in a sequence every `shortest` symbols or more; anchors begin with `wanted` symbols alone.
pub(super) fn rhythm(
    symbols: &[u32],
    shortest: usize,
    wanted: impl Fn(u32) -> bool,
) -> Option<Rhythm> {
    if symbols.len() < LEAST.max(LONGEST) {
        return None;
    }
    let sums = Sums::of(symbols);
    let mut best: Option<Judged> = None;
    // The sequence at each place: first one symbol, then two in a row, then three.
    let mut rows: Vec<u32> = symbols.to_vec();
    for length in 1..=LONGEST {
        if length > 1 {
            rows = lengthened(&rows, &symbols[length - 1..]);
        }
        for places in by_row(&rows, symbols, &wanted) {
            let found = judge(&sums, &places).filter(|it| it.rhythm.period >= shortest);
            let is_better = |it: &Judged| best.as_ref().is_none_or(|best| it.beats(best));
            if let Some(found) = found.filter(is_better) {
                best = Some(found);
            }
        }
    }
    best.map(|it| it.rhythm)
}

/// Rows that are one symbol longer, by number.
fn lengthened(rows: &[u32], next: &[u32]) -> Vec<u32> {
    let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let pairs = rows.iter().zip(next).map(|(row, next)| {
        let fresh = numbers.len() as u32;
        *numbers.entry((*row, *next)).or_insert(fresh)
    });
    pairs.collect()
}

/// Where each row occurs, of those that occur often enough.
fn by_row(
    rows: &[u32],
    symbols: &[u32],
    wanted: &impl Fn(u32) -> bool,
) -> impl Iterator<Item = Vec<u32>> {
    let mut counts: Vec<u32> = Vec::new();
    for row in rows {
        let row = *row as usize;
        if counts.len() <= row {
            counts.resize(row + 1, 0);
        }
        counts[row] += 1;
    }
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); counts.len()];
    for ((place, row), symbol) in (0..).zip(rows).zip(symbols) {
        let row = *row as usize;
        if counts[row] as usize >= LEAST && wanted(*symbol) {
            places[row].push(place);
        }
    }
    places.into_iter().filter(|it| it.len() >= LEAST)
}

/// A hash of any part of a sequence.
struct Sums {
    sums: Vec<u64>,
    powers: Vec<u64>,
}

const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

impl Sums {
    fn of(symbols: &[u32]) -> Self {
        let mut sums = vec![0_u64; symbols.len() + 1];
        let mut powers = vec![1_u64; symbols.len() + 1];
        for (place, symbol) in symbols.iter().enumerate() {
            // Small numbers are spread: sums of small multiples of powers would meet.
            let spread = mixed(u64::from(*symbol) + 1);
            sums[place + 1] = sums[place].wrapping_mul(BASE).wrapping_add(spread);
            powers[place + 1] = powers[place].wrapping_mul(BASE);
        }
        Self { sums, powers }
    }

    fn part(&self, from: u32, until: u32) -> u64 {
        let (from, until) = (from as usize, until as usize);
        self.sums[until].wrapping_sub(self.sums[from].wrapping_mul(self.powers[until - from]))
    }

    fn len(&self) -> usize {
        self.sums.len() - 1
    }
}

fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (value ^ (value >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

struct Judged {
    rhythm: Rhythm,
    /// How often the usual came.
    usual: usize,
}

impl Judged {
    fn beats(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.rhythm.period, usize::MAX - it.usual, it.rhythm.places[0]);
        key(self) < key(other)
    }
}

/// Whether an anchor is regular.
fn judge(sums: &Sums, places: &[u32]) -> Option<Judged> {
    let spans = || places.iter().zip(&places[1..]);
    let mut kinds: FxHashMap<(u32, u64), (usize, usize)> = FxHashMap::default();
    for (number, (from, until)) in spans().enumerate() {
        let kind = kinds
            .entry((until - from, sums.part(*from, *until)))
            .or_insert((0, number));
        kind.0 += 1;
    }
    let all = places.len() - 1;
    let usual = kinds.iter().max_by_key(|it| (it.1.0, it.0.0))?;
    let (period, count, model) = (usual.0.0 as usize, usual.1.0, usual.1.1);
    let span = (places[all] - places[0]) as usize;
    let judged = all - EDGES.min(all / 4);
    if count < all.min(3) || count * 10 < judged * 6 || span * 2 < sums.len() {
        return None;
    }
    if period < SHORT && count + EDGES.min(all / 4) < all {
        return None;
    }
    let odd = |(from, until): (&u32, &u32)| {
        let length = (until - from) as usize;
        length * 2 < period || length * 2 > period * 3
    };
    let inside = spans().enumerate().filter(|(at, span)| {
        let is_edge = *at < 2 || at + 1 == all;
        !is_edge && odd(*span)
    });
    (inside.count() <= (all / 100).max(1)).then(|| Judged {
        rhythm: Rhythm {
            places: places.to_vec(),
            period,
            model,
        },
        usual: count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Option<Vec<u32>> {
        let symbols: Vec<u32> = text.bytes().map(u32::from).collect();
        rhythm(&symbols, 2, |_| true).map(|it| it.places)
    }

    #[test]
    fn what_comes_once_in_each_period_tells_it() {
        assert_eq!(places("ixyzabcdabcdabcdabcdq"), Some(vec![4, 8, 12, 16]));
        // Nothing comes once alone.
        assert_eq!(places("aabbaabbaabb").map(|it| it.len()), Some(3));
    }

    #[test]
    fn layers_and_what_every_tenth_step_does_are_no_steps() {
        let step = format!("e{}hhhhhhhhooooooo", "abcdefg".repeat(12));
        let found = places(&step.repeat(5)).expect("it repeats");
        assert_eq!(found.len(), 5);
        let log: String = (0..40)
            .map(|at| match at % 10 {
                9 => format!("{step}ll"),
                _ => step.clone(),
            })
            .collect();
        assert_eq!(places(&log).map(|it| it.len()), Some(40));
    }

    #[test]
    fn one_thing_alone_and_chance_are_none() {
        assert_eq!(places("aaaaaaaaaaaa"), None);
        assert_eq!(places("abacbcacabccbabcaacb"), None);
        assert_eq!(places(""), None);
    }
}
