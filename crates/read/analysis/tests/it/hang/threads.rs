//! Threads that may still record the event, or cannot.

use ascend_trace_analysis::hang::{
    Hangs, NamedThread, OutsideWait, Report, RootKind, SystemSight, Verdict,
};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::rows::{LossRow, Row};

use super::{
    OPEN_NS, asleep, at_work, broken_off, certain, culprit, hangs, in_a_circle, in_a_row, over,
    probable, report, report_seen, report_seen_late, report_until, running, waiting,
};

/// Two threads that have done some work.
const BOTH: &str = "s1: A[1us..2us] by t1[0..1us] | s2: B[1us..2us] by t2[0..1us]";

fn waiters(report: &Report) -> Vec<u32> {
    let mut waiters = report.culprits[0].threads.clone();
    waiters.sort_unstable();
    waiters
}

#[test]
fn threads_that_hold_locks_for_each_other_are_a_cycle() {
    let report = report_seen_late(BOTH, in_a_circle);
    let found = certain(&report, RootKind::Cycle);
    assert_eq!(
        found.what,
        "they wait for each other: thread 1001 → thread 1002 → thread 1001"
    );
    assert!(
        found.advice.starts_with("take locks in the same order"),
        "{found:#?}"
    );
    assert_eq!(waiters(&report), [1001, 1002]);
}

#[test]
fn the_thread_at_the_end_of_waits_for_locks_is_named_alone() {
    let report = report_seen_late(BOTH, in_a_row);
    assert_eq!(report.verdict, Verdict::Quiet, "{report:#?}");
    assert_eq!(report.culprits.len(), 1, "{report:#?}");
    let found = &report.culprits[0];
    assert_eq!(
        (found.kind, found.subject.tid),
        (RootKind::Outside, Some(1001))
    );
    assert_eq!(waiters(&report), [1001, 1002]);
    let chain: Vec<&str> = report.threads[1]
        .chain
        .iter()
        .map(|it| it.what.as_str())
        .collect();
    assert_eq!(
        chain,
        ["thread 1002 is outside AscendCL for 20.0 s: it waits for a lock that thread 1001 holds"]
    );
    // The owner waits for work that runs.
    let text = "s1: A[?] by t1[0..1us] | t1: sync(s1)[2us..20s?] | s2: B[1us..2us] by t2[0..1us]";
    let alive = report_seen(text, in_a_row);
    assert!(
        running(&alive).starts_with("A on stream 1 has not ended"),
        "{alive:#?}"
    );
    assert_eq!(waiters(&alive), [1001, 1002]);
}

#[test]
fn the_end_of_a_thread_and_its_locks_are_waited_for() {
    fn joined(threads: &[NamedThread]) -> SystemSight {
        waiting(threads, |place| {
            (place == 0).then_some(OutsideWait::End(1002))
        })
    }
    fn left(threads: &[NamedThread]) -> SystemSight {
        waiting(threads, |place| {
            (place == 0).then_some(OutsideWait::LeftLock(1007))
        })
    }
    let found = report_seen_late(BOTH, joined);
    assert_eq!(found.culprits[0].subject.tid, Some(1002), "{found:#?}");
    assert_eq!(found.culprits.len(), 1);
    let found = report_seen_late(BOTH, left);
    let culprit = certain(&found, RootKind::Ended);
    assert_eq!(
        culprit.what,
        "thread 1007 has ended, and holds a lock that thread 1001 waits for"
    );
}

/// Where all threads wait for each other, that is no matter of time.
#[test]
fn a_program_in_which_no_thread_goes_on_hangs() {
    fn stuck(threads: &[NamedThread]) -> SystemSight {
        SystemSight {
            stuck: threads.iter().map(|it| it.pid).collect(),
            ..asleep(threads)
        }
    }
    let report = report_seen_late(BOTH, stuck);
    let found = certain(&report, RootKind::Outside);
    assert!(
        found
            .advice
            .starts_with("all threads of the process wait for each other"),
        "{found:#?}"
    );
    // A kernel runs: its end may matter.
    let text = "s1: A[?] by t1[0..1us] | t1: sync(s1)[2us..20s?] | s2: B[1us..2us] by t2[0..1us]";
    let alive = report_seen(text, stuck);
    assert_eq!(alive.verdict, Verdict::Quiet, "{alive:#?}");
}

/// It set the notify before, and waits for a lock of the thread that waits for the notify.
#[test]
fn the_thread_that_would_set_a_signal_is_followed() {
    let text = "s2: aclrtRecordNotify(1)[5us] by t2[4us..5us]
                s1: aclrtWaitAndResetNotify(1)[6us..7us] by t1[5us..6us] aclrtWaitAndResetNotify(1)[?] by t1[10us..11us]
                t1: sync(s1)[13us..20s?]";
    let report = report_seen(text, in_a_row);
    let found = probable(&report, RootKind::Cycle);
    assert!(
        found
            .what
            .starts_with("they wait for each other: stream 1 → "),
        "{found:#?}"
    );
    let chain = &report.threads[0].chain;
    assert!(
        chain
            .iter()
            .any(|it| it.what == "thread 1002 set it last, 20.0 s ago"),
        "{report:#?}"
    );
    // It may set it again, for all that is known.
    let other = report_seen(text, asleep);
    assert_eq!(culprit(&other).kind, RootKind::Unset);
    let what = &culprit(&other).what;
    assert!(
        what.ends_with("thread 1002 did so last, 20.0 s ago"),
        "{what}"
    );
}

#[test]
fn a_thread_that_computes_may_still_set_a_signal() {
    let notify = "s2: aclrtRecordNotify(1)[5us] by t2[4us..5us]
                  s1: aclrtWaitAndResetNotify(1)[6us..7us] by t1[5us..6us] aclrtWaitAndResetNotify(1)[?] by t1[10us..11us]
                  t1: sync(s1)[13us..20s?]";
    let event = "s2: A[1us..2us] by t2[0..1us]
                 s1: wait(E#0)[?] by t1[10us..11us] | t1: sync(s1)[13us..20s?]";
    let rank = "p1.t1: HcclCommInitRootInfo(2,0,1)[0..10us] | p2.t1: HcclCommInitRootInfo(2,1,1)[5us..10us]
                p1.s1: HcclAllReduce(1,1024)[?] by t1[30us..31us] | p1.t1: sync(s1)[32us..20s?]";
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
                 s2: A[4us..5us] by t2[3us..4us] | t1: sync(s1)[13us..20s?]";
    assert_eq!(culprit(&report_seen(cycle, at_work)).kind, RootKind::Cycle);
}

/// The program has ended, or runs elsewhere.
#[test]
fn a_thread_in_an_unknown_state_may_record_again() {
    let text = "s2: aclrtRecordNotify(1)[5us] by t2[4us..5us]
                s1: aclrtWaitAndResetNotify(1)[6us..7us] by t1[5us..6us] aclrtWaitAndResetNotify(1)[?] by t1[10us..11us]
                t1: sync(s1)[13us..20s?]";
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
                t1: sync(s1)[13us..5s?] | t2: aclrtMalloc(64)[4us..5us]";
    assert_eq!(report_seen(text, asleep).verdict, Verdict::Quiet);
    let ended = report_seen(text, over);
    certain(&ended, RootKind::Unrecorded);
    let said: Vec<bool> = ended.threads.iter().map(|it| it.ended).collect();
    assert_eq!(said, [false, true], "{ended:#?}");
    let recorded = report_seen(
        "s2: rec(E)[5us] by t2[4us..5us]
         s1: wait(E#1)[6us..7us] by t1[5us..6us] wait(E#0)[?] by t1[10us..11us]
         t1: sync(s1)[13us..20s?]",
        over,
    );
    let advice = &culprit(&recorded).advice;
    assert!(advice.ends_with("thread 1002 has ended"), "{advice}");
}

/// A thread that prepares its first task.
#[test]
fn a_thread_that_has_submitted_nothing_yet_may_still_record_the_event() {
    let text = "s1: wait(E#0)[?] by t1[10us..11us]
                t1: sync(s1)[13us..20s?] | t2: aclrtMalloc(64)[4us..5us]";
    let early = report(&text.replace("20s", "5s"));
    assert_eq!(early.verdict, Verdict::Quiet, "{early:#?}");
    let late = report(text);
    probable(&late, RootKind::Unrecorded);
}

#[test]
fn a_thread_that_may_still_record_the_event_has_time() {
    let text = "s2: A[1us..2us] by t2[0..1us]
                s1: wait(E#0)[?] by t1[10us..11us]
                t1: sync(s1)[13us..20s?]";
    assert_eq!(report(text).verdict, Verdict::Hangs);
    // Five seconds prove nothing while thread 2 is free.
    let soon = report(&text.replace("20s", "5s"));
    assert_eq!(soon.verdict, Verdict::Quiet, "{soon:#?}");
    // A pause of five seconds was usual before, so twelve prove nothing either.
    let paused = "s2: A[1us..2us] by t2[0..1us] A[6s..7s] by t2[6s..6s]
                  s1: wait(E#0)[?] by t1[8s..8s] | t1: sync(s1)[8s..20s?]";
    let report = report(paused);
    assert_eq!(report.verdict, Verdict::Quiet, "{report:#?}");
    assert_eq!(report.longest_pause_ns, 5_999_998_000);
}

#[test]
fn a_thread_that_waits_for_what_runs_may_still_record_an_event() {
    let waits = |by: &str| {
        report(&format!(
            "s1: {by}[?] by t1[0..1us]
             s2: wait(E#0)[?] by t2[1us..2us]
             t1: sync(s1)[3us..5s?] | t2: sync(s2)[3us..5s?]"
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
fn a_program_that_ended_well_does_not_hang() {
    let trace = ascend_trace_testkit::timeline("s1: A[1us..9us] | t1: sync(s1)[2us..10us]");
    let report = Hangs::default().of(&Window::whole(&trace));
    assert_eq!(report.verdict, Verdict::Ended);
    assert!(report.culprits.is_empty() && report.streams.is_empty());
}

#[test]
fn losses_make_missing_records_doubtful() {
    let text = "s1: wait(E#0)[?] by t1[10us..11us] | t1: sync(s1)[13us..20s?]";
    let lost = LossRow {
        calls: 3,
        ..LossRow::default()
    };
    let timeline = broken_off(text).with_rows([Row::Loss(lost)]);
    let report = hangs(Hangs::default(), &timeline);
    assert!(!report.culprits[0].certain, "{report:#?}");
    assert!(report.missing[0].starts_with("3 calls and 0 other records were lost"));
}
