//! MindSpore, where `ASCEND_TRACE_MINDSPORE_PYTHON` names an interpreter that has it.

use std::path::{Path, PathBuf};

use crate::python::ranges;
use crate::support::compile::program_with;
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

fn program(python: &Path, script: &str, words: &[&str]) -> Run {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let script = programs.join(script);
    let words = [&["-W", "ignore", script.to_str().unwrap()][..], words].concat();
    Run::new(python).words(&words).variable("GLOG_v", "4")
}

/// Operators that run one by one, and gradients.
#[test]
fn operators_of_mindspore_compute_what_numpy_does_traced_and_untraced() {
    let Some(python) = interpreter() else { return };
    let run_it = program(&python, "mindspore_small.py", &[]);
    let bare = run_it.clone().bare().expect(0);
    let last = bare.out().lines().last().map(str::to_owned);
    let alike = last.as_deref().and_then(|last| {
        let alike = last
            .strip_prefix("alike: ")?
            .strip_suffix(", different: 0")?;
        alike.parse::<usize>().ok()
    });
    assert!(alike > Some(200), "{bare}");
    let recording = run_it.traced();
    let traced = recording.outcome.clone().expect(0);
    assert_eq!(traced.out(), bare.out(), "{traced}");
    assert!(!traced.err().contains("LOST"), "{traced}");
    let tables = Tables::of(&recording);
    for name in ["aclnnMatmul", "aclnnRelu"] {
        assert!(tables.count_calls(name) > 0, "{name}: {traced}");
    }
}

/// Steps that a way of training makes.
const STEPS: usize = 4;

/// A net learns as in NumPy, by the program's own loop, a trainer, `Model.train`, a graph and a function of `jit`. Steps and cells of the recording are
/// those that the program counts. Without launches by the calling thread, only the steps are known.
#[test]
fn training_in_mindspore_has_steps_phases_and_cells() {
    let Some(python) = interpreter() else { return };
    for (way, words) in [
        ("own_loop", &["own_loop", "blocking"][..]),
        ("trainer", &["trainer", "blocking"]),
        ("model", &["model", "blocking"]),
        ("graph", &["graph", "blocking"]),
        ("jit", &["jit", "blocking"]),
        ("plain", &["own_loop"]),
    ] {
        let run_it = program(&python, "mindspore_training.py", words);
        let bare = run_it.clone().bare().expect(0);
        let out = bare.out();
        assert!(out.lines().next().unwrap().ends_with(" ok"), "{bare}");
        let recording = run_it.options(&["--python"]).traced();
        let traced = recording.outcome.clone().expect(0);
        assert_eq!(traced.out(), out, "{traced}");
        assert!(!traced.err().contains("LOST"), "{traced}");
        let ranges = ranges(&recording);
        let count = |kind: &str, fits: &dyn Fn(&str) -> bool| {
            let all = ranges.iter().filter(|row| row.text("kind") == kind);
            all.filter(|row| fits(row.text("name"))).count()
        };
        assert_eq!(count("step", &|_| true), STEPS, "{way}: {traced}");
        let phase = |phase: &str| count("phase", &|name| name == phase);
        let phases = ["forward", "backward", "optimizer"].map(phase);
        // The last call of a net fails.
        let expected = match way {
            "plain" => [0, 0, 0],
            "graph" | "jit" => [1, 0, 0],
            _ => [STEPS + 1, STEPS, STEPS],
        };
        assert_eq!(phases, expected, "{way}: {traced}");
        let cells = |end: &str| count("module", &|name| name.ends_with(end));
        let calls = out.rsplit("calls: ").next().unwrap().trim();
        match way {
            "plain" => assert_eq!(cells(""), 0),
            "graph" => assert_eq!(cells("TrainOneStepCell"), STEPS),
            "jit" => {
                let function = |name: &str| count("function", &|it| it == name);
                assert_eq!(["train_step", "rate"].map(function), [STEPS; 2], "{traced}");
            }
            "own_loop" => assert_eq!(cells("Net").to_string(), calls, "{traced}"),
            _ => {
                let nets = cells("network._backbone (Net)") + cells("Net");
                assert_eq!(nets.to_string(), calls, "{way}: {traced}");
                for part in [
                    "network._backbone.fc1 (Dense)",
                    "network._backbone.fc2 (Dense)",
                ] {
                    assert_eq!(cells(part), STEPS, "{way}: {part}");
                }
            }
        }
    }
}

/// As MindSpore does from the second time on. It ignores errors of the addresses.
#[test]
fn an_executor_runs_again_at_other_addresses() {
    if !cfg!(feature = "operators") {
        eprintln!("skipped: this build has no feature operators");
        return;
    }
    let libraries = ["-std=gnu11", "-lascendcl", "-lnnopbase", "-lopapi", "-lm"];
    let outcome = Run::new(&program_with("reused_executor", &libraries)).bare();
    assert_eq!(outcome.expect(0).out(), "done\n");
}
