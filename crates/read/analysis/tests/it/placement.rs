//! Where tasks without a time probably ran.

use ascend_trace_analysis::{Dependencies, Estimates, Fold, UntimedPlacer, Window, place_untimed};
use ascend_trace_recording::{Placement, Trace};
use ascend_trace_testkit::timeline;

/// The placed tasks, in their order: name, begin, end and error in microseconds.
fn placed(text: &str) -> Vec<String> {
    let trace = timeline(text);
    let mut placed = place_untimed(&trace, &Dependencies::of(&trace), &Estimates::of(&trace));
    placed.sort_by_key(|(id, _)| *id);
    // The same, as a recording is read.
    let placer = UntimedPlacer::new(Estimates::of(&trace).into());
    let places = placer.of(&Window::whole(&trace));
    assert_eq!(places.len(), placed.len());
    for (id, placement) in &placed {
        assert_eq!(places.get(trace.task(*id)), Some(*placement));
    }
    let line = |trace: &Trace, (id, it): (_, Placement)| {
        let name = trace.task_name(trace.task(id)).to_owned();
        let us = |ns: i64| ns / 1_000;
        let (range, error) = (it.range, it.error);
        format!(
            "{name} {}..{} ± {}",
            us(range.begin),
            us(range.end),
            us(error)
        )
    };
    placed.into_iter().map(|it| line(&trace, it)).collect()
}

/// Ten timed tasks of each operation. Their usual durations are then 10 and 20 us.
const KNOWN: &str = "
    s9: A[1ms..1010us] A[1020us..1030us] A[1040us..1050us] A[1060us..1070us] A[1080us..1090us]
    s9: A[2ms..2010us] A[2020us..2030us] A[2040us..2050us] A[2060us..2070us] A[2080us..2090us]
    s9: B[3ms..3020us] B[3030us..3050us] B[3060us..3080us] B[3090us..3110us] B[3120us..3140us]
    s9: B[4ms..4020us] B[4030us..4050us] B[4060us..4080us] B[4090us..4110us] B[4120us..4140us]
";

fn with_known(text: &str) -> String {
    format!("{KNOWN}\n{text}")
}

#[test]
fn queued_tasks_lie_evenly_between_the_timed_ones() {
    // All wait in the queue: 48 us for tasks of 10, 20 and 10 us, so the switches take 2 us each.
    let found = placed(&with_known(
        "s1: A[5000us..5010us] by t1[4900us..4901us] A[not-sampled] by t1[4902us..4903us] \
             B[not-sampled] by t1[4904us..4905us] A[not-sampled] by t1[4906us..4907us] \
             A[5058us..5068us] by t1[4908us..4909us]",
    ));
    let begins: Vec<&str> = found
        .iter()
        .filter_map(|it| it.split(" ±").next())
        .collect();
    assert_eq!(
        begins,
        ["A 5012..5022", "B 5024..5044", "A 5046..5056"],
        "{found:?}"
    );
}

#[test]
fn a_task_begins_after_its_launch() {
    // The host launches late, so the stream has a pause before each of them.
    let found = placed(&with_known(
        "s1: A[5000us..5010us] by t1[4990us..4991us] A[not-sampled] by t1[5100us..5101us] \
             A[not-sampled] by t1[5200us..5201us] A[5300us..5310us] by t1[5299us..5300us]",
    ));
    assert!(found[0].starts_with("A 5100..5110 "), "{found:?}");
    assert!(found[1].starts_with("A 5200..5210 "), "{found:?}");
}

#[test]
fn the_error_reaches_as_far_as_the_tasks_may_have_run() {
    // The second may have begun 90 us later.
    let found = placed(&with_known(
        "s1: A[5000us..5010us] by t1[4990us..4991us] A[not-sampled] by t1[5100us..5101us] \
             A[5210us..5220us] by t1[5209us..5210us]",
    ));
    let error: i64 = found[0].rsplit(' ').next().unwrap().parse().unwrap();
    assert!((90..=110).contains(&error), "{found:?}");
}

#[test]
fn a_call_that_waited_ends_a_row() {
    let found = placed(&with_known(
        "s1: A[not-sampled] by t1[5000us..5001us] B[not-sampled] by t1[5002us..5003us]
         t1: sync(s1)[5004us..5040us]",
    ));
    assert!(found[0].starts_with("A 5000..5010 "), "{found:?}");
    assert!(found[1].starts_with("B 5010..5030 "), "{found:?}");
}

#[test]
fn nothing_is_placed_where_too_little_is_known() {
    let cases = [
        // An operation without a time.
        "s1: A[5000us..5010us] C[not-sampled] A[5058us..5068us]",
        // How long a wait takes depends on others.
        "s2: rec(E)[5005us]\ns1: A[5000us..5010us] A[not-sampled] wait(E)[not-sampled] A[5058us..5068us]",
        // Nobody knows when it ended.
        "s1: A[5000us..5010us] A[not-sampled]",
        // It may still get a time.
        "s1: A[5000us..5010us] A[?]",
        // It did not run.
        "s1: A[5000us..5010us] A[captured] A[5058us..5068us]",
    ];
    for case in cases {
        assert_eq!(placed(&with_known(case)), [""; 0], "{case}");
    }
}

#[test]
fn tasks_that_seem_to_need_more_time_than_there_was_are_shortened_together() {
    let found = placed(&with_known(
        "s1: A[5000us..5010us] by t1[4900us..4901us] A[not-sampled] by t1[4902us..4903us] \
             B[not-sampled] by t1[4904us..4905us] A[5025us..5035us] by t1[4908us..4909us]",
    ));
    assert!(
        found[0].starts_with("A 5010..5014") || found[0].starts_with("A 5010..5015"),
        "{found:?}"
    );
    assert!(
        found[1].starts_with("B 5015..5025") || found[1].starts_with("B 5014..5024"),
        "{found:?}"
    );
}
