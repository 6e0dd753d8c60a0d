//! `--stacks`: calls are shown with the lines that made them, from every kind of stack.

mod python;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::compile::built;
use crate::support::hanging::Hanging;
use crate::support::{CsvRow, Recording, Run, Tables, run, tool};

const SOURCE: &str = include_str!("../programs/stacks.c");
const LIBRARY: &str = include_str!("../programs/stacks_library.c");

/// Options for the frames of compiled functions.
const WAYS: [(&str, &[&str]); 4] = [
    ("stacks", &["-g", "-O2"]),
    (
        "stacks_with_pointers",
        &["-g", "-O2", "-fno-omit-frame-pointer"],
    ),
    ("stacks_without", &["-g", "-O2", "-fomit-frame-pointer"]),
    ("stacks_unoptimised", &["-g", "-O0"]),
];

fn compiled((name, options): (&str, &[&str])) -> PathBuf {
    let common = ["-std=gnu11", "-pthread", "-lascendcl", "-ldl"];
    built(name, "stacks.c", &[options, &common].concat())
}

/// The line of a file that has this remark.
#[track_caller]
fn line(source: &str, remark: &str) -> usize {
    let remark = format!("/* {remark} */");
    let found = source.lines().position(|line| line.contains(&remark));
    found.unwrap_or_else(|| panic!("no line has {remark}")) + 1
}

/// How a frame is shown that is in this line.
fn shown(remark: &str, function: &str) -> String {
    format!("programs/stacks.c:{} ({function})", line(SOURCE, remark))
}

#[track_caller]
fn recorded(program: &Path, words: &[&str]) -> Recording {
    let run = Run::new(program).words(words).options(&["--stacks"]);
    let recording = run.compared();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    recording
}

/// The call sites of a function's calls.
fn sites(recording: &Recording, function: &str) -> Vec<String> {
    let tables = Tables::of(recording);
    let calls = tables.calls.iter().filter(|it| it.text("name") == function);
    calls.map(|it| it.text("call_site").to_owned()).collect()
}

#[track_caller]
fn json(trace: &Path, command: &str) -> Value {
    let outcome = run(tool().arg(command).arg(trace).arg("--json")).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

/// The frames of the memory that is never freed, as `check` has them.
#[track_caller]
fn leak(trace: &Path) -> Vec<String> {
    let found = json(trace, "check");
    let findings = found["findings"].as_array().unwrap();
    let leak = findings
        .iter()
        .find(|it| it["site"]["name"] == "aclrtMalloc");
    let leak = leak.unwrap_or_else(|| panic!("no leak: {found:#}"));
    let frames = leak["site"]["stack"].as_array().unwrap();
    frames
        .iter()
        .map(|it| it.as_str().unwrap().to_owned())
        .collect()
}

#[track_caller]
fn begins_with(frames: &[String], expected: &[String]) {
    assert!(frames.starts_with(expected), "{frames:#?} {expected:#?}");
}

#[test]
fn calls_are_shown_with_their_lines_however_frames_are_laid_out() {
    for way in WAYS {
        let program = compiled(way);
        for case in ["plain", "aligned"] {
            let recording = recorded(&program, &[case]);
            let call = shown("the call", "allocate");
            let found = sites(&recording, "aclrtMalloc");
            assert_eq!(found, std::slice::from_ref(&call), "{way:?}");
            let frames = leak(&recording.trace());
            begins_with(&frames, &[call, shown(case, case)]);
            let is_main = |frame: &String| frame.ends_with("(main)");
            assert!(frames.iter().any(is_main), "{way:?}: {frames:#?}");
        }
    }
}

#[test]
fn stacks_are_cut_at_the_depth_that_was_asked_for() {
    let program = compiled(WAYS[0]);
    for (option, depth) in [("--stacks", 32), ("--stacks=5", 5), ("--stacks=100", 63)] {
        let run = Run::new(&program).words(&["deep"]).options(&[option]);
        let frames = leak(&run.compared().trace());
        let recursion = shown("deep", "deep");
        let calls = frames.iter().filter(|it| **it == recursion).count();
        // `allocate`, 61 times `deep`, of which the first is elsewhere, and `main` with what calls it.
        assert_eq!(frames.len().min(63), depth, "{option}: {frames:#?}");
        assert_eq!(calls, (depth - 2).min(60), "{option}: {frames:#?}");
    }
}

#[test]
fn threads_and_small_stacks_have_their_lines() {
    let program = compiled(WAYS[0]);
    for (case, count) in [("threads", 12), ("small", 4)] {
        let recording = recorded(&program, &[case]);
        let found = sites(&recording, "aclrtMalloc");
        assert_eq!(found, vec![shown("the call", "allocate"); count], "{case}");
        let expected = [shown("the call", "allocate"), shown("thread", "in_thread")];
        begins_with(&leak(&recording.trace()), &expected);
    }
}

#[test]
fn stacks_go_from_handlers_of_signals_to_the_interrupted_code() {
    for way in &WAYS[..3] {
        let program = compiled(*way);
        for case in ["handler", "alternate"] {
            let recording = recorded(&program, &[case]);
            let frames = leak(&recording.trace());
            let expected = [
                shown("the call", "allocate"),
                shown("handler", "in_handler"),
            ];
            begins_with(&frames, &expected);
            if cfg!(target_arch = "x86_64") {
                let interrupted = shown("interrupted", "interrupted");
                assert!(frames.contains(&interrupted), "{case}: {frames:#?}");
            }
        }
    }
}

#[test]
fn a_coroutine_has_the_frames_of_its_stack() {
    for way in WAYS {
        let recording = recorded(&compiled(way), &["coroutine"]);
        let found = sites(&recording, "aclrtMalloc");
        assert_eq!(found, vec![shown("the call", "allocate"); 100], "{way:?}");
        let expected = [
            shown("the call", "allocate"),
            shown("coroutine", "in_coroutine"),
        ];
        begins_with(&leak(&recording.trace()), &expected);
    }
}

#[test]
fn a_forked_child_has_lines_of_its_process() {
    let recording = recorded(&compiled(WAYS[0]), &["child"]);
    let tables = Tables::of(&recording);
    let calls = tables
        .calls
        .iter()
        .filter(|it| it.text("name") == "aclrtMalloc");
    let calls: Vec<&CsvRow> = calls.collect();
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0].text("pid"), calls[1].text("pid"));
    for call in calls {
        assert_eq!(call.text("call_site"), shown("the call", "allocate"));
    }
}

#[test]
fn a_library_that_is_loaded_again_and_again_has_lines() {
    let options = ["-g", "-O2", "-std=gnu11", "-shared", "-fPIC", "-lascendcl"];
    let library = built("libstackscase.so", "stacks_library.c", &options);
    let recording = recorded(&compiled(WAYS[0]), &["library", library.to_str().unwrap()]);
    let place = line(LIBRARY, "library");
    let expected = format!("programs/stacks_library.c:{place} (call_in_library)");
    assert_eq!(sites(&recording, "aclrtMalloc"), vec![expected; 3]);
}

/// Neither with the tables nor with frame pointers there is a way on, so there is one frame at least.
#[test]
fn code_without_tables_is_left_out_and_harms_nothing() {
    let options: &[&str] = &[
        "-g",
        "-O2",
        "-fomit-frame-pointer",
        "-fno-asynchronous-unwind-tables",
        "-fno-exceptions",
    ];
    let program = compiled(("stacks_bare", options));
    for case in [
        "plain",
        "aligned",
        "deep",
        "threads",
        "handler",
        "coroutine",
    ] {
        let recording = recorded(&program, &[case]);
        for site in sites(&recording, "aclrtMalloc") {
            assert_eq!(site, shown("the call", "allocate"), "{case}");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn code_that_is_made_at_run_time_has_names_by_its_map() {
    let recording = recorded(&compiled(WAYS[1]), &["made"]);
    let expected = "net/model.py (forward)";
    assert_eq!(sites(&recording, "aclrtMalloc"), [expected]);
    let frames = leak(&recording.trace());
    begins_with(
        &frames,
        &[shown("the call", "allocate"), expected.to_owned()],
    );
    let pid = Tables::of(&recording).calls[0].text("pid").to_owned();
    std::fs::remove_file(format!("/tmp/perf-{pid}.map")).unwrap();
}

#[test]
fn reports_on_hangs_show_the_line_of_the_call() {
    let run = Run::new(&compiled(WAYS[0])).words(&["hang"]);
    let hanging = Hanging::of(&run.options(&["--stacks"]));
    let report = hanging.reported("hangs", "unrecorded");
    let threads = report["threads"].as_array().unwrap().iter();
    let open = threads.flat_map(|it| it["open_calls"].as_array().unwrap());
    let sites: Vec<&Value> = open.map(|it| &it["call_site"]).collect();
    assert_eq!(sites, [&Value::from(shown("hang", "hang"))], "{report:#}");
}

#[test]
fn a_program_that_was_deleted_or_built_again_is_shown_by_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let put = |way: (&str, &[&str])| std::fs::copy(compiled(way), &program).unwrap();
    put(WAYS[0]);
    let recording = recorded(&program, &["plain"]);
    let trace = recording.trace();
    let known = shown("the call", "allocate");
    assert_eq!(leak(&trace)[0], known);
    for (is_there, reason) in [(true, "has another build id"), (false, "is absent")] {
        match is_there {
            true => drop(put(WAYS[1])),
            false => std::fs::remove_file(&program).unwrap(),
        }
        let outcome = run(tool().arg("check").arg(&trace)).expect(0);
        assert!(outcome.err().contains(reason), "{outcome}");
        let frames = leak(&trace);
        assert!(frames[0].starts_with("program+0x"), "{frames:#?}");
    }
    put(WAYS[0]);
    assert_eq!(leak(&trace)[0], known);
}

#[test]
fn without_debug_information_functions_are_shown() {
    let program = compiled(("stacks_symbols", &["-O2"]));
    let frames = leak(&recorded(&program, &["plain"]).trace());
    assert!(frames[0].starts_with("allocate+0x"), "{frames:#?}");
    assert!(frames[0].ends_with(" (stacks_symbols)"), "{frames:#?}");
    let program = compiled(("stacks_stripped", &["-O2", "-s"]));
    let frames = leak(&recorded(&program, &["plain"]).trace());
    assert!(frames[0].starts_with("stacks_stripped+0x"), "{frames:#?}");
}

#[test]
fn without_the_option_nothing_is_recorded() {
    let recording = Run::new(&compiled(WAYS[0])).words(&["plain"]).compared();
    assert_eq!(sites(&recording, "aclrtMalloc"), [""]);
    let found = json(&recording.trace(), "check");
    assert!(
        found["findings"][0]["site"].get("call_site").is_none(),
        "{found:#}"
    );
    let bytes = std::fs::read(recording.trace()).unwrap();
    for kind in [b"STCK", b"OBJT"] {
        assert!(!bytes.windows(4).any(|it| it == kind));
    }
}

#[test]
fn reports_and_exports_name_the_line() {
    let recording = recorded(&compiled(WAYS[0]), &["plain"]);
    let trace = recording.trace();
    let known = shown("the call", "allocate");
    let text = run(tool().arg("check").arg(&trace)).expect(0).out();
    assert!(text.contains(&format!("called at {known}")), "{text}");
    let sarif = recording.beside("t.sarif");
    run(tool().arg("check").arg(&trace).arg("--sarif").arg(&sarif)).expect(0);
    let log: Value = serde_json::from_str(&std::fs::read_to_string(&sarif).unwrap()).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let places = results
        .iter()
        .map(|it| &it["locations"][0]["physicalLocation"]);
    let lines: Vec<u64> = places
        .filter_map(|it| it["region"]["startLine"].as_u64())
        .collect();
    let expected = line(SOURCE, "the call") as u64;
    assert!(lines.contains(&expected), "{log:#}");
    let chrome = recording.beside("t.json");
    run(tool()
        .arg("export")
        .arg(&trace)
        .args(["--format", "chrome", "-o"])
        .arg(&chrome))
    .expect(0);
    let chrome = std::fs::read_to_string(&chrome).unwrap();
    assert!(chrome.contains(&format!("\"site\":\"{known}\"")), "{known}");
}
