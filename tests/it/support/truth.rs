//! The software runtime's log of the real times, compared with a trace.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::tables::{CsvRow, Table};

/// `ACL_EVENT_TIME_LINE` alone: the flags of the tracer's events. No program of these tests makes such
/// events.
const TRACERS_FLAGS: i64 = 8;

/// One task that was executed.
#[derive(Clone, Debug)]
pub(crate) struct TruthLogTask {
    pub(crate) pid: i64,
    pub(crate) device: i64,
    pub(crate) stream_id: i64,
    pub(crate) seq: i64,
    pub(crate) kind: String,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    /// How the event was made, for records and waits.
    flags: Option<i64>,
}

impl TruthLogTask {
    pub(crate) fn is_tracers(&self) -> bool {
        self.kind == "record" && self.flags == Some(TRACERS_FLAGS)
    }
}

/// One stream of one process: process, device, id, and how many streams had that id before it.
type Lane = (i64, i64, i64, usize);

/// Reads a log.
#[track_caller]
pub(crate) fn read(path: &Path) -> Vec<TruthLogTask> {
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = |line| serde_json::from_str(line).expect("a JSON object a line");
    entries(text.lines().map(parsed))
}

/// A device's counter, as the driver read it.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) device: i64,
    pub(crate) at: i64,
    pub(crate) count: i64,
}

/// The driver's readings, in a log.
#[track_caller]
pub(crate) fn readings(path: &Path) -> Vec<Reading> {
    clocks(path, "clock")
}

/// Where msPTI's clocks of devices were once, in a log.
#[track_caller]
pub(crate) fn log_clocks(path: &Path) -> Vec<Reading> {
    clocks(path, "log clock")
}

#[track_caller]
fn clocks(path: &Path, kind: &str) -> Vec<Reading> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .map(|line| -> Value { serde_json::from_str(line).unwrap() });
    let own = lines.filter(|line| line["kind"] == kind);
    let number = |line: &Value, name: &str| line[name].as_i64().unwrap();
    own.map(|line| Reading {
        device: number(&line, "device"),
        at: number(&line, "begin_ns"),
        count: number(&line, "count"),
    })
    .collect()
}

fn is_reading(line: &Value) -> bool {
    line["kind"] == "clock" || line["kind"] == "log clock"
}

/// A node of a graph ran, as only msPTI reports.
fn is_node(line: &Value) -> bool {
    line["kind"] == "node"
}

/// The nodes of graphs that ran, in a log.
#[track_caller]
pub(crate) fn nodes(path: &Path) -> Vec<TruthLogTask> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .map(|line| -> Value { serde_json::from_str(line).unwrap() });
    lines.filter(is_node).map(|line| entry(&line)).collect()
}

/// Reads a log of processes that were killed: they leave lines that are not whole.
#[track_caller]
pub(crate) fn read_torn(path: &Path) -> Vec<TruthLogTask> {
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = |line| serde_json::from_str(line).ok();
    entries(text.lines().filter_map(parsed))
}

#[track_caller]
fn entries(lines: impl Iterator<Item = Value>) -> Vec<TruthLogTask> {
    let tasks = lines.filter(|line| !is_reading(line) && !is_node(line));
    tasks.map(|line| entry(&line)).collect()
}

#[track_caller]
fn entry(line: &Value) -> TruthLogTask {
    let number = |name: &str| {
        line[name]
            .as_i64()
            .unwrap_or_else(|| panic!("{name}: {line}"))
    };
    TruthLogTask {
        pid: number("pid"),
        device: number("device"),
        stream_id: number("stream_id"),
        seq: number("seq"),
        kind: line["kind"].as_str().unwrap().to_owned(),
        begin: number("begin_ns"),
        end: number("end_ns"),
        flags: line["flags"].as_i64(),
    }
}

/// Splits things into streams. An id is used again when its stream has ended; then the numbers of the
/// tasks begin again.
fn lanes<T>(
    entities: Vec<T>,
    place: impl Fn(&T) -> (i64, i64, i64, i64),
) -> BTreeMap<Lane, Vec<T>> {
    let mut lives: BTreeMap<(i64, i64, i64), (usize, i64)> = BTreeMap::new();
    let mut lanes: BTreeMap<Lane, Vec<T>> = BTreeMap::new();
    for entity in entities {
        let (pid, device, stream, seq) = place(&entity);
        let (life, last) = lives.entry((pid, device, stream)).or_insert((0, -1));
        if seq <= *last {
            *life += 1;
        }
        *last = seq;
        lanes
            .entry((pid, device, stream, *life))
            .or_default()
            .push(entity);
    }
    lanes
}

/// Matches every task of a trace with its entry in the log, by its place on its stream. Fails when one
/// has a task that the other does not have.
#[track_caller]
pub(crate) fn matched<'t>(tasks: &'t Table, log: &Path) -> Vec<(&'t CsvRow, TruthLogTask)> {
    // Time that the host took to see that work is done is no task.
    let is_task = |entry: &TruthLogTask| !entry.is_tracers() && entry.kind != "completion";
    let entries = read(log).into_iter().filter(is_task);
    let mut truth = lanes(entries.collect(), |entry| {
        (entry.pid, entry.device, entry.stream_id, entry.seq)
    });
    // A captured task is a node of a graph, and did not run.
    let ran = tasks
        .iter()
        .filter(|task| task.text("untimed") != "captured");
    let traced = lanes(ran.collect(), |task| {
        let number = |name| task.number(name);
        (
            number("pid"),
            number("device"),
            number("stream_id"),
            number("seq"),
        )
    });
    let streams = |lanes: Vec<&Lane>| format!("{lanes:?}");
    assert_eq!(
        streams(traced.keys().collect()),
        streams(truth.keys().collect())
    );
    let mut pairs = Vec::new();
    for (lane, tasks) in traced {
        let entries = truth.remove(&lane).unwrap();
        let kinds: Vec<_> = tasks.iter().map(|task| task.text("kind")).collect();
        let true_kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
        assert_eq!(kinds, true_kinds, "on stream {lane:?}");
        pairs.extend(tasks.into_iter().zip(entries));
    }
    pairs
}
