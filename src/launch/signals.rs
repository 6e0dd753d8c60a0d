//! Signals that the tool gets while the program runs.
//!
//! A script sends signals to the process that it has started, which is the tool. So the program gets each signal that it
//! would have got in the place of the tool, also one that both ignore at their start: the program may install a handler.
//! The terminal signals its foreground group, and both are in it. So the tool passes on signals of the terminal only to
//! a program on a separate screen.
//!
//! `SIGQUIT` also asks the tool for a report on the program. A program with a handler gets this signal, too. Signals that
//! the user has chosen for the tool (`--start-at signal=USR1`) do not reach the program.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ascend_trace_handover::{ReceivedSignal, SignalSender, passable, was_ignored};
use rustix::process::{Pid, getpgid, getpgrp, getpid, getsid};
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH,
};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;

/// Signals that end a recording of processes that outlive the program.
const INTERRUPTING: [i32; 5] = [SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2];

/// Who signals are for.
enum SignalTarget {
    /// The program has not been started: they are for the tool itself.
    Tool,
    /// The program is being started: they are kept until it is known who it is.
    Starting(Vec<ReceivedSignal>),
    /// The program, in the tool's own process group.
    Program(Pid),
    /// The program, in a separate session.
    Session {
        program: Pid,
        leader: Pid,
        resized: Box<dyn FnMut() + Send>,
    },
    /// The program has ended; the tool is completing the trace, or records what the program left
    /// behind until it gets one of [`INTERRUPTING`].
    NoTarget { interrupted: bool },
}

/// Reaction to a request for the program's state.
type StateRequest = Box<dyn Fn() + Send + Sync>;

/// Signals for the tool itself, and the reactions to them.
type OwnSignals = Arc<Mutex<Vec<(i32, StateRequest)>>>;

/// Passes signals on for as long as the tool runs.
#[derive(Clone)]
pub(crate) struct SignalRelay {
    addressee: Arc<Mutex<SignalTarget>>,
    ask: Arc<OnceLock<StateRequest>>,
    own: OwnSignals,
}

impl SignalRelay {
    /// Begins to listen, also to signals that the tool and the program are to ignore.
    pub(crate) fn start() -> io::Result<Self> {
        let mut signals = SignalsInfo::<WithRawSiginfo>::new(passable())?;
        let relay = Self {
            addressee: Arc::new(Mutex::new(SignalTarget::Tool)),
            ask: Arc::default(),
            own: Arc::default(),
        };
        let listener = relay.clone();
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                let arrived = signals.forever().map(ReceivedSignal::new);
                arrived.for_each(|signal| listener.take(signal));
            })?;
        Ok(relay)
    }

    /// From now on this is done at `SIGQUIT`.
    pub(crate) fn on_quit(&self, ask: impl Fn() + Send + Sync + 'static) {
        // There is one recording in a process.
        let _ = self.ask.set(Box::new(ask));
    }

    /// From now on this is done at this signal, which the program does not get.
    pub(crate) fn keep(&self, number: i32, action: impl Fn() + Send + Sync + 'static) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.push((number, Box::new(action)));
    }

    /// Whether the signal is for the tool itself, which has reacted to it.
    fn is_own(&self, number: i32) -> bool {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = own
            .iter()
            .filter(|(wanted, _)| *wanted == number)
            .peekable();
        let is_own = found.peek().is_some();
        found.for_each(|(_, action)| action());
        is_own
    }

    /// Reacts to a signal for the tool that its parent has passed on.
    pub(crate) fn react(&self, number: i32) {
        match number {
            SIGQUIT => self.quit(number),
            _ => drop(self.is_own(number)),
        }
    }

    /// The program is about to be started, and may run before its pid is known here.
    pub(crate) fn starting(&self) {
        self.set(SignalTarget::Starting(Vec::new()));
    }

    /// From now on signals are for this program.
    pub(crate) fn address(&self, pid: u32) {
        if let Some(pid) = pid_of(pid) {
            self.set(SignalTarget::Program(pid));
        }
    }

    /// From now on signals are for this program, in the session of this leader; `resized` is
    /// called when the terminal has changed its size.
    pub(crate) fn address_session(
        &self,
        program: u32,
        leader: u32,
        resized: Box<dyn FnMut() + Send>,
    ) {
        if let (Some(program), Some(leader)) = (pid_of(program), pid_of(leader)) {
            self.set(SignalTarget::Session {
                program,
                leader,
                resized,
            });
        }
    }

    /// The program has ended; another process may soon have its pid.
    pub(crate) fn program_ended(&self) {
        self.set(SignalTarget::NoTarget { interrupted: false });
    }

    /// Whether there was a signal after the program had ended.
    pub(crate) fn interrupted(&self) -> bool {
        let addressee = self
            .addressee
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        matches!(*addressee, SignalTarget::NoTarget { interrupted: true })
    }

    /// Changes the addressee; kept signals go to the new one.
    fn set(&self, addressee: SignalTarget) {
        let mut current = self
            .addressee
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *current, addressee);
        drop(current);
        if let SignalTarget::Starting(kept) = before {
            kept.into_iter().for_each(|signal| self.take(signal));
        }
    }

    fn take(&self, signal: ReceivedSignal) {
        // The kernel sends these to the process that writes to a closed pipe, or to a file that is too long. To the tool
        // that is an error.
        if signal.sender() == SignalSender::ThisProcess || self.is_own(signal.number()) {
            return;
        }
        let mut addressee = self
            .addressee
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let number = signal.number();
        match &mut *addressee {
            SignalTarget::Tool => end_by(&signal),
            SignalTarget::Starting(kept) => kept.push(signal),
            SignalTarget::Program(program) => {
                self.quit(number);
                to_program(&signal, *program);
            }
            SignalTarget::Session { resized, .. } if number == SIGWINCH => resized(),
            SignalTarget::Session {
                program, leader, ..
            } => {
                self.quit(number);
                to_session(&signal, *program, *leader);
            }
            SignalTarget::NoTarget { interrupted } => {
                self.quit(number);
                // A terminal must not end a recording that was started to ignore it.
                let counts = signal.sender() == SignalSender::OtherProcess || !was_ignored(number);
                *interrupted |= INTERRUPTING.contains(&number) && counts;
            }
        }
    }

    /// Asks for the report, at `SIGQUIT`.
    fn quit(&self, number: i32) {
        if number == SIGQUIT {
            self.ask.get().into_iter().for_each(|ask| ask());
        }
    }
}

/// Applies a signal's default action to this process, as the program has not been started.
fn end_by(signal: &ReceivedSignal) {
    let number = signal.number();
    let is_for_nothing = number == SIGPIPE || was_ignored(number);
    if is_for_nothing || limits(signal) {
        return;
    }
    if signal_hook::low_level::emulate_default_handler(number).is_err() {
        signal_hook::low_level::exit(128 + number);
    }
}

/// The kernel has sent it to this process because of what this process does: it used a limit up, or a child ended.
fn limits(signal: &ReceivedSignal) -> bool {
    let by_terminal = [SIGHUP, SIGINT, SIGQUIT, SIGWINCH];
    let number = signal.number();
    signal.sender() == SignalSender::Kernel && number != SIGALRM && !by_terminal.contains(&number)
}

/// The program is in this process group, unless it has left it.
fn to_program(signal: &ReceivedSignal, program: Pid) {
    let is_for_it = match signal.sender() {
        SignalSender::OtherProcess => is_wanted(signal, program),
        // A timer that was set before the command was started.
        SignalSender::Kernel if signal.number() == SIGALRM => true,
        // A terminal that ends says so to the leader of its session, in addition to the group in its foreground.
        SignalSender::Kernel if signal.number() == SIGHUP => {
            getsid(None) == Ok(getpid()) && getpgid(Some(program)) != Ok(getpgrp())
        }
        // It has got signals of the terminal, and a limit is that of this process.
        SignalSender::Kernel | SignalSender::ThisProcess => false,
    };
    if is_for_it {
        // A program that is just ending cannot be signalled any more, and need not be.
        let _ = signal.pass_on_to(program.as_raw_nonzero().get());
    }
}

/// Signals of the terminal do not reach the program by itself: it is on a separate screen.
fn to_session(signal: &ReceivedSignal, program: Pid, leader: Pid) {
    let _ = match signal.sender() {
        SignalSender::OtherProcess if is_wanted(signal, program) => {
            signal.pass_on_to(program.as_raw_nonzero().get())
        }
        SignalSender::Kernel if signal.number() == SIGALRM => {
            signal.pass_on_to(program.as_raw_nonzero().get())
        }
        SignalSender::Kernel if !limits(signal) => {
            signal.pass_on_to_group(leader.as_raw_nonzero().get())
        }
        _ => Ok(()),
    };
}

/// Whether the program is to get a signal that another process has sent to this one. A program that does not expect
/// `SIGQUIT` would end by it, and not only be asked about.
fn is_wanted(signal: &ReceivedSignal, program: Pid) -> bool {
    if signal.number() != SIGQUIT {
        return true;
    }
    let path = format!("/proc/{}/status", program.as_raw_nonzero());
    let status = std::fs::read_to_string(path).unwrap_or_default();
    handled_signals(&status) >> (SIGQUIT - 1) & 1 != 0
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// The mask of signals with handlers in `/proc/PID/status`.
fn handled_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_with_handlers_are_read() {
        let status = "Name:\tx\nSigIgn:\t0000000000000001\nSigCgt:\t0000000000001004\n";
        assert_eq!(handled_signals(status), 0x1004);
        assert_eq!(handled_signals("Name:\tx\n"), 0);
    }
}
