//! When steps began on the device, also where their first tasks have no times.

use rustc_hash::FxHashMap;

use super::measured::StepPart;
use super::sequence::RequestedOperation;
use super::symbols::Symbols;

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
    pub(super) fn by_shape(&self, symbols: &Symbols) -> Self {
        let mut joined = Self::default();
        for (symbol, (sum, count)) in &self.0 {
            let known = joined.0.entry(symbols.shape(*symbol)).or_default();
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
/// time. `waits`: whether the host waits at an entry.
pub(super) fn begins(
    entries: &[RequestedOperation],
    parts: &[StepPart],
    lengths: &TaskLengths,
    waits: impl Fn(&RequestedOperation) -> bool,
) -> Vec<Option<i64>> {
    // The last entry before with a time.
    let mut before = i64::MIN;
    let begin = |part: &StepPart| {
        let own = &entries[part.from..part.until];
        let found = own.iter().take(MOST).position(|it| it.ran().is_some())?;
        let ran = own[found].ran()?;
        let earlier = own[..found].iter().filter(|it| !waits(it));
        let missing: i64 = earlier.filter_map(|it| lengths.mean(it.symbol)).sum();
        let begin = (ran - missing).max(own[0].begin()).max(before + 1).min(ran);
        before = own
            .iter()
            .rev()
            .find_map(RequestedOperation::ran)
            .unwrap_or(ran);
        Some(begin)
    };
    parts.iter().map(begin).collect()
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
        let found = begins(&entries, &parts, &lengths, |_| false);
        // The third was launched no earlier, and began after the last task of the second.
        assert_eq!(found, [Some(1_000), Some(1_260), Some(1_410), None]);
    }
}
