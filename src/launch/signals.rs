//! Signals that the tool gets while the program runs.
//!
//! The tool must outlive the program to complete the trace, so signals that would end it are
//! passed on instead. What the terminal sends reaches the program by itself, as it is in the same
//! foreground group; only a program on a screen of its own needs that passed on too.
//!
//! `SIGQUIT` is for the tool: it asks what the program waits for. The key that sends it ends the program by itself.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ascend_trace_handover::was_ignored;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGXFSZ};
use signal_hook::iterator::Signals;

/// Signals that end a process that does not expect them.
const PASSED_ON: [i32; 5] = [SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2];

/// Who signals are for.
enum Addressee {
    /// The program has not been started: they are for the tool itself.
    Tool,
    /// The program is being started: they are kept until it is known who it is.
    Starting(Vec<i32>),
    /// The program, in the tool's own process group.
    Program(Pid),
    /// The program, in a session of its own.
    Session {
        leader: Pid,
        resized: Box<dyn FnMut() + Send>,
    },
    /// The program has ended; the tool is completing the trace, or records what the program left
    /// behind until it gets one of these signals.
    Nobody { interrupted: bool },
}

/// What is done when somebody asks what the program waits for.
type Ask = Box<dyn Fn() + Send + Sync>;

/// Passes signals on for as long as the tool runs.
#[derive(Clone)]
pub(crate) struct Relay {
    addressee: Arc<Mutex<Addressee>>,
    ask: Arc<OnceLock<Ask>>,
}

impl Relay {
    /// Begins to listen. Signals that the tool was told to ignore stay ignored, for the program too.
    pub(crate) fn start() -> io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = ignored_signals(&status);
        // A trace that reaches the limit for files is to be an error, not the tool's end.
        let wanted = PASSED_ON.into_iter().chain([SIGWINCH, SIGXFSZ]);
        let mut wanted: Vec<i32> = wanted
            .filter(|signal| ignored >> (signal - 1) & 1 == 0)
            .collect();
        // Shells start what runs in the background with this one ignored. It is not passed on, so the tool may
        // hear it all the same.
        wanted.push(SIGQUIT);
        let mut signals = Signals::new(wanted)?;
        let relay = Self {
            addressee: Arc::new(Mutex::new(Addressee::Tool)),
            ask: Arc::default(),
        };
        let listener = relay.clone();
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                signals
                    .forever()
                    .for_each(|signal| listener.pass_on(signal))
            })?;
        Ok(relay)
    }

    /// From now on this is done at `SIGQUIT`.
    pub(crate) fn on_quit(&self, ask: impl Fn() + Send + Sync + 'static) {
        // There is one recording in a process.
        let _ = self.ask.set(Box::new(ask));
    }

    /// The program is about to be started, and may run before its pid is known here.
    pub(crate) fn starting(&self) {
        self.set(Addressee::Starting(Vec::new()));
    }

    /// From now on signals are for this program.
    pub(crate) fn address(&self, pid: u32) {
        if let Some(pid) = pid_of(pid) {
            self.set(Addressee::Program(pid));
        }
    }

    /// From now on signals are for this program, which leads a session of its own; `resized` is
    /// called when the terminal has changed its size.
    pub(crate) fn address_session(&self, pid: u32, resized: Box<dyn FnMut() + Send>) {
        if let Some(leader) = pid_of(pid) {
            self.set(Addressee::Session { leader, resized });
        }
    }

    /// The program has ended; its pid may soon be somebody else's.
    pub(crate) fn program_ended(&self) {
        self.set(Addressee::Nobody { interrupted: false });
    }

    /// Whether there was a signal after the program had ended.
    pub(crate) fn interrupted(&self) -> bool {
        let addressee = self
            .addressee
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        matches!(*addressee, Addressee::Nobody { interrupted: true })
    }

    /// Changes the addressee; what was kept goes to the new one.
    fn set(&self, addressee: Addressee) {
        let mut current = self
            .addressee
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *current, addressee);
        drop(current);
        if let Addressee::Starting(kept) = before {
            kept.into_iter().for_each(|number| self.pass_on(number));
        }
    }

    fn pass_on(&self, number: i32) {
        if number == SIGXFSZ {
            return;
        }
        let mut addressee = self
            .addressee
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if number == SIGWINCH {
            if let Addressee::Session { resized, .. } = &mut *addressee {
                resized();
            }
            return;
        }
        if number == SIGQUIT {
            self.quit(&mut addressee);
            return;
        }
        let Some(signal) = Signal::from_named_raw(number) else {
            return;
        };
        // A program that is just ending cannot be signalled any more, and need not be.
        let _ = match &mut *addressee {
            Addressee::Starting(kept) => {
                kept.push(number);
                Ok(())
            }
            Addressee::Tool => {
                let _ = signal_hook::low_level::emulate_default_handler(number);
                Ok(())
            }
            Addressee::Program(_) if number == SIGINT && in_foreground() => Ok(()),
            Addressee::Program(pid) => kill_process(*pid, signal),
            Addressee::Session { leader, .. } => kill_process_group(*leader, signal),
            Addressee::Nobody { interrupted } => {
                *interrupted = true;
                Ok(())
            }
        };
    }

    /// Somebody asks what the program waits for. Before there is one, the signal means what it always does.
    fn quit(&self, addressee: &mut Addressee) {
        match addressee {
            Addressee::Tool if was_ignored(SIGQUIT) => {}
            Addressee::Tool => {
                let _ = signal_hook::low_level::emulate_default_handler(SIGQUIT);
            }
            Addressee::Starting(kept) => kept.push(SIGQUIT),
            Addressee::Program(_) | Addressee::Session { .. } | Addressee::Nobody { .. } => {
                self.ask.get().into_iter().for_each(|ask| ask());
            }
        }
    }
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Whether the terminal's keys reach this process group.
fn in_foreground() -> bool {
    let terminal = File::open("/dev/tty");
    terminal.is_ok_and(|terminal| {
        rustix::termios::tcgetpgrp(terminal) == Ok(rustix::process::getpgrp())
    })
}

/// The mask of ignored signals in `/proc/self/status`.
fn ignored_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read() {
        assert_eq!(
            ignored_signals("Name:\tx\nSigIgn:\t0000000000001001\n"),
            0x1001
        );
        assert_eq!(ignored_signals("Name:\tx\n"), 0);
    }
}
