//! The cost of events on a device with `--budget`, and the error of totals.
//!
//! `cargo bench --bench budget` runs the phases of `tests/programs/budget.c` on the software runtime, on a device where a
//! pair of events around a short task takes longer than the task. For each phase, with 1 and with 12 threads, it prints
//! the time of the device as a multiple of that with `--timing off`, the timed part of the tasks, and the error of the
//! total of the fills: the true distance and the printed bound.

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
/// With a default budget, and with events around all tasks.
const WAYS: [&str; 2] = ["2", "off"];

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
            let plain = run.record(&["--timing", "off"])?.makespan;
            for way in WAYS {
                let truth = run.record(&["--budget", way])?;
                let known = run.known(truth.fills_ns)?;
                println!(
                    "  {phase:<8} --budget {way:<4} makespan x {:.4}, {known}",
                    truth.makespan as f64 / plain as f64
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
        "idle" => 20,
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

    /// The timed part of the tasks, and the total of the fills with its error.
    fn known(&self, fills_ns: i64) -> Result<String> {
        let tasks = &self.json("info")?["tasks"];
        let part = |name: &str| tasks[name].as_f64().ok_or("a count");
        let timed = part("timed")? / part("count")? * 100.0;
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
        Ok(format!("{timed:.1} % timed, {of_total}"))
    }

    fn json(&self, command: &str) -> Result<Value> {
        let mut tool = Command::new(TOOL);
        let output = tool.args([command, "--json"]).arg(self.trace()).output()?;
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// Sums of the device's log.
struct DeviceTruth {
    /// From the end of what held a batch up to the end of its last task; where nothing is held, from the first task to
    /// the last one. Of all streams.
    makespan: i64,
    fills_ns: i64,
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
        let (mut makespan, mut fills_ns) = (0, 0);
        for entries in streams.values_mut() {
            entries.sort();
            let (mut from, mut last) = (None, None);
            for (begin, end, kind) in entries {
                match kind.as_str() {
                    "hostfunc" => {
                        makespan += spent(from, last);
                        (from, last) = (Some(*end), None);
                    }
                    "memset" | "graph" => {
                        from = from.or(Some(*begin));
                        last = Some(*end);
                    }
                    _ => {}
                }
                if kind == "memset" {
                    fills_ns += *end - *begin;
                }
            }
            makespan += spent(from, last);
        }
        match makespan {
            0 => Err("nothing ran".into()),
            _ => Ok(Self { makespan, fills_ns }),
        }
    }
}

fn spent(from: Option<i64>, last: Option<i64>) -> i64 {
    from.zip(last).map_or(0, |(from, last)| last - from)
}
