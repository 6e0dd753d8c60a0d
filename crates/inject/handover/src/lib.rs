//! State that the command inherited, passed on to the program unchanged.
//!
//! A program inherits ignored signals, blocked signals, and closed standard streams. The standard
//! library changes all three: it ignores `SIGPIPE` and opens `/dev/null` for closed streams before
//! `main`, and a started program gets neither the blocked signals nor an ignored `SIGPIPE`. So this
//! crate looks before the standard library does, and restores the state after it.
//!
//! **Invariant: the program starts as it would have without the command between it and its parent.**
//!
//! `SIGCHLD` is the only thing that the command changes for itself: where it is ignored, the exit of a
//! child cannot be learnt. From here on children are waited for, and the program ignores it again.

#![expect(
    unsafe_code,
    reason = "signal dispositions, and what happens between fork and exec, have no safe interface"
)]

mod image;
mod inherited;
mod received_signal;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use image::ExecImage;
pub use received_signal::{ReceivedSignal, SignalSender, passable};

/// What becomes of the standard streams that the command was started without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedStreams {
    /// The program does not have them either.
    Stay,
    /// The command replaces them.
    Replaced,
}

/// Has the command start its program with the signals, and if so said without the streams, that this
/// process was given.
pub fn hand_on(command: &mut Command, closed: ClosedStreams) {
    let given = inherited::get();
    let streams = match closed {
        ClosedStreams::Stay => given.closed,
        ClosedStreams::Replaced => 0,
    };
    // SAFETY: between fork and exec the closure makes system calls by way of functions that may be called
    // there, and touches nothing but its own copies.
    unsafe {
        command.pre_exec(move || {
            given.restore_signals();
            inherited::close_streams(streams);
            Ok(())
        });
    }
}

/// As [`hand_on`], for a program with a known file. The standard library would pass any file that the
/// kernel cannot start to a shell.
///
/// # Errors
///
/// A word or a variable has a zero byte in it.
pub fn hand_on_to(command: &mut Command, file: &Path, closed: ClosedStreams) -> io::Result<()> {
    let image = ExecImage::new(command, file)?;
    hand_on(command, closed);
    // SAFETY: as above; it is the last closure, and starts the program or reports why not.
    unsafe { command.pre_exec(move || Err(image.exec())) };
    Ok(())
}

/// Has the child that becomes the program write the line `started PID` to a descriptor before. Whoever reads it
/// learns of the program even if the program ends this process at once.
pub fn announce(command: &mut Command, to: BorrowedFd<'_>) {
    let to = to.as_raw_fd();
    let write = move || {
        let line = format!("started {}\n", std::process::id());
        // SAFETY: writes existing bytes; a closed descriptor is refused. Only the reading side notices
        // a failure.
        unsafe { libc::write(to, line.as_ptr().cast(), line.len()) };
        Ok(())
    };
    // SAFETY: it allocates, which is allowed in a child of a process with one thread, such as a
    // program's keeper; the C library keeps its locks valid over a fork in any case.
    unsafe { command.pre_exec(write) };
}

/// From now on these signals have no effect on this process. Programs started by [`hand_on`] are not
/// affected.
pub fn ignore(signals: impl IntoIterator<Item = i32>) {
    for signal in signals {
        // SAFETY: ignoring runs no code; a number that is no signal is refused.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Whether the signal was ignored when this process was started.
#[must_use]
pub fn was_ignored(signal: i32) -> bool {
    inherited::get().is_ignored(signal)
}

/// Takes over an open descriptor of the parent process, by its number.
///
/// # Errors
///
/// There is no such descriptor, or it is one of the standard streams.
pub fn adopt(number: RawFd) -> io::Result<OwnedFd> {
    if number <= libc::STDERR_FILENO {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: a number that is no descriptor is refused; the flag hides it from later children.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, and by agreement with the parent process it has no other user here.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    /// What `/proc` says of a child that prints it, under a name.
    fn status_field(prepare: &str, name: &str) -> u64 {
        let script = format!("{prepare} exec \"$0\" --ignored --exact tests::child --nocapture");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script])
            .arg(std::env::current_exe().unwrap());
        let output = shell.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let value = line.unwrap_or_else(|| panic!("{name} is not in {text}"));
        u64::from_str_radix(value.trim(), 16).unwrap()
    }

    #[test]
    #[ignore = "programs of the other test"]
    fn child() {
        let mut command = Command::new("cat");
        hand_on(command.arg("/proc/self/status"), ClosedStreams::Stay);
        let output = command.output().unwrap();
        println!("\n{}", String::from_utf8_lossy(&output.stdout));
    }

    fn bit(signal: i32) -> u64 {
        1 << (signal - 1)
    }

    #[test]
    fn ignored_signals_stay_ignored_and_others_do_not() {
        let plain = status_field("", "SigIgn:");
        assert_eq!(plain & (bit(libc::SIGPIPE) | bit(libc::SIGCHLD)), 0);
        let ignored = status_field("trap '' PIPE USR1;", "SigIgn:");
        let expected = plain | bit(libc::SIGPIPE) | bit(libc::SIGUSR1);
        assert_eq!(ignored, expected);
    }

    #[test]
    fn a_file_that_the_kernel_cannot_start_is_not_given_to_a_shell() {
        let path = std::env::temp_dir().join(format!("handover-{}", std::process::id()));
        let script = "printf 'exit 7' >\"$0\"; chmod 755 \"$0\"";
        let made = Command::new("sh").args(["-c", script]).arg(&path).status();
        assert!(made.unwrap().success());
        let mut command = Command::new(&path);
        hand_on_to(&mut command, &path, ClosedStreams::Stay).unwrap();
        let error = command.spawn().unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(error.raw_os_error(), Some(libc::ENOEXEC));
    }

    #[test]
    fn words_and_variables_arrive() {
        let mut command = Command::new("name");
        command.args(["-c", "echo $0 $1 $NEW $HOME", "a", "b c"]);
        command.env("NEW", "new").env_remove("HOME");
        hand_on_to(&mut command, Path::new("/bin/sh"), ClosedStreams::Stay).unwrap();
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a b c new\n");
    }

    #[test]
    fn a_child_reports_its_number_before_it_is_the_program() {
        let (mut status_field, to) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$"]);
        announce(&mut command, to.as_fd());
        let output = command.output().unwrap();
        drop((command, to));
        let mut line = String::new();
        io::Read::read_to_string(&mut status_field, &mut line).unwrap();
        let number = String::from_utf8_lossy(&output.stdout);
        assert_eq!(line, format!("started {number}"));
    }

    #[test]
    fn only_open_descriptors_can_be_adopted() {
        assert!(adopt(1).is_err());
        assert!(adopt(1_000_000).is_err());
        let open = std::fs::File::open("/dev/null").unwrap();
        let number = std::os::fd::IntoRawFd::into_raw_fd(open);
        assert!(adopt(number).is_ok());
    }
}
