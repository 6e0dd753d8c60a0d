//! What each source of times costs the device when kernels take two microseconds.
//!
//! `cargo bench --bench short_kernels` runs batches of 400 kernels, each held back until all of it has
//! been submitted, and reads from the software runtime's log how long the device needed for them, in
//! each way of `--timing`. An event record takes 1.5 us there, as on a card. The ways take turns; the
//! reference time of the device is computed and the same in each.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod support {
    pub(crate) mod command;
    pub(crate) mod programs;
    pub(crate) mod soft;
}

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use support::command::{Result, TOOL};

const WAYS: [&str; 6] = ["off", "hardware", "both", "events", "chained", "auto"];
const LENGTHS_NS: [u64; 3] = [2_000, 5_000, 10_000];
const TURNS: usize = 3;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = support::programs::compile(&["short_kernels.c"], "short_kernels", folder.path())?;
    for length in LENGTHS_NS {
        let mut best = [[f64::MAX; 2]; WAYS.len()];
        for _ in 0..TURNS {
            for (way, best) in WAYS.iter().zip(&mut best) {
                let figures = run(way, &program, folder.path(), length)?;
                for (best, figure) in best.iter_mut().zip(figures) {
                    *best = best.min(figure);
                }
            }
        }
        println!("kernels of {length} ns");
        let [[_, whole], ..] = best;
        for (way, [submission, makespan]) in WAYS.iter().zip(best) {
            println!(
                "  {way:<9} makespan x {:.4}, {submission:7.0} ns a submission",
                makespan / whole
            );
        }
    }
    Ok(())
}

/// Host time of a submission, and the time that the device needed for all batches.
fn run(way: &str, program: &Path, folder: &Path, length: u64) -> Result<[f64; 2]> {
    let truth = folder.join("truth");
    let _ = std::fs::remove_file(&truth);
    let mut command = Command::new(TOOL);
    command.args(["record", "--no-tui", "--force", "--timing", way]);
    command.arg(format!("--soft=launch_ns={length},record_ns=1500"));
    command.arg("-o").arg(folder.join("short.atrace"));
    command.arg("--").arg(program);
    command.env("SOFTACL_TRUTH", &truth);
    let text = String::from_utf8(command.output()?.stdout)?;
    let submission = text.trim().parse()?;
    Ok([submission, makespan(&std::fs::read_to_string(&truth)?)?])
}

/// From the end of what held a batch up to the end of its last task, of all batches.
fn makespan(truth: &str) -> Result<f64> {
    let (mut held, mut last, mut sum) = (None, None, 0);
    for line in truth.lines() {
        let line: Value = serde_json::from_str(line)?;
        let end = line["end_ns"].as_i64().ok_or("an entry has an end")?;
        match line["kind"].as_str() {
            Some("hostfunc") => {
                sum += spent(held, last);
                (held, last) = (Some(end), None);
            }
            Some("kernel") => last = last.max(Some(end)),
            _ => {}
        }
    }
    match sum + spent(held, last) {
        0 => Err("nothing ran".into()),
        sum => Ok(sum as f64),
    }
}

fn spent(held: Option<i64>, last: Option<i64>) -> i64 {
    held.zip(last).map_or(0, |(held, last)| last - held)
}
