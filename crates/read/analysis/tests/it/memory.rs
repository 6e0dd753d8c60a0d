//! Memory in use by call site, and at its peak.

use ascend_trace_analysis::memory::{
    Allocations, HeldMemory, MemoryInUse, MemoryPlace, MemoryUsage, MemoryUsageFold, StepRanges,
};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::Trace;
use ascend_trace_testkit::{Timeline, timeline};

fn memory(text: &str) -> MemoryInUse {
    let trace = timeline(text);
    Allocations::default().of(&Window::whole(&trace))
}

#[test]
fn memory_that_is_not_freed_is_in_use() {
    let found = memory(
        "t1: aclrtMalloc(64,1000)[0..10us] aclrtFree(1000)[20us..25us] aclrtMalloc(100,1000)[30us..45us]
         t1: aclrtFree(1000)[60us..61us]=107000 aclrtMallocHost(7,2000)[70us..71us]",
    );
    assert!(found.is_known);
    assert_eq!(found.bytes(), 107);
    let [device, host] = &found.sites[..] else {
        panic!("{found:?}")
    };
    let words = (device.function.as_str(), device.count, device.bytes);
    assert_eq!(words, ("aclrtMalloc", 1, 100));
    assert_eq!((device.allocations, host.allocations), (2, 1));
    // The free at 60 µs failed: the second allocation stays.
    let largest = device.largest.expect("its call");
    assert_eq!((largest.call.begin, largest.bytes), (30_000, 100));
}

#[test]
fn nothing_is_in_use_after_everything_is_freed() {
    let found = memory("t1: aclrtMalloc(64,1000)[0..10us] aclrtFree(1000)[20us..25us]");
    assert_eq!(found.sites, []);
}

#[test]
fn an_allocation_that_failed_and_a_free_of_nothing_count_nothing() {
    let found = memory(
        "t1: aclrtMalloc(64,1000)[0..10us]=207001 aclrtFree(3000)[20us..25us] aclrtMalloc(5,0)[30us..31us]",
    );
    assert_eq!(found.sites, []);
}

fn usage(text: &str) -> MemoryUsage {
    usage_of(&timeline(text))
}

fn usage_of(trace: &Trace) -> MemoryUsage {
    let whole = Window::whole(trace);
    let steps = StepRanges::default().of(&whole);
    MemoryUsageFold::with_steps(steps).of(&whole)
}

fn bytes(held: &[HeldMemory]) -> Vec<(MemoryPlace, u64, u64)> {
    held.iter()
        .map(|it| (it.place, it.bytes, it.count))
        .collect()
}

const DEVICE: MemoryPlace = MemoryPlace::Device(0);

#[test]
fn the_peak_has_its_composition() {
    let found = usage(
        "t1: aclrtMalloc(64,1000)[0..10us] aclrtMallocCached(30,2000)[20us..25us] aclrtFree(1000)[30us..45us]
         t1: aclrtMalloc(20,3000)[50us..51us] aclrtMallocHost(7,9000)[60us..61us]",
    );
    let [device, host] = &found.places[..] else {
        panic!("{found:?}")
    };
    assert_eq!((device.place, host.place), (DEVICE, MemoryPlace::Host));
    assert_eq!((device.peak_bytes, device.peak_at_ns), (94, 25_000));
    assert_eq!((device.end_bytes, device.end_count), (50, 2));
    assert_eq!((device.allocations, device.releases), (3, 1));
    assert_eq!(device.allocated_bytes, 114);
    let host = (MemoryPlace::Host, 7, 1);
    assert_eq!(bytes(&found.peak), [(DEVICE, 64, 1), (DEVICE, 30, 1), host]);
    assert_eq!(
        bytes(&found.in_use),
        [(DEVICE, 30, 1), (DEVICE, 20, 1), host]
    );
    assert_eq!(found.steps, []);
}

#[test]
fn a_failed_allocation_has_the_largest_holders() {
    let found = usage(
        "t1: aclrtMalloc(64,1000)[0..10us] aclrtMallocCached(30,2000)[20us..25us] aclrtMalloc(500,0)[30us..40us]=207001
         t1: aclrtFree(1000)[50us..51us]",
    );
    let [refused] = &found.refused[..] else {
        panic!("{found:?}")
    };
    assert_eq!((refused.size, refused.in_use_bytes), (Some(500), 94));
    assert_eq!(bytes(&refused.holders), [(DEVICE, 64, 1), (DEVICE, 30, 1)]);
    let gap = 2000 - 1064;
    assert_eq!((refused.gaps_bytes, refused.largest_gap_bytes), (gap, gap));
    assert_eq!((&refused.step, refused.step_bytes), (&None, None));
    assert_eq!(found.places[0].allocations, 2, "it is none of them");
}

#[test]
fn steps_have_their_own_peaks() {
    let calls = "t1: aclrtMalloc(64,1000)[0..10us] aclrtMalloc(100,2000)[25us..30us] aclrtFree(2000)[35us..36us]
         t1: aclrtMalloc(8,3000)[65us..66us] aclrtMalloc(900,0)[70us..75us]=207001";
    let ranges = [(0, 20, 50, "step 1"), (0, 60, 90, "step 2")];
    let found = usage_of(&Timeline::parse(calls).unwrap().with_ranges(&ranges).trace());
    let steps = found.steps.iter();
    let steps: Vec<_> = steps
        .map(|it| {
            (
                it.step.as_str(),
                it.begin_bytes,
                it.peak_bytes,
                it.end_bytes,
            )
        })
        .collect();
    assert_eq!(steps, [("step 1", 64, 164, 64), ("step 2", 64, 72, 72)]);
    assert_eq!(found.places[0].peak_step.as_deref(), Some("step 1"));
    let refused = &found.refused[0];
    assert_eq!(refused.step.as_deref(), Some("step 2"));
    assert_eq!(refused.step_bytes, Some(8));
}

#[test]
fn memory_is_in_use_until_the_call_that_frees_it_begins() {
    let found = usage(
        "t1: aclrtMalloc(64,1000)[0..10us] aclrtFree(1000)[20us..60us]
         t2: aclrtMalloc(32,1000)[30us..40us]",
    );
    assert_eq!(
        (found.places[0].peak_bytes, found.places[0].end_bytes),
        (64, 32)
    );
}

#[test]
fn an_address_that_comes_again_is_another_allocation() {
    let found = usage("t1: aclrtMalloc(64,1000)[0..10us] aclrtMalloc(32,1000)[30us..40us]");
    let place = &found.places[0];
    assert_eq!((place.allocations, place.allocated_bytes), (2, 96));
    assert_eq!((place.end_bytes, place.end_count), (32, 1));
    let nested = usage("t1: aclrtMalloc(64,1000)[0..10us] aclrtMalloc(64,1000)[2us..8us]");
    let place = &nested.places[0];
    assert_eq!((place.allocations, place.allocated_bytes), (1, 64));
}
