//! Checks of memory: growth from step to step, and allocations that failed.

use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::rows::{ProcessEndRow, Row};
use ascend_trace_testkit::Timeline;

/// Steps of 100 µs.
const STEPS: i64 = 24;

/// The findings of these checks in a program with steps. Its process ends, or the recording ends before.
fn found(calls: &str, ends: bool) -> Vec<Finding> {
    let names: Vec<String> = (0..STEPS).map(|it| format!("step {it}")).collect();
    let ranges = (0..STEPS).zip(&names);
    let ranges: Vec<_> = ranges
        .map(|(it, name)| (0, it * 100, it * 100 + 99, name.as_str()))
        .collect();
    let timeline = Timeline::of(calls).with_ranges(&ranges);
    let process = timeline.rows.iter().find_map(|row| match row {
        Row::Process(row) => Some(row.process),
        _ => None,
    });
    let end = ends.then(|| {
        Row::ProcessEnd(ProcessEndRow {
            process: process.expect("a process"),
            end_ns: STEPS * 100_000,
        })
    });
    let trace = timeline.with_rows(end).trace();
    let found = Findings::default().of(&Window::whole(&trace)).into_iter();
    found
        .filter(|it| ["memory-growth", "out-of-memory"].contains(&it.check))
        .collect()
}

/// Calls of the first thread in each step: of the step's number and the begin of the step in microseconds.
fn each_step(calls: impl Fn(i64, i64) -> String) -> String {
    let calls: Vec<String> = (0..STEPS).map(|it| calls(it, it * 100)).collect();
    calls.join("\n")
}

/// Allocates `size` bytes at an address that no other allocation has.
fn allocates(size: i64, address: i64, at: i64) -> String {
    let end = at + 1;
    format!("t1: aclrtMalloc({size},{address})[{at}us..{end}us]")
}

fn frees(address: i64, at: i64) -> String {
    let end = at + 1;
    format!("t1: aclrtFree({address})[{at}us..{end}us]")
}

#[test]
fn an_allocation_that_each_step_keeps_is_growth() {
    let calls = each_step(|step, at| {
        let used = allocates(4096, 5_000, at + 5) + "\n" + &frees(5_000, at + 10);
        allocates(1024, 1_000_000 + step * 4096, at + 20) + "\n" + &used
    });
    let found = self::found(&calls, true);
    let [growth] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        growth.what,
        "aclrtMalloc keeps 1 KiB more of device 0 with each step since step 0, on average: 24 KiB in 24 steps, not given back"
    );
    assert_eq!((growth.count, growth.begin_ns), (24, 20_000));
    // It may still be freed after the recording.
    assert_eq!(self::found(&calls, false), []);
}

#[test]
fn growth_that_begins_late_has_its_first_step() {
    let calls = each_step(|step, at| match step {
        0..9 => allocates(1024, 5_000, at + 5) + "\n" + &frees(5_000, at + 10),
        _ => allocates(1024, 1_000_000 + step * 4096, at + 5),
    });
    let found = self::found(&calls, true);
    assert!(
        found[0]
            .what
            .contains("since step 9, on average: 15 KiB in 15 steps"),
        "{found:?}"
    );
    assert_eq!((found[0].count, found[0].begin_ns), (15, 905_000));
}

#[test]
fn memory_that_is_freed_or_has_a_limit_is_no_growth() {
    let freed_at_the_end = each_step(|step, at| allocates(1024, 4096 * (step + 1), at + 5));
    let frees_all = (0..STEPS).map(|step| frees(4096 * (step + 1), STEPS * 100 + 10 * step));
    let frees_all: Vec<String> = frees_all.collect();
    let freed_at_the_end = freed_at_the_end + "\n" + &frees_all.join("\n");
    let cache = each_step(|step, at| match step {
        0..12 => allocates(1024, 4096 * (step + 1), at + 5),
        _ => String::new(),
    });
    let last_ten = each_step(|step, at| {
        let freed = match step {
            10.. => frees(4096 * (step - 9), at + 10),
            _ => String::new(),
        };
        allocates(1024, 4096 * (step + 1), at + 5) + "\n" + &freed
    });
    for calls in [freed_at_the_end, cache, last_ten] {
        assert_eq!(found(&calls, true), [], "{calls}");
    }
}

#[test]
fn a_failed_allocation_names_the_holders() {
    let calls = "t1: aclrtMalloc(64,1000)[0..10us] aclrtMallocCached(30,2000)[20us..25us]
        t1: aclrtMalloc(500,0)[30us..40us]=207001 aclrtMalloc(500,0)[50us..55us]=207001 aclrtFree(1000)[60us..61us]";
    let found = self::found(calls, true);
    let [failed] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        failed.what,
        "aclrtMalloc found no 500 B of memory of device 0 (ACL_ERROR_RT_MEMORY_ALLOCATION): the process had 94 B in use there, \
         most of it 64 B by aclrtMalloc, 30 B by aclrtMallocCached"
    );
    assert_eq!((failed.count, failed.total_ns), (2, 15_000));
    assert!(failed.advice.contains("stats --memory"), "{failed:?}");
}

#[test]
fn memory_in_many_gaps_is_named() {
    let calls = "t1: aclrtMalloc(64,1000)[0..10us] aclrtMalloc(64,1400)[20us..25us] aclrtMalloc(64,2000)[30us..35us]
        t1: aclrtMalloc(600,0)[40us..45us]=207001";
    let found = self::found(calls, true);
    let gaps = "; free ranges between addresses have 872 B, the largest 536 B";
    assert!(found[0].what.ends_with(gaps), "{found:?}");
}

/// Blocks are reported with texts, which a timeline does not have.
#[test]
fn reserved_memory_that_is_not_used_is_named() {
    let calls = "t1: aclrtMalloc(64,1000)[0..10us] mstxMemRegionsRegister(9,1000,16)[11us..12us] aclrtMalloc(600,0)[40us..45us]=207001";
    let mut timeline = Timeline::of(calls);
    for row in &mut timeline.rows {
        if let Row::Call(call) = row
            && call.begin_ns == 11_000
        {
            call.strings = vec![Some("[0, 1000, 16]".into())];
        }
    }
    let trace = timeline.trace();
    let found = Findings::default().of(&Window::whole(&trace));
    let found: Vec<_> = found
        .iter()
        .filter(|it| it.check == "out-of-memory")
        .collect();
    let unused = "; its allocators had reserved 48 B of this and not given it out";
    assert!(found[0].what.ends_with(unused), "{found:?}");
}

#[test]
fn an_allocation_that_failed_for_another_reason_is_a_failed_call() {
    assert_eq!(found("t1: aclrtMalloc(64,0)[0..1us]=107000", true), []);
}

#[test]
fn the_call_around_a_failed_call_is_the_same_failure() {
    let calls = "t1: aclrtMalloc(64,0)[0..10us]=207001 aclrtMalloc(64,0)[2us..8us]=207001";
    let found = self::found(calls, true);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].count, found[0].begin_ns), (1, 0));
}
