//! Processes and recorders in other pid namespaces.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{LIMIT, Waiting, document, open, recorder};
use crate::hostile::counts::balanced;
use crate::support::compile::hostile;
use crate::support::{Run, Tables, program, run, tool};

/// Whether pid namespaces can be made here; says that a test is skipped if not.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn has_namespaces() -> bool {
    let mut probe = Command::new("unshare");
    probe.args(["-rpf", "true"]);
    let has_them = probe.output().is_ok_and(|output| output.status.success());
    if !has_them {
        eprintln!("skipped: no pid namespace can be made here");
    }
    has_them
}

/// The same command, in a separate pid namespace.
fn in_namespace(inner: &Command) -> Command {
    let mut command = Command::new("unshare");
    command.args(["-rpf"]).arg(inner.get_program());
    command.args(inner.get_args());
    command.current_dir(inner.get_current_dir().unwrap());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

#[test]
fn a_recorder_in_another_pid_namespace_keeps_its_session() {
    if !has_namespaces() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let memory = tempfile::tempdir().unwrap();
    let burst = program("burst");
    // The new process joins the session after the other recorder has looked for remains.
    let script = "echo ready; read line; exec \"$0\" 1 100";
    let words = ["-c", script, burst.to_str().unwrap()];
    let mut inner = recorder(
        folder.path(),
        &["-o", "a.atrace"],
        Path::new("/bin/sh"),
        &words,
    );
    inner.env("ASCEND_TRACE_MEMORY", memory.path());
    let mut waiting = Waiting::start(&mut in_namespace(&inner));
    waiting.until_ready();
    assert!(waiting.is_ready);
    let other = |name: &str| {
        let mut command = recorder(folder.path(), &["-o", name], &burst, &["1", "1"]);
        command.env("ASCEND_TRACE_MEMORY", memory.path());
        command
    };
    run(&mut in_namespace(&other("b.atrace"))).expect(0);
    run(&mut other("c.atrace")).expect(0);
    let outcome = waiting.end().expect(0);
    let trace = open(&folder.path().join("a.atrace"));
    assert_eq!(trace.calls().len(), 103, "{outcome}");
}

#[test]
fn processes_with_one_pid_in_two_namespaces_are_distinguished() {
    if !has_namespaces() {
        return;
    }
    let burst = program("burst");
    let script = "unshare -rpf \"$0\" 1 300 & unshare -rpf \"$0\" 1 300; wait";
    let recording = Run::new(Path::new("/bin/sh"))
        .words(&["-c", script, burst.to_str().unwrap()])
        .traced();
    let outcome = recording.outcome.clone().expect(0);
    assert!(!outcome.err().contains("still running"), "{outcome}");
    let document = document(&recording);
    let processes = document["processes"].as_array().unwrap();
    let inner: Vec<_> = processes.iter().filter(|it| it["pid"] == 1).collect();
    assert_eq!(inner.len(), 2, "{document}");
    assert_ne!(inner[0]["process"], inner[1]["process"]);
    let tables = Tables::of(&recording);
    for process in inner {
        assert_eq!(process["calls"], 303);
        let number = process["process"].as_i64().unwrap();
        let own = tables.calls.iter();
        let own = own.filter(|call| call.number("process") == number);
        assert_eq!(own.count(), 303);
    }
}

#[test]
fn processes_of_another_namespace_have_both_pids() {
    if !has_namespaces() {
        return;
    }
    let burst = program("burst");
    let script = "unshare -rpf \"$0\" 1 300 wait";
    let folder = tempfile::tempdir().unwrap();
    let words = ["-c", script, burst.to_str().unwrap()];
    let mut command = recorder(
        folder.path(),
        &["-o", "t.atrace"],
        Path::new("/bin/sh"),
        &words,
    );
    let mut waiting = Waiting::start(&mut command);
    waiting.until_ready();
    let outside = processes_below(waiting.child.id());
    let path = folder.path().join("t.atrace");
    // A process that ends before the recorder has looked for it has no pid outside in the file.
    let begin = Instant::now();
    while outer_pid_of_one(&path).is_none() {
        assert!(begin.elapsed() < LIMIT, "the recorder does not find it");
        std::thread::sleep(Duration::from_millis(20));
    }
    waiting.end().expect(0);
    let outer = outer_pid_of_one(&path).unwrap();
    assert!(outside.contains(&outer), "{outer}: {outside:?}");
    // A process of the recorder's namespace has one pid.
    let recording = Run::new(&burst).words(&["1", "3"]).traced();
    assert!(
        document(&recording)["processes"][0]
            .get("outer_pid")
            .is_none()
    );
}

/// The outer pid of the process with the inner pid 1, if the file has both.
fn outer_pid_of_one(path: &Path) -> Option<u64> {
    let outcome = run(tool().args(["info", "--json"]).arg(path));
    let info: Value = serde_json::from_str(&outcome.out()).ok()?;
    let mut processes = info["processes"].as_array()?.iter();
    processes.find(|it| it["pid"] == 1)?["outer_pid"].as_u64()
}

/// All processes that a process has started, and those that they have started.
fn processes_below(pid: u32) -> Vec<u64> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let children = children.split_whitespace().map(|it| it.parse().unwrap());
    let each = children.flat_map(|child: u32| {
        let mut all = processes_below(child);
        all.push(child.into());
        all
    });
    each.collect()
}

#[test]
fn namespaces_that_come_and_go_lose_nothing() {
    if !has_namespaces() {
        return;
    }
    let script = "i=0; while [ $i -lt 40 ]; do unshare -rpf \"$0\" child 50; i=$((i+1)); done; \
                  echo made 2000";
    let recording = Run::new(Path::new("/bin/sh"))
        .words(&["-c", script, hostile("many_processes").to_str().unwrap()])
        .traced();
    let counts = balanced(&recording);
    assert_eq!(counts.lost, 0);
}
