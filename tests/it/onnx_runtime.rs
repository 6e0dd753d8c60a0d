//! ONNX Runtime, where `ASCEND_TRACE_ONNX_PYTHON` names an interpreter that has `onnxruntime-cann` and `onnx`.

use std::path::{Path, PathBuf};

use crate::support::{Run, Tables};

/// Batches that the program computes.
const BATCHES: usize = 5;

/// The interpreter, or a message that it is missing, or that this build has no operators for it.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn interpreter() -> Option<PathBuf> {
    let python = std::env::var_os("ASCEND_TRACE_ONNX_PYTHON");
    if python.is_none() {
        eprintln!("skipped: ASCEND_TRACE_ONNX_PYTHON names no interpreter");
    } else if !cfg!(feature = "operators") {
        eprintln!("skipped: this build has no feature operators");
        return None;
    }
    python.map(PathBuf::from)
}

#[test]
fn a_convolutional_model_computes_what_the_cpu_does_traced_and_untraced() {
    let Some(python) = interpreter() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/onnx_small.py");
    let run_it = Run::new(&python).words(&[script.to_str().unwrap()]);
    let bare = run_it.clone().bare().expect(0);
    let expected = format!("batches: {BATCHES}, within 1e-5: True");
    assert!(bare.out().starts_with(&expected), "{bare}");
    let recording = run_it.traced();
    let traced = recording.outcome.clone().expect(0);
    assert_eq!(traced.out(), bare.out(), "{traced}");
    assert!(!traced.err().contains("LOST"), "{traced}");
    let tables = Tables::of(&recording);
    let tasks = |name: &str| {
        let tasks = tables.tasks.iter();
        tasks.filter(|task| task.text("name") == name).count()
    };
    for (name, number) in [("Conv2D", 2), ("Relu", 3), ("AvgPoolV2", 1), ("Flatten", 1)] {
        assert_eq!(tasks(name), number * BATCHES, "{name}: {traced}");
    }
}

/// Numbers of a padding that AscendCL takes for another one are an error, not other values.
#[test]
fn paddings_are_those_of_the_cpu_or_refused() {
    let Some(python) = interpreter() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/onnx_padding.py");
    let run_it = Run::new(&python).words(&[script.to_str().unwrap()]);
    let outcome = run_it.bare().expect(0);
    let out = outcome.out();
    let ends: Vec<&str> = out
        .lines()
        .filter_map(|it| it.split(' ').next_back())
        .collect();
    let expected = [&["alike"; 7][..], &["refused"; 3]].concat();
    assert_eq!(ends, expected, "{outcome}");
}
