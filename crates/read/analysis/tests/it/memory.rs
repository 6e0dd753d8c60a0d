//! Memory in use by call site, and at its peak.

use ascend_trace_analysis::memory::{
    Allocations, HeldMemory, MemoryBounds, MemoryCurvesFold, MemoryInUse, MemoryPlace, MemoryUsage,
    MemoryUsageFold, StepRanges,
};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::rows::Row;
use ascend_trace_recording::{ProcessId, Trace};
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
    let found = usage_of(&Timeline::of(calls).with_ranges(&ranges).trace());
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

/// Ranges of `--python` are known after the calls in them.
#[test]
fn the_peak_and_failed_allocations_have_their_module() {
    let calls = "t1: aclrtMalloc(64,1000)[0..10us] aclrtMalloc(100,2000)[25us..30us] aclrtMalloc(900,0)[70us..75us]=207001
        t2: aclrtMalloc(8,3000)[40us..41us] aclrtFree(3000)[42us..43us]";
    let ranges = [
        (0, 0, 90, "Model"),
        (0, 20, 50, "layers.0 (Linear)"),
        (0, 60, 90, "layers.1 (Linear)"),
    ];
    let mut timeline = Timeline::of(calls).with_ranges(&ranges);
    for row in &mut timeline.rows {
        if let Row::Range(range) = row {
            range.domain = RangeKind::Module.domain();
        }
    }
    let found = usage_of(&timeline.trace());
    assert_eq!(
        found.refused[0].module.as_deref(),
        Some("layers.1 (Linear)")
    );
    // The peak was reached by the other thread, which is in no module.
    assert_eq!(found.places[0].peak_module, None);
    let alone = Timeline {
        rows: timeline
            .rows
            .into_iter()
            .filter(|it| !is_of_second_thread(it))
            .collect(),
        ..timeline
    };
    let found = usage_of(&alone.trace());
    assert_eq!(
        found.places[0].peak_module.as_deref(),
        Some("layers.0 (Linear)")
    );
}

fn is_of_second_thread(row: &Row) -> bool {
    matches!(row, Row::Call(call) if call.begin_ns == 40_000)
}

#[test]
fn physical_memory_counts_once_by_its_handle() {
    let mapped_twice = "t1: aclrtMallocPhysical(64,7)[0..10us] aclrtMapMem(64,5000,0,7)[20us..21us]
        t1: aclrtMapMem(64,9000,0,7)[30us..31us] aclrtMalloc(8,7)[32us..33us]";
    let found = usage(mapped_twice);
    let [device] = &found.places[..] else {
        panic!("{found:?}")
    };
    assert_eq!((device.peak_bytes, device.end_count), (72, 2));
    assert_eq!(bytes(&found.peak), [(DEVICE, 64, 1), (DEVICE, 8, 1)]);
    assert_eq!(memory(mapped_twice).bytes(), 72);
}

#[test]
fn physical_memory_is_in_use_until_its_handle_and_its_addresses_are_given_back() {
    let mapped = "t1: aclrtMallocPhysical(64,7)[0..10us] aclrtMapMem(64,5000,0,7)[20us..21us] ";
    let in_use = |rest: &str| usage(&format!("{mapped}{rest}")).places[0].end_bytes;
    assert_eq!(in_use("aclrtUnmapMem(5000)[30us..31us]"), 64);
    assert_eq!(in_use("aclrtFreePhysical(7)[30us..31us]"), 64);
    assert_eq!(
        in_use("aclrtUnmapMem(5000)[30us..31us] aclrtFreePhysical(7)[40us..41us]"),
        0
    );
    let last_unmapped = "aclrtFreePhysical(7)[30us..31us] aclrtUnmapMem(5000)[40us..41us]";
    assert_eq!(in_use(last_unmapped), 0);
    // A call that failed gives nothing back.
    assert_eq!(
        in_use("aclrtUnmapMem(5000)[30us..31us]=107000 aclrtFreePhysical(7)[40us..41us]"),
        64
    );
    let curve = MemoryCurvesFold::of_trace(&timeline(&format!("{mapped}{last_unmapped}")));
    let curve = curve.get(ProcessId(0), DEVICE).unwrap();
    assert_eq!(curve.bounds((39_000, 39_000)).least, 64);
    assert_eq!(curve.bounds((40_000, 40_000)).most, 0);
}

/// Blocks at 1000 and 1064 of a segment of 200 bytes. Devices have the number 1, as 0 is no word here.
const REPORTED: &str = "t1: aclrtMalloc(200,1000)[0..10us]
    t1: mstxMemHeapRegister(1,1000,200)[11us..12us] mstxMemRegionsRegister(1,1000,64)[13us..14us]
    t1: mstxMemHeapRegister(1,1064,200)[20us..21us] mstxMemRegionsRegister(1,1064,100)[22us..23us]
    t1: mstxMemHeapRegister(1,1000,200)[30us..31us] mstxMemRegionsUnregister(1000)[32us..33us] ";

const CACHED: MemoryPlace = MemoryPlace::Cached(1);

#[test]
fn blocks_are_allocated_of_what_is_reserved() {
    let trace = timeline(REPORTED);
    let whole = Window::whole(&trace);
    let found = MemoryUsageFold::default().of(&whole);
    let [pool] = &found.pools[..] else {
        panic!("{found:?}")
    };
    assert_eq!((pool.place, pool.peak_reserved_bytes), (CACHED, 200));
    let peak = (pool.peak_allocated_bytes, pool.peak_allocated_at_ns);
    assert_eq!(peak, (164, 23_000));
    assert_eq!(
        (pool.reserved_at_peak_bytes, pool.unused_at_peak_bytes),
        (200, 36)
    );
    assert_eq!(
        (pool.most_unused_bytes, pool.most_unused_at_ns),
        (136, 14_000)
    );
    assert_eq!(
        (pool.end_reserved_bytes, pool.end_allocated_bytes),
        (200, 100)
    );
    assert_eq!(bytes(&found.peak), [(DEVICE, 200, 1), (CACHED, 164, 2)]);
    assert_eq!(found.missed_blocks, 0);
    let in_use = Allocations::default().of(&whole);
    assert_eq!(in_use.bytes(), 200, "blocks are a part of it");
    let curves = MemoryCurvesFold::of_trace(&trace);
    let curve = curves.get(ProcessId(0), CACHED).unwrap();
    assert_eq!((curve.peak_bytes, curve.end_bytes()), (164, 100));
}

#[test]
fn segments_that_are_given_back_are_not_reserved() {
    let rest =
        "mstxMemHeapRegister(1,1064,200)[40us..41us] mstxMemRegionsUnregister(1064)[42us..43us]
        t1: aclrtFree(1000)[50us..51us] aclrtMalloc(900,0)[60us..61us]=207001";
    let found =
        MemoryUsageFold::default().of(&Window::whole(&timeline(&format!("{REPORTED}{rest}"))));
    let pool = &found.pools[0];
    assert_eq!((pool.end_reserved_bytes, pool.end_allocated_bytes), (0, 0));
    assert_eq!(pool.peak_reserved_bytes, 200);
    // The failed allocation was on another device, of which no allocator reported blocks.
    assert_eq!(found.refused[0].unused_bytes, None);
}

/// Such as workspaces of operators, and allocators that report heaps in another way.
#[test]
fn blocks_without_a_heap_of_their_own_are_of_other_allocators() {
    let found = MemoryUsageFold::default().of(&Window::whole(&timeline(
        "t1: aclrtMalloc(300,1000)[0..10us] mstxMemHeapRegister(1,5000,9)[11us..12us]
         t1: mstxMemRegionsRegister(1,1100,64)[13us..14us] mstxMemHeapRegister(1,1100,300)[15us..16us]
         t1: mstxMemRegionsUnregister(1100)[20us..21us] mstxMemHeapRegister(1,1100,300)[22us..23us]
         t1: mstxMemRegionsRegister(1,1100,80)[24us..25us]",
    )));
    let [pool] = &found.pools[..] else {
        panic!("{found:?}")
    };
    assert_eq!(pool.place, MemoryPlace::Blocks(1));
    assert_eq!(
        (pool.peak_reserved_bytes, pool.peak_allocated_bytes),
        (300, 80)
    );
}

#[test]
fn calls_with_blocks_that_are_not_recorded_are_counted() {
    let mut timeline = Timeline::of(
        "t1: mstxMemRegionsRegister(1,1000,64)[0..1us] mstxMemRegionsRegister(1,2000,64)[2us..3us]",
    );
    let mut texts = [None, Some("[1, 2000, 64, 1, 3000, 64, …]")].into_iter();
    for row in &mut timeline.rows {
        if let Row::Call(call) = row {
            call.strings = vec![texts.next().flatten().map(Into::into)];
        }
    }
    let found = MemoryUsageFold::default().of(&Window::whole(&timeline.trace()));
    assert_eq!(found.missed_blocks, 2);
    assert_eq!(found.pools[0].peak_allocated_bytes, 128);
}

#[test]
fn a_curve_has_the_memory_at_each_time() {
    let trace = timeline(
        "t1: aclrtMalloc(64,1000)[0..10us] aclrtMalloc(30,2000)[20us..25us] aclrtFree(1000)[30us..45us]
         t1: aclrtMallocHost(7,9000)[60us..61us]",
    );
    let curves = MemoryCurvesFold::of_trace(&trace);
    assert_eq!(
        curves.places(ProcessId(0)).collect::<Vec<_>>(),
        [DEVICE, MemoryPlace::Host]
    );
    let curve = curves.get(ProcessId(0), DEVICE).unwrap();
    assert_eq!((curve.peak_bytes, curve.peak_at_ns), (94, 25_000));
    assert_eq!(curve.end_bytes(), 30);
    let bounds = |begin: i64, end: i64| {
        let MemoryBounds { least, most } = curve.bounds((begin, end));
        (least, most)
    };
    assert_eq!(bounds(5_000, 5_000), (0, 0));
    assert_eq!(bounds(10_000, 10_000), (64, 64));
    assert_eq!(bounds(0, 20_000), (0, 64));
    assert_eq!(bounds(20_000, 40_000), (30, 94));
    // The end of a range does not belong to it.
    assert_eq!(bounds(12_000, 25_000), (64, 64));
    assert_eq!(bounds(31_000, 90_000), (30, 30));
}

/// Pieces of a curve are joined where there are too many. The memory in use then is in their bounds.
#[test]
fn a_curve_with_few_pieces_contains_the_true_one() {
    let mut calls = String::new();
    let mut levels = vec![0_u64];
    for round in 0..400_u64 {
        let (begin, end) = (round * 10, round * 10 + 1);
        let size = 100 + round * 37 % 91;
        calls += &format!(
            "t1: aclrtMalloc({size},{})[{begin}us..{end}us]\n",
            4096 * (round + 1)
        );
        let freed = match round % 3 {
            0 => 0,
            _ => {
                let (begin, end) = (round * 10 + 5, round * 10 + 6);
                let address = 4096 * (round + 1);
                calls += &format!("t1: aclrtFree({address})[{begin}us..{end}us]\n");
                size
            }
        };
        let before = *levels.last().unwrap();
        levels.extend([before + size, before + size - freed]);
    }
    let trace = timeline(&calls);
    let mut fold = MemoryCurvesFold::with_pieces(32);
    fold.take(&Window::whole(&trace));
    let curves = fold.finish();
    let curve = curves.get(ProcessId(0), DEVICE).unwrap();
    let peak = *levels.iter().max().unwrap();
    assert_eq!(
        (curve.peak_bytes, curve.end_bytes()),
        (peak, *levels.last().unwrap())
    );
    let mut is_exact = 0;
    for (round, pair) in levels[1..].chunks(2).enumerate() {
        for (at, level) in [(round * 10 + 3, pair[0]), (round * 10 + 8, pair[1])] {
            let at = at as i64 * 1_000;
            let MemoryBounds { least, most } = curve.bounds((at, at));
            assert!(
                (least..=most).contains(&level),
                "{at}: {level} in {least} to {most}"
            );
            is_exact += usize::from(least == most);
        }
    }
    assert!(is_exact < 400, "the pieces are joined");
    let all = curve.bounds((0, 4_000_000));
    assert_eq!(
        all,
        MemoryBounds {
            least: 0,
            most: peak
        }
    );
}
