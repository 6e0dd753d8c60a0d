use ascend_trace_analysis::{Cause, Lane, Stalls};
use ascend_trace_recording::{ProcessId, StreamId, TaskGap, ThreadId};
use ascend_trace_testkit::{Timeline, timeline};

use super::words;

#[track_caller]
fn check(text: &str, wanted: &[Cause], expected: &[&str]) {
    let trace = timeline(text);
    assert_eq!(words::stalls(&trace, wanted), expected, "{text}");
}

const GAPS: &[Cause] = &[Cause::HostLate, Cause::Unknown];

#[test]
fn a_call_that_runs_a_graph_to_its_end_waits_for_the_replay() {
    check(
        "t1: capture(s1)[0us..1us] of g1 end(s1)[4us..5us] of g1
         s1: A[captured] by t1[2us..3us] of g1 aclmdlRIExecute[10us..20us] by t1[7us..22us] of g1",
        &[Cause::HostSync, Cause::ReturnLatency],
        &[
            "t1 7000..20000 host-sync by s1 aclmdlRIExecute",
            "t1 20000..22000 return-latency aclmdlRIExecute",
        ],
    );
}

#[test]
fn a_record_without_a_time_is_not_done_before_it_was_submitted() {
    let after = "rec(E)[not-sampled] by t2[20us..22us] | t1: sync(E)[21us..25us]";
    let wanted = [Cause::HostSync, Cause::ReturnLatency];
    // The stream had no work left.
    check(
        &format!("s1: A[1us..10us] by t2[0us..1us] {after}"),
        &wanted,
        &[
            "t1 21000..22000 host-sync by s1 rec s1.1",
            "t1 22000..25000 return-latency aclrtSynchronizeEvent",
        ],
    );
    check(
        &format!("s1: A[1us..24us] by t2[0us..1us] {after}"),
        &wanted,
        &[
            "t1 21000..24000 host-sync by s1 A rec s1.1",
            "t1 24000..25000 return-latency aclrtSynchronizeEvent",
        ],
    );
}

#[test]
fn a_wait_stalls_its_stream_and_blames_the_work_before_the_record() {
    check(
        "s1: A[0..10us] rec(E)
         s2: wait(E)[2us..10us] B[10us..20us]",
        &[Cause::EventWait],
        &["s2 2000..10000 event-wait by s1 A rec s1.1"],
    );
}

#[test]
fn a_wait_that_found_its_event_done_is_no_stall() {
    check(
        "s1: A[0..10] rec(E)
         s2: B[0..20] wait(E)[20] C[20..30]",
        &[Cause::EventWait],
        &[],
    );
}

#[test]
fn a_wait_without_a_known_record_stalls_without_a_culprit() {
    check(
        "s1: wait(E#0)[0..5]",
        &[Cause::EventWait],
        &["s1 0..5 event-wait"],
    );
}

#[test]
fn a_gap_before_a_task_that_came_late_is_the_hosts() {
    check(
        "s1: A[0..10us] by t1[-2us..-1us] B[50us..60us] by t1[45us..46us]",
        GAPS,
        &["s1 10000..50000 host-late B"],
    );
}

/// The device takes 1.8 µs from one task to the next, and the tool's records up to 5.4 µs.
#[test]
fn a_gap_that_the_records_of_the_tool_explain_is_theirs_and_the_rest_is_a_switch() {
    let all = [
        Cause::HostLate,
        Cause::Unknown,
        Cause::TracerOverhead,
        Cause::Switch,
    ];
    for (begin, expected) in [
        (
            "15200ns",
            vec!["s1 10000..13400 tracer-overhead", "s1 13400..15200 switch"],
        ),
        ("11500ns", vec!["s1 10000..11500 switch"]),
        ("50us", vec!["s1 10000..50000 unknown"]),
    ] {
        let text =
            format!("s1: A[0..10us] by t1[-99us..-98us] B[{begin}..60us] by t1[-97us..-96us]");
        let mut trace = timeline(&text);
        let between = TaskGap {
            records_ns: 5_400,
            switch_ns: 1_800,
        };
        let device = trace.stream(StreamId(0)).device;
        trace.set_between(ProcessId(0), device, between);
        let stalls = Stalls::of(&trace);
        let lane = stalls.lane(Lane::Stream(StreamId(0)));
        let busy: i64 = trace
            .tasks()
            .iter()
            .filter_map(|it| it.time)
            .map(|it| it.end - it.begin)
            .sum();
        let idle: i64 = lane.iter().map(|it| it.end - it.begin).sum();
        let life = stalls.life(StreamId(0)).unwrap();
        assert_eq!(busy + idle, life.end - life.begin);
        assert_eq!(words::stalls(&trace, &all), expected, "{text}");
    }
}

#[test]
fn a_gap_before_a_submitted_task_has_no_known_cause() {
    check(
        "s1: A[0..10us] by t1[-9us..-8us] B[50us..60us] by t1[-7us..-6us]",
        GAPS,
        &["s1 10000..50000 unknown"],
    );
}

#[test]
fn a_gap_with_untimed_work_in_it_has_no_known_cause() {
    check(
        "s1: A[0..10us] by t1[-9us..-8us] B[no-event] by t1[-7us..-6us] C[50us..60us] by t1[45us..46us]",
        GAPS,
        &["s1 10000..50000 unknown"],
    );
}

/// Only some tasks are timed. The others take as long as those that are.
#[test]
fn tasks_that_are_not_sampled_are_no_idle_time() {
    const CAUSES: &[Cause] = &[Cause::Untimed, Cause::Unknown, Cause::HostLate];
    let check = |rest: &str, expected: &[&str]| {
        let sampled = "s1: A[0..10us] by t1[-90us..-89us] A[not-sampled] by t1[-80us..-79us]
            s1: A[20us..30us] by t1[-79us..-78us] A[not-sampled] by t1[-70us..-69us]
            s1: A[not-sampled] by t1[-60us..-59us] ";
        check(&format!("{sampled}{rest}"), CAUSES, expected);
    };
    // Durations are noted from the first such task on.
    let first = "s1 10000..20000 unknown";
    check(
        "A[50us..60us] by t1[-50us..-49us]",
        &[first, "s1 30000..50000 untimed"],
    );
    // The device did not begin the next task.
    let late = ["s1 30000..50000 untimed", "s1 50000..90000 unknown"];
    check(
        "A[90us..100us] by t1[-50us..-49us]",
        &[first, late[0], late[1]],
    );
    // It had not been submitted.
    let late = ["s1 30000..50000 untimed", "s1 50000..90000 host-late A"];
    check(
        "A[90us..100us] by t1[86us..87us]",
        &[first, late[0], late[1]],
    );
    // Nothing shows how long the last one takes.
    let unknown = "s1 30000..90000 unknown";
    check(
        "B[not-sampled] by t1[-55us..-54us] A[90us..100us] by t1[-50us..-49us]",
        &[first, unknown],
    );
}

#[test]
fn short_gaps_are_no_stalls() {
    check(
        "s1: A[0..10us] B[10999..20us] C[21us..22us]",
        GAPS,
        &["s1 20000..21000 host-late C"],
    );
}

#[test]
fn tasks_back_to_back_leave_no_gap() {
    check("s1: A[0..10us] rec(E) B[10us..20us]", GAPS, &[]);
}

#[test]
fn a_blocking_call_stalls_its_thread_and_blames_the_last_task() {
    check(
        "s1: A[0..10us] by t1[-3us..-2us] rec(E)
         t1: sync(s1)[1us..12us]
         t2: sync(E)[3us..14us]",
        &[Cause::HostSync],
        &[
            "t1 1000..10000 host-sync by s1 A rec s1.1",
            "t2 3000..10000 host-sync by s1 A rec s1.1",
        ],
    );
}

/// Causes of a thread, and of a stream that was idle while the thread was in the call.
const HELD_UP: &[Cause] = &[
    Cause::HostSync,
    Cause::HostCopy,
    Cause::ReturnLatency,
    Cause::HostBlocked,
    Cause::HostLate,
];

#[test]
fn a_blocking_call_is_split_where_its_target_ended() {
    check(
        "s1: A[0..10us] by t1[-3us..-2us] | t1: sync(s1)[1us..12us]",
        HELD_UP,
        &[
            "t1 1000..10000 host-sync by s1 A",
            "t1 10000..12000 return-latency aclrtSynchronizeStream",
        ],
    );
    // A device sync waits for all streams.
    check(
        "s1: A[0..10us] by t2[-3us..-2us] | s2: B[0..40us] by t2[-3us..-2us] | t1: sync()[1us..50us]",
        HELD_UP,
        &[
            "t1 1000..40000 host-sync by s2 B",
            "t1 40000..50000 return-latency aclrtSynchronizeDevice",
        ],
    );
    // A copy of pageable memory waits for its stream, and then copies.
    check(
        "s1: A[0..10us] by t1[-3us..-2us] memcpy(64)[host-copy] by t1[0..30us]",
        HELD_UP,
        &["t1 0..10000 host-sync by s1 A", "t1 10000..30000 host-copy"],
    );
}

#[test]
fn a_call_that_had_nothing_to_wait_for_only_returns() {
    let returns = &["t1 23000..32000 return-latency aclrtSynchronizeStream"];
    check(
        "s1: A[0..10us] by t1[-3us..-2us] | t1: sync(s1)[23us..32us]",
        HELD_UP,
        returns,
    );
    check(
        "t1: create(s1)[0..1us] sync(s1)[23us..32us]",
        HELD_UP,
        returns,
    );
}

#[test]
fn a_call_without_a_known_end_of_its_wait_waits_as_a_whole() {
    check(
        "s1: A[no-event] by t1[-3us..-2us] | t1: sync(s1)[1us..12us]",
        HELD_UP,
        &["t1 1000..12000 host-sync by s1 A"],
    );
    check(
        "s1: A[0..90us] by t1[-3us..-2us] | t1: sync(s1)[1us..12us]=507046",
        HELD_UP,
        &["t1 1000..12000 host-sync by s1 A"],
    );
}

#[test]
fn a_sync_and_the_idleness_of_its_stream_do_not_explain_each_other() {
    check(
        "s1: A[0..10us] by t1[-3us..-2us] B[100us..110us] by t1[95us..96us]
         t1: sync(s1)[1us..91us]",
        HELD_UP,
        &[
            "t1 1000..10000 host-sync by s1 A",
            "s1 10000..100000 return-latency",
            "t1 10000..91000 return-latency aclrtSynchronizeStream",
        ],
    );
}

#[test]
fn a_wait_for_a_record_that_came_late_does_not_name_work_that_was_over() {
    check(
        "s1: A[0..10us] by t1[-3us..-2us] rec(E)[50us..50us] by t1[45us..46us]
         s2: wait(E)[20us..50us] by t2[-3us..-2us]",
        &[Cause::EventWait],
        &["s2 20000..50000 event-wait by s1 rec s1.1"],
    );
}

#[test]
fn a_device_sync_blames_the_stream_that_ended_last() {
    check(
        "s1: A[0..10us] by t2[-3us..-2us]
         s2: B[0..90us] by t2[-3us..-2us]
         s3: C[0..20us] by t2[-3us..-2us]
         t1: sync()[1us..91us]",
        &[Cause::HostSync],
        &["t1 1000..90000 host-sync by s2 B"],
    );
}

#[test]
fn a_refused_sync_is_no_stall() {
    check(
        "s1: A[0..10] | t2: sync(s1)[5..6]=107003",
        &[Cause::HostSync],
        &[],
    );
}

#[test]
fn a_blocking_call_inside_another_counts_once() {
    let trace = timeline("s1: A[0..10us] | t2: sync(s1)[1us..12us] sync(s1)[2us..11us]");
    let stalls = Stalls::of(&trace);
    let host = stalls
        .iter()
        .filter(|it| matches!(it.lane, Lane::Thread(_)));
    let spans: Vec<_> = host.map(|it| (it.begin, it.end)).collect();
    assert_eq!(spans, [(1_000, 10_000), (10_000, 12_000)]);
}

#[test]
fn a_copy_done_by_the_host_stalls_its_thread() {
    check(
        "s1: memcpy(64)[host-copy] by t1[0..5us]",
        &[Cause::HostCopy],
        &["t1 0..5000 host-copy"],
    );
}

#[test]
fn stalls_are_found_by_length_by_lane_and_by_time() {
    let trace = timeline(
        "s1: A[0..10us] rec(E) B[10us..40us] rec(F)
         s2: wait(E)[1us..10us] C[10us..11us] wait(F)[11us..40us]",
    );
    let stalls = Stalls::of(&trace);
    let lengths: Vec<_> = stalls.worst(2).iter().map(|it| it.length()).collect();
    assert_eq!(lengths, [29_000, 9_000]);
    assert_eq!(stalls.worst(1)[0].begin, 11_000);
    assert_eq!(stalls.worst_where(9, |it| it.length() < 10_000).len(), 1);

    let lane = Lane::Stream(StreamId(1));
    assert_eq!(stalls.lane(lane).len(), 2);
    assert_eq!(stalls.in_window(lane, 10_500, 10_600), []);
    assert_eq!(stalls.in_window(lane, 5_000, 12_000).len(), 2);
    assert!(stalls.lane(Lane::Thread(ThreadId(0))).is_empty());
}

#[test]
fn the_stalls_of_a_lane_never_overlap() {
    let trace = timeline(
        "s1: A[0..10us] rec(E) B[30us..40us] rec(F)
         s2: wait(E)[1us..10us] C[15us..16us] wait(F)[20us..40us] D[60us..61us]
         t1: sync(s2)[70us..80us]",
    );
    let stalls = Stalls::of(&trace);
    for lane in [0, 1].map(|id| Lane::Stream(StreamId(id))) {
        let lane = stalls.lane(lane);
        assert!(lane.windows(2).all(|pair| pair[0].end <= pair[1].begin));
    }
}

/// The hardware log has kernels only. The end of a kernel is the time of the record behind it.
#[test]
fn a_wait_without_a_time_ends_with_the_work_before_its_record() {
    check(
        "s1: A[0..40us] by t1[-9us..-8us] rec(E)[not-logged] by t1[-8us..-7us]
         s2: B[0..10us] by t1[-7us..-6us] wait(E)[not-logged] by t1[-6us..-5us] C[42us..50us] by t1[-5us..-4us]",
        &[Cause::EventWait, Cause::Unknown],
        &[
            "s2 10000..40000 event-wait by s1 A rec s1.1",
            "s2 40000..42000 unknown",
        ],
    );
    // It found its record, and the host was late.
    check(
        "s1: A[0..5us] by t1[-9us..-8us] rec(E)[not-logged] by t1[-8us..-7us]
         s2: B[0..10us] by t1[-7us..-6us] wait(E)[not-logged] by t1[-6us..-5us] C[42us..50us] by t1[40us..41us]",
        &[Cause::EventWait, Cause::Unknown, Cause::HostLate],
        &["s2 10000..42000 host-late C"],
    );
}

/// A copy before the record has no time. The task behind the wait was in its queue.
#[test]
fn a_wait_without_a_time_held_the_tasks_behind_it() {
    check(
        "s1: memcpy(64)[not-logged] by t1[-9us..-8us] rec(E)[not-logged] by t1[-8us..-7us]
         s2: B[0..20us] by t1[-7us..-6us] wait(E)[not-logged] by t1[-6us..-5us] C[42us..50us] by t1[-5us..-4us]",
        &[Cause::EventWait, Cause::Unknown],
        &["s2 20000..42000 event-wait by s1 aclrtMemcpyAsync rec s1.1"],
    );
    // Which of two it was is not known: each may have held it for none or all of the time.
    check(
        "s1: memcpy(64)[not-logged] by t1[-9us..-8us] rec(E)[not-logged] rec(F)[not-logged]
         s2: B[0..20us] by t1[-7us..-6us] wait(E)[not-logged] wait(F)[not-logged] C[42us..50us] by t1[-5us..-4us]",
        &[Cause::EventWait, Cause::Unknown],
        &[
            "s2 20000..31000 event-wait by s1 aclrtMemcpyAsync rec s1.1",
            "s2 31000..42000 event-wait by s1 aclrtMemcpyAsync rec s1.2",
        ],
    );
}

/// Only some tasks are timed. The usual lengths of the others leave the time of the wait.
#[test]
fn a_wait_among_tasks_that_are_not_sampled_takes_the_time_that_they_leave() {
    check(
        "s2: memcpy(64)[not-sampled] by t1[-90us..-89us] rec(E)[not-sampled] by t1[-80us..-79us]
         s1: A[0..5us] by t1[-90us..-89us] A[not-sampled] by t1[-80us..-79us] A[10us..15us] by t1[-70us..-69us]
         s1: A[not-sampled] by t1[-60us..-59us] wait(E)[not-sampled] by t1[-50us..-49us]
         s1: A[not-sampled] by t1[-40us..-39us] A[125us..130us] by t1[-30us..-29us]",
        &[Cause::EventWait, Cause::Untimed],
        &[
            "s1 15000..20000 untimed",
            "s1 20000..120000 event-wait by s2 aclrtMemcpyAsync rec s2.1",
            "s1 120000..125000 untimed",
        ],
    );
}

/// Only the sum of these waits is known: each has an equal part, and an error that contains all of the others.
#[test]
fn waits_that_share_a_gap_have_bounds() {
    let text = "s2: memcpy(64)[not-sampled] by t1[-90us..-89us] rec(E)[not-sampled] by t1[-80us..-79us]
         s2: memcpy(64)[not-sampled] by t1[-79us..-78us] rec(F)[not-sampled] by t1[-78us..-77us]
         s1: A[0..5us] by t1[-77us..-76us] A[not-sampled] by t1[-76us..-75us] A[10us..15us] by t1[-70us..-69us]
         s1: A[not-sampled] by t1[-60us..-59us] wait(E)[not-sampled] by t1[-50us..-49us]
         s1: A[not-sampled] by t1[-45us..-44us] wait(F)[not-sampled] by t1[-40us..-39us]
         s1: A[125us..130us] by t1[-30us..-29us]";
    let trace = timeline(text);
    let stalls = Stalls::of(&trace);
    let lane = stalls.iter().filter(|it| it.cause == Cause::EventWait);
    let lane: Vec<_> = lane
        .map(|it| (it.begin, it.end, it.bound.unwrap().error))
        .collect();
    // One duration of A is known: it may be half as long, or half as long again.
    let error = 50_000 + 2 * 2_500;
    assert_eq!(
        lane,
        [(20_000, 70_000, error), (75_000, 125_000, error)],
        "{text}"
    );
}

/// With the hardware log, no event records are between tasks: the gaps show how long a device takes from one to the next.
#[test]
fn usual_gaps_of_the_hardware_log_are_switches() {
    let stalls = |timing: &str, gap: i64| {
        let mut text = "s1:".to_owned();
        let mut at = 0;
        for task in 0..20 {
            let end = at + 50_000;
            let call = task * 1_000 - 900_000;
            text += &format!(" A[{at}..{end}] by t1[{call}..{}]", call + 500);
            at = end
                + if task == 15 {
                    gap
                } else {
                    1_800 + task % 3 * 50
                };
        }
        let mut timeline = Timeline::of(&text);
        timing.clone_into(&mut timeline.session.timing);
        let trace = timeline.trace();
        let stalls = Stalls::of(&trace);
        let of = |cause: Cause| stalls.iter().filter(|it| it.cause == cause).count();
        (of(Cause::Switch), of(Cause::Unknown))
    };
    // The first four are not enough to be usual.
    assert_eq!(stalls("hardware", 1_900), (15, 4));
    assert_eq!(stalls("hardware", 8_000), (14, 5));
    assert_eq!(stalls("hardware", 60_000), (14, 5));
    assert_eq!(stalls("events", 1_900), (0, 19));
}
