//! What recording a call costs the program, against the least that a wrapper could do.
//!
//! `cargo bench --bench recorded_call` compiles a small C program and runs it three ways in turn:
//! bare, under a C wrapper that reads the clock twice and stores 64 bytes, and traced. It prints
//! the cost of a call in each, and the tracer's addition as a multiple of the wrapper's. Machines
//! are noisy, so the three take turns and each keeps its best.

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
        nanoseconds(Command::new(&self.program).env("LD_LIBRARY_PATH", &self.libraries))
    }

    fn wrapped(&self) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command
            .env("LD_LIBRARY_PATH", &self.libraries)
            .env("LD_PRELOAD", &self.wrapper);
        nanoseconds(&mut command)
    }

    fn traced(&self) -> Result<f64> {
        let mut command = Command::new(TOOL);
        command.args([
            "record", "--no-tui", "--soft", "--timing", "off", "--force", "-o",
        ]);
        command
            .arg(self.folder.join("calls.atrace"))
            .arg("--")
            .arg(&self.program);
        nanoseconds(&mut command)
    }
}

/// The one line that the program prints.
fn nanoseconds(command: &mut Command) -> Result<f64> {
    let output = command.output()?;
    let text = String::from_utf8(output.stdout)?;
    text.trim()
        .parse()
        .map_err(|_| format!("{command:?} printed {text:?}").into())
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
