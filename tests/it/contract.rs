//! The contract with scripts: exit codes, output streams, file names.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::engine;
use crate::support::compile::soft;
use crate::support::process::{cache, clean, finish, write_executable};
use crate::support::{Outcome, Run, Tables, feed, place, program, run, tool};

fn ends(way: &str, number: &str) -> Run {
    Run::new(&program("ends")).words(&[way, number])
}

#[test]
fn the_status_is_the_programs_own() {
    for status in [0, 3, 255] {
        let recording = ends("status", &status.to_string()).compared();
        recording.outcome.expect(status);
    }
}

#[test]
fn a_program_ended_by_a_signal_gives_128_and_its_number() {
    for signal in [2, 9, 11, 15] {
        let recording = ends("signal", &signal.to_string()).compared();
        recording.outcome.clone().expect(128 + signal);
        assert_eq!(Tables::of(&recording).tasks.len(), 2);
    }
}

#[test]
fn standard_streams_pass_through_untouched() {
    let input: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    let recording = Run::new(&program("copy_input")).input(&input).compared();
    assert!(recording.outcome.stdout == input);
    // One summary, all of it with the tool's name.
    let said = recording.outcome.said();
    assert!(said[0].contains("1 process, 1 call, 0 tasks"), "{said:?}");
}

#[test]
fn the_programs_arguments_are_left_alone() {
    let words = ["--no-tui", "-o", "x", "--", "--soft=?", "--help", "", "a b"];
    let recording = Run::new(&program("copy_input")).words(&words).compared();
    assert_eq!(recording.outcome.program_err(), words.join("\n") + "\n");
}

/// The command in a fresh folder, with the runtime found by the loader.
fn in_folder(folder: &Path) -> Command {
    let mut command = tool();
    command
        .current_dir(folder)
        .env("LD_LIBRARY_PATH", &soft().lib);
    command
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

#[test]
fn without_a_command_the_program_is_recorded_to_a_file_named_after_it() {
    for words in [
        &[][..],
        &["--"],
        &["record"],
        &["record", "--timing", "off", "--"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = in_folder(folder.path());
        command
            .args(words)
            .arg(program("ends"))
            .args(["status", "3"]);
        let outcome = run(&mut command).expect(3);
        assert_eq!(outcome.out(), "to standard output\n");
        let [name] = &files(folder.path())[..] else {
            panic!("{:?}", files(folder.path()));
        };
        let tables = Tables::of_file(&folder.path().join(name), &folder.path().join("csv"));
        let pid = tables.calls[0].number("pid");
        assert_eq!(*name, format!("ends-{pid}.atrace"));
        assert!(outcome.said()[0].contains(name), "{outcome}");
    }
}

#[test]
fn a_trace_is_replaced_only_when_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.atrace");
    fs::write(&path, "old").unwrap();
    let mut command = in_folder(folder.path());
    command
        .args(["record", "-o", "t.atrace", "--"])
        .arg(program("ends"));
    let refused = run(&mut command).expect(125);
    assert_eq!(refused.out(), "", "the program was not started");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    let mut command = in_folder(folder.path());
    command
        .args(["record", "--force", "-o", "t.atrace", "--"])
        .arg(program("ends"));
    run(&mut command).expect(0);
    assert!(fs::metadata(&path).unwrap().len() > 1000);
}

#[test]
fn a_script_may_start_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let script = script(
        folder.path(),
        "\"$1\" status 5\necho status $?\n\"$1\"\nexit 4",
    );
    let run = Run::new(&script).words(&[program("ends").to_str().unwrap()]);
    let recording = run.compared();
    let outcome = recording.outcome.clone().expect(4);
    assert!(outcome.out().contains("status 5"), "{outcome}");
    let tables = Tables::of(&recording);
    assert_eq!((tables.processes().len(), tables.tasks.len()), (2, 4));
}

fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("script.sh");
    write_executable(&path, format!("#!/bin/sh\n{text}\n").as_bytes());
    path
}

/// The variables that a program sees in addition when it is recorded with these options.
#[track_caller]
fn variables_added(options: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let variables = |outcome: &Outcome| -> Vec<(String, String)> {
        let text = outcome.out();
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    };
    let bare = variables(&run(
        engine::chosen(&mut clean("env")).env("XDG_CACHE_HOME", "/x")
    ));
    let mut command = tool();
    engine::chosen(&mut command).args(["record", "-o"]);
    command.arg(folder.path().join("t.atrace")).args(options);
    let traced = variables(&run(command.args(["--", "env"])).expect(0));
    let is_new = |name: &String| !bare.iter().any(|(it, _)| it == name);
    let names = traced.iter().map(|(name, _)| name.clone());
    let mut added: Vec<_> = names.filter(is_new).collect();
    added.sort_unstable();
    assert_eq!(traced.len(), bare.len() + added.len());
    added
}

#[test]
fn the_program_sees_only_the_variables_that_load_the_tracer() {
    assert_eq!(variables_added(&[]), ["ASCEND_TRACE_SESSION", "LD_PRELOAD"]);
    // The engine is one more part of it.
    assert_eq!(
        variables_added(&["--engine", "frida"]),
        ["ASCEND_TRACE_ENGINE", "ASCEND_TRACE_SESSION", "LD_PRELOAD"]
    );
}

#[test]
fn libraries_that_the_user_preloads_come_after_the_tracer() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command
        .args(["record", "-o"])
        .arg(folder.path().join("t.atrace"));
    command.args(["--", "sh", "-c", "echo $LD_PRELOAD"]);
    let own = soft().lib.join("libascendcl.so");
    command.env("LD_PRELOAD", &own);
    let text = run(&mut command).expect(0).out();
    assert!(
        text.trim_end().ends_with(&format!(":{}", own.display())),
        "{text}"
    );
}

/// Starts `ends wait 0`, as the leader of a process group, and waits until it waits.
fn start_waiting(folder: &Path) -> (std::process::Child, BufReader<std::process::ChildStdout>) {
    let mut command = ends("wait", "0").command(folder);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "to standard output\n");
    (child, out)
}

#[track_caller]
fn is_complete(folder: &Path, status: i64) {
    let mut command = tool();
    command
        .args(["info", "--json"])
        .arg(folder.join("t.atrace"));
    let outcome = run(&mut command).expect(0);
    assert_eq!(outcome.err(), "", "nothing is missing");
    let info: Value = serde_json::from_str(&outcome.out()).unwrap();
    assert_eq!(info["exit_status"], status);
    assert_eq!(info["tasks"]["count"], 2);
}

#[test]
fn a_signal_to_the_tool_reaches_the_program_and_the_trace_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let (child, _out) = start_waiting(folder.path());
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    finish(child).unwrap().expect(143);
    is_complete(folder.path(), 143);
}

#[test]
fn a_signal_to_the_whole_group_ends_the_program_and_the_trace_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let (child, _out) = start_waiting(folder.path());
    kill_process_group(Pid::from_child(&child), Signal::INT).unwrap();
    finish(child).unwrap().expect(130);
    is_complete(folder.path(), 130);
}

#[test]
fn a_process_that_stays_behind_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let wait = "\"$1\" wait 0 >out.txt 2>err.txt </dev/null &\n\
                echo $! >pid.txt\n\
                until grep -q output out.txt; do :; done\n\
                exit 6";
    let script = script(folder.path(), wait);
    let mut command = in_folder(folder.path());
    command
        .args(["record", "-o", "t.atrace", "--"])
        .arg(script)
        .arg(program("ends"));
    let outcome = run(&mut command).expect(6);
    let pid = fs::read_to_string(folder.path().join("pid.txt")).unwrap();
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).expect("it is still there");
    assert!(outcome.err().contains("still running"), "{outcome}");
    is_complete(folder.path(), 6);
    let mut info = tool();
    info.args(["info", "--json"])
        .arg(folder.path().join("t.atrace"));
    let info: Value = serde_json::from_str(&run(&mut info).expect(0).out()).unwrap();
    assert!(info["processes"][0]["end_ns"].is_null(), "it outlived this");
}

#[test]
fn json_documents_carry_their_schema_and_version() {
    let recording = ends("status", "0").traced();
    let trace = recording.trace();
    let twice = [trace.to_str().unwrap(), trace.to_str().unwrap()];
    let documents: [(&str, &[&str]); 7] = [
        ("hooks", &[]),
        ("info", &[trace.to_str().unwrap()]),
        ("stats", &[trace.to_str().unwrap()]),
        ("steps", &[trace.to_str().unwrap()]),
        ("critical", &[trace.to_str().unwrap()]),
        ("diff", &twice),
        ("what-if", &[trace.to_str().unwrap()]),
    ];
    for (name, words) in documents {
        let mut command = tool();
        command.args([name, "--json"]).args(words);
        let outcome = run(&mut command).expect(0);
        assert_eq!(outcome.err(), "");
        let document: Value = serde_json::from_str(&outcome.out()).unwrap();
        assert_eq!(document["schema"], format!("ascend-trace/{name}"));
        assert!(
            document["version"].as_u64().is_some_and(|it| it >= 1),
            "{name}"
        );
        assert!(
            document.as_object().unwrap().len() > 2,
            "{name} says something"
        );
    }
}

#[test]
fn exports_have_distinct_names_and_replace_nothing() {
    let recording = ends("status", "0").traced();
    let export = |words: &[&str]| {
        let mut command = tool();
        command.arg("export").arg(recording.trace()).args(words);
        run(&mut command)
    };
    let json = recording.beside("t.json");
    export(&["--format", "chrome"]).expect(0);
    let first = fs::read(&json).unwrap();
    assert_eq!(
        export(&["--format", "chrome", "-o", "-"]).expect(0).stdout,
        first
    );
    fs::write(&json, "old").unwrap();
    export(&["--format", "chrome"]).expect(2);
    assert_eq!(fs::read_to_string(&json).unwrap(), "old");
    export(&["--format", "chrome", "--force"]).expect(0);
    assert_eq!(fs::read(&json).unwrap(), first);
    export(&["--format", "csv"]).expect(0);
    assert!(recording.beside("t-csv").join("tasks.csv").exists());
    export(&["--format", "csv"]).expect(2);
}

#[cfg(feature = "sqlite")]
#[test]
fn databases_replace_nothing_and_a_failed_one_leaves_nothing() {
    let recording = ends("status", "0").traced();
    let export = |words: &[&str], temporary: &Path| {
        let mut command = tool();
        command.env("TMPDIR", temporary).arg("export");
        run(command.arg(recording.trace()).args(words))
    };
    let room = tempfile::tempdir().unwrap();
    let names = || {
        let folder = fs::read_dir(recording.trace().parent().unwrap()).unwrap();
        folder.map(|it| it.unwrap().file_name()).collect::<Vec<_>>()
    };
    for (format, name) in [("sqlite", "t.sqlite"), ("nsys-sqlite", "t.nsys.sqlite")] {
        let database = recording.beside(name);
        export(&["--format", format], room.path()).expect(0);
        let first = fs::read(&database).unwrap();
        assert!(first.starts_with(b"SQLite format 3"), "{format}");
        let output = export(&["--format", format, "-o", "-"], room.path())
            .expect(0)
            .stdout;
        assert!(output == first, "{format}");
        fs::write(&database, "old").unwrap();
        let refused = export(&["--format", format], room.path()).expect(2);
        assert!(
            refused.err().contains("exists: --force replaces it"),
            "{refused}"
        );
        // Without a place for the temporary file there is no database.
        let before = names().len();
        let missing = room.path().join("missing");
        let failed = export(&["--format", format, "--force"], &missing).expect(2);
        assert!(failed.err().contains("export failed"), "{failed}");
        assert_eq!(fs::read_to_string(&database).unwrap(), "old");
        assert_eq!(names().len(), before, "{:?}", names());
        export(&["--format", format, "--force"], room.path()).expect(0);
        assert!(fs::read(&database).unwrap() == first, "{format}");
        assert_eq!(fs::read_dir(room.path()).unwrap().count(), 0, "{format}");
        let slices = export(
            &["--format", format, "--args", "minimal", "-o", "-"],
            room.path(),
        );
        assert!(slices.expect(2).err().contains("--args is about slices"));
    }
}

#[test]
fn a_trace_without_calls_exports_empty_tables() {
    let recording = Run::new(&program("idle")).traced();
    let tables = Tables::of(&recording);
    let lengths = [
        &tables.calls,
        &tables.tasks,
        &tables.dependencies,
        &tables.stalls,
    ]
    .map(Vec::len);
    assert_eq!(lengths, [0; 4]);
    let mut command = tool();
    command
        .arg("export")
        .arg(recording.trace())
        .args(["--format", "chrome", "-o", "-"]);
    let document: Value = serde_json::from_str(&run(&mut command).expect(0).out()).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    // Names of tracks, and facts about the recording as a whole.
    let is_left = |event: &&Value| event["ph"] != "M" && event["name"] != "ascend-trace";
    assert_eq!(events.iter().filter(is_left).count(), 0, "{events:?}");
}

#[test]
fn a_shell_takes_the_environment_of_the_software_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/resources.c");
    let text = "eval \"$(\"$1\" soft --env)\" && cc \"$2\" -o app -lascendcl && ./app";
    let script = script(folder.path(), text);
    let mut command = clean(script);
    command
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", cache());
    command.arg(place::command()).arg(source);
    let outcome = feed(&mut command, b"").expect(0);
    assert!(
        outcome.out().contains("the text was kept on the device"),
        "{outcome}"
    );
}

#[test]
fn help_and_version_succeed_on_standard_output() {
    for words in [
        &["--help"][..],
        &["--version"],
        &["record", "--help"],
        &["help", "export"],
    ] {
        let outcome = run(tool().args(words)).expect(0);
        assert!(outcome.out().contains("ascend-trace"), "{outcome}");
        assert_eq!(outcome.err(), "");
    }
}

#[test]
fn the_help_has_the_options_of_a_recording_and_the_documents() {
    let help = run(tool().arg("--help")).expect(0).out();
    for word in ["--output", "--timing", "--soft", "--wait", "help TOPIC"] {
        assert!(help.contains(word), "{word} is not in {help}");
    }
    for topic in ["engines", "ENGINES.md", "docs/ENGINES.md"] {
        let text = run(tool().args(["help", topic])).expect(0).out();
        assert!(
            text.starts_with("# Engines") || text.contains("frida"),
            "{text}"
        );
    }
    assert!(
        run(tool().args(["help", "export"]))
            .expect(0)
            .out()
            .contains("--format")
    );
}

#[test]
fn a_trace_may_come_from_standard_input() {
    let recording = ends("status", "0").traced();
    let trace = fs::read(recording.trace()).unwrap();
    for words in [
        &["info", "-"][..],
        &["stats", "-", "--range", "0..1h"],
        &["export", "-", "--format", "chrome", "-o", "-"],
    ] {
        let piped = feed(tool().args(words), &trace).expect(0);
        let file = fs::File::open(recording.trace()).unwrap();
        // As a pipe and as a file, the results are those about the file.
        let redirected = tool().args(words).stdin(file).output().unwrap();
        let named: Vec<_> = words.iter().enumerate().collect();
        let mut command = tool();
        for (index, word) in named {
            match index {
                1 => command.arg(recording.trace()),
                _ => command.arg(word),
            };
        }
        let expected = run(&mut command).expect(0);
        assert_eq!(piped.out(), expected.out(), "{words:?}");
        assert_eq!(
            String::from_utf8_lossy(&redirected.stdout),
            expected.out(),
            "{words:?}"
        );
    }
    let outcome = feed(tool().args(["export", "-", "--format", "csv"]), &trace).expect(2);
    assert!(outcome.err().contains("--output"), "{outcome}");
}

#[test]
fn quiet_says_only_what_went_wrong_and_verbose_more() {
    let quiet = ends("status", "0")
        .options(&["-q"])
        .traced()
        .outcome
        .expect(0);
    assert_eq!(quiet.said(), [""; 0], "{quiet}");
    let verbose = ends("status", "0")
        .options(&["-v"])
        .traced()
        .outcome
        .expect(0);
    assert!(
        verbose.said()[0].contains("libascend_trace_interposer.so"),
        "{verbose}"
    );
    let crash = ends("signal", "11")
        .options(&["-q"])
        .traced()
        .outcome
        .expect(139);
    let said = crash.said();
    assert_eq!(said.len(), 1, "{crash}");
    assert!(said[0].contains("signal 11 (SIGSEGV)"), "{crash}");
}

#[test]
fn doctor_looks_at_a_program_on_the_software_runtime() {
    let mut command = tool();
    let outcome = run(command
        .args(["doctor", "--soft", "--"])
        .arg(program("ends")))
    .expect(0);
    let out = outcome.out();
    assert!(
        out.contains("by --soft") && out.contains("softacl/cann/lib64/libascendcl.so"),
        "{out}"
    );
    assert!(!out.contains("PROBLEM"), "{out}");
    let mut command = tool();
    let outcome = run(command.args(["doctor", "--"]).arg(program("ends"))).expect(2);
    assert!(
        outcome.out().contains("does not find libascendcl.so"),
        "{outcome}"
    );
    run(tool().args(["doctor", "--soft=nonsense=1"])).expect(2);
}

#[test]
fn every_demo_records_without_a_terminal() {
    let list = run(tool().args(["demo", "--list"])).expect(0).out();
    let names: Vec<&str> = list
        .lines()
        .skip(1)
        .filter_map(|it| it.split_whitespace().next())
        .collect();
    assert!(names.len() >= 3, "{list}");
    for name in names {
        let folder = tempfile::tempdir().unwrap();
        let mut command = tool();
        let outcome = run(command.current_dir(folder.path()).args(["demo", name])).expect(0);
        assert!(
            outcome.said()[0].contains(" % timed"),
            "a summary: {outcome}"
        );
        let [file] = &files(folder.path())[..] else {
            panic!("{:?}", files(folder.path()));
        };
        let tables = Tables::of_file(&folder.path().join(file), &folder.path().join("csv"));
        let mut streams: Vec<_> = tables
            .tasks
            .iter()
            .map(|it| it.number("stream_id"))
            .collect();
        streams.sort_unstable();
        streams.dedup();
        assert!(streams.len() >= 2, "{name} shows streams");
        assert!(!tables.stalls.is_empty(), "{name} shows stalls");
        let arrow = |kind: &str| tables.dependencies.iter().any(|it| it.text("kind") == kind);
        assert!(
            arrow("record-wait") || name == "stall",
            "{name} shows an arrow"
        );
    }
}
