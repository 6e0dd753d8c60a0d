//! A separate terminal for a program that runs under the live view.

use std::fs::File;
use std::io::{self, IsTerminal, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use ascend_trace_handover::{ClosedStreams, hand_on};
use pty_process::Size;
use pty_process::blocking::{Pts, Pty};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::LaunchPlan;
use super::started_program::StartedProgram;
use super::terminal_keeper;
use crate::log::LogBook;

/// How long the reader waits for output before it looks whether the program has ended.
const PATIENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// The terminal: the program writes to one end, the log is read from the other.
pub(crate) struct ProgramTerminal {
    pty: Arc<Pty>,
    /// The program's end; given away when it is started.
    pts: Option<Pts>,
    /// Ends when the tool does, which its keeper waits for.
    control: Option<PipeWriter>,
}

impl ProgramTerminal {
    pub(crate) fn open() -> anyhow::Result<Self> {
        let (pty, pts) = pty_process::blocking::open()?;
        let screen = Self {
            pty: Arc::new(pty),
            pts: Some(pts),
            control: None,
        };
        screen.follow_size();
        Ok(screen)
    }

    /// Gives the screen the size of the terminal that the tool runs in.
    pub(crate) fn follow_size(&self) {
        if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout()) {
            // The program keeps the old size; it will wrap its lines there.
            let _ = self.pty.resize(Size::new(size.ws_row, size.ws_col));
        }
    }

    /// Another handle on the same screen.
    pub(crate) fn handle(&self) -> Self {
        Self {
            pty: Arc::clone(&self.pty),
            pts: None,
            control: None,
        }
    }

    /// Starts the program on the screen, by way of a [`keeper`]. Streams that are redirected pass through;
    /// the keyboard belongs to the view.
    pub(crate) fn start(&mut self, launch: &LaunchPlan) -> io::Result<StartedProgram> {
        let pts = self
            .pts
            .take()
            .ok_or_else(|| io::Error::other("the screen is in use"))?;
        let ((news, report), (ends, control)) = (io::pipe()?, io::pipe()?);
        // The copies are inherited, unlike their originals. All must be closed: the end of a keeper's
        // report shows that it has ended.
        let copies = [
            rustix::io::dup(&report)?,
            rustix::io::dup(&ends)?,
            rustix::io::dup(&*self.pty)?,
        ];
        drop((report, ends));
        let numbers = copies.each_ref().map(AsRawFd::as_raw_fd);
        let variables = launch.environment.variables();
        let mut command =
            terminal_keeper::command(numbers, variables, &launch.program, &launch.words);
        hand_on(&mut command, ClosedStreams::Replaced);
        let mut command = pty_process::blocking::Command::from(command);
        command = command.stdin(if io::stdin().is_terminal() {
            Stdio::null()
        } else {
            Stdio::inherit()
        });
        if !io::stdout().is_terminal() {
            command = command.stdout(Stdio::inherit());
        }
        if !io::stderr().is_terminal() {
            command = command.stderr(Stdio::inherit());
        }
        let keeper = command.spawn(pts).map_err(|error| match error {
            pty_process::Error::Io(error) => error,
            pty_process::Error::Rustix(errno) => errno.into(),
        })?;
        drop(copies);
        self.control = Some(control);
        StartedProgram::by_keeper(keeper, news)
    }

    /// The tool has finished with the screen: the program's remaining processes may continue to write,
    /// into the log.
    pub(crate) fn leave(self, log: Option<&Path>) {
        if let (Some(mut control), Some(path)) = (self.control, log) {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            // A keeper that has ended has nothing to keep.
            let _ = control.write_all(path.as_os_str().as_bytes());
        }
    }

    /// Copies the program's output to the log, on a separate thread.
    pub(crate) fn keep_log(&self, log: LogBook, file: Option<File>) -> io::Result<LogKeeper> {
        let ended = Arc::new(AtomicBool::new(false));
        let (pty, has_ended) = (Arc::clone(&self.pty), Arc::clone(&ended));
        let thread = std::thread::Builder::new()
            .name("log".into())
            .spawn(move || copy(&pty, &log, file, &has_ended))?;
        Ok(LogKeeper { ended, thread })
    }
}

/// The thread that copies a program's output.
pub(crate) struct LogKeeper {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl LogKeeper {
    /// Takes the rest of the output of a program that has ended. Its children may hold the screen
    /// open for longer than anybody wants to wait.
    pub(crate) fn finish(self) {
        self.ended.store(true, Ordering::Release);
        // The thread does nothing but copy; if it has panicked the log is shorter.
        let _ = self.thread.join();
    }
}

fn copy(pty: &Pty, log: &LogBook, mut file: Option<File>, ended: &AtomicBool) {
    let mut buffer = [0; 16 * 1024];
    loop {
        // Read first: output before the end is then still copied.
        let last_look = ended.load(Ordering::Acquire);
        let ready = poll(&mut [PollFd::new(pty, PollFlags::IN)], Some(&PATIENCE));
        match ready {
            Ok(0) if last_look => break,
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => break,
        }
        let mut input = pty;
        match input.read(&mut buffer) {
            Ok(count) if count > 0 => {
                let bytes = buffer.get(..count).unwrap_or_default();
                log.take(bytes, file.as_mut());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The last holder of the other end has closed it.
            _ => break,
        }
    }
    log.end(file.as_mut());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_program_sees_a_terminal_and_its_output_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("log");
        let mut screen = ProgramTerminal::open().unwrap();
        let mut command = Command::new("/bin/sh");
        command.args([
            "-c",
            "test -t 2 && echo terminal; printf 'no newline' >/dev/tty",
        ]);
        // Under a test runner stdout is no terminal, so stderr and /dev/tty are looked at.
        let pts = screen.pts.take().unwrap();
        let mut child = pty_process::blocking::Command::from(command)
            .spawn(pts)
            .unwrap();
        let log = LogBook::default();
        let keeper = screen
            .keep_log(log.clone(), Some(File::create(&path).unwrap()))
            .unwrap();
        child.wait().unwrap();
        keeper.finish();
        assert_eq!(log.lines(), ["terminal", "no newline"]);
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "terminal\nno newline"
        );
    }
}
