//! Programs that are built with sanitizers run as without the tracer: their runtimes mind who comes first.

use crate::support::Run;
use crate::support::compile::{hostile_by, linked};

/// Runs it both ways: the same output, no report of the sanitizer, the same status; the same for a child
/// that the program starts, which has the tracer before its runtime as well.
#[track_caller]
fn unchanged(name: &str, compiler: &[&str]) {
    let libraries = linked();
    let words = compiler.iter().copied();
    let words: Vec<&str> = words.chain(libraries.iter().map(String::as_str)).collect();
    let Some(program) = hostile_by(name, "sanitized", &words) else {
        return;
    };
    // The software runtime keeps its allocations until the process ends.
    let recording = Run::new(&program)
        .variable("LSAN_OPTIONS", "detect_leaks=0")
        .variable("ASAN_OPTIONS", "detect_leaks=0")
        .compared();
    let outcome = recording.outcome.expect(0);
    assert!(outcome.out().contains("child 0"), "{outcome}");
}

#[test]
fn address_sanitizer_of_gcc() {
    unchanged("asan-gcc", &["gcc", "-fsanitize=address"]);
    unchanged(
        "asan-gcc-static",
        &["gcc", "-fsanitize=address", "-static-libasan"],
    );
}

#[test]
fn address_sanitizer_of_clang() {
    unchanged("asan-clang", &["clang", "-fsanitize=address"]);
    let shared = ["-shared-libasan", "-Wl,-rpath,/usr/lib/clang"];
    let folder = std::process::Command::new("clang")
        .arg("-print-file-name=libclang_rt.asan-x86_64.so")
        .output();
    // Its runtime is in a folder where no loader looks.
    let Ok(folder) = folder else { return };
    let folder = String::from_utf8_lossy(&folder.stdout).into_owned();
    let Some((folder, _)) = folder.trim().rsplit_once('/') else {
        return;
    };
    let path = format!("-Wl,-rpath,{folder}");
    unchanged(
        "asan-clang-shared",
        &["clang", "-fsanitize=address", shared[0], &path],
    );
}

#[test]
fn undefined_behaviour_sanitizer() {
    unchanged("ubsan-gcc", &["gcc", "-fsanitize=undefined"]);
    unchanged("ubsan-clang", &["clang", "-fsanitize=undefined"]);
}

#[test]
fn leak_sanitizer() {
    unchanged("lsan-gcc", &["gcc", "-fsanitize=leak"]);
    unchanged("lsan-clang", &["clang", "-fsanitize=leak"]);
}
