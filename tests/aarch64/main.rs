//! Everything that depends on the architecture, on aarch64: built by a cross compiler and run in an
//! emulator. Where one of those is missing the tests say so and pass.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod emulated;
mod machine;
mod patience;
#[path = "../it/support/stuck.rs"]
mod stuck;
mod troubles;

use std::path::{Path, PathBuf};
use std::process::Command;

use machine::{Machine, TARGET, cargo, cargo_here, output, target_folder};

/// Modules of tests that are run. The others need times that an emulator cannot keep, or a terminal, or
/// have a reason in `LEFT_OUT`.
const MODULES: [&str; 10] = [
    "ways::",
    "engine::",
    "untyped::",
    "robustness::",
    "robustness_processes::",
    "graphs::conformance::",
    "is_traced_completely_without_timing",
    "self_contained::",
    "hostile::loader::a_wrapper_appears_in_the_file_of_its_function",
    "hostile::loader::functions_that_are_looked_up_before_everything_else",
];

/// Tests that go through programs of the host, which cannot be traced from here: a shell, Python.
const LEFT_OUT: [&str; 8] = [
    "engine::a_recording_without_an_engine_inside_one_with_an_engine_patches_nothing",
    "untyped::passing::nothing_is_changed_where_nothing_is_recorded",
    "ways::fetched_from_python",
    "ways::others::a_program_that_clears_its_environment_is_left_alone",
    // Owners cannot be changed in a user namespace.
    "ways::others::a_program_that_gains_privileges_is_left_alone",
    "ways::others::another_preloaded_library_after_ours_and_before",
    "ways::others::ordinary_programs_run_as_without_the_tracer",
    // A child that was forked by a thread and starts one itself ends with a failed assertion of qemu 7.2,
    // traced or not. Children that start none are in `untyped::passing::processes_that_fork`.
    "ways::several::a_fork_in_the_middle_of_a_call",
];

fn machine() -> Option<Machine> {
    match Machine::prepare() {
        Ok(machine) => Some(machine),
        Err(reason) => {
            eprintln!("skipped: {reason}");
            None
        }
    }
}

/// Builds and returns cargo's messages about the results.
fn built(words: &[&str]) -> String {
    let mut command = cargo(words);
    output(command.arg("--message-format=json-render-diagnostics")).unwrap()
}

/// Builds the command and the examples: always the same, so that it is done once.
fn build_command() {
    built(&["build", "--bins", "--examples"]);
}

fn the_command() -> PathBuf {
    target_folder().join(TARGET).join("debug/ascend-trace")
}

/// The built test programs: source and program.
fn tests_of(said: &str) -> Vec<(PathBuf, PathBuf)> {
    let messages = said.lines().map(|line| serde_json::from_str(line).unwrap());
    let tests = messages.filter(|it: &serde_json::Value| {
        it["reason"] == "compiler-artifact" && it["profile"]["test"] == true
    });
    tests
        .filter_map(|it| {
            let path = it["executable"].as_str()?;
            Some((it["target"]["src_path"].as_str()?.into(), path.into()))
        })
        .collect()
}

/// Runs a test program, which `command` starts. Its tests that fail next to others are run again alone:
/// with all of them at once, and other work, an emulated program may wait for its turn longer than any
/// real one.
fn run_tests(command: &dyn Fn() -> Command, words: &[&str]) {
    let (all, said) = ended(command(), words);
    let (said, errors) = match said {
        Ok(said) => {
            // A filter that fits nothing would pass as well.
            assert!(!said.contains("test result: ok. 0 passed"), "{said}");
            let result = said.lines().find(|line| line.starts_with("test result"));
            eprintln!("{all}: {}", result.unwrap_or_default());
            return;
        }
        Err(said) => said,
    };
    let failures =
        troubles::judge(&said).unwrap_or_else(|failed| panic!("{all}: {failed}{errors}"));
    for (name, why) in failures.known {
        eprintln!("{name} failed, which is known of the emulator: {why}");
    }
    for name in failures.again {
        let first = troubles::words_of(&said, name);
        eprintln!("{name} failed next to others, again alone: {first}");
        if let (_, Err((again, errors))) = ended(command(), &["--exact", name]) {
            panic!("{name} failed alone as well: {again}{errors}");
        }
    }
}

/// Output of a test program that succeeded; output and errors of one that did not.
type Ended = Result<String, (String, String)>;

/// A command in words, and how it ended.
fn ended(mut command: Command, words: &[&str]) -> (String, Ended) {
    let command = command.args(words).current_dir(env!("CARGO_MANIFEST_DIR"));
    let done = patience::run(command).unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    let ended = match done.status.success() {
        true => Ok(said),
        false => Err((said, errors)),
    };
    (format!("{command:?}"), ended)
}

/// Unit tests that end qemu 7.2: a system call that writes behind the end of a file should return
/// an error there.
const ENDS_THE_EMULATOR: [&str; 2] = [
    "a_program_that_finds_no_memory_goes_on_and_records_when_there_is_some",
    "old_kernels_report_that_there_is_no_memory",
];

#[test]
#[ignore = "builds for another architecture: takes minutes"]
fn shared_memory_and_the_librarys_own_parts_work() {
    let Some(machine) = machine() else { return };
    let packages = [
        "ascend-trace-format",
        "ascend-trace-ring",
        "ascend-trace-interposer",
    ];
    let mut words = vec!["test", "--no-run", "--lib"];
    packages
        .iter()
        .for_each(|package| words.extend(["-p", package]));
    let tests = tests_of(&built(&words));
    assert_eq!(tests.len(), packages.len());
    for (_, program) in tests {
        let left_out = ENDS_THE_EMULATOR.iter().flat_map(|name| ["--skip", name]);
        run_tests(&|| machine.command(&program), &left_out.collect::<Vec<_>>());
    }
}

/// The end-to-end tests, built for this machine. A caller that has them already names them, which saves minutes.
fn own_tests() -> PathBuf {
    let mut build = cargo_here(&["test", "--no-run", "--test", "it"]);
    build.arg("--message-format=json-render-diagnostics");
    let tests = tests_of(&output(&mut build).unwrap());
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/main.rs");
    let (_, program) = tests
        .into_iter()
        .find(|(source, _)| *source == own)
        .unwrap();
    program
}

#[test]
#[ignore = "builds for another architecture: takes minutes"]
fn calls_are_caught_and_nothing_else_changes() {
    let Some(machine) = machine() else { return };
    build_command();
    // The tests are this machine's: in the emulator are the command and the programs it records.
    let program = match std::env::var_os("ASCEND_TRACE_TESTS") {
        Some(path) => PathBuf::from(path),
        None => own_tests(),
    };
    let left_out = LEFT_OUT.iter().flat_map(|name| ["--skip", name]);
    let words: Vec<&str> = MODULES.into_iter().chain(left_out).collect();
    let command = || {
        let mut command = machine.command(&program);
        command.env("ASCEND_TRACE_TEST_EMULATED", the_command());
        command
    };
    run_tests(&command, &words);
}

#[test]
#[ignore = "builds for another architecture: takes minutes"]
fn the_demo_runs_without_a_terminal() {
    let Some(machine) = machine() else { return };
    build_command();
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("demo.atrace");
    let mut command = machine.command(&the_command());
    command.env("XDG_CACHE_HOME", folder.path());
    let done = patience::run(command.arg("demo").arg("-o").arg(&trace)).unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    assert!(
        said.contains("1 process, ") && !said.contains("LOST"),
        "{said}"
    );
    eprintln!("{said}");
    assert!(trace.is_file());
}
