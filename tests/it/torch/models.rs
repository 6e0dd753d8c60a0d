//! Models and usual code of training and inference, compared with the same on the processor.

use super::kinds::check;
use super::{interpreter, program, source};

const PROGRAM: &str = "tests/programs/torch_models.py";

/// Recurrent layers, transformers, generation with a cache of keys and values, images, losses.
#[test]
fn models_compute_the_same_as_on_the_processor() {
    let Some(python) = interpreter() else { return };
    let kinds = [
        "recurrent",
        "transformers",
        "generation",
        "images",
        "losses",
    ];
    let out = check(&program(&python, &words(&kinds)), 0);
    assert!(out.ends_with("all good\n"), "{out}");
}

/// Optimizers and common training code, half precision, streams, loaders, an end of the memory, PyTorch's own profiler.
#[test]
fn habits_of_training_do_the_same() {
    let Some(python) = interpreter() else { return };
    let kinds = ["habits", "half", "streams", "loaders", "memory", "profiled"];
    let out = check(&program(&python, &words(&kinds)), 0);
    assert!(out.ends_with("all good\n"), "{out}");
}

fn words<'w>(kinds: &[&'w str]) -> Vec<&'w str> {
    static FILE: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| source(PROGRAM));
    [&[FILE.as_str()], kinds].concat()
}
