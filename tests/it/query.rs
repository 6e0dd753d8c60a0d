//! `query`: SQL over trace files and datasets, and the same queries on other engines.
//!
//! The engine is behind the feature `query`. Without it, ASCEND_TRACE_WITH_QUERY can name a command that has it.

mod cluster;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::recording::indexed;
use serde_json::Value;

use crate::merge::jobs::Recorded;
use crate::support::{Outcome, Recording, Run, program, run, tool};

/// The folder of the product's queries.
fn queries() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("queries")
}

/// The command that has the engine, if there is one.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn engine() -> Option<Command> {
    if let Some(path) = std::env::var_os("ASCEND_TRACE_WITH_QUERY") {
        return Some(Command::new(path));
    }
    if cfg!(feature = "query") {
        return Some(tool());
    }
    eprintln!(
        "skipped: this build has no feature query; ASCEND_TRACE_WITH_QUERY can name a command that has it"
    );
    None
}

fn asked(data: &Path, words: &[&str]) -> Option<Outcome> {
    Some(run(engine()?.arg("query").arg(data).args(words)))
}

/// The rows of a result.
fn rows(data: &Path, words: &[&str]) -> Option<Vec<Value>> {
    let answer = asked(data, words)?;
    let outcome = run(engine()?.arg("query").arg(data).args(words).arg("--json"));
    assert_eq!(outcome.status, answer.status, "{outcome}");
    let document: Value = serde_json::from_str(&outcome.expect(0).out()).unwrap();
    assert_eq!(document["schema"], "ascend-trace/query");
    Some(document["rows"].as_array().unwrap().clone())
}

/// A rank of a training.
fn rank(number: &str) -> Recording {
    let run = Run::new(&program("training")).words(&["4"]);
    run.variable("RANK", number).traced()
}

const STEPS: u64 = 6;
/// From the begin of a step to that of the next, in microseconds.
const STEP: u64 = 1_000;

/// The file of a rank with steps that compute for this many microseconds, and then wait for the slowest
/// rank.
fn planted(run_name: &str, number: u64, compute: impl Fn(u64) -> u64) -> Vec<u8> {
    let mut text = String::new();
    let mut ranges = Vec::new();
    for step in 0..STEPS {
        let begin = 100 + step * STEP;
        let (computed, reduced) = (begin + compute(step), begin + 900);
        let call = |at: u64| format!("by t1[{}us..{}us]", begin - 20 + at, begin - 19 + at);
        text += &format!(
            "s1: MatMul[{begin}us..{computed}us] {} HcclAllReduce(1,64)[{computed}us..{reduced}us] {}\n",
            call(0),
            call(2)
        );
        ranges.push((
            begin as i64 - 30,
            reduced as i64 + 20,
            format!("step {step}"),
        ));
    }
    let ranges: Vec<_> = ranges
        .iter()
        .map(|(begin, end, name)| (0, *begin, *end, name.as_str()))
        .collect();
    let mut timeline = Timeline::of(&text).with_ranges(&ranges);
    for row in &mut timeline.rows {
        if let Row::Process(row) = row {
            row.rank = number.to_string();
        }
    }
    timeline.session.host = format!("host-{}", number / 2);
    // Recordings of the same begin and command are one recording.
    timeline.session.command = vec![format!("train-{run_name}"), number.to_string()];
    indexed(400, &timeline.session, &timeline.tables, timeline.rows)
}

/// A dataset of two runs: in the first, rank 1 computes for longer, in step 3 most of all. In the second, operations take
/// half of the time.
struct Fleet(tempfile::TempDir);

impl Fleet {
    fn new() -> Self {
        let fleet = Self(tempfile::tempdir().unwrap());
        for number in 0..4 {
            let slow = |step| if step == 3 { 800 } else { 400 };
            let usual = 200 + 10 * number;
            let before = |step| if number == 1 { slow(step) } else { usual };
            fleet.add("before", number, &planted("before", number, before));
            fleet.add("later", number, &planted("later", number, |_| 100));
        }
        fleet
    }

    fn add(&self, run_name: &str, number: u64, file: &[u8]) {
        let path = self.0.path().join(format!("{run_name}-{number}.atrace"));
        std::fs::write(&path, file).unwrap();
        let mut command = tool();
        command.args(["dataset", "add", "--run", run_name, "--to"]);
        run(command.arg(self.root()).arg(path)).expect(0);
    }

    /// A third run, of ranks that are on one clock.
    fn with_cluster(self) -> Self {
        let recorded = Recorded::new(cluster::small());
        let mut command = tool();
        command.args(["dataset", "add", "--run", "cluster", "--to"]);
        run(command.arg(self.root()).args(&recorded.files)).expect(0);
        run(tool().args(["dataset", "align"]).arg(self.root())).expect(0);
        self
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("fleet")
    }
}

#[test]
fn a_trace_file_can_be_queried_and_no_other_file_remains() {
    let recording = rank("7");
    let trace = recording.trace();
    let temporary = tempfile::tempdir().unwrap();
    let sql = "SELECT kind, count(*) AS tasks, rank FROM tasks GROUP BY kind, rank ORDER BY kind";
    let Some(mut command) = engine() else { return };
    command
        .env("TMPDIR", temporary.path())
        .arg("query")
        .arg(&trace);
    let outcome = run(command.args([sql, "--csv"])).expect(0);
    assert_eq!(
        outcome.out(),
        "kind,tasks,rank\nkernel,12,7\nmemcpy,8,7\nrecord,4,7\nwait,4,7\n"
    );
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
    let text = asked(
        &trace,
        &["select name, 0.5 as half, null as nothing from steps order by begin_ns"],
    );
    let text = text.unwrap().expect(0).out();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "name     half  nothing");
    assert_eq!(lines[1], "step 0  0.500  -");
    assert_eq!(lines.len(), 5);
    let described = asked(&trace, &["describe tasks"]).unwrap().expect(0).out();
    assert!(described.contains("begin_ns"), "{described}");
}

#[test]
fn a_query_only_reads_and_a_wrong_one_is_explained() {
    let recording = rank("0");
    let trace = recording.trace();
    let wrong = [
        ("select nothing from tasks", "nothing"),
        ("select * from nowhere", "nowhere"),
        ("selec * from tasks", "the query failed"),
        ("create table t as select * from tasks", "the query failed"),
        ("copy tasks to '/tmp/copied.parquet'", "the query failed"),
        ("select * from '/etc/passwd'", "/etc/passwd"),
        (
            "set datafusion.execution.batch_size = 1",
            "the query failed",
        ),
    ];
    for (sql, said) in wrong {
        let Some(outcome) = asked(&trace, &[sql]) else {
            return;
        };
        let outcome = outcome.expect(2);
        let err = outcome.err();
        assert!(
            err.contains(said) && outcome.out().is_empty(),
            "{sql}: {outcome}"
        );
    }
    let missing = asked(Path::new("/nonexistent/run.atrace"), &["stragglers"]).unwrap();
    assert!(
        missing
            .expect(2)
            .err()
            .contains("cannot open /nonexistent/run.atrace")
    );
    let folder = tempfile::tempdir().unwrap();
    let no_dataset = asked(folder.path(), &["stragglers"]).unwrap();
    assert!(no_dataset.expect(2).err().contains("is no dataset"));
    let unknown = asked(&trace, &["straglers"]).unwrap();
    assert!(unknown.expect(2).err().contains("stragglers"));
}

/// Whether a time is as planted: the clocks of timelines run a little fast.
fn near(found: f64, planted: f64) -> bool {
    (found - planted).abs() <= 1e-3 * planted.abs()
}

#[test]
fn the_queries_name_the_slow_rank_and_the_slow_step() {
    let fleet = Fleet::new();
    let Some(found) = rows(&fleet.root(), &["stragglers", "--run", "before"]) else {
        return;
    };
    let first = &found[0];
    assert_eq!(found.len(), 4);
    assert_eq!(
        (first["rank"].as_str(), first["host"].as_str()),
        (Some("1"), Some("host-0"))
    );
    assert_eq!(
        (&first["slowest_in"], &first["more_of"]),
        (&STEPS.into(), &"computing".into())
    );
    // The median of the others is in the middle of 200, 220, 230 and its own.
    let late = first["late_ms"].as_f64().unwrap();
    assert!(near(late, 5.0 * 0.175 + 0.575), "{first}");
    let found = rows(&fleet.root(), &["slow-steps", "--run", "before"]).unwrap();
    assert_eq!(
        (&found[0]["name"], &found[0]["rank"]),
        (&"step 3".into(), &"1".into())
    );
    let found = rows(&fleet.root(), &["slow-operations", "--run", "before"]).unwrap();
    assert_eq!(
        (&found[0]["rank"], &found[0]["name"]),
        (&"1".into(), &"MatMul".into())
    );
    let found = rows(&fleet.root(), &["changes"]).unwrap();
    let of = |name: &str| found.iter().find(|row| row["name"] == name).unwrap();
    let change = of("MatMul")["change_ms"].as_f64().unwrap();
    let before = (0.2 + 0.22 + 0.23 + (5.0 * 0.4 + 0.8) / 6.0) / 4.0;
    assert!(near(change, 0.1 - before), "{change}");
}

/// Rows as lists of cells in the order of the columns.
fn listed(found: &[Value], columns: &[String]) -> Vec<Vec<Value>> {
    let cells = |row: &Value| columns.iter().map(|name| row[name].clone()).collect();
    found.iter().map(cells).collect()
}

fn agrees(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        // The order in which doubles are added is that of each engine.
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
        _ => a == b,
    }
}

/// Rows in an order without fractional numbers: sums that are equal except for their last bits are in
/// the order of each engine.
fn ordered(mut found: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    found.sort_by_cached_key(|cells| {
        let exact = cells.iter().filter(|it| !it.is_f64());
        exact.map(Value::to_string).collect::<Vec<_>>()
    });
    found
}

/// Results of each query in another engine.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn others(name: &str, module: &str, dataset: &Path) -> Option<BTreeMap<String, Value>> {
    let variable = "ASCEND_TRACE_QUERY_PYTHON";
    let python = std::env::var(variable).unwrap_or_else(|_| "python3".to_owned());
    let has = run(Command::new(&python).args(["-c", &format!("import {module}")]));
    if has.status != 0 {
        eprintln!("skipped: python3 has no {module}; {variable} can name one that has");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/query/engines.py");
    let mut command = Command::new(python);
    command.arg(script).arg(name).arg(dataset).arg(queries());
    let outcome = run(&mut command).expect(0);
    Some(serde_json::from_str(&outcome.out()).unwrap())
}

#[track_caller]
fn compare(engine_name: &str, module: &str) {
    if engine().is_none() {
        return;
    }
    let fleet = Fleet::new().with_cluster();
    let Some(answers) = others(engine_name, module, &fleet.root()) else {
        return;
    };
    assert!(answers.len() > 10);
    let mut filled = 0;
    for (name, answer) in answers {
        let columns: Vec<String> = serde_json::from_value(answer["columns"].clone()).unwrap();
        let theirs: Vec<Vec<Value>> = serde_json::from_value(answer["rows"].clone()).unwrap();
        let ours = listed(&rows(&fleet.root(), &[&name]).unwrap(), &columns);
        assert_eq!(ours.len(), theirs.len(), "{name}");
        filled += usize::from(!ours.is_empty());
        assert!(
            name != "late-ends" || !ours.is_empty(),
            "no ends of collectives"
        );
        let both = ordered(ours).into_iter().zip(ordered(theirs));
        for (row, (ours, theirs)) in both.enumerate() {
            for ((column, a), b) in columns.iter().zip(&ours).zip(&theirs) {
                assert!(
                    agrees(a, b),
                    "{name}, row {row}, {column}: {a} here, {b} there"
                );
            }
        }
    }
    assert!(filled > 8, "{filled} queries found rows");
}

#[test]
fn duckdb_gives_the_same_rows() {
    compare("duckdb", "duckdb");
}

#[test]
fn spark_gives_the_same_rows() {
    compare("spark", "pyspark");
}

#[test]
fn named_queries_are_listed_and_shown_without_an_engine() {
    let list = run(tool().args(["query", "--list"])).expect(0).out();
    assert!(
        list.contains("stragglers") && list.lines().count() > 10,
        "{list}"
    );
    let shown = run(tool().args(["query", "--show", "stragglers"]))
        .expect(0)
        .out();
    assert_eq!(
        shown,
        std::fs::read_to_string(queries().join("stragglers.sql")).unwrap()
    );
    let none = run(tool().arg("query"));
    assert!(
        none.expect(2)
            .err()
            .contains("name a dataset or a trace file")
    );
    if !cfg!(feature = "query") {
        let refused = run(tool().arg("query").arg(queries()).arg("stragglers"));
        assert!(refused.expect(2).err().contains("no engine for queries"));
    }
}
