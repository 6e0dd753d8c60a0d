//! `requests` of a server with continuous batching, judged by the times that the server sees and by the log of the
//! software runtime.

use std::fs;

use serde_json::Value;

use crate::support::{Recording, Run, program, run, tool};

/// Times before and after a call.
type Bounds = (i64, i64);

/// A request as the server sees it.
#[derive(Debug)]
struct ServedRequest {
    tokens: i64,
    arrival: Bounds,
    begin: Bounds,
    first: Bounds,
    last: Bounds,
    done: Bounds,
    /// When the tasks of its prefill ran, by the log.
    prefill: Vec<Bounds>,
    /// The end of its last task, by the log.
    last_task: i64,
}

fn recorded(words: &[&str]) -> Recording {
    let run = Run::new(&program("server")).words(words);
    let recording = run.options(&["--timing", "events"]).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    recording
}

/// The tasks of the log in their order.
fn logged(recording: &Recording) -> Vec<Bounds> {
    let text = fs::read_to_string(recording.truth()).unwrap();
    let lines = text
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap());
    let kernels = lines.filter(|it| {
        it["kind"] == "kernel" && it["name"].as_str().is_some_and(|it| it.contains("Relu"))
    });
    let mut tasks: Vec<Bounds> = kernels
        .map(|it| {
            (
                it["begin_ns"].as_i64().unwrap(),
                it["end_ns"].as_i64().unwrap(),
            )
        })
        .collect();
    tasks.sort_unstable();
    tasks
}

/// The requests in truth: the server prints its batches in order, then its requests.
fn served(recording: &Recording) -> Vec<ServedRequest> {
    let out = recording.outcome.out();
    let numbers = |line: &str| -> Vec<i64> {
        let words = line.split(' ').skip(1);
        words.map(|it| it.parse().unwrap()).collect()
    };
    let mut requests: Vec<ServedRequest> = out
        .lines()
        .filter(|it| it.starts_with("request "))
        .map(|line| {
            let numbers = numbers(line);
            let [_, tokens, a0, a1, b0, b1, f0, f1, l0, l1, d0, d1] = numbers[..] else {
                panic!("{line}")
            };
            ServedRequest {
                tokens,
                arrival: (a0, a1),
                begin: (b0, b1),
                first: (f0, f1),
                last: (l0, l1),
                done: (d0, d1),
                prefill: Vec::new(),
                last_task: 0,
            }
        })
        .collect();
    let mut tasks = logged(recording).into_iter();
    for line in out.lines().filter(|it| it.starts_with("batch ")) {
        let numbers = numbers(line);
        let ran: Vec<Bounds> = tasks.by_ref().take(numbers[0] as usize).collect();
        assert_eq!(ran.len() as i64, numbers[0], "{line}");
        for request in &numbers[1..] {
            let request = &mut requests[*request as usize];
            if request.prefill.is_empty() {
                request.prefill = ran.clone();
            }
            request.last_task = ran.last().unwrap().1;
        }
    }
    assert_eq!(tasks.next(), None, "all tasks belong to a batch");
    requests
}

fn document(recording: &Recording, words: &[&str]) -> Value {
    let mut command = tool();
    command
        .arg("requests")
        .args(words)
        .arg("--json")
        .arg(recording.trace());
    let document = serde_json::from_str(&run(&mut command).expect(0).out()).unwrap();
    crate::schemas::follows_its_schema(&document);
    document
}

#[track_caller]
fn number(row: &Value, key: &str) -> i64 {
    row[key]
        .as_i64()
        .unwrap_or_else(|| panic!("{key} of {row}"))
}

/// A duration is between those by the times before and after its ends, or off by its error.
#[track_caller]
fn is_between(row: &Value, key: &str, from: Bounds, to: Bounds, error: i64) {
    let found = number(row, key);
    let (least, most) = (to.0 - from.1 - error, to.1 - from.0 + error);
    assert!(
        (least..=most).contains(&found),
        "{key} is not in {least}..={most}: {row}"
    );
}

/// The first token and its parts.
#[track_caller]
fn judge_first(row: &Value, truth: &ServedRequest) {
    let error = number(row, "first_token_error_ns");
    let end = truth.prefill.last().unwrap().1;
    // Of an asynchronous server, the device may end later than the host.
    let first = (truth.first.0.max(end), truth.first.1.max(end));
    is_between(row, "first_token_ns", truth.arrival, first, error);
    let device: i64 = truth.prefill.iter().map(|(begin, end)| end - begin).sum();
    let device_error = number(row, "device_error_ns");
    let found = number(row, "device_ns");
    assert!(
        (found - device).abs() <= device_error,
        "in truth {device}: {row}"
    );
    let parts = ["queue_ns", "host_ns", "device_ns"].map(|it| number(row, it));
    assert_eq!(
        parts.iter().sum::<i64>(),
        number(row, "first_token_ns"),
        "{row}"
    );
    assert!(parts.iter().all(|it| *it >= 0), "{row}");
}

#[track_caller]
fn judge(document: &Value, truth: &[ServedRequest], is_async: bool) {
    let rows = document["requests"].as_array().unwrap();
    assert_eq!(rows.len(), truth.len(), "{document:#}");
    for (row, truth) in rows.iter().zip(truth) {
        judge_first(row, truth);
        if !is_async {
            is_between(row, "queue_ns", truth.arrival, truth.begin, 0);
        }
        assert_eq!(number(row, "tokens"), truth.tokens, "{row}");
        assert_eq!(number(row, "decodes"), truth.tokens - 1, "{row}");
        assert_eq!(
            (number(row, "prefills"), number(row, "untimed")),
            (1, 0),
            "{row}"
        );
        let end = |host: Bounds, task: i64| (host.0.max(task), host.1.max(task));
        let first = end(truth.first, truth.prefill.last().unwrap().1);
        let last = end(truth.last, truth.last_task);
        let parts = truth.tokens - 1;
        let each = (first.0 / parts, first.1 / parts);
        let error = number(row, "token_error_ns") + 2;
        is_between(
            row,
            "token_ns",
            each,
            (last.0 / parts, last.1 / parts),
            error,
        );
        is_between(row, "total_ns", truth.arrival, truth.done, 0);
    }
    let measures = document["measures"].as_array().unwrap();
    let first = measures
        .iter()
        .find(|it| it["measure"] == "first-token")
        .unwrap();
    let mut values: Vec<i64> = rows.iter().map(|it| number(it, "first_token_ns")).collect();
    values.sort_unstable();
    assert_eq!(first["max_ns"], *values.last().unwrap());
    assert_eq!(first["p50_ns"], values[values.len().div_ceil(2) - 1]);
    let buckets = first["histogram"].as_array().unwrap().iter();
    let counted: i64 = buckets.map(|it| number(it, "count")).sum();
    assert_eq!(counted as usize, truth.len());
}

#[test]
fn requests_of_plain_names_have_the_times_of_the_server() {
    let recording = recorded(&["plain", "sync"]);
    let found = document(&recording, &[]);
    judge(&found, &served(&recording), false);
    // Every second name has the number of tokens; for the others, batches are counted.
    let rows = found["requests"].as_array().unwrap().iter();
    let counted: Vec<bool> = rows.map(|it| it["tokens_are_counted"] == true).collect();
    assert_eq!(counted, [false, true, false, true, false, true]);
}

#[test]
fn requests_of_an_asynchronous_server_end_with_their_tasks() {
    let recording = recorded(&["plain", "async"]);
    judge(&document(&recording, &[]), &served(&recording), true);
}

#[test]
fn messages_of_the_service_profiler_are_of_requests() {
    let recording = recorded(&["service", "sync"]);
    let found = document(&recording, &[]);
    judge(&found, &served(&recording), false);
    let rows = found["requests"].as_array().unwrap();
    assert_eq!(rows[3]["request"], "req-3");
    assert!(
        rows.iter().all(|it| it["tokens_are_counted"] == false),
        "{found:#}"
    );
}

#[test]
fn the_exported_table_has_the_rows_of_the_command() {
    let recording = recorded(&["plain", "sync"]);
    let found = document(&recording, &[]);
    let folder = recording.beside("tables");
    let mut command = tool();
    command
        .args(["export", "--format", "csv", "-o"])
        .arg(&folder);
    run(command.arg(recording.trace())).expect(0);
    let table = fs::read_to_string(folder.join("requests.csv")).unwrap();
    let mut lines = table.lines().map(|it| it.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let rows = found["requests"].as_array().unwrap();
    for (line, row) in lines.by_ref().zip(rows) {
        for (name, cell) in names.iter().zip(line) {
            let expected = match &row[*name] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                Value::Bool(flag) => u8::from(*flag).to_string(),
                other => other.to_string(),
            };
            assert_eq!(cell, expected, "{name}");
        }
    }
    assert_eq!((lines.count(), table.lines().count()), (0, rows.len() + 1));
}

#[test]
fn a_template_selects_other_names() {
    let recording = recorded(&["own", "sync"]);
    let found = document(&recording, &["--names", "{phase} <{id}>"]);
    judge(&found, &served(&recording), false);
    let mut command = tool();
    command
        .args(["requests", "--names", "x {id}"])
        .arg(recording.trace());
    let outcome = run(&mut command).expect(2);
    assert!(
        outcome.err().contains("no range or mark matches --names"),
        "{outcome}"
    );
}

#[test]
fn a_program_without_requests_has_none() {
    let recording = recorded(&["none", "sync"]);
    let mut command = tool();
    let outcome = run(command.arg("requests").arg(recording.trace())).expect(0);
    assert!(outcome.out().starts_with("no requests: "), "{outcome}");
    let found = document(&recording, &[]);
    assert_eq!(found["requests"].as_array().map(Vec::len), Some(0));
}

#[test]
fn the_text_has_requests_percentiles_and_reasons() {
    let recording = recorded(&["plain", "sync"]);
    let mut command = tool();
    let text = run(command.arg("requests").arg(recording.trace()))
        .expect(0)
        .out();
    assert!(text.starts_with("6 requests\n"), "{text}");
    for word in ["first token", "queue", "tokens/s", "All requests", "p99"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    // Without the times of tasks, nothing of the device is known.
    let run_off = Run::new(&program("server")).words(&["plain", "sync"]);
    let recording = run_off.options(&["--timing", "off"]).traced();
    let found = document(&recording, &[]);
    let rows = found["requests"].as_array().unwrap();
    for row in rows {
        assert_eq!(row["first_token_ns"], Value::Null, "{row}");
        assert!(number(row, "untimed") > 0, "{row}");
    }
    let mut command = tool();
    let text = run(command.arg("requests").arg(recording.trace()))
        .expect(0)
        .out();
    assert!(text.contains("tasks without a time"), "{text}");
}
