//! Cost of a call through a stub, compared with the smallest possible wrapper, and the time to give
//! 5,000 functions stubs.
//!
//! `cargo bench --bench untyped_call` compiles a small C program and runs it three ways in turn: with a
//! library of one function that no table has, with a library that has a C wrapper around it which reads
//! the clock twice and stores 64 bytes, and traced. Then it fetches 5,000 functions by name, bare and
//! traced.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

mod support {
    pub(crate) mod calls;
    pub(crate) mod command;
}
use support::calls;
use support::command::{Result, compile};

const FUNCTIONS: usize = 5000;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let bench = Bench::prepare(folder.path())?;
    let (plain, wrapped) = (text(&bench.plain)?, text(&bench.wrapped)?);
    let many = [text(&bench.many)?, &FUNCTIONS.to_string()];
    let [bare, wrapped, traced, fetched, installed] = calls::best(|| {
        Ok([
            bench.bare(&[plain])?,
            bench.bare(&[wrapped])?,
            bench.traced(&[plain])?,
            bench.bare(&many)?,
            bench.traced(&many)?,
        ])
    })?;
    calls::print([bare, wrapped, traced], "stub", "stub");
    println!("{FUNCTIONS} fetched, bare     {:8.2} ms", fetched / 1e6);
    println!("{FUNCTIONS} with stubs        {:8.2} ms", installed / 1e6);
    Ok(())
}

struct Bench {
    program: PathBuf,
    plain: PathBuf,
    wrapped: PathBuf,
    many: PathBuf,
}

impl Bench {
    fn prepare(folder: &Path) -> Result<Self> {
        let bench = Self {
            program: folder.join("calls"),
            plain: folder.join("libopapi_plain.so"),
            wrapped: folder.join("libopapi_wrapped.so"),
            many: folder.join("libopapi_many.so"),
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
        calls::nanoseconds(Command::new(&self.program).args(words))
    }

    fn traced(&self, words: &[&str]) -> Result<f64> {
        calls::traced(&self.program, words, &[])
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| "a path is no text".into())
}
