//! What timing a task costs the program, against the runtime's own two event records.
//!
//! `cargo bench --bench timed_task` runs a small C program on softacl with tasks of several durations:
//! bare, recording two of the program's events around each task, and traced in each way of `--timing`.
//! It prints host time per submission and the change of the duration of a batch. The ways take turns
//! and each keeps its best.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod support {
    pub(crate) mod command;
    pub(crate) mod programs;
    pub(crate) mod soft;
}

use std::path::Path;
use std::process::Command;

use support::command::{Result, TOOL};
use support::soft;

/// Memory is filled at this rate, so that lengths can be chosen by bytes.
const SOFT: &str = "memset_ns=0,memset_mbps=1000";
const LENGTHS_US: [u64; 4] = [5, 20, 100, 1000];
const TURNS: usize = 3;
const WAYS: [&str; 6] = [
    "bare",
    "two events",
    "events",
    "chained",
    "sample=10",
    "off",
];

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = support::programs::compile(&["tasks.c"], "tasks", folder.path())?;
    for length in LENGTHS_US {
        let mut best = [[f64::MAX; 2]; WAYS.len()];
        for _ in 0..TURNS {
            for (way, best) in WAYS.iter().zip(&mut best) {
                let figures = run(way, &program, folder.path(), length)?;
                for (best, figure) in best.iter_mut().zip(figures) {
                    *best = best.min(figure);
                }
            }
        }
        println!("tasks of {length} us");
        let [[bare, whole], [own, _], ..] = best;
        for (way, [submission, makespan]) in WAYS.iter().zip(best) {
            println!(
                "  {way:<12} {submission:8.1} ns a submission, {:+8.1}, {:6.2} x two events, makespan x {:.3}",
                submission - bare,
                (submission - bare) / (own - bare),
                makespan / whole,
            );
        }
    }
    Ok(())
}

fn run(way: &str, program: &Path, folder: &Path, length_us: u64) -> Result<[f64; 2]> {
    let bytes = (length_us * 1000).to_string();
    let batches = (200_000 / (length_us * 200)).clamp(2, 100).to_string();
    let mut command = match way {
        "bare" | "two events" => {
            let mut command = Command::new(program);
            command.env("LD_LIBRARY_PATH", soft::folder("--lib-dir")?);
            command.env("SOFTACL", SOFT);
            command
        }
        timing => {
            let mut command = Command::new(TOOL);
            command.args(["record", "--no-tui", "--force", "--timing", timing]);
            command.arg(format!("--soft={SOFT}"));
            command.arg("-o").arg(folder.join("tasks.atrace"));
            command.arg("--").arg(program);
            command
        }
    };
    command.args([&bytes, "200", &batches]);
    if way == "two events" {
        command.arg("events");
    }
    let text = String::from_utf8(command.output()?.stdout)?;
    let figures: Vec<f64> = text
        .split_whitespace()
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()?;
    figures
        .try_into()
        .map_err(|_| format!("{command:?} printed {text:?}").into())
}
