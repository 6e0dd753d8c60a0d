//! Reports on programs that were killed while they waited.

use ascend_trace_analysis::hang::{Hangs, Report};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::Ending;
use ascend_trace_recording::rows::{ProcessEndRow, Row};
use ascend_trace_testkit::Timeline;

/// A call that ends then has not returned.
const OPEN_NS: i64 = 20_000_000_000;

/// Two processes that end at these times; the recording ends 2 s after the second one.
fn killed_at(ends: [i64; 2]) -> Report {
    let mut timeline = Timeline::parse(
        "p1.s1: A[?] by t1[0..1us]
         p1.t1: sync(s1)[2us..20s]
         p2.t2: create(s2)[0..1us]",
    )
    .expect("a timeline");
    for row in &mut timeline.rows {
        match row {
            Row::Call(row) if row.end_ns == OPEN_NS => row.ending = Ending::Open,
            Row::End(row) => (row.end_ns, row.exit_status) = (ends[1] + 2_000_000_000, 137),
            _ => {}
        }
    }
    let place = timeline.rows.len() - 1;
    for (process, end_ns) in [1, 2].into_iter().zip(ends) {
        let row = ProcessEndRow { process, end_ns };
        timeline.rows.insert(place, Row::ProcessEnd(row));
    }
    Hangs::default().of(&Window::whole(&timeline.trace()))
}

#[test]
fn a_recording_that_ends_long_after_its_processes_has_their_waits() {
    let both = killed_at([OPEN_NS, OPEN_NS + 1_000_000]);
    assert_eq!(both.threads.len(), 2, "{both:#?}");
    assert!(!both.culprits.is_empty(), "{both:#?}");
    // A process that ended before the other one waits for nothing.
    let early = killed_at([OPEN_NS, OPEN_NS + 5_000_000_000]);
    assert_eq!(early.threads.len(), 1, "{early:#?}");
    assert!(early.culprits.is_empty(), "{early:#?}");
}
