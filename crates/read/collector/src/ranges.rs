//! Ranges of the hook inside Python: a begin and an end each, of one thread.

use std::collections::{BTreeMap, VecDeque};

use ascend_trace_format::range::{PAUSE_ID, RangeKind};
use ascend_trace_format::record::kinds;
use ascend_trace_recording::rows::{RangeRow, Row};

use super::clock::TickClock;
use super::decode::{RecordOrigin, string};

/// A range that has begun.
#[derive(Clone, Debug)]
struct OpenRange {
    id: u64,
    row: RangeRow,
}

/// Passes of a process that are remembered.
const PASSES: usize = 4096;

/// Ends of pauses that are remembered until their begins are read.
const EARLY: usize = 1024;

/// Ranges that have begun and not ended, of each thread from the outside in.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    open: BTreeMap<(u32, u32), Vec<OpenRange>>,
    /// By process: when its last backward passes ended.
    passes: BTreeMap<u32, VecDeque<i64>>,
    /// Pauses of the recording that last, by process and id: another thread may end one.
    pauses: BTreeMap<(u32, u64), OpenRange>,
    /// Ends of pauses without a begin yet, by process and id.
    early: BTreeMap<(u32, u64), i64>,
    /// How many there were by process, and for how many nanoseconds.
    paused: BTreeMap<u32, (u64, i64)>,
}

impl Ranges {
    /// A range begins. Returns the rows that this ends: a pause with an end that was read before.
    pub(crate) fn begin(
        &mut self,
        record: &kinds::RangeBegin<'_>,
        at: RecordOrigin,
        clock: &TickClock,
    ) -> Option<Row> {
        let begin_ns = clock.ns(record.at);
        let row = RangeRow {
            process: at.process,
            thread: at.thread,
            begin_ns,
            end_ns: begin_ns,
            domain: record.kind.domain(),
            name: string(record.name),
        };
        let begun = OpenRange { id: record.id, row };
        let key = (at.process, record.id);
        if record.kind != RangeKind::Pause {
            let open = self.open.entry((at.process, at.thread)).or_default();
            open.push(begun);
        } else if let Some(end_ns) = self.early.remove(&key) {
            return rows(vec![self.count_pause(begun, end_ns)], end_ns).next();
        } else {
            self.pauses.insert(key, begun);
        }
        None
    }

    /// The range that ends, and those that were left open inside it: an exception has passed them, or their
    /// ends were lost.
    pub(crate) fn end(
        &mut self,
        record: &kinds::RangeEnd,
        at: RecordOrigin,
        clock: &TickClock,
    ) -> impl Iterator<Item = Row> {
        let end_ns = clock.ns(record.at);
        if let Some(begun) = self.pauses.remove(&(at.process, record.id)) {
            return rows(vec![self.count_pause(begun, end_ns)], end_ns);
        }
        if record.id & PAUSE_ID != 0 {
            if self.early.len() < EARLY {
                self.early.insert((at.process, record.id), end_ns);
            }
            return rows(Vec::new(), end_ns);
        }
        let open = self.open.entry((at.process, at.thread)).or_default();
        let place = open.iter().rposition(|begun| begun.id == record.id);
        let mut ended = open.split_off(place.unwrap_or(open.len()));
        if record.is_void && !ended.is_empty() {
            ended.remove(0);
        }
        let is_pass = |it: &OpenRange| is(it, RangeKind::Phase) && it.row.name == "backward";
        if ended.first().is_some_and(is_pass) {
            let passes = self.passes.entry(at.process).or_default();
            passes.truncate(PASSES - 1);
            passes.push_front(end_ns);
        }
        rows(ended, end_ns)
    }

    /// Ends the open ranges of a thread that has ended.
    pub(crate) fn leave(&mut self, at: RecordOrigin, end_ns: i64) -> Vec<Row> {
        let open = self.open.remove(&(at.process, at.thread));
        let passes = self.passes.get(&at.process);
        left(open.unwrap_or_default(), passes, end_ns)
    }

    /// Ends the open ranges at the end of the recording. A pause ends with its process, if that is in
    /// `ended`: the record of its end may be in the channel of any thread, so only now it is certain
    /// that none exists. One that has begun after `stopped_ns` is the end of the recording itself, and is no pause.
    pub(crate) fn close(
        &mut self,
        (end_ns, stopped_ns): (i64, Option<i64>),
        ended: impl Fn(u32) -> Option<i64>,
    ) -> impl Iterator<Item = Row> {
        let open = std::mem::take(&mut self.open);
        let passes = std::mem::take(&mut self.passes);
        let pauses = std::mem::take(&mut self.pauses);
        let is_pause = |it: &OpenRange| stopped_ns.is_none_or(|at| it.row.begin_ns < at);
        let pauses: Vec<Row> = pauses
            .into_values()
            .filter(is_pause)
            .flat_map(|begun| {
                let end_ns = ended(begun.row.process).unwrap_or(end_ns);
                rows(vec![self.count_pause(begun, end_ns)], end_ns)
            })
            .collect();
        open.into_iter()
            .flat_map(move |((process, _), open)| left(open, passes.get(&process), end_ns))
            .chain(pauses)
    }

    fn count_pause(&mut self, begun: OpenRange, end_ns: i64) -> OpenRange {
        let counted = self.paused.entry(begun.row.process).or_default();
        counted.0 += 1;
        counted.1 += end_ns.saturating_sub(begun.row.begin_ns).max(0);
        begun
    }

    /// How often each process paused the recording, and for how many nanoseconds.
    pub(crate) fn pauses(&self) -> impl Iterator<Item = (u32, u64, i64)> + '_ {
        self.paused
            .iter()
            .map(|(process, (count, ns))| (*process, *count, *ns))
    }
}

fn is(begun: &OpenRange, kind: RangeKind) -> bool {
    begun.row.domain == kind.domain()
}

/// Ranges that were left open. Autograd's threads do not know when a backward pass is over: their last range of
/// gradients ends with it.
fn left(open: Vec<OpenRange>, passes: Option<&VecDeque<i64>>, end_ns: i64) -> Vec<Row> {
    let end = |begun: &OpenRange| {
        let latest = passes.into_iter().flatten().copied();
        let later = latest.take_while(|end| *end >= begun.row.begin_ns);
        let over = later.last().filter(|_| is(begun, RangeKind::Backward));
        over.unwrap_or(end_ns)
    };
    let ended = open.into_iter().map(|begun| (end(&begun), begun));
    ended
        .flat_map(|(end_ns, begun)| rows(vec![begun], end_ns))
        .collect()
}

fn rows(ended: Vec<OpenRange>, end_ns: i64) -> impl Iterator<Item = Row> {
    ended.into_iter().map(move |mut begun| {
        begun.row.end_ns = end_ns.max(begun.row.begin_ns);
        Row::Range(begun.row)
    })
}

#[cfg(test)]
mod tests {
    use ascend_trace_format::record::Text;

    use super::*;

    const AT: RecordOrigin = RecordOrigin {
        process: 1,
        thread: 2,
        tid: 3,
    };

    fn begin(ranges: &mut Ranges, id: u64, at: u64, name: &str) {
        begin_kind(ranges, RangeKind::Module, id, at, name);
    }

    fn begin_kind(ranges: &mut Ranges, kind: RangeKind, id: u64, at: u64, name: &str) {
        let record = kinds::RangeBegin {
            kind,
            id,
            at,
            name: Text::new(name.as_bytes()),
        };
        ranges.begin(&record, AT, &TickClock::monotonic());
    }

    fn end(ranges: &mut Ranges, id: u64, at: u64) -> Vec<(String, i64, i64)> {
        let record = kinds::RangeEnd {
            id,
            is_void: false,
            at,
        };
        shown(ranges.end(&record, AT, &TickClock::monotonic()))
    }

    fn shown(rows: impl IntoIterator<Item = Row>) -> Vec<(String, i64, i64)> {
        let row = |row| match row {
            Row::Range(row) => (row.name, row.begin_ns, row.end_ns),
            other => panic!("{other:?}"),
        };
        rows.into_iter().map(row).collect()
    }

    fn range(name: &str, begin: i64, end: i64) -> (String, i64, i64) {
        (name.to_owned(), begin, end)
    }

    #[test]
    fn open_ranges_inside_a_range_end_with_it() {
        let mut ranges = Ranges::default();
        begin(&mut ranges, 1, 10, "model");
        begin(&mut ranges, 2, 20, "layer");
        assert_eq!(end(&mut ranges, 2, 30), [range("layer", 20, 30)]);
        begin(&mut ranges, 3, 40, "raises");
        begin(&mut ranges, 4, 50, "deeper");
        assert_eq!(
            end(&mut ranges, 1, 60),
            [
                range("model", 10, 60),
                range("raises", 40, 60),
                range("deeper", 50, 60)
            ]
        );
        assert!(end(&mut ranges, 3, 70).is_empty(), "it is known no more");
    }

    #[test]
    fn a_void_range_is_left_out() {
        let mut ranges = Ranges::default();
        begin(&mut ranges, 1, 10, "step");
        begin(&mut ranges, 2, 20, "forward");
        let record = kinds::RangeEnd {
            id: 1,
            is_void: true,
            at: 30,
        };
        let left = shown(ranges.end(&record, AT, &TickClock::monotonic()));
        assert_eq!(left, [range("forward", 20, 30)]);
        assert!(shown(ranges.close((90, None), |_| None)).is_empty());
    }

    #[test]
    fn open_ranges_end_with_their_thread_or_the_recording() {
        let mut ranges = Ranges::default();
        begin(&mut ranges, 1, 10, "fetch");
        assert_eq!(shown(ranges.leave(AT, 15)), [range("fetch", 10, 15)]);
        begin(&mut ranges, 2, 20, "step");
        let end = (90, None);
        assert_eq!(shown(ranges.close(end, |_| None)), [range("step", 20, 90)]);
        assert!(shown(ranges.close(end, |_| None)).is_empty());
    }

    #[test]
    fn gradients_of_the_last_pass_end_with_its_phase() {
        let mut ranges = Ranges::default();
        begin_kind(&mut ranges, RangeKind::Phase, 1, 10, "backward");
        let other = RecordOrigin { thread: 5, ..AT };
        let record = kinds::RangeBegin {
            kind: RangeKind::Backward,
            id: 2,
            at: 20,
            name: Text::new(b"layer"),
        };
        ranges.begin(&record, other, &TickClock::monotonic());
        assert_eq!(end(&mut ranges, 1, 40), [range("backward", 10, 40)]);
        // One that computes nothing.
        begin_kind(&mut ranges, RangeKind::Phase, 3, 50, "backward");
        assert_eq!(end(&mut ranges, 3, 60), [range("backward", 50, 60)]);
        let end = (90, None);
        assert_eq!(shown(ranges.close(end, |_| None)), [range("layer", 20, 40)]);
    }

    #[test]
    fn another_thread_ends_a_pause_before_its_begin_is_read() {
        let other = RecordOrigin { thread: 9, ..AT };
        let clock = TickClock::monotonic();
        for early in [false, true] {
            let mut ranges = Ranges::default();
            let begin = kinds::RangeBegin {
                kind: RangeKind::Pause,
                id: PAUSE_ID | 1,
                at: 10,
                name: Text::new(b"recording paused"),
            };
            let end = kinds::RangeEnd {
                id: PAUSE_ID | 1,
                is_void: false,
                at: 30,
            };
            let mut rows: Vec<Row> = Vec::new();
            if early {
                rows.extend(ranges.end(&end, other, &clock));
            }
            rows.extend(ranges.begin(&begin, AT, &clock));
            if !early {
                rows.extend(ranges.end(&end, other, &clock));
            }
            assert_eq!(shown(rows.into_iter()), [range("recording paused", 10, 30)]);
            assert_eq!(ranges.pauses().collect::<Vec<_>>(), [(AT.process, 1, 20)]);
            assert!(shown(ranges.close((90, None), |_| None)).is_empty());
        }
    }

    #[test]
    fn the_end_of_a_recording_is_no_pause() {
        for (begun, count) in [(10, 1), (30, 0), (40, 0)] {
            let mut ranges = Ranges::default();
            begin_kind(
                &mut ranges,
                RangeKind::Pause,
                PAUSE_ID | 1,
                begun,
                "recording paused",
            );
            let closed = shown(ranges.close((90, Some(30)), |_| None));
            assert_eq!(closed.len(), count, "{begun}");
            assert_eq!(ranges.pauses().count(), count, "{begun}");
        }
    }

    #[test]
    fn a_pause_ends_with_its_process_or_the_recording() {
        for (ended, end) in [(None, 90), (Some(50), 50)] {
            let mut ranges = Ranges::default();
            let id = PAUSE_ID | 1;
            begin_kind(&mut ranges, RangeKind::Pause, id, 10, "recording paused");
            assert!(ranges.leave(AT, 20).is_empty(), "its thread may end");
            let closed = shown(ranges.close((90, None), |_| ended));
            assert_eq!(closed, [range("recording paused", 10, end)]);
        }
    }
}
