//! Calls functions in one thread of another process, by the kernel's interface for debuggers (`ptrace`).
//!
//! One thread is stopped, in a system call in which it waits. The other threads of the process run on. Afterwards the thread has its
//! registers and blocked signals as before, and the kernel makes its system call go on.
//!
//! **Invariant: a thread is not left in the middle of this.** No signal reaches this process meanwhile, and the registers are
//! restored in any case. Only `SIGKILL` for this process could prevent it.

#![expect(
    unsafe_code,
    reason = "ptrace has no safe interface in the standard library"
)]

mod blocked_signals;
mod registers;
mod requests;

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use blocked_signals::BlockedSignals;
use registers::{Registers, VectorRegisters};
use requests::Change;

/// Why a call in another thread has no result.
#[derive(Debug)]
pub enum CallError {
    /// The thread is not in a system call that the kernel would make again.
    NotWaiting,
    /// The kernel refuses.
    System(io::Error),
    /// The thread has ended, or its process.
    Ended,
    /// A signal has stopped the function: its number.
    Fault(i32),
    /// The function has not returned in time.
    TooLong,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWaiting => f.write_str("the thread does not wait in a system call any more"),
            Self::System(error) => error.fmt(f),
            Self::Ended => f.write_str("it has ended"),
            Self::Fault(signal) => write!(f, "signal {signal} has stopped the call"),
            Self::TooLong => f.write_str("the call has not returned in time"),
        }
    }
}

impl std::error::Error for CallError {}

impl From<io::Error> for CallError {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::ESRCH) => Self::Ended,
            _ => Self::System(error),
        }
    }
}

/// A thread of another process that is stopped while this lives.
#[derive(Debug)]
pub struct HeldThread {
    tid: i32,
    registers: Registers,
    vectors: VectorRegisters,
    signals: u64,
    /// Since when it does not run by itself.
    since: Instant,
    has_ended: bool,
    // Last: signals reach this process when the thread is free again.
    _blocked: BlockedSignals,
}

/// Signals that the kernel sends for an instruction of the thread itself. Those are never blocked: the kernel would
/// forget the program's handler.
const OF_INSTRUCTIONS: [i32; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// Time limit for a thread to stop.
const STOP: Duration = Duration::from_secs(2);

impl HeldThread {
    /// Stops a thread that waits in a system call which the kernel makes again after an interruption.
    ///
    /// # Errors
    /// The kernel refuses, the thread has ended, or it is in no such call. It runs on.
    pub fn hold(tid: u32) -> Result<Self, CallError> {
        let tid = i32::try_from(tid).map_err(|_| CallError::Ended)?;
        let blocked = BlockedSignals::begin()?;
        requests::seize(tid)?;
        let since = Instant::now();
        let held = Self::stop(tid).and_then(|registers| {
            if !registers.is_waiting() {
                return Err(CallError::NotWaiting);
            }
            let vectors = VectorRegisters::of(tid)?;
            let signals = requests::blocked_signals(tid)?;
            Ok((registers, vectors, signals))
        });
        match held {
            Ok((registers, vectors, signals)) => Ok(Self {
                tid,
                registers,
                vectors,
                signals,
                since,
                has_ended: false,
                _blocked: blocked,
            }),
            Err(error) => {
                // It may have ended.
                let _ = requests::detach(tid);
                Err(error)
            }
        }
    }

    fn stop(tid: i32) -> Result<Registers, CallError> {
        requests::interrupt(tid)?;
        loop {
            match requests::wait(tid, Instant::now() + STOP)? {
                Change::Stopped => return Ok(Registers::of(tid)?),
                // A signal was first: the thread gets it, and is stopped after that.
                Change::Signal(signal) => requests::resume(tid, signal)?,
                Change::Ended => return Err(CallError::Ended),
                Change::None => return Err(CallError::TooLong),
            }
        }
    }

    /// The stack pointer of the thread.
    #[must_use]
    pub fn stack(&self) -> u64 {
        self.registers.stack()
    }

    /// The next instruction of the thread.
    #[must_use]
    pub fn instruction(&self) -> u64 {
        self.registers.instruction()
    }

    /// The time since the thread was stopped.
    #[must_use]
    pub fn held_for(&self) -> Duration {
        self.since.elapsed()
    }

    /// Calls the function at this address in the thread. The function returns to address 0, and the kernel reports that. On x86-64 the
    /// word at [`return_place`] of `stack` must be 0.
    ///
    /// # Errors
    /// The function did not return. The registers are those from before.
    pub fn call(
        &mut self,
        function: u64,
        arguments: &[u64],
        stack: u64,
        limit: Duration,
    ) -> Result<u64, CallError> {
        let allowed: u64 = OF_INSTRUCTIONS
            .iter()
            .map(|it| 1 << (it - 1))
            .fold(0, |all, one| all | one);
        requests::block_signals(self.tid, !allowed)?;
        let called = self.call_here(function, arguments, stack, limit);
        if matches!(called, Err(CallError::Ended)) {
            self.has_ended = true;
            return called;
        }
        self.restore()?;
        called
    }

    fn call_here(
        &self,
        function: u64,
        arguments: &[u64],
        stack: u64,
        limit: Duration,
    ) -> Result<u64, CallError> {
        self.registers
            .calling(function, arguments, stack)
            .set(self.tid)?;
        requests::resume(self.tid, 0)?;
        let until = Instant::now() + limit;
        loop {
            match requests::wait(self.tid, until)? {
                Change::Signal(libc::SIGSEGV) => {
                    let registers = Registers::of(self.tid)?;
                    return match registers.instruction() {
                        0 => Ok(registers.result()),
                        _ => Err(CallError::Fault(libc::SIGSEGV)),
                    };
                }
                Change::Signal(signal) => return Err(CallError::Fault(signal)),
                // The process is being stopped as a whole: it goes on until this is over.
                Change::Stopped => requests::resume(self.tid, 0)?,
                Change::Ended => return Err(CallError::Ended),
                Change::None => {
                    // Between two instructions of the function, which then never ends.
                    requests::interrupt(self.tid)?;
                    requests::wait(self.tid, Instant::now() + STOP)?;
                    return Err(CallError::TooLong);
                }
            }
        }
    }

    fn restore(&self) -> Result<(), CallError> {
        self.vectors.set(self.tid)?;
        self.registers.set(self.tid)?;
        requests::block_signals(self.tid, self.signals)?;
        Ok(())
    }
}

impl Drop for HeldThread {
    fn drop(&mut self) {
        if !self.has_ended {
            // They fail if the thread has ended.
            let _ = self.restore();
            let _ = requests::detach(self.tid);
        }
    }
}

/// Where a function that is called with this stack finds the address to return to. `None` where that is in a register.
#[must_use]
pub fn return_place(stack: u64) -> Option<u64> {
    registers::return_place(stack)
}
