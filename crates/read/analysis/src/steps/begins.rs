//! When steps began on the device, also where their first tasks have no times.

use rustc_hash::FxHashMap;

use super::measured::StepPart;
use super::sequence::RequestedOperation;
use super::symbols::SymbolKind;

/// Entries of a step without times that are passed over.
const MOST: usize = 4096;

/// How long the tasks of each operation take, as far as they have times.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskLengths(FxHashMap<u32, (i64, i64)>);

impl TaskLengths {
    pub(super) fn note(&mut self, symbol: u32, length: i64) {
        let (sum, count) = self.0.entry(symbol).or_default();
        *sum = sum.saturating_add(length);
        *count += 1;
    }

    /// The same without a difference between streams.
    pub(super) fn by_shape(&self, shape: impl Fn(u32) -> u32) -> Self {
        let mut joined = Self::default();
        for (symbol, (sum, count)) in &self.0 {
            let known = joined.0.entry(shape(*symbol)).or_default();
            *known = (known.0.saturating_add(*sum), known.1 + count);
        }
        joined
    }

    fn mean(&self, symbol: u32) -> Option<i64> {
        let (sum, count) = self.0.get(&symbol)?;
        Some(sum / count)
    }
}

/// When each step began on the device. Where its first task has no time, the tasks before its first one with a time took their usual
/// time. A copy that runs ahead, while the step before still computes, does not begin a step. `kind`: the kind of an entry.
pub(super) fn begins(
    entries: &[RequestedOperation],
    parts: &[StepPart],
    lengths: &TaskLengths,
    kind: impl Fn(&RequestedOperation) -> SymbolKind,
) -> Vec<Option<i64>> {
    let waits = |it: &RequestedOperation| kind(it).waits();
    let computes = |it: &RequestedOperation| kind(it).computes();
    let goes_ahead = copies_run_ahead(entries, parts, computes);
    // The last entry before with a time.
    let mut before = i64::MIN;
    let begin = |part: &StepPart| {
        let mut own = &entries[part.from..part.until];
        if goes_ahead {
            own = &own[copies_before(own, computes)..];
        }
        // A copy after work may be on another stream: it says nothing of the work.
        let first_work = own.iter().position(&computes).unwrap_or(own.len());
        let known = |(at, it): (usize, &RequestedOperation)| {
            it.ran().is_some() && (at < first_work || computes(it))
        };
        let length = |it: &RequestedOperation| lengths.mean(it.symbol);
        let found = own.iter().take(MOST).enumerate().position(known);
        let (ran, missing): (i64, i64) = match found {
            Some(found) => {
                let earlier = own[..found].iter().filter(|it| !waits(it));
                (own[found].ran()?, earlier.filter_map(length).sum())
            }
            // Its work comes before the next work with a time.
            None => {
                let place = part.until - own.len() + first_work;
                let work = entries[place..].iter().take(MOST).filter(|it| computes(it));
                let work: Vec<&RequestedOperation> = work.collect();
                let next = work.iter().position(|it| it.ran().is_some())?;
                let earlier = work[..next].iter();
                (work[next].ran()?, earlier.filter_map(|it| length(it)).sum())
            }
        };
        let begin = (ran - missing).max(own[0].begin()).max(before + 1).min(ran);
        let last = own.iter().rev().find_map(RequestedOperation::ran);
        before = last.unwrap_or(begin).max(begin);
        Some(begin)
    };
    parts.iter().map(begin).collect()
}

/// The number of entries before the first one that computes; 0 if none computes.
fn copies_before(
    own: &[RequestedOperation],
    computes: impl Fn(&RequestedOperation) -> bool,
) -> usize {
    own.iter().take(MOST).position(computes).unwrap_or(0)
}

/// Whether most steps have a copy at their begin that began on the device before the last computing of the step before.
fn copies_run_ahead(
    entries: &[RequestedOperation],
    parts: &[StepPart],
    computes: impl Fn(&RequestedOperation) -> bool,
) -> bool {
    let of = |part: &StepPart| &entries[part.from..part.until];
    let pairs = parts.iter().zip(parts.iter().skip(1));
    let ahead = pairs.filter_map(|(last, next)| {
        let computed = of(last).iter().rev().take(MOST).filter(|it| computes(it));
        let computed = computed.filter_map(RequestedOperation::ran).next()?;
        let copies = &of(next)[..copies_before(of(next), &computes)];
        let copied = copies.iter().find_map(RequestedOperation::ran)?;
        Some(copied < computed)
    });
    let (mut known, mut found) = (0_usize, 0_usize);
    for is_ahead in ahead {
        known += 1;
        found += usize::from(is_ahead);
    }
    found * 2 > known
}

#[cfg(test)]
mod tests {
    use ascend_trace_recording::TimeRange;

    use super::*;

    fn entry(asked: i64, symbol: u32, ran: Option<i64>) -> RequestedOperation {
        RequestedOperation::new(TimeRange::new(asked, asked + 5), symbol, ran)
    }

    #[test]
    fn tasks_without_times_at_the_begin_took_their_usual_time() {
        let mut lengths = TaskLengths::default();
        for (symbol, length) in [(0, 90), (0, 110), (1, 40)] {
            lengths.note(symbol, length);
        }
        let entries = [
            entry(0, 0, Some(1_000)),
            entry(10, 1, None),
            entry(20, 0, None),
            entry(30, 1, None),
            entry(40, 0, Some(1_400)),
            entry(1_390, 0, None),
            entry(1_500, 1, Some(1_510)),
        ];
        let part = |from, until| StepPart { from, until };
        let parts = [part(0, 2), part(2, 5), part(5, 7), part(7, 7)];
        let found = begins(&entries, &parts, &lengths, |_| SymbolKind::Work);
        // The third was launched no earlier, and began after the last task of the second.
        assert_eq!(found, [Some(1_000), Some(1_260), Some(1_410), None]);
    }

    #[test]
    fn a_copy_for_the_next_step_says_nothing_of_work_without_times() {
        let kind = |it: &RequestedOperation| match it.symbol {
            2 => SymbolKind::Load,
            _ => SymbolKind::Work,
        };
        let mut lengths = TaskLengths::default();
        for (symbol, length) in [(0, 300), (1, 200)] {
            lengths.note(symbol, length);
        }
        // The third symbol is a copy on another stream, while the step before still computes.
        let step = |at: i64, has_times: bool| {
            let ran = |after: i64| has_times.then_some(at + after);
            [
                entry(0, 0, ran(0)),
                entry(1, 1, ran(300)),
                entry(2, 2, Some(at - 450)),
            ]
        };
        let entries = [step(1_000, true), step(1_500, false), step(2_000, true)].concat();
        let part = |from| StepPart {
            from,
            until: from + 3,
        };
        let found = begins(&entries, &[0, 3, 6].map(part), &lengths, kind);
        assert_eq!(found, [Some(1_000), Some(1_500), Some(2_000)]);
    }

    #[test]
    fn copies_that_run_ahead_do_not_begin_a_step() {
        let kind = |it: &RequestedOperation| match it.symbol {
            0 => SymbolKind::Load,
            _ => SymbolKind::Work,
        };
        let part = |from, until| StepPart { from, until };
        let parts = [part(0, 3), part(3, 6), part(6, 9)];
        let lengths = TaskLengths::default();
        let found = |copies: [i64; 3]| {
            let steps = copies.into_iter().zip([1_000, 2_000, 3_000]);
            let entries = steps.flat_map(|(copy, at)| {
                [(0, copy), (1, at), (2, at + 500)].map(|(symbol, ran)| entry(0, symbol, Some(ran)))
            });
            let entries: Vec<RequestedOperation> = entries.collect();
            begins(&entries, &parts, &lengths, kind)
        };
        let of_computing = [Some(1_000), Some(2_000), Some(3_000)];
        assert_eq!(found([900, 1_100, 2_100]), of_computing);
        // A copy after the step before begins the next one.
        assert_eq!(
            found([900, 1_900, 2_900]),
            [Some(900), Some(1_900), Some(2_900)]
        );
    }
}
