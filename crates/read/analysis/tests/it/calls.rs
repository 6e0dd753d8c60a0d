use std::collections::BTreeMap;

use ascend_trace_analysis::calls::{CallTree, Frame};
use ascend_trace_analysis::{Stats, Window};
use ascend_trace_recording::recording::{SearchDirection, SearchResult};
use ascend_trace_recording::{Recording, ThreadId, TimeRange, Trace};
use ascend_trace_testkit::Timeline;

use super::random::{Dice, program};

/// The tree in words: names with count and nanoseconds inside the window, children in brackets.
fn words(trace: &Trace, tree: &CallTree, place: usize) -> String {
    let node = &tree.nodes()[place];
    let name = match &node.frame {
        Frame::Thread => "thread",
        Frame::Range(name) => name,
        Frame::Call(id) => &trace.function(*id).name,
    };
    let children = node.children.iter().map(|child| words(trace, tree, *child));
    let children = children.collect::<Vec<_>>().join(" ");
    let children = match children.is_empty() {
        true => String::new(),
        false => format!("[{children}]"),
    };
    format!("{name} {}x{}{children}", node.count, node.inside_ns)
}

fn trace(text: &str, ranges: &[(usize, i64, i64, &str)]) -> Trace {
    let timeline = Timeline::of(text);
    timeline.with_ranges(ranges).trace()
}

const THREAD: &str = "t1: aclrtMalloc(64)[0..10us] aclrtFree(64)[20us..25us] aclrtMalloc(64)[30us..45us] aclrtFree(64)[90us..91us]";

#[test]
fn calls_are_in_the_ranges_around_them_and_added_up() {
    let ranges = [
        (0, 0, 50, "step"),
        (0, 15, 48, "load"),
        (0, 50, 50, "mark"),
        (0, 60, 80, "step"),
    ];
    let trace = trace(THREAD, &ranges);
    let tree = CallTree::of(&trace, ThreadId(0), (0, 100_000));
    assert_eq!(
        words(&trace, &tree, 0),
        "thread 0x71000[step 2x70000[load 1x33000[aclrtMalloc 1x15000 aclrtFree 1x5000] aclrtMalloc 1x10000] aclrtFree 1x1000]"
    );
    let step = tree.find(&[Frame::Range("step".to_owned())]);
    assert_eq!(tree.own_ns(step), 27_000);
    let longest = tree.nodes()[step].longest.expect("two of them");
    assert_eq!((longest.begin, longest.end), (0, 50_000));
    assert_eq!(tree.path(step), [0, step]);
    let unknown = [
        Frame::Range("step".to_owned()),
        Frame::Range("gone".to_owned()),
    ];
    assert_eq!(tree.find(&unknown), step);
}

#[test]
fn ranges_that_are_only_counted_are_added_up() {
    let trace = trace(THREAD, &[(0, 0, 50, "step 1"), (0, 60, 92, "step 2")]);
    let tree = CallTree::of(&trace, ThreadId(0), (0, 100_000));
    let all = words(&trace, &tree, 0);
    assert!(all.starts_with("thread 0x82000[step # 2x82000["), "{all}");
}

#[test]
fn a_window_counts_calls_that_overlap_it_and_the_time_inside() {
    let trace = trace(THREAD, &[(0, 0, 50, "step")]);
    let tree = CallTree::of(&trace, ThreadId(0), (22_000, 40_000));
    assert_eq!(
        words(&trace, &tree, 0),
        "thread 0x18000[step 1x18000[aclrtMalloc 1x10000 aclrtFree 1x3000]]"
    );
    let step = tree
        .nodes()
        .iter()
        .find(|it| it.frame == Frame::Range("step".to_owned()));
    assert_eq!(
        step.map(|it| it.total_ns),
        Some(50_000),
        "durations are whole"
    );
}

#[test]
fn ranges_that_overlap_without_nesting_are_siblings() {
    let trace = trace(
        "t1: aclrtMalloc(64)[12us..14us] aclrtFree(64)[22us..24us]",
        &[(0, 0, 20, "one"), (0, 10, 30, "other")],
    );
    let tree = CallTree::of(&trace, ThreadId(0), (0, 100_000));
    assert_eq!(
        words(&trace, &tree, 0),
        "thread 0x40000[one 1x20000 other 1x20000[aclrtMalloc 1x2000 aclrtFree 1x2000]]"
    );
}

/// Number of calls and their time by function, of all threads.
fn by_function(trace: &Trace, trees: &[CallTree]) -> BTreeMap<String, (u64, i64)> {
    let mut sums: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    for node in trees.iter().flat_map(CallTree::nodes) {
        if let Frame::Call(id) = node.frame
            && node.count > 0
        {
            let sum = sums.entry(trace.function(id).name.clone()).or_default();
            sum.0 += node.count;
            sum.1 += node.total_ns;
        }
    }
    sums
}

fn statistics(stats: &Stats) -> BTreeMap<String, (u64, i64)> {
    let rows = stats.apis.iter();
    rows.map(|row| (row.name.clone(), (row.count, row.time.total_ns)))
        .collect()
}

#[test]
fn sums_are_those_of_the_call_statistics_of_any_window() {
    let mut dice = Dice(17);
    for _ in 0..20 {
        let trace = trace(&program(&mut dice, 60), &[]);
        let span = trace.span().expect("a span");
        let third = span.duration() / 3;
        for window in [
            span,
            TimeRange::new(span.begin + third, span.end - third),
            TimeRange::new(span.begin + 5_000, span.begin + 5_001),
        ] {
            let stats = Stats::within(&Window::whole(&trace), Some(window));
            let threads = (0..trace.threads().len() as u32).map(ThreadId);
            let trees: Vec<CallTree> = threads.map(|id| CallTree::of(&trace, id, window)).collect();
            assert_eq!(by_function(&trace, &trees), statistics(&stats));
            // Without ranges, the content of a thread is its time in calls.
            let inside: i64 = trees.iter().map(|tree| tree.nodes()[0].inside_ns).sum();
            assert_eq!(
                inside,
                stats.threads.iter().map(|it| it.in_calls_ns).sum::<i64>()
            );
        }
    }
}

#[test]
fn a_long_recording_is_summed_up_part_by_part() {
    let (bytes, whole) = super::cuttings::training();
    let mut recording = Recording::from_bytes(bytes).expect("it reads back");
    let span = recording.span().expect("a span");
    let third = span.duration() / 3;
    for window in [span, TimeRange::new(span.begin + third, span.end - third)] {
        for thread in (0..whole.threads().len() as u32).map(ThreadId) {
            let mut tree = CallTree::default();
            let mut parts = 0;
            let take = |trace: &Trace, own: TimeRange| {
                parts += 1;
                tree.add(trace, thread, window, own);
                None::<()>
            };
            let answer = recording.find(i64::MIN, SearchDirection::Later, |_| true, |_| true, take);
            assert_eq!(answer.expect("it is in memory"), SearchResult::Nothing);
            tree.close();
            assert!(parts > 2, "{parts}");
            let expected = CallTree::of(&whole, thread, window);
            assert_eq!(words(&whole, &tree, 0), words(&whole, &expected, 0));
        }
    }
}
