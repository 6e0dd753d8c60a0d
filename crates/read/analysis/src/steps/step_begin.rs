//! At which place of a period a step begins.
//!
//! Where the thread waited longest, or did other things, before it asked for the next. Where no place stands out, so
//! that the first period is whole, or else the last.

use super::repetition::Rhythm;
use super::sequence::RequestedOperation;
use super::symbols::Symbols;

/// A pause stands out when it is this many times as long as all others.
const STANDS_OUT: i64 = 2;

/// Periods that are looked at for pauses.
const LOOKED_AT: usize = 256;

/// How far from an anchor's occurrence a step begins, in entries.
pub(super) fn phase(entries: &[RequestedOperation], symbols: &Symbols, rhythm: &Rhythm) -> usize {
    let period = rhythm.period;
    let starts = usual(entries, rhythm);
    let pauses: Vec<i64> = (0..period)
        .map(|offset| {
            let each = starts.iter().filter_map(|start| {
                let place = start + offset;
                (place > 0).then(|| pause(entries, symbols, place))
            });
            median(each.collect())
        })
        .collect();
    let longest = (0..period).max_by_key(|it| (pauses[*it], std::cmp::Reverse(*it)));
    let longest = longest.unwrap_or(0);
    let others = (0..period).filter(|it| *it != longest);
    let second = others.map(|it| pauses[it]).max().unwrap_or(0);
    match pauses[longest] > second.saturating_mul(STANDS_OUT) && period > 1 {
        true => longest,
        false => {
            let (first, last) = (from_first(entries, rhythm), from_last(entries, rhythm));
            if pauses[first] > pauses[last] {
                first
            } else {
                last
            }
        }
    }
}

/// Where the usual begins.
fn usual(entries: &[RequestedOperation], rhythm: &Rhythm) -> Vec<usize> {
    let model = rhythm.places[rhythm.model] as usize;
    let model: Vec<u32> = entries[model..model + rhythm.period]
        .iter()
        .map(|it| it.symbol)
        .collect();
    let places = rhythm.places.iter().map(|it| *it as usize);
    let same = places.filter(|at| {
        let part = entries.get(*at..*at + rhythm.period);
        part.is_some_and(|part| part.iter().map(|it| it.symbol).eq(model.iter().copied()))
    });
    same.take(LOOKED_AT).collect()
}

/// Time without new work of the thread before an entry: waits count.
fn pause(entries: &[RequestedOperation], symbols: &Symbols, place: usize) -> i64 {
    let entry = &entries[place];
    if symbols.kind(entry.symbol).waits() {
        return 0;
    }
    let before = entries[..place].iter().rev();
    let last = before
        .take(LOOKED_AT)
        .find(|it| !symbols.kind(it.symbol).waits());
    last.map_or(0, |last| (entry.begin() - last.end()).max(0))
}

fn median(mut values: Vec<i64>) -> i64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// The phase with a whole first period: the entries before the first occurrence are followed back as
/// long as they are the usual ones.
fn from_first(entries: &[RequestedOperation], rhythm: &Rhythm) -> usize {
    let (first, period) = (rhythm.places[0] as usize, rhythm.period);
    let model = rhythm.places[rhythm.model] as usize;
    let same = (1..period.min(first + 1))
        .take_while(|back| entries[first - back].symbol == entries[model + period - back].symbol);
    (period - same.count()) % period
}

/// The same of the last period and the entries after the last occurrence.
fn from_last(entries: &[RequestedOperation], rhythm: &Rhythm) -> usize {
    let last = rhythm.places[rhythm.places.len() - 1] as usize;
    let model = rhythm.places[rhythm.model] as usize;
    let same = entries[last..]
        .iter()
        .zip(&entries[model..model + rhythm.period]);
    let same = same.take_while(|(entry, usual)| entry.symbol == usual.symbol);
    same.count() % rhythm.period
}
