//! Ranges that the program named, on separate lines below the thread that began them.

use std::collections::BTreeMap;

use ascend_trace_recording::{Range, ThreadId, TimeRange, Trace};

/// Position of a range in [`Trace::ranges`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RangeId(pub(crate) u32);

impl RangeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// A range outside the trace is an empty one.
    pub(crate) fn span(self, trace: &Trace) -> TimeRange {
        let range = trace.ranges().get(self.index());
        range.map_or_else(TimeRange::default, |range| range.time())
    }

    pub(crate) fn thread(self, trace: &Trace) -> ThreadId {
        let range = trace.ranges().get(self.index());
        range.map_or(ThreadId(0), |range| range.thread)
    }
}

/// Deeper ranges share the last line.
pub(crate) const DEEPEST: u8 = 3;
/// Ranges of one line that are looked at one by one where they overlap.
const FEW: usize = 64;

/// The ranges of a line by begin time.
#[derive(Clone, Debug, Default)]
struct RangeLine {
    indices: Vec<u32>,
    /// The latest end of all up to the one at the same place.
    ends: Vec<i64>,
}

impl RangeLine {
    fn push(&mut self, index: u32, end: i64) {
        let before = self.ends.last().copied().unwrap_or(i64::MIN);
        self.indices.push(index);
        self.ends.push(before.max(end));
    }
}

/// The ranges of every line.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeLines {
    lines: BTreeMap<(ThreadId, u8), RangeLine>,
    /// Of how many ranges it was made, and in which span of time.
    made_of: (usize, Option<TimeRange>),
}

impl RangeLines {
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
            let line = (0..DEEPEST).find(|line| self.has_room(range, *line));
            let line = (range.thread, line.unwrap_or(DEEPEST));
            self.lines.entry(line).or_default().push(index, range.end);
        }
    }

    /// Whether a line ends before a range begins, or was never begun.
    fn has_room(&self, range: &Range, line: u8) -> bool {
        let line = self.lines.get(&(range.thread, line));
        let last = line.and_then(|line| line.ends.last());
        last.is_none_or(|last| *last <= range.begin)
    }

    /// The lines of a thread from the outside in.
    pub(crate) fn of_thread(&self, thread: ThreadId) -> impl Iterator<Item = u8> {
        let lines = self.lines.range((thread, 0)..=(thread, u8::MAX));
        lines.map(|((_, line), _)| *line)
    }

    fn line(&self, line: (ThreadId, u8)) -> &[u32] {
        self.lines.get(&line).map_or(&[], |line| &line.indices)
    }

    /// The first range of a line, from this place on, that ends at a timestamp or later, and its place.
    pub(crate) fn next<'t>(
        &self,
        trace: &'t Trace,
        line: (ThreadId, u8),
        place: usize,
        from: i64,
    ) -> Option<(usize, RangeId, &'t Range)> {
        let line = self.lines.get(&line)?;
        let range = |index: u32| trace.ranges().get(index as usize);
        let first = line.ends.partition_point(|end| *end < from).max(place);
        let rest = line.indices.get(first..)?;
        // Below a longer range that was passed, the latest end says nothing about the next ones.
        let near = rest.iter().take(FEW);
        let mut near = near.map(|index| range(*index).is_some_and(|range| range.end >= from));
        let place = near.position(|is_seen| is_seen).unwrap_or_else(|| {
            let later = |index: &u32| range(*index).is_some_and(|range| range.begin < from);
            rest.partition_point(later).max(FEW)
        });
        let index = *rest.get(place)?;
        Some((first + place, RangeId(index), range(index)?))
    }

    /// The line that a range is on.
    pub(crate) fn level(&self, trace: &Trace, id: RangeId) -> Option<u8> {
        let thread = id.thread(trace);
        let begin = id.span(trace).begin;
        self.of_thread(thread).find(|level| {
            let line = self.line((thread, *level));
            let near = line.partition_point(|index| RangeId(*index).span(trace).begin < begin);
            let same = line[near..].iter().map(|index| RangeId(*index));
            let mut same = same.take_while(|it| it.span(trace).begin == begin);
            same.any(|it| it == id)
        })
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
        let begin = from.span(trace).begin;
        let near = line.partition_point(|index| RangeId(*index).span(trace).begin < begin);
        let place = near + line[near..].iter().position(|index| *index == from.0)?;
        let next = match forward {
            true => place + 1,
            false => place.checked_sub(1)?,
        };
        line.get(next).copied().map(RangeId)
    }

    /// The range of a line at a timestamp, else the nearest one.
    pub(crate) fn nearest(
        &self,
        trace: &Trace,
        line: (ThreadId, u8),
        time: i64,
    ) -> Option<RangeId> {
        let line = self.line(line);
        let after = line.partition_point(|index| RangeId(*index).span(trace).begin <= time);
        let near = line.get(after.saturating_sub(1)..(after + 1).min(line.len()))?;
        let distance = |id: &RangeId| {
            let TimeRange { begin, end } = id.span(trace);
            (begin - time).max(time - end).max(0)
        };
        near.iter().copied().map(RangeId).min_by_key(distance)
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_recording::rows::{RangeRow, Row};
    use ascend_trace_testkit::Timeline;
    use ascend_trace_testkit::whole::GrowingRecording;
    use proptest::prelude::*;

    use super::*;

    fn trace(ranges: &[(i64, i64)]) -> Trace {
        let timeline = Timeline::of("t1: aclrtMalloc(64)[0..1us]");
        let mut builder = GrowingRecording::new(timeline.session, timeline.tables);
        timeline.rows.into_iter().for_each(|row| builder.apply(row));
        for (begin, length) in ranges {
            builder.apply(Row::Range(RangeRow {
                process: 1,
                thread: 0,
                begin_ns: *begin,
                end_ns: begin + length,
                domain: 0,
                name: "a".to_owned(),
            }));
        }
        builder.finish()
    }

    /// The begin of the first column that nothing is drawn in after a range.
    fn drawn((begin, end): (i64, i64), step: i64) -> i64 {
        (end / step).max(begin / step + 1) * step
    }

    /// Steps from range to range as a line is drawn.
    fn walk(
        ranges: &RangeLines,
        trace: &Trace,
        line: (ThreadId, u8),
        step: i64,
    ) -> Vec<(i64, i64)> {
        let (mut place, mut from) = (0, i64::MIN);
        let mut seen = Vec::new();
        while let Some((found, _, range)) = ranges.next(trace, line, place, from) {
            seen.push((range.begin, range.end));
            assert!(range.end >= from);
            place = found + 1;
            from = from.max(drawn((range.begin, range.end), step));
        }
        seen
    }

    #[test]
    fn many_ranges_cost_no_more_steps_than_there_are_columns() {
        let mut all: Vec<_> = (0..100_000).map(|n| (n * 10, 9)).collect();
        // Deeper ones, which overlap, below one that is as long as all.
        all.extend((0..6).map(|n| (n, 1_000_000 - n)));
        let trace = trace(&all);
        let mut ranges = RangeLines::default();
        ranges.update(&trace);
        for line in 0..=DEEPEST {
            let seen = walk(&ranges, &trace, (trace.ranges()[0].thread, line), 10_000);
            assert!((1..300).contains(&seen.len()), "{line}: {}", seen.len());
        }
    }

    proptest! {
        #[test]
        fn no_range_is_passed_that_ends_after_the_passed_time(
            all in proptest::collection::vec((0..2_000_i64, 0..300_i64), 1..60),
            step in 1..50_i64,
        ) {
            let trace = trace(&all);
            let mut ranges = RangeLines::default();
            ranges.update(&trace);
            for line in 0..=DEEPEST {
                let line = (trace.ranges()[0].thread, line);
                let seen = walk(&ranges, &trace, line, step);
                let mut from = i64::MIN;
                for index in ranges.line(line) {
                    let range = &trace.ranges()[*index as usize];
                    if seen.contains(&(range.begin, range.end)) {
                        from = from.max(drawn((range.begin, range.end), step));
                    } else {
                        prop_assert!(range.end < from, "{range:?} was passed");
                    }
                }
            }
        }
    }
}
