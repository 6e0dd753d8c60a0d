//! The cost of events on a device with `--budget`, and the error of totals.
//!
//! `cargo bench --bench budget` runs the phases of `tests/programs/budget.c` on the software runtime, on a device where a
//! pair of events around a short task takes longer than the task. For each phase, with 1 and with 12 threads, it prints
//! the time of the device as a multiple of that with `--timing off`, of the whole phase and without the begin of each stream.
//! It prints the added part of the time of streams, from their first to their last task. It prints the part of the tasks that
//! were timed alone as well, the part in runs that have one time for several tasks, and the error of the total of the fills: the
//! true distance and the printed bound.
//!
//! Batches are held until they were submitted, so their time does not depend on the load of the machine. That of the idle
//! phase does: there, the run with the least time of a few turns counts.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod support {
    pub(crate) mod command;
    pub(crate) mod programs;
    pub(crate) mod soft;
}

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use support::command::{Result, TOOL};

const DEVICE: &str =
    "--soft=record_ns=1300,turn_ns=2000,switch_ns=1800,memset_ns=0,memset_mbps=1000";
const PHASES: [&str; 7] = [
    "2000", "10000", "200000", "1000000", "mixed", "idle", "graphs",
];
const THREADS: [u64; 2] = [1, 12];
/// With a default budget, and with all tasks timed: short ones in runs.
const WAYS: [&str; 2] = ["2", "off"];
/// The begin of a stream, with the first measurements of its events.
const BEGIN_NS: i64 = 150_000_000;
const TURNS_OF_IDLE: u32 = 5;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program =
        support::programs::compile(&["../../tests/programs/budget.c"], "budget", folder.path())?;
    for threads in THREADS {
        println!("{threads} threads");
        for phase in PHASES {
            let run = RecordedRun {
                folder: folder.path(),
                program: &program,
                words: [threads.to_string(), batches(phase), phase.to_owned()],
            };
            let turns = if phase == "idle" { TURNS_OF_IDLE } else { 1 };
            let plain = run.least(&["--timing", "off"], turns)?;
            for way in WAYS {
                let truth = run.least(&["--budget", way], turns)?;
                let known = run.known(truth.fills_ns)?;
                println!(
                    "  {phase:<8} --budget {way:<4} {}, {known}",
                    truth.cost(&plain)
                );
            }
        }
    }
    Ok(())
}

/// About half a second of the device's time.
fn batches(phase: &str) -> String {
    let batches = match phase {
        "2000" => 400,
        "200000" => 10,
        "1000000" => 3,
        "idle" => 60,
        "graphs" => 800,
        _ => 100,
    };
    batches.to_string()
}

struct RecordedRun<'r> {
    folder: &'r Path,
    program: &'r Path,
    words: [String; 3],
}

impl RecordedRun<'_> {
    fn trace(&self) -> PathBuf {
        self.folder.join("budget.atrace")
    }

    /// The run with the least time of this number.
    fn least(&self, options: &[&str], turns: u32) -> Result<DeviceTruth> {
        let mut least = self.record(options)?;
        for _ in 1..turns {
            let next = self.record(options)?;
            if next.makespan() < least.makespan() {
                least = next;
            }
        }
        Ok(least)
    }

    fn record(&self, options: &[&str]) -> Result<DeviceTruth> {
        let log = self.folder.join("truth");
        let _ = std::fs::remove_file(&log);
        let mut command = Command::new(TOOL);
        command.args(["record", "--no-tui", "--force", DEVICE]);
        command.args(options).arg("-o").arg(self.trace());
        command.arg("--").arg(self.program).args(&self.words);
        let output = command.env("SOFTACL_TRUTH", &log).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        DeviceTruth::read(&std::fs::read_to_string(&log)?)
    }

    /// The part of the tasks that were timed alone, the part in runs, and the total of the fills with its error.
    fn known(&self, fills_ns: i64) -> Result<String> {
        let info = self.json("info")?;
        let tasks = &info["tasks"];
        let part = |name: &str| tasks[name].as_f64().ok_or("a count");
        let timed = part("timed")? / part("count")? * 100.0;
        let in_runs = info["cost"]["run_tasks"].as_f64().ok_or("a count")?;
        let in_runs = in_runs / part("count")? * 100.0;
        let stats = self.json("stats")?;
        let rows = stats["operations"].as_array().ok_or("operations")?;
        let fill = rows.iter().find(|row| row["kind"] == "memset");
        let total = fill.and_then(|row| row["time"]["estimated_total_ns"].as_f64());
        let bound = fill.and_then(|row| row["time"]["total_error_ns"].as_f64());
        let whole = fills_ns as f64;
        let of_total = match total.zip(bound) {
            Some((total, bound)) => format!(
                "total off by {:+.2} %, bound {:.2} %",
                (total - whole) / whole * 100.0,
                bound / whole * 100.0
            ),
            None => "no total of fills".to_owned(),
        };
        Ok(format!(
            "{timed:.1} % timed, {in_runs:.1} % in runs, {of_total}"
        ))
    }

    fn json(&self, command: &str) -> Result<Value> {
        let mut tool = Command::new(TOOL);
        let output = tool.args([command, "--json"]).arg(self.trace()).output()?;
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// The device's log.
struct DeviceTruth {
    streams: Vec<StreamTruth>,
    fills_ns: i64,
}

/// The work of one stream.
#[derive(Default)]
struct StreamTruth {
    /// From its first task to its last one.
    whole_ns: i64,
    pieces: Vec<Piece>,
}

/// A batch, from the end of its hold to the end of its last task. Where no batch is held: a task, from the end of the one before
/// it.
struct Piece {
    /// Since the begin of the stream.
    begin_ns: i64,
    length_ns: i64,
}

impl DeviceTruth {
    fn read(log: &str) -> Result<Self> {
        let mut streams: BTreeMap<i64, Vec<(i64, i64, String)>> = BTreeMap::new();
        for line in log.lines() {
            let line: Value = serde_json::from_str(line)?;
            let number = |name: &str| line[name].as_i64();
            let Some(stream) = number("stream_id") else {
                continue;
            };
            let (begin, end) = number("begin_ns").zip(number("end_ns")).ok_or("times")?;
            let kind = line["kind"].as_str().unwrap_or_default().to_owned();
            streams.entry(stream).or_default().push((begin, end, kind));
        }
        let entries = streams.values().flatten();
        let fills = entries.filter(|(_, _, kind)| kind == "memset");
        let fills_ns = fills.map(|(begin, end, _)| end - begin).sum();
        // Readings of the device's clock are in the log as well, and belong to no stream.
        let streams = streams.into_values().map(StreamTruth::of);
        let streams: Vec<_> = streams.filter(|it| !it.pieces.is_empty()).collect();
        match streams.is_empty() {
            true => Err("nothing ran".into()),
            false => Ok(Self { streams, fills_ns }),
        }
    }

    fn makespan(&self) -> i64 {
        let pieces = self.streams.iter().flat_map(|stream| &stream.pieces);
        pieces.map(|piece| piece.length_ns).sum()
    }

    /// By how much it takes longer than the same work without events.
    fn cost(&self, plain: &Self) -> String {
        let (mut later, mut plain_later) = (0, 0);
        for (stream, plain) in self.streams.iter().zip(&plain.streams) {
            let pieces = stream.pieces.iter().zip(&plain.pieces);
            for (piece, plain) in pieces.filter(|(piece, _)| piece.begin_ns >= BEGIN_NS) {
                later += piece.length_ns;
                plain_later += plain.length_ns;
            }
        }
        let (makespan, plain) = (self.makespan(), plain.makespan());
        let whole: i64 = self.streams.iter().map(|stream| stream.whole_ns).sum();
        format!(
            "makespan x {:.4}, after the begin x {:.4}, {:.2} % of the streams' time",
            makespan as f64 / plain as f64,
            later as f64 / plain_later.max(1) as f64,
            (makespan - plain) as f64 / whole as f64 * 100.0
        )
    }
}

impl StreamTruth {
    fn of(mut entries: Vec<(i64, i64, String)>) -> Self {
        entries.sort();
        let Some(first) = entries.first().map(|(begin, ..)| *begin) else {
            return Self::default();
        };
        let is_held = entries.iter().any(|(_, _, kind)| kind == "hostfunc");
        let mut pieces: Vec<Piece> = Vec::new();
        let mut from = None;
        for (begin, end, kind) in &entries {
            if kind == "hostfunc" {
                from = Some(*end);
                pieces.push(Piece {
                    begin_ns: end - first,
                    length_ns: 0,
                });
            } else if kind == "memset" || kind == "graph" {
                let since = *from.get_or_insert(*begin);
                if !is_held {
                    from = Some(*end);
                    pieces.push(Piece {
                        begin_ns: since - first,
                        length_ns: 0,
                    });
                }
                if let Some(piece) = pieces.last_mut() {
                    piece.length_ns = end - since;
                }
            }
        }
        let last = entries.last().map_or(first, |(_, end, _)| *end);
        Self {
            whole_ns: last - first,
            pieces,
        }
    }
}
