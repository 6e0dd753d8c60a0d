//! A recorder as a child of the process that keeps it alive.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use anyhow::{Context, bail};
use signal_hook::low_level::signal_name;

use super::role::{ParentMessage, RecorderRole};
use crate::launch::status_of;

/// The first line on the standard output of a recorder: programs can join the recording.
const READY: &str = "ready";
/// Before the name of the trace file, as JSON.
const TRACE: &str = "trace ";

/// The parent's end of the standard input of a recorder.
#[derive(Debug)]
pub(super) struct RecorderInput(ChildStdin);

impl RecorderInput {
    pub(super) fn send(&mut self, message: ParentMessage) {
        // A recorder that has just ended needs no message.
        let _ = self.0.write_all(message.line().as_bytes());
    }
}

/// A recorder that runs.
#[derive(Debug)]
pub(super) struct RecorderProcess {
    child: Child,
    output: BufReader<ChildStdout>,
}

/// How a recorder has ended.
#[derive(Debug)]
pub(super) struct RecorderEnd {
    pub(super) status: ExitStatus,
    /// The trace file; empty if it had none.
    pub(super) trace: String,
}

impl RecorderProcess {
    /// Starts a recorder with the words of this process, and waits until programs can join its recording.
    ///
    /// # Errors
    /// It cannot be started. It has printed the reason if it has ended by itself.
    pub(super) fn start(role: &RecorderRole) -> anyhow::Result<(Self, RecorderInput)> {
        let mut words = std::env::args_os();
        // The file of the present program, even if another version was installed meanwhile.
        let mut command = Command::new("/proc/self/exe");
        command.arg0(words.next().unwrap_or_default()).args(words);
        role.apply(&mut command)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start the recorder")?;
        let streams = child.stdin.take().zip(child.stdout.take());
        let (input, output) = streams.context("cannot reach the recorder")?;
        let mut recorder = Self {
            child,
            output: BufReader::new(output),
        };
        let mut line = String::new();
        let read = recorder.output.read_line(&mut line);
        if line.trim_end() == READY {
            return Ok((recorder, RecorderInput(input)));
        }
        read.context("cannot reach the recorder")?;
        let status = recorder
            .child
            .wait()
            .context("cannot wait for the recorder")?;
        bail!(RecorderFailure(status))
    }

    /// Waits for its end.
    pub(super) fn wait(mut self) -> anyhow::Result<RecorderEnd> {
        let status = self.child.wait().context("cannot wait for the recorder")?;
        let mut rest = Vec::new();
        // It had one line more to write, at most.
        let _ = self.output.read_to_end(&mut rest);
        let rest = String::from_utf8_lossy(&rest);
        let trace = rest.lines().find_map(|line| line.strip_prefix(TRACE));
        let trace = trace.and_then(|it| serde_json::from_str(it).ok());
        Ok(RecorderEnd {
            status,
            trace: trace.unwrap_or_default(),
        })
    }
}

/// A recorder that has ended before programs could join its recording.
#[derive(Debug)]
pub(super) struct RecorderFailure(ExitStatus);

impl RecorderFailure {
    /// The status for the command.
    pub(super) fn status(&self) -> i32 {
        status_of(self.0)
    }
}

impl std::error::Error for RecorderFailure {}

impl std::fmt::Display for RecorderFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "it ended {}", in_words(self.0))
    }
}

/// How a process has ended.
pub(super) fn in_words(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => {
            let name = signal_name(signal).map_or_else(String::new, |name| format!(" ({name})"));
            format!("by signal {signal}{name}")
        }
        None => format!("with status {}", status_of(status)),
    }
}

/// Reports to the parent that programs can join the recording.
pub(super) fn report_ready() -> anyhow::Result<()> {
    crate::output::print(&format!("{READY}\n"))
}

/// Reports the name of the trace file to the parent.
pub(super) fn report_trace(path: &Path) -> anyhow::Result<()> {
    let name = serde_json::to_string(&path.to_string_lossy()).context("cannot write a name")?;
    crate::output::print(&format!("{TRACE}{name}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_recorder_is_in_words() {
        assert_eq!(in_words(ExitStatus::from_raw(9)), "by signal 9 (SIGKILL)");
        assert_eq!(in_words(ExitStatus::from_raw(125 << 8)), "with status 125");
        let failure = RecorderFailure(ExitStatus::from_raw(125 << 8));
        assert_eq!(failure.status(), 125);
    }
}
