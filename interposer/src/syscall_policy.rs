//! System calls that the program's threads make for us. A program may have given them up (seccomp): then
//! one more kills it, so from there on none is made, and what needs them is left out.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32};

use crate::system;

/// The program has given system calls up.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Whether the program's threads may make system calls for us.
pub(crate) fn is_allowed() -> bool {
    !GIVEN_UP.load(Acquire)
}

/// The program is about to give system calls up.
pub(crate) fn give_up() {
    pid();
    GIVEN_UP.store(true, Release);
    ascend_trace_ring::give_up_system_calls();
}

/// Leaves the processor to other threads for a short time.
pub(crate) fn yield_now() {
    if is_allowed() {
        // SAFETY: gives the processor to waiting threads.
        unsafe { system::call(libc::SYS_sched_yield, [0; 6]) };
    } else {
        core::hint::spin_loop();
    }
}

/// Sleeps, or only waits for a short time.
pub(crate) fn sleep(nanoseconds: i64) {
    if is_allowed() {
        sleep_always(nanoseconds);
    } else {
        (0..1000).for_each(|_| core::hint::spin_loop());
    }
}

/// Waits half a millisecond for what another thread is about to do.
pub(crate) fn pause() {
    sleep(500_000);
}

/// Sleeps, also when the program has given system calls up and the kernel does not know yet.
pub(crate) fn sleep_always(nanoseconds: i64) {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: nanoseconds,
    };
    let place = &raw const time as usize;
    // SAFETY: sleeps for the time in a live local.
    unsafe { system::call(libc::SYS_nanosleep, [place, 0, 0, 0, 0, 0]) };
}

/// The calling thread's number; 0 where system calls are not allowed.
pub(crate) fn tid() -> u32 {
    match is_allowed() {
        // SAFETY: always succeeds.
        true => unsafe { system::call(libc::SYS_gettid, [0; 6]) as u32 },
        false => 0,
    }
}

/// The process's number; that of the process that this one was forked from where system calls are not
/// allowed.
pub(crate) fn pid() -> u32 {
    if is_allowed() {
        // SAFETY: always succeeds.
        let pid = unsafe { system::call(libc::SYS_getpid, [0; 6]) as u32 };
        PID.store(pid, Relaxed);
    }
    PID.load(Relaxed)
}

static PID: AtomicU32 = AtomicU32::new(0);

/// Whether the calling thread may be on another stack than `address` is on: on its alternate one for
/// signals.
pub(crate) fn is_on_other_stack(address: usize) -> bool {
    if !is_allowed() {
        return true;
    }
    // SAFETY: an all-zero stack is a valid out-parameter.
    let mut stack: libc::stack_t = unsafe { core::mem::zeroed() };
    let place = &raw mut stack as usize;
    // SAFETY: only asks; `stack` is a live local.
    let answer = unsafe { system::call(libc::SYS_sigaltstack, [0, place, 0, 0, 0, 0]) };
    let begin = stack.ss_sp as usize;
    answer == 0
        && stack.ss_flags & libc::SS_ONSTACK != 0
        && !(begin..begin.wrapping_add(stack.ss_size)).contains(&address)
}

/// The word at an address that may be unmapped: then a value that never occurs by chance. `None` when
/// that is not known.
pub(crate) fn word_at(address: usize) -> Option<u64> {
    if !is_allowed() {
        return None;
    }
    let mut word = 0u64;
    let local = libc::iovec {
        iov_base: (&raw mut word).cast(),
        iov_len: size_of::<u64>(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut core::ffi::c_void,
        iov_len: size_of::<u64>(),
    };
    let (local, remote) = (&raw const local as usize, &raw const remote as usize);
    let args = [pid() as usize, local, 1, remote, 1, 0];
    // SAFETY: reads into a live local; the kernel checks the address.
    let read = unsafe { system::call(libc::SYS_process_vm_readv, args) };
    match read {
        8 => Some(word),
        _ if read == -(libc::EFAULT as isize) => Some(0),
        _ => None,
    }
}

/// Copies words from an address that may be unmapped; returns the number of copied bytes.
pub(crate) fn words_at(address: usize, into: &[core::cell::Cell<u64>]) -> usize {
    if !is_allowed() {
        return 0;
    }
    let local = libc::iovec {
        iov_base: into.as_ptr().cast_mut().cast(),
        iov_len: size_of_val(into),
    };
    let remote = libc::iovec {
        iov_base: address as *mut core::ffi::c_void,
        iov_len: size_of_val(into),
    };
    let (local, remote) = (&raw const local as usize, &raw const remote as usize);
    let args = [pid() as usize, local, 1, remote, 1, 0];
    // SAFETY: writes to cells without references to their contents; the kernel checks the address.
    let read = unsafe { system::call(libc::SYS_process_vm_readv, args) };
    usize::try_from(read).unwrap_or(0)
}

/// Whether the word at the begin of a page can be read.
pub(crate) fn is_readable(page: usize) -> bool {
    if !is_allowed() {
        return false;
    }
    let mut word = 0u64;
    let [local, remote] = [&raw mut word as usize, page].map(|place| libc::iovec {
        iov_base: place as *mut core::ffi::c_void,
        iov_len: size_of::<u64>(),
    });
    let (local, remote) = (&raw const local as usize, &raw const remote as usize);
    let args = [pid() as usize, local, 1, remote, 1, 0];
    // SAFETY: reads into a live local; the kernel checks the address.
    unsafe { system::call(libc::SYS_process_vm_readv, args) == size_of::<u64>() as isize }
}

/// The target of a link, as far as it fits; returns its length, 0 on failure.
pub(crate) fn link(path: &core::ffi::CStr, into: &mut [u8]) -> usize {
    let (here, place) = (libc::AT_FDCWD as usize, into.as_mut_ptr() as usize);
    let args = [here, path.as_ptr() as usize, place, into.len(), 0, 0];
    // SAFETY: the path is a C string, and the room has the passed length.
    let length = unsafe { system::call(libc::SYS_readlinkat, args) };
    usize::try_from(length).unwrap_or(0).min(into.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_where_there_is_one() {
        let word = 0x1234_5678u64;
        if let Some(read) = word_at(core::ptr::from_ref(&word) as usize) {
            assert_eq!(read, word);
            assert_eq!(word_at(64), Some(0));
        }
    }

    #[test]
    fn a_thread_without_an_alternate_stack_is_on_its_own() {
        let local = 0u8;
        assert!(!is_on_other_stack(core::ptr::from_ref(&local) as usize));
    }
}
