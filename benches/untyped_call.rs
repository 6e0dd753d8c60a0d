//! What a call costs through a stub, against the least that a wrapper could do, and how long it takes to
//! give 5,000 functions stubs.
//!
//! `cargo bench --bench untyped_call` compiles a small C program and runs it three ways in turn: with a
//! library of one function that no table has, with a library that has a C wrapper around it which reads
//! the clock twice and stores 64 bytes, and traced. Then it fetches 5,000 functions by name, bare and
//! traced. Machines are noisy, so all take turns and each keeps its best. A run counts only if its
//! trace holds every call.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const TOOL: &str = env!("CARGO_BIN_EXE_ascend-trace");
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/programs");
const TURNS: usize = 3;
const FUNCTIONS: usize = 5000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let bench = Bench::prepare(folder.path())?;
    let (mut bare, mut wrapped, mut traced) = (f64::MAX, f64::MAX, f64::MAX);
    let (mut fetched, mut installed) = (f64::MAX, f64::MAX);
    for _ in 0..TURNS {
        bare = bare.min(bench.bare(&[text(&bench.plain)?])?);
        wrapped = wrapped.min(bench.bare(&[text(&bench.wrapped)?])?);
        traced = traced.min(bench.traced(&[text(&bench.plain)?])?);
        let many = [text(&bench.many)?, &FUNCTIONS.to_string()];
        fetched = fetched.min(bench.bare(&many)?);
        installed = installed.min(bench.traced(&many)?);
    }
    println!("bare call               {bare:8.1} ns");
    println!(
        "C wrapper               {wrapped:8.1} ns, {:+.1}",
        wrapped - bare
    );
    println!(
        "stub                    {traced:8.1} ns, {:+.1}",
        traced - bare
    );
    println!(
        "stub / wrapper          {:8.2}",
        (traced - bare) / (wrapped - bare)
    );
    println!("{FUNCTIONS} fetched, bare     {:8.2} ms", fetched / 1e6);
    println!("{FUNCTIONS} with stubs        {:8.2} ms", installed / 1e6);
    Ok(())
}

struct Bench {
    program: PathBuf,
    plain: PathBuf,
    wrapped: PathBuf,
    many: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn prepare(folder: &Path) -> Result<Self> {
        let bench = Self {
            program: folder.join("calls"),
            plain: folder.join("libopapi_plain.so"),
            wrapped: folder.join("libopapi_wrapped.so"),
            many: folder.join("libopapi_many.so"),
            folder: folder.to_owned(),
        };
        let library = ["untyped_library.c", "-shared", "-fPIC"];
        compile(&["untyped_calls.c", "-ldl"], &bench.program)?;
        compile(&library, &bench.plain)?;
        compile(&[&library[..], &["-DWRAPPED"]].concat(), &bench.wrapped)?;
        let mut source = String::new();
        for number in 0..FUNCTIONS {
            writeln!(
                source,
                "int aclnnOwn{number:05}GetWorkspaceSize(void) {{ return {number}; }}"
            )?;
        }
        let file = folder.join("many.c");
        std::fs::write(&file, source)?;
        compile(&[text(&file)?, "-shared", "-fPIC"], &bench.many)?;
        Ok(bench)
    }

    fn bare(&self, words: &[&str]) -> Result<f64> {
        Ok(run(Command::new(&self.program).args(words))?.nanoseconds)
    }

    fn traced(&self, words: &[&str]) -> Result<f64> {
        let trace = self.folder.join("calls.atrace");
        let mut command = Command::new(TOOL);
        command.args(["record", "--no-tui", "--timing", "off", "--force", "-o"]);
        command.arg(&trace).arg("--").arg(&self.program).args(words);
        let run = run(&mut command)?;
        let recorded = calls_in(&trace)?;
        if recorded != run.calls {
            return Err(format!("{recorded} of {} calls were recorded", run.calls).into());
        }
        Ok(run.nanoseconds)
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| "a path is no text".into())
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

/// Compiles the first word of `words` with the rest as options.
fn compile(words: &[&str], output: &Path) -> Result<()> {
    let mut command = Command::new("cc");
    command
        .current_dir(PROGRAMS)
        .arg("-O2")
        .args(words)
        .arg("-o")
        .arg(output);
    match command.status()?.success() {
        true => Ok(()),
        false => Err(format!("{command:?} failed").into()),
    }
}
