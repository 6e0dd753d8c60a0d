//! Calls that the filters left out, as counters of their processes.

use std::collections::BTreeMap;

use ascend_trace_format::record::Counter;
use ascend_trace_recording::rows::CounterRow;

/// A counter that changes all the time is written once in this time.
const INTERVAL_NS: i64 = 1_000_000_000;

#[derive(Default)]
struct ProcessCount {
    calls: u64,
    written: u64,
    written_ns: i64,
}

#[derive(Default)]
pub(crate) struct FilteredCalls {
    processes: BTreeMap<u32, ProcessCount>,
}

impl FilteredCalls {
    /// Adds calls of a process. Returns the row of its counter once in the interval.
    pub(crate) fn add(&mut self, process: u32, calls: u64, now_ns: i64) -> Option<CounterRow> {
        if calls == 0 {
            return None;
        }
        let count = self.processes.entry(process).or_default();
        count.calls = count.calls.saturating_add(calls);
        if now_ns.saturating_sub(count.written_ns) < INTERVAL_NS {
            return None;
        }
        count.written_ns = now_ns;
        count.take_unwritten(process)
    }

    /// The counters that are not written yet.
    pub(crate) fn close(&mut self) -> Vec<CounterRow> {
        let all = self.processes.iter_mut();
        all.filter_map(|(process, count)| count.take_unwritten(*process))
            .collect()
    }
}

impl ProcessCount {
    fn take_unwritten(&mut self, process: u32) -> Option<CounterRow> {
        let is_new = self.written != self.calls;
        self.written = self.calls;
        is_new.then_some(CounterRow {
            process,
            what: Counter::FilteredCalls as u16,
            value: self.calls,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_written_once_a_second_and_at_the_end() {
        let mut filtered = FilteredCalls::default();
        let second = INTERVAL_NS;
        let value = |row: Option<CounterRow>| row.map(|it| it.value);
        assert_eq!(value(filtered.add(0, 0, second)), None);
        assert_eq!(value(filtered.add(0, 5, second)), Some(5));
        assert_eq!(value(filtered.add(0, 2, second + 1)), None);
        assert_eq!(value(filtered.add(1, 3, second + 1)), Some(3));
        assert_eq!(value(filtered.add(0, 1, 2 * second)), Some(8));
        assert_eq!(value(filtered.add(0, 4, 2 * second + 1)), None);
        let rows: Vec<_> = filtered
            .close()
            .iter()
            .map(|it| (it.process, it.value))
            .collect();
        assert_eq!(rows, [(0, 12)]);
        assert!(filtered.close().is_empty());
    }
}
