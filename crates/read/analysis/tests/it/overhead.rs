//! Idleness that the tool itself has made.

use ascend_trace_analysis::stats::{MeanwhileStats, StallStats};
use ascend_trace_analysis::{Dependencies, Stalls};
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{CostRow, Row};
use ascend_trace_testkit::Timeline;

/// A trace with reports that the tool's timing took this number of nanoseconds of the first thread, up
/// to a time.
fn with_costs(text: &str, sums: &[(i64, u64)]) -> Trace {
    let timeline = Timeline::of(text);
    let threads = timeline.rows.iter().filter_map(|row| match row {
        Row::Call(call) => Some(call.thread),
        _ => None,
    });
    let thread = threads.min().expect("a call");
    let costs = sums.iter().map(|(at_ns, timing_ns)| {
        Row::Cost(CostRow {
            thread,
            at_ns: *at_ns,
            timing_ns: *timing_ns,
            ..CostRow::default()
        })
    });
    timeline.with_rows(costs).trace()
}

#[test]
fn the_tools_own_work_is_not_blamed_on_the_program() {
    let text = "s1: A[0..10us] by t1[-3us..-2us] B[100us..110us] by t1[95us..96us]";
    let idle = |sums: &[(i64, u64)]| {
        let trace = with_costs(text, sums);
        let dependencies = Dependencies::of(&trace);
        let stalls = Stalls::with(&trace, &dependencies);
        let found = stalls.worst(1)[0];
        let reported = StallStats::of(&trace, &dependencies, &stalls, found);
        assert_eq!(
            reported.meanwhile.iter().map(|it| it.total_ns).sum::<i64>(),
            found.length()
        );
        let tracer = reported
            .meanwhile
            .iter()
            .find(|it| it.name == MeanwhileStats::TRACER);
        (found.cause.name(), tracer.map_or(0, |it| it.total_ns))
    };
    assert_eq!(idle(&[]), ("host-late", 0));
    // A piece of work that is reported at either end.
    let piece = [(-1_000, 1_000), (12_000, 2_000), (82_000, 72_000)];
    assert_eq!(idle(&piece).0, "tracer-overhead");
    // As much, but before the gap, and after it.
    assert_eq!(idle(&[(-100_000, 0), (0, 70_000)]), ("host-late", 0));
    assert_eq!(idle(&[(100_000, 1_000), (180_000, 71_000)]).0, "host-late");
    // A little of it.
    let some = [(10_000, 0), (30_000, 20_000)];
    assert_eq!(idle(&some), ("host-late", 20_000));
}
