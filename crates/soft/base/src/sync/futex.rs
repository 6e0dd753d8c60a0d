//! Sleeping until a word of memory changes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A thread that sleeps looks again after this time. The program may forbid the system call that would wake it (seccomp):
/// then a wake-up is lost unnoticed.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// The sleep of a thread that may not use futex.
const NAP: Duration = Duration::from_micros(100);

/// Sleeps while the word has this value: until a wake-up, at most for this time and at most for [`LONGEST_SLEEP`].
pub(super) fn sleep(word: &AtomicU32, value: u32, limit: Duration) {
    let limit = below_a_second(limit.min(LONGEST_SLEEP));
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word and the time live longer than the call, which changes neither.
    let slept = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation,
            value,
            &raw const limit,
        )
    };
    if slept != 0 && !has_usual_error() && word.load(Ordering::Relaxed) == value {
        let nap = below_a_second(NAP);
        // SAFETY: as above.
        unsafe { libc::nanosleep(&raw const nap, std::ptr::null_mut()) };
    }
}

fn below_a_second(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: 0,
        tv_nsec: libc::c_long::from(time.subsec_nanos() as i32),
    }
}

/// The time was over, a signal came, or the word had another value.
fn has_usual_error() -> bool {
    // SAFETY: the C library returns the place of this thread's number.
    let error = unsafe { *libc::__errno_location() };
    matches!(error, libc::ETIMEDOUT | libc::EINTR | libc::EAGAIN)
}

/// Wakes up to this number of threads that sleep at the word.
pub(super) fn wake(word: &AtomicU32, number: i32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the call uses the address of the word only as a name.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, number) };
}
