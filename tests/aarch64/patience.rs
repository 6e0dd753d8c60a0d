//! Commands that run in an emulator, which may get stuck: that is reported, and tried again.

use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rustix::process::Pid;

use crate::stuck::{self, Stuck};

/// No command takes a fraction of this where nothing else runs. The longest is all integration tests,
/// each with a limit for its programs.
const LIMIT: Duration = Duration::from_secs(1500);

/// How a command ended.
pub(crate) fn run(command: &mut Command) -> Result<Output, String> {
    let (output, stuck) = match attempt(command)? {
        (_, Some(stuck)) if stuck.in_emulator => {
            let threads = &stuck.threads;
            eprintln!("the emulator got stuck, again: {command:?}\n{threads}");
            attempt(command)?
        }
        ended => ended,
    };
    match stuck {
        Some(Stuck { threads, .. }) => Err(format!("{command:?} did not end\n{threads}")),
        None => Ok(output),
    }
}

fn attempt(command: &mut Command) -> Result<(Output, Option<Stuck>), String> {
    let words = format!("{command:?}");
    let failed = |error| format!("{words}: {error}");
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(failed)?;
    let pid = Pid::from_child(&child);
    let (ended, end) = mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        let is_stuck = end.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout);
        is_stuck.then(|| stuck::end(pid))
    });
    let output = child.wait_with_output().map_err(failed)?;
    drop(ended);
    Ok((output, watchdog.join().unwrap_or(None)))
}
