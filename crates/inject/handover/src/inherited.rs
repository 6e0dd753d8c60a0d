//! What this process was given, looked at before anything could change it.

use std::mem::{MaybeUninit, zeroed};
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::{Acquire, Release};

/// Signals are numbered from 1 to this.
const SIGNALS: i32 = 64;

/// State that a process inherits.
#[derive(Clone, Copy)]
pub(crate) struct InheritedState {
    /// A bit for each signal, from the lowest for signal 1.
    ignored: u64,
    blocked: libc::sigset_t,
    /// A bit for each standard stream that was closed.
    pub(crate) closed: u8,
}

const UNKNOWN: u8 = 0;
const KNOWN: u8 = 1;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static mut INHERITED: MaybeUninit<InheritedState> = MaybeUninit::uninit();

/// The inherited state. Where the loader has not run [`note`], as in a process that loads this code
/// late, it is the present state.
pub(crate) fn get() -> InheritedState {
    match STATE.load(Acquire) {
        // SAFETY: written once, before the state says so, and never again.
        KNOWN => unsafe { (&raw const INHERITED).read().assume_init() },
        _ => InheritedState::look(),
    }
}

/// Called by the loader before `main`, when there is one thread.
extern "C" fn note() {
    let given = InheritedState::look();
    // SAFETY: the state below announces it to readers; no other writer exists.
    unsafe { (&raw mut INHERITED).write(MaybeUninit::new(given)) };
    STATE.store(KNOWN, Release);
    if given.is_ignored(libc::SIGCHLD) {
        // SAFETY: the default for this signal is to do nothing.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

#[used]
// SAFETY: the loader calls the functions of this section, without arguments that are used here.
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

impl InheritedState {
    fn look() -> Self {
        let mut ignored = 0;
        for signal in 1..=SIGNALS {
            // SAFETY: an action of zeros is a valid out-parameter; numbers that libc keeps for itself are
            // refused.
            let handler = unsafe {
                let mut action: libc::sigaction = zeroed();
                match libc::sigaction(signal, std::ptr::null(), &mut action) {
                    0 => action.sa_sigaction,
                    _ => libc::SIG_DFL,
                }
            };
            if handler == libc::SIG_IGN {
                ignored |= 1 << (signal - 1);
            }
        }
        let mut closed = 0;
        for stream in libc::STDIN_FILENO..=libc::STDERR_FILENO {
            // SAFETY: asks for a flag of a descriptor that may not be there.
            if unsafe { libc::fcntl(stream, libc::F_GETFD) } < 0 {
                closed |= 1 << stream;
            }
        }
        // SAFETY: a set of zeros is a valid out-parameter, and nothing is changed.
        let blocked = unsafe {
            let mut blocked: libc::sigset_t = zeroed();
            libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &mut blocked);
            blocked
        };
        Self {
            ignored,
            blocked,
            closed,
        }
    }

    pub(crate) fn is_ignored(&self, signal: i32) -> bool {
        (1..=SIGNALS).contains(&signal) && self.ignored >> (signal - 1) & 1 != 0
    }

    /// Restores the signals of this process. Only between fork and exec, after which no handlers exist
    /// that this would remove.
    pub(crate) fn restore_signals(&self) {
        for signal in 1..=SIGNALS {
            let handler = match self.is_ignored(signal) {
                true => libc::SIG_IGN,
                false => libc::SIG_DFL,
            };
            // SAFETY: neither runs code of this crate; impossible changes are refused.
            unsafe { libc::signal(signal, handler) };
        }
        // SAFETY: the set is whole.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.blocked, std::ptr::null_mut()) };
    }
}

/// Closes the streams with set bits.
pub(crate) fn close_streams(streams: u8) {
    for stream in libc::STDIN_FILENO..=libc::STDERR_FILENO {
        if streams >> stream & 1 != 0 {
            // SAFETY: between fork and exec nothing uses it any more.
            unsafe { libc::close(stream) };
        }
    }
}
