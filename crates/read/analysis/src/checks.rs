//! Checks: mistakes and costs of a program, found in its recording.
//!
//! A check is a file in `checks/`, and a line in the list below. The comment at the top of the file is
//! its page in `docs/CHECKS.md`.

mod ended_objects;
mod error_advice;
mod finding;
mod grouping;
mod happens_before;
mod host_function_threads;
mod list;
mod object_lifetimes;
mod process_end;
mod wait_overlap;

use ascend_trace_recording::{CallId, Trace};

use crate::{Fold, Window};

use ended_objects::EndedObjects;
pub use ended_objects::{EndedObject, UseAfterEnd};
pub use finding::{Finding, Remedy, Severity};
use happens_before::ProgramOrder;
pub use happens_before::{NotedCall, OrderCheck, OrderFact, Verdict, Verdicts};
pub(crate) use happens_before::{Removal, Removed};
pub(crate) use happens_before::{is_done, proves_stream};
pub use list::{ListedCheck, all};

/// Looks for one kind of finding, window by window. Its state is bounded, and its findings do not
/// depend on the cuts between windows.
pub trait Check: Send {
    /// Takes the `wanted` calls of the next window.
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let _ = (window, wanted);
    }

    /// Takes the facts about the order of the program's tasks and calls, after each window.
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        let _ = (trace, facts);
    }

    /// The findings, after the last window.
    fn findings(&mut self) -> Vec<Finding>;
}

/// All checks at once. The result has the worst findings first.
pub struct Findings {
    checks: Vec<ListedCheck>,
    order: ProgramOrder,
    ended: EndedObjects,
    /// Findings that have to be confirmed are among the results.
    has_unconfirmed: bool,
}

impl Default for Findings {
    fn default() -> Self {
        Self {
            checks: all(),
            order: ProgramOrder::default(),
            ended: EndedObjects::default(),
            has_unconfirmed: false,
        }
    }
}

impl std::fmt::Debug for Findings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids = self.checks.iter().map(|entry| entry.id);
        f.debug_list().entries(ids).finish()
    }
}

impl Findings {
    /// With findings that [`crate::whatif::judge_costs`] has to confirm.
    pub fn to_be_judged() -> Self {
        Self {
            has_unconfirmed: true,
            ..Self::default()
        }
    }

    /// Takes some calls of the next window.
    pub fn take_those(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let mut facts = self.order.take(window, wanted);
        facts.extend(self.ended.take(window, wanted));
        for entry in &mut self.checks {
            entry.check.take(window, wanted);
            entry.check.judge(window.trace, &facts);
        }
    }
}

impl Fold for Findings {
    type Answer = Vec<Finding>;

    fn take(&mut self, window: &Window<'_>) {
        self.take_those(window, &|_| true);
    }

    fn finish(mut self) -> Vec<Finding> {
        let found = self.checks.iter_mut().flat_map(|entry| {
            let (id, severity) = (entry.id, entry.severity);
            let found = entry.check.findings().into_iter();
            found.map(move |finding| Finding {
                check: id,
                severity,
                ..finding
            })
        });
        let mut found: Vec<Finding> = found.collect();
        found.retain(|it| self.has_unconfirmed || it.remedy != Some(Remedy::WaitForCopies));
        // The order is total: checks keep their findings by hash.
        found.sort_by(|a, b| {
            let key = |it: &Finding| {
                let first = (it.severity, -it.total_ns, it.begin_ns, it.check);
                (first, it.pid, it.tid, it.site.call, it.count)
            };
            let other = |it: &Finding| it.other.as_ref().map(|it| it.call);
            key(a)
                .cmp(&key(b))
                .then_with(|| other(a).cmp(&other(b)))
                .then_with(|| a.what.cmp(&b.what))
        });
        found
    }
}
