//! Why programs hang: each kind is named, and a program that is slow does not hang.

/// Callbacks of streams, and the threads that run them.
mod callbacks;
/// Callbacks and host functions that wait for threads of the program.
mod functions;
/// Ranks of a job that are late or absent.
mod ranks;
/// Tasks and host functions that run.
mod running;
/// Threads that may still record the event, or cannot.
mod threads;
/// Events, notifies and streams that nothing sets or frees.
mod waits;

use ascend_trace_analysis::hang::{
    Culprit, Hangs, NamedThread, OutsideWait, Report, RootKind, SystemSight, ThreadSight, Verdict,
};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_testkit::Timeline;

/// Open calls end then.
const OPEN_NS: i64 = 20_000_000_000;

/// `EventRow::creation` of `aclrtCreateEventWithFlag`: a wait is for the next record.
const WITH_FLAG: u8 = 1;

/// A timeline that ends without an end of the recording.
fn broken_off(text: &str) -> Timeline {
    Timeline::of(text).broken_off().with_events(WITH_FLAG)
}

fn hangs(fold: Hangs, timeline: &Timeline) -> Report {
    fold.of(&Window::whole(&timeline.trace()))
}

/// The report on a timeline that ends with open calls.
fn report(text: &str) -> Report {
    hangs(Hangs::default(), &broken_off(text))
}

/// The report on a timeline after which nothing more was recorded.
fn report_until(text: &str, until: i64) -> Report {
    hangs(Hangs::default().until(Some(until)), &broken_off(text))
}

/// All threads are seen in one way.
fn all(threads: &[NamedThread], sight: &ThreadSight) -> SystemSight {
    SystemSight {
        threads: vec![sight.clone(); threads.len()],
        ..SystemSight::default()
    }
}

/// Threads that are in no call sleep.
fn asleep(threads: &[NamedThread]) -> SystemSight {
    let lives = ThreadSight::Lives {
        works: false,
        state: "it sleeps".to_owned(),
        waits: None,
    };
    all(threads, &lives)
}

/// They work.
fn at_work(threads: &[NamedThread]) -> SystemSight {
    let lives = ThreadSight::Lives {
        works: true,
        state: "it runs on a processor, or is ready to".to_owned(),
        waits: None,
    };
    all(threads, &lives)
}

/// They have ended.
fn over(threads: &[NamedThread]) -> SystemSight {
    all(threads, &ThreadSight::Ended)
}

/// The first thread sleeps, and the others wait outside AscendCL, each for the one before it.
fn in_a_row(threads: &[NamedThread]) -> SystemSight {
    waiting(threads, |place| {
        let before = threads.get(place.checked_sub(1)?)?;
        Some(OutsideWait::Lock(before.tid))
    })
}

/// Each thread waits outside AscendCL for the one before it, and the first one for the last.
fn in_a_circle(threads: &[NamedThread]) -> SystemSight {
    waiting(threads, |place| {
        let before = threads.get((place + threads.len() - 1) % threads.len())?;
        Some(OutsideWait::Lock(before.tid))
    })
}

/// The threads sleep outside AscendCL, and wait for what `wait` says by their places.
fn waiting(threads: &[NamedThread], wait: impl Fn(usize) -> Option<OutsideWait>) -> SystemSight {
    let mut seen = asleep(threads);
    for (place, sight) in seen.threads.iter_mut().enumerate() {
        if let ThreadSight::Lives { waits, .. } = sight {
            *waits = wait(place);
        }
    }
    seen
}

/// The report on a timeline of a program that runs on this host, after a long time.
fn report_seen_late(text: &str, look: fn(&[NamedThread]) -> SystemSight) -> Report {
    let fold = Hangs::default().until(Some(OPEN_NS)).looking(Some(look));
    hangs(fold, &broken_off(text))
}

/// The report on a timeline of a program that runs on this host.
fn report_seen(text: &str, look: fn(&[NamedThread]) -> SystemSight) -> Report {
    hangs(Hangs::default().looking(Some(look)), &broken_off(text))
}

/// The first culprit of a program that hangs.
#[track_caller]
fn culprit(report: &Report) -> &Culprit {
    assert_eq!(report.verdict, Verdict::Hangs, "{report:#?}");
    &report.culprits[0]
}

/// The first culprit of a program that certainly hangs by one of this kind.
#[track_caller]
fn certain(report: &Report, kind: RootKind) -> &Culprit {
    let culprit = culprit(report);
    assert_eq!((culprit.kind, culprit.certain), (kind, true), "{report:#?}");
    culprit
}

/// The first culprit of a program that probably hangs by one of this kind.
#[track_caller]
fn probable(report: &Report, kind: RootKind) -> &Culprit {
    let culprit = culprit(report);
    assert_eq!(
        (culprit.kind, culprit.certain),
        (kind, false),
        "{report:#?}"
    );
    culprit
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

/// The chain of the first waiting thread.
fn chain(report: &Report) -> Vec<&str> {
    let mut waiting = report.threads.iter().filter(|it| !it.chain.is_empty());
    let links = waiting.next().map_or(&[][..], |it| &it.chain);
    links.iter().map(|it| it.what.as_str()).collect()
}
