//! Unchanged behaviour: missing names, other tools' libraries, programs without AscendCL.

use std::path::Path;

use super::{C, LINKED, compare, holds_sequence, library, names, program, text, tool_in_path};
use crate::support::compile::{built, built_from, soft};
use crate::support::process::write_executable;
use crate::support::{Run, Tables, run, tool};

#[test]
fn weak_references_to_missing_functions_stay_empty() {
    for (name, more) in [
        ("weak", &["-Wl,--as-needed"][..]),
        ("weak_now", &["-fPIE", "-pie", "-Wl,-z,now", "-Wl,-z,relro"]),
    ] {
        let options = [LINKED, more].concat();
        let recording = Run::new(&built(name, "weak.c", &options)).compared();
        let out = recording.outcome.out();
        assert!(
            out.starts_with("a launch below the interface: no\n"),
            "{out}"
        );
        let tables = Tables::of(&recording);
        let expected = ["aclInit", "aclrtGetDeviceCount", "aclFinalize"];
        assert_eq!(names(&tables), expected);
    }
}

#[test]
fn a_call_of_a_missing_function_ends_the_program_as_the_loader_does() {
    // The library has the function when the program is linked, and lacks it when it runs.
    let there = library("way_launch_library", &["-lascendcl"]);
    let folder = tempfile::tempdir().unwrap();
    let there_then = folder.path().join("way.so");
    std::fs::copy(&there, &there_then).unwrap();
    let options = [
        LINKED,
        &["-Wl,-z,lazy", "-L", text(folder.path()), "-l:way.so"],
    ]
    .concat();
    let program = program("missing", &options);
    let without = library("way_variadic_library", &[]);
    std::fs::copy(&without, &there_then).unwrap();
    let path = format!("{}:{}", text(folder.path()), text(&soft().lib));
    let run = Run::new(&program).variable("LD_LIBRARY_PATH", &path);
    let (bare, traced) = (run.bare(), run.traced().outcome);
    for outcome in [&bare, &traced] {
        assert_eq!(outcome.status, 127, "{outcome}");
        assert_eq!(outcome.out(), "before\n");
        assert!(outcome.err().contains("rtFusionLaunch"), "{outcome}");
    }
    let said = "symbol lookup error: undefined symbol: rtFusionLaunch";
    assert!(traced.said().iter().any(|line| line == said), "{traced}");
}

#[test]
fn another_preloaded_library_after_ours_and_before() {
    let other = library("other_preload", &[]);
    let program = program("way_direct", LINKED);
    let after = Run::new(&program).variable("LD_PRELOAD", text(&other));
    let recording = after.compared();
    assert!(recording.outcome.err().contains("the other tool saw 3\n"));
    holds_sequence(&Tables::of(&recording), 1);

    let line = "LD_PRELOAD=\"$0${LD_PRELOAD:+:$LD_PRELOAD}\" exec \"$1\"";
    let before = Run::new(Path::new("/bin/sh")).words(&["-c", line, text(&other), text(&program)]);
    let recording = before.compared();
    assert!(recording.outcome.err().contains("the other tool saw 3\n"));
    holds_sequence(&Tables::of(&recording), 1);
}

#[test]
fn a_closed_library_stays_while_its_functions_are_known() {
    let options = [super::LIBRARY, &["-DOWN=3"]].concat();
    let source = "way_two_libraries_library.c";
    let closed = built("way_library_closed.so", source, &options);
    let tables = compare(&Run::new(&program("closing", C)).words(&[text(&closed)]));
    assert_eq!(names(&tables), ["aclrtGetDevice"; 3]);
}

#[test]
fn a_program_that_clears_its_environment_is_left_alone() {
    let program = program("way_direct", LINKED);
    let line = format!("exec env -i LD_LIBRARY_PATH={} \"$0\"", text(&soft().lib));
    let run = Run::new(Path::new("/bin/sh")).words(&["-c", &line, text(&program)]);
    let tables = compare(&run);
    assert!(tables.calls.is_empty());
}

#[test]
fn a_program_that_gains_privileges_is_left_alone() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can make such a program here");
        return;
    }
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let program = folder.path().join("privileged");
    let options = [LINKED, &["-Wl,-rpath", text(&soft().lib)]].concat();
    let plain = built("way_direct_path", "way_direct.c", &options);
    write_executable(&program, &std::fs::read(plain).unwrap());
    let mut shell = crate::support::process::clean("sh");
    let line = "chmod 755 \"$1\" && chown 65534:65534 \"$0\" && chmod 6755 \"$0\"";
    run(shell.args(["-c", line, text(&program), text(folder.path())])).expect(0);
    let line = Run::new(Path::new("/bin/sh")).words(&["-c", "\"$0\"; echo $?", text(&program)]);
    let tables = compare(&line);
    assert!(tables.calls.is_empty());
}

/// Runs a command line bare and under the tracer: nothing but the tool's own lines may differ.
fn unchanged(line: &str) {
    let folder = tempfile::tempdir().unwrap();
    let shell = Run::new(Path::new("/bin/sh")).words(&["-c", line, text(folder.path())]);
    let recording = shell.compared();
    recording.outcome.expect(0);
}

#[test]
fn ordinary_programs_run_as_without_the_tracer() {
    unchanged("ls -l / >/dev/null && ls /bin | head -n 5");
    unchanged("cd \"$0\" && echo text >a && cp -a a b && tar cf c.tar a b && tar tf c.tar && rm *");
    unchanged("bash -c 'x=$(echo one | tr a-z A-Z); echo $x; (exit 0)'");
    if tool_in_path("git").is_some() {
        unchanged("cd \"$0\" && git init -q . && git status --short && rm -rf .git");
    }
    if tool_in_path("python3").is_some() {
        unchanged("python3 -c 'import ssl, ctypes, sqlite3; print(ssl.OPENSSL_VERSION)'");
    }
    let mut list = tool();
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.atrace");
    list.args(["record", "--no-tui", "-o"])
        .arg(&trace)
        .args(["--", "ls", "/bin"]);
    let outcome = run(&mut list).expect(0);
    assert_eq!(outcome.program_err(), "");
}

/// With softacl, which has few operators by name.
#[test]
fn an_operator_that_was_called_by_name_in_vain_is_listed() {
    let recording = Run::new(&program("by_name", LINKED)).compared();
    assert_eq!(recording.outcome.out(), "200001\n200001\n");
    let mut soft = tool();
    soft.arg("soft").arg("--missing").arg(recording.trace());
    let listed = run(&mut soft).expect(0);
    assert_eq!(listed.out(), "Nonesuch\n");
}

const NOTHING: &str = r#"
#include <acl/acl.h>
#include <stdio.h>
int main(void)
{
    aclrtStream stream;
    aclrtEvent event;
    aclmdlRI graph;
    void *device;
    char host[64] = {0};
    int failed = aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&stream) || aclrtCreateEvent(&event);
    failed |= aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    for (int i = 0; i < 3; i++) {
        failed |= aclrtMemcpyAsync(device, 64, host, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream);
        failed |= aclrtMemcpyAsync(device, 64, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream);
        failed |= aclrtMemcpy2dAsync(device, 8, host, 8, 8, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    }
    failed |= aclrtSynchronizeStream(stream);
    failed |= aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL);
    int refused = aclrtRecordEvent(event, stream);
    failed |= aclrtMemsetAsync(device, 64, 1, 64, stream);
    failed |= aclmdlRICaptureEnd(stream, &graph);
    failed |= aclmdlRIExecuteAsync(graph, stream);
    failed |= aclrtSynchronizeStream(stream);
    printf("%d %d\n", failed, refused);
    return 0;
}
"#;

/// The runtime submits nothing for no bytes, and captures no record that it refuses.
#[test]
fn work_that_the_runtime_does_not_submit_is_no_task() {
    let program = built_from("nothing_to_move", NOTHING, &["-lascendcl"]);
    let recording = Run::new(&program)
        .options(&["--timing", "events"])
        .compared();
    assert_eq!(recording.outcome.out(), "0 207000\n");
    let tables = Tables::of(&recording);
    let copies = tables
        .tasks
        .iter()
        .filter(|task| task.text("kind") == "memcpy");
    let copied: Vec<_> = copies
        .map(|task| (task.text("bytes"), task.text("untimed")))
        .collect();
    assert_eq!(copied.len(), 3, "{copied:?}");
    assert!(copied.iter().all(|(bytes, _)| *bytes == "8"), "{copied:?}");
    let info = run(tool().arg("info").arg(recording.trace()).arg("--json")).expect(0);
    let info: serde_json::Value = serde_json::from_str(&info.out()).unwrap();
    let graphs = &info["graphs"];
    let counts = ["count", "nodes", "replays"].map(|name| graphs[name].as_u64());
    assert_eq!(counts, [Some(1); 3], "{graphs}");
}
