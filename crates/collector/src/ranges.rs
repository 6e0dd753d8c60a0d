//! Ranges that the hook inside Python tells: a begin and an end each, of one thread.

use std::collections::{BTreeMap, VecDeque};

use ascend_trace_format::range::RangeKind;
use ascend_trace_format::record::told;
use ascend_trace_recording::rows::{RangeRow, Row};

use super::clock::Clock;
use super::decode::{Origin, string};

/// A range that has begun.
#[derive(Clone, Debug)]
struct Begun {
    id: u64,
    row: RangeRow,
}

/// Passes of a process that are remembered.
const PASSES: usize = 4096;

/// Ranges that have begun and not ended, of each thread from the outside in.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    open: BTreeMap<(u32, u32), Vec<Begun>>,
    /// By process: when its last backward passes ended.
    passes: BTreeMap<u32, VecDeque<i64>>,
}

impl Ranges {
    pub(crate) fn begin(&mut self, told: &told::RangeBegin<'_>, at: Origin, clock: &Clock) {
        let begin_ns = clock.ns(told.at);
        let row = RangeRow {
            process: at.process,
            thread: at.thread,
            begin_ns,
            end_ns: begin_ns,
            domain: told.kind.domain(),
            name: string(told.name),
        };
        let open = self.open.entry((at.process, at.thread)).or_default();
        open.push(Begun { id: told.id, row });
    }

    /// The range that ends, and those that were left open inside it: an exception has passed them, or their
    /// ends were lost.
    pub(crate) fn end(
        &mut self,
        told: &told::RangeEnd,
        at: Origin,
        clock: &Clock,
    ) -> impl Iterator<Item = Row> {
        let open = self.open.entry((at.process, at.thread)).or_default();
        let place = open.iter().rposition(|begun| begun.id == told.id);
        let mut ended = open.split_off(place.unwrap_or(open.len()));
        if told.is_void && !ended.is_empty() {
            ended.remove(0);
        }
        let end_ns = clock.ns(told.at);
        let is_pass = |it: &Begun| is(it, RangeKind::Phase) && it.row.name == "backward";
        if ended.first().is_some_and(is_pass) {
            let passes = self.passes.entry(at.process).or_default();
            passes.truncate(PASSES - 1);
            passes.push_front(end_ns);
        }
        rows(ended, end_ns)
    }

    /// What a thread has left open that is gone.
    pub(crate) fn leave(&mut self, at: Origin, end_ns: i64) -> Vec<Row> {
        let open = self.open.remove(&(at.process, at.thread));
        let passes = self.passes.get(&at.process);
        left(open.unwrap_or_default(), passes, end_ns)
    }

    /// What is open when the recording ends.
    pub(crate) fn close(&mut self, end_ns: i64) -> impl Iterator<Item = Row> {
        let open = std::mem::take(&mut self.open);
        let passes = std::mem::take(&mut self.passes);
        open.into_iter()
            .flat_map(move |((process, _), open)| left(open, passes.get(&process), end_ns))
    }
}

fn is(begun: &Begun, kind: RangeKind) -> bool {
    begun.row.domain == kind.domain()
}

/// Ranges that were left open. Autograd's threads do not know when a backward pass is over: their last range of
/// gradients ends with it.
fn left(open: Vec<Begun>, passes: Option<&VecDeque<i64>>, end_ns: i64) -> Vec<Row> {
    let end = |begun: &Begun| {
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

fn rows(ended: Vec<Begun>, end_ns: i64) -> impl Iterator<Item = Row> {
    ended.into_iter().map(move |mut begun| {
        begun.row.end_ns = end_ns.max(begun.row.begin_ns);
        Row::Range(begun.row)
    })
}

#[cfg(test)]
mod tests {
    use ascend_trace_format::record::Text;

    use super::*;

    const AT: Origin = Origin {
        process: 1,
        thread: 2,
        tid: 3,
    };

    fn begin(ranges: &mut Ranges, id: u64, at: u64, name: &str) {
        begin_kind(ranges, RangeKind::Module, id, at, name);
    }

    fn begin_kind(ranges: &mut Ranges, kind: RangeKind, id: u64, at: u64, name: &str) {
        let told = told::RangeBegin {
            kind,
            id,
            at,
            name: Text::new(name.as_bytes()),
        };
        ranges.begin(&told, AT, &Clock::monotonic());
    }

    fn end(ranges: &mut Ranges, id: u64, at: u64) -> Vec<(String, i64, i64)> {
        let told = told::RangeEnd {
            id,
            is_void: false,
            at,
        };
        shown(ranges.end(&told, AT, &Clock::monotonic()))
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
    fn what_is_left_inside_a_range_ends_with_it() {
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
    fn a_range_that_was_none_is_left_out() {
        let mut ranges = Ranges::default();
        begin(&mut ranges, 1, 10, "step");
        begin(&mut ranges, 2, 20, "forward");
        let told = told::RangeEnd {
            id: 1,
            is_void: true,
            at: 30,
        };
        let left = shown(ranges.end(&told, AT, &Clock::monotonic()));
        assert_eq!(left, [range("forward", 20, 30)]);
        assert!(shown(ranges.close(90)).is_empty());
    }

    #[test]
    fn open_ranges_end_with_their_thread_or_the_recording() {
        let mut ranges = Ranges::default();
        begin(&mut ranges, 1, 10, "fetch");
        assert_eq!(shown(ranges.leave(AT, 15)), [range("fetch", 10, 15)]);
        begin(&mut ranges, 2, 20, "step");
        assert_eq!(shown(ranges.close(90)), [range("step", 20, 90)]);
        assert!(shown(ranges.close(90)).is_empty());
    }

    #[test]
    fn gradients_of_the_last_pass_end_with_its_phase() {
        let mut ranges = Ranges::default();
        begin_kind(&mut ranges, RangeKind::Phase, 1, 10, "backward");
        let other = Origin { thread: 5, ..AT };
        let told = told::RangeBegin {
            kind: RangeKind::Backward,
            id: 2,
            at: 20,
            name: Text::new(b"layer"),
        };
        ranges.begin(&told, other, &Clock::monotonic());
        assert_eq!(end(&mut ranges, 1, 40), [range("backward", 10, 40)]);
        // One that computes nothing.
        begin_kind(&mut ranges, RangeKind::Phase, 3, 50, "backward");
        assert_eq!(end(&mut ranges, 3, 60), [range("backward", 50, 60)]);
        assert_eq!(shown(ranges.close(90)), [range("layer", 20, 40)]);
    }
}
