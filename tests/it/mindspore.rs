//! MindSpore, where `ASCEND_TRACE_MINDSPORE_PYTHON` names an interpreter that has it.

use std::path::{Path, PathBuf};

use crate::support::{Run, Tables};

/// The interpreter, or a message that it is missing, or that this build has no operators for it.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn interpreter() -> Option<PathBuf> {
    let python = std::env::var_os("ASCEND_TRACE_MINDSPORE_PYTHON");
    if python.is_none() {
        eprintln!("skipped: ASCEND_TRACE_MINDSPORE_PYTHON names no interpreter");
    } else if !cfg!(feature = "operators") {
        eprintln!("skipped: this build has no feature operators");
        return None;
    }
    python.map(PathBuf::from)
}

/// Operators that run one by one, and a gradient.
#[test]
fn operators_of_mindspore_compute_what_numpy_does_traced_and_untraced() {
    let Some(python) = interpreter() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/mindspore_small.py");
    let run_it = Run::new(&python).words(&["-W", "ignore", script.to_str().unwrap()]);
    let run_it = run_it.variable("GLOG_v", "4");
    let bare = run_it.clone().bare().expect(0);
    let last = bare.out().lines().last().map(str::to_owned);
    assert_eq!(last.as_deref(), Some("alike: 13, different: 0"), "{bare}");
    let recording = run_it.traced();
    let traced = recording.outcome.clone().expect(0);
    assert_eq!(traced.out(), bare.out(), "{traced}");
    assert!(!traced.err().contains("LOST"), "{traced}");
    let tables = Tables::of(&recording);
    for name in ["aclnnMatmul", "aclnnRelu"] {
        assert!(tables.count_calls(name) > 0, "{name}: {traced}");
    }
}
