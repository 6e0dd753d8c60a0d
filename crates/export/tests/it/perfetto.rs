use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_export::Perfetto;
use ascend_trace_model::Trace;
use ascend_trace_testkit::timeline;

use super::checker::{Imported, Slice};
use super::chrome::{self, Key, chrome, is_mark};
use super::memory::export;
use super::trace_processor::import;

pub(crate) fn perfetto(trace: &Trace) -> Imported {
    import(export(&Perfetto, trace).bytes(""))
}

/// Flows by what they connect; they have no category.
fn flows(imported: &Imported) -> BTreeSet<(Key, Key)> {
    let flows = chrome::flows(imported).into_iter();
    flows.map(|(_, from, to)| (from, to)).collect()
}

#[track_caller]
pub(crate) fn check_flows(trace: &Trace, text: &str) {
    assert_eq!(flows(&perfetto(trace)), expected_flows(trace), "{text}");
}

fn expected_flows(trace: &Trace) -> BTreeSet<(Key, Key)> {
    let flows = chrome::expected_flows(trace).into_iter();
    flows.map(|(_, from, to)| (from, to)).collect()
}

/// What a slice says, whatever the format.
fn content(imported: &Imported) -> Vec<String> {
    let slices = imported.slices.iter().filter(|slice| !is_mark(slice));
    let text = |it: &Slice| {
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
pub(crate) fn check_same(trace: &Trace, imported: &Imported) {
    let other = chrome(trace);
    assert_eq!(content(imported), content(&other));
    assert_eq!(imported.counters, other.counters);
    let facts = |it: &Imported| -> BTreeMap<String, String> {
        let facts = it.other.as_object().expect("facts").iter();
        let facts = facts.filter(|(key, _)| *key != "omitted_flows");
        facts
            .map(|(key, value)| (key.clone(), value.to_string()))
            .collect()
    };
    assert_eq!(facts(imported), facts(&other));
}

#[track_caller]
fn check(text: &str) -> Imported {
    let trace = timeline(text);
    let imported = perfetto(&trace);
    chrome::check_slices(&trace, &imported);
    check_same(&trace, &imported);
    assert_eq!(flows(&imported), expected_flows(&trace), "{text}");
    imported
}

#[test]
fn tasks_calls_and_dependencies_come_back_as_they_were() {
    check(
        "s1: A[1us..10us] rec(E) B[10us..30us] rec(F)
         s2@0: wait(E)[2us..10us] C[12us..20us] wait(F)[20us..30us]
         s3@1 by t2: memcpy(4096)[5us..9us] wait(E)
         t1: sync(s2)[31us..33us] sync(E)[34us..35us] sync()[36us..37us]
         p2.s1: D[1us..2us] rec(E)
         p2.t1: sync(s1)[3us..4us]",
    );
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
fn an_arrow_to_what_began_before_it_was_released_arrives_at_a_mark_at_its_end() {
    let imported = check(
        "s1: A[3us..10us] by t1[0..1us] rec(E)[10us] by t1[2us..3us]
         s2: wait(E)[4us..10us] by t1[3us..4us] B[10us..11us]
         t1: sync(s2)[5us..12us]",
    );
    let marks = imported.slices.iter().filter(|it| is_mark(it));
    let found: Vec<_> = marks.map(|it| (&*it.track, it.begin)).collect();
    assert_eq!(found, [("stream 2 events", 10_000), ("t1", 12_000)]);
}

#[test]
fn untimed_tasks_are_connected_through_their_calls() {
    let imported = check(
        "s1: A[captured] rec(E)[captured] by t1[-9..-8]
         s2: wait(E)[captured] by t1[-5..-4]",
    );
    assert_eq!(imported.other["omitted_flows"], 3);
}

#[test]
fn arguments_have_the_types_and_texts_of_the_call() {
    let imported = check("t1: aclrtMalloc(64)[0..10]=207001 | s1: memcpy(4096)[20..30]");
    let malloc = imported.slices.iter().find(|it| it.name == "aclrtMalloc");
    let args = &malloc.expect("the call").args;
    assert_eq!((&args["size"], &args["ret"]), (&64.into(), &207_001.into()));
    assert_eq!(args["ret_name"], "ACL_ERROR_RT_MEMORY_ALLOCATION");
}

#[test]
fn an_empty_trace_is_a_valid_file() {
    let imported = perfetto(&Trace::default());
    assert!(imported.slices.is_empty() && imported.flows.is_empty());
}
