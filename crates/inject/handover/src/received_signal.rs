//! Signals that this process gets in the place of the program, and how they are passed on.

use std::io;

/// Signals that mean a fault of the process that gets them, and those that no process can handle.
const NOT_PASSED_ON: [i32; 8] = [
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGSYS,
    libc::SIGKILL,
    libc::SIGSTOP,
];

/// Signals of job control: the kernel stops a process by them only if its process group is not orphaned.
const STOPPING: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// The first number after the signals with names.
const FIRST_WITHOUT_NAME: i32 = 32;

/// Who sent a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalSender {
    /// The kernel: a key of the terminal, the end of the terminal, a timer or a limit.
    Kernel,
    /// This process.
    ThisProcess,
    /// Another process.
    OtherProcess,
}

/// A signal that this process got.
#[derive(Clone, Copy)]
pub struct ReceivedSignal {
    info: libc::siginfo_t,
}

// SAFETY: addresses in it are never followed: they are values that the sender chose, or of a fault, which is not
// passed on.
unsafe impl Send for ReceivedSignal {}

impl ReceivedSignal {
    /// Wraps the kernel's `siginfo_t`.
    #[must_use]
    pub fn new(info: libc::siginfo_t) -> Self {
        Self { info }
    }

    /// The signal number.
    #[must_use]
    pub fn number(&self) -> i32 {
        self.info.si_signo
    }

    /// Who sent it.
    #[must_use]
    pub fn sender(&self) -> SignalSender {
        match self.info.si_code {
            libc::SI_USER | libc::SI_QUEUE | libc::SI_TKILL => {
                // SAFETY: with these codes the kernel has set the sender.
                let pid = unsafe { self.info.si_pid() };
                match i64::from(pid) == i64::from(std::process::id()) {
                    true => SignalSender::ThisProcess,
                    false => SignalSender::OtherProcess,
                }
            }
            _ => SignalSender::Kernel,
        }
    }

    /// Sends the same signal to a process, with the value that came with it.
    ///
    /// # Errors
    ///
    /// There is no such process, or it belongs to another user.
    pub fn pass_on_to(&self, pid: i32) -> io::Result<()> {
        if self.info.si_code != libc::SI_QUEUE {
            // SAFETY: a number that is no process is refused.
            return check_result(unsafe { libc::kill(pid, self.number()) });
        }
        let info = &raw const self.info;
        // SAFETY: the kernel reads initialized data; with this code a process may send to others.
        let sent = unsafe { libc::syscall(libc::SYS_rt_sigqueueinfo, pid, self.number(), info) };
        check_result(i32::try_from(sent).unwrap_or(-1))
    }

    /// Sends the same signal to a process group.
    ///
    /// # Errors
    ///
    /// There is no such group, or all of it belongs to another user.
    pub fn pass_on_to_group(&self, group: i32) -> io::Result<()> {
        // SAFETY: a number that is no group is refused.
        check_result(unsafe { libc::killpg(group, self.number()) })
    }
}

fn check_result(result: i32) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// All signals that this process can receive for the program and pass on.
pub fn passable() -> impl Iterator<Item = i32> {
    let named =
        (1..FIRST_WITHOUT_NAME).filter(|it| !NOT_PASSED_ON.contains(it) && !STOPPING.contains(it));
    named.chain(libc::SIGRTMIN()..=libc::SIGRTMAX())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_can_be_handled_and_do_not_mean_a_fault_are_passable() {
        let all: Vec<i32> = passable().collect();
        for signal in [libc::SIGINT, libc::SIGALRM, libc::SIGRTMIN(), 64] {
            assert!(all.contains(&signal), "{signal}");
        }
        for signal in [libc::SIGKILL, libc::SIGSEGV, libc::SIGTSTP, 32] {
            assert!(!all.contains(&signal), "{signal}");
        }
    }
}
