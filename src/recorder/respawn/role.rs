//! Data that a recorder gets from its parent: its role at the start, and lines on its standard input.

use std::process::Command;

use anyhow::Context;
use rustix::process::getppid;
use serde::{Deserialize, Serialize};

use ascend_trace_recording::rows::ContinuedRow;

use crate::launch::ProgramExit;
use crate::server_place::ServerPlace;

/// The variable with the role, as JSON. Only the parent of a recorder sets it.
const VARIABLE: &str = "ASCEND_TRACE_RECORDER_ROLE";

/// The place of a recorder among those of one program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecorderRole {
    /// The parent of the recorder and of the program.
    pub(super) parent: u32,
    /// From 1.
    pub(super) number: u32,
    /// Of the second recorder and later ones.
    pub(super) continues: Option<Continuation>,
}

/// A program that runs, and the recorder that it has lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Continuation {
    /// The pid of the program.
    pub(crate) program: u32,
    pub(crate) earlier: ContinuedRow,
}

impl RecorderRole {
    /// The role of this process. `None` if the user has started it.
    pub(super) fn own() -> Option<Self> {
        let text = std::env::var(VARIABLE).ok()?;
        let role: Self = serde_json::from_str(&text).ok()?;
        let parent = getppid()?.as_raw_nonzero().get();
        (role.parent == parent.cast_unsigned()).then_some(role)
    }

    /// Gives this role to a process.
    pub(super) fn apply(&self, command: &mut Command) -> anyhow::Result<()> {
        let text = serde_json::to_string(self).context("cannot write the role of a recorder")?;
        command.env(VARIABLE, text);
        Ok(())
    }

    /// Where programs find the recorders of this parent.
    pub(super) fn place(&self) -> anyhow::Result<ServerPlace> {
        ServerPlace::new(&format!("respawn-{}", self.parent))
    }
}

/// A line on the standard input of a recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParentMessage {
    /// The program runs, with this pid.
    Started(u32),
    /// The parent got a signal for the recorder.
    Signal(i32),
    /// The program has ended.
    Ended(ProgramExit),
}

impl ParentMessage {
    pub(super) fn line(self) -> String {
        match self {
            Self::Started(pid) => format!("started {pid}\n"),
            Self::Signal(number) => format!("signal {number}\n"),
            Self::Ended(exit) => format!("{}\n", exit.line()),
        }
    }

    pub(super) fn read(line: &str) -> Option<Self> {
        let (word, number) = line.trim_end().split_once(' ')?;
        match word {
            "started" => number.parse().ok().map(Self::Started),
            "signal" => number.parse().ok().map(Self::Signal),
            _ => ProgramExit::read(line).map(Self::Ended),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let exit = ProgramExit {
            status: ExitStatus::from_raw(9),
            user: Some(7),
            space: None,
        };
        for message in [
            ParentMessage::Started(4711),
            ParentMessage::Signal(10),
            ParentMessage::Ended(exit),
        ] {
            assert_eq!(ParentMessage::read(&message.line()), Some(message));
        }
        for wrong in ["", "started", "started x", "begun 7"] {
            assert_eq!(ParentMessage::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_process_that_the_user_starts_has_no_role() {
        assert_eq!(RecorderRole::own(), None);
    }
}
