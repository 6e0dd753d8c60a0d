//! What recording a call costs the program, against the least that a wrapper could do.
//!
//! `cargo bench --bench recorded_call` compiles a small C program and runs it three ways in turn:
//! bare, under a C wrapper that reads the clock twice and stores 64 bytes, and traced. It prints
//! the cost of a call in each, and the tracer's addition as a multiple of the wrapper's. Then it prints
//! the cost of a call that is not recorded, of a program that waits for a recorder and of one that is paused, and
//! what `--stacks` adds to a call with about ten frames below it.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::path::{Path, PathBuf};
use std::process::Command;

mod support {
    pub(crate) mod calls;
    pub(crate) mod command;
    pub(crate) mod soft;
}
use support::calls;
use support::command::{Result, TOOL, compile};
use support::soft;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let bench = Bench::prepare(folder.path())?;
    let costs = calls::best(|| {
        let wrapper = Some(bench.wrapper.as_path());
        Ok([bench.own(None)?, bench.own(wrapper)?, bench.traced()?])
    })?;
    calls::print(costs, "traced (--timing off)", "tracer");
    let [bare, armed, paused] =
        calls::best(|| Ok([bench.own(None)?, bench.armed()?, bench.paused()?]))?;
    for (name, cost) in [("armed", armed), ("paused", paused)] {
        println!("{name:<23} {cost:8.1} ns, {:+.1}", cost - bare);
    }
    let [without, with] = calls::best(|| Ok([bench.deep(&[])?, bench.deep(&["--stacks"])?]))?;
    println!("ten frames, traced      {without:8.1} ns");
    println!(
        "with --stacks           {with:8.1} ns, {:+.1}",
        with - without
    );
    println!("with / without          {:8.2}", with / without);
    Ok(())
}

struct Bench {
    program: PathBuf,
    /// Makes its calls from a deep stack.
    deep: PathBuf,
    wrapper: PathBuf,
    libraries: String,
}

impl Bench {
    fn prepare(folder: &Path) -> Result<Self> {
        let include = soft::folder("--include-dir")?;
        let libraries = soft::folder("--lib-dir")?;
        let program = folder.join("calls");
        compile(
            &["calls.c", "-I", &include, "-L", &libraries, "-lascendcl"],
            &program,
        )?;
        let deep = folder.join("deep_calls");
        let source = ["deep_calls.c", "-I", &include, "-L", &libraries];
        compile(&[&source[..], &["-lascendcl"]].concat(), &deep)?;
        let wrapper = folder.join("wrapper.so");
        compile(
            &["wrapper.c", "-I", &include, "-shared", "-fPIC", "-ldl"],
            &wrapper,
        )?;
        Ok(Self {
            program,
            deep,
            wrapper,
            libraries,
        })
    }

    /// The program on its own, or with a library loaded before the others.
    fn own(&self, preloaded: Option<&Path>) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command.env("LD_LIBRARY_PATH", &self.libraries);
        if let Some(library) = preloaded {
            command.env("LD_PRELOAD", library);
        }
        calls::nanoseconds(&mut command)
    }

    fn traced(&self) -> Result<f64> {
        calls::traced(&self.program, &[], &["--soft"])
    }

    /// The program while it waits for a recorder.
    fn armed(&self) -> Result<f64> {
        let mut command = Command::new(TOOL);
        command.args(["arm", "--soft", "--"]).arg(&self.program);
        calls::nanoseconds(&mut command)
    }

    /// The program in a recording that is paused until its end.
    fn paused(&self) -> Result<f64> {
        let mut command = Command::new(TOOL);
        command.args(["record", "--no-tui", "--timing", "off", "--force", "--soft"]);
        command.args(["--paused", "-o"]);
        command.arg(self.program.with_extension("paused.atrace"));
        command.arg("--").arg(&self.program);
        calls::nanoseconds(&mut command)
    }

    fn deep(&self, options: &[&str]) -> Result<f64> {
        calls::traced(&self.deep, &[], &[&["--soft"], options].concat())
    }
}
