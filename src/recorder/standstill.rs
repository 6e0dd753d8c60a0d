//! Decides when a report on a standstill is due. Its inputs are the time and the last progress, its
//! output the next step: it has no clock, and reads nothing.

use ascend_trace_analysis::hang::{Report, Verdict};
use ascend_trace_collector::gauge::{FailedCall, LastMoved};

/// How soon to look again whether anything has changed since the report. Nanoseconds.
const LOOK_NS: i64 = 500_000_000;

/// What there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DueReport {
    /// Look again after this number of nanoseconds.
    Later(i64),
    /// Find out the cause of the wait.
    Look,
}

/// A standstill that was reported.
#[derive(Clone, Copy, Debug)]
struct ReportedStandstill {
    /// When something had moved last, and when it was said.
    moved_ns: i64,
    at_ns: i64,
    /// It has ended, or needs no further report.
    is_over: bool,
}

/// Watches one recording.
#[derive(Debug)]
pub(super) struct StandstillWatch {
    limit_ns: i64,
    /// The collector's progress at the last look at the recording.
    looked: Option<LastMoved>,
    not_before_ns: i64,
    reported: Option<ReportedStandstill>,
}

impl StandstillWatch {
    /// Longest pause without progress.
    pub(super) fn after(limit_ns: i64) -> Self {
        Self {
            limit_ns,
            looked: None,
            not_before_ns: 0,
            reported: None,
        }
    }

    /// What there is to do by the collector's word alone. Before the first call there is nothing to watch.
    pub(super) fn due(&self, now_ns: i64, moved: LastMoved) -> DueReport {
        if moved.any_ns == 0 {
            return DueReport::Later(self.limit_ns);
        }
        let due_ns = moved.any_ns.saturating_add(self.limit_ns);
        let rest = due_ns.max(self.not_before_ns).saturating_sub(now_ns);
        // Changes after a report are noticed soon.
        let most = self.reported.map_or(i64::MAX, |_| LOOK_NS);
        match self.looked == Some(moved) {
            _ if rest > 0 => DueReport::Later(rest.min(most)),
            true => DueReport::Later(LOOK_NS),
            false => DueReport::Look,
        }
    }

    /// There is nothing that could move now.
    pub(super) fn put_off(&mut self, now_ns: i64) {
        self.not_before_ns = now_ns.saturating_add(self.limit_ns);
    }

    /// Takes the result of a look at the recording. Returns whether to print the report: each
    /// standstill is reported once.
    pub(super) fn on_report(&mut self, now_ns: i64, moved: LastMoved, report: &Report) -> bool {
        let stands = matches!(report.verdict, Verdict::Hangs | Verdict::Quiet);
        if !stands || report.quiet_ns < self.limit_ns {
            // The recording knows more than the collector had said.
            self.looked = None;
            let due_ns = report.moved_ns.saturating_add(self.limit_ns);
            self.not_before_ns = due_ns.max(now_ns.saturating_add(LOOK_NS));
            return false;
        }
        self.looked = Some(moved);
        let is_known = self
            .reported
            .is_some_and(|it| it.moved_ns == report.moved_ns);
        if !is_known {
            self.reported = Some(ReportedStandstill {
                moved_ns: report.moved_ns,
                at_ns: now_ns,
                is_over: false,
            });
        }
        !is_known
    }

    /// Whether a failed call was blocked when the report was printed: the runtime has given up its
    /// wait.
    pub(super) fn was_blocked(&self, failed: &FailedCall) -> bool {
        let during = |it: ReportedStandstill| (failed.begin_ns..=failed.end_ns).contains(&it.at_ns);
        self.reported.is_some_and(during)
    }

    /// How long nothing had moved, once after each report: a call has begun or returned since.
    pub(super) fn moves_again(&mut self, moved: LastMoved) -> Option<i64> {
        let reported = self.reported.as_mut().filter(|it| !it.is_over)?;
        let stood_ns = moved.called_ns.saturating_sub(reported.moved_ns);
        reported.is_over = stood_ns > 0;
        reported.is_over.then_some(stood_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    fn moved(at_ns: i64) -> LastMoved {
        LastMoved {
            called_ns: at_ns,
            any_ns: at_ns,
        }
    }

    fn report(verdict: Verdict, moved_ns: i64, now_ns: i64) -> Report {
        Report {
            verdict,
            moved_ns,
            quiet_ns: now_ns - moved_ns,
            ..Report::default()
        }
    }

    fn rests(due: DueReport) -> bool {
        matches!(due, DueReport::Later(rest) if rest > 0)
    }

    #[test]
    fn nothing_is_watched_before_the_first_call() {
        let standstill = StandstillWatch::after(3 * S);
        assert_eq!(standstill.due(100 * S, moved(0)), DueReport::Later(3 * S));
    }

    #[test]
    fn a_standstill_is_reported_once() {
        let mut standstill = StandstillWatch::after(3 * S);
        assert!(rests(standstill.due(12 * S, moved(10 * S))));
        assert_eq!(standstill.due(13 * S, moved(10 * S)), DueReport::Look);
        let quiet = report(Verdict::Quiet, 10 * S, 13 * S);
        assert!(standstill.on_report(13 * S, moved(10 * S), &quiet));
        assert!(rests(standstill.due(60 * S, moved(10 * S))));
        // The time of a task comes late: nothing has moved.
        let late = LastMoved {
            called_ns: 10 * S,
            any_ns: 14 * S,
        };
        assert_eq!(standstill.due(17 * S, late), DueReport::Look);
        let again = report(Verdict::Hangs, 10 * S, 17 * S);
        assert!(!standstill.on_report(17 * S, late, &again));
        assert_eq!(standstill.moves_again(late), None);
        // Another one is another one.
        assert_eq!(standstill.moves_again(moved(20 * S)), Some(10 * S));
        assert_eq!(standstill.moves_again(moved(21 * S)), None);
        assert_eq!(standstill.due(24 * S, moved(21 * S)), DueReport::Look);
        let next = report(Verdict::Quiet, 21 * S, 24 * S);
        assert!(standstill.on_report(24 * S, moved(21 * S), &next));
    }

    #[test]
    fn a_newer_recording_is_read_again() {
        let mut standstill = StandstillWatch::after(3 * S);
        let alive = report(Verdict::Quiet, 12 * S, 13 * S);
        assert!(!standstill.on_report(13 * S, moved(10 * S), &alive));
        assert!(rests(standstill.due(14 * S, moved(10 * S))));
        assert_eq!(standstill.due(15 * S, moved(10 * S)), DueReport::Look);
        let ended = report(Verdict::Ended, 10 * S, 15 * S);
        assert!(!standstill.on_report(15 * S, moved(10 * S), &ended));
        assert!(rests(standstill.due(15 * S, moved(10 * S))));
    }

    #[test]
    fn only_a_call_that_was_blocked_then_has_timed_out() {
        let mut standstill = StandstillWatch::after(3 * S);
        let failed = |begin_ns, end_ns| FailedCall {
            tid: 1,
            function: String::new(),
            code: String::new(),
            begin_ns,
            end_ns,
        };
        assert!(!standstill.was_blocked(&failed(0, 99 * S)));
        let hangs = report(Verdict::Hangs, 10 * S, 13 * S);
        assert!(standstill.on_report(13 * S, moved(10 * S), &hangs));
        assert!(standstill.was_blocked(&failed(10 * S, 20 * S)));
        assert!(!standstill.was_blocked(&failed(14 * S, 20 * S)));
        assert!(!standstill.was_blocked(&failed(10 * S, 12 * S)));
    }
}
