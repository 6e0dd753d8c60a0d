//! What recording a call costs the program, against the least that a wrapper could do.
//!
//! `cargo bench --bench recorded_call` compiles a small C program and runs it three ways in turn:
//! bare, under a C wrapper that reads the clock twice and stores 64 bytes, and traced. It prints
//! the cost of a call in each, and the tracer's addition as a multiple of the wrapper's. Machines
//! are noisy, so the three take turns and each keeps its best. A run counts only if its trace holds
//! every call.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

const TOOL: &str = env!("CARGO_BIN_EXE_ascend-trace");
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/programs");
const TURNS: usize = 3;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let bench = Bench::prepare(folder.path())?;
    let (mut bare, mut wrapped, mut traced) = (f64::MAX, f64::MAX, f64::MAX);
    for _ in 0..TURNS {
        bare = bare.min(bench.bare()?);
        wrapped = wrapped.min(bench.wrapped()?);
        traced = traced.min(bench.traced()?);
    }
    println!("bare call               {bare:8.1} ns");
    println!(
        "C wrapper               {wrapped:8.1} ns, {:+.1}",
        wrapped - bare
    );
    println!(
        "traced (--timing off)   {traced:8.1} ns, {:+.1}",
        traced - bare
    );
    println!(
        "tracer / wrapper        {:8.2}",
        (traced - bare) / (wrapped - bare)
    );
    Ok(())
}

struct Bench {
    program: PathBuf,
    wrapper: PathBuf,
    libraries: String,
    folder: PathBuf,
}

impl Bench {
    fn prepare(folder: &Path) -> Result<Self> {
        let include = soft("--include-dir")?;
        let libraries = soft("--lib-dir")?;
        let program = folder.join("calls");
        compile(
            &["calls.c", "-I", &include, "-L", &libraries, "-lascendcl"],
            &program,
        )?;
        let wrapper = folder.join("wrapper.so");
        compile(
            &["wrapper.c", "-I", &include, "-shared", "-fPIC", "-ldl"],
            &wrapper,
        )?;
        Ok(Self {
            program,
            wrapper,
            libraries,
            folder: folder.to_owned(),
        })
    }

    fn bare(&self) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command.env("LD_LIBRARY_PATH", &self.libraries);
        Ok(run(&mut command)?.nanoseconds)
    }

    fn wrapped(&self) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command
            .env("LD_LIBRARY_PATH", &self.libraries)
            .env("LD_PRELOAD", &self.wrapper);
        Ok(run(&mut command)?.nanoseconds)
    }

    fn traced(&self) -> Result<f64> {
        let trace = self.folder.join("calls.atrace");
        let mut command = Command::new(TOOL);
        command.args([
            "record", "--no-tui", "--soft", "--timing", "off", "--force", "-o",
        ]);
        command.arg(&trace).arg("--").arg(&self.program);
        let run = run(&mut command)?;
        let recorded = calls_in(&trace)?;
        if recorded != run.calls {
            return Err(format!("{recorded} of {} calls were recorded", run.calls).into());
        }
        Ok(run.nanoseconds)
    }
}

/// What the program prints.
struct Run {
    nanoseconds: f64,
    calls: u64,
}

fn run(command: &mut Command) -> Result<Run> {
    let output = command.output()?;
    let text = String::from_utf8(output.stdout)?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let [nanoseconds, calls] = words[..] else {
        return Err(format!("{command:?} printed {text:?}").into());
    };
    Ok(Run {
        nanoseconds: nanoseconds.parse()?,
        calls: calls.parse()?,
    })
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

fn soft(option: &str) -> Result<String> {
    let output = Command::new(TOOL).args(["soft", option]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Compiles the first word of `words`, a file of `benches/programs`, with the rest as options.
fn compile(words: &[&str], output: &Path) -> Result<()> {
    let mut command = Command::new("cc");
    command
        .current_dir(PROGRAMS)
        .arg("-O2")
        .args(words)
        .arg("-o")
        .arg(output);
    if !command.status()?.success() {
        return Err(format!("{command:?} failed").into());
    }
    Ok(())
}
