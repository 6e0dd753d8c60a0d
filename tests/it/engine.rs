//! The engine that patches functions, with a stand-in for Frida's Gum, or with Gum itself where
//! `ASCEND_TRACE_TEST_ENGINE` is `frida`, for the engine in a command that was built with it, or names an
//! engine that was linked against it.

mod guarded;
mod kept;
mod stacks;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::compile::built;
use crate::support::process::{clean, has_cxx};
use crate::support::{Recording, Run, Tables, place, run, tool};

const VARIABLE: &str = "ASCEND_TRACE_ENGINE_LIBRARY";
/// Whether the engine is part of the command.
const HAS_OWN: bool = cfg!(feature = "frida");

/// The engine's file; `None` for the one that is part of the command.
fn library() -> Option<PathBuf> {
    match std::env::var_os("ASCEND_TRACE_TEST_ENGINE") {
        Some(own) if own == "frida" => None,
        Some(path) => Some(path.into()),
        // It was built with these tests.
        None => Some(place::library("libascend_trace_engine_standin.so")),
    }
}

/// A command with the tested engine in its environment.
pub(crate) fn chosen(command: &mut Command) -> &mut Command {
    match library() {
        Some(library) => command.env(VARIABLE, library),
        None => command,
    }
}

/// The same run with the engine.
pub(crate) fn patched(run: &Run) -> Run {
    let run = run.clone().options(&["--engine", "frida"]);
    match library() {
        Some(library) => run.variable(VARIABLE, library.to_str().unwrap()),
        None => run,
    }
}

/// What `info` says of the functions of a library: ways and the reason for a refusal.
#[track_caller]
fn coverage(recording: &Recording, file: &str) -> BTreeMap<String, (Vec<String>, Option<String>)> {
    let text = run(tool().args(["info", "--json"]).arg(recording.trace()))
        .expect(0)
        .out();
    let document: Value = serde_json::from_str(&text).unwrap();
    let is_it = |it: &&Value| {
        it["library"]
            .as_str()
            .is_some_and(|path| path.ends_with(file))
    };
    let library = document["coverage"]
        .as_array()
        .unwrap()
        .iter()
        .find(is_it)
        .expect(&text);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let functions = library["functions"].as_array().unwrap().iter();
    functions
        .map(|it| {
            let ways = it["ways"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(text)
                .collect();
            (text(&it["name"]).unwrap(), (ways, text(&it["refused"])))
        })
        .collect()
}

fn own_library(name: &str, options: &[&str]) -> PathBuf {
    let common = ["-std=gnu11", "-O1", "-shared", "-fPIC"];
    built(name, "engine_library.c", &[&common, options].concat())
}

/// The library that most of these tests use.
fn host_library() -> PathBuf {
    own_library("libacl_engine_now.so", &["-Wl,-z,now"])
}

fn host(library: &Path, more: &[&str]) -> Run {
    let program = built(
        "engine_host",
        "engine_host.c",
        &["-std=gnu11", "-O1", "-pthread", "-ldl"],
    );
    let words = [&[library.to_str().unwrap()], more].concat();
    patched(&Run::new(&program).words(&words))
}

#[test]
fn calls_inside_one_library_are_seen() {
    let library = host_library();
    let recording = host(&library, &[]).compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.count_calls("aclrtGetDevice"), 1001);
    // By way of a jump to its body, and each once.
    assert_eq!(tables.count_calls("aclrtSetDevice"), 2);
    let sets = tables
        .calls
        .iter()
        .filter(|it| it.text("name") == "aclrtSetDevice");
    let codes: Vec<_> = sets.map(|it| it.text("ret")).collect();
    assert_eq!(codes, ["0", "107001"]);
    let found = coverage(&recording, "libacl_engine_now.so");
    let (ways, refused) = &found["aclrtGetDevice"];
    assert!(
        ways.contains(&"patched".to_owned()) && refused.is_none(),
        "{ways:?}"
    );
    for (name, why) in [
        (
            "aclrtGetDeviceCount",
            "another function jumps on to the same code",
        ),
        (
            "aclrtGetRunMode",
            "another function jumps on to the same code",
        ),
        (
            "aclrtResetDevice",
            "it jumps back to where the patch would be",
        ),
        ("aclFinalize", "too small to be patched"),
        (
            "aclrtSynchronizeDevice",
            "it calls another function where the patch would be",
        ),
        (
            "aclrtSetDeviceImpl",
            "the body of the function without Impl, whose calls are recorded",
        ),
    ] {
        let (ways, refused) = &found[name];
        assert_eq!(refused.as_deref(), Some(why), "{name}");
        assert!(!ways.contains(&"patched".to_owned()), "{name}");
        assert_eq!(tables.count_calls(name), 0, "{name}");
    }
    let said = recording.outcome.said().join("\n");
    assert!(said.contains("the engine patched "), "{said}");
}

#[test]
fn a_jump_that_is_not_bound_yet_is_left_alone() {
    let library = own_library("libacl_engine_lazy.so", &["-Wl,-z,lazy"]);
    let recording = host(&library, &[]).compared();
    let found = coverage(&recording, "libacl_engine_lazy.so");
    let (ways, refused) = &found["aclrtSetDevice"];
    assert!(!ways.contains(&"patched".to_owned()), "{ways:?}");
    let why = "it only jumps on to a function that is not bound yet";
    assert_eq!(refused.as_deref(), Some(why));
    let tables = Tables::of(&recording);
    assert_eq!(tables.count_calls("aclrtSetDevice"), 0);
    assert_eq!(tables.count_calls("aclrtGetDevice"), 1001);
}

#[test]
fn exceptions_and_longjmp_pass_through_patched_functions() {
    if !has_cxx() {
        return;
    }
    let library = own_library("libacl_engine_thrown.so", &["-Wl,-z,now", "-fexceptions"]);
    let program = built("engine_throw", "engine_throw.cc", &["-O1", "-ldl"]);
    let run = patched(&Run::new(&program).words(&[library.to_str().unwrap()]));
    let recording = run.compared();
    let found = coverage(&recording, "libacl_engine_thrown.so");
    for name in ["aclrtGetVersion", "aclrtGetDevice"] {
        let (ways, refused) = &found[name];
        assert!(
            ways.contains(&"patched".to_owned()),
            "{name}: {ways:?} {refused:?}"
        );
    }
    // A call after one that was left is not inside it.
    let tables = Tables::of(&recording);
    let outer = tables.outer_calls();
    let outer = outer.filter(|it| it.text("name") == "aclrtGetDevice");
    assert_eq!(outer.count(), 201);
}

#[test]
fn nothing_is_patched_while_another_thread_runs() {
    if std::fs::read_to_string("/proc/self/syscall").is_err() {
        eprintln!("skipped: the kernel does not say what threads do");
        return;
    }
    let library = own_library("libacl_engine_threads.so", &["-Wl,-z,now"]);
    let recording = host(&library, &["threads"]).compared();
    let tables = Tables::of(&recording);
    // The first call came through the wrapper; when the thread had ended, the rest was patched.
    assert_eq!(tables.count_calls("aclrtGetDevice"), 1001);
    assert_eq!(tables.count_calls("aclrtSetDevice"), 2);
}

#[test]
fn without_such_an_engine_the_program_is_not_started() {
    let mut command = tool();
    command.args(["record", "--engine", "frida", "--", "true"]);
    if !HAS_OWN {
        let outcome = run(&mut command).expect(125);
        for part in [
            "--features frida",
            "ascend-trace help engines",
            "--engine preload",
        ] {
            assert!(outcome.err().contains(part), "{outcome}");
        }
    }
    command.env(VARIABLE, "/nowhere/engine.so");
    let outcome = run(&mut command).expect(125);
    assert!(outcome.err().contains("/nowhere/engine.so"), "{outcome}");
}

#[test]
fn the_doctor_says_which_engines_there_are_and_why_not() {
    let own = host_library();
    let line = |library: Option<&Path>| {
        let mut command = tool();
        command.arg("doctor");
        library.map(|it| command.env(VARIABLE, it));
        // For any other obstacle here.
        let said = run(&mut command).out();
        let mut lines = said.lines();
        assert!(
            lines.any(|it| it.starts_with("engine preload    ok ")),
            "{said}"
        );
        lines.next().unwrap().to_owned()
    };
    match HAS_OWN {
        true => assert!(line(None).contains("for `record --engine frida`")),
        false => assert!(line(None).contains("cargo build --features frida")),
    }
    let usable = line(library().as_deref());
    assert!(usable.contains("--engine frida"), "{usable}");
    assert!(line(Some(&own)).contains("is not an engine of ascend-trace"));
    assert!(line(Some(Path::new("/nowhere/engine.so"))).contains("/nowhere/engine.so"));
    assert!(line(Some(Path::new("/dev/null"))).contains("is not a library"));
}

#[test]
fn a_library_that_is_no_engine_is_reported_and_changes_nothing() {
    let library = host_library();
    let run = host(&library, &[]).variable(VARIABLE, library.to_str().unwrap());
    let recording = run.compared();
    let said = recording.outcome.said().join("\n");
    assert!(said.contains("the engine could not be loaded"), "{said}");
    assert!(
        said.contains("it is not an engine of ascend-trace"),
        "{said}"
    );
    assert_eq!(Tables::of(&recording).count_calls("aclrtGetDevice"), 1);
    let found = coverage(&recording, "libacl_engine_now.so");
    let refused = found["aclrtGetDevice"].1.as_deref().unwrap();
    assert!(
        refused.contains("it is not an engine of ascend-trace"),
        "{refused}"
    );
}

#[test]
fn a_recording_without_an_engine_inside_one_with_an_engine_patches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command
        .args(["record", "-o"])
        .arg(folder.path().join("t.atrace"));
    command.args(["--", "sh", "-c", "echo \"[$ASCEND_TRACE_ENGINE]\""]);
    command.env("ASCEND_TRACE_ENGINE", "/somewhere/engine.so");
    assert_eq!(run(&mut command).expect(0).out(), "[]\n");
    // And none is named to programs where none was asked for.
    assert_eq!(
        run(clean("sh").args(["-c", "echo $ASCEND_TRACE_ENGINE"])).out(),
        "\n"
    );
}
