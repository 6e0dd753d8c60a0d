//! Actions of the loader, and the programs' requests to it.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::PathBuf;
use std::process::Command;

use super::counts::balanced;
use crate::engine;
use crate::support::compile::{built, hostile, soft};
use crate::support::process::scratch;
use crate::support::{Recording, Run, place, run};

/// Runs it bare and with each engine; the calls made are those in the trace.
#[track_caller]
fn both(run: &Run) -> [Recording; 2] {
    [run.clone(), engine::patched(run)].map(|run| {
        let recording = run.compared();
        balanced(&recording);
        recording
    })
}

#[track_caller]
fn forks(children: u32) {
    let program = hostile("fork_dlsym");
    let children = children.to_string();
    for words in [&[&*children][..], &[&*children, "walk"]] {
        let run = Run::new(&program).words(words);
        let bare = run.bare().expect(0);
        for traced in [run.clone(), engine::patched(&run)].map(|run| run.traced()) {
            assert_eq!(traced.outcome.out(), bare.out(), "{}", traced.outcome);
            // This many processes at once may find no room for their calls, which are counted.
            balanced(&traced);
        }
    }
}

#[test]
fn no_child_hangs_that_is_forked_while_threads_are_in_the_loader() {
    forks(40);
}

#[test]
#[ignore = "a soak: 4,000 processes"]
fn no_child_of_a_thousand_hangs_that_is_forked_while_threads_are_in_the_loader() {
    forks(1000);
}

#[test]
fn a_wrapper_appears_in_the_file_of_its_function() {
    let library = |output: &str, source: &str, more: &[&str]| {
        let options = ["-std=gnu11", "-O1", "-shared", "-fPIC", "-w"];
        let path = built(output, source, &[&options, more].concat());
        path.to_str().unwrap().to_owned()
    };
    let own = library(
        "libwhere_own.so",
        "way_two_libraries_library.c",
        &["-DOWN=1"],
    );
    let late = library("libacl_where_late.so", "untyped_library.c", &[]);
    let run = Run::new(&hostile("where_is_cann")).words(&[&own, &late]);
    let out = run.compared().outcome.expect(0).out();
    assert!(
        out.contains("linked: aclrtMalloc in libascendcl.so, begins there"),
        "{out}"
    );
    assert!(
        out.contains("in no table: aclOwnPlain in libacl_where_late.so"),
        "{out}"
    );
    engine::patched(&run).compared();
}

#[test]
fn functions_that_are_looked_up_before_everything_else_do_not_keep_the_session_from_being_joined() {
    let [recording, _] = both(&Run::new(&hostile("before_main")));
    let out = recording.outcome.out();
    assert!(out.contains("found early: 1 1"), "{out}");
}

/// The ordinary program, compiled with these options, if this compiler supports them and the result
/// runs here.
fn plain(compiler: &str, options: &[&str]) -> Option<Run> {
    if place::is_emulated() {
        eprintln!("skipped: programs of another architecture are compiled without {options:?}");
        return None;
    }
    let folder = scratch().join("programs");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join(format!("plain-{compiler}{}", options.concat()));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/plain.c");
    let mut command = Command::new("sh");
    // By a shell, since the compiler may not be there.
    command.args([
        "-c",
        "exec \"$0\" \"$@\"",
        compiler,
        "-std=gnu11",
        "-O1",
        "-g",
    ]);
    command.args(["-pthread", "-o"]).arg(&program).arg(source);
    command
        .arg("-I")
        .arg(&soft().include)
        .arg("-L")
        .arg(&soft().lib);
    command.arg(format!("-Wl,-rpath-link,{}", soft().lib.display()));
    command.arg("-lascendcl").args(options);
    if run(&mut command).status != 0 {
        eprintln!("skipped: {compiler} has no {options:?}");
        return None;
    }
    // The software runtime is not made for sanitizers, and they must not judge it.
    let run = Run::new(&program).variable("TSAN_OPTIONS", "ignore_noninstrumented_modules=1");
    let bare = run.bare();
    if bare.status != 0 {
        eprintln!("skipped: {options:?} of {compiler} does not run here: {bare}");
        return None;
    }
    Some(run)
}

#[track_caller]
fn whole(run: &Run) {
    let counts = balanced(&run.compared());
    assert_eq!(counts.lost, 0);
}

#[track_caller]
fn sanitized(option: &str) {
    for compiler in ["gcc", "clang"] {
        if let Some(run) = plain(compiler, &[option]) {
            whole(&run);
        }
    }
}

#[test]
fn programs_with_the_thread_sanitizer_run_traced() {
    sanitized("-fsanitize=thread");
}

#[test]
fn programs_with_the_leak_sanitizer_run_traced() {
    sanitized("-fsanitize=leak");
}

#[test]
fn programs_with_the_undefined_behaviour_sanitizer_run_traced() {
    sanitized("-fsanitize=undefined");
}

/// The same run, with a library preloaded before ours.
fn behind(run: &Run, library: &str) -> Run {
    let shell = PathBuf::from("/bin/sh");
    let script = "LD_PRELOAD=\"$1 $LD_PRELOAD\"; export LD_PRELOAD; exec \"$0\"";
    let program = run.program().to_str().unwrap().to_owned();
    let other = Run::new(&shell).words(&["-c", script, &program, library]);
    other.variable("TSAN_OPTIONS", "ignore_noninstrumented_modules=1")
}

#[test]
fn programs_with_the_address_sanitizer_run_traced_behind_its_runtime() {
    // As a library, which must come first, and as a part of the program.
    if let Some(run) = plain("gcc", &["-fsanitize=address"]) {
        let asked = crate::support::run(Command::new("gcc").arg("-print-file-name=libasan.so"));
        whole(&behind(&run, asked.out().trim_end()));
    }
    if let Some(run) = plain("clang", &["-fsanitize=address"]) {
        whole(&run);
    }
}

/// Where the loader finds a library, if it does.
fn preloadable(library: &str) -> bool {
    // An external program: a shell's builtin loads nothing.
    let mut command = Command::new("env");
    command.env("LD_PRELOAD", library);
    let is_there = run(&mut command).err().is_empty();
    if !is_there {
        eprintln!("skipped: there is no {library}");
    }
    is_there
}

#[test]
fn other_preloaded_libraries_work_before_ours_and_after_it() {
    for library in ["libeatmydata.so", "libjemalloc.so.2"] {
        if !preloadable(library) {
            continue;
        }
        let Some(run) = plain("cc", &[]) else { return };
        whole(&run.clone().variable("LD_PRELOAD", library));
        whole(&behind(&run, library));
    }
}
