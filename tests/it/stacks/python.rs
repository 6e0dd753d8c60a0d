//! Frames of Python: with file, line and function, from every supported version.

use std::path::{Path, PathBuf};

use crate::support::{Recording, Run, Tables};
use crate::ways::tool_in_path;

use super::{leak, sites};

const SOURCE: &str = include_str!("../../programs/stacks_python.py");

/// Interpreters, with the minor number of their version: `python3`, and what `ASCEND_TRACE_PYTHONS` names.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn interpreters() -> Vec<(PathBuf, u32)> {
    let Some(python) = tool_in_path("python3") else {
        eprintln!("skipped: there is no python3");
        return Vec::new();
    };
    let further = std::env::var("ASCEND_TRACE_PYTHONS").unwrap_or_default();
    let further = further.split(':').filter(|it| !it.is_empty());
    let all = core::iter::once(python).chain(further.map(PathBuf::from));
    all.filter_map(|python| {
        let minor = minor(&python);
        let is_known = (8..=13).contains(&minor);
        if !is_known {
            eprintln!("skipped: the tool does not read the frames of Python 3.{minor}");
        }
        is_known.then_some((python, minor))
    })
    .collect()
}

fn minor(python: &Path) -> u32 {
    let script = "import sys; print(sys.version_info[1])";
    let mut command = std::process::Command::new(python);
    let output = command.args(["-c", script]).output().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/stacks_python.py")
}

#[track_caller]
fn recorded(python: &Path, before: &[&str], words: &[&str], option: &str) -> Recording {
    let script = script();
    let words = [before, &[script.to_str().unwrap()], words].concat();
    let run = Run::new(python).words(&words).options(&[option]);
    let recording = run.compared();
    assert_eq!(
        recording.outcome.status, 0,
        "{python:?}: {}",
        recording.outcome
    );
    recording
}

/// How a frame is shown that is in the line with this remark.
#[track_caller]
fn shown(remark: &str, function: &str) -> String {
    let remark = format!("# {remark}");
    let found = SOURCE.lines().position(|line| line.ends_with(&remark));
    let line = found.unwrap_or_else(|| panic!("no line has {remark}")) + 1;
    format!("programs/stacks_python.py:{line} ({function})")
}

fn is_python(frame: &str) -> bool {
    frame.contains(".py:")
}

fn of_python(frames: &[String]) -> Vec<String> {
    let frames = frames.iter().filter(|it| is_python(it));
    frames.cloned().collect()
}

/// The line of the module that runs a case.
fn module() -> String {
    let line = SOURCE.lines().count();
    format!("programs/stacks_python.py:{line} (<module>)")
}

/// Frames between two that follow each other in Python.
fn between(frames: &[String], inner: &str, outer: &str) -> usize {
    let place = |text: &str| frames.iter().position(|it| it == text).unwrap();
    place(outer) - place(inner) - 1
}

#[test]
fn frames_of_python_have_files_lines_and_functions() {
    for (python, minor) in interpreters() {
        // Functions had no qualified names.
        let named = |name: &'static str| match minor {
            11.. => name,
            _ => name.rsplit('.').next().unwrap_or(name),
        };
        let call = shown("the call", "allocate");
        let mut cases = vec![
            ("plain", vec![shown("plain", "plain")]),
            (
                "generator",
                vec![
                    shown("numbers", named("generator.<locals>.numbers")),
                    shown("generator", "generator"),
                ],
            ),
            (
                "callback",
                vec![
                    shown("key", named("callback.<locals>.key")),
                    shown("callback", "callback"),
                ],
            ),
        ];
        // From 3.12 on, a comprehension has no frame.
        let comprehension = named("Net.forward.<locals>.<listcomp>");
        let comprehension = (minor < 12).then(|| shown("forward", comprehension));
        let outer = [
            shown("forward", named("Net.forward")),
            shown("call", named("Net.__call__")),
            shown("method", "method"),
        ];
        cases.push(("method", comprehension.into_iter().chain(outer).collect()));
        for (case, expected) in cases {
            let recording = recorded(&python, &[], &[case], "--stacks");
            assert_eq!(sites(&recording, "aclrtMalloc"), [&*call], "{python:?}");
            let frames = leak(&recording.trace());
            let expected = [vec![call.clone()], expected, vec![module()]].concat();
            assert_eq!(
                of_python(&frames),
                expected,
                "{python:?} {case}: {frames:#?}"
            );
            if case == "callback" {
                let (inner, outer) = (&expected[1], &expected[2]);
                assert!(
                    between(&frames, inner, outer) > 0,
                    "{python:?}: {frames:#?}"
                );
                // Python calls its own functions without native ones.
                let native = between(&frames, &call, inner);
                assert_eq!(native == 0, minor >= 11, "{python:?}: {frames:#?}");
            }
        }
    }
}

#[test]
fn the_depth_counts_for_frames_of_python_too() {
    for (python, _) in interpreters() {
        for (option, depth) in [("--stacks", 32), ("--stacks=5", 5), ("--stacks=100", 43)] {
            let recording = recorded(&python, &[], &["recursion"], option);
            let frames = of_python(&leak(&recording.trace()));
            let recursion = shown("recursion", "recursion");
            let count = frames.iter().filter(|it| **it == recursion).count();
            assert_eq!(frames.len(), depth, "{python:?} {option}: {frames:#?}");
            assert_eq!(
                count,
                (depth - 2).min(40),
                "{python:?} {option}: {frames:#?}"
            );
            assert_eq!(frames[1], shown("bottom", "recursion"));
        }
    }
}

#[test]
fn threads_and_children_have_frames_of_python() {
    for (python, _) in interpreters() {
        let recording = recorded(&python, &[], &["threads"], "--stacks");
        let call = shown("the call", "allocate");
        let expected = vec![call.clone(); 100];
        assert_eq!(sites(&recording, "aclrtMalloc"), expected, "{python:?}");
        let frames = of_python(&leak(&recording.trace()));
        let expected = [call.clone(), shown("thread", "in_thread")];
        assert_eq!(frames[..2], expected, "{python:?}: {frames:#?}");
        let recording = recorded(&python, &[], &["child"], "--stacks");
        assert_eq!(sites(&recording, "aclrtMalloc"), [&*call, &*call]);
        let frames = of_python(&leak(&recording.trace()));
        let known = [shown("child", "child"), shown("parent", "child")];
        assert!(known.contains(&frames[1]), "{python:?}: {frames:#?}");
    }
}

#[test]
fn code_at_the_address_of_earlier_code_is_distinguished() {
    for (python, _) in interpreters() {
        let recording = recorded(&python, &[], &["made"], "--stacks");
        let expected: Vec<String> = (0..200)
            .map(|it| format!("made/by_{}.py:{} (made_{})", it % 3, it % 7 + 2, it % 5))
            .collect();
        assert_eq!(sites(&recording, "aclrtMalloc"), expected, "{python:?}");
    }
}

#[test]
fn names_may_have_any_characters() {
    for (python, _) in interpreters() {
        let recording = recorded(&python, &[], &["names"], "--stacks");
        let expected = ["größe", "模型", "𝔐odel"].map(|it| format!("net/{it}.py:2 (f)"));
        assert_eq!(sites(&recording, "aclrtMalloc"), expected, "{python:?}");
    }
}

#[test]
fn a_map_for_perf_shows_no_frame_twice() {
    for (python, _) in interpreters().into_iter().filter(|it| it.1 >= 12) {
        let recording = recorded(&python, &["-X", "perf"], &["plain"], "--stacks");
        let frames = leak(&recording.trace());
        let found: Vec<&String> = frames.iter().filter(|it| it.contains(".py")).collect();
        let call = shown("the call", "allocate");
        let expected = [&call, &shown("plain", "plain"), &module()];
        assert_eq!(found, expected, "{python:?}: {frames:#?}");
        let pid = Tables::of(&recording).calls[0].text("pid").to_owned();
        let _ = std::fs::remove_file(format!("/tmp/perf-{pid}.map"));
    }
}

#[test]
fn an_interpreter_may_end_while_threads_are_in_calls() {
    for (python, _) in interpreters() {
        for _ in 0..5 {
            let script = script();
            let words = [script.to_str().unwrap(), "daemons"];
            let recording = Run::new(&python)
                .words(&words)
                .options(&["--stacks"])
                .traced();
            let outcome = &recording.outcome;
            assert_eq!(outcome.status, 0, "{python:?}: {outcome}");
        }
    }
}

#[test]
fn what_runs_in_further_interpreters_has_no_frames_of_python() {
    // In 3.12, `ctypes` cannot be imported there.
    for (python, _) in interpreters().into_iter().filter(|it| it.1 != 12) {
        let recording = recorded(&python, &[], &["interpreter"], "--stacks");
        let found = sites(&recording, "aclrtMalloc");
        assert_eq!(found.len(), 1, "{python:?}");
        assert!(!is_python(&found[0]), "{python:?}: {found:?}");
    }
}
