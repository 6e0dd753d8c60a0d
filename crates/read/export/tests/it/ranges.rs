//! Ranges and marks that the program named.

use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{RangeRow, Row};
use ascend_trace_testkit::Timeline;

use super::checker::ImportedSlice;
use super::chrome::chrome;
use super::perfetto::perfetto;

pub(crate) fn trace(ranges: &[(&str, i64, i64)]) -> Trace {
    let mut timeline = Timeline::of("t1: call(1)[0..100]");
    add(&mut timeline, ranges);
    timeline.trace()
}

/// Adds ranges of the first thread.
pub(crate) fn add(timeline: &mut Timeline, ranges: &[(&str, i64, i64)]) {
    let mut rows = timeline.rows.iter();
    let thread = rows.find_map(|row| match row {
        Row::Thread(thread) => Some((thread.process, thread.thread)),
        _ => None,
    });
    let (process, thread) = thread.expect("a thread");
    let rows = ranges.iter().map(|(name, begin, end)| {
        Row::Range(RangeRow {
            process,
            thread,
            begin_ns: *begin,
            end_ns: *end,
            domain: 0,
            name: (*name).to_owned(),
        })
    });
    let end = timeline.rows.len() - 1;
    timeline.rows.splice(end..end, rows);
}

#[test]
fn ranges_that_overlap_are_whole_slices_and_marks_are_marks() {
    let ranges = [
        ("step", 0, 50),
        ("forward", 10, 60),
        ("mark", 10, 10),
        ("next", 61, 70),
        ("part", 20, 30),
        ("", 80, 90),
    ];
    let trace = trace(&ranges);
    assert_eq!(trace.ranges().len(), ranges.len());
    for imported in [perfetto(&trace), chrome(&trace)] {
        let of_ranges = |it: &&ImportedSlice| it.track.starts_with("t1 ranges");
        let found = imported.slices.iter().filter(of_ranges);
        let mut found: Vec<_> = found
            .map(|it| (it.track.as_str(), it.name.as_str(), it.begin, it.end))
            .collect();
        found.sort();
        // Overlapping ranges have a separate track; nested ones do not.
        let expected = [
            ("t1 ranges", "mark", 10, 10),
            ("t1 ranges", "next", 61, 70),
            ("t1 ranges", "part", 20, 30),
            ("t1 ranges", "step", 0, 50),
            ("t1 ranges", "unnamed", 80, 90),
            ("t1 ranges (2)", "forward", 10, 60),
        ];
        assert_eq!(found, expected);
        let slices = imported.slices.iter().filter(of_ranges);
        assert!(slices.map(|it| &it.category).all(|it| it == "mstx"));
    }
}
