//! Ranges that the program named, on lines of their own below the thread that began them.

use std::collections::BTreeMap;

use ascend_trace_model::{Range, ThreadId, Trace};

/// Position of a range in [`Trace::ranges`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RangeId(pub(crate) u32);

impl RangeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// Nothing lasts nothing: a range that is gone is an empty one.
    pub(crate) fn span(self, trace: &Trace) -> (i64, i64) {
        let range = trace.ranges().get(self.index());
        range.map_or((0, 0), |range| (range.begin, range.end))
    }

    pub(crate) fn thread(self, trace: &Trace) -> ThreadId {
        let range = trace.ranges().get(self.index());
        range.map_or(ThreadId(0), |range| range.thread)
    }
}

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

    fn line(&self, line: (ThreadId, u8)) -> &[u32] {
        self.lines.get(&line).map_or(&[], Vec::as_slice)
    }

    /// The ranges of a line that have a part in `[begin, end]`, by begin time.
    pub(crate) fn in_window<'t>(
        &'t self,
        trace: &'t Trace,
        line: (ThreadId, u8),
        (begin, end): (i64, i64),
    ) -> impl Iterator<Item = (RangeId, &'t Range)> {
        let line = self.line(line);
        let range = |index: &u32| &trace.ranges()[*index as usize];
        // Ranges of one line do not overlap, except on the last one.
        let first = line.partition_point(|index| range(index).end < begin);
        let last = line.partition_point(|index| range(index).begin <= end);
        line.get(first..last)
            .unwrap_or_default()
            .iter()
            .map(move |index| (RangeId(*index), range(index)))
            .filter(move |(_, range)| range.end >= begin)
    }

    /// The range of a line before or after another one.
    pub(crate) fn beside(
        &self,
        trace: &Trace,
        line: (ThreadId, u8),
        from: RangeId,
        forward: bool,
    ) -> Option<RangeId> {
        let line = self.line(line);
        let begin = from.span(trace).0;
        let near = line.partition_point(|index| RangeId(*index).span(trace).0 < begin);
        let place = near + line[near..].iter().position(|index| *index == from.0)?;
        let next = match forward {
            true => place + 1,
            false => place.checked_sub(1)?,
        };
        line.get(next).copied().map(RangeId)
    }

    /// The range of a line at a moment, else the one nearest to it.
    pub(crate) fn nearest(
        &self,
        trace: &Trace,
        line: (ThreadId, u8),
        time: i64,
    ) -> Option<RangeId> {
        let line = self.line(line);
        let after = line.partition_point(|index| RangeId(*index).span(trace).0 <= time);
        let near = line.get(after.saturating_sub(1)..(after + 1).min(line.len()))?;
        let distance = |id: &RangeId| {
            let (begin, end) = id.span(trace);
            (begin - time).max(time - end).max(0)
        };
        near.iter().copied().map(RangeId).min_by_key(distance)
    }
}
