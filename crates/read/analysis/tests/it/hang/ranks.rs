//! Ranks that are late or absent, in one recording and across recordings.

use ascend_trace_analysis::hang::{LateRank, Recorded, Report, RootKind, Verdict, late};

use super::{culprit, report};

#[test]
fn a_rank_that_does_not_come() {
    let text = "p1.t1: HcclCommInitRootInfo(2,0,1)[0..10us] | p2.t1: HcclCommInitRootInfo(2,1,1)[5us..10us]
                p1.s1: HcclAllReduce(1,1024)[20us..21us] by t1[19us..20us] HcclAllReduce(1,1024)[?] by t1[30us..31us]
                p2.s1: HcclAllReduce(1,1024)[20us..21us] by t1[19us..20us]
                p1.t1: sync(s1)[32us..20s?]";
    let absent = report(text);
    let late = culprit(&absent);
    assert_eq!((late.kind, late.rank), (RootKind::Rank, Some(1)));
    assert_eq!(
        late.what,
        "rank 1 has not submitted collective 2: its last is HcclAllReduce, number 1, 20.0 s ago"
    );
    assert_eq!(late.subject.pid, 2000);
    // Where the rank waits for something itself, that is the cause.
    let deeper = report(&format!(
        "{text}\np2.s2: wait(E#0)[?] by t1[30us..31us] | p2.t1: sync(s2)[32us..20s?]"
    ));
    assert_eq!(culprit(&deeper).kind, RootKind::Unrecorded, "{deeper:#?}");
    // With all ranks there, the collective runs.
    let all = format!("{text}\np2.s1: HcclAllReduce(1,1024)[?] by t1[30us..31us]");
    let all = report(&all.replace("20s", "5s"));
    assert_eq!(all.verdict, Verdict::Quiet, "{all:#?}");
    assert_eq!(all.culprits[0].kind, RootKind::Running);
}

/// Two communicators, which the ranks use in opposite orders. The streams have the same number.
#[test]
fn collectives_in_opposite_orders_are_one_cycle() {
    let text = "t1: HcclCommInitRootInfo(2,0,1)[0..10us] HcclCommInitRootInfo(2,0,3)[20us..30us]
                t2: HcclCommInitRootInfo(2,1,2)[5us..10us] HcclCommInitRootInfo(2,1,4)[25us..30us]
                s1@0: HcclAllReduce(1,1024)[?] by t1[40us..41us] HcclAllReduce(3,1024)[?] by t1[42us..43us]
                s2@1: HcclAllReduce(4,1024)[?] by t2[40us..41us] HcclAllReduce(2,1024)[?] by t2[42us..43us]
                t1: sync(s1)[50us..20s?] | t2: sync(s2)[50us..20s?]";
    let opposite = report(text);
    let cycle = culprit(&opposite);
    assert_eq!(cycle.kind, RootKind::Cycle, "{opposite:#?}");
    assert!(
        cycle
            .advice
            .starts_with("submit the collectives of all communicators in the same order"),
        "{cycle:#?}"
    );
    assert_eq!(opposite.culprits.len(), 1, "{opposite:#?}");
    let same = text.replace("HcclAllReduce(4,", "HcclAllReduce(5,");
    let same = same
        .replace("HcclAllReduce(2,", "HcclAllReduce(4,")
        .replace("HcclAllReduce(5,", "HcclAllReduce(2,");
    assert_ne!(report(&same).verdict, Verdict::Hangs);
}

#[test]
fn ranks_that_are_not_in_the_recording() {
    let report = report(
        "t1: HcclCommInitRootInfo(4,0,1)[0..10us]
         s1: HcclAllReduce(1,1024)[?] by t1[30us..31us] | t1: sync(s1)[32us..20s?]",
    );
    let culprit = culprit(&report);
    assert_eq!((culprit.kind, culprit.rank), (RootKind::Rank, None));
    assert_eq!(culprit.what, "the recording does not have ranks 1, 2, 3");
}

#[test]
fn a_rank_that_does_not_join() {
    let report = report("t1: HcclCommInitRootInfo(2,0)[5us..20s?]");
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
                 t1: sync(s1)[32us..20s?]";
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
    let first = "t1: HcclCommInitRootInfo(3,0)[5us..20s?]";
    let second = "t1: HcclCommInitRootInfo(3,2)[7us..20s?]";
    let late = late_in(&[first, second], &["a", "b"]);
    assert_eq!(late.len(), 1, "{late:#?}");
    assert_eq!((late[0].rank, late[0].awaited), (1, 0));
    assert_eq!(late[0].waiting, [0, 2]);
}
