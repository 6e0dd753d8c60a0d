//! Ranges and marks that the program named.

use ascend_trace_export::Perfetto;
use ascend_trace_model::Trace;
use ascend_trace_model::rows::{RangeRow, Row};
use ascend_trace_testkit::Timeline;

use super::memory::export;
use super::trace_processor::import;

fn trace(ranges: &[(&str, i64, i64)]) -> Trace {
    let mut timeline = Timeline::parse("t1: call(1)[0..100]").expect("a timeline");
    let rows = ranges.iter().map(|(name, begin, end)| {
        Row::Range(RangeRow {
            process: 0,
            thread: 0,
            begin_ns: *begin,
            end_ns: *end,
            domain: 0,
            name: (*name).to_owned(),
        })
    });
    let end = timeline.rows.len() - 1;
    timeline.rows.splice(end..end, rows);
    timeline.trace()
}

#[test]
fn ranges_that_overlap_are_whole_slices_and_marks_are_marks() {
    let ranges = [
        ("step", 0, 50),
        ("forward", 10, 60),
        ("mark", 10, 10),
        ("next", 61, 70),
    ];
    let trace = trace(&ranges);
    assert_eq!(trace.ranges().len(), 4);
    let imported = import(export(&Perfetto, &trace).bytes(""));
    let mut found: Vec<_> = imported
        .slices
        .iter()
        .filter(|it| it.track == "ranges")
        .map(|it| (it.name.as_str(), it.begin, it.end))
        .collect();
    let mut expected = ranges.to_vec();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert!(
        imported
            .slices
            .iter()
            .all(|it| it.track != "ranges" || it.category == "mstx")
    );
}
