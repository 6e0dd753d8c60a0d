//! The cost of events around tasks for threads that submit to separate streams of one device.
//!
//! `cargo bench --bench launches` runs `tests/programs/launches.c` with 1, 4 and 12 threads: on a runtime that does nothing
//! (`tests/programs/launches_library.c`), where all that threads share belongs to the tool, and on the software runtime. For each way
//! of `--timing` it prints the host time of a submission and the time of a task with its part of a synchronisation, and the latter
//! as a multiple of that of one thread. The ways take turns, and each keeps its best.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod support {
    pub(crate) mod command;
    pub(crate) mod soft;
}

use std::path::{Path, PathBuf};
use std::process::Command;

use support::command::{Result, TOOL, compile};
use support::soft;

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
const THREADS: [u64; 3] = [1, 4, 12];
const WAYS: [&str; 4] = ["bare", "off", "events", "auto"];
/// Submissions of a run, of all threads together, in batches of 50.
const TASKS: u64 = 240_000;
const BATCH: u64 = 50;
const TURNS: usize = 5;

/// The program, linked with one of the runtimes.
struct Target {
    what: &'static str,
    program: PathBuf,
    /// The software runtime is found by the folder of its library.
    is_soft: bool,
}

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for target in targets(folder.path())? {
        println!("{}", target.what);
        let mut of_one = [f64::NAN; WAYS.len()];
        for threads in THREADS {
            let mut best = [[f64::MAX; 2]; WAYS.len()];
            for _ in 0..TURNS {
                for (way, best) in WAYS.iter().zip(&mut best) {
                    let figures = run(&target, way, folder.path(), threads)?;
                    for (best, figure) in best.iter_mut().zip(figures) {
                        *best = best.min(figure);
                    }
                }
            }
            if threads == 1 {
                of_one = best.map(|[_, whole]| whole);
            }
            println!("  {threads} threads");
            for ((way, [submission, whole]), one) in WAYS.iter().zip(best).zip(of_one) {
                println!(
                    "    {way:<7} {submission:8.1} ns a submission, {whole:8.1} ns a task, x {:.2}",
                    whole / one
                );
            }
        }
    }
    Ok(())
}

/// Host time of a submission, and the time of a task with its part of the synchronisations.
fn run(target: &Target, way: &str, folder: &Path, threads: u64) -> Result<[f64; 2]> {
    let mut command = match way {
        "bare" => Command::new(&target.program),
        timing => {
            let mut command = Command::new(TOOL);
            command.args(["record", "--no-tui", "--force", "--timing", timing]);
            command.arg("-o").arg(folder.join("launches.atrace"));
            command.arg("--").arg(&target.program);
            command
        }
    };
    if target.is_soft {
        command.env("LD_LIBRARY_PATH", soft::folder("--lib-dir")?);
    }
    let batches = TASKS / BATCH / threads;
    command.args([threads, batches, BATCH].map(|number| number.to_string()));
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let figures: Vec<f64> = text
        .split_whitespace()
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()?;
    figures
        .try_into()
        .map_err(|_| format!("{command:?} printed {text:?}").into())
}

fn targets(folder: &Path) -> Result<[Target; 2]> {
    let include = soft::folder("--include-dir")?;
    let library = folder.join("libascendcl.so");
    let source = format!("{PROGRAMS}/launches_library.c");
    compile(&[&source, "-shared", "-fPIC", "-I", &include], &library)?;
    let source = format!("{PROGRAMS}/launches.c");
    let program = |name: &str, libraries: &[&str]| -> Result<PathBuf> {
        let program = folder.join(name);
        let options = [&source, "-pthread", "-I", &include];
        compile(&[&options[..], libraries].concat(), &program)?;
        Ok(program)
    };
    let nothing = library.to_str().ok_or("a path")?;
    let of_soft = soft::folder("--lib-dir")?;
    Ok([
        Target {
            what: "a runtime that does nothing",
            program: program("on_nothing", &[nothing])?,
            is_soft: false,
        },
        Target {
            what: "the software runtime",
            program: program("on_soft", &["-L", &of_soft, "-lascendcl"])?,
            is_soft: true,
        },
    ])
}
