//! Reports on programs that were killed.

use ascend_trace_analysis::checks::Findings;
use ascend_trace_analysis::hang::{Culprit, Hangs, Report, RootKind};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::rows::{EndRow, ProcessEndRow, Row};
use ascend_trace_testkit::Timeline;

/// The open call ends then.
const OPEN_NS: i64 = 20_000_000_000;

/// Two processes that end at these times; the recording ends 2 s after the second one.
fn killed_at(ends: [i64; 2]) -> Report {
    let timeline = Timeline::of(
        "p1.s1: A[?] by t1[0..1us]
         p1.t1: sync(s1)[2us..20s?]
         p2.t2: create(s2)[0..1us]",
    );
    let ends_of_processes = [1, 2].into_iter().zip(ends);
    let rows = ends_of_processes
        .map(|(process, end_ns)| Row::ProcessEnd(ProcessEndRow { process, end_ns }));
    let end = Row::End(EndRow {
        end_ns: ends[1] + 2_000_000_000,
        exit_status: 137,
        reason: String::new(),
    });
    let timeline = timeline.with_rows(rows.chain([end]));
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

/// The findings of a program that ended with this status, by their checks. Process 1 started process 2.
fn found(status: i32, text: &str) -> Vec<(u32, &'static str)> {
    let timeline = Timeline::of(text);
    let of_first = timeline.rows.iter().find_map(|row| match row {
        Row::Process(row) if row.process == 1 => Some(row.pid),
        _ => None,
    });
    let ends = [1, 2].map(|process| {
        let end_ns = 5_000;
        Row::ProcessEnd(ProcessEndRow { process, end_ns })
    });
    let timeline = timeline.with_rows(ends).changed(|row| match row {
        Row::Process(row) if row.process == 2 => {
            row.parent_pid = of_first.expect("the first process");
        }
        Row::End(row) => row.exit_status = status,
        _ => {}
    });
    let found = Findings::default().of(&Window::whole(&timeline.trace()));
    found.iter().map(|it| (it.process, it.check)).collect()
}

#[test]
fn a_killed_program_had_no_time_to_release_anything() {
    let made = "p1.t1: aclrtMalloc(64,1000)[0..1] create(s1)[2..3] | p1.s1: A[10..20] by t1[4..5]";
    let both = [(1, "leak"), (1, "leak")];
    assert_eq!(found(0, made), both);
    for status in [1, 130, 134, 137, 143] {
        assert_eq!(found(status, made), [], "{status}");
        // It was at its end.
        let ending = format!("{made} | p1.t1: aclrtResetDevice(0)[30..31]");
        assert_eq!(found(status, &ending), both, "{status}");
    }
    // Nothing shows how a process ended that another one had started.
    let child = "p1.t1: aclrtMalloc(64,1000)[0..1] aclrtFree(1000)[2..3] | p2.t2: aclrtMalloc(64,1000)[0..1]";
    assert_eq!(found(0, child), []);
    let ending = format!("{child} | p2.t2: aclrtResetDevice(0)[30..31]");
    assert_eq!(found(0, &ending), [(2, "leak")]);
}
