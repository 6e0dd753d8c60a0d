//! Callbacks that no thread runs, or that run for long.

use ascend_trace_analysis::hang::{Hangs, Report, RootKind, Verdict};
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

use super::{asleep, certain, culprit, hangs, over, report, report_seen};

#[test]
fn a_callback_of_a_thread_that_has_ended() {
    let text = "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us] A[?] by t1[11us..12us]
                t1: subscribe(s1,t2)[2us..3us] sync(s1)[13us..20s?]
                t2: aclrtProcessReport(100)[1us..9us]";
    let ended = report_seen(text, over);
    let certain = certain(&ended, RootKind::Callback);
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
fn a_callback_that_no_thread_runs() {
    let text = "s1: aclrtLaunchCallback(1)[?] by t1[0..1us] A[?] by t1[1us..2us]
                t1: sync(s1)[13us..20s?]";
    let report = report(text);
    let culprit = certain(&report, RootKind::Callback);
    assert_eq!(culprit.what, "no thread of the program processes reports");
    // A thread that waits for reports may get it.
    let served = format!("{text}\nt2: aclrtProcessReport(100)[1us..20s?]");
    let served = super::report(&served.replace("20s", "5s"));
    assert_eq!(served.verdict, Verdict::Quiet, "{served:#?}");
    // One that waits for the stream itself does not.
    let stuck = super::report(&format!(
        "{text}\nt2: aclrtProcessReport(100)[1us..2us] sync(s1)[3us..20s?]"
    ));
    assert_eq!(super::culprit(&stuck).kind, RootKind::Cycle, "{stuck:#?}");
}

#[test]
fn a_callback_that_its_own_thread_does_not_run() {
    let served = |by: &str| {
        report(&format!(
            "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us] A[?] by t1[11us..12us]
             t1: subscribe(s1,t2)[8us..9us] sync(s1)[13us..20s?]
             t3: aclrtProcessReport(100)[1us..20s?]{by}"
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
    let itself = served("\nt2: sync(s1)[14us..20s?]");
    assert_eq!(culprit(&itself).kind, RootKind::Cycle, "{itself:#?}");
    assert!(
        culprit(&itself)
            .advice
            .starts_with("process reports in a thread that does nothing else"),
        "{itself:#?}"
    );
    // So does the callback itself.
    let inside = served("\nt2: aclrtProcessReport(100)[9us..20s?] sync(s1)[14us..20s?]");
    assert_eq!(culprit(&inside).kind, RootKind::Cycle, "{inside:#?}");
    assert_eq!(
        culprit(&inside).advice,
        "do not wait for the stream in its callback"
    );
    // Nobody is subscribed any more: any thread may run it.
    let text = "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us] A[?] by t1[11us..12us]
                t1: subscribe(s1,t2)[1us..2us] unsubscribe(s1,t2)[3us..4us] sync(s1)[13us..5s?]
                t3: aclrtProcessReport(100)[1us..5s?]";
    assert_eq!(report(text).verdict, Verdict::Quiet);
}

/// A function of the program that takes long, and a thread that gets no report.
#[test]
fn a_callback_that_runs_is_no_hang() {
    let served = |reports: &str| {
        report(&format!(
            "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us] A[?] by t1[11us..12us]
             t1: subscribe(s1,t2)[8us..9us] sync(s1)[13us..20s?]
             t2: {reports}"
        ))
    };
    let runs = served("aclrtProcessReport(100)[1us..20s?]");
    assert_eq!(runs.verdict, Verdict::Quiet, "{runs:#?}");
    let culprit = &runs.culprits[0];
    assert_eq!((culprit.kind, culprit.certain), (RootKind::Running, false));
    assert_eq!(
        culprit.what,
        "the callback of aclrtLaunchCallback on stream 1 has not returned for 20.0 s; thread 1002, which runs it, \
         is in the call that does so"
    );
    // The call before ended without a report, after the callback was due.
    let none = "aclrtProcessReport(100)[20us..30us]=507012 aclrtProcessReport(100)[40us..20s?]";
    let none = served(none);
    let culprit = super::culprit(&none);
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
             t1: subscribe(s1,t2)[8us..9us] sync(s1)[13us..20s?]
             t2: aclrtProcessReport(100)[1us..7us]={code}"
        ))
    };
    let answered = stopped(507_012);
    let found = culprit(&answered);
    assert_eq!(found.kind, RootKind::Callback, "{answered:#?}");
    assert_eq!(
        found.what,
        "thread 1002, which processes reports, did so last 20.0 s ago"
    );
    // A code of the device.
    let failed = stopped(507_011);
    assert_eq!(culprit(&failed).kind, RootKind::Failed, "{failed:#?}");
}

/// Threads that have the same name for the program, one after the other.
#[test]
fn the_thread_that_lived_when_it_was_subscribed_is_meant() {
    let named = |others: &str| {
        let text = format!(
            "s1: aclrtLaunchCallback(1)[?] by t1[10us..11us]
             t1: subscribe(s1,t2)[8us..9us] sync(s1)[13us..20s?]
             {others}"
        );
        let timeline = Timeline::of(&text);
        let handle = timeline.rows.iter().find_map(|row| match row {
            Row::Thread(row) if row.tid == 1002 => Some(row.handle),
            _ => None,
        });
        let timeline = timeline.changed(|row| match row {
            Row::Thread(row) if row.tid == 1003 => row.handle = handle.expect("thread 2"),
            _ => {}
        });
        culprit(&hangs(Hangs::default(), &timeline)).subject.tid
    };
    let before_and_after = "t2: aclrtProcessReport(100)[1us..12us]";
    let after = "t3: aclrtMalloc(64)[13us..14us]";
    assert_eq!(named(&format!("{before_and_after}\n{after}")), Some(1002));
    // The first had ended before.
    let before = "t2: aclrtProcessReport(100)[1us..2us]";
    assert_eq!(named(&format!("{before}\n{after}")), Some(1003));
}
