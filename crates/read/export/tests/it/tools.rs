//! Other people's tools read the exports, where they are installed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ascend_trace_export::{Ascend, Chrome, Csv, Exporter, Kineto, Perfetto};
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::{Timeline, timeline};
use serde_json::Value;

use super::chrome::is_mark;
use super::kineto;
use super::memory::export;
use super::perfetto::perfetto;
use super::ranges;

/// Processes, devices, captures, waits, blocking calls, counters and marks.
pub(crate) const EXAMPLE: &str = "t1: capture(s5)[0..1] of g1 end(s5)[4..5] of g1
         s5: memcpy[captured] by t1[2..3] of g1 graph[20us..22us] by t1[6..7] of g1 graph[22us..24us] by t1[8..9] of g1
         s1: A[1us..10us] rec(E) B[10us..30us] rec(F)
         s2@0: wait(E)[2us..10us] C[12us..20us] wait(F)[20us..30us]
         s3@1 by t2: memcpy(4096)[5us..9us] wait(E)
         t1: aclrtMalloc(64)[30us..31us] sync(s2)[31us..33us] sync(E)[34us..35us] sync()[36us..37us]
         p2.s1: D[1us..2us] rec(E)
         p2.t1: sync(s1)[3us..4us]";

pub(crate) fn example() -> Trace {
    timeline(EXAMPLE)
}

/// A python that has these packages: the one that the variable names, else the one in the path. Prints
/// the reason if none has them.
pub(crate) fn python(variable: &str, packages: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let python = named.clone().unwrap_or_else(|| "python3".into());
    let mut command = Command::new(&python);
    let found = command.args(["-c", &format!("import {packages}")]).output();
    let has_them = found.is_ok_and(|output| output.status.success());
    if !has_them {
        assert_eq!(named, None, "{variable} names a python without {packages}");
        skip(&format!(
            "python3 has no {packages}; {variable} can name one that has"
        ));
    }
    has_them.then_some(python)
}

pub(crate) fn skip(why: &str) {
    // If stderr is closed, no report is possible.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/tools")
        .join(name)
}

/// Runs a command that must succeed.
#[track_caller]
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("the tool starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?}\n{printed}\n{errors}");
    output
}

#[test]
fn the_official_schema_reads_the_perfetto_export() {
    let variable = "ASCEND_TRACE_PERFETTO_PYTHON";
    let Some(python) = python(
        variable,
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2",
    ) else {
        return;
    };
    let trace = example();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.pftrace");
    std::fs::write(&file, export(&Perfetto, &trace).bytes("")).expect("a file");
    let mut command = Command::new(python);
    let output = succeed(command.arg(script("perfetto_check.py")).arg(&file));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let imported = perfetto(&trace);
    let marks = imported.slices.iter().filter(|it| is_mark(it)).count();
    // The mark that describes the recording is one more there.
    assert_eq!(found["marks"], marks + 1);
    assert_eq!(found["slices"], imported.slices.len() - marks);
    assert_eq!(found["flows"], imported.flows.len());
    let counters: usize = imported.counters.values().map(Vec::len).sum();
    assert_eq!(found["counters"], counters);
}

/// Their results match the timeline.
#[test]
fn the_readers_of_kineto_return_results() {
    let variable = "ASCEND_TRACE_KINETO_PYTHON";
    let Some(python) = python(variable, "hta, torch_tb_profiler") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "{}\np2.s1: D[25us..35us] by t2[20us..21us]",
        kineto::READERS
    );
    let files = export(&Kineto::CUDA, &kineto::ranked(&text, &["0", "7"]));
    for name in files.names() {
        std::fs::write(folder.path().join(name), files.bytes(name)).expect("a file");
    }
    let mut command = Command::new(python);
    let output = succeed(command.arg(script("kineto_readers.py")).arg(folder.path()));
    let text = String::from_utf8(output.stdout).expect("text");
    // Some of them print their progress.
    let last = text.lines().last().expect("an answer");
    let found: Value = serde_json::from_str(last).expect("JSON");
    let holistic = &found["holistic"];
    let about = |value: &Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!(
            (value - expected).abs() < 0.01,
            "{value} {expected}: {text}"
        );
    };
    let temporal = &holistic["temporal"][0];
    about(&temporal["kernel_time(us)"], 65.0);
    about(&temporal["compute_time(us)"], 35.0);
    let other = &holistic["temporal"][1];
    assert_eq!(other["rank"], 7);
    about(&other["compute_time(us)"], 10.0);
    // From 14 to 20, 45 to 50 and 62 to 70.
    about(&temporal["idle_time(us)"], 19.0);
    about(&holistic["idle"]["1"], 24.0);
    // Four launches before the first task begins.
    assert_eq!(holistic["queue"]["1"], 4.0);
    assert_eq!(holistic["queue"]["2"], 1.0);
    let launches = holistic["launches"].as_array().expect("launches");
    assert_eq!(launches.len(), 6, "{text}");
    about(&launches[0]["launch_delay"], 9.0);
    // Ten of the fifteen microseconds of the collective overlap a kernel.
    about(&holistic["overlap"], 66.67);
    assert_eq!(
        holistic["bandwidth"],
        serde_json::json!(["Memcpy", "Memset"])
    );
    let board = &found["rank-0.pt.trace.json"];
    assert_eq!(board["devices"], serde_json::json!([0]));
    assert!(board["views"].as_array().expect("views").len() >= 3);
    // Kernels run in 40 of the 80 microseconds.
    about(&board["busy"][0], 0.5);
}

/// A recording of one rank: four steps of a kernel and a collective, which this rank begins late.
fn one_rank(rank: &str, late: u64, start_realtime_ns: i64) -> Trace {
    let step = |number: u64| {
        let at = |us: u64| format!("{}us", number * 100 + us);
        format!(
            "s1: A[{}..{}] by t1[{}..{}] HcclAllReduce(1,64)[{}..{}] by t1[{}..{}]\n",
            at(10),
            at(30),
            at(1),
            at(2),
            at(40 + late),
            at(90),
            at(3),
            at(4),
        )
    };
    let text: String = (0..4).map(step).collect();
    let mut timeline = Timeline::of(&text);
    timeline.session.start_realtime_ns = start_realtime_ns;
    for row in &mut timeline.rows {
        if let Row::Process(process) = row {
            process.rank = rank.to_owned();
        }
    }
    let names = ["step 0", "step 1", "step 2", "step 3"];
    let steps = names.iter().zip((0..).step_by(100_000));
    let steps: Vec<_> = steps.map(|(name, at)| (*name, at, at + 95_000)).collect();
    ranges::add(&mut timeline, &steps);
    timeline.trace()
}

/// Ranks of separate recordings, exported one by one, are on one clock for its reader.
#[test]
fn the_late_rank_is_the_straggler() {
    let variable = "ASCEND_TRACE_KINETO_PYTHON";
    let Some(python) = python(variable, "hta, torch_tb_profiler") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let day = 1_764_300_000_000_000_000;
    for (rank, late, start) in [("0", 0, day), ("1", 25, day + 5000)] {
        let files = export(&Kineto::CUDA, &one_rank(rank, late, start));
        for name in files.names() {
            std::fs::write(folder.path().join(name), files.bytes(name)).expect("a file");
        }
    }
    let mut command = Command::new(python);
    command.arg(script("kineto_readers.py")).arg(folder.path());
    let output = succeed(command.arg("--stragglers"));
    let text = String::from_utf8(output.stdout).expect("text");
    let last = text.lines().last().expect("an answer");
    let found: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(found["stragglers"], serde_json::json!([1]), "{text}");
    let begin = |rank: &str| found["begins"][rank].as_f64().expect("a number");
    assert!((begin("1") - begin("0") - 5.0).abs() < 0.01, "{text}");
}

/// Queries for the trace processor: rows of names and numbers.
const QUESTIONS: &str = "
    select 'errors' as what, ifnull(sum(value), 0) as number from stats
        where severity in ('error', 'data_loss')
    union all select 'slices', count(*) from slice
    union all select 'flows', count(*) from flow
    union all select 'counters', count(*) from counter;";

#[test]
fn the_trace_processor_imports_both_formats_without_an_error() {
    let Some(shell) = std::env::var_os("TRACE_PROCESSOR_SHELL") else {
        skip("TRACE_PROCESSOR_SHELL names no trace processor");
        return;
    };
    let trace = example();
    let imported = perfetto(&trace);
    let folder = tempfile::tempdir().expect("a folder");
    let query = folder.path().join("questions.sql");
    std::fs::write(&query, QUESTIONS).expect("a file");
    let formats: [(&str, &dyn Exporter, usize); 2] =
        [("t.pftrace", &Perfetto, 1), ("t.json", &Chrome, 0)];
    for (name, exporter, more) in formats {
        let file = folder.path().join(name);
        std::fs::write(&file, export(exporter, &trace).bytes("")).expect("a file");
        let mut command = Command::new(&shell);
        let output = succeed(command.arg("-q").arg(&query).arg(&file));
        let text = String::from_utf8(output.stdout).expect("text");
        let number = |what: &str| -> usize {
            let line = text.lines().find(|line| line.contains(what));
            let line = line.unwrap_or_else(|| panic!("no {what} in {text}"));
            let digits = line.rsplit(',').next().unwrap_or_default();
            digits.trim_matches('"').parse().expect("a number")
        };
        assert_eq!(number("errors"), 0, "{text}");
        if more == 1 {
            assert_eq!(number("slices"), imported.slices.len() + more);
            assert_eq!(number("flows"), imported.flows.len());
        }
        let counters: usize = imported.counters.values().map(Vec::len).sum();
        assert_eq!(number("counters"), counters);
    }
}

/// Runs a query of the trace processor on a file, and returns its rows.
#[track_caller]
pub(crate) fn rows_of_query(shell: &OsStr, file: &Path, query: &str) -> Vec<Vec<String>> {
    let text = file.with_extension("sql");
    std::fs::write(&text, query).expect("a file");
    let mut command = Command::new(shell);
    let output = succeed(command.arg("-q").arg(&text).arg(file));
    let mut reader = csv::Reader::from_reader(output.stdout.as_slice());
    let rows = reader.deserialize();
    rows.map(|row| row.expect("a row")).collect()
}

/// Names of slices of a category, with their number and the sum of their durations.
const OPERATIONS: &str = "select name, count(*), sum(dur) from slice where category = 'kernel' group by name order by name;";

/// The same from the table of tasks.
fn operations(trace: &Trace) -> Vec<Vec<String>> {
    let files = export(&Csv, trace);
    let mut reader = csv::Reader::from_reader(files.bytes("tasks.csv"));
    let mut sums = BTreeMap::<String, (u64, i64)>::new();
    for row in reader.deserialize::<BTreeMap<String, String>>() {
        let row = row.expect("a row");
        let number = |name: &str| row[name].parse::<i64>().ok();
        if let (Some(begin), Some(end)) = (number("begin_ns"), number("end_ns"))
            && row["kind"] == "kernel"
        {
            let sum = sums.entry(row["name"].clone()).or_default();
            *sum = (sum.0 + 1, sum.1 + end - begin);
        }
    }
    let rows = sums.into_iter();
    rows.map(|(name, (count, total))| vec![name, count.to_string(), total.to_string()])
        .collect()
}

/// A recording with a time of day, and with kernels that are close to each other.
fn dated() -> Trace {
    let tasks = (0..200).map(|it| {
        let (begin, end) = (1000 + it * 1000, 1000 + it * 1000 + 999);
        format!(
            "K{}[{begin}..{end}] by t1[{}..{}]",
            it % 7,
            it * 3,
            it * 3 + 2
        )
    });
    let text = format!("s1: {}", tasks.collect::<Vec<_>>().join(" "));
    let mut timeline = Timeline::of(&text);
    timeline.session.start_realtime_ns = 1_795_985_558_000_000_123;
    timeline.trace()
}

#[test]
fn the_trace_processor_finds_every_kernel_of_the_tables() {
    let Some(shell) = std::env::var_os("TRACE_PROCESSOR_SHELL") else {
        skip("TRACE_PROCESSOR_SHELL names no trace processor");
        return;
    };
    let trace = dated();
    let expected = operations(&trace);
    assert_eq!(expected.len(), 7);
    let folder = tempfile::tempdir().expect("a folder");
    let formats: [(&str, &dyn Exporter); 3] = [
        ("t.pftrace", &Perfetto),
        ("t.json", &Chrome),
        ("trace_view.json", &Ascend::PLAIN),
    ];
    for (name, exporter) in formats {
        let files = export(exporter, &trace);
        let own = files.names().into_iter();
        let own = own.filter(|it| it.is_empty() || it.ends_with("trace_view.json"));
        let [own] = own.collect::<Vec<_>>()[..] else {
            panic!("{name}: {:?}", files.names());
        };
        let file = folder.path().join(name);
        std::fs::write(&file, files.bytes(own)).expect("a file");
        assert_eq!(rows_of_query(&shell, &file, OPERATIONS), expected, "{name}");
        let lost =
            "select name, value from stats where severity in ('error', 'data_loss') and value > 0;";
        let lost = rows_of_query(&shell, &file, lost);
        assert!(lost.is_empty(), "{name}: {lost:?}");
    }
}
