//! Operators that a program called by name, and that the library did not have.

use std::collections::BTreeSet;

use ascend_trace_analysis::{AnalysisNeeds, Fold, Window};
use ascend_trace_recording::{Call, Function};

/// `ACL_ERROR_API_NOT_SUPPORT` and `ACL_ERROR_RT_FEATURE_NOT_SUPPORT`.
const UNSUPPORTED: [i64; 2] = [200_001, 207_000];

#[derive(Default)]
pub(super) struct RefusedOperators(BTreeSet<String>);

impl Fold for RefusedOperators {
    type Answer = BTreeSet<String>;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;
    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let calls = trace.calls().iter();
        let by_name = calls.filter(|call| runs_by_name(trace.function(call.function)));
        let refused = by_name.filter(|call| is_refused(call));
        let names = refused.filter_map(|call| trace.label(call));
        self.0.extend(names.map(str::to_owned));
    }

    fn finish(self) -> Self::Answer {
        self.0
    }
}

/// Whether one of the function's arguments names the operation that it runs. Only functions for
/// operators have that.
fn runs_by_name(function: &Function) -> bool {
    let label = function.label.map(usize::from);
    let label = label.and_then(|position| function.args.get(position));
    label.is_some_and(|label| label.kind.is_text())
}

fn is_refused(call: &Call) -> bool {
    call.result()
        .is_some_and(|code| UNSUPPORTED.contains(&code))
}
