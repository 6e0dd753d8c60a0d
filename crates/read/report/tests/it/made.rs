//! Timelines and curves of a few lines of text.

use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::Trace;
use ascend_trace_report::{MemoryCurves, MemoryFold, PeerWaits, Timeline, TimelineFold};
use ascend_trace_testkit::timeline;

/// The numbers of a packed list.
fn numbers(packed: &str) -> Vec<u64> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = packed.chars().filter_map(|it| DIGITS.find(it));
    let bits: Vec<bool> = digits
        .flat_map(|digit| (0..6).rev().map(move |bit| digit >> bit & 1 == 1))
        .collect();
    let bytes = bits.chunks_exact(8).map(|byte| {
        byte.iter()
            .fold(0_u64, |sum, bit| sum << 1 | u64::from(*bit))
    });
    let (mut found, mut value, mut shift) = (Vec::new(), 0, 0);
    for byte in bytes {
        value |= (byte & 127) << shift;
        shift += 7;
        if byte < 128 {
            found.push(value);
            (value, shift) = (0, 0);
        }
    }
    found
}

/// The busy shares of the columns of a lane, those that are not empty.
pub(crate) fn shares(merged: &str) -> impl Iterator<Item = f64> {
    let numbers = numbers(merged);
    let mut found = Vec::new();
    let mut rest = numbers.as_slice();
    while let [_, run, after @ ..] = rest {
        let (columns, later) = after.split_at(3 * *run as usize);
        found.extend(columns.chunks(3).map(|it| it[0] as f64 / 255.0));
        rest = later;
    }
    found.into_iter()
}

fn of(trace: &Trace) -> Timeline {
    let span = trace.span().unwrap();
    TimelineFold::of_range(span, trace, 100_000).of(&Window::whole(trace))
}

#[test]
fn a_lane_has_the_slices_of_its_tasks_in_order() {
    let trace = timeline(
        "s1: MatMul[0..10us] rec(E1)[10us]
         s2: wait(E1)[2us..10us] Add[12us..20us]
         t1: sync(s2)[13us..21us]",
    );
    let found = of(&trace);
    let labels: Vec<&str> = found.lanes.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["stream 1", "stream 2", "t1 1001"]);
    let name = |wanted: &str| found.names.iter().position(|it| it == wanted).unwrap() as u64;
    let kind = |wanted: &str| 8 * found.kinds.iter().position(|it| *it == wanted).unwrap() as u64;
    let second = numbers(&found.lanes[1].slices);
    // Begins are differences, with the sign in the last bit.
    let begin = (2_000 - found.begin_ns) as u64 * 2;
    let wait = [
        begin,
        8_000,
        name("aclrtStreamWaitEvent"),
        kind("wait"),
        second[4],
    ];
    let add = [20_000, 8_000, name("Add"), kind("kernel"), second[9]];
    assert_eq!(second, [wait, add].concat());
    let arrows = numbers(&found.arrows);
    let record = [0, (10_000 - found.begin_ns) as u64 * 2, 1, 0];
    assert!(arrows.chunks(5).any(|it| it[..4] == record), "{arrows:?}");
    assert!(found.lanes[1].stalls.len() > 4);
}

#[test]
fn ranges_that_overlap_have_separate_rows() {
    let ranges = [
        (0, 0, 100, "outer"),
        (0, 50, 200, "later"),
        (0, 120, 130, "inside"),
        (0, 300, 310, "alone"),
    ];
    let program = ascend_trace_testkit::Timeline::of("s1: Add[10us..400us] by t1[1us..2us]");
    let trace = program.with_ranges(&ranges).trace();
    let fold = TimelineFold::of_range(trace.span().unwrap(), &trace, 1_000_000);
    let found = fold.of(&Window::whole(&trace));
    let mut lanes = found.lanes.iter();
    let lane = lanes.find(|it| it.is == "ranges").unwrap();
    assert_eq!((lane.count, lane.rows), (4, 3));
    let rows: Vec<u64> = numbers(&lane.slices)
        .chunks(5)
        .map(|slice| slice[3] % 8)
        .collect();
    assert_eq!(rows, [0, 1, 2, 0]);
}

#[test]
fn columns_have_the_time_of_tasks_without_a_time() {
    let busy = |middle: &str| {
        // The usual duration is known from the second one on.
        let text = format!(
            "s1: Add[10us..20us] by t1[1us..2us] Add[not-sampled] by t1[2us..3us]
             s1: Add[30us..40us] by t1[3us..4us] {middle} Add[50us..60us] by t1[5us..6us]"
        );
        shares(&of(&timeline(&text)).lanes[0].merged).sum::<f64>()
    };
    // 40 us of work instead of 30.
    let more = busy("Add[not-sampled] by t1[4us..5us]") / busy("");
    assert!((more - 4.0 / 3.0).abs() < 0.05, "{more}");
}

fn memory(text: &str) -> MemoryCurves {
    let trace = timeline(text);
    let span = trace.span().unwrap();
    MemoryFold::of_range(span).of(&Window::whole(&trace))
}

#[test]
fn memory_is_in_use_from_its_allocation_to_its_release() {
    let found = memory(
        "t1: aclrtMallocHost(100,4096)[0..1us] aclrtMallocHost(50,8192)[2us..3us] \
             aclrtFreeHost(4096)[6us..7us] aclrtFreeHost(1)[8us..9us] aclInit[10us..12us]",
    );
    let [curve] = found.curves.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        (curve.place.as_str(), curve.peak_bytes, curve.end_bytes),
        ("host", 150, 50)
    );
    assert_eq!(curve.peak_at_ns, 3_000);
    let at = |us: usize| curve.columns[us * curve.columns.len() / 12];
    assert_eq!([at(0), at(2), at(4), at(8), at(11)], [0, 100, 150, 50, 50]);
}

#[test]
fn reserved_and_allocated_memory_have_a_curve_each() {
    let found = memory(
        "t1: aclrtMalloc(200,1000)[0..1us] mstxMemHeapRegister(1,1000,200)[2us..3us] mstxMemRegionsRegister(1,1000,64)[4us..5us]
         t1: mstxMemHeapRegister(1,1000,200)[6us..7us] mstxMemRegionsUnregister(1000)[8us..9us] aclInit[10us..12us]",
    );
    let curves = found.curves.iter();
    let curves = curves.map(|it| (it.place.as_str(), it.peak_bytes, it.end_bytes));
    assert_eq!(
        curves.collect::<Vec<_>>(),
        [
            ("device 0", 200, 200),
            ("caching allocator of device 1", 64, 0)
        ]
    );
}

#[test]
fn a_rank_waits_for_the_one_that_comes_last() {
    let trace = timeline(
        "p1.s1@0: HcclAllReduce(1,64)[0..100us]
         p2.s2@1: HcclAllReduce(2,64)[60us..100us]",
    );
    let found = PeerWaits::default().of(&Window::whole(&trace));
    let [wait] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_ne!(wait.process, wait.late_process);
    assert_eq!((wait.count, wait.total_ns), (1, 60_000));
}
