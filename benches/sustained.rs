//! Measures which call rates can be recorded without loss, for how long, and the bytes on disk.
//!
//! `cargo bench --bench sustained [-- SECONDS]` offers the recorder paced loads from two threads and
//! prints the recorded calls, the lost calls and the cost; then it records the demos and a training
//! loop and prints the bytes of a call. A loss is no failure of the bench: the machine may not allow
//! the rate. An uncounted loss is one.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod support {
    pub(crate) mod command;
    pub(crate) mod programs;
    pub(crate) mod soft;
}

use std::path::{Path, PathBuf};
use std::process::Command;

use support::command::{Result, TOOL};
use support::programs;

const DEMOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/demo");
const THREADS: u64 = 2;
const MILLIONS: [u64; 4] = [1, 2, 5, 10];
const STEPS: &str = "2000";
const ROUNDS: &str = "1000";
/// A device with copies that take as long traced as untraced.
const DEVICE: &str = "devices=1,h2d_mbps=2000,d2h_mbps=1600,d2d_mbps=1000,memset_mbps=4000";
/// Chunks that hold no rows.
const OTHERS: [&[u8; 4]; 6] = [b"SESS", b"TABL", b"SUMM", b"INDX", b"ROOT", b"COVR"];

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let seconds = std::env::args().find_map(|word| word.parse().ok());
    let seconds: u64 = seconds.unwrap_or(10);
    let paced = programs::compile(&["paced.c"], "paced", folder.path())?;
    println!("offered M/s  made M/s  recorded  lost  bytes/call  CPU ns/call: program, recorder");
    for millions in MILLIONS {
        sustain(&paced, millions * 1_000_000, seconds, folder.path())?;
    }
    println!();
    println!("bytes per call             rows  with head and index  calls");
    let training = programs::compile(&["training.c"], "training", folder.path())?;
    let mut command = record(folder.path());
    command.arg("--soft=submit_ns=3000").arg("--").arg(training);
    weigh("training loop", command.arg(STEPS), folder.path())?;
    let demos = compile_demos(folder.path())?;
    for demo in ["overlap", "pipeline", "stall"] {
        let mut command = Command::new(TOOL);
        command.args(["demo", demo, "--no-tui", "--force", "-o"]);
        weigh(demo, command.arg(trace(folder.path())), folder.path())?;
        // A longer recording: constant parts of the file count for less.
        let mut command = record(folder.path());
        command.arg(format!("--soft={DEVICE}")).arg("--");
        command.arg(&demos).args([demo, ROUNDS]);
        let name = format!("{demo}, {ROUNDS} rounds");
        weigh(&name, &mut command, folder.path())?;
    }
    Ok(())
}

fn trace(folder: &Path) -> PathBuf {
    folder.join("bench.atrace")
}

fn record(folder: &Path) -> Command {
    let mut command = Command::new(TOOL);
    command.args(["record", "--no-tui", "--force", "-o"]);
    command.arg(trace(folder));
    command
}

/// Records a load of `rate` calls a second.
fn sustain(program: &Path, rate: u64, seconds: u64, folder: &Path) -> Result<()> {
    let mut command = record(folder);
    command.args(["--soft", "--timing", "off", "--"]);
    command
        .arg(program)
        .args([THREADS.to_string(), rate.to_string(), seconds.to_string()]);
    let (out, said) = run(&mut command)?;
    let figures: Vec<f64> = out
        .split_whitespace()
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()?;
    let [made, passed, own, recorder] = figures[..] else {
        return Err(format!("{command:?} printed {out:?}").into());
    };
    let recorded = number_before(&said, " call").ok_or("the summary names no calls")?;
    let lost = said
        .lines()
        .find(|line| line.contains("LOST") && line.contains("no room in memory"))
        .and_then(|line| number_before(line, " call"))
        .unwrap_or(0);
    let bytes = std::fs::metadata(trace(folder))?.len() as f64;
    println!(
        "{:11.1}  {:8.2}  {recorded:>8}  {lost:>4}  {:10.2}  {:.1}, {:.1}",
        rate as f64 / 1e6,
        made / passed / 1e6,
        bytes / recorded as f64,
        own * 1e9 / made,
        recorder * 1e9 / made,
    );
    // In addition to the measured calls, the program initialises, and each thread sets its device.
    let expected = made as u64 + 1 + THREADS;
    if recorded + lost != expected {
        return Err(format!("{expected} calls, but {recorded} recorded and {lost} lost").into());
    }
    Ok(())
}

/// Records a program and prints how much of the file a call takes.
fn weigh(name: &str, command: &mut Command, folder: &Path) -> Result<()> {
    let (_, said) = run(command)?;
    let calls = number_before(&said, " call").ok_or("the summary names no calls")? as f64;
    let bytes = std::fs::read(trace(folder))?;
    println!(
        "{name:25}  {:5.2}  {:19.2}  {calls:.0}",
        rows_in(&bytes) as f64 / calls,
        bytes.len() as f64 / calls
    );
    Ok(())
}

/// Bytes of the chunks that hold rows: all but the header, session, tables and index.
fn rows_in(file: &[u8]) -> usize {
    let mut rest = file.get(16..).unwrap_or_default();
    let mut rows = 0;
    while let Some(header) = rest.first_chunk::<20>() {
        let length = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        let whole = 20 + length as usize;
        if !OTHERS.iter().any(|kind| header[4..8] == **kind) {
            rows += whole;
        }
        rest = rest.get(whole..).unwrap_or_default();
    }
    rows
}

/// Output of a command that must succeed, on both streams.
fn run(command: &mut Command) -> Result<(String, String)> {
    let output = command.output()?;
    let said = String::from_utf8(output.stderr)?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}\n{said}", output.status).into());
    }
    Ok((String::from_utf8(output.stdout)?, said))
}

/// The first number before these words. It may contain commas.
fn number_before(text: &str, words: &str) -> Option<u64> {
    text.match_indices(words).find_map(|(at, _)| {
        let before = &text[..at];
        let digits = before
            .rsplit(|c: char| !c.is_ascii_digit() && c != ',')
            .next()?;
        digits.replace(',', "").parse().ok()
    })
}

/// Compiles the demos, as the tool itself holds them.
fn compile_demos(folder: &Path) -> Result<PathBuf> {
    let mut words = Vec::new();
    for file in std::fs::read_dir(DEMOS)? {
        let path = file?.path();
        if path.extension().is_some_and(|it| it == "c") {
            words.push(path.display().to_string());
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    programs::compile(&words, "demos", folder)
}
