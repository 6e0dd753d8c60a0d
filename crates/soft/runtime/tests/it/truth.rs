//! The truth log: every task once, and the times of the documented model to the nanosecond.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{compile, library_dir, programs_dir, run, scratch};

const SUBMIT_NS: u64 = 3000;
const COPY_NS: u64 = 1500 + 2000;
const MEMSET_NS: u64 = 1000 + 120;

#[derive(Debug, Clone)]
struct Task {
    device: u64,
    stream_id: u64,
    seq: u64,
    kind: String,
    begin: u64,
    end: u64,
    event: Option<u64>,
}

fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.split_once(&format!("\"{name}\":"))?.1;
    Some(rest.split([',', '}']).next()?.trim_matches('"'))
}

fn read(log: &PathBuf) -> Vec<Task> {
    let text = std::fs::read_to_string(log).unwrap();
    let number = |line: &str, name: &str| field(line, name).unwrap().parse::<u64>().unwrap();
    text.lines()
        .map(|line| {
            assert!(
                line.starts_with("{\"device\":") && line.ends_with('}'),
                "{line}"
            );
            Task {
                device: number(line, "device"),
                stream_id: number(line, "stream_id"),
                seq: number(line, "seq"),
                kind: field(line, "kind").unwrap().to_owned(),
                begin: number(line, "begin_ns"),
                end: number(line, "end_ns"),
                event: field(line, "event").map(|id| id.parse().unwrap()),
            }
        })
        .collect()
}

fn fresh(name: &str) -> PathBuf {
    let log = scratch("truth").join(format!("{name}-{}.jsonl", std::process::id()));
    let _ = std::fs::remove_file(&log);
    log
}

/// A submission as the program saw it: kind, and host times around the call.
type Submission = (String, u64, u64);

fn by_stream(tasks: Vec<Task>) -> HashMap<(u64, u64), Vec<Task>> {
    let mut streams: HashMap<_, Vec<Task>> = HashMap::new();
    for task in tasks {
        streams
            .entry((task.device, task.stream_id))
            .or_default()
            .push(task);
    }
    streams
}

#[test]
fn the_log_holds_every_task_with_the_times_of_the_model() {
    let log = fresh("model");
    let program = compile(&programs_dir().join("tools/timeline.c"));
    let env = [
        ("SOFTACL", "tick_ns=1"),
        ("SOFTACL_TRUTH", log.to_str().unwrap()),
    ];
    let output = run(&program, library_dir(), &env, Duration::from_secs(300)).unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let mut submitted: HashMap<(u64, u64), Vec<Submission>> = HashMap::new();
    for line in said.lines().filter_map(|line| line.strip_prefix("task ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| words[index].parse().unwrap();
        let list = submitted.entry((number(0), number(1))).or_default();
        list.push((words[2].to_owned(), number(3), number(4)));
    }
    let tasks = read(&log);
    assert_eq!(tasks.len(), 2 * 20 * 9);
    check_waits(&tasks);
    check_stamps(&said, &tasks);
    let streams = by_stream(tasks);
    assert_eq!(streams.len(), submitted.len());
    for (stream, tasks) in &streams {
        check_stream(tasks, &submitted[stream]);
    }
    let _ = std::fs::remove_file(log);
}

/// A record takes the device's time, and the event's time is its end.
#[test]
fn records_take_the_time_that_the_options_give_them() {
    let log = fresh("records");
    let program = compile(&programs_dir().join("tools/records.c"));
    let env = [
        ("SOFTACL", "tick_ns=1,record_ns=1000,record_jitter_ns=400"),
        ("SOFTACL_TRUTH", log.to_str().unwrap()),
    ];
    let output = run(&program, library_dir(), &env, Duration::from_secs(60)).unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let spans = said.lines().filter_map(|line| line.strip_prefix("span "));
    let spans: Vec<u64> = spans.map(|text| text.parse().unwrap()).collect();
    let tasks = read(&log);
    let records: Vec<&Task> = tasks.iter().filter(|task| task.kind == "record").collect();
    assert_eq!((records.len(), spans.len()), (200, 100));
    let lengths: Vec<u64> = records.iter().map(|task| task.end - task.begin).collect();
    assert!(lengths.iter().all(|length| (1000..=1400).contains(length)));
    let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
    assert!(most - least > 300, "from {least} to {most}");
    for (pair, span) in records.chunks(2).zip(spans) {
        assert_eq!(pair[1].end - pair[0].end, span);
        assert_eq!(span, 3500 + (pair[1].end - pair[1].begin));
    }
    let _ = std::fs::remove_file(log);
}

/// Between two tasks, and between a record and its neighbours, the device takes the time that the options give it.
#[test]
fn the_log_has_the_time_between_two_tasks() {
    let log = fresh("transitions");
    let program = compile(&programs_dir().join("tools/records.c"));
    let options = "tick_ns=1,record_ns=1000,turn_ns=2000,turn_jitter_ns=300,switch_ns=700";
    let env = [
        ("SOFTACL", options),
        ("SOFTACL_TRUTH", log.to_str().unwrap()),
    ];
    let output = run(&program, library_dir(), &env, Duration::from_secs(60)).unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let number = |line: &str, key: &str| -> Option<u64> {
        let (_, rest) = line.split_once(&format!("\"{key}\":"))?;
        rest.split([',', '}']).next()?.parse().ok()
    };
    let mut turns = Vec::new();
    for pair in lines.windows(2) {
        let [before, task] = [pair[0], pair[1]];
        let [from_record, to_record] = [before, task].map(|it| it.contains("\"kind\":\"record\""));
        let after = number(task, "begin_ns").unwrap() - number(before, "end_ns").unwrap();
        let (switch, turn) = (number(task, "switch_ns"), number(task, "turn_ns"));
        match (from_record, to_record) {
            (true, true) => assert_eq!((switch, turn), (None, None)),
            (false, false) => assert_eq!((switch, turn), (Some(700), None)),
            _ => {
                let turn = turn.unwrap();
                assert!((2000..=2300).contains(&turn) && after >= turn, "{task}");
                turns.push(turn);
            }
        }
    }
    assert!(turns.len() >= 200, "{}", turns.len());
    assert!(turns.iter().max().unwrap() - turns.iter().min().unwrap() > 200);
    let _ = std::fs::remove_file(log);
}

/// Order, begins and durations along one stream.
#[track_caller]
fn check_stream(tasks: &[Task], submitted: &[Submission]) {
    assert_eq!(tasks.len(), submitted.len());
    let mut previous_end = 0;
    for (index, (task, (kind, before, after))) in tasks.iter().zip(submitted).enumerate() {
        assert_eq!((task.seq, &task.kind), (index as u64, kind));
        let earliest = previous_end.max(before + SUBMIT_NS);
        let latest = previous_end.max(after + SUBMIT_NS);
        // A thread of the host runs the function some time after the stream reached it.
        let latest = if kind == "hostfunc" { u64::MAX } else { latest };
        assert!(
            (earliest..=latest).contains(&task.begin),
            "{task:?}: {earliest} to {latest}"
        );
        let duration = task.end - task.begin;
        match kind.as_str() {
            "memcpy" => assert_eq!(duration, COPY_NS),
            "memset" => assert_eq!(duration, MEMSET_NS),
            "record" | "value" => assert_eq!(duration, 0),
            _ => {}
        }
        previous_end = task.end;
    }
}

/// Every wait ends with the record that was the latest of its event, or at its begin.
#[track_caller]
fn check_waits(tasks: &[Task]) {
    let mut records: HashMap<u64, Vec<&Task>> = HashMap::new();
    let mut waits: HashMap<u64, Vec<&Task>> = HashMap::new();
    for task in tasks {
        match (task.kind.as_str(), task.event) {
            ("record", Some(event)) => records.entry(event).or_default().push(task),
            ("wait", Some(event)) => waits.entry(event).or_default().push(task),
            _ => {}
        }
    }
    assert_eq!(waits.len(), 2);
    for (event, waits) in waits {
        // The program records and waits in turn, so the n-th wait belongs to the n-th record.
        assert_eq!(waits.len(), records[&event].len());
        for (wait, record) in waits.iter().zip(&records[&event]) {
            assert_eq!(
                wait.end,
                wait.begin.max(record.end),
                "{wait:?} of {record:?}"
            );
        }
    }
}

/// The program's own timestamps are those of the log: the clock has no offset, drift or tick.
#[track_caller]
fn check_stamps(said: &str, tasks: &[Task]) {
    let stamps: Vec<Vec<u64>> = said
        .lines()
        .filter_map(|line| line.strip_prefix("stamp "))
        .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
        .collect();
    assert_eq!(stamps.len(), 2);
    for stamp in stamps {
        let own = |task: &&Task| task.device == stamp[0] && task.stream_id == stamp[1];
        let last = tasks.iter().rfind(own).unwrap();
        assert_eq!(last.end / 1000, stamp[2]);
    }
}

/// A replay is one task, as long as the longest way through its graph.
#[test]
fn a_replay_is_one_line_with_the_time_of_its_longest_lane() {
    const MEMSET: u64 = 1000 + 100;
    const H2D: u64 = 1500 + 1000;
    const D2H: u64 = 1500 + 2000;
    let log = fresh("replays");
    let program = compile(&programs_dir().join("tools/replays.c"));
    let env = [("SOFTACL_TRUTH", log.to_str().unwrap())];
    let output = run(&program, library_dir(), &env, Duration::from_secs(300)).unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let runs = said.lines().find_map(|line| line.strip_prefix("runs "));
    let runs: u64 = runs.unwrap().parse().unwrap();
    let tasks = read(&log);
    assert_eq!(tasks.len(), 16, "{tasks:#?}");
    for (index, pair) in tasks.chunks(2).enumerate() {
        let [before, graph] = pair else {
            panic!("{pair:?}")
        };
        let seq = 2 * index as u64;
        assert_eq!((before.stream_id, before.seq), (runs, seq));
        assert_eq!(
            (before.kind.as_str(), before.end - before.begin),
            ("memset", MEMSET)
        );
        assert_eq!((graph.stream_id, graph.seq), (runs, seq + 1));
        assert_eq!(graph.kind, "graph");
        assert!(graph.begin >= before.end, "{pair:?}");
        assert_eq!(graph.end - graph.begin, H2D + D2H.max(MEMSET) + MEMSET);
    }
    let _ = std::fs::remove_file(log);
}

#[test]
fn a_killed_process_leaves_its_earlier_lines() {
    let log = fresh("killed");
    let mut child = Command::new(compile(&programs_dir().join("tools/timeline.c")))
        .arg("hold")
        .env("LD_LIBRARY_PATH", library_dir())
        .env("SOFTACL_TRUTH", &log)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_done = lines.any(|line| line.is_ok_and(|line| line == "done"));
    // The engine writes when it comes to rest; there is nothing to wait for but its file. The last line may be there
    // in part.
    let begin = Instant::now();
    let whole_lines = || {
        std::fs::read(&log)
            .unwrap_or_default()
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
    };
    while is_done && whole_lines() < 2 * 20 * 9 && begin.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(10));
    }
    // Before anything can fail: who is left behind holds what this test prints to.
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(read(&log).len(), 2 * 20 * 9);
    let _ = std::fs::remove_file(log);
}
