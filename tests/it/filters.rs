//! Recordings of selected calls (`selected.c`). The other calls are counted, and records that later calls need are complete.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::process::run;
use crate::support::tables::Tables;
use crate::support::{Recording, Run, program, tool};

const ROUNDS: usize = 40;
const FEEDS: usize = 30;

/// Calls that are recorded in any case: later calls cannot be understood without them.
const LASTING: [(&str, usize); 8] = [
    ("aclrtCreateStream", 3),
    ("aclrtDestroyStream", 3),
    ("aclrtCreateEvent", 1),
    ("aclrtDestroyEvent", 1),
    ("aclrtMalloc", 3),
    ("aclrtFree", 3),
    ("aclrtMallocHost", 1),
    ("aclrtFreeHost", 1),
];

/// A recording with filters, and facts about it.
struct Selected {
    recording: Recording,
    calls: BTreeMap<String, usize>,
    tasks: usize,
    timed: usize,
    info: Value,
    /// The numbers of the two streams of the main thread.
    streams: [String; 2],
}

impl Selected {
    #[track_caller]
    fn of(options: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut run_of_program = Run::new(&program("selected"))
            .options(options)
            .soft("devices=2");
        for (name, value) in variables {
            run_of_program = run_of_program.variable(name, value);
        }
        let recording = run_of_program.compared();
        let table = Tables::of(&recording);
        let mut calls = BTreeMap::new();
        for call in &table.calls {
            *calls.entry(call.text("name").to_owned()).or_default() += 1;
        }
        let mut command = tool();
        command.args(["info", "--json"]).arg(recording.trace());
        let info: Value = serde_json::from_str(&run(&mut command).expect(0).out()).unwrap();
        assert_eq!(info["lost"]["calls"], 0, "{options:?}");
        let out = recording.outcome.out();
        let mut numbers = out.split_whitespace().map(str::to_owned);
        let is_timed = |task: &&crate::support::tables::CsvRow| task.text("untimed").is_empty();
        Self {
            calls,
            tasks: table.tasks.len(),
            timed: table.tasks.iter().filter(is_timed).count(),
            info,
            streams: [numbers.next().unwrap(), numbers.next().unwrap()],
            recording,
        }
    }

    fn count(&self, function: &str) -> usize {
        self.calls.get(function).copied().unwrap_or(0)
    }

    fn recorded(&self) -> usize {
        self.calls.values().sum()
    }

    fn filtered(&self) -> usize {
        self.info["cost"]["filtered_calls"].as_u64().unwrap() as usize
    }

    #[track_caller]
    fn has_lasting(&self) {
        for (name, times) in LASTING {
            assert_eq!(self.count(name), times, "{name}");
        }
    }
}

/// Each call is recorded or counted, and each recorded task has a time.
#[track_caller]
fn nothing_is_missing(selected: &Selected, plain: &Selected, what: &str) {
    let (recorded, filtered) = (selected.recorded(), selected.filtered());
    assert_eq!(recorded + filtered, plain.recorded(), "{what}");
    assert!(filtered > 0, "{what}");
    assert_eq!(selected.timed, selected.tasks, "{what}");
    selected.has_lasting();
}

#[test]
fn skipped_functions_are_counted_and_all_others_are_recorded() {
    let plain = Selected::of(&["--timing", "events"], &[]);
    assert_eq!(plain.filtered(), 0);
    let skipped = Selected::of(
        &[
            "--timing",
            "events",
            "--skip",
            "call=aclrtStreamQuery,aclrtMemcpy*",
        ],
        &[],
    );
    nothing_is_missing(&skipped, &plain, "skip");
    assert_eq!(skipped.filtered(), 3 * ROUNDS);
    for (name, times) in &plain.calls {
        let is_skipped = name == "aclrtStreamQuery" || name.starts_with("aclrtMemcpy");
        let expected = if is_skipped { 0 } else { *times };
        assert_eq!(skipped.count(name), expected, "{name}");
    }
}

#[test]
fn only_selected_functions_devices_and_threads_are_recorded() {
    let plain = Selected::of(&["--timing", "events"], &[]);
    for (filters, fills) in [
        (&["--only", "call=aclrtMemset*"][..], ROUNDS + FEEDS),
        (&["--only", "device=1"], FEEDS),
        (&["--only", "thread=feed*"], FEEDS),
        (
            &["--skip", "thread=feeder", "--only", "call=aclrtMemsetAsync"],
            ROUNDS,
        ),
        (
            &["--only", "call=aclrtMemsetAsync", "--only", "device=0"],
            ROUNDS,
        ),
        (&["--only", "rank=0-1,5"], 0),
    ] {
        let options: Vec<_> = ["--timing", "events"]
            .iter()
            .chain(filters)
            .copied()
            .collect();
        let selected = Selected::of(&options, &[("RANK", "3")]);
        nothing_is_missing(&selected, &plain, &format!("{filters:?}"));
        assert_eq!(selected.count("aclrtMemsetAsync"), fills, "{filters:?}");
        assert_eq!(selected.tasks, fills, "{filters:?}");
    }
}

#[test]
fn names_of_threads_may_have_any_letters() {
    let plain = Selected::of(&["--timing", "events"], &[]);
    for (name, filter) in [("Füller", "thread=Fü*"), ("加载器", "thread=加载器")] {
        let options = ["--timing", "events", "--only", filter];
        let selected = Selected::of(&options, &[("FEEDER", name)]);
        nothing_is_missing(&selected, &plain, filter);
        assert_eq!(selected.count("aclrtMemsetAsync"), FEEDS, "{filter}");
    }
}

#[test]
fn a_process_of_a_selected_rank_is_recorded_whole() {
    let plain = Selected::of(&[], &[]);
    let same = Selected::of(&["--only", "rank=2-4"], &[("RANK", "3")]);
    assert_eq!(same.calls, plain.calls);
    assert_eq!(same.filtered(), 0);
    // Reports have no warning about filters that left nothing out.
    let stats = run(tool().arg("stats").arg(same.recording.trace())).expect(0);
    assert!(!stats.err().contains("filters"), "{stats}");
}

#[test]
fn only_work_of_a_selected_stream_is_recorded_and_calls_of_no_stream() {
    let plain = Selected::of(&["--timing", "events"], &[]);
    let [first, second] = &plain.streams;
    let (first, second) = (format!("stream={first}"), format!("stream={second}"));
    let only = Selected::of(&["--timing", "events", "--only", &second], &[]);
    nothing_is_missing(&only, &plain, &second);
    // A wait and two copies in each round. The stream of the other device may have the number of this one.
    let fills = only.count("aclrtMemsetAsync");
    assert!(fills == 0 || fills == FEEDS, "{fills} fills");
    assert_eq!(only.tasks, 3 * ROUNDS + fills);
    assert_eq!(only.count("aclrtRecordEvent"), 0);
    assert_eq!(only.count("aclrtSynchronizeStream") - fills.min(1), ROUNDS);

    let skip = Selected::of(&["--timing", "events", "--skip", &first], &[]);
    nothing_is_missing(&skip, &plain, &first);
    assert_eq!(skip.count("aclrtRecordEvent"), 0);
    assert_eq!(skip.count("aclrtMemcpyAsync"), 2 * ROUNDS);
    assert_eq!(skip.count("aclrtStreamWaitEvent"), ROUNDS);
}

#[test]
fn reports_say_what_the_filters_left_out() {
    let selected = Selected::of(&["--skip", "call=aclrtRecordEvent"], &[]);
    let warning = format!("filters (skip call=aclrtRecordEvent) left out {ROUNDS} calls");
    assert!(selected.recording.outcome.err().contains(&format!(
        "left out {ROUNDS} calls (skip call=aclrtRecordEvent)"
    )));
    for words in [&["stats"][..], &["check"], &["steps"], &["critical"]] {
        let outcome = run(tool().args(words).arg(selected.recording.trace()));
        assert!(outcome.err().contains(&warning), "{words:?}: {outcome}");
    }
    let out = run(tool().arg("info").arg(selected.recording.trace()))
        .expect(0)
        .out();
    assert!(
        out.contains("skip call=aclrtRecordEvent: 40 calls were left out"),
        "{out}"
    );
    assert_eq!(
        selected.info["session"]["filters"],
        serde_json::json!(["skip call=aclrtRecordEvent"])
    );
}

/// Without these waits the work of the two streams looks unordered. The filters leave them out, so no race is certain.
#[test]
fn left_out_waits_make_no_race() {
    let waits = "call=aclrtStreamWaitEvent,aclrtSynchronizeStream";
    let selected = Selected::of(&["--skip", waits], &[]);
    let out = run(tool()
        .args(["check", "--json"])
        .arg(selected.recording.trace()));
    let found: Value = serde_json::from_str(&out.expect(0).out()).unwrap();
    assert_eq!(found["findings"], serde_json::json!([]));
}

#[test]
fn impossible_filters_are_refused_before_the_program_starts() {
    for (option, expected) in [
        (
            "aclrtMalloc",
            "is not KIND=VALUE, where KIND is one of call, stream, device, thread, rank",
        ),
        (
            "call=aclrtMaloc",
            "no AscendCL function has the name `aclrtMaloc`",
        ),
        ("stream=first", "`first` is no number"),
        ("rank=3-1", "`3-1` is no number"),
    ] {
        let outcome = run(tool().args(["record", "--only", option, "true"]));
        assert_eq!(outcome.status, 125, "{outcome}");
        assert!(outcome.err().contains(expected), "{option}: {outcome}");
    }
}
