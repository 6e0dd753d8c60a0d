use ascend_trace_analysis::{Certainty, Node, Release, ReleaseKind, Window, released};
use ascend_trace_recording::Trace;
use ascend_trace_testkit::timeline;

use super::words;

fn row(trace: &Trace, row: &Release) -> String {
    let (waiter, by) = (words::node(trace, row.waiter), words::node(trace, row.by));
    let certainty = match (row.certainty, row.by) {
        (Certainty::Exact, Node::Call(_)) => "exact",
        (Certainty::Within(error), Node::Task(id)) => {
            let time = trace.task(id).time.expect("measured");
            assert!(error >= time.error, "{row:?}");
            "measured"
        }
        (Certainty::NotKnown, Node::Task(_)) => "not known",
        other => panic!("{other:?}"),
    };
    format!("{:?} {waiter} < {by} at {}, {certainty}", row.kind, row.at)
}

/// All rows of a timeline, sorted. Each row that a dependency shows is a row of its waiter as well.
fn rows(text: &str) -> Vec<String> {
    let trace = timeline(text);
    let window = Window::whole(&trace);
    let of_stalls = [
        ReleaseKind::Peer,
        ReleaseKind::Room,
        ReleaseKind::Submission,
    ];
    let all: Vec<Release> = window.releases().collect();
    for one in all.iter().filter(|it| !of_stalls.contains(&it.kind)) {
        let mut own = released::of(&trace, &window.dependencies, one.waiter);
        assert!(own.any(|it| it == *one), "{one:?}");
    }
    let mut words: Vec<String> = all.iter().map(|it| row(&trace, it)).collect();
    words.sort();
    words
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(rows(text), expected, "{text}");
}

#[test]
fn a_record_of_another_stream_releases_a_wait() {
    check(
        "s1: A[0..10] by t1[-4..-3] rec(E)[10..11] by t1[-2..-1]
         s2: wait(E)[1..12] by t1[0..1] B[12..20] by t1[2..3]",
        &["Event s2.0 < s1.1 at 11, measured"],
    );
    // The first stream records another event.
    check(
        "s1: A[0..10] by t1[-4..-3] rec(F)[10..11] by t1[-2..-1]
         s2: wait(E#0)[1..12] by t1[0..1] B[12..20] by t1[2..3]",
        &[],
    );
}

#[test]
fn the_time_of_a_record_without_one_is_not_known() {
    check(
        "s1: A[0..10] by t1[-4..-3] rec(E)[not-sampled] by t1[-2..-1]
         s2: wait(E)[1..12] by t1[0..1] B[12..20] by t1[2..3]",
        &["Event s2.0 < s1.1 at -1, not known"],
    );
}

#[test]
fn a_notify_releases_its_wait() {
    check(
        "s1: A[0..10] by t1[-4..-3] aclrtRecordNotify(7)[10..11] by t1[-2..-1]
         s2: aclrtWaitAndResetNotify(7)[1..12] by t1[0..1]",
        &["Signal s2.0 < s1.1 at 11, measured"],
    );
    // Another notify.
    check(
        "s1: A[0..10] by t1[-4..-3] aclrtRecordNotify(8)[10..11] by t1[-2..-1]
         s2: aclrtWaitAndResetNotify(7)[1..12] by t1[0..1]",
        &[],
    );
}

#[test]
fn the_last_task_of_a_stream_releases_a_call() {
    check(
        "s1: A[10..20] by t2[0..1] B[20..30] by t2[2..3] | t1: sync(s1)[5..31]",
        &["StreamSync t1.0 < s1.1 at 30, measured"],
    );
    // The last one was submitted during the call.
    check(
        "s1: A[10..20] by t2[0..1] B[20..30] by t2[6..7] | t1: sync(s1)[5..31]",
        &["StreamSync t1.0 < s1.0 at 20, measured"],
    );
    // Nothing was submitted.
    check("s1: A[10..20] by t2[6..7] | t1: sync(s1)[5..31]", &[]);
}

#[test]
fn each_stream_of_a_device_releases_a_call_that_waits_for_the_device() {
    check(
        "s1: A[10..20] by t2[0..1] | s2: B[10..30] by t2[2..3] | t1: sync()[5..31]",
        &[
            "DeviceSync t1.0 < s1.0 at 20, measured",
            "DeviceSync t1.0 < s2.0 at 30, measured",
        ],
    );
}

#[test]
fn a_record_releases_a_call_or_comes_after_it_gave_up() {
    let text = "s1: A[0..30] by t2[-4..-3] rec(E)[30..31] by t2[-2..-1] | t1: sync(E)[5..32]";
    check(text, &["EventSync t1.0 < s1.1 at 31, measured"]);
    let text = "s1: A[0..30] by t2[-4..-3] rec(E)[30..31] by t2[-2..-1] | t1: sync(E)[5..9]=507046";
    check(text, &["GaveUp t1.0 < s1.1 at 31, measured"]);
}

#[test]
fn the_last_query_of_a_loop_is_released() {
    let task = "s1: A[2us..40us] by t2[0us..1us]";
    check(
        &format!("{task} | t1: query(s1,1)[5us..6us] query(s1,0)[41us..42us]"),
        &["QueryLoop t1.1 < s1.0 at 40000, measured"],
    );
    // A single query waits for nothing.
    check(&format!("{task} | t1: query(s1,0)[41us..42us]"), &[]);
}

#[test]
fn a_late_host_releases_a_stream_without_work() {
    let first = "s1: A[0..10us] by t1[-2us..-1us]";
    check(
        &format!("{first} B[50us..60us] by t1[45us..46us]"),
        &["Submission s1.1 < t1.1 at 45000, exact"],
    );
    // The host had submitted the task before.
    check(&format!("{first} B[10us..60us] by t1[5us..6us]"), &[]);
}

#[test]
fn a_replay_releases_the_call_that_runs_it_to_its_end() {
    let capture = "t1: capture(s1)[-9..-8] of g1 end(s1)[-5..-4] of g1
                   s1: A[captured] by t1[-7..-6] of g1";
    check(
        &format!("{capture} aclmdlRIExecute[10..20] by t1[5..22] of g1"),
        &["Replay t1.3 < s1.0 at 20, measured"],
    );
    check(&format!("{capture} graph[10..20] by t1[5..6] of g1"), &[]);
}

#[test]
fn a_callback_releases_its_call_and_then_its_task() {
    let callback = "s1: A[0..10] aclrtLaunchCallback(1)[10..50] B[50..60]";
    check(
        &format!("{callback} | t2: aclrtProcessReport(100)[5..51]"),
        &[
            "CallbackBegin t2.0 < s1.1 at 10, measured",
            "CallbackEnd s1.1 < t2.0 at 51, exact",
        ],
    );
    // No thread runs callbacks.
    check(callback, &[]);
}

#[test]
fn the_thread_that_plans_releases_the_one_that_submits() {
    check(
        "t1: aclnnAddGetWorkspaceSize(7)[0..5] | s1 by t2: aclnnAdd(7)[10..20] by t2[6..7]",
        &["Plan t2.0 < t1.0 at 5, exact"],
    );
    check(
        "t2: aclnnAddGetWorkspaceSize(7)[0..5] | s1 by t2: aclnnAdd(7)[10..20] by t2[6..7]",
        &[],
    );
}

#[test]
fn the_task_that_left_a_full_queue_releases_a_submission() {
    let tasks: Vec<String> = (0..6)
        .map(|i| {
            let (begin, call) = (20 * i, i - 9);
            format!(
                "K[{begin}us..{}us] by t1[{call}us..{}us]",
                begin + 20,
                call + 1
            )
        })
        .collect();
    let text = |call| format!("s2: {} K[120us..140us] by t1{call}", tasks.join(" "));
    check(
        &text("[1us..120us]"),
        &["Room t1.6 < s2.5 at 120000, measured"],
    );
    check(&text("[1us..2us]"), &[]);
}

#[test]
fn the_last_rank_releases_a_collective() {
    let text = "p1.s1: HcclAllReduce(1,1024)[10us..60us] by t1[0us..1us]
                p2.s1: HcclAllReduce(1,1024)[50us..60us] by t1[40us..41us]";
    let comms = "p1.t1: HcclCommInitRootInfo(2,0,1)[-9us..-8us] | p2.t1: HcclCommInitRootInfo(2,1,1)[-9us..-8us]";
    let found = rows(&format!("{comms}\n{text}"));
    assert_eq!(found, ["Peer s1.0 < s1.0 at 50000, measured"]);
    // Both begin at the same time.
    let text = text
        .replace("[50us", "[10us")
        .replace("[40us..41us]", "[0us..1us]");
    assert!(rows(&format!("{comms}\n{text}")).is_empty());
}
