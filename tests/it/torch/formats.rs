//! Operators that `torch_npu` calls by name, for tensors in a device's own formats.

use super::{interpreter, program, source};

/// Elements, activations, losses, reductions, moves and products on the result of a GRU, with gradients.
#[test]
fn operators_on_the_result_of_a_gru_compute_what_pytorch_does_on_the_processor() {
    let Some(python) = interpreter() else { return };
    let outcome = program(&python, &[&source("tests/programs/torch_formats.py")])
        .bare()
        .expect(0);
    let alike = outcome.out().lines().last().and_then(|line| {
        let (alike, different) = line.strip_prefix("alike: ")?.split_once(", different: ")?;
        (different == "0").then(|| alike.parse::<usize>().ok())?
    });
    assert!(alike > Some(460), "{outcome}");
}
