//! Starts the program to be traced, as its direct parent, and passes on how it ends.

pub(crate) mod elf;
mod environment;
pub(crate) mod find_program;
pub(crate) mod glibc;
pub(crate) mod libraries;
pub(crate) mod preflight;
pub(crate) mod program_terminal;
pub(crate) mod signals;
mod started_program;
pub(crate) mod terminal_keeper;

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use ascend_trace_handover::{ClosedStreams, hand_on_to};

use crate::error::{Failure, NOT_EXECUTABLE, NOT_FOUND, TOOL_FAILED};
use program_terminal::ProgramTerminal;

pub(crate) use environment::{Environment, soft_options};
pub(crate) use started_program::{ProgramExit, StartedProgram};

/// The program to start.
#[derive(Clone, Debug)]
pub(crate) struct LaunchPlan {
    /// The program as the user named it, and its arguments.
    pub(crate) words: Vec<OsString>,
    /// The file of the name.
    pub(crate) program: PathBuf,
    pub(crate) environment: Environment,
    /// Standard output is for the trace: the program writes to standard error instead.
    pub(crate) output_aside: bool,
}

impl LaunchPlan {
    /// Starts the program on the tool's standard streams, or on a separate screen.
    pub(crate) fn start(
        &self,
        screen: Option<&mut ProgramTerminal>,
    ) -> Result<StartedProgram, Failure> {
        let started = match screen {
            None => self.spawn().map(StartedProgram::child),
            Some(screen) => screen.start(self),
        };
        started.map_err(|error| self.failure(&error))
    }

    /// Starts the program on the tool's own standard streams.
    fn spawn(&self) -> io::Result<Child> {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command.args(words);
        self.environment.apply(&mut command);
        if self.output_aside {
            command.stdout(
                io::stderr()
                    .as_fd()
                    .try_clone_to_owned()
                    .map_or_else(|_| Stdio::null(), Stdio::from),
            );
        }
        let closed = match self.output_aside {
            true => ClosedStreams::Replaced,
            false => ClosedStreams::Stay,
        };
        hand_on_to(&mut command, &self.program, closed)?;
        command.spawn()
    }

    /// Becomes the program. Returns why that was not possible.
    pub(crate) fn become_program(&self) -> Failure {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command.args(words);
        self.environment.apply(&mut command);
        let error = match hand_on_to(&mut command, &self.program, ClosedStreams::Stay) {
            Ok(()) => command.exec(),
            Err(error) => error,
        };
        self.failure(&error)
    }

    fn failure(&self, error: &io::Error) -> Failure {
        let shown = self.program.display();
        let (status, text) = match error
            .raw_os_error()
            .map(rustix::io::Errno::from_raw_os_error)
        {
            // The file was found before, so it is the interpreter in its first line.
            Some(rustix::io::Errno::NOENT) => (
                NOT_FOUND,
                format!("{shown}: the interpreter that it names does not exist"),
            ),
            Some(rustix::io::Errno::ACCESS | rustix::io::Errno::NOEXEC) => (
                NOT_EXECUTABLE,
                format!("{shown}: cannot be executed: {error}"),
            ),
            _ => (TOOL_FAILED, format!("{shown}: cannot be started: {error}")),
        };
        Failure::new(status, text)
    }
}

/// The status that a shell would give: the program's own, or 128 and the signal that ended it.
pub(crate) fn status_of(status: ExitStatus) -> i32 {
    let signal = status.signal().map(|signal| 128 + signal);
    status.code().or(signal).unwrap_or(i32::from(TOOL_FAILED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_passed_on_as_shells_do() {
        assert_eq!(status_of(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(status_of(ExitStatus::from_raw(9)), 137);
    }
}
