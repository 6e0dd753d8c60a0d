//! Why programs hang: each kind is named, and a program that is slow does not hang.

use ascend_trace_analysis::hang::{
    Culprit, Hangs, LateRank, NamedThread, Recorded, Report, RootKind, ThreadSight, Verdict, late,
};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::rows::Row;
use ascend_trace_recording::{Ending, Trace};
use ascend_trace_testkit::Timeline;

/// Calls that end then have not returned.
const OPEN_NS: i64 = 20_000_000_000;

/// The same in timelines that are broken off sooner.
const SOON_NS: i64 = 5_000_000_000;

/// `EventRow::creation` of `aclrtCreateEventWithFlag`: a wait is for the next record.
const WITH_FLAG: u8 = 1;

/// A timeline that ends without an end of the recording.
fn broken_off(text: &str) -> Trace {
    let mut timeline = Timeline::parse(text).expect("a timeline");
    for row in &mut timeline.rows {
        match row {
            Row::Call(row) if [OPEN_NS, SOON_NS].contains(&row.end_ns) => {
                row.ending = Ending::Open;
            }
            Row::Event(row) => row.creation = WITH_FLAG,
            _ => {}
        }
    }
    timeline.rows.retain(|row| !matches!(row, Row::End(_)));
    timeline.trace()
}

/// The report on a timeline that ends with open calls.
fn report(text: &str) -> Report {
    Hangs::default().of(&Window::whole(&broken_off(text)))
}

/// The report on a timeline after which nothing more was recorded.
fn report_until(text: &str, until: i64) -> Report {
    let fold = Hangs::default().until(Some(until));
    fold.of(&Window::whole(&broken_off(text)))
}

/// The first culprit of a program that hangs.
#[track_caller]
fn culprit(report: &Report) -> &Culprit {
    assert_eq!(report.verdict, Verdict::Hangs, "{report:#?}");
    &report.culprits[0]
}

/// The chain of the first waiting thread.
fn chain(report: &Report) -> Vec<&str> {
    let mut waiting = report.threads.iter().filter(|it| !it.chain.is_empty());
    let links = waiting.next().map_or(&[][..], |it| &it.chain);
    links.iter().map(|it| it.what.as_str()).collect()
}

#[test]
fn a_wait_for_an_event_that_is_never_recorded() {
    let report = report(
        "s1: A[1us..9us] by t1[0..1us] wait(E#0)[?] by t1[10us..11us] A[?] by t1[11us..12us]
         t1: sync(s1)[13us..20s]",
    );
    let culprit = culprit(&report);
    assert_eq!(
        (culprit.kind, culprit.certain),
        (RootKind::Unrecorded, true)
    );
    assert_eq!(
        culprit.what,
        "event 1 was not recorded after the wait for it, nor before"
    );
    assert_eq!(culprit.subject.event, Some(1));
    assert_eq!(culprit.threads, [1001]);
    assert_eq!(
        chain(&report),
        [
            "thread 1001 is in aclrtSynchronizeStream for 20.0 s: it waits for stream 1",
            "stream 1 is held by aclrtStreamWaitEvent for event 1",
        ]
    );
    let stream = &report.streams[0];
    let reported = (stream.pending, &*stream.head, &*stream.waits_for);
    assert_eq!(reported, (2, "aclrtStreamWaitEvent", "event 1"));
    assert_eq!(report.moved_ns, 13_000);
    assert_eq!(report.quiet_ns, OPEN_NS - 13_000);
}

#[test]
fn the_thread_that_recorded_the_event_before_is_named() {
    let report = report_seen(
        "s2: rec(E)[5us] by t2[4us..5us]
         s1: wait(E#1)[6us..7us] by t1[5us..6us]
         s2: reset(E)[8us] by t2[7us..8us]
         s1: wait(E#0)[?] by t1[10us..11us]
         t1: sync(s1)[13us..20s] | t2: aclrtMalloc(64)[14us..15us]",
        asleep,
    );
    let culprit = culprit(&report);
    assert_eq!(
        (culprit.kind, culprit.certain),
        (RootKind::Unrecorded, false)
    );
    assert_eq!(
        culprit.what,
        "event 1 was not recorded after the wait for it; thread 1002 recorded it last, 20.0 s ago on stream 2"
    );
    assert!(
        culprit
            .advice
            .ends_with("thread 1002 is outside AscendCL for 20.0 s"),
        "{culprit:?}"
    );
}

/// Threads that are in no call sleep.
fn asleep(threads: &[NamedThread]) -> Vec<ThreadSight> {
    let lives = ThreadSight::Lives {
        works: false,
        state: "it sleeps".to_owned(),
    };
    vec![lives; threads.len()]
}

/// They work.
fn at_work(threads: &[NamedThread]) -> Vec<ThreadSight> {
    let lives = ThreadSight::Lives {
        works: true,
        state: "it runs on a processor, or is ready to".to_owned(),
    };
    vec![lives; threads.len()]
}

/// They have ended.
fn over(threads: &[NamedThread]) -> Vec<ThreadSight> {
    vec![ThreadSight::Ended; threads.len()]
}

/// The report on a timeline of a program that runs on this host.
fn report_seen(text: &str, look: fn(&[NamedThread]) -> Vec<ThreadSight>) -> Report {
    let fold = Hangs::default().looking(Some(look));
    fold.of(&Window::whole(&broken_off(text)))
}

#[test]
fn a_thread_that_computes_may_still_set_a_signal() {
    let notify = "s2: aclrtRecordNotify(1)[5us] by t2[4us..5us]
                  s1: aclrtWaitAndResetNotify(1)[6us..7us] by t1[5us..6us] aclrtWaitAndResetNotify(1)[?] by t1[10us..11us]
                  t1: sync(s1)[13us..20s]";
    let event = "s2: A[1us..2us] by t2[0..1us]
                 s1: wait(E#0)[?] by t1[10us..11us] | t1: sync(s1)[13us..20s]";
    let rank = "p1.t1: HcclCommInitRootInfo(2,0,1)[0..10us] | p2.t1: HcclCommInitRootInfo(2,1,1)[5us..10us]
                p1.s1: HcclAllReduce(1,1024)[?] by t1[30us..31us] | p1.t1: sync(s1)[32us..20s]";
    for (text, kind) in [
        (notify, RootKind::Unset),
        (event, RootKind::Unrecorded),
        (rank, RootKind::Rank),
    ] {
        let computes = report_seen(text, at_work);
        assert_eq!(computes.verdict, Verdict::Quiet, "{computes:#?}");
        assert_eq!(computes.culprits[0].kind, kind, "{computes:#?}");
        let sleeps = report_seen(text, asleep);
        assert_eq!(culprit(&sleeps).kind, kind, "{sleeps:#?}");
    }
    // A certain cause hangs, even while a thread works.
    let cycle =
        "s1: aclrtWaitAndResetNotify(1)[?] by t1[0..1us] aclrtRecordNotify(1)[?] by t1[1us..2us]
                 s2: A[4us..5us] by t2[3us..4us] | t1: sync(s1)[13us..20s]";
    assert_eq!(culprit(&report_seen(cycle, at_work)).kind, RootKind::Cycle);
}

/// The program has ended, or runs elsewhere.
#[test]
fn a_thread_in_an_unknown_state_may_record_again() {
    let text = "s2: aclrtRecordNotify(1)[5us] by t2[4us..5us]
                s1: aclrtWaitAndResetNotify(1)[6us..7us] by t1[5us..6us] aclrtWaitAndResetNotify(1)[?] by t1[10us..11us]
                t1: sync(s1)[13us..20s]";
    let may = report(text);
    assert_eq!(may.verdict, Verdict::Quiet, "{may:#?}");
    let advice = &may.culprits[0].advice;
    assert!(
        advice.ends_with("thread 1002 is outside AscendCL for 20.0 s"),
        "{advice}"
    );
    // It set another one before.
    let other = report(&text.replacen("(1)", "(2)", 1).replacen("(1)", "(2)", 1));
    assert_eq!(culprit(&other).kind, RootKind::Unset);
}

#[test]
fn nothing_comes_from_a_thread_that_has_ended() {
    let text = "s1: wait(E#0)[?] by t1[10us..11us]
                t1: sync(s1)[13us..5s] | t2: aclrtMalloc(64)[4us..5us]";
    assert_eq!(report_seen(text, asleep).verdict, Verdict::Quiet);
    let ended = report_seen(text, over);
    let certain = culprit(&ended);
    assert_eq!(
        (certain.kind, certain.certain),
        (RootKind::Unrecorded, true)
    );
    let said: Vec<bool> = ended.threads.iter().map(|it| it.ended).collect();
    assert_eq!(said, [false, true], "{ended:#?}");
    let recorded = report_seen(
        "s2: rec(E)[5us] by t2[4us..5us]
         s1: wait(E#1)[6us..7us] by t1[5us..6us] wait(E#0)[?] by t1[10us..11us]
         t1: sync(s1)[13us..20s]",
        over,
    );
    let advice = &culprit(&recorded).advice;
    assert!(advice.ends_with("thread 1002 has ended"), "{advice}");
}

#[test]
fn a_callback_of_a_thread_that_has_ended() {
    let text = "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us] A[?] by t1[11us..12us]
                t1: subscribe(s1,t2)[2us..3us] sync(s1)[13us..20s]
                t2: aclrtProcessReport(100)[1us..9us]";
    let ended = report_seen(text, over);
    let certain = culprit(&ended);
    assert_eq!((certain.kind, certain.certain), (RootKind::Callback, true));
    assert_eq!(
        certain.what,
        "thread 1002, which subscribed to stream 1, has ended"
    );
    let unserved = report_seen(&text.replace("subscribe(s1,t2)[2us..3us] ", ""), over);
    assert_eq!(
        culprit(&unserved).what,
        "thread 1002, which processed reports, has ended, and no other thread does so"
    );
    let lives = report_seen(text, asleep);
    assert_eq!(
        culprit(&lives).what,
        "thread 1002, which processes reports, did so last 20.0 s ago"
    );
}

#[test]
fn a_reset_that_took_a_record_back_is_named() {
    let report = |waits: &str| {
        report(&format!(
            "s2: rec(E)[5us] by t1[4us..5us] reset(E)[9us] by t1[8us..9us]
             s1: {waits} wait(E#0)[?] by t1[10us..11us]
             t1: sync(s1)[13us..20s]"
        ))
    };
    let taken = report("");
    assert_eq!(
        culprit(&taken).what,
        "event 1 was not recorded after the wait for it; thread 1001 recorded it last, 20.0 s ago on stream 2, \
         and aclrtResetEvent on stream 2 took that back 20.0 s ago, before a wait for it"
    );
    assert!(
        culprit(&taken)
            .advice
            .starts_with("submit the wait before the reset"),
        "{taken:#?}"
    );
    // A wait has used the record.
    let used = report("wait(E#1)[6us..7us] by t1[5us..6us]");
    assert_eq!(
        culprit(&used).what,
        "event 1 was not recorded after the wait for it; thread 1001 recorded it last, 20.0 s ago on stream 2"
    );
}

const LOST: &str = "a notify holds one signal";

#[test]
fn a_record_while_the_notify_is_set_is_lost() {
    let behind = |records: &str, waits: &str| {
        report(&format!(
            "s1: {records} aclrtRecordNotify(1)[?] by t1[1us..2us]
             s2: {waits}
             t1: sync(s1)[4us..5us] sync(s2)[13us..20s]"
        ))
    };
    let first = "aclrtRecordNotify(1)[?] by t1[0..1us]";
    let twice = "aclrtWaitAndResetNotify(1)[?] by t1[6us..7us] Work[?] by t1[7us..8us] \
                 aclrtWaitAndResetNotify(1)[?] by t1[8us..9us] Work[?] by t1[9us..10us]";
    let lost = behind(first, twice);
    let found = culprit(&lost);
    assert_eq!(
        (found.kind, found.certain),
        (RootKind::Unset, true),
        "{lost:#?}"
    );
    assert!(
        found.what.contains(LOST) && found.what.contains("a record on stream 1 (call"),
        "{found:?}"
    );
    // The stream records it for itself, in its own order.
    let own = |tasks: &[&str]| {
        let tasks = tasks.iter().zip(0..);
        let tasks = tasks.map(|(it, at)| format!("{it}(1)[?] by t1[{at}us..{}us] ", at + 1));
        let tasks: String = tasks.collect();
        report(&format!(
            "s1: {tasks} Work[?] by t1[9us..10us] | t1: sync(s1)[13us..20s]"
        ))
    };
    let (set, wait) = ("aclrtRecordNotify", "aclrtWaitAndResetNotify");
    let alone = own(&[set, set, wait, wait]);
    assert!(culprit(&alone).what.contains(LOST), "{alone:#?}");
    // By turns none is lost.
    assert!(running(&own(&[set, wait, set, wait])).starts_with("Work on stream 1"));
    // The first wait may be earlier than the second record.
    let unknown = report(&format!(
        "s1: {first} aclrtRecordNotify(1)[?] by t1[1us..2us] | s2: {twice} | t1: sync(s2)[13us..20s]"
    ));
    assert!(
        running(&unknown).starts_with("Work on stream 2"),
        "{unknown:#?}"
    );
    let once = "aclrtWaitAndResetNotify(1)[?] by t1[6us..7us] Work[?] by t1[7us..8us]";
    assert!(running(&behind(first, once)).starts_with("Work on stream 2"));
}

/// The order of the streams' records and waits is not known.
#[test]
fn a_wait_that_does_not_end_has_lost_its_signal() {
    let text = "s1: aclrtRecordNotify(1)[?] by t1[0..1us] aclrtRecordNotify(1)[?] by t1[1us..2us]
                s2: aclrtWaitAndResetNotify(1)[?] by t1[2us..3us] aclrtWaitAndResetNotify(1)[?] by t1[3us..4us]
                s2: aclrtRecordNotify(2)[?] by t1[4us..5us]
                s3: aclrtWaitAndResetNotify(2)[?] by t1[5us..6us]
                t1: sync(s2)[13us..20s] | t2: sync(s3)[14us..20s]";
    let lost = report(text);
    let found = culprit(&lost);
    assert_eq!(
        (found.kind, found.certain),
        (RootKind::Unset, true),
        "{lost:#?}"
    );
    assert!(found.what.contains(LOST), "{found:?}");
    assert_eq!(lost.culprits.len(), 1, "{lost:#?}");
    assert_eq!(found.threads, [1001, 1002]);
    assert_eq!(lost.streams[0].stream_id, 2, "{lost:#?}");
    // Work behind it may be what runs.
    let works = format!("{text} | s2: Work[?] by t1[6us..7us] | s3: Work[?] by t1[7us..8us]");
    assert!(running(&report(&works)).starts_with("Work on stream"));
}

#[test]
fn a_stream_that_a_thread_waits_for_is_always_listed() {
    let text = "s1: A[1us..9us] by t1[0..1us] | t1: sync(s1)[13us..20s]";
    let report = report(text);
    assert_eq!(report.verdict, Verdict::Quiet);
    assert_eq!(report.culprits[0].kind, RootKind::Unknown, "{report:#?}");
    let stream = &report.streams[0];
    let listed = (stream.stream_id, stream.pending, &*stream.waits_for);
    assert_eq!(listed, (1, 0, "not known"));
    assert_eq!(report.streams.len(), 1);
    // It may just be about to return.
    let soon = report_until(&text.replace("..20s", "..500ms"), 500_000_000);
    assert!(soon.streams.is_empty(), "{soon:#?}");
}

/// A thread that prepares its first task.
#[test]
fn a_thread_that_has_submitted_nothing_yet_may_still_record_the_event() {
    let text = "s1: wait(E#0)[?] by t1[10us..11us]
                t1: sync(s1)[13us..20s] | t2: aclrtMalloc(64)[4us..5us]";
    let early = report(&text.replace("20s", "5s"));
    assert_eq!(early.verdict, Verdict::Quiet, "{early:#?}");
    let late = report(text);
    let culprit = culprit(&late);
    assert_eq!(
        (culprit.kind, culprit.certain),
        (RootKind::Unrecorded, false)
    );
}

#[test]
fn a_thread_that_may_still_record_the_event_has_time() {
    let text = "s2: A[1us..2us] by t2[0..1us]
                s1: wait(E#0)[?] by t1[10us..11us]
                t1: sync(s1)[13us..20s]";
    assert_eq!(report(text).verdict, Verdict::Hangs);
    // Five seconds prove nothing while thread 2 is free.
    let report = report(&text.replace("20s", "5s"));
    assert_eq!(report.verdict, Verdict::Quiet, "{report:#?}");
    // A pause of five seconds was usual before, so twelve prove nothing either.
    let paused = "s2: A[1us..2us] by t2[0..1us] A[6s..7s] by t2[6s..6s]
                  s1: wait(E#0)[?] by t1[8s..8s] | t1: sync(s1)[8s..20s]";
    let report = self::report(paused);
    assert_eq!(report.verdict, Verdict::Quiet, "{report:#?}");
    assert_eq!(report.longest_pause_ns, 5_999_998_000);
}

#[test]
fn streams_that_wait_for_each_other() {
    let report = report(
        "s1: aclrtWaitAndResetNotify(1)[?] by t1[0..1us] aclrtRecordNotify(2)[?] by t1[1us..2us]
         s2: aclrtWaitAndResetNotify(2)[?] by t1[2us..3us] aclrtRecordNotify(1)[?] by t1[3us..4us]
         s3: A[19s..19s] by t2[18s..18s]
         t1: sync(s1)[13us..20s]",
    );
    let culprit = culprit(&report);
    assert_eq!((culprit.kind, culprit.certain), (RootKind::Cycle, true));
    assert_eq!(
        culprit.what,
        "they wait for each other: stream 1 → stream 2 → stream 1"
    );
    assert!(
        culprit
            .advice
            .starts_with("submit the record, or what sets the signal"),
        "{culprit:?}"
    );
}

#[test]
fn streams_that_wait_for_each_other_by_events() {
    let report = report(
        "s1: wait(A#0)[?] by t1[0..1us] rec(B)[?] by t1[1us..2us]
         s2: wait(B#1)[?] by t1[2us..3us] rec(A)[?] by t1[3us..4us]
         t1: sync(s2)[13us..20s]",
    );
    let culprit = culprit(&report);
    assert_eq!(culprit.kind, RootKind::Cycle, "{culprit:?}");
    // In the right order nothing waits.
    let right = self::report(
        "s1: rec(B)[?] by t1[1us..2us] wait(A#0)[?] by t1[2us..3us]
         s2: wait(B#1)[?] by t1[3us..4us] rec(A)[?] by t1[4us..5us]
         t1: sync(s2)[13us..20s]",
    );
    assert_ne!(right.verdict, Verdict::Hangs, "{right:#?}");
}

#[test]
fn a_callback_that_no_thread_runs() {
    let text = "s1: aclrtLaunchCallback(1)[?] by t1[0..1us] A[?] by t1[1us..2us]
                t1: sync(s1)[13us..20s]";
    let report = report(text);
    let culprit = culprit(&report);
    assert_eq!((culprit.kind, culprit.certain), (RootKind::Callback, true));
    assert_eq!(culprit.what, "no thread of the program processes reports");
    // A thread that waits for reports may get it.
    let served = format!("{text}\nt2: aclrtProcessReport(100)[1us..20s]");
    let served = self::report(&served.replace("20s", "5s"));
    assert_eq!(served.verdict, Verdict::Quiet, "{served:#?}");
    // One that waits for the stream itself does not.
    let stuck = self::report(&format!(
        "{text}\nt2: aclrtProcessReport(100)[1us..2us] sync(s1)[3us..20s]"
    ));
    let culprit = self::culprit(&stuck);
    assert_eq!(culprit.kind, RootKind::Cycle, "{stuck:#?}");
}

#[test]
fn a_callback_that_its_own_thread_does_not_run() {
    let served = |by: &str| {
        report(&format!(
            "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us] A[?] by t1[11us..12us]
             t1: subscribe(s1,t2)[8us..9us] sync(s1)[13us..20s]
             t3: aclrtProcessReport(100)[1us..20s]{by}"
        ))
    };
    let what = |report: &Report| culprit(report).what.clone();
    assert_eq!(
        what(&served("")),
        "the thread that subscribed to stream 1 has made no call"
    );
    let outside = served("\nt2: aclrtMalloc(64)[7us..8us]");
    assert_eq!(
        what(&outside),
        "thread 1002 is subscribed to stream 1, and has not processed a report"
    );
    assert_eq!(
        (culprit(&outside).subject.tid, culprit(&outside).certain),
        (Some(1002), false)
    );
    // It waits for a stream that nothing holds up but the callback.
    let itself = served("\nt2: sync(s1)[14us..20s]");
    assert_eq!(culprit(&itself).kind, RootKind::Cycle, "{itself:#?}");
    assert!(
        culprit(&itself)
            .advice
            .starts_with("process reports in a thread that does nothing else"),
        "{itself:#?}"
    );
    // So does the callback itself.
    let inside = served("\nt2: aclrtProcessReport(100)[9us..20s] sync(s1)[14us..20s]");
    assert_eq!(culprit(&inside).kind, RootKind::Cycle, "{inside:#?}");
    assert_eq!(
        culprit(&inside).advice,
        "do not wait for the stream in its callback"
    );
    // Nobody is subscribed any more: any thread may run it.
    let text = "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us] A[?] by t1[11us..12us]
                t1: subscribe(s1,t2)[1us..2us] unsubscribe(s1,t2)[3us..4us] sync(s1)[13us..5s]
                t3: aclrtProcessReport(100)[1us..5s]";
    assert_eq!(report(text).verdict, Verdict::Quiet);
}

/// A function of the program that takes long, and a thread that gets no report.
#[test]
fn a_callback_that_runs_is_no_hang() {
    let served = |reports: &str| {
        report(&format!(
            "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us] A[?] by t1[11us..12us]
             t1: subscribe(s1,t2)[8us..9us] sync(s1)[13us..20s]
             t2: {reports}"
        ))
    };
    let runs = served("aclrtProcessReport(100)[1us..20s]");
    assert_eq!(runs.verdict, Verdict::Quiet, "{runs:#?}");
    let culprit = &runs.culprits[0];
    assert_eq!((culprit.kind, culprit.certain), (RootKind::Running, false));
    assert_eq!(
        culprit.what,
        "the callback of aclrtLaunchCallback on stream 1 has not returned for 20.0 s; thread 1002, which runs it, \
         is in the call that does so"
    );
    // The call before ended without a report, after the callback was due.
    let none = "aclrtProcessReport(100)[20us..30us]=507012 aclrtProcessReport(100)[40us..20s]";
    let none = served(none);
    let culprit = self::culprit(&none);
    assert_eq!(culprit.kind, RootKind::Callback, "{none:#?}");
    assert_eq!(
        culprit.what,
        "thread 1002 is subscribed to stream 1, and gets no report"
    );
}

/// A thread that waits for reports with a limit.
#[test]
fn no_report_within_the_limit_is_no_failure_of_the_device() {
    let stopped = |code: i64| {
        report(&format!(
            "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us] A[?] by t1[11us..12us]
             t1: subscribe(s1,t2)[8us..9us] sync(s1)[13us..20s]
             t2: aclrtProcessReport(100)[1us..7us]={code}"
        ))
    };
    let answered = stopped(507_012);
    let culprit = self::culprit(&answered);
    assert_eq!(culprit.kind, RootKind::Callback, "{answered:#?}");
    assert_eq!(
        culprit.what,
        "thread 1002, which processes reports, did so last 20.0 s ago"
    );
    // A code of the device.
    let failed = stopped(507_011);
    assert_eq!(self::culprit(&failed).kind, RootKind::Failed, "{failed:#?}");
}

/// Threads that have the same name for the program, one after the other.
#[test]
fn the_thread_that_lived_when_it_was_subscribed_is_meant() {
    let named = |others: &str| {
        let text = format!(
            "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us]
             t1: subscribe(s1,t2)[8us..9us] sync(s1)[13us..20s]
             {others}"
        );
        let mut timeline = Timeline::parse(&text).expect("a timeline");
        let handle = timeline.rows.iter().find_map(|row| match row {
            Row::Thread(row) if row.tid == 1002 => Some(row.handle),
            _ => None,
        });
        for row in &mut timeline.rows {
            match row {
                Row::Thread(row) if row.tid == 1003 => row.handle = handle.expect("thread 2"),
                Row::Call(row) if row.end_ns == OPEN_NS => row.ending = Ending::Open,
                _ => {}
            }
        }
        timeline.rows.retain(|row| !matches!(row, Row::End(_)));
        let report = Hangs::default().of(&Window::whole(&timeline.trace()));
        culprit(&report).subject.tid
    };
    let before_and_after = "t2: aclrtProcessReport(100)[1us..12us]";
    let after = "t3: aclrtMalloc(64)[13us..14us]";
    assert_eq!(named(&format!("{before_and_after}\n{after}")), Some(1002));
    // The first had ended before.
    let before = "t2: aclrtProcessReport(100)[1us..2us]";
    assert_eq!(named(&format!("{before}\n{after}")), Some(1003));
}

#[test]
fn a_rank_that_does_not_come() {
    let text = "p1.t1: HcclCommInitRootInfo(2,0,1)[0..10us] | p2.t1: HcclCommInitRootInfo(2,1,1)[5us..10us]
                p1.s1: HcclAllReduce(1,1024)[20us..21us] by t1[19us..20us] HcclAllReduce(1,1024)[?] by t1[30us..31us]
                p2.s1: HcclAllReduce(1,1024)[20us..21us] by t1[19us..20us]
                p1.t1: sync(s1)[32us..20s]";
    let report = report(text);
    let culprit = culprit(&report);
    assert_eq!((culprit.kind, culprit.rank), (RootKind::Rank, Some(1)));
    assert_eq!(
        culprit.what,
        "rank 1 has not submitted collective 2: its last is HcclAllReduce, number 1, 20.0 s ago"
    );
    assert_eq!(culprit.subject.pid, 2000);
    // Where the rank waits for something itself, that is the cause.
    let deeper = self::report(&format!(
        "{text}\np2.s2: wait(E#0)[?] by t1[30us..31us] | p2.t1: sync(s2)[32us..20s]"
    ));
    assert_eq!(
        self::culprit(&deeper).kind,
        RootKind::Unrecorded,
        "{deeper:#?}"
    );
    // With all ranks there, the collective runs.
    let all = format!("{text}\np2.s1: HcclAllReduce(1,1024)[?] by t1[30us..31us]");
    let all = self::report(&all.replace("20s", "5s"));
    assert_eq!(all.verdict, Verdict::Quiet, "{all:#?}");
    assert_eq!(all.culprits[0].kind, RootKind::Running);
}

#[test]
fn ranks_that_are_not_in_the_recording() {
    let report = report(
        "t1: HcclCommInitRootInfo(4,0,1)[0..10us]
         s1: HcclAllReduce(1,1024)[?] by t1[30us..31us] | t1: sync(s1)[32us..20s]",
    );
    let culprit = culprit(&report);
    assert_eq!((culprit.kind, culprit.rank), (RootKind::Rank, None));
    assert_eq!(culprit.what, "the recording does not have ranks 1, 2, 3");
}

#[test]
fn a_rank_that_does_not_join() {
    let report = report("t1: HcclCommInitRootInfo(2,0)[5us..20s]");
    assert_eq!(
        culprit(&report).what,
        "HcclCommInitRootInfo waits for all 2 ranks; rank 1 did not call it, as far as the recording shows"
    );
}

/// The late ranks of a job, by recordings of one host or of several.
fn late_in(recordings: &[&str], hosts: &[&str]) -> Vec<LateRank> {
    let reports: Vec<Report> = recordings.iter().map(|text| report(text)).collect();
    let recorded = reports.iter().zip(hosts).map(|(report, host)| Recorded {
        report,
        host,
        since_1970_ns: 0,
    });
    late(&recorded.collect::<Vec<_>>())
}

#[test]
fn the_rank_that_is_behind_is_found_across_recordings() {
    let first = "t1: HcclCommInitRootInfo(3,0,1)[0..10us]
                 s1: HcclAllReduce(1,1024)[20us..21us] by t1[19us..20us] HcclAllReduce(1,1024)[?] by t1[30us..31us]
                 t1: sync(s1)[32us..20s]";
    let second = first.replace("(3,0,1)", "(3,1,1)");
    let third = "t1: HcclCommInitRootInfo(3,2,1)[5us..10us]
                 s1: HcclAllReduce(1,1024)[20us..21us] by t1[19us..20us] | t1: sync(s1)[22us..23us]";
    let hosts = ["a", "a", "a"];
    let late = late_in(&[first, &second, third], &hosts);
    assert_eq!(late.len(), 1, "{late:#?}");
    let found = &late[0];
    assert_eq!((found.rank, found.size, found.recording), (2, 3, Some(2)));
    assert_eq!((found.count, found.awaited), (1, 2));
    assert_eq!(found.waiting, [0, 1]);
    assert_eq!(found.last.as_deref(), Some("HcclAllReduce"));
    // Where no recording has the rank, it is absent.
    let late = late_in(&[first, &second], &hosts);
    let absent: Vec<_> = late.iter().map(|it| (it.rank, it.recording)).collect();
    assert_eq!(absent, [(2, None)]);
    // With two that fit, nothing is said of either.
    let late = late_in(&[first, &second, third, third], &["a"; 4]);
    assert!(late.is_empty(), "{late:#?}");
    // Made at another time, it is of another communicator, unless clocks may differ.
    let later = third.replace("5us..10us", "12us..14us");
    let late = late_in(&[first, &second, &later], &hosts);
    assert_eq!(late[0].recording, None, "{late:#?}");
    let late = late_in(&[first, &second, &later], &["a", "a", "b"]);
    assert_eq!(late[0].recording, Some(2), "{late:#?}");
}

#[test]
fn a_rank_that_has_not_joined_is_absent_across_recordings() {
    let first = "t1: HcclCommInitRootInfo(3,0)[5us..20s]";
    let second = "t1: HcclCommInitRootInfo(3,2)[7us..20s]";
    let late = late_in(&[first, second], &["a", "b"]);
    assert_eq!(late.len(), 1, "{late:#?}");
    assert_eq!((late[0].rank, late[0].awaited), (1, 0));
    assert_eq!(late[0].waiting, [0, 2]);
}

#[test]
fn a_queue_that_is_full_behind_a_wait() {
    let report = report(
        "s1: wait(E#0)[?] by t1[0..1us] A[?] by t1[1us..2us] A[?] by t1[2us..3us] A[?] by t1[3us..4us]
         s1: A[?] by t1[5us..20s]",
    );
    let culprit = culprit(&report);
    assert_eq!((culprit.kind, culprit.certain), (RootKind::QueueFull, true));
    assert_eq!(
        culprit.what,
        "the queue of stream 1 is full behind a wait: event 1 was not recorded after the wait for it, nor before"
    );
}

#[test]
fn a_kernel_that_runs_for_long() {
    let kernel = |usual: &str| {
        report(&format!(
            "s1: MatMul[1us..{usual}] by t1[0..1us] MatMul[?] by t1[{usual}..{usual}]
             t1: sync(s1)[4s..20s]"
        ))
    };
    // It is for the reader to judge: the program goes on when it ends.
    let quick = kernel("9us");
    assert_eq!(
        running(&quick),
        "MatMul on stream 1 has not ended for 20.0 s; the longest of 1 before took 8.00 µs"
    );
    running(&kernel("3s"));
}

/// A program with a host function behind a kernel.
fn before_a_host_function(kernel: &str, usual: &str) -> Report {
    report(&format!(
        "s1: gemm[1us..{usual}] by t1[0..1us] {kernel} by t1[10us..11us] hostfunc[?] by t1[12us..13us]
         t1: sync(s1)[14us..20s]"
    ))
}

#[test]
fn a_host_function_is_named_behind_work_of_which_the_end_is_not_known() {
    let what = |report: &Report| running(report).to_owned();
    let short = before_a_host_function("gemm[not-sampled]", "9us");
    let name = |report: &Report| {
        let last = &report.threads[0].last_calls;
        let last = last.last().expect("the launch of the host function");
        (last.name.clone(), last.call)
    };
    let (function, call) = name(&short);
    assert_eq!(
        what(&short),
        format!(
            "the host function of {function} on stream 1 has not returned, or gemm before it has not ended, for 20.0 s; \
             gemm has no time; the longest of 1 before took 8.00 µs"
        )
    );
    assert_eq!(short.culprits[0].subject.call, Some(call));
    assert!(short.culprits[0].advice.contains("stacks of all threads"));
    // It is usually long, or not known.
    let long = before_a_host_function("gemm[not-sampled]", "3s");
    assert_eq!(
        what(&long),
        format!(
            "gemm on stream 1 has not ended, or the host function of {function} behind it has not returned, for 17.0 s; \
             gemm has no time; the longest of 1 before took 3.00 s"
        )
    );
    let unknown = before_a_host_function("attn[not-sampled]", "9us");
    assert!(what(&unknown).starts_with("attn on stream 1 has not ended, or the host function of"));
    // Its time comes when it has ended, so it runs.
    let runs = before_a_host_function("gemm[?]", "9us");
    assert_eq!(
        what(&runs),
        "gemm on stream 1 has not ended for 20.0 s; the longest of 1 before took 8.00 µs"
    );
    // The host function is behind a wait that nothing ends.
    let stopped = before_a_host_function("gemm[not-sampled] by t1[9us..10us] wait(E#0)[?]", "9us");
    assert_eq!(culprit(&stopped).kind, RootKind::Unrecorded);
}

#[test]
fn tasks_without_times_are_all_that_may_run() {
    let pending = |count: usize, reason: &str| {
        let tasks: String = (0..count)
            .map(|it| format!(" Work[{reason}] by t1[{it}us..{}us]", it + 1))
            .collect();
        let report = report(&format!("s1:{tasks} | t1: sync(s1)[14us..20s]"));
        running(&report).to_owned()
    };
    let reason = "not-sampled";
    assert_eq!(
        pending(1, reason),
        "Work on stream 1 has not ended for 20.0 s"
    );
    assert_eq!(
        pending(2, reason),
        "Work on stream 1, or the task behind it, has not ended for 20.0 s"
    );
    assert_eq!(
        pending(4, reason),
        "Work on stream 1, or one of 3 tasks behind it, has not ended for 20.0 s"
    );
    assert_eq!(pending(4, "?"), "Work on stream 1 has not ended for 20.0 s");
}

#[test]
fn the_host_function_of_a_graph_is_named() {
    let replayed = |node: &str| {
        let report = report(&format!(
            "s1 by t1: Work[captured] of g1 {node}[captured] of g1
             s1: graph[?] by t1[3us..4us] of g1 | t1: sync(s1)[14us..20s]"
        ));
        let culprit = &report.culprits[0];
        (running(&report).to_owned(), culprit.advice.clone())
    };
    let (what, advice) = replayed("hostfunc");
    assert!(
        what.contains(", a graph with a host function, on stream 1 has not ended"),
        "{what}"
    );
    assert!(advice.contains("stacks of all threads"), "{advice}");
    let (what, advice) = replayed("Other");
    assert!(!what.contains("host function"), "{what}");
    assert!(!advice.contains("stacks"), "{advice}");
}

/// The running task for which a program waits that does not hang.
#[track_caller]
fn running(report: &Report) -> &str {
    assert_eq!(report.verdict, Verdict::Quiet, "{report:#?}");
    let culprit = &report.culprits[0];
    assert_eq!(
        (culprit.kind, culprit.certain),
        (RootKind::Running, false),
        "{report:#?}"
    );
    &culprit.what
}

#[test]
fn a_stream_that_only_waits_is_not_blamed() {
    for (kind, name) in [("Huge", "Huge"), ("hostfunc", "host function")] {
        let report = report(&format!(
            "s2: Tiny[1us..2us] by t1[0..1us]
             s1: {kind}[?] by t1[3us..4us] rec(E)[?] by t1[4us..5us]
             s2: wait(E#1)[?] by t1[5us..6us] Tiny[?] by t1[6us..7us] rec(F)[?] by t1[7us..8us]
             s3: wait(F#1)[?] by t1[8us..9us] Tiny[?] by t1[9us..10us]
             t1: sync(s3)[11us..20s]"
        ));
        let what = running(&report);
        assert!(
            what.contains(name) && what.contains("on stream 1"),
            "{what}"
        );
        let culprit = &report.culprits[0];
        assert_eq!(report.culprits.len(), 1, "{report:#?}");
        let mut streams = culprit.streams.clone();
        streams.sort_unstable();
        assert_eq!(streams, [1, 2, 3]);
        let chain = chain(&report);
        assert_eq!(
            chain[1..4],
            [
                "stream 3 is held by aclrtStreamWaitEvent for event 2",
                "the record of event 2 is pending on stream 2, submitted by thread 1001 20.0 s ago",
                "stream 2 is held by aclrtStreamWaitEvent for event 1",
            ]
        );
        assert_eq!(report.streams[2].head, "aclrtStreamWaitEvent");
        assert_eq!(report.streams[2].waits_for, "event 2");
    }
}

/// The record of F is before all that holds stream 2: it was reached.
#[test]
fn a_record_that_its_stream_has_reached_holds_no_other_stream() {
    let report = report(
        "s2: rec(F)[?] by t1[0..1us]
         s1: wait(F#1)[?] by t1[1us..2us] Huge[?] by t1[3us..4us] rec(E)[?] by t1[4us..5us]
         s2: wait(E#1)[?] by t1[5us..6us] Tiny[?] by t1[6us..7us]
         t1: sync(s2)[11us..20s]",
    );
    let what = running(&report);
    assert_eq!(what, "Huge on stream 1 has not ended for 20.0 s");
}

#[test]
fn a_thread_that_waits_for_what_runs_may_still_record_an_event() {
    let waits = |by: &str| {
        report(&format!(
            "s1: {by}[?] by t1[0..1us]
             s2: wait(E#0)[?] by t2[1us..2us]
             t1: sync(s1)[3us..5s] | t2: sync(s2)[3us..5s]"
        ))
    };
    let alive = waits("Huge");
    assert_eq!(alive.verdict, Verdict::Quiet, "{alive:#?}");
    assert!(alive.culprits.iter().all(|it| !it.certain));
    // Where no thread can go on, the cause is certain.
    let dead = waits("wait(D#0)");
    assert_eq!(culprit(&dead).kind, RootKind::Unrecorded);
    assert!(culprit(&dead).certain);
}

/// Another thread makes this call while a host function runs, and has this name.
fn in_host_function(call: &str, name: &str) -> Report {
    let mut timeline = Timeline::parse(&format!(
        "s1: A[1us..9us] by t1[0..1us] hostfunc[?] by t1[10us..11us] A[?] by t1[11us..12us]
         t1: sync(s1)[13us..20s] | t2: {call}"
    ))
    .expect("a timeline");
    for row in &mut timeline.rows {
        match row {
            Row::Thread(row) => {
                let is_second = row.tid == 1002;
                row.name = if is_second { name } else { "app" }.to_owned();
            }
            Row::Call(row) if row.end_ns == OPEN_NS => row.ending = Ending::Open,
            _ => {}
        }
    }
    timeline.rows.retain(|row| !matches!(row, Row::End(_)));
    Hangs::default().of(&Window::whole(&timeline.trace()))
}

#[test]
fn a_host_function_that_waits_for_its_own_stream_hangs() {
    let report = in_host_function("sync(s1)[15us..20s]", "runtime-host");
    let culprit = culprit(&report);
    assert_eq!(culprit.kind, RootKind::Cycle, "{report:#?}");
    assert_eq!(
        culprit.what,
        "they wait for each other: stream 1 → thread 1002 → stream 1"
    );
    assert_eq!(
        culprit.advice,
        "do not wait for the stream in its host function"
    );
    // A worker of the program has the program's name, or worked before.
    let worker = in_host_function("sync(s1)[15us..20s]", "app");
    assert!(running(&worker).contains("host function"), "{worker:#?}");
    let earlier = in_host_function("sync(s1)[2us..3us] sync(s1)[15us..20s]", "worker");
    assert!(running(&earlier).contains("host function"), "{earlier:#?}");
}

#[test]
fn a_device_that_failed_before() {
    let report = report(
        "s1: A[?] by t1[0..1us]
         t1: sync(s1)[2us..3us]=507000 sync(s1)[4us..20s]",
    );
    let culprit = culprit(&report);
    assert_eq!(
        (culprit.kind, culprit.code),
        (RootKind::Failed, Some(507_000))
    );
    assert!(
        culprit.what.starts_with(
            "aclrtSynchronizeStream on stream 1 returned 507000 (ACL_ERROR_RT_INTERNAL_ERROR)"
        ),
        "{culprit:?}"
    );
}

#[test]
fn a_thread_outside_is_named_and_does_not_hang_for_certain() {
    let text = "s1: A[1us..9us] by t1[0..1us] | t1: sync(s1)[2us..10us]";
    let report = report_until(text, OPEN_NS);
    assert_eq!(report.verdict, Verdict::Quiet, "{report:#?}");
    let culprit = &report.culprits[0];
    assert_eq!(culprit.kind, RootKind::Outside);
    assert_eq!(
        culprit.what,
        "thread 1001 is outside AscendCL: its last call, aclrtSynchronizeStream on stream 1, ended 20.0 s ago"
    );
    assert_eq!(report.threads[0].last_calls.len(), 2);
    // Half a second is nothing.
    let alive = report_until(text, 500_000_000);
    assert_eq!(alive.verdict, Verdict::Moving);
    assert!(alive.culprits.is_empty());
}

#[test]
fn what_only_asks_moves_nothing() {
    let report = report_until(
        "s1: wait(E#0)[?] by t1[0..1us] | t1: query(s1)[10s..10s]=1 query(s1)[19s..19s]=1",
        19_500_000_000,
    );
    let culprit = culprit(&report);
    assert_eq!(culprit.kind, RootKind::Unrecorded, "{report:#?}");
    assert!(report.threads[0].polls);
    // It asked after a pause.
    assert_eq!(report.threads[0].polls_since_ns, Some(19_000_000_000));
    assert_eq!(report.moved_ns, 1_000);
    let loops: String = (1..=78)
        .map(|it| format!(" query(s1)[{0}ms..{0}ms]=1", 500 * it + 1))
        .collect();
    let loops = report_until(
        &format!("s1: wait(E#0)[?] by t1[0..1us] | t1: aclrtMalloc(64)[2us..3us]{loops}"),
        39_100_000_000,
    );
    assert_eq!(
        loops.threads[0].polls_since_ns,
        Some(501_000_000),
        "{loops:#?}"
    );
}

#[test]
fn tasks_proven_done_by_a_sync_are_not_pending() {
    // The kernel and the record have no times, and are done for all that.
    let report = report(
        "s1: A[?] by t1[0..1us] rec(E)[?] by t1[1us..2us] wait(F#0)[?] by t1[5us..6us]
         t1: sync(E)[3us..4us] sync(s1)[7us..20s]",
    );
    assert_eq!(culprit(&report).kind, RootKind::Unrecorded);
    assert_eq!(report.streams[0].pending, 1);
}

#[test]
fn a_program_that_ended_well_does_not_hang() {
    let trace = ascend_trace_testkit::timeline("s1: A[1us..9us] | t1: sync(s1)[2us..10us]");
    let report = Hangs::default().of(&Window::whole(&trace));
    assert_eq!(report.verdict, Verdict::Ended);
    assert!(report.culprits.is_empty() && report.streams.is_empty());
}

#[test]
fn losses_make_missing_records_doubtful() {
    let text = "s1: wait(E#0)[?] by t1[10us..11us] | t1: sync(s1)[13us..20s]";
    let mut timeline = Timeline::parse(text).expect("a timeline");
    for row in &mut timeline.rows {
        match row {
            Row::Call(row) if row.end_ns == OPEN_NS => row.ending = Ending::Open,
            Row::Event(row) => row.creation = WITH_FLAG,
            _ => {}
        }
    }
    timeline
        .rows
        .push(Row::Loss(ascend_trace_recording::rows::LossRow {
            calls: 3,
            ..Default::default()
        }));
    let report = Hangs::default().of(&Window::whole(&timeline.trace()));
    assert!(!report.culprits[0].certain, "{report:#?}");
    assert!(report.missing[0].starts_with("3 calls and 0 other records were lost"));
}
