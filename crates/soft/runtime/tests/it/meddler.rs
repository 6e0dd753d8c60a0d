//! The option `catch`: a tracer that meddles with the program ends it.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use crate::support::{
    compile, include_dir, library_dir, programs_dir, run_command, scratch, succeeds,
};

/// The library that meddles, under a tracer's name.
fn meddler() -> PathBuf {
    let library = scratch("meddler").join("libascend_trace_meddler.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-pthread", "-o"])
        .arg(&library)
        .arg(programs_dir().join("tools/meddler.c"))
        .arg(format!("-I{}", include_dir().display()))
        .arg("-ldl");
    succeeds(&mut cc);
    library
}

fn run(what: &str, options: &str) -> Output {
    let program = compile(&programs_dir().join("tools/meddled_with.c"));
    let library = meddler();
    let env = [
        ("SOFTACL", options),
        ("MEDDLER", what),
        ("LD_PRELOAD", library.to_str().unwrap()),
    ];
    let limit = Duration::from_secs(60);
    run_command(&mut Command::new(program), library_dir(), &env, limit).unwrap()
}

#[test]
fn a_preloaded_library_that_meddles_is_caught_and_others_are_left_alone() {
    let fine = run("nothing", "catch");
    assert!(fine.status.success(), "{fine:?}");
    assert_eq!(String::from_utf8_lossy(&fine.stderr), "");
    for (what, complaint) in [
        (
            "error",
            "aclrtFreeHost was called by the tracer in a thread of the program's and left",
        ),
        (
            "take",
            "aclrtGetLastError was called by the tracer and took",
        ),
        (
            "text",
            "aclGetRecentErrMsg was called by the tracer and took",
        ),
        (
            "late",
            "a call of the tracer's was under way when the runtime's destructors ran",
        ),
    ] {
        let caught = run(what, "catch,query_ns=4000000000");
        let err = String::from_utf8_lossy(&caught.stderr);
        assert!(
            !caught.status.success() && err.contains(complaint),
            "{what}: {caught:?}"
        );
        // The same goes unnoticed otherwise.
        let unnoticed = String::from_utf8(run(what, "").stderr).unwrap();
        assert!(!unnoticed.contains(complaint), "{what}: {unnoticed}");
    }
}
