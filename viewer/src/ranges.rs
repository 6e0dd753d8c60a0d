//! Ranges that the program named, on lines of their own below the thread that began them.

use std::collections::BTreeMap;

use ascend_trace_model::{Range, ThreadId, Trace};

/// Deeper ranges share the last line.
const DEEPEST: u8 = 3;

/// The ranges of every line by begin time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    lines: BTreeMap<(ThreadId, u8), Vec<u32>>,
    /// Of how many ranges it was made, and in which span of time.
    made_of: (usize, Option<(i64, i64)>),
}

impl Ranges {
    /// Brings the lines up to date; cheap when nothing has changed.
    pub(crate) fn update(&mut self, trace: &Trace) {
        let ranges = trace.ranges();
        let made_of = (ranges.len(), trace.span());
        if self.made_of == made_of || (ranges.is_empty() && self.lines.is_empty()) {
            return;
        }
        let mut order: Vec<u32> = (0..ranges.len() as u32).collect();
        let key = |index: &u32| {
            let range = &ranges[*index as usize];
            (range.begin, std::cmp::Reverse(range.end))
        };
        order.sort_by_key(key);
        self.lines.clear();
        self.made_of = made_of;
        for index in order {
            let range = &ranges[index as usize];
            let line = (0..DEEPEST).find(|line| self.has_room(trace, range, *line));
            let line = (range.thread, line.unwrap_or(DEEPEST));
            self.lines.entry(line).or_default().push(index);
        }
    }

    /// Whether a line ends before a range begins, or was never begun.
    fn has_room(&self, trace: &Trace, range: &Range, line: u8) -> bool {
        let line = self.lines.get(&(range.thread, line));
        let last = line.and_then(|line| line.last());
        last.is_none_or(|last| trace.ranges()[*last as usize].end <= range.begin)
    }

    /// The lines of a thread from the outside in.
    pub(crate) fn of_thread(&self, thread: ThreadId) -> impl Iterator<Item = u8> {
        let lines = self.lines.range((thread, 0)..=(thread, u8::MAX));
        lines.map(|((_, line), _)| *line)
    }

    /// The ranges of a line that have a part in `[begin, end]`, by begin time.
    pub(crate) fn in_window<'t>(
        &'t self,
        trace: &'t Trace,
        (thread, line): (ThreadId, u8),
        (begin, end): (i64, i64),
    ) -> impl Iterator<Item = &'t Range> {
        let line = self
            .lines
            .get(&(thread, line))
            .map_or(&[][..], Vec::as_slice);
        let range = |index: &u32| &trace.ranges()[*index as usize];
        // Ranges of one line do not overlap, except on the last one.
        let first = line.partition_point(|index| range(index).end < begin);
        let last = line.partition_point(|index| range(index).begin <= end);
        line.get(first..last)
            .unwrap_or_default()
            .iter()
            .map(range)
            .filter(move |range| range.end >= begin)
    }
}
