//! Puts the interposer into a program that was started without it (`attach --inject`).
//!
//! A thread of the program that waits in a system call loads the library, and then makes the process one that recorders attach to
//! (`interposer/src/late_start.rs`). The other threads run on. The program is refused, and nothing in it changes, where
//! any of this is uncertain.

mod checks;
mod functions;
mod loading;
mod memory;
mod waiting_threads;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use ascend_trace_remote::{CallError, HeldThread};

use self::functions::{LibraryFunction, LoaderFunctions};
use self::memory::ProcessMemory;
use self::waiting_threads::WaitingThread;
use crate::output::print_status;
use crate::{armed_process, unpack};

/// Time for which a thread is looked for that can load the library.
const LOOKING: Duration = Duration::from_secs(5);
/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(2);

/// Puts the library into a process. Nothing happens if the process has it already.
///
/// # Errors
/// The process must not or cannot be changed. The text says what to do.
pub(crate) fn put_library(pid: u32) -> anyhow::Result<()> {
    if armed_process::has_library(pid)? {
        return Ok(());
    }
    let library = unpack::interposer()?.file;
    let library = std::fs::canonicalize(&library)
        .with_context(|| format!("cannot read {}", library.display()))?;
    checks::may_be_changed(pid, &library)?;
    let folder = armed_process::shared_folder()
        .context("no place for the program's page: give /dev/shm or /tmp room")?;
    let functions = LoaderFunctions::of(pid)?;
    // Before a thread waits for it.
    let begin = LibraryFunction::of(&library, loading::BEGIN)?;
    let memory = ProcessMemory::open(pid).map_err(|error| checks::refusal(pid, &error))?;
    let mut held = hold_one(pid, &functions, &memory)?;
    loading::load(
        pid,
        &mut held,
        (&functions, &memory),
        (&library, &folder, &begin),
    )?;
    let time = held.held_for();
    drop(held);
    print_status(format!(
        "the library is in process {pid}: one thread of it stood still for {:.1} ms",
        time.as_secs_f64() * 1e3
    ));
    Ok(())
}

/// Stops a thread that can load the library.
fn hold_one(
    pid: u32,
    functions: &LoaderFunctions,
    memory: &ProcessMemory,
) -> anyhow::Result<HeldThread> {
    let until = Instant::now() + LOOKING;
    loop {
        for thread in waiting_threads::find(pid, functions)? {
            match HeldThread::hold(thread.tid) {
                Ok(held) if is_fit(&thread, &held, functions, memory) => return Ok(held),
                // It runs on.
                Ok(_) | Err(CallError::NotWaiting | CallError::Ended | CallError::TooLong) => {}
                Err(CallError::System(error)) => return Err(checks::refusal(pid, &error)),
                Err(error) => return Err(error.into()),
            }
        }
        if Instant::now() >= until {
            bail!(
                "no thread of process {pid} waits where it could load the library safely: try again while the program waits, or start it \
                 with `ascend-trace arm APP`"
            );
        }
        std::thread::sleep(INTERVAL);
    }
}

/// Whether the thread is still in the wait that it was seen in, and in no handler of a signal.
fn is_fit(
    seen: &WaitingThread,
    held: &HeldThread,
    functions: &LoaderFunctions,
    memory: &ProcessMemory,
) -> bool {
    let is_same = held.stack() == seen.stack
        && seen.instruction.wrapping_sub(held.instruction()) <= waiting_threads::INSTRUCTION;
    is_same && !functions.is_in_handler(&memory.words_from(held.stack()))
}

/// The name of a file without its folders.
fn file_name(path: &str) -> &str {
    Path::new(path)
        .file_name()
        .and_then(|it| it.to_str())
        .unwrap_or_default()
}
