use std::collections::BTreeSet;

use ascend_trace_export::{
    Chrome, Csv, ExportSource, Exporter, OnlyConditions, Perfetto, WantedPart,
};
use ascend_trace_recording::{TimeRange, Trace};
use ascend_trace_testkit::timeline;

use super::checker::{ImportedTrace, import};
use super::csv::rows;
use super::memory::{MemorySink, export_source};
use super::trace_processor;

/// Exports a part of a trace; times count from its begin.
fn export(
    exporter: &dyn Exporter,
    trace: &Trace,
    range: Option<TimeRange>,
    only: &[&str],
) -> MemorySink {
    let mut wanted = WantedPart {
        range,
        ..WantedPart::default()
    };
    for condition in only {
        wanted.only.add(condition).expect("a condition");
    }
    export_source(exporter, &ExportSource::of(trace, &wanted))
}

pub(crate) const EXAMPLE: &str = "
    s1: A[100..200] by t1[10..11] rec(E)[200] by t1[12..13] B[300..400] by t1[20..21]
    s2@1: wait(E)[120..200] by t2[30..31] C[500..600] by t2[40..41]
    t2: aclrtMalloc(64)[50..60] sync(s2)[70..700]
    p2.s1: D[100..200] by t1[10..11]";

/// Names of the slices, tasks in capitals; the same in both formats and in the tables.
#[track_caller]
fn names(range: Option<TimeRange>, only: &[&str]) -> BTreeSet<String> {
    let trace = timeline(EXAMPLE);
    let chrome = import(export(&Chrome, &trace, range, only).text(""));
    let perfetto = trace_processor::import(export(&Perfetto, &trace, range, only).bytes(""));
    let names = |imported: &ImportedTrace| -> Vec<String> {
        let slices = imported.slices.iter();
        let slices = slices.filter(|it| !super::chrome::is_mark(it) && it.category != "stall");
        let mut all: Vec<_> = slices
            .map(|it| match it.args["err_ns"].is_null() {
                true => it.name.to_lowercase(),
                false => it.name.to_uppercase(),
            })
            .collect();
        all.sort();
        all
    };
    let found = names(&chrome);
    assert_eq!(found, names(&perfetto));
    assert_eq!(chrome.flows.len(), perfetto.flows.len());
    let tables = export(&Csv, &trace, range, only);
    let (calls, tasks) = (rows(&tables, "calls.csv"), rows(&tables, "tasks.csv"));
    assert_eq!(found.len(), calls.len() + tasks.len(), "{only:?} {found:?}");
    let left_out = chrome.other["left_out_calls"].as_u64().expect("a count");
    assert_eq!(left_out as usize, trace.calls().len() - calls.len());
    found.into_iter().collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn a_range_keeps_overlapping_rows_and_the_launches_of_its_tasks() {
    let inside = names(Some(TimeRange::new(250, 450)), &[]);
    assert_eq!(inside, set(&["B", "b", "aclrtsynchronizestream"]));
}

#[test]
fn conditions_choose_tasks_with_the_calls_that_submitted_them() {
    assert_eq!(names(None, &["name=b"]), set(&["B", "b"]));
    assert_eq!(
        names(None, &["kind=wait,record"]),
        set(&[
            "ACLRTRECORDEVENT",
            "ACLRTSTREAMWAITEVENT",
            "aclrtrecordevent",
            "aclrtstreamwaitevent"
        ])
    );
    assert_eq!(names(None, &["call=c"]), set(&["C", "c"]));
    assert_eq!(names(None, &["call=aclrtMal*"]), set(&["aclrtmalloc"]));
    assert_eq!(names(None, &["pid=2000"]), set(&["D", "d"]));
}

#[test]
fn several_conditions_must_all_hold() {
    assert_eq!(
        names(None, &["stream=1", "kind=kernel", "pid=1000"]),
        set(&["A", "a", "B", "b"])
    );
    assert_eq!(
        names(
            Some(TimeRange::new(0, 250)),
            &["stream=1", "kind=kernel", "pid=1000"]
        ),
        set(&["A", "a"])
    );
    assert_eq!(
        names(None, &["device=1", "call=*sync*"]),
        set(&["aclrtsynchronizestream"])
    );
    assert_eq!(names(None, &["stream=9"]), set(&[]));
}

#[test]
fn lanes_of_which_nothing_is_wanted_are_not_there() {
    let trace = timeline(EXAMPLE);
    let text = export(&Chrome, &trace, None, &["stream=2"]);
    assert!(text.text("").contains("stream 2"));
    assert!(!text.text("").contains("stream 1"), "{}", text.text(""));
}

#[test]
fn only_dependencies_between_selected_tasks_are_kept() {
    let trace = timeline(EXAMPLE);
    let files = export(&Csv, &trace, None, &["stream=2"]);
    let dependencies = rows(&files, "dependencies.csv");
    let ends: BTreeSet<_> = dependencies
        .iter()
        .map(|it| it["from_name"].as_str())
        .collect();
    assert!(
        !ends.contains("aclrtRecordEvent") && ends.contains("C"),
        "{ends:?}"
    );
}

#[test]
fn conditions_that_mean_nothing_are_errors() {
    for condition in ["stream", "lane=1", "stream=x", "kind=kernels", "device=-1"] {
        assert!(
            OnlyConditions::default().add(condition).is_err(),
            "{condition}"
        );
    }
}
