//! A program that runs, and how it ends.

use std::io::{self, BufRead, BufReader, PipeReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Text for an unknown value.
const NONE: &str = "-";

/// How a program has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramExit {
    pub(crate) status: ExitStatus,
    /// The user of the final process, if known.
    pub(crate) user: Option<u32>,
    /// Bytes that it could map at most in the end, where there was a limit.
    pub(crate) space: Option<u64>,
}

impl ProgramExit {
    /// Waits for a child. As long as it has not been waited for, `/proc` still knows who it was.
    pub(super) fn of(child: &mut Child) -> io::Result<Self> {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let pid = WaitId::Pid(Pid::from_child(child));
        while matches!(waitid(pid.clone(), ended), Err(rustix::io::Errno::INTR)) {}
        let status_file = |name: &str| {
            std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap_or_default()
        };
        let (user, space) = (
            effective_user(&status_file("status")),
            address_space(&status_file("limits")),
        );
        let status = child.wait()?;
        Ok(Self {
            status,
            user,
            space,
        })
    }

    /// As one line of text, for [`ProgramExit::read`].
    pub(crate) fn line(self) -> String {
        let user = self
            .user
            .map_or_else(|| NONE.to_owned(), |user| user.to_string());
        let space = self
            .space
            .map_or_else(|| NONE.to_owned(), |space| space.to_string());
        format!("ended {} {user} {space}", self.status.into_raw())
    }

    pub(crate) fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("ended ")?.split_whitespace();
        Some(Self {
            status: ExitStatus::from_raw(words.next()?.parse().ok()?),
            user: words.next()?.parse().ok(),
            space: words.next()?.parse().ok(),
        })
    }
}

/// The effective user, by `/proc/PID/status`.
fn effective_user(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The limit of the address space, by `/proc/PID/limits`.
fn address_space(limits: &str) -> Option<u64> {
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The program that was started.
pub(crate) struct StartedProgram {
    pid: u32,
    watched: ExitWatch,
}

/// Who learns that the program has ended.
enum ExitWatch {
    /// This process, its parent.
    Here(Child),
    /// The keeper of its screen, which reports it here.
    ByKeeper {
        keeper: Child,
        news: BufReader<PipeReader>,
    },
}

impl StartedProgram {
    pub(super) fn child(child: Child) -> Self {
        Self {
            pid: child.id(),
            watched: ExitWatch::Here(child),
        }
    }

    /// Learns from the keeper whether it could start the program. A program that ends its keeper at once has
    /// been started.
    pub(super) fn by_keeper(mut keeper: Child, news: PipeReader) -> io::Result<Self> {
        let mut news = BufReader::new(news);
        let mut next = || -> io::Result<(String, Option<u32>)> {
            let mut line = String::new();
            news.read_line(&mut line)?;
            let (word, number) = line
                .trim_end()
                .split_once(' ')
                .unwrap_or((line.trim_end(), ""));
            Ok((word.to_owned(), number.parse().ok()))
        };
        let mut pid = None;
        let error = loop {
            match next()? {
                (word, number @ Some(_)) if word == "started" => pid = number,
                (word, Some(error)) if word == "failed" => break Some(error),
                _ => break None,
            }
        };
        if let (Some(pid), None) = (pid, error) {
            let watched = ExitWatch::ByKeeper { keeper, news };
            return Ok(Self { pid, watched });
        }
        let _ = keeper.wait();
        Err(error.map_or_else(
            || io::Error::other("the process that keeps its screen has failed"),
            |error| io::Error::from_raw_os_error(error.cast_signed()),
        ))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The process that leads the program's session, if that is a separate one.
    pub(crate) fn session_leader(&self) -> Option<u32> {
        match &self.watched {
            ExitWatch::Here(_) => None,
            ExitWatch::ByKeeper { keeper, .. } => Some(keeper.id()),
        }
    }

    /// Waits until the program has ended.
    pub(crate) fn wait(&mut self) -> io::Result<ProgramExit> {
        match &mut self.watched {
            ExitWatch::Here(child) => ProgramExit::of(child),
            ExitWatch::ByKeeper { news, .. } => {
                let mut line = String::new();
                news.read_line(&mut line)?;
                ProgramExit::read(&line)
                    .ok_or_else(|| io::Error::other("the process that keeps its screen has ended"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_exit_of_a_child_has_its_status_and_user() {
        let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
        let exit = ProgramExit::of(&mut child).unwrap();
        assert_eq!(exit.status.code(), Some(3));
        assert_eq!(exit.user, Some(rustix::process::geteuid().as_raw()));
        assert_eq!(ProgramExit::read(&exit.line()), Some(exit));
        let unknown = ProgramExit {
            user: None,
            space: Some(300),
            ..exit
        };
        assert_eq!(ProgramExit::read(&unknown.line()), Some(unknown));
        assert_eq!(ProgramExit::read(""), None);
    }

    /// A keeper that says this and ends.
    fn keeper_that_says(says: &str) -> io::Result<StartedProgram> {
        let (news, report) = io::pipe()?;
        // The command has the report open until it ends.
        let keeper = Command::new("printf").arg(says).stdout(report).spawn()?;
        StartedProgram::by_keeper(keeper, news)
    }

    #[test]
    fn a_dead_keeper_is_noticed_and_its_program_is_known() {
        let mut gone = keeper_that_says("started 7\\n").unwrap();
        assert_eq!(gone.pid(), 7);
        assert!(gone.wait().is_err());
        let mut ended = keeper_that_says("started 8\\nruns\\nended 256 0 -\\n").unwrap();
        assert_eq!(ended.wait().unwrap().status.code(), Some(1));
        let refused = keeper_that_says("started 9\\nfailed 8\\n")
            .map(|_| ())
            .unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(8));
        assert!(keeper_that_says("").is_err());
    }

    #[test]
    fn users_and_limits_are_read() {
        assert_eq!(
            effective_user("Name:\tx\nUid:\t0\t1000\t0\t0\n"),
            Some(1000)
        );
        assert_eq!(effective_user("Name:\tx\n"), None);
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max address space         307200000            unlimited            bytes     \n";
        assert_eq!(address_space(limits), Some(307_200_000));
        assert_eq!(
            address_space("Max address space         unlimited  unlimited  bytes\n"),
            None
        );
    }
}
