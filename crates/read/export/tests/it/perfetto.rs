use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_export::Perfetto;
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{SessionRow, TablesRow};
use ascend_trace_testkit::timeline;
use ascend_trace_testkit::whole::from_rows;

use super::checker::{ImportedSlice, ImportedTrace};
use super::chrome::{self, SliceKey, chrome, is_mark};
use super::memory::export;
use super::protobuf::FieldList;
use super::trace_processor::import;

pub(crate) fn perfetto(trace: &Trace) -> ImportedTrace {
    import(export(&Perfetto, trace).bytes(""))
}

/// Flows by their ends; they have no category.
fn flows(imported: &ImportedTrace) -> BTreeSet<(SliceKey, SliceKey)> {
    let flows = chrome::flows(imported).into_iter();
    flows.map(|(_, from, to)| (from, to)).collect()
}

#[track_caller]
pub(crate) fn check_flows(trace: &Trace, text: &str) {
    assert_eq!(flows(&perfetto(trace)), expected_flows(trace), "{text}");
}

fn expected_flows(trace: &Trace) -> BTreeSet<(SliceKey, SliceKey)> {
    let flows = chrome::expected_flows(trace).into_iter();
    flows.map(|(_, from, to)| (from, to)).collect()
}

/// The content of a slice, in any format.
fn content(imported: &ImportedTrace) -> Vec<String> {
    let slices = imported.slices.iter().filter(|slice| !is_mark(slice));
    let text = |it: &ImportedSlice| {
        // An absent text is null in JSON, and a word in a format without null.
        let args = it.args.to_string().replace("null", "\"NULL\"");
        format!(
            "{} {} {} {}..{} {args}",
            it.process, it.category, it.name, it.begin, it.end
        )
    };
    let mut lines: Vec<_> = slices.map(text).collect();
    lines.sort();
    lines
}

/// The Chrome export and this one say the same.
#[track_caller]
pub(crate) fn check_same(trace: &Trace, imported: &ImportedTrace) {
    let other = chrome(trace);
    assert_eq!(content(imported), content(&other));
    assert_eq!(imported.counters, other.counters);
    let facts = |it: &ImportedTrace| -> BTreeMap<String, String> {
        let facts = it.other.as_object().expect("facts").iter();
        let facts = facts.filter(|(key, _)| *key != "omitted_flows");
        facts
            .map(|(key, value)| (key.clone(), value.to_string()))
            .collect()
    };
    assert_eq!(facts(imported), facts(&other));
}

#[track_caller]
pub(crate) fn check(text: &str) -> ImportedTrace {
    let trace = timeline(text);
    let imported = perfetto(&trace);
    chrome::check_slices(&trace, &imported);
    check_same(&trace, &imported);
    assert_eq!(flows(&imported), expected_flows(&trace), "{text}");
    imported
}

#[test]
fn slices_that_touch_or_have_no_length_nest_as_they_should() {
    check(
        "s1: A[0..10] rec(E)[10] rec(F)[10] B[10..20] rec(G)[20] C[20..21] D[21..21] K[21..22]
         s2: wait(E)[0..10] wait(F)[10..10] wait(G)[10..20] H[20..30]
         t1: outer(1)[40..100] inner(2)[40..90] innermost(3)[50..50] same(4)[90..100] last(5)[100..100]",
    );
}

#[test]
fn an_empty_trace_is_a_valid_file() {
    let imported = perfetto(&Trace::default());
    assert!(imported.slices.is_empty() && imported.flows.is_empty());
}

/// The clocks of the first packet, each with its time.
fn snapshot(start_boottime_ns: i64) -> Vec<(u64, u64)> {
    let session = SessionRow {
        start_ns: 7_000,
        start_realtime_ns: 1_700_000_000_000_000_000,
        start_boottime_ns,
        ..SessionRow::default()
    };
    let trace = from_rows(session, TablesRow::default(), []);
    let files = export(&Perfetto, &trace);
    let file = FieldList::parse(files.bytes(""));
    let snapshot = file.messages(1)[0].message(6).expect("a snapshot");
    let clocks = snapshot.messages(1);
    let clock = |it: &FieldList<'_>| (it.number(1).expect("an id"), it.number(2).expect("a time"));
    clocks.iter().map(clock).collect()
}

#[test]
fn the_first_packet_relates_the_clocks_of_the_host_to_each_other() {
    let (monotonic, realtime) = ((3, 7_000), (1, 1_700_000_000_000_000_000));
    assert_eq!(snapshot(9_500), [monotonic, (6, 9_500), realtime]);
    // Older recorders did not record how long the host was suspended.
    assert_eq!(snapshot(0), [monotonic, (6, 7_000), realtime]);
}

#[test]
fn the_recording_has_its_begin_on_every_clock() {
    let trace = timeline("s1: A[1000..2000] by t1[100..110]");
    let other = perfetto(&trace).other;
    assert_eq!(other["begin_ns"], 100);
    assert_eq!(other["begin_boottime_ns"], 5_000_000_100_i64);
    // Larger than a double can represent exactly.
    assert_eq!(other["begin_realtime_ns"], "1767225600000000100");
}
