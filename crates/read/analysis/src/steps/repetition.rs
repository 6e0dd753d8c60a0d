//! Finds what repeats in a sequence.
//!
//! A few symbols in a row that occur once in each period are an *anchor*: the symbols between two
//! occurrences are then nearly always the same. The layers of a network repeat as well, but at the end
//! of a step the distance of two of them is much longer: such anchors are not regular, and that of the
//! step is. Of several regular ones the most frequent is used: work after every tenth step repeats,
//! too.
//!
//! Between two steps there may be other work, such as an evaluation. What repeats must then look like a step: it must
//! bring data to the device, or the host must wait in it. Layers do neither. If the other work always comes after the same
//! number of times and brings no data, it uses the results of all of them: they are the micro-batches of one step. If the host
//! waits several times in that work, the work has several rounds, such as the batches of an evaluation.

use rustc_hash::FxHashMap;

/// Symbols in a row that make an anchor, at most.
const LONGEST: usize = 3;

/// An anchor occurs so often at least.
pub(super) const LEAST: usize = 3;

/// The first two periods and the last may be anything: warming up, and winding down.
const EDGES: usize = 3;

/// Of a step that has not all of the usual, at most this part is missing.
pub(super) const PART: usize = 5;

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

/// Signs of a step in what repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// Data are copied that do not come from the host.
    Copy,
    /// The device works.
    #[default]
    None,
    /// The host waits.
    Wait,
    /// Data come to the device.
    Load,
}

/// What repeats in a sequence every `shortest` symbols or more; anchors begin with `wanted` symbols alone.
pub(super) fn rhythm(
    symbols: &[u32],
    shortest: usize,
    wanted: impl Fn(u32) -> bool,
    sign: impl Fn(u32) -> Sign,
) -> Option<Rhythm> {
    if symbols.len() < LEAST.max(LONGEST) {
        return None;
    }
    let sums = Sums::of(symbols);
    let mut signs: FxHashMap<usize, Sign> = FxHashMap::default();
    let mut sign_of = |rhythm: &Rhythm| {
        let from = rhythm.places[rhythm.model] as usize;
        // Anchors with one period are nearly always at different places of the same content.
        *signs.entry(rhythm.period).or_insert_with(|| {
            let content = &symbols[from..from + rhythm.period];
            content.iter().map(|it| sign(*it)).max().unwrap_or_default()
        })
    };
    let mut others: FxHashMap<(usize, usize), OtherWork> = FxHashMap::default();
    let mut other_work = |rhythm: &Rhythm| {
        let key = (rhythm.period, rhythm.places.len());
        let found = others.entry(key);
        *found.or_insert_with(|| OtherWork::of(symbols, rhythm, &sign))
    };
    let mut best: Option<Judged> = None;
    // The sequence at each place: first one symbol, then two in a row, then three.
    let mut rows: Vec<u32> = symbols.to_vec();
    for length in 1..=LONGEST {
        if length > 1 {
            rows = lengthened(&rows, &symbols[length - 1..]);
        }
        for places in by_row(&rows, symbols, &wanted) {
            let found = judge(&sums, places).filter(|it| it.rhythm.period >= shortest);
            let found = found.filter(|it| it.is_regular || sign_of(&it.rhythm) > Sign::None);
            let found = found.filter(|it| !it.varies || sign_of(&it.rhythm) == Sign::Load);
            let found = found.filter(|it| {
                let mut is_part =
                    || matches!(other_work(&it.rhythm), OtherWork::Update | OtherWork::Steps);
                it.is_regular || !is_part()
            });
            let found = found.map(|mut it| {
                let is_clear = it.is_clear()
                    && (it.is_regular
                        || sign_of(&it.rhythm) == Sign::Load
                        || other_work(&it.rhythm) == OtherWork::Rounds);
                it.rank = u8::from(!is_clear);
                it
            });
            let is_better = |it: &Judged| best.as_ref().is_none_or(|best| it.beats(best));
            if let Some(found) = found.filter(is_better) {
                best = Some(found);
            }
        }
    }
    best.map(|it| it.rhythm)
}

/// Work between some repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OtherWork {
    /// It needs no data, and always comes after the same number of times.
    Update,
    /// The host waits several times in it, each time.
    Rounds,
    /// It is nearly the usual again: steps in which something is missing.
    Steps,
    Unknown,
}

impl OtherWork {
    fn of(symbols: &[u32], rhythm: &Rhythm, sign: &impl Fn(u32) -> Sign) -> Self {
        let period = rhythm.period;
        let model = &symbols[rhythm.places[rhythm.model] as usize..][..period];
        let spans = rhythm.places.windows(2).enumerate();
        let longer = spans.filter_map(|(number, span)| {
            let (from, until) = (span[0] as usize, span[1] as usize);
            let both = symbols[from..until].iter().zip(model);
            let same = both.take_while(|it| it.0 == it.1).count();
            ((until - from) * 2 > period * 3).then(|| (number, from + same..until + same - period))
        });
        let longer: Vec<_> = longer.collect();
        let of = |more: &[u32], wanted: Sign| more.iter().filter(|it| sign(**it) == wanted).count();
        // Waits in a row, such as for several streams, are one.
        let waits = |more: &[u32]| {
            let is_wait = |it: &u32| sign(*it) == Sign::Wait;
            let pairs = more
                .windows(2)
                .filter(|it| !is_wait(&it[0]) && is_wait(&it[1]));
            pairs.count() + usize::from(more.first().is_some_and(is_wait))
        };
        let is_update = |more: &[u32]| {
            let more = without(more, model);
            of(&more, Sign::Load) == 0 && waits(&more) <= 1 && of(&more, Sign::None) > 0
        };
        let is_step = |more: &[u32]| {
            let missing = without(model, more);
            more.len() < model.len()
                && missing.len() < model.len()
                && missing.len() * PART <= model.len()
        };
        let steps = longer.iter().filter(|it| is_step(&symbols[it.1.clone()]));
        if !longer.is_empty() && steps.count() == longer.len() {
            return Self::Steps;
        }
        let updates = longer.iter().filter(|it| is_update(&symbols[it.1.clone()]));
        let has_rounds = |more: &[u32]| waits(more) > 1;
        let mut distances: FxHashMap<usize, usize> = FxHashMap::default();
        for pair in longer.windows(2) {
            *distances.entry(pair[1].0 - pair[0].0).or_default() += 1;
        }
        let usual = distances.values().max().copied().unwrap_or(0);
        let most = |some: usize, all: usize| all > 0 && some * 10 >= all * 9;
        if most(usual, longer.len().saturating_sub(1)) && most(updates.count(), longer.len()) {
            Self::Update
        } else if !longer.is_empty() && longer.iter().all(|it| has_rounds(&symbols[it.1.clone()])) {
            Self::Rounds
        } else {
            Self::Unknown
        }
    }
}

/// Symbols without those of a model, if all of these are among them: an anchor may be missing in one period.
fn without(symbols: &[u32], model: &[u32]) -> Vec<u32> {
    let mut counts: FxHashMap<u32, usize> = FxHashMap::default();
    for symbol in model {
        *counts.entry(*symbol).or_default() += 1;
    }
    let is_other = |symbol: &&u32| match counts.get_mut(*symbol) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    };
    let others: Vec<u32> = symbols.iter().filter(is_other).copied().collect();
    match others.len() + model.len() == symbols.len() {
        true => others,
        false => symbols.to_vec(),
    }
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
struct Sums(Vec<u64>);

const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

impl Sums {
    fn of(symbols: &[u32]) -> Self {
        let mut sums = Vec::with_capacity(symbols.len() + 1);
        let mut sum = 0_u64;
        sums.push(sum);
        for symbol in symbols {
            // Small numbers are spread: sums of small multiples of powers would meet.
            let spread = mixed(u64::from(*symbol) + 1);
            sum = sum.wrapping_mul(BASE).wrapping_add(spread);
            sums.push(sum);
        }
        Self(sums)
    }

    fn part(&self, from: u32, until: u32) -> u64 {
        let before = self.0[from as usize].wrapping_mul(BASE.wrapping_pow(until - from));
        self.0[until as usize].wrapping_sub(before)
    }

    fn len(&self) -> usize {
        self.0.len() - 1
    }

    /// Whether a part has all of a model, with something else at one place: before, after or within it.
    fn is_model_with_more(&self, (from, until): (u32, u32), (model, period): (u32, u32)) -> bool {
        if until - from < period {
            return false;
        }
        let begins =
            |length: u32| self.part(from, from + length) == self.part(model, model + length);
        // The longest common begin. If two parts are equal, their begins are equal as well.
        let (mut least, mut most) = (0, period);
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            match begins(middle) {
                true => least = middle,
                false => most = middle - 1,
            }
        }
        let rest = period - least;
        self.part(until - rest, until) == self.part(model + least, model + period)
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
    /// How often something came that does not begin with the usual.
    others: usize,
    /// How often something came that does not have all of the usual.
    odd: usize,
    /// The period is short, and often there is more than the usual.
    varies: bool,
    /// The distances are nearly the same.
    is_regular: bool,
    /// Periods that may be anything, if each of them could be a step: some steps that fill a queue.
    edges: usize,
    /// Those with a lower rank come first.
    rank: u8,
}

impl Judged {
    fn beats(&self, other: &Self) -> bool {
        let key = |it: &Self| {
            let rhythm = &it.rhythm;
            let places = rhythm.places[0];
            (
                it.rank,
                rhythm.period,
                it.odd.saturating_sub(it.edges),
                usize::MAX - it.usual,
                it.others.saturating_sub(it.edges),
                places,
            )
        };
        key(self) < key(other)
    }

    /// Whether nearly all has the usual.
    fn is_clear(&self) -> bool {
        let all = self.rhythm.places.len() - 1;
        self.odd * 10 <= all + 10 * EDGES.min(all / 4)
    }
}

/// What repeats at the places of an anchor.
fn judge(sums: &Sums, places: Vec<u32>) -> Option<Judged> {
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
    let (period, content) = *usual.0;
    let (count, model) = *usual.1;
    let span = (places[all] - places[0]) as usize;
    let judged = all - EDGES.min(all / 4);
    if count < all.min(3) || count * 10 < judged * 3 || span * 2 < sums.len() {
        return None;
    }
    let begins_usual = |(from, until): &(&u32, &u32)| {
        *until - *from >= period && sums.part(**from, *from + period) == content
    };
    let usual_place = places[model];
    let has_usual = |span: &(&u32, &u32)| {
        let (from, until) = (*span.0, *span.1);
        begins_usual(span) || sums.is_model_with_more((from, until), (usual_place, period))
    };
    let others = spans().filter(|it| !begins_usual(it)).count();
    let without = spans().filter(|it| !has_usual(it)).count();
    // Other periods may have more than the usual, such as a report of each second step.
    if count * 10 < judged * 6 && without * 5 > all {
        return None;
    }
    let varies = (period as usize) < SHORT && count + EDGES.min(all / 4) < all;
    if varies && without > 0 {
        return None;
    }
    let inside = || {
        let inside = spans().enumerate();
        inside.filter(|(at, _)| *at >= 2 && *at + 1 != all)
    };
    let inside = || inside().map(|(_, span)| span);
    let few = (all / 100).max(1);
    let shorter = inside().filter(|(from, until)| (*until - *from) * 2 < period);
    let shorter = shorter.count();
    let longer = || inside().filter(|(from, until)| (*until - *from) * 2 > period * 3);
    let is_regular = shorter + longer().count() <= few;
    // Steps that are followed by other work. They are most of all.
    let steps = (all - without) * period as usize;
    let odd = shorter + longer().filter(|it| !has_usual(it)).count();
    let is_followed = odd <= few && longer().count() * 4 <= all && steps * 2 >= span;
    let has_short = spans().any(|(from, until)| (*until - *from) * 2 < period);
    let edges = EDGES.min(all / 4);
    (is_regular || is_followed).then_some(Judged {
        rhythm: Rhythm {
            period: period as usize,
            model,
            places,
        },
        usual: count,
        others,
        odd: without,
        varies,
        is_regular,
        edges: if has_short { 0 } else { edges + 1 },
        rank: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Option<Vec<u32>> {
        let symbols: Vec<u32> = text.bytes().map(u32::from).collect();
        rhythm(&symbols, 2, |_| true, |_| Sign::None).map(|it| it.places)
    }

    #[test]
    fn a_symbol_that_comes_once_in_each_period_shows_it() {
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
    fn work_between_steps_is_allowed_where_a_step_brings_data() {
        // L brings data, W waits.
        let signed = |text: &str| {
            let symbols: Vec<u32> = text.bytes().map(u32::from).collect();
            let sign = |it: u32| match char::from(it as u8) {
                'L' => Sign::Load,
                'W' => Sign::Wait,
                _ => Sign::None,
            };
            let found = rhythm(&symbols, 2, |_| true, sign);
            found.map(|it| (it.places.len(), it.period))
        };
        let log = |step: &str, more: &str| -> String {
            let more = |at: usize| if at % 10 == 9 { more } else { "" };
            (0..40).map(|at| format!("{step}{}", more(at))).collect()
        };
        assert_eq!(signed(&log("LabcdeW", &"LabzW".repeat(5))), Some((40, 7)));
        assert_eq!(signed(&log("abcdeW", &"abzW".repeat(5))), Some((40, 6)));
        // The evaluation has other work alone, and its begin is a regular anchor.
        assert_eq!(signed(&log("abcW", &"zW".repeat(4))), Some((40, 4)));
        assert_eq!(signed(&log("abcW", &"xyzW".repeat(6))), Some((40, 4)));
        // Each seventh step has no optimizer, which is the first after the wait.
        let step = |at: usize| if at % 7 == 3 { "LabcdDWz" } else { "LabcdDWoz" };
        let steps: String = (0..63).map(step).collect();
        assert_eq!(signed(&steps).map(|it| it.0), Some(63));
        // Each second step has more in it, and each sixth as well.
        let more = |at: usize| match (at % 2, at % 6) {
            (0, _) => "abcW",
            (_, 5) => "abtcpW",
            _ => "abtcW",
        };
        let steps: String = (0..30).map(more).collect();
        assert_eq!(signed(&steps), Some((30, 4)));
        // The first four steps fill a queue.
        let filling = format!("{}{}", "Labr".repeat(4), "wLabrW".repeat(30));
        assert_eq!(signed(&filling).map(|it| it.0), Some(34));
        // A step of twelve layers and a tail, in which each layer waits.
        let step = format!("L{}uvwxyzuvwxyz", "abcW".repeat(12));
        assert_eq!(signed(&step.repeat(10)), Some((10, 61)));
        let step = format!("{}uvwxyzuvwxyz", "abcW".repeat(12));
        assert_eq!(signed(&step.repeat(10)), Some((10, 60)));
    }

    #[test]
    fn micro_batches_are_parts_of_a_step() {
        // L brings data, W waits, C copies within the device or to the host.
        let found = |text: &str| {
            let symbols: Vec<u32> = text.bytes().map(u32::from).collect();
            let sign = |it: u32| match char::from(it as u8) {
                'L' => Sign::Load,
                'W' => Sign::Wait,
                'C' => Sign::Copy,
                _ => Sign::None,
            };
            rhythm(&symbols, 2, |_| true, sign).map(|it| (it.places.len(), it.period))
        };
        let after_each = |count: usize, more: &str| -> String {
            let more = |at: usize| if at % count + 1 == count { more } else { "" };
            (0..48).map(|at| format!("Labc{}", more(at))).collect()
        };
        // Four micro-batches and an optimizer.
        assert_eq!(found(&after_each(4, "oooooW")), Some((12, 22)));
        assert_eq!(found(&after_each(6, "opqrst")), Some((8, 30)));
        // The thread waits for three streams at the end of a step.
        assert_eq!(found(&after_each(4, "oooWWW")), Some((12, 22)));
        // An evaluation with three rounds.
        assert_eq!(found(&after_each(4, "oWoWoW")), Some((48, 4)));
        // A checkpoint after each fourth step, and an evaluation with its data.
        assert_eq!(found(&after_each(4, "CCCCCW")), Some((48, 4)));
        assert_eq!(found(&after_each(4, "LezLezW")), Some((48, 4)));
        // Other work after 4, 5, 6, 4, 5 and 6 steps.
        let rounds = [4, 5, 6, 4, 5, 6];
        let rounds = rounds.map(|it| format!("{}opqrs", "Labc".repeat(it)));
        assert_eq!(found(&rounds.concat()), Some((30, 4)));
    }

    #[test]
    fn work_may_be_within_what_repeats() {
        // L brings data, W waits, D copies to the host, G is a graph.
        let signed = |text: &str, wanted: fn(char) -> bool| {
            let symbols: Vec<u32> = text.bytes().map(u32::from).collect();
            let sign = |it: u32| match char::from(it as u8) {
                'L' => Sign::Load,
                'W' => Sign::Wait,
                'D' => Sign::Copy,
                _ => Sign::None,
            };
            let is_wanted = |it: u32| wanted(char::from(it as u8));
            let found = rhythm(&symbols, 1, is_wanted, sign);
            found.map(|it| (it.places.len(), it.period))
        };
        // Three epochs of twelve steps: each fourth step is read, and each epoch ends with five batches that begin as steps do.
        let step = |at: usize| match at % 4 {
            3 => "LeabcdhzbbbbbboDW",
            _ => "Leabcdhzbbbbbbo",
        };
        let epoch: String = (0..12).map(step).collect();
        let epoch = format!("{epoch}W{}", "LeabcdhmDW".repeat(5));
        assert_eq!(signed(&epoch.repeat(3), |_| true), Some((36, 15)));
        // Each replay has different data, and the program reads the result of each fifth.
        let replays = format!("{}DW", "LG".repeat(5)).repeat(6);
        assert_eq!(signed(&replays, |it| it == 'G'), Some((30, 2)));
        // Five launches for the same data are one step.
        let replays = format!("L{}DW", "G".repeat(5)).repeat(6);
        assert_eq!(signed(&replays, |it| it == 'G'), Some((6, 8)));
    }

    #[test]
    fn one_symbol_alone_and_chance_are_no_period() {
        assert_eq!(places("aaaaaaaaaaaa"), None);
        assert_eq!(places("abacbcacabccbabcaacb"), None);
        assert_eq!(places(""), None);
    }
}
