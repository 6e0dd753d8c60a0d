use std::collections::{BTreeSet, HashMap};

use ascend_trace_analysis::{Dependencies, Stalls};
use ascend_trace_export::{Csv, Exporter, OutputLayout};
use ascend_trace_recording::Trace;
use ascend_trace_testkit::timeline;

use super::chrome::{SliceKey, chrome, flows};
use super::memory::{MemorySink, export};

pub(crate) type CsvRow = HashMap<String, String>;

pub(crate) fn rows(files: &MemorySink, name: &str) -> Vec<CsvRow> {
    let mut reader = ::csv::Reader::from_reader(files.text(name).as_bytes());
    let rows = reader.deserialize();
    rows.collect::<Result<_, _>>().expect("valid CSV")
}

fn number(row: &CsvRow, column: &str) -> Option<i64> {
    let text = &row[column];
    (!text.is_empty()).then(|| text.parse().expect("a number"))
}

/// Tasks, calls, dependencies and stalls equal the recording's.
#[track_caller]
pub(crate) fn check(trace: &Trace) -> MemorySink {
    let files = export(&Csv, trace);
    check_calls(trace, &rows(&files, "calls.csv"));
    check_tasks(trace, &rows(&files, "tasks.csv"));
    check_dependencies(trace, &files);
    let stalls = rows(&files, "stalls.csv");
    let spans: Vec<_> = stalls
        .iter()
        .map(|row| (number(row, "begin_ns"), number(row, "end_ns")))
        .collect();
    let expected = Stalls::of(trace);
    let expected = expected.sorted();
    let expected: Vec<_> = expected
        .iter()
        .map(|stall| (Some(stall.begin), Some(stall.end)))
        .collect();
    assert_eq!(spans, expected);
    files
}

fn check_calls(trace: &Trace, rows: &[CsvRow]) {
    assert_eq!(rows.len(), trace.calls().len());
    for (row, call) in rows.iter().zip(trace.calls()) {
        let thread = trace.thread(call.thread);
        let pid = trace.process(thread.process).pid;
        assert_eq!(number(row, "pid"), Some(i64::from(pid)));
        assert_eq!(number(row, "tid"), Some(i64::from(thread.tid)));
        assert_eq!(row["name"], trace.function(call.function).name);
        assert_eq!(number(row, "begin_ns"), Some(call.begin));
        assert_eq!(number(row, "end_ns"), Some(call.end));
        assert_eq!(number(row, "ret"), Some(call.ret));
        assert_eq!(number(row, "depth"), Some(i64::from(call.depth)));
        let stream = call.stream.map(|id| trace.stream(id).number());
        assert_eq!(number(row, "stream_id"), stream);
        let args: serde_json::Value = serde_json::from_str(&row["args"]).expect("JSON");
        let names = trace.function(call.function).args.len();
        assert_eq!(args.as_object().map(serde_json::Map::len), Some(names));
    }
}

fn check_tasks(trace: &Trace, rows: &[CsvRow]) {
    assert_eq!(rows.len(), trace.tasks().len());
    for (row, task) in rows.iter().zip(trace.tasks()) {
        let stream = trace.stream(task.stream);
        assert_eq!(number(row, "device"), Some(i64::from(stream.device)));
        assert_eq!(number(row, "stream_id"), Some(stream.number()));
        assert_eq!(number(row, "seq"), Some(i64::from(task.sequence)));
        assert_eq!(row["kind"], task.kind.name());
        assert_eq!(row["name"], trace.task_name(task));
        assert_eq!(number(row, "begin_ns"), task.time.map(|it| it.begin));
        assert_eq!(number(row, "end_ns"), task.time.map(|it| it.end));
        assert_eq!(number(row, "err_ns"), task.time.map(|it| it.error));
        assert_eq!(row["untimed"].is_empty(), task.time.is_some());
        assert_eq!(row["queue_ns"].is_empty(), task.time.is_none());
    }
}

fn check_dependencies(trace: &Trace, files: &MemorySink) {
    let dependencies = rows(files, "dependencies.csv");
    let of_model = Dependencies::of(trace);
    let expected = of_model.all(trace).chain(of_model.stream_order(trace));
    assert_eq!(dependencies.len(), expected.count());
    let (calls, tasks) = (rows(files, "calls.csv"), rows(files, "tasks.csv"));
    for row in &dependencies {
        for end in ["from", "to"] {
            let at = number(row, &format!("{end}_number")).expect("a number") as usize;
            let other = match row[&format!("{end}_type")].as_str() {
                "task" => &tasks[at],
                "call" => &calls[at],
                other => panic!("{other}"),
            };
            assert_eq!(row[&format!("{end}_name")], other["name"]);
            assert_eq!(row[&format!("{end}_pid")], other["pid"]);
        }
    }
}

/// The dependencies in the terms of the Chrome JSON's flows, which need no order within streams:
/// that shows on the tracks.
fn as_flows(files: &MemorySink) -> BTreeSet<(String, SliceKey, SliceKey)> {
    let end = |row: &CsvRow, end: &str| -> SliceKey {
        let get = |column: &str| number(row, &format!("{end}_{column}")).map(|it| it as u64);
        match get("seq") {
            None => (None, get("number")),
            Some(seq) => {
                let place = get("pid").zip(get("device")).zip(get("stream_id"));
                let ((pid, device), stream) = place.expect("a task's place");
                (Some((pid, device, stream, seq)), None)
            }
        }
    };
    rows(files, "dependencies.csv")
        .iter()
        .filter(|row| row["kind"] != "stream-order")
        .map(|row| (row["kind"].clone(), end(row, "from"), end(row, "to")))
        .collect()
}

const EXAMPLE: &str = "
    s1: A[1us..10us] rec(E) B[10us..30us] rec(F)
    s2@0: wait(E)[2us..10us] C[12us..20us] wait(F)[20us..30us]
    s3@1 by t2: memcpy(4096)[5us..9us] wait(E)
    t1: sync(s2)[31us..33us] sync(E)[34us..35us] sync()[36us..37us]
    p2.s1: D[1us..2us] rec(E)
    p2.t1: sync(s1)[3us..4us]";

#[test]
fn the_tables_match_the_model() {
    let files = check(&timeline(EXAMPLE));
    let OutputLayout::Directory { files: names } = Csv.layout() else {
        panic!("a directory");
    };
    assert_eq!(
        files.names().into_iter().collect::<BTreeSet<_>>(),
        names.iter().copied().collect()
    );
}

#[test]
fn the_chrome_json_and_the_tables_hold_the_same_dependencies() {
    let trace = timeline(EXAMPLE);
    let csv = as_flows(&export(&Csv, &trace));
    assert!(csv.len() > 10);
    assert_eq!(csv, flows(&chrome(&trace)));
}

#[test]
fn all_documented_columns_exist() {
    let files = export(&Csv, &Trace::default());
    let check = |name: &str, columns: &str| {
        let header = files.text(name).lines().next().expect("a header");
        let header: BTreeSet<_> = header.split(',').collect();
        for column in columns.split_whitespace() {
            assert!(header.contains(column), "{name} has no {column}");
        }
    };
    check(
        "tasks.csv",
        "pid device stream_id kind name begin_ns end_ns err_ns queue_ns untimed seq",
    );
    check(
        "calls.csv",
        "pid tid name begin_ns end_ns ret depth device stream_id args",
    );
}

#[test]
fn an_empty_trace_gives_headers_only() {
    let files = check(&Trace::default());
    for name in [
        "calls.csv",
        "tasks.csv",
        "dependencies.csv",
        "stalls.csv",
        "graphs.csv",
        "findings.csv",
        "ranges.csv",
        "steps.csv",
        "requests.csv",
        "critical.csv",
        "activities.csv",
        "collectives.csv",
        "losses.csv",
        "processes.csv",
        "devices.csv",
    ] {
        assert_eq!(files.text(name).lines().count(), 1, "{name}");
    }
}

#[test]
fn a_task_without_times_has_a_reason_instead() {
    let trace = timeline("s1: A[captured] B[0..10] C[?]");
    let files = check(&trace);
    let tasks = rows(&files, "tasks.csv");
    let untimed: Vec<_> = tasks.iter().map(|row| row["untimed"].as_str()).collect();
    assert_eq!(untimed, ["captured", "", "not-harvested"]);
}

#[test]
fn arguments_are_one_quoted_column() {
    let trace = timeline("t1: aclrtMalloc(64)[0..10]");
    let files = check(&trace);
    assert!(files.text("calls.csv").contains(r#"""size"":64"#));
}

#[test]
fn a_stall_names_its_culprit() {
    let files = check(&timeline(EXAMPLE));
    let stalls = rows(&files, "stalls.csv");
    let stall = stalls
        .iter()
        .find(|row| row["cause"] == "event-wait")
        .expect("a wait");
    assert_eq!(
        (
            stall["stream_id"].as_str(),
            stall["culprit_stream_id"].as_str()
        ),
        ("2", "1")
    );
    assert_eq!(stall["culprit_task"], "A");
    assert_eq!(stall["length_ns"], "8000");
}

#[test]
fn a_collective_has_its_group_its_data_and_its_least_bandwidth() {
    let trace = timeline(
        "t1: HcclCommInitRootInfo(4,1,77)[0..5us]
         s1: HcclAllGather(77,1000,4)[20us..60us] by t1[10us..11us] MatMul[60us..70us] by t1[12us..13us]
         s1: HcclAllGather(78,1000,4)[70us..80us] by t1[14us..15us]",
    );
    let tasks = rows(&export(&Csv, &trace), "tasks.csv");
    let gather = &tasks[0];
    let numbers = ["communicator", "ranks", "elements", "size"].map(|it| number(gather, it));
    assert_eq!(numbers, [Some(77), Some(4), Some(1000), Some(16_000)]);
    assert_eq!(gather["data_type"], "HCCL_DATA_TYPE_FP32");
    let least = number(gather, "least_algorithm_bandwidth").expect("it is known");
    assert!((1..=400_000_000).contains(&least), "{least}");
    let columns = [
        "communicator",
        "ranks",
        "size",
        "least_bus_bandwidth",
        "root",
    ];
    assert_eq!(columns.map(|it| number(&tasks[1], it)), [None; 5]);
    // Of a communicator that no call made, neither ranks nor size are known.
    let columns = ["ranks", "size", "least_algorithm_bandwidth"];
    assert_eq!(columns.map(|it| number(&tasks[2], it)), [None; 3]);
}
