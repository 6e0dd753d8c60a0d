//! The process that keeps the screen of a program under the live view. It leads the session that the screen
//! belongs to, starts the program in it, and waits for it.
//!
//! If the program were the leader, its remaining processes would get `SIGHUP` when it ends; and after
//! the end of the tool, their output would have no reader. So this process stays as long as one of them
//! has the screen open, and appends their output to the program's log. At its end it passes the
//! foreground to an empty group, since the kernel sends `SIGHUP` to the foreground group.
//!
//! The tool runs itself for this ([`WORD`]): only a process that was started with the session can lead it.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use ascend_trace_handover::{ClosedStreams, adopt, announce, hand_on_to, ignore, passable};
use rustix::process::Pid;
use signal_hook::consts::{SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU};

use super::started_program::ProgramExit;
use crate::error::TOOL_FAILED;
use crate::log::LogBook;

/// The first word of the command line that makes a keeper of the tool.
pub(crate) const WORD: &str = "__keep-screen";
/// Stands between the variables and the program.
const END: &str = "--";
/// The tool's executable, at its present place.
const SELF: &str = "/proc/self/exe";

/// What its screen would stop a process in the background by.
const STOPPING: [i32; 3] = [SIGTSTP, SIGTTIN, SIGTTOU];

/// The command that starts a keeper. Its arguments are the numbers of its descriptors: one for the
/// report, one that closes when the tool ends, and the screen.
pub(super) fn command<'a>(
    descriptors: [i32; 3],
    variables: impl Iterator<Item = (&'a str, &'a OsStr)>,
    program: &Path,
    words: &[OsString],
) -> Command {
    let mut command = Command::new(SELF);
    command.arg0("ascend-trace").arg(WORD);
    command.args(descriptors.map(|number| number.to_string()));
    for (name, value) in variables {
        let mut word = OsString::from(name);
        word.push("=");
        word.push(value);
        command.arg(word);
    }
    command.arg(END).arg(program).args(words);
    command
}

/// Is a keeper, by the words after [`WORD`]; without any, one that ends at once.
pub(crate) fn run(words: impl Iterator<Item = OsString>) -> u8 {
    match keep(words) {
        Some(()) => 0,
        None => TOOL_FAILED,
    }
}

fn keep(mut words: impl Iterator<Item = OsString>) -> Option<()> {
    let mut descriptor =
        || -> Option<OwnedFd> { adopt(words.next()?.to_str()?.parse().ok()?).ok() };
    let (report, control, screen) = (descriptor()?, descriptor()?, descriptor()?);
    let mut report = File::from(report);
    let mut child = match program(words, &report)?.spawn() {
        Ok(child) => child,
        Err(error) => {
            let _ = writeln!(report, "failed {}", error.raw_os_error()?);
            return None;
        }
    };
    // Signals to this group are for the program. `SIGCHLD` must not be ignored: the program is waited for.
    ignore(passable().filter(|it| *it != SIGCHLD).chain(STOPPING));
    // The child has reported itself, as this process may have ended. The tool may have ended, too; then
    // the report has no reader.
    let _ = writeln!(report, "runs");
    leave_streams();
    let rest = std::thread::spawn(move || keep_rest(control.into(), screen.into()));
    if let Ok(exit) = ProgramExit::of(&mut child) {
        let _ = writeln!(report, "{}", exit.line());
    }
    drop(report);
    let screen = rest.join().ok()?;
    leave_foreground();
    // Only now the screen may be closed: the session's remaining processes are not in its foreground
    // any more.
    drop(screen);
    Some(())
}

fn program(mut words: impl Iterator<Item = OsString>, report: &File) -> Option<Command> {
    let mut variables = Vec::new();
    loop {
        let word = words.next()?;
        if word == END {
            break;
        }
        let at = word.as_bytes().iter().position(|byte| *byte == b'=')?;
        let (name, value) = word.as_bytes().split_at(at);
        variables.push((OsStr::from_bytes(name).to_owned(), value[1..].to_vec()));
    }
    let file = PathBuf::from(words.next()?);
    let mut command = Command::new(words.next()?);
    command.args(words);
    for (name, value) in variables {
        command.env(name, OsString::from_vec(value));
    }
    announce(&mut command, report.as_fd());
    hand_on_to(&mut command, &file, ClosedStreams::Replaced).ok()?;
    Some(command)
}

/// Gives up the standard streams, so that they end with the last process of the program that has them.
fn leave_streams() {
    if let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        // What cannot be given up stays open for a little longer.
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// Waits until the tool has ended, which passes the path of the log, and copies the output from then on
/// until the last process has left the screen.
fn keep_rest(mut control: File, mut screen: File) -> File {
    let mut path = Vec::new();
    let _ = control.read_to_end(&mut path);
    let path = PathBuf::from(OsString::from_vec(path));
    let mut file = None;
    let log = LogBook::default();
    let mut buffer = [0; 16 * 1024];
    loop {
        match screen.read(&mut buffer) {
            Ok(count) if count > 0 => {
                // The tool removes a log that it has nothing to put into.
                let mut options = OpenOptions::new();
                options.append(true).create(true).mode(0o600);
                file = file.or_else(|| options.open(&path).ok());
                log.take(buffer.get(..count).unwrap_or_default(), file.as_mut());
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            _ => return screen,
        }
    }
}

/// Makes an empty group the screen's foreground. An ended process keeps its group until it is waited
/// for, and this one never is.
fn leave_foreground() {
    let mut zombie = Command::new(SELF);
    let started = zombie
        .arg0("ascend-trace")
        .arg(WORD)
        .process_group(0)
        .spawn();
    if let (Ok(zombie), Ok(terminal)) = (started, File::open("/dev/tty")) {
        // Otherwise the remaining processes get the signal.
        let _ = rustix::termios::tcsetpgrp(terminal, Pid::from_child(&zombie));
    }
}
