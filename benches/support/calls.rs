//! Shared by the benches of one call: programs that print the duration of a call, run bare and traced,
//! and the comparison of their costs. Machines are noisy, so all ways take turns and each keeps its
//! best. A traced run counts only if its trace contains every call.

use std::path::Path;
use std::process::Command;

use super::command::{Result, TOOL};

const TURNS: usize = 3;

/// The best figure of each way after a few turns.
pub(crate) fn best<const WAYS: usize>(
    mut turn: impl FnMut() -> Result<[f64; WAYS]>,
) -> Result<[f64; WAYS]> {
    let mut best = [f64::MAX; WAYS];
    for _ in 0..TURNS {
        for (best, figure) in best.iter_mut().zip(turn()?) {
            *best = best.min(figure);
        }
    }
    Ok(best)
}

/// Prints the cost of a call bare, with the smallest wrapper, and traced. The call has a full name and
/// a short one.
pub(crate) fn print([bare, wrapped, traced]: [f64; 3], name: &str, short: &str) {
    println!("bare call               {bare:8.1} ns");
    println!(
        "C wrapper               {wrapped:8.1} ns, {:+.1}",
        wrapped - bare
    );
    println!("{name:<23} {traced:8.1} ns, {:+.1}", traced - bare);
    println!(
        "{:<23} {:8.2}",
        format!("{short} / wrapper"),
        (traced - bare) / (wrapped - bare)
    );
}

/// The nanoseconds that a program prints.
pub(crate) fn nanoseconds(command: &mut Command) -> Result<f64> {
    Ok(run(command)?.0)
}

/// The same of a program and its arguments under the tracer, with further options of `record`.
pub(crate) fn traced(program: &Path, words: &[&str], options: &[&str]) -> Result<f64> {
    let trace = program.with_extension("atrace");
    let mut command = Command::new(TOOL);
    command.args(["record", "--no-tui", "--timing", "off", "--force"]);
    command.args(options).arg("-o").arg(&trace);
    command.arg("--").arg(program).args(words);
    let (nanoseconds, calls) = run(&mut command)?;
    let recorded = calls_in(&trace)?;
    if recorded != calls {
        return Err(format!("{recorded} of {calls} calls were recorded").into());
    }
    Ok(nanoseconds)
}

/// The output of the program: nanoseconds, and the number of its calls.
fn run(command: &mut Command) -> Result<(f64, u64)> {
    let output = command.output()?;
    let text = String::from_utf8(output.stdout)?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let [nanoseconds, calls] = words[..] else {
        return Err(format!("{command:?} printed {text:?}").into());
    };
    Ok((nanoseconds.parse()?, calls.parse()?))
}

fn calls_in(trace: &Path) -> Result<u64> {
    let output = Command::new(TOOL)
        .arg("info")
        .arg("--json")
        .arg(trace)
        .output()?;
    let info: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let calls = info
        .pointer("/calls/count")
        .and_then(serde_json::Value::as_u64);
    calls.ok_or_else(|| "info --json names no number of calls".into())
}
