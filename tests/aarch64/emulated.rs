//! A program in an emulator, recorded by the command of this machine: one architecture collects what
//! the other one records.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::{self, COMPILER, EMULATOR, SYSROOT, TARGET, cargo, output, target_folder};

const EXPECTED: &str = "0 0\n0\n0\n0\n1 1\n\
     1 main file 9 4 5 6 7 1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5 9.5 end\n1 1 1 0\n0\n";

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/aarch64")
        .join(name)
}

/// The library that is loaded into programs, built for the other architecture.
fn interposer() -> PathBuf {
    output(&mut cargo(&[
        "build",
        "-p",
        "ascend-trace-interposer",
        "--lib",
    ]))
    .unwrap();
    let built = target_folder().join(TARGET).join("debug");
    built.join("libascend_trace_interposer.so")
}

fn compile(folder: &Path) {
    let mut library = Command::new(COMPILER);
    library.args(["-shared", "-fPIC", "-Wl,-soname,libascendcl.so", "-o"]);
    library
        .arg(folder.join("libascendcl.so"))
        .arg(here("runtime.c"));
    output(&mut library).unwrap();
    let mut program = Command::new(COMPILER);
    program
        .arg("-o")
        .arg(folder.join("program"))
        .arg(here("program.c"));
    program.arg("-L").arg(folder).args(["-lascendcl", "-ldl"]);
    output(&mut program).unwrap();
}

#[test]
fn a_program_in_an_emulator_is_recorded_with_a_library_of_its_architecture() {
    if let Err(reason) = machine::can_build() {
        eprintln!("skipped: {reason}");
        return;
    }
    let interposer = interposer();
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path());
    let mut emulated = vec![EMULATOR.to_owned(), "-L".to_owned(), SYSROOT.to_owned()];
    let path = format!("LD_LIBRARY_PATH={}", folder.path().display());
    emulated.extend(["-E".to_owned(), path]);
    emulated.push(folder.path().join("program").display().to_string());
    let bare = Command::new(&emulated[0])
        .args(&emulated[1..])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&bare.stdout), EXPECTED);

    let trace = folder.path().join("t.atrace");
    let tool = env!("CARGO_BIN_EXE_ascend-trace");
    let mut record = Command::new(tool);
    record
        .args(["record", "--no-tui", "--timing", "off", "-o"])
        .arg(&trace)
        .arg("--");
    record
        .args(&emulated)
        .env("ASCEND_TRACE_INTERPOSER", &interposer);
    record.env("XDG_CACHE_HOME", folder.path());
    let traced = record.output().unwrap();
    let said = String::from_utf8_lossy(&traced.stderr);
    assert_eq!(traced.status.code(), Some(7), "{said}");
    assert_eq!(String::from_utf8_lossy(&traced.stdout), EXPECTED, "{said}");
    assert!(
        said.lines().all(|line| line.starts_with("ascend-trace: ")),
        "{said}"
    );

    let tables = folder.path().join("csv");
    let mut export = Command::new(tool);
    export
        .arg("export")
        .arg(&trace)
        .args(["--format", "csv", "-o"])
        .arg(&tables);
    output(&mut export).unwrap();
    let calls = std::fs::read_to_string(tables.join("calls.csv")).unwrap();
    for (name, times) in [
        ("aclInit", 1),
        ("aclrtSetDevice", 1),
        ("aclrtMemcpyAsync", 5 + 7 + 11),
        ("aclAppLog", 1),
        ("aclFinalize", 1),
    ] {
        let counted = calls
            .lines()
            .filter(|line| line.contains(&format!(",{name},")))
            .count();
        assert_eq!(counted, times, "{name}: {calls}");
    }
}
