//! Whether a program hangs. A slow one does not, so a wait that can still end is given time.

use super::report::{Culprit, Report, RootKind, Verdict};

/// Nothing is said of a program in which something moved so shortly before. Nanoseconds.
const SHORT_NS: i64 = 1_000_000_000;

/// Time for a wait that may still end, or a few times the longest pause before.
const LONG_NS: i64 = 10_000_000_000;
const PAUSES: i64 = 3;

/// Statuses from here on mean a signal.
const SIGNALLED: i32 = 128;

/// Decides by the culprits. `waited` says how long a thread or stream has waited for one, `any_works` whether a thread
/// that is in no call is at work.
pub(super) fn verdict(
    report: &Report,
    any_works: bool,
    waited: impl Fn(&Culprit) -> i64,
) -> Verdict {
    if report.exit_status == Some(0) {
        return Verdict::Ended;
    }
    let pause = report.longest_pause_ns.saturating_mul(PAUSES).max(LONG_NS);
    let hangs = |it: &Culprit| match it.kind {
        // They hang, regardless of other activity.
        RootKind::Cycle if it.certain => waited(it) >= SHORT_NS,
        _ => report.quiet_ns >= patience(it, any_works, pause),
    };
    let has_left = report.exit_status.is_some_and(|it| it < SIGNALLED);
    match report.culprits.iter().any(hangs) {
        true => Verdict::Hangs,
        false if has_left => Verdict::Ended,
        false if report.quiet_ns < SHORT_NS && report.exit_status.is_some() => Verdict::Ended,
        false if report.quiet_ns < SHORT_NS => Verdict::Moving,
        false => Verdict::Quiet,
    }
}

/// How long nothing may move before a program counts as hanging. Nanoseconds.
fn patience(culprit: &Culprit, any_works: bool, pause: i64) -> i64 {
    match (culprit.kind, culprit.certain) {
        // All threads wait for each other: a signal may still come.
        (RootKind::Running | RootKind::Outside, true) => pause,
        (_, true) => SHORT_NS,
        // It goes on when that has ended.
        (RootKind::Running | RootKind::Outside | RootKind::Unknown, _) => i64::MAX,
        // A thread may compute for long before it goes on as it did before.
        _ if any_works || culprit.may_recur => i64::MAX,
        _ => pause,
    }
}
