//! One trace for a whole tree of processes, each under its own name, parent and rank.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use ascend_trace_recording::Trace;
use ascend_trace_testkit::whole::opened;

use crate::support::process::{finish, write_executable};
use crate::support::{Run, feed, program, run, tool};

#[track_caller]
fn open(path: &Path) -> Trace {
    let (trace, warnings) = opened(path).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    trace
}

/// Pid, parent, rank, device and calls of each process, by rank.
fn members(trace: &Trace) -> Vec<(u32, u32, String, Vec<u32>, usize)> {
    let mut members: Vec<_> = trace
        .processes()
        .iter()
        .enumerate()
        .map(|(number, process)| {
            assert_eq!(process.name, "family");
            let of_it = |other: ascend_trace_recording::ProcessId| other.index() == number;
            let contexts = trace.contexts().iter();
            let devices = contexts.filter(|context| of_it(context.process));
            let calls = trace.calls().iter();
            let calls = calls.filter(|call| of_it(trace.thread(call.thread).process));
            (
                process.pid,
                process.parent_pid,
                process.rank.clone(),
                devices.map(|context| context.device).collect(),
                calls.count(),
            )
        })
        .collect();
    members.sort_by(|one, other| one.2.cmp(&other.2));
    members
}

/// How many calls each member makes.
const CALLS: usize = 11;

#[test]
fn every_member_of_a_family_is_recorded_under_its_own_identity() {
    let folder = tempfile::tempdir().unwrap();
    let done = folder.path().join("done");
    let run = Run::new(&program("family")).words(&["prompt", done.to_str().unwrap()]);
    let mut command = run.command(folder.path());
    command.env("RANK", "0").env("LOCAL_RANK", "7");
    let outcome = feed(&mut command, b"").expect(5);
    let lines = "forked: status 0\ncloned: status 0\nstarter: status 0\n";
    assert_eq!(outcome.out(), lines);
    let trace = open(&folder.path().join("t.atrace"));
    let members = members(&trace);
    let seen: Vec<_> = members
        .iter()
        .map(|(_, _, rank, devices, calls)| (rank.as_str(), devices.as_slice(), *calls))
        .collect();
    let expected = [
        ("0", &[0][..], CALLS),
        ("1", &[1], CALLS),
        ("2", &[0], CALLS),
        ("3", &[1], CALLS),
    ];
    assert_eq!(seen, expected);
    let first = members[0].0;
    assert_eq!((members[1].1, members[2].1), (first, first));
    assert_ne!(members[3].1, first, "the daemon has lost its parent");
    // Its last call is recorded before it says who it was: the file comes later, and is empty at first.
    let pid = || {
        std::fs::read_to_string(&done)
            .ok()?
            .strip_suffix('\n')?
            .parse::<u32>()
            .ok()
    };
    until("the daemon says who it was", || pid().is_some());
    assert_eq!(Some(members[3].0), pid());
}

#[test]
fn a_daemon_that_begins_after_its_parents_ended_is_recorded_with_wait() {
    let folder = tempfile::tempdir().unwrap();
    let (run, _, go) = patient(folder.path());
    let mut command = run.options(&["--wait"]).command(folder.path());
    let err = folder.path().join("err");
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(std::fs::File::create(&err).unwrap());
    let child = command.spawn().unwrap();
    let said = || std::fs::read_to_string(&err).unwrap();
    until("it reports its wait", || {
        said().contains("what it left behind is recorded")
    });
    std::fs::write(go, "").unwrap();
    let outcome = finish(child).unwrap().expect(5);
    let said = said();
    assert!(!said.contains("not recorded any more"), "{said}");
    let trace = open(&folder.path().join("t.atrace"));
    let members = members(&trace);
    assert_eq!(members.len(), 4, "{outcome}{said}");
    assert_eq!((members[3].2.as_str(), members[3].4), ("3", CALLS));
    assert_eq!(trace.end().map(|end| end.1), Some(5));
}

#[test]
fn a_daemon_without_wait_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (run, done, go) = patient(folder.path());
    feed(&mut run.command(folder.path()), b"").expect(5);
    assert_eq!(open(&folder.path().join("t.atrace")).processes().len(), 3);
    // Its work goes on without a tool.
    std::fs::write(go, "").unwrap();
    until("the daemon is done", || done.exists());
}

/// A family with a daemon that works when its parents have ended and the last of these files exists.
/// The other exists when it is done.
fn patient(folder: &Path) -> (Run, PathBuf, PathBuf) {
    let (done, go) = (folder.join("done"), folder.join("go"));
    let words = ["patient", done.to_str().unwrap(), go.to_str().unwrap()];
    (Run::new(&program("family")).words(&words), done, go)
}

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(300), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_script_is_recorded_except_for_programs_that_it_starts_with_an_empty_environment() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.sh");
    let text = "#!/bin/sh\n\
                \"$1\" 1 10\n\
                env -i LD_LIBRARY_PATH=\"$LD_LIBRARY_PATH\" \"$1\" 1 20\n\
                RANK=4 \"$1\" 1 30\n";
    write_executable(&script, text.as_bytes());
    let burst = program("burst");
    let recording = Run::new(&script).words(&[burst.to_str().unwrap()]).traced();
    let outcome = recording.outcome.clone().expect(0);
    assert_eq!(outcome.out(), "made 10\nmade 20\nmade 30\n");
    let trace = open(&recording.trace());
    let ranks: Vec<_> = trace
        .processes()
        .iter()
        .map(|process| &process.rank)
        .collect();
    assert_eq!(ranks, ["", "4"]);
    let counted = trace
        .calls()
        .iter()
        .filter(|call| trace.function(call.function).name == "aclrtGetDevice");
    assert_eq!(counted.count(), 40);
}

#[test]
fn ranks_are_taken_from_what_launchers_set() {
    for (variables, rank) in [
        (&[("SLURM_PROCID", "5")][..], "5"),
        (&[("LOCAL_RANK", "1"), ("PMI_RANK", "6")], "6"),
        (
            &[("RANK", ""), ("RANK_ID", "none"), ("PMIX_RANK", "7")],
            "7",
        ),
        (&[("MV2_COMM_WORLD_RANK", "2"), ("RANK_ID", "12")], "12"),
        (&[("OMPI_COMM_WORLD_RANK", "8"), ("SLURM_PROCID", "5")], "8"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::new(&program("burst")).words(&["1", "1"]);
        let mut command = run.command(folder.path());
        command.envs(variables.iter().copied());
        feed(&mut command, b"").expect(0);
        let trace = open(&folder.path().join("t.atrace"));
        assert_eq!(trace.processes()[0].rank, rank);
    }
}

#[test]
fn a_program_that_changes_its_identity_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("setuid");
    std::fs::copy(program("burst"), &copy).unwrap();
    let changed = run(std::process::Command::new("sh")
        .args(["-c", "chown 65534 \"$0\" && chmod 4755 \"$0\""])
        .arg(&copy));
    if changed.status != 0 {
        // Only root may give files away.
        return;
    }
    let mut command = tool();
    command.current_dir(folder.path());
    command
        .args(["record", "--soft", "--"])
        .arg(&copy)
        .args(["1", "1"]);
    let outcome = run(&mut command).expect(125);
    assert!(outcome.err().contains("gains privileges"), "{outcome}");
    assert_eq!(outcome.out(), "");
}
