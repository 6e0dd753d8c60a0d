//! Analyses take a recording in windows: their answers do not depend on where it was cut.

use ascend_trace_analysis::stats::{Grouping, StallGroup, Tables};
use ascend_trace_analysis::{Fold, Stall, Stats, Step};
use ascend_trace_model::file::Writer;
use ascend_trace_model::rows::{Row, TablesRow};
use ascend_trace_model::{Archive, Trace};

use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::workload::{self, Workload};

use super::random::{Dice, program};

/// Enough for several windows.
const STEPS: u32 = 4_000;

/// What every analysis that is a fold says of a recording.
#[derive(Clone, Debug, PartialEq)]
struct Answers {
    stats: Stats,
    part: Stats,
    groups: Vec<StallGroup>,
}

fn answer<F: Fold>(fold: F, archive: &mut Archive, step: Step) -> F::Answer {
    let answer = fold.of_archive(archive, step, |_| true);
    answer.expect("it reads back").expect("nobody gave up")
}

fn answers(archive: &mut Archive, step: Step) -> Answers {
    let span = archive.span();
    let part = span.map(|(begin, end)| {
        let third = (end - begin) / 3;
        (begin + third, end - third)
    });
    let grouping = Grouping::of_those(|_: &Trace, _: &Stall| true);
    Answers {
        stats: answer(Tables::within(span), archive, step),
        part: answer(Tables::within(part), archive, step),
        groups: answer(grouping, archive, step).rows(),
    }
}

/// Cuts a recording in five ways.
#[track_caller]
fn check(file: &[u8], what: &str) {
    let mut archive = Archive::from_bytes(file.to_vec()).expect("it reads back");
    let whole = answers(&mut archive, Step::WHOLE);
    for (rows, margin) in [(1, 40), (30, 60), (70, 40), (100, 100), (150, 30)] {
        let found = answers(&mut archive, Step { rows, margin });
        assert_eq!(found.stats, whole.stats, "{rows} {margin}\n{what}");
        assert_eq!(found, whole, "{rows} {margin}\n{what}");
    }
}

/// A recording with waits, syncs that block, gaps, and its bytes.
pub(super) fn training() -> (Vec<u8>, Trace) {
    let (session, tables) = workload::leading();
    let tables = with_roles(tables);
    let mut writer = Writer::create(Vec::new(), &session, &tables).expect("it is in memory");
    let workload = Workload {
        steps: STEPS,
        rest_ns: 30_000,
        ..Workload::default()
    };
    let mut rows = 0;
    let mut end = None;
    let mut all = Vec::new();
    workload::run(workload, |row| {
        rows += 1;
        if rows % 3_000 == 0 {
            writer.flush().expect("it is in memory");
        }
        all.push(row.clone());
        match row {
            Row::End(row) => end = Some(row),
            row => writer.push(row).expect("it is in memory"),
        }
    });
    let bytes = writer
        .finish(end.expect("it is in memory"))
        .expect("it is in memory");
    let whole = Trace::from_rows(session, tables, all);
    (bytes, whole)
}

/// The workload's functions as the tables of a recording describe them.
fn with_roles(mut tables: TablesRow) -> TablesRow {
    for function in &mut tables.functions {
        let (role, blocks) = match function.name.as_str() {
            "aclrtRecordEvent" => ("record-event", "no"),
            "aclrtStreamWaitEvent" => ("wait-event", "no"),
            "aclrtSynchronizeStream" => ("sync-stream", "stream"),
            _ => continue,
        };
        function.role = role.to_owned();
        function.blocks = blocks.to_owned();
    }
    tables
}

/// Random programs of so many operations, each in a file of its own.
fn check_random(seeds: std::ops::Range<u64>, operations: usize) {
    for seed in seeds {
        let text = program(&mut Dice(seed), operations);
        let timeline = Timeline::parse(&text).expect("a timeline");
        let file = indexed(20, &timeline.session, &timeline.tables, timeline.rows);
        check(&file, &text);
    }
}

#[test]
fn answers_do_not_depend_on_where_a_recording_is_cut() {
    check_random(0..60, 120);
    check_random(60..64, 800);
}

/// The same of ten thousand.
#[test]
#[ignore = "takes minutes"]
fn answers_do_not_depend_on_where_any_recording_is_cut() {
    check_random(0..10_000, 120);
}

#[test]
fn a_training_loop_has_the_same_tables_in_windows_as_at_once() {
    let (bytes, trace) = training();
    assert!(trace.calls().len() > 150_000);
    let mut archive = Archive::from_bytes(bytes).expect("it reads back");
    let whole = answers(&mut archive, Step::WHOLE);
    assert!(whole.stats.stall_causes.len() > 3);
    assert!(whole.part.operations.len() > 1);
    assert_eq!(answers(&mut archive, Step::default()), whole);
}

#[test]
fn an_analysis_can_be_given_up() {
    let mut archive = Archive::from_bytes(training().0).expect("it reads back");
    let (span, mut windows) = (archive.span(), 0);
    let answer = Stats::of_archive(&mut archive, span, |_| {
        windows += 1;
        windows < 2
    });
    assert_eq!(answer.expect("it reads back"), None);
    assert_eq!(windows, 2);
}
