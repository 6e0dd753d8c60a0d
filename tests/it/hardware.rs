//! Times of the hardware log (`--timing hardware`, `both`): they are the true ones, streams get no
//! events for them, and any defect of the log is reported and does no harm.

mod joins;

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::record::{Counter, LogState};
use ascend_trace_recording::file::FileContents;
use ascend_trace_recording::rows::{ActivityRow, LogRow, Row};

use crate::support::accuracy::Accuracy;
use crate::support::compile::built_from;
use crate::support::tables::parse;
use crate::support::{Recording, Run, Tables, program, run, tool, truth};

fn info(recording: &Recording) -> serde_json::Value {
    let info = run(tool().arg("info").arg("--json").arg(recording.trace())).out();
    serde_json::from_str(&info).unwrap()
}

/// Kernels of one to nine microseconds.
const KERNELS: &str = "launch_ns=1000,d2d_mbps=64";

fn phases(timing: &str, soft: &str) -> Recording {
    let soft = format!("{KERNELS},submit_ns=3000,clock_offset_ns=412345678901/-98765432101,{soft}");
    let phases = Run::new(&program("phases")).words(&["3000", "7", "kernels"]);
    phases.soft(&soft).options(&["--timing", timing]).compared()
}

fn contents(recording: &Recording) -> FileContents {
    let file = std::fs::File::open(recording.trace()).unwrap();
    let (contents, warnings) = ascend_trace_recording::file::read(file).unwrap();
    assert_eq!(warnings, []);
    contents
}

fn counter(contents: &FileContents, what: Counter) -> u64 {
    let values = contents.rows.iter().filter_map(|row| match row {
        Row::Counter(row) if row.what == u16::from(what.code()) => Some(row.value),
        _ => None,
    });
    values.max().unwrap_or(0)
}

fn logs(contents: &FileContents) -> Vec<LogRow> {
    let rows = contents.rows.iter();
    rows.filter_map(|row| <&LogRow>::try_from(row).ok().copied())
        .collect()
}

fn activities(contents: &FileContents) -> Vec<ActivityRow> {
    let rows = contents.rows.iter();
    rows.filter_map(|row| <&ActivityRow>::try_from(row).ok().copied())
        .collect()
}

/// Tasks that were put on a stream to run there, instead of into a graph.
fn submitted(tables: &Tables) -> Vec<crate::support::CsvRow> {
    let tasks = tables.tasks.iter();
    let is_captured = |task: &&crate::support::CsvRow| task.text("untimed") != "captured";
    tasks.filter(is_captured).cloned().collect()
}

/// Whatever has a time has the true one. Returns how many tasks have one, by kind, and how many have none.
#[track_caller]
fn is_honest(recording: &Recording) -> (BTreeMap<String, usize>, usize) {
    let tables = Tables::of(recording);
    let tasks = submitted(&tables);
    let matched = truth::matched(&tasks, &recording.truth());
    assert_eq!(Accuracy::of(&tables, &matched).dishonest(), [""; 0]);
    let mut timed: BTreeMap<String, usize> = BTreeMap::new();
    let mut untimed = 0;
    for (task, _) in &matched {
        match task.text("untimed") {
            "" => *timed.entry(task.text("kind").to_owned()).or_default() += 1,
            _ => untimed += 1,
        }
    }
    (timed, untimed)
}

/// Events of the tool's that ran.
fn added(recording: &Recording) -> usize {
    let entries = truth::read(&recording.truth());
    entries.iter().filter(|entry| entry.is_tracers()).count()
}

#[test]
fn times_are_true_and_nothing_is_put_on_streams() {
    for soft in [
        "chip=910b,drift_ppm=40/-60",
        "chip=950,drift_ppm=-90/0,mspti_shuffle",
    ] {
        let recording = phases("hardware", soft);
        assert_eq!(added(&recording), 0, "{soft}");
        let (timed, _) = is_honest(&recording);
        let kinds: Vec<&str> = timed.keys().map(String::as_str).collect();
        assert_eq!(kinds, ["kernel"], "only these are in the log");
        let contents = contents(&recording);
        assert_eq!(logs(&contents)[0].state, LogState::On.code());
        assert_eq!(counter(&contents, Counter::InjectedEvents), 0);
        assert_eq!(counter(&contents, Counter::LogMismatches), 0);
        let all: usize = timed.values().sum();
        assert_eq!(counter(&contents, Counter::JoinedEntries), all as u64);
        // None of those that are in the log is without.
        let tables = Tables::of(&recording);
        let kernels = tables
            .tasks
            .iter()
            .filter(|task| task.text("kind") == "kernel");
        let why: Vec<&str> = kernels
            .map(|task| task.text("untimed"))
            .filter(|why| !why.is_empty())
            .collect();
        assert!(why.is_empty(), "{soft}: {} {why:?}", why.len());
    }
}

#[test]
fn faults_of_the_log_are_reported_and_do_no_harm() {
    for (soft, name) in [
        ("mspti_drop=97", Counter::LogMismatches),
        ("mspti_zero=50", Counter::TimelessEntries),
        ("mspti_anchor_ns=50000000", Counter::LogMismatches),
    ] {
        let recording = phases("hardware", soft);
        assert_eq!(added(&recording), 0, "{soft}");
        is_honest(&recording);
        assert!(counter(&contents(&recording), name) > 0, "{soft}");
    }
    // Late entries are waited for.
    let recording = phases("hardware", "mspti_late_ms=20");
    is_honest(&recording);
}

#[test]
fn where_there_is_no_log_tasks_are_timed_by_events() {
    for (soft, state) in [
        ("mspti=busy", LogState::Busy),
        ("mspti=offline", LogState::Refused),
        ("mspti=full", LogState::Refused),
        ("mspti=broken", LogState::Refused),
    ] {
        let recording = phases("hardware", soft);
        is_timed_by_events(&recording, state);
        let code = match soft {
            "mspti=full" => "code 3",
            "mspti=broken" => "code 999",
            _ => "",
        };
        let said = recording.outcome.err();
        assert!(said.contains(code), "{soft}: {said}");
    }
}

#[track_caller]
fn is_timed_by_events(recording: &Recording, state: LogState) {
    let (timed, untimed) = is_honest(recording);
    assert!(timed.values().sum::<usize>() > 0 && untimed < 3000);
    assert!(added(recording) > 0);
    assert_eq!(logs(&contents(recording))[0].state, state.code());
}

/// The runtime exists, without the library for its log.
#[test]
fn where_there_is_no_library_tasks_are_timed_by_events() {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(&crate::support::compile::soft().lib)
        .unwrap()
        .flatten()
    {
        if entry.file_name() != "libmspti.so" {
            std::os::unix::fs::symlink(entry.path(), folder.path().join(entry.file_name()))
                .unwrap();
        }
    }
    let phases = program("phases");
    let [folder, phases] = [folder.path(), &phases].map(|path| path.to_str().unwrap());
    let script = "LD_LIBRARY_PATH=$1 exec $2 3000 7 kernels";
    let shell = Run::new(std::path::Path::new("/bin/sh"));
    let shell = shell.words(&["-c", script, "sh", folder, phases]);
    let recording = shell.options(&["--timing", "hardware"]).compared();
    is_timed_by_events(&recording, LogState::Absent);
    let said = recording.outcome.err();
    assert!(said.contains("there is no libmspti.so"), "{said}");
}

#[test]
fn both_sources_have_the_same_tasks() {
    let recording = phases("both", "drift_ppm=40/-60");
    assert!(added(&recording) > 0);
    is_honest(&recording);
    let contents = contents(&recording);
    let joined = activities(&contents);
    let joined: Vec<&ActivityRow> = joined.iter().filter(|row| row.sequence.is_some()).collect();
    assert!(!joined.is_empty());
    let lengths: BTreeMap<(u32, u32), i64> = contents
        .rows
        .iter()
        .filter_map(|row| match row {
            Row::TaskTime(row) if row.untimed == 0 => {
                let length = row.end_device_ns - row.begin_device_ns - i64::from(row.record_ns);
                Some(((row.stream, row.sequence), length))
            }
            _ => None,
        })
        .collect();
    let compared = joined.iter().filter_map(|row| {
        let key = (row.stream?, row.sequence?);
        Some((lengths.get(&key)?, row.end_ns - row.begin_ns))
    });
    let compared: Vec<_> = compared.collect();
    assert!(!compared.is_empty());
    let recorded = &info(&recording)["hardware_log"];
    assert_eq!(recorded["states"][0], "on");
    let devices = recorded["compared"].as_array().unwrap();
    let tasks = devices
        .iter()
        .map(|device| device["compared_tasks"].as_u64().unwrap());
    let (tasks, all) = (tasks.sum::<u64>(), recorded["joined"].as_u64().unwrap());
    assert!(
        devices.len() == 2 && tasks > 0 && tasks <= all,
        "{recorded}"
    );
    // Between two events there is never less than the task.
    for (events, hardware) in compared {
        assert!(*events + 60 >= hardware, "{events} {hardware}");
    }
}

/// Compares the log's nodes of replays with the real ones: each is the named node of the named replay,
/// at the reported time. Returns the number of reported nodes, and of real ones.
#[track_caller]
fn nodes_are_true(recording: &Recording) -> (usize, usize) {
    let tables = Tables::of(recording);
    let tasks = submitted(&tables);
    let matched = truth::matched(&tasks, &recording.truth());
    let replays: BTreeMap<(i64, i64), &truth::TruthLogTask> = (matched.iter())
        .filter(|(task, _)| task.text("kind") == "graph")
        .map(|(task, entry)| ((task.number("stream_id"), task.number("seq")), entry))
        .collect();
    let nodes = truth::nodes(&recording.truth());
    let file = recording.beside("csv").join("activities.csv");
    let table = parse(&std::fs::read_to_string(file).unwrap());
    let recorded = table
        .iter()
        .filter(|row| !row.text("node").is_empty() && !row.text("task_stream_id").is_empty());
    let mut found: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    for row in recorded.filter(|row| row.number("part") == 0) {
        let key = (row.number("task_stream_id"), row.number("sequence"));
        let replay = replays[&key];
        let is_it = |node: &&truth::TruthLogTask| {
            let is_inside = node.begin >= replay.begin && node.end <= replay.end;
            is_inside && node.stream_id == row.number("stream_id")
        };
        let mut inside = nodes.iter().filter(is_it);
        let node = match row.number("node") {
            // One of several that cannot be distinguished.
            0 => inside.min_by_key(|node| (node.begin - row.number("begin_ns")).abs()),
            number => inside.find(|node| node.seq + 1 == number),
        };
        let node = node.unwrap_or_else(|| panic!("no such node ran: {row:?}"));
        let open = row.number("err_ns") + 20;
        assert!(
            (node.begin - row.number("begin_ns")).abs() <= open,
            "{node:?} {row:?}"
        );
        *found.entry(key).or_default() += 1;
    }
    let recorded = found.values().sum();
    (recorded, nodes.len())
}

#[test]
fn nodes_inside_of_replays_have_times() {
    let capture = Run::new(&program("replays")).soft("drift_ppm=40");
    let recording = capture.options(&["--timing", "hardware"]).compared();
    assert_eq!(added(&recording), 0);
    let (recorded, ran) = nodes_are_true(&recording);
    assert_eq!((recorded, ran), (96, 96));
    assert_eq!(
        info(&recording)["tasks"]["untimed"],
        serde_json::json!({"captured": 16})
    );
    let (timed, _) = is_honest(&recording);
    assert_eq!(timed["graph"], 8, "{timed:?}");
    // Along each stream they have the same lengths, equally far apart.
    let nodes = truth::nodes(&recording.truth());
    let mut recorded = activities(&contents(&recording));
    recorded.retain(|row| row.node.is_some());
    for id in nodes
        .iter()
        .map(|it| it.stream_id)
        .collect::<BTreeSet<i64>>()
    {
        let own: Vec<_> = nodes.iter().filter(|it| it.stream_id == id).collect();
        let rows = recorded.iter().filter(|row| i64::from(row.acl_id) == id);
        let rows: Vec<&ActivityRow> = rows.collect();
        assert_eq!(own.len(), rows.len());
        let (first, first_row) = (own[0], rows[0]);
        for (truth, row) in own.iter().zip(rows) {
            for (true_ns, recorded_ns) in [(truth.begin, row.begin_ns), (truth.end, row.end_ns)] {
                let (passed, recorded) = (true_ns - first.begin, recorded_ns - first_row.begin_ns);
                let open = 2 * 20 + passed / 10_000;
                assert!((passed - recorded).abs() <= open, "{truth:?} {row:?}");
            }
        }
    }
}

#[test]
fn an_operator_between_copies_has_a_time_in_each_replay() {
    let run = Run::new(&crate::graphs::two_streams_program()).soft("drift_ppm=40");
    let recording = run.options(&["--timing", "hardware"]).compared();
    assert_eq!(added(&recording), 0);
    assert_eq!(nodes_are_true(&recording), (8, 8));
    // The copies are in no log: the replays are longer than their entries.
    let (timed, _) = is_honest(&recording);
    assert_eq!(timed, BTreeMap::new());
    let reasons = serde_json::json!({"captured": 7, "not-logged": 8});
    assert_eq!(info(&recording)["tasks"]["untimed"], reasons);
}

#[test]
fn nodes_of_many_graphs_are_distinguished() {
    for timing in ["hardware", "both"] {
        let graphs = Run::new(&program("graphs")).soft("drift_ppm=-30,mspti_kernels=2");
        let recording = graphs.options(&["--timing", timing]).compared();
        let (timed, _) = is_honest(&recording);
        if timing == "hardware" {
            let (recorded, ran) = nodes_are_true(&recording);
            println!("{recorded} of {ran} nodes, timed {timed:?}");
            // Nobody knows of the two last replays.
            assert!(recorded > 0 && ran - recorded >= 2);
            // Those with a host function or a copy run longer than their entries.
            assert!(timed["graph"] <= 10 + 15 + 2, "{timed:?}");
        }
        let contents = contents(&recording);
        let of_kernels = activities(&contents).into_iter();
        let parts =
            of_kernels.filter(|row| row.part == 1 && row.node.is_none() && row.sequence.is_some());
        assert_eq!(
            parts.count(),
            8 + 5,
            "kernels of operators that were not captured"
        );
    }
}

/// A recording in which all is known of graphs that can be: on a busy machine clocks are compared too badly for that, now and
/// then.
#[track_caller]
fn all_nodes_timed() -> Recording {
    let graphs = Run::new(&program("graphs")).soft("mspti_kernels=2");
    let graphs = graphs.options(&["--timing", "hardware"]);
    // Beside forty others one in ten is whole.
    let mut recordings = (0..100).map(|_| graphs.compared());
    let is_whole = |recording: &Recording| {
        let (recorded, ran) = nodes_are_true(recording);
        ran - recorded == 2
    };
    recordings
        .find(is_whole)
        .expect("one of a hundred is whole")
}

/// Parts from the log are in the sums and exports, each inside of its task, on a separate track where
/// it overlapped others.
#[test]
fn kernels_and_nodes_are_listed_below_their_tasks() {
    let recording = all_nodes_timed();
    let stats = run(tool().arg("stats").arg("--json").arg(recording.trace())).out();
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    let parts = stats["parts"].as_array().unwrap();
    let count = |operation: &str, node: Option<u64>, name: &str| {
        let own = parts.iter().filter(|part| {
            part["operation"] == operation && part["node"].as_u64() == node && part["name"] == name
        });
        own.map(|part| part["time"]["count"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(count("aclnnRelu", None, "aclnnRelu_2"), 13, "{parts:?}");
    assert_eq!(count("graph 1", Some(1), "aclnnRelu_2"), 10, "{parts:?}");
    assert_eq!(count("graph 1", Some(4), "aclnnRelu_2"), 10, "{parts:?}");
    let file = recording.beside("parts.json");
    let mut export = tool();
    export
        .args(["export", "--format", "chrome", "-o"])
        .arg(&file);
    run(export.arg(recording.trace())).expect(0);
    let text = std::fs::read_to_string(file).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let slices = document["traceEvents"].as_array().unwrap().iter();
    let slices: Vec<&serde_json::Value> = slices.filter(|event| event["ph"] == "X").collect();
    let span = |slice: &serde_json::Value| {
        let ns = |name: &str| (slice[name].as_f64().unwrap() * 1000.0).round() as i64;
        (ns("ts"), ns("ts") + ns("dur"))
    };
    let kernels: Vec<_> = (slices.iter())
        .filter(|slice| slice["name"] == "aclnnRelu_2")
        .collect();
    // The replays with a host function or a copy have no time: their entries have no task.
    let (whole, alone) = (13 + 9 * 10 + 17, 2 * 2 + 2 * 6);
    assert_eq!(kernels.len(), whole + alone);
    let is_inside = |kernel: &serde_json::Value| {
        let (begin, end) = span(kernel);
        let mut around = slices.iter().filter(|other| {
            let (from, until) = span(other);
            other["pid"] == kernel["pid"] && from <= begin && end <= until
        });
        around.any(|other| other["name"] != kernel["name"])
    };
    let inside = kernels.iter().filter(|kernel| is_inside(kernel));
    assert_eq!(inside.count(), whole);
}

/// From the end of what held the queue up to the end of the last task, by the truth.
fn makespan(timing: &str) -> i64 {
    let short = Run::new(&program("short_tasks")).soft("launch_ns=2000,record_ns=1500");
    let recording = short.options(&["--timing", timing]).compared();
    let entries = truth::read(&recording.truth());
    let held = entries.iter().filter(|entry| entry.kind == "hostfunc");
    let tasks = entries.iter().filter(|entry| entry.kind == "kernel");
    let from = held.map(|entry| entry.end).max().unwrap();
    tasks.map(|entry| entry.end).max().unwrap() - from
}

#[test]
fn short_tasks_take_as_long_as_they_would() {
    let [off, hardware, events] = ["off", "hardware", "events"].map(makespan);
    println!("400 kernels of 2 us: {off} ns, by the log {hardware} ns, by events {events} ns");
    assert!(hardware * 1000 <= off * 1005, "{off} {hardware}");
    assert!(events > off * 3 / 2, "{off} {events}");
}

#[test]
#[ignore = "a soak: 100,000 tasks on each of 18 kinds of devices"]
fn every_kind_of_device_is_described_truly() {
    for submit in [500, 3_000, 20_000] {
        for tick in [1, 20] {
            for drift in ["-100/60", "0/0", "100/-60"] {
                let soft = format!(
                    "{KERNELS},submit_ns={submit},tick_ns={tick},drift_ppm={drift},\
                     clock_offset_ns=412345678901/-98765432101"
                );
                let phases = Run::new(&program("phases")).words(&["100000", "7", "kernels"]);
                let recording = phases.soft(&soft).options(&["--timing", "hardware"]);
                let recording = recording.compared();
                let (timed, _) = is_honest(&recording);
                assert_eq!(added(&recording), 0);
                let kernels = truth::read(&recording.truth()).into_iter();
                let kernels = kernels.filter(|entry| entry.kind == "kernel").count();
                assert_eq!(timed["kernel"], kernels, "{soft}: all that are in the log");
                let contents = contents(&recording);
                assert_eq!(counter(&contents, Counter::LogMismatches), 0, "{soft}");
                println!("{soft}: {timed:?}");
            }
        }
    }
}

/// msPTI reports copies and fills at their calls: these are not the times of their runs.
#[test]
fn copies_and_fills_have_no_times() {
    let fills = Run::new(&program("phases")).words(&["500", "7"]);
    let recording = fills.options(&["--timing", "hardware"]).compared();
    assert_eq!(added(&recording), 0);
    let (timed, untimed) = is_honest(&recording);
    assert!(timed.is_empty() && untimed > 0, "{timed:?}");
    assert_eq!(activities(&contents(&recording)), []);
    let tables = Tables::of(&recording);
    let reasons = tables.tasks.iter().map(|task| task.text("untimed"));
    assert_eq!(
        reasons.collect::<BTreeSet<_>>(),
        BTreeSet::from(["not-logged"])
    );
}

/// Finished work is known for a program that is killed.
#[test]
fn entries_come_while_the_program_runs() {
    let killed = Run::new(&program("short_tasks")).words(&["killed"]);
    let recording = killed.options(&["--timing", "hardware"]).compared();
    let (timed, _) = is_honest(&recording);
    assert_eq!(timed["kernel"], 400);
}

/// msPTI would take reports of the runtime away from `msprof`, and from the file of `aclInit`.
#[test]
fn other_profilers_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("acl.json");
    std::fs::write(&file, r#"{"profiler": {"switch": "on"}}"#).unwrap();
    let short = || Run::new(&program("short_tasks")).options(&["--timing", "hardware"]);
    let runs = [
        (
            short().variable("PROFILER_SAMPLECONFIG", "{}"),
            LogState::Busy,
        ),
        (
            short().variable("PROFILING_MODE", "dynamic"),
            LogState::Busy,
        ),
        (
            short().words(&["configured", file.to_str().unwrap()]),
            LogState::GaveWay,
        ),
    ];
    for (run, state) in runs {
        let recording = run.compared();
        assert_eq!(logs(&contents(&recording))[0].state, state.code());
        let tasks = Tables::of(&recording).tasks;
        let timed = tasks.iter().filter(|task| task.text("untimed").is_empty());
        assert!(added(&recording) > 0 && timed.count() > 0);
        let recorded = recording.outcome.err();
        assert!(recorded.contains("the hardware log: "), "{recorded}");
    }
}

/// A program with a profiler gets the same records as without the tool.
#[test]
fn a_profiler_of_the_programs_own_comes_first() {
    let own = Run::new(&program("own_profiler"));
    let recording = own.options(&["--timing", "hardware"]).compared();
    let states: Vec<u8> = logs(&contents(&recording))
        .iter()
        .map(|row| row.state)
        .collect();
    assert_eq!(states, [LogState::On.code(), LogState::GaveWay.code()]);
    let recorded = recording.outcome.err();
    assert!(recorded.contains("its own profiler"), "{recorded}");
    is_honest(&recording);
}

/// The profilers that are begun by a call, of which the runtime has no subscriber.
#[test]
fn a_profiler_of_graphs_comes_first_as_well() {
    for call in [
        "aclprofStart(0)",
        "aclgrphProfInit(0, 0)",
        "aclgrphProfStart(0)",
    ] {
        let name = &call[..call.find('(').unwrap()];
        let source = format!(
            "#include <acl/acl.h>\n\
             int aclprofStart(const void *);\n\
             int aclgrphProfInit(const char *, uint32_t);\n\
             int aclgrphProfStart(void *);\n\
             int main(void)\n{{\n    aclrtStream stream;\n    void *memory;\n\
             aclInit(NULL);\n    aclrtSetDevice(0);\n    aclrtCreateStream(&stream);\n\
             aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);\n\
             aclrtMemsetAsync(memory, 64, 1, 64, stream);\n    aclrtSynchronizeStream(stream);\n\
             return {call};\n}}\n"
        );
        let own = Run::new(&built_from(name, &source, &["-lascendcl"]));
        let recording = own.options(&["--timing", "hardware"]).compared();
        let logs = logs(&contents(&recording));
        let states: Vec<u8> = logs.iter().map(|row| row.state).collect();
        assert_eq!(
            states,
            [LogState::On.code(), LogState::GaveWay.code()],
            "{call}"
        );
    }
}
