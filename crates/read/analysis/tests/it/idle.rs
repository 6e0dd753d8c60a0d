//! Why streams did nothing: each rule, where it applies and where it does not.

use ascend_trace_analysis::{Dependencies, Lane, Stalls, Stats, ThreadActivity};
use ascend_trace_recording::Trace;
use ascend_trace_testkit::timeline;

use super::words;

/// Checks the facts about every idle interval of every stream, and that busy time and causes make up
/// each stream's whole time.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let trace = timeline(text);
    let dependencies = Dependencies::of(&trace);
    let stalls = Stalls::with(&trace, &dependencies);
    let of_streams = stalls.sorted().into_iter();
    let of_streams = of_streams.filter(|it| matches!(it.lane, Lane::Stream(_)));
    let found: Vec<_> = of_streams
        .map(|it| words::idle(&trace, &dependencies, &stalls, it))
        .collect();
    assert_eq!(found, expected, "{text}");
    adds_up(&trace);
}

#[track_caller]
fn adds_up(trace: &Trace) {
    let stats = Stats::of(trace);
    for row in &stats.streams {
        let causes: i64 = row.causes.iter().map(|it| it.total_ns).sum();
        let life = row.begin_ns.zip(row.end_ns).map_or(0, |(b, e)| e - b);
        assert_eq!(row.busy_ns + causes, life, "{row:?}");
        assert_eq!(row.busy_ns + row.waiting_ns + row.idle_ns, life);
    }
    for device in &stats.devices {
        let causes: i64 = device.causes.iter().map(|it| it.total_ns).sum();
        assert_eq!(device.work_ns + causes, device.stream_ns, "{device:?}");
        assert_eq!(
            device.busy_ns + device.idle_ns,
            device.end_ns - device.begin_ns
        );
    }
    for thread in &stats.threads {
        let causes: i64 = thread.causes.iter().map(|it| it.total_ns).sum();
        assert_eq!(thread.blocked_ns, causes, "{thread:?}");
    }
    let by_stream: i64 = stats
        .streams
        .iter()
        .flat_map(|it| &it.causes)
        .map(|it| it.total_ns)
        .sum();
    let by_device: i64 = stats
        .devices
        .iter()
        .flat_map(|it| &it.causes)
        .map(|it| it.total_ns)
        .sum();
    let of_streams = stats.stall_causes.iter().filter(|it| it.lane == "stream");
    let by_cause: i64 = of_streams.map(|it| it.total_ns).sum();
    assert_eq!((by_stream, by_device), (by_cause, by_cause));
}

#[test]
fn a_wait_is_a_stall_only_until_its_record() {
    // Reached before the record.
    check(
        "s1: A[0..10us] rec(E) | s2: wait(E)[2us..10us] B[10us..20us]",
        &["s2 2000..10000 event-wait by s1 A root A"],
    );
    // Reached after it: the later time is judged as without the wait.
    check(
        "s1: A[0..10us] rec(E) | s2: B[0..20us] wait(E)[20us..20us] C[20us..30us]",
        &["s1 10000..20000 drained"],
    );
    check(
        "s1: A[0..10us] rec(E)
         s2: B[0..20us] wait(E)[20us..60us] by t1[15us..16us] C[70us..80us] by t1[65us..66us]",
        &["s1 10000..66000 drained", "s2 20000..70000 host-late C"],
    );
    // On the very nanosecond.
    check(
        "s1: A[0..10us] rec(E) | s2: B[0..10us] wait(E)[10us..10us] C[10us..11us]",
        &[],
    );
}

#[test]
fn a_wait_belongs_to_its_own_record_and_not_to_later_ones() {
    check(
        "s1: A[0..10us] rec(E) B[10us..50us] rec(E)
         s2: wait(E#1)[1us..10us] C[10us..50us]",
        &["s2 1000..10000 event-wait by s1 A root A"],
    );
    check(
        "s1: A[0..10us] rec(E) B[10us..50us] rec(E)
         s2: wait(E#2)[1us..50us]",
        &["s2 1000..50000 event-wait by s1 B root A"],
    );
}

#[test]
fn between_devices_and_threads_waits_are_the_same() {
    check(
        "s1@0 by t1: A[0..10us] rec(E) | s2@1 by t2: wait(E)[2us..10us]",
        &["s2 2000..10000 event-wait by s1 A root A"],
    );
    check(
        "s1@0 by t1: A[0..10us] rec(E) | s2@1 by t2: B[0..12us] wait(E)[12us..12us]",
        &["s1 10000..12000 drained"],
    );
}

#[test]
fn a_chain_of_waits_leads_to_the_task_that_all_waited_for() {
    check(
        "s1: X[0..100us] rec(E)
         s2: wait(E)[1us..100us] Y[100us..110us] rec(F)
         s3: wait(F)[2us..110us] Z[110us..120us]",
        &[
            "s2 1000..100000 event-wait by s1 X root X",
            "s3 2000..110000 event-wait by s2 Y root X",
            "s1 100000..110000 drained",
        ],
    );
    // The middle stream ran other work all the time: the chain ends there.
    check(
        "s1: X[0..10us] rec(E)
         s2: wait(E)[1us..10us] Y[10us..110us] rec(F)
         s3: V[0..20us] wait(F)[20us..110us]",
        &[
            "s2 1000..10000 event-wait by s1 X root X",
            "s1 10000..20000 drained",
            "s3 20000..110000 event-wait by s2 Y root Y",
        ],
    );
}

#[test]
fn a_chain_can_end_at_a_host_that_was_late() {
    check(
        "s1: A[0..10us] by t2[-2us..-1us] B[90us..99us] by t2[85us..86us] rec(E)
         s2: wait(E)[1us..99us]",
        &[
            "s2 1000..99000 event-wait by s1 B root call B",
            "s1 10000..90000 host-late B",
        ],
    );
    // The record itself came late. The device had it later than the wait, which was submitted by
    // another thread, as a program may do that records and waits without order.
    check(
        "s1: A[0..10us] by t2[-2us..-1us] rec(E)[80us] by t2[79us..80us]
         s2: wait(E#1)[1us..80us] by t1[0..1us]",
        &[
            "s2 1000..80000 event-wait by s1 A root call aclrtRecordEvent",
            "s1 10000..80000 drained",
        ],
    );
}

#[test]
fn a_gap_is_the_hosts_when_the_task_came_late() {
    check(
        "s1: A[0..10us] by t1[-2us..-1us] B[50us..60us] by t1[45us..46us]",
        &["s1 10000..50000 host-late B"],
    );
    // Submitted in time, so it is not the host's.
    check(
        "s1: A[0..10us] by t1[-9us..-8us] B[50us..60us] by t1[-7us..-6us]",
        &["s1 10000..50000 unknown: the device did not begin the next task"],
    );
    // Submitted just before the stream ran dry: still on its way.
    check(
        "s1: A[0..10us] by t1[-9us..-8us] B[12us..60us] by t1[8us..9us]",
        &["s1 10000..12000 host-late B"],
    );
    // Submitted late, but the device took most of the gap.
    check(
        "s1: A[0..10us] by t1[-9us..-8us] B[100us..110us] by t1[12us..13us]",
        &["s1 10000..100000 unknown: the device did not begin the next task"],
    );
}

#[test]
fn a_short_gap_is_a_switch() {
    check("s1: A[0..10us] B[10999..20us]", &["s1 10000..10999 switch"]);
    check(
        "s1: A[0..10us] B[11us..20us]",
        &["s1 10000..11000 host-late B"],
    );
    check("s1: A[0..10us] B[10us..20us]", &[]);
}

#[test]
fn a_blocked_host_differs_from_a_late_one() {
    // Most of the gap in a sync of another stream.
    check(
        "s1: A[0..10us] by t1[-3us..-2us] B[100us..110us] by t1[95us..96us]
         s2: X[0..90us] by t1[-5us..-4us] Y[110us..111us] by t1[97us..98us]
         t1: sync(s2)[1us..91us]",
        &[
            "s1 10000..100000 host-blocked by s2 X call aclrtSynchronizeStream",
            "s2 90000..110000 host-late Y",
        ],
    );
    // A short sync in a long gap.
    check(
        "s1: A[0..10us] by t1[-3us..-2us] B[100us..110us] by t1[95us..96us]
         s2: X[0..20us] by t1[-5us..-4us] Y[20us..110us] by t1[-4us..-3us]
         t1: sync(s2)[1us..21us]",
        &["s1 10000..100000 host-late B"],
    );
    // Another thread's sync holds nothing up.
    check(
        "s1: A[0..10us] by t1[-3us..-2us] B[100us..110us] by t1[95us..96us]
         s2: X[0..90us] by t2[-5us..-4us] Y[90us..110us] by t2[-4us..-3us]
         t2: sync(s2)[1us..91us]",
        &["s1 10000..100000 host-late B"],
    );
    // A synchronous copy blocks like a sync.
    check(
        "s1: A[0..10us] by t1[-3us..-2us] B[100us..110us] by t1[95us..96us]
         t1: aclrtMemcpy(4096)[5us..94us]",
        &["s1 10000..100000 host-blocked call aclrtMemcpy"],
    );
    // A sync that was refused did not.
    check(
        "s1: A[0..10us] by t1[-3us..-2us] B[100us..110us] by t1[95us..96us]
         t1: sync(s1)[5us..94us]=107003",
        &["s1 10000..100000 host-late B"],
    );
    // One that gave up did.
    check(
        "s1: A[0..10us] by t1[-3us..-2us] B[100us..110us] by t1[95us..96us]
         s2: X[0..110us] by t1[-5us..-4us]
         t1: sync(s2)[5us..94us]=507046",
        &["s1 10000..100000 host-blocked by s2 X call aclrtSynchronizeStream"],
    );
}

/// Six tasks of 20 µs on stream 2, and a seventh with a submission of the given duration.
fn full_queue(submission: &str) -> String {
    let tasks: Vec<String> = (0..6)
        .map(|i| {
            format!(
                "K[{}us..{}us] by t1[{}us..{}us]",
                20 * i,
                20 * i + 20,
                i - 9,
                i - 8
            )
        })
        .collect();
    format!(
        "s1: A[-20us..1us] by t1[-30us..-29us] B[130us..140us] by t1[125us..126us]
         s2: {} K[120us..140us] by t1{submission}",
        tasks.join(" ")
    )
}

#[test]
fn a_full_queue_of_another_stream_holds_the_host_up() {
    check(
        &full_queue("[1us..120us]"),
        &["s1 1000..130000 queue-full by s2 call K"],
    );
    // The same submission returned at once.
    check(&full_queue("[1us..2us]"), &["s1 1000..130000 host-late B"]);
    // It returned before anything of its stream ended, so it did not wait for room.
    check(&full_queue("[1us..19us]"), &["s1 1000..130000 host-late B"]);
}

#[test]
fn a_function_on_the_host_holds_its_stream() {
    check(
        "s1: A[0..10us] hostfunc[10us..50us] B[50us..60us]",
        &["s1 10000..50000 callback"],
    );
    // A callback that does not block takes no time of the stream.
    check(
        "s1: A[0..10us] aclrtLaunchCallback(0)[10us..10us] B[10us..60us]",
        &[],
    );
}

#[test]
fn launching_a_graph_differs_from_a_late_host() {
    check(
        "s1: A[0..10us] by t1[-2us..-1us] graph[90us..99us] by t1[12us..89us]",
        &["s1 10000..90000 graph-launch aclmdlRIExecuteAsync"],
    );
    check(
        "s1: A[0..10us] by t1[-2us..-1us] graph[90us..99us] by t1[80us..89us]",
        &["s1 10000..90000 host-late aclmdlRIExecuteAsync"],
    );
    // A kernel with a long call is no graph.
    check(
        "s1: A[0..10us] by t1[-2us..-1us] B[90us..99us] by t1[12us..89us]",
        &["s1 10000..90000 host-late B"],
    );
}

#[test]
fn a_collective_waits_for_its_last_peer() {
    check(
        "s1@0: HcclAllReduce(1,64)[0..100us] | s2@1: HcclAllReduce(2,64)[60us..100us]",
        &["s1 0..60000 collective-peer by s2 HcclAllReduce call HcclAllReduce"],
    );
    // Both began at once.
    check(
        "s1@0: HcclAllReduce(1,64)[0..100us] | s2@1: HcclAllReduce(2,64)[0..100us]",
        &[],
    );
    // Other amounts of data: not the same collective.
    check(
        "s1@0: HcclAllReduce(1,64)[0..100us] | s2@1: HcclAllReduce(2,65)[60us..100us]",
        &[],
    );
    // Never at the same time: no peers.
    check(
        "s1@0: HcclAllReduce(1,64)[0..50us] | s2@1: HcclAllReduce(2,64)[60us..100us]",
        &["s1 50000..60000 drained"],
    );
    // An operator that is no collective waits for no peer.
    check(
        "s1@0: Custom(1)[0..100us] | s2@1: Custom(2)[60us..100us]",
        &[],
    );
}

#[test]
fn notifies_and_values_hold_streams_like_events() {
    check(
        "s1: A[0..10us] notify(7)[10us]
         s2: aclrtWaitAndResetNotify(7)[1us..10us] B[10us..20us]",
        &["s2 1000..10000 signal-wait by s1 A root A"],
    );
    check(
        "s1: A[0..10us] notify(7)[10us]
         s2: B[0..12us] aclrtWaitAndResetNotify(7)[12us..12us]",
        &["s1 10000..12000 drained"],
    );
    check(
        "s1: A[0..10us] value(64,5)[10us]
         s2: aclrtValueWait(64,5,1)[1us..10us]",
        &["s2 1000..10000 signal-wait by s1 A root A"],
    );
    // Written with another value: its target is not known.
    check(
        "s1: A[0..10us] value(64,4)[10us]
         s2: aclrtValueWait(64,5,1)[1us..10us]",
        &["s2 1000..10000 signal-wait"],
    );
}

#[test]
fn a_stream_is_idle_from_its_creation_to_its_end() {
    check(
        "t1: create(s1)[0..1us] destroy(s1)[60us..61us]
         s1: A[20us..30us] by t1[17us..18us]",
        &["s1 1000..20000 host-late A", "s1 30000..60000 drained"],
    );
    // Its creation was not seen: it begins with its first task.
    check(
        "t1: destroy(s1)[60us..61us] | s1: A[20us..30us] by t1[17us..18us]",
        &["s1 30000..60000 drained"],
    );
    // Destroyed while it still ran: there is nothing after.
    check(
        "t1: create(s1)[0..1us] destroy(s1)[25us..31us]
         s1: A[20us..30us] by t1[17us..18us]",
        &["s1 1000..20000 host-late A"],
    );
    // Never used: it had nothing to wait for.
    check("t1: create(s1)[0..1us] destroy(s1)[60us..61us] | s1:", &[]);
    // Never destroyed: it ends with the process.
    check(
        "t1: create(s1)[0..1us] work[2us..80us] | s1: A[20us..30us] by t2[17us..18us]",
        &["s1 1000..20000 host-late A", "s1 30000..80000 drained"],
    );
}

#[test]
fn a_default_stream_lives_as_long_as_its_device_is_held() {
    check(
        "t1: aclrtSetDevice(0)[0..1us] aclrtResetDevice(0)[60us..61us]
         s0: A[20us..30us] by t1[17us..18us]",
        &["s0 1000..20000 host-late A", "s0 30000..60000 drained"],
    );
    // Another device's calls say nothing of it.
    check(
        "t1: aclrtSetDevice(1)[0..1us] aclrtResetDevice(1)[60us..61us]
         s0: A[20us..30us] by t1[17us..18us]",
        &["s0 30000..61000 drained"],
    );
    // The first of two releases does not end it.
    check(
        "t1: aclrtSetDevice(0)[0..1us] aclrtSetDevice(0)[1us..2us]
         t1: aclrtResetDevice(0)[40us..41us] aclrtResetDevice(0)[60us..61us]
         s0: A[20us..30us] by t1[17us..18us]",
        &["s0 1000..20000 host-late A", "s0 30000..60000 drained"],
    );
}

#[test]
fn what_cannot_be_known_is_said_to_be_unknown_and_why() {
    check(
        "s1: A[0..10us] by t1[-9us..-8us] B[no-event] by t1[-7us..-6us] C[50us..60us] by t1[45us..46us]",
        &["s1 10000..50000 unknown: B has no time: no-event"],
    );
    // A captured task does not run, so nothing is unknown.
    check(
        "s1: A[0..10us] by t1[-9us..-8us] B[captured] by t1[-7us..-6us] C[50us..60us] by t1[45us..46us]",
        &["s1 10000..50000 host-late C"],
    );
    // A record without a time takes none.
    check(
        "s1: A[0..10us] by t1[-9us..-8us] rec(E)[no-event] by t1[-7us..-6us] C[50us..60us] by t1[45us..46us]",
        &["s1 10000..50000 host-late C"],
    );
    // A refused task ran nowhere.
    check(
        "s1: A[0..10us] by t1[-9us..-8us] B[call-failed] by t1[-7us..-6us] C[50us..60us] by t1[45us..46us]",
        &["s1 10000..50000 host-late C"],
    );
    // The end of a stream after something without a time.
    check(
        "t1: create(s1)[0..1] destroy(s1)[90us..91us]
         s1: A[1..10us] by t2[0..1] B[contended] by t2[1..2]",
        &["s1 10000..90000 unknown: B has no time: contended"],
    );
    // The device was busy with something else.
    check(
        "s1: A[0..10us] by t1[-9us..-8us] B[90us..99us] by t1[-7us..-6us]
         s2: X[10us..90us] by t1[-5us..-4us] Y[90us..99us] by t1[-4us..-3us]",
        &["s1 10000..90000 unknown: stream 2 of the device was busy"],
    );
}

#[test]
fn nothing_is_said_of_a_stream_without_times_but_that() {
    check(
        "t1: create(s1)[0..1us] destroy(s1)[60us..61us]
         s1: A[timing-off] by t1[2us..3us] B[timing-off] by t1[4us..5us]",
        &["s1 1000..60000 unknown: B has no time: timing-off"],
    );
}

#[test]
fn the_activity_of_the_submitting_thread_is_reported() {
    let trace = timeline(
        "s1: A[0..10us] by t1[-9us..-8us] B[90us..99us] by t1[85us..86us]
         t1: prepare(1)[20us..40us] prepare(1)[50us..60us] tokenize(1)[62us..80us] inner(1)[63us..79us]
         t2: other(1)[20us..80us]",
    );
    let dependencies = Dependencies::of(&trace);
    let stalls = Stalls::with(&trace, &dependencies);
    let evidence = stalls.evidence(&trace, &dependencies, stalls.worst(1)[0]);
    let did: Vec<_> = evidence
        .meanwhile
        .iter()
        .map(|it| {
            let name = match it.doing {
                ThreadActivity::Calls(function) => &trace.functions()[function.index()].name,
                ThreadActivity::Tracer => "tracer",
                ThreadActivity::Outside => "outside",
                ThreadActivity::InFlight => "in flight",
                ThreadActivity::Earlier => "earlier",
            };
            (name, it.calls, it.total)
        })
        .collect();
    // All of the gap is accounted for.
    let expected = [
        ("prepare", 2, 30_000),
        ("outside", 0, 27_000),
        ("tokenize", 1, 18_000),
        ("in flight", 0, 4_000),
        ("B", 1, 1_000),
    ];
    assert_eq!(did, expected);
}

#[test]
fn threads_have_the_time_for_which_streams_waited_for_them() {
    let trace = timeline(
        "s1: A[0..10us] by t1[-9us..-8us] B[90us..99us] by t1[85us..86us]
         s2: C[0..10us] by t2[-9us..-8us] D[40us..99us] by t2[35us..36us]",
    );
    let stats = Stats::of(&trace);
    let late: Vec<_> = stats
        .threads
        .iter()
        .map(|row| {
            (
                row.tid,
                row.streams_late[0].cause,
                row.streams_late[0].total_ns,
            )
        })
        .collect();
    assert_eq!(
        late,
        [(1001, "host-late", 80_000), (1002, "host-late", 30_000)]
    );
}

#[test]
fn overlaps_are_unions_and_never_sums() {
    let trace = timeline(
        "s1@0: memcpy(64)[0..40] A[50..60]
         s2@0: B[20..80]
         s3@1: C[70..90]",
    );
    let stats = Stats::of(&trace);
    let first = &stats.devices[0];
    assert_eq!((first.busy_ns, first.shared_ns), (80, 30));
    assert_eq!(
        (first.copy_ns, first.compute_ns, first.copy_compute_ns),
        (40, 60, 20)
    );
    assert_eq!((stats.overlap.busy_ns, stats.overlap.shared_ns), (90, 10));
}

#[test]
fn a_part_of_a_trace_says_nothing_of_the_rest() {
    let trace =
        timeline("t1: create(s1)[0..1us] work[2us..80us] | s1: A[20us..30us] by t2[17us..18us]");
    let dependencies = Dependencies::of(&trace);
    let whole = Stalls::with(&trace, &dependencies);
    let part = Stalls::of_part(&trace, &dependencies, true);
    assert_eq!(
        whole
            .iter()
            .filter(|it| matches!(it.lane, Lane::Stream(_)))
            .count(),
        2
    );
    assert_eq!(
        part.iter()
            .filter(|it| matches!(it.lane, Lane::Stream(_)))
            .count(),
        1
    );
}

#[test]
fn a_stream_that_grows_is_followed_up_to_the_first_time_that_is_missing() {
    let trace = timeline("s1: A[0..1us] by t1[-5..-4] B[?] C[90us..91us]");
    let growing = Stalls::of_part(&trace, &Dependencies::of(&trace), false);
    assert_eq!(growing.iter().count(), 0);
    // When no more data will arrive, the known facts count.
    assert_eq!(Stalls::of(&trace).iter().count(), 1);
}
