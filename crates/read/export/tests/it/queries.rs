//! The queries for Perfetto in the documentation: their names exist, and their results match a
//! timeline.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use ascend_trace_export::{Chrome, Exporter, Perfetto};
use ascend_trace_recording::Trace;
use ascend_trace_testkit::Timeline;
use serde_json::{Value, json};

use super::checker::ImportedTrace;
use super::chrome::{is_mark, waiter};
use super::memory::export;
use super::perfetto::perfetto;
use super::tools::{python, script, skip, succeed};
use super::{chrome, ranges};

/// Kernels and copies on two streams, a wait, replays of a graph, and two steps.
const EXAMPLE: &str = "s1: memcpy(4096)[2us..6us] by t1[0..1us] A[6us..16us] by t1[1us..2us]
     s1: rec(E)[16us] by t1[2us..3us] A[40us..45us] by t1[30us..31us]
     s2: wait(E)[4us..16us] by t1[3us..4us] B[16us..20us] by t1[4us..5us]
     s2: memcpy(1024)[42us..44us] by t1[31us..32us]
     t1: capture(s5)[50us..51us] of g1 end(s5)[54us..55us] of g1
     s5: memcpy[captured] by t1[52us..53us] of g1
     s5: graph[60us..62us] by t1[56us..57us] of g1 graph[62us..65us] by t1[58us..59us] of g1";

fn example() -> Trace {
    let mut timeline = Timeline::of(EXAMPLE);
    let steps = [("step 1", 0, 29_000), ("step 2", 30_000, 49_000)];
    ranges::add(&mut timeline, &steps);
    timeline.trace()
}

/// The queries, by what their first line calls them.
fn queries() -> BTreeMap<String, String> {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/EXPORT.md");
    let document = fs::read_to_string(document).expect("the document");
    let section = document
        .split("\n## ")
        .find(|it| it.starts_with("Queries in Perfetto"));
    let blocks = section.expect("a section").split("```sql\n").skip(1);
    let blocks = blocks.filter_map(|it| it.split("```").next());
    let named = blocks.map(|it| {
        let (title, query) = it.split_once('\n').expect("a title");
        let (_, title) = title.split_once(": ").expect("a title");
        (title.to_owned(), query.to_owned())
    });
    named.collect()
}

/// The texts in a query's single quotes.
fn quoted(query: &str) -> impl Iterator<Item = &str> {
    query.split('\'').skip(1).step_by(2)
}

/// Both formats, each with what its arguments are called by.
fn imported(trace: &Trace) -> [(&'static str, ImportedTrace); 2] {
    [
        ("debug.", perfetto(trace)),
        ("args.", chrome::chrome(trace)),
    ]
}

/// Whether a query is about slices that are in the exports, and about arguments that they have.
#[test]
fn queries_name_categories_and_arguments_that_there_are() {
    let all = queries();
    assert_eq!(all.len(), 10);
    for (_, imported) in imported(&example()) {
        let slices = || imported.slices.iter();
        let categories: BTreeSet<&str> = slices().map(|it| it.category.as_str()).collect();
        // Names that are allowed but not in the example.
        let others = ["memset", "other", "notify", "value"];
        for (title, query) in &all {
            for text in quoted(query) {
                if let Some(argument) = text.strip_prefix("debug.") {
                    let has_it = slices().any(|it| !it.args[argument].is_null());
                    assert!(has_it, "{argument}: {title}");
                } else if let Some(begin) = text.strip_suffix('*') {
                    let mut names = slices()
                        .map(|it| it.name.as_str())
                        .chain(categories.iter().copied());
                    assert!(names.any(|it| it.starts_with(begin)), "{text}: {title}");
                } else {
                    let is_known = categories.contains(text) || others.contains(&text);
                    assert!(is_known, "{text}: {title}");
                }
            }
        }
    }
}

/// Tables like those of Perfetto's importer.
fn tables(prefix: &str, imported: &ImportedTrace, queries: &[String]) -> Value {
    let slices = imported.slices.iter().enumerate().map(|(place, slice)| {
        let args = slice.args.as_object().into_iter().flatten();
        let args = args.map(|(name, value)| (format!("{prefix}{name}"), value.clone()));
        let parent = is_mark(slice).then(|| {
            let wanted = waiter(imported, place);
            let mut all = imported.slices.iter();
            all.position(|it| std::ptr::eq(it, wanted))
        });
        json!({
            "id": place,
            "ts": slice.begin,
            "dur": slice.end - slice.begin,
            "track_id": 0,
            "category": slice.category,
            "name": slice.name,
            "parent_id": parent.flatten(),
            "args": args.collect::<serde_json::Map<_, _>>(),
        })
    });
    let flows = imported.flows.iter().map(|(_, from, to)| json!([from, to]));
    json!({
        "slices": slices.collect::<Vec<_>>(),
        "flows": flows.collect::<Vec<_>>(),
        "queries": queries,
    })
}

fn answers(document: &Value) -> Option<Vec<Value>> {
    let python = python("ASCEND_TRACE_QUERY_PYTHON", "sqlite3")?;
    let mut command = Command::new(python);
    let command = command.arg(script("queries.py"));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    let mut input = child.stdin.take().expect("a pipe");
    input
        .write_all(document.to_string().as_bytes())
        .expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn queries_return_the_content_of_the_timeline() {
    let all = queries();
    let titles: Vec<&String> = all.keys().collect();
    let trace = example();
    for (prefix, imported) in imported(&trace) {
        let texts: Vec<String> = all
            .values()
            .map(|it| it.replace("debug.", prefix))
            .collect();
        let Some(found) = answers(&tables(prefix, &imported, &texts)) else {
            return;
        };
        let of = |title: &str| {
            let place = titles.iter().position(|it| *it == title);
            &found[place.unwrap_or_else(|| panic!("no query: {title}"))]
        };
        assert_eq!(
            *of("top kernels"),
            json!([["A", 2, 15_000, 10_000], ["B", 1, 4_000, 4_000]])
        );
        assert_eq!(
            *of("utilisation of streams"),
            json!([
                [0, 1, 19_000, 44.2],
                [0, 2, 6_000, 21.4],
                [0, 5, 5_000, 100.0]
            ])
        );
        assert_eq!(*of("utilisation of devices"), json!([[0, 28_000, 63_000]]));
        // A wait is a nanosecond longer in JSON.
        let waited = of("critical waits")[0].as_array().expect("a wait");
        assert!((12_000..=12_001).contains(&waited[0].as_i64().expect("a number")));
        assert_eq!((&waited[2], &waited[3]), (&json!(2), &json!(1)));
        assert_eq!(*of("copies during kernels"), json!([[0, 2_000, 6_000]]));
        let replays = of("replays");
        assert_eq!(*replays, json!([[1, 1, 2, 2_500, 3_000]]));
        assert_eq!(
            *of("steps"),
            json!([["step 1", 29_000, 2, 14_000], ["step 2", 19_000, 1, 5_000]])
        );
        let stalls = imported.slices.iter().filter(|it| it.category == "stall");
        let idle: i64 = stalls.clone().map(|it| it.end - it.begin).sum();
        let number = |value: &Value| value.as_i64().expect("a number");
        let sum = |rows: &Value, column: usize| -> i64 {
            let rows = rows.as_array().expect("rows").iter();
            rows.map(|row| number(&row[column])).sum()
        };
        assert_eq!(sum(of("idle time by cause"), 2), idle);
        assert_eq!(
            sum(of("idle time by cause"), 1),
            stalls.clone().count() as i64
        );
        assert_eq!(sum(of("the longest gaps"), 1), idle);
        let timed = trace.tasks().iter().filter(|it| it.time.is_some()).count();
        assert_eq!(sum(of("from launch to begin"), 1), timed as i64);
    }
}

#[test]
fn the_trace_processor_runs_the_queries() {
    let Some(shell) = std::env::var_os("TRACE_PROCESSOR_SHELL") else {
        skip("TRACE_PROCESSOR_SHELL names no trace processor");
        return;
    };
    let trace = example();
    let folder = tempfile::tempdir().expect("a folder");
    let formats: [(&str, &str, &dyn Exporter); 2] = [
        ("t.pftrace", "debug.", &Perfetto),
        ("t.json", "args.", &Chrome),
    ];
    for (name, prefix, exporter) in formats {
        let file = folder.path().join(name);
        fs::write(&file, export(exporter, &trace).bytes("")).expect("a file");
        for (title, query) in queries() {
            let text = folder.path().join("query.sql");
            fs::write(&text, query.replace("debug.", prefix)).expect("a file");
            let mut command = Command::new(&shell);
            let output = succeed(command.arg("-q").arg(&text).arg(&file));
            let printed = String::from_utf8_lossy(&output.stdout);
            let rows = printed
                .lines()
                .filter(|line| !line.trim().is_empty())
                .count();
            assert!(rows > 1, "{title} of {name}: {printed}");
        }
    }
}
