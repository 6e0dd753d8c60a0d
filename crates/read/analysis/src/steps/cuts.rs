//! From the occurrences of an anchor to steps.

use rustc_hash::{FxHashMap, FxHashSet};

use super::measured::StepPart;
use super::repetition::{PART, Rhythm};
use super::sequence::RequestedOperation;
use super::step_begin::phase;
use super::symbols::{SymbolKind, Symbols};

/// Steps before the first whole one that may have been others: they warm up.
const WARMING: usize = 3;

/// A step that warms up has at most this many times the usual number of entries.
const LONGEST: usize = 6;

/// The steps of a sequence in which something repeats.
pub(super) fn parts(
    entries: &[RequestedOperation],
    symbols: &Symbols,
    rhythm: &Rhythm,
) -> Vec<StepPart> {
    let loops = Loop::of(entries, symbols, rhythm);
    let begins = loops.begins(symbols, rhythm);
    let Some(last) = begins.last() else {
        return Vec::new();
    };
    let ends = begins.windows(2).map(|pair| loops.end_before(pair));
    let ends = ends.chain([loops.end(&begins, *last)]);
    let parts = begins.iter().zip(ends);
    let parts = parts.map(|(from, until)| StepPart { from: *from, until });
    parts.filter(|it| it.from < it.until).collect()
}

/// The usual content of a step, from its begin.
struct Loop<'e> {
    entries: &'e [RequestedOperation],
    /// How far from an anchor's occurrence a step begins.
    offset: usize,
    model: Vec<u32>,
}

impl<'e> Loop<'e> {
    fn of(entries: &'e [RequestedOperation], symbols: &Symbols, rhythm: &Rhythm) -> Self {
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
    fn begins(&self, symbols: &Symbols, rhythm: &Rhythm) -> Vec<usize> {
        let places: Vec<usize> = rhythm.places.iter().map(|it| *it as usize).collect();
        let (first, last) = (places[0], places[places.len() - 1]);
        let first_begin = match self.offset {
            0 => first,
            _ => self.inside(first, places[1]),
        };
        // If steps are launches of a graph, each step has a launch.
        let is_graph = |at: usize| symbols.kind(self.entries[at].symbol) == SymbolKind::Graph;
        let launches = is_graph(first);
        let first_step = match launches && self.offset > 0 {
            true => self.before(first),
            false => first_begin,
        };
        let mut begins = self.warming(first_step);
        if launches {
            let ends = begins.iter().skip(1).chain([&first_step]).copied();
            let steps = begins.iter().copied().zip(ends);
            let steps = steps.filter(|(from, until)| (*from..*until).any(is_graph));
            begins = steps.map(|it| it.0).collect();
        }
        if launches && self.offset > 0 {
            begins.push(first_step);
        }
        begins.extend(places.windows(2).map(|pair| self.inside(pair[0], pair[1])));
        let rest = self.entries.len() - last;
        let near = last..last + rest.min(self.offset * 3 / 2 + 1);
        let near = near.filter(|at| self.begins_one(*at));
        let at = near.min_by_key(|at| (at - last).abs_diff(self.offset));
        let is_step = |at: &usize| match launches {
            true => (*at..last + rest).any(is_graph),
            // Other work may follow the last step, such as an evaluation.
            false => self.has_most_of_one(*at) && !self.is_other_work(*at, &begins),
        };
        let at = at.filter(is_step);
        begins.extend(at);
        begins.dedup();
        if !launches {
            self.add_unloaded(symbols, &mut begins);
            let first = begins.first().and_then(|it| self.truncated(*it));
            begins.splice(0..0, first);
        }
        begins
    }

    /// The begin of a step before the first one that lacks its first entries: a step begins after a pause, and the loop of the
    /// program may begin elsewhere.
    fn truncated(&self, first: usize) -> Option<usize> {
        let before = self.entries[..first].iter().rev();
        let same = before.zip(self.model.iter().rev());
        let same = same.take_while(|(entry, usual)| entry.symbol == **usual);
        let count = same.count();
        let missing = self.period() - count;
        (missing > 0 && missing * PART <= self.period()).then_some(first - count)
    }

    /// Whether the entries after the last step are more like the work that followed an earlier one than like a step.
    fn is_other_work(&self, at: usize, begins: &[usize]) -> bool {
        let rest = || self.entries[at..].iter().map(|it| it.symbol);
        let alike = |other: &mut dyn Iterator<Item = u32>| {
            rest().zip(other).take_while(|it| it.0 == it.1).count()
        };
        let of_step = alike(&mut self.model.iter().copied());
        let others = begins
            .windows(2)
            .map(|pair| (self.end_before(pair), pair[1]));
        let others = others.filter(|(from, until)| from < until);
        let of_others = others.map(|(from, until)| {
            let other = self.entries[from..until].iter();
            alike(&mut other.map(|it| it.symbol))
        });
        of_step < self.period() && of_others.max().is_some_and(|it| it > of_step)
    }

    /// Adds the last steps of a loop that loads its data ahead: they have all of the usual content but the loads.
    fn add_unloaded(&self, symbols: &Symbols, begins: &mut Vec<usize>) {
        let loads = |symbol: u32| symbols.kind(symbol).loads();
        let work: Vec<u32> = self
            .model
            .iter()
            .copied()
            .filter(|it| !loads(*it))
            .collect();
        let has_loads = work.len() < self.period();
        if !has_loads || work.len() * 2 <= self.period() {
            return;
        }
        let usual: FxHashSet<u32> = work.iter().copied().collect();
        let mut last = begins.last().copied();
        for _ in 0..WARMING {
            let next = last.and_then(|it| self.end_of_work(it, &work, &usual));
            last = next.filter(|it| self.end_of_work(*it, &work, &usual).is_some());
            begins.extend(last);
        }
    }

    /// The place of the next usual entry after the one that this work ends with. `None` if the work does not follow in its order.
    fn end_of_work(&self, from: usize, work: &[u32], usual: &FxHashSet<u32>) -> Option<usize> {
        let rest = self.entries.get(from..)?.iter().zip(from..);
        let rest = rest.take(self.period() * 3 / 2 + 1);
        let own = rest.filter(|it| usual.contains(&it.0.symbol));
        let own: Vec<(u32, usize)> = own.map(|it| (it.0.symbol, it.1)).collect();
        let is_whole = own.len() >= work.len();
        let same = own.iter().zip(work).all(|it| it.0.0 == *it.1);
        let next = own.get(work.len()).map_or(self.entries.len(), |it| it.1);
        (is_whole && same).then_some(next)
    }

    /// Whether most of the usual content follows.
    fn has_most_of_one(&self, from: usize) -> bool {
        let mut missing = self.usual();
        let near = self.entries[from..].iter().take(self.period() * 3 / 2);
        let found = near.filter(|entry| {
            let missing = missing.get_mut(&entry.symbol);
            missing.is_some_and(|it| {
                let is_missing = *it > 0;
                *it = it.saturating_sub(1);
                is_missing
            })
        });
        found.count() * 10 >= self.period() * 8
    }

    /// How often each symbol is in the usual content.
    fn usual(&self) -> FxHashMap<u32, usize> {
        let mut usual: FxHashMap<u32, usize> = FxHashMap::default();
        let model = self.model.iter();
        model.for_each(|it| *usual.entry(*it).or_default() += 1);
        usual
    }

    /// Where the step of the first launch of a graph begins: with the usual entries before it.
    fn before(&self, first: usize) -> usize {
        let ahead = self.period() - self.offset;
        let before = self.entries[..first].iter().rev();
        let usual = self.model[..ahead].iter().rev();
        let same = before.zip(usual);
        first
            - same
                .take_while(|(entry, usual)| entry.symbol == **usual)
                .count()
    }

    /// The end of the step that begins at the first of two places. Other work may follow, as an evaluation does.
    fn end_before(&self, pair: &[usize]) -> usize {
        let (from, until) = (pair[0], pair[1]);
        let usual = from + self.period();
        let is_longer = (until - from) * 2 > self.period() * 3;
        let row = self.entries[from..].iter().map(|it| it.symbol);
        match is_longer && row.take(self.period()).eq(self.model.iter().copied()) {
            true => usual,
            false => until,
        }
    }

    /// Where a step begins between two occurrences of the anchor.
    fn inside(&self, from: usize, until: usize) -> usize {
        if self.offset == 0 {
            return from;
        }
        let is_longer = (until - from) * 2 > self.period() * 3;
        let away = |at: &usize| {
            let (ahead, behind) = (at - from, until - at);
            let from_end = behind.abs_diff(self.period() - self.offset);
            match is_longer {
                // Other work is between the end of one step and the begin of the next.
                true => from_end,
                false => from_end.min(ahead.abs_diff(self.offset)),
            }
        };
        let same = (from..until).filter(|at| self.begins_one(*at));
        let at = same.min_by_key(away);
        at.unwrap_or((from + self.offset).min(until))
    }

    /// The begins of steps before this one that have most of the usual content, and possibly more.
    fn warming(&self, mut next: usize) -> Vec<usize> {
        let usual = self.usual();
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
