//! Reports on programs that were killed while they waited.

use ascend_trace_analysis::hang::{Culprit, Hangs, Report, RootKind};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::Ending;
use ascend_trace_recording::rows::{EndRow, ProcessEndRow, Row};
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
        if let Row::Call(row) = row
            && row.end_ns == OPEN_NS
        {
            row.ending = Ending::Open;
        }
    }
    timeline.rows.retain(|row| !matches!(row, Row::End(_)));
    for (process, end_ns) in [1, 2].into_iter().zip(ends) {
        let row = ProcessEndRow { process, end_ns };
        timeline.rows.push(Row::ProcessEnd(row));
    }
    timeline.rows.push(Row::End(EndRow {
        end_ns: ends[1] + 2_000_000_000,
        exit_status: 137,
        reason: String::new(),
    }));
    Hangs::default().of(&Window::whole(&timeline.trace()))
}

#[test]
fn a_recording_that_ends_long_after_its_processes_has_their_waits() {
    let is_of_task = |it: &Culprit| it.kind != RootKind::Outside;
    let both = killed_at([OPEN_NS, OPEN_NS + 1_000_000]);
    assert_eq!(both.exit_status, Some(137), "{both:#?}");
    assert_eq!(both.threads.len(), 2, "{both:#?}");
    assert!(both.culprits.iter().any(is_of_task), "{both:#?}");
    // A process that ended before the other one waits for nothing.
    let early = killed_at([OPEN_NS, OPEN_NS + 5_000_000_000]);
    assert_eq!(early.threads.len(), 1, "{early:#?}");
    assert!(!early.culprits.iter().any(is_of_task), "{early:#?}");
}
