//! Programs in sandboxes and under limits.

use crate::hostile::counts::balanced;
use crate::support::Run;
use crate::support::compile::hostile;

#[test]
fn without_threads_calls_answer_with_an_error() {
    let recording = Run::new(&hostile("no_threads")).compared();
    if recording.outcome.status == 77 {
        return;
    }
    let out = recording.outcome.clone().expect(0).out();
    // ACL_ERROR_RT_INTERNAL_ERROR, as from a runtime that has no resources left.
    assert!(
        out.contains("memset 507000\n") && out.contains("function 507000\n"),
        "{out}"
    );
    assert!(out.contains("synchronise 0\n"), "{out}");
    balanced(&recording);
}
