//! From the occurrences of an anchor to steps.

use rustc_hash::{FxHashMap, FxHashSet};

use super::phase::phase;
use super::plan::Cut;
use super::repeat::Rhythm;
use super::sequence::{Entry, Symbols};

/// Steps before the first whole one that may have been others: they warm up.
const WARMING: usize = 3;

/// A step that warms up has at most this many times the usual number of entries.
const LONGEST: usize = 6;

/// The steps of a sequence in which something repeats.
pub(super) fn cuts(entries: &[Entry], symbols: &Symbols, rhythm: &Rhythm) -> Vec<Cut> {
    let loops = Loop::of(entries, symbols, rhythm);
    let begins = loops.begins(rhythm);
    let Some(last) = begins.last() else {
        return Vec::new();
    };
    let ends = begins.iter().skip(1).map(|it| entries[*it].begin);
    let ends = ends.chain([entries[loops.end(&begins, *last) - 1].end()]);
    let cuts = begins.iter().zip(ends).zip(1..);
    let cuts = cuts.map(|((begin, end), number)| Cut {
        begin: entries[*begin].begin,
        end,
        name: format!("#{number}"),
    });
    // Where another thread plans, the next can begin before the last one was submitted.
    let mut reached = i64::MIN;
    cuts.filter(|cut| {
        let is_next = cut.begin >= reached && cut.begin < cut.end;
        reached = if is_next { cut.end } else { reached };
        is_next
    })
    .collect()
}

/// The usual content of a step, from its begin.
struct Loop<'e> {
    entries: &'e [Entry],
    /// How far from an anchor's occurrence a step begins.
    offset: usize,
    model: Vec<u32>,
}

impl<'e> Loop<'e> {
    fn of(entries: &'e [Entry], symbols: &Symbols, rhythm: &Rhythm) -> Self {
        let offset = phase(entries, symbols, rhythm);
        let model = rhythm.places[rhythm.model] as usize;
        let mut model: Vec<u32> = entries[model..model + rhythm.period]
            .iter()
            .map(|it| it.symbol)
            .collect();
        model.rotate_left(offset);
        Self {
            entries,
            offset,
            model,
        }
    }

    fn period(&self) -> usize {
        self.model.len()
    }

    /// Whether a step begins with an entry.
    fn begins_one(&self, at: usize) -> bool {
        self.entries[at].symbol == self.model[0]
    }

    /// Where steps begin.
    fn begins(&self, rhythm: &Rhythm) -> Vec<usize> {
        let places: Vec<usize> = rhythm.places.iter().map(|it| *it as usize).collect();
        let (first, last) = (places[0], places[places.len() - 1]);
        let mut begins = self.warming(match self.offset {
            0 => first,
            _ => self.inside(first, places[1]),
        });
        begins.extend(places.windows(2).map(|pair| self.inside(pair[0], pair[1])));
        let rest = self.entries.len() - last;
        let near = last..last + rest.min(self.offset * 3 / 2 + 1);
        let near = near.filter(|at| self.begins_one(*at));
        let at = near.min_by_key(|at| (at - last).abs_diff(self.offset));
        // A rest of less than half a step is no step.
        begins.extend(at.filter(|at| (last + rest - at) * 2 >= self.period()));
        begins.dedup();
        begins
    }

    /// Where a step begins between two occurrences of the anchor.
    fn inside(&self, from: usize, until: usize) -> usize {
        if self.offset == 0 {
            return from;
        }
        let away = |at: &usize| {
            let (ahead, behind) = (at - from, until - at);
            let from_begin = ahead.abs_diff(self.offset);
            from_begin.min(behind.abs_diff(self.period() - self.offset))
        };
        let same = (from..until).filter(|at| self.begins_one(*at));
        let at = same.min_by_key(away);
        at.unwrap_or((from + self.offset).min(until))
    }

    /// The begins of steps before this one that have most of the usual content, and possibly more.
    fn warming(&self, mut next: usize) -> Vec<usize> {
        let mut usual: FxHashMap<u32, usize> = FxHashMap::default();
        self.model
            .iter()
            .for_each(|it| *usual.entry(*it).or_default() += 1);
        let mut begins = Vec::new();
        while begins.len() < WARMING {
            let mut missing = usual.clone();
            let mut found = 0;
            let back = next.saturating_sub(self.period() * LONGEST)..next;
            let begin = back.rev().find(|at| {
                let missing = missing.get_mut(&self.entries[*at].symbol);
                if let Some(missing) = missing.filter(|it| **it > 0) {
                    *missing -= 1;
                    found += 1;
                }
                self.begins_one(*at) && found * 10 >= self.period() * 8
            });
            let Some(begin) = begin else { break };
            begins.push(begin);
            next = begin;
        }
        begins.reverse();
        begins
    }

    /// Where the last step ends, behind its last entry.
    fn end(&self, begins: &[usize], last: usize) -> usize {
        let (rest, period) = (&self.entries[last..], self.period());
        let row = rest.iter().map(|it| it.symbol);
        let is_usual = rest.len() >= period && row.take(period).eq(self.model.iter().copied());
        if !is_usual {
            // With what steps usually end with.
            let ending = self.model.last().copied();
            let near = rest.iter().take(period * 3 / 2);
            let near: Vec<_> = near.map(|it| Some(it.symbol)).collect();
            let place = near.iter().rposition(|it| *it == ending);
            return last + place.map_or(near.len(), |place| place + 1);
        }
        // What some steps do in the end belongs to it as well.
        let usual: FxHashSet<u32> = self.model.iter().copied().collect();
        let steps = &self.entries[begins[0]..last];
        let seen: FxHashSet<u32> = steps.iter().map(|it| it.symbol).collect();
        let more = rest[period..].iter().take(period / 2);
        let more = more.take_while(|it| seen.contains(&it.symbol) && !usual.contains(&it.symbol));
        last + period + more.count()
    }
}
