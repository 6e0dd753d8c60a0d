//! Operators that a program called by name, and that the library did not have.

use std::collections::BTreeSet;

use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::{Call, Trace};

/// What a function of this kind is called with: the name of an operator, and its tensors.
const BY_NAME: [&str; 4] = [
    "aclopCompileAndExecute",
    "aclopCompileAndExecuteV2",
    "aclopExecute",
    "aclopExecuteV2",
];
/// `ACL_ERROR_API_NOT_SUPPORT` and `ACL_ERROR_RT_FEATURE_NOT_SUPPORT`.
const UNSUPPORTED: [i64; 2] = [200_001, 207_000];

#[derive(Default)]
pub(super) struct Refused(BTreeSet<String>);

impl Fold for Refused {
    type Answer = BTreeSet<String>;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let refused = trace.calls().iter().filter(|call| is_refused(trace, call));
        let names = refused.filter_map(|call| trace.strings(call).first()?.as_deref());
        self.0.extend(names.map(str::to_owned));
    }

    fn finish(self) -> Self::Answer {
        self.0
    }
}

fn is_refused(trace: &Trace, call: &Call) -> bool {
    let has_code = call
        .result()
        .is_some_and(|code| UNSUPPORTED.contains(&code));
    has_code && BY_NAME.contains(&trace.function(call.function).name.as_str())
}
