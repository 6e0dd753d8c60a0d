//! The requests to the kernel. A thread that another thread has stopped is only for that one: all requests are of one thread.

use std::ffi::c_void;
use std::io;
use std::ptr;
use std::time::{Duration, Instant};

const SEIZE: u32 = 0x4206;
const INTERRUPT: u32 = 0x4207;
const GET_REGISTERS: u32 = 0x4204;
const SET_REGISTERS: u32 = 0x4205;
const GET_BLOCKED: u32 = 0x420a;
const SET_BLOCKED: u32 = 0x420b;
const RESUME: u32 = 7;
const DETACH: u32 = 17;

/// Time between looks at a thread.
const INTERVAL: Duration = Duration::from_micros(100);

/// The next event of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It is stopped as was asked, or with its whole process.
    Stopped,
    /// It is stopped because it is about to get this signal.
    Signal(i32),
    Ended,
    /// Nothing has happened in time.
    None,
}

fn request(number: u32, tid: i32, address: usize, data: *mut c_void) -> io::Result<()> {
    // SAFETY: for the requests here, the kernel checks the thread and all addresses, and writes only to the buffer that `data`
    // describes, which the callers keep alive.
    let result = unsafe { libc::ptrace(number, tid, address as *mut c_void, data) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

pub(crate) fn seize(tid: i32) -> io::Result<()> {
    request(SEIZE, tid, 0, ptr::null_mut())
}

pub(crate) fn interrupt(tid: i32) -> io::Result<()> {
    request(INTERRUPT, tid, 0, ptr::null_mut())
}

/// Has a stopped thread run, and get this signal unless it is 0.
pub(crate) fn resume(tid: i32, signal: i32) -> io::Result<()> {
    request(RESUME, tid, 0, ptr::without_provenance_mut(signal as usize))
}

pub(crate) fn detach(tid: i32) -> io::Result<()> {
    request(DETACH, tid, 0, ptr::null_mut())
}

/// Reads a set of registers; returns the number of bytes.
pub(crate) fn registers(tid: i32, set: usize, into: &mut [u64]) -> io::Result<usize> {
    let mut part = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: size_of_val(into),
    };
    request(GET_REGISTERS, tid, set, (&raw mut part).cast())?;
    Ok(part.iov_len)
}

/// Writes the first bytes of a set of registers.
pub(crate) fn set_registers(tid: i32, set: usize, from: &[u64], bytes: usize) -> io::Result<()> {
    let mut part = libc::iovec {
        iov_base: from.as_ptr().cast_mut().cast(),
        iov_len: bytes.min(size_of_val(from)),
    };
    request(SET_REGISTERS, tid, set, (&raw mut part).cast())
}

/// The signals that a thread does not get now, as bits.
pub(crate) fn blocked_signals(tid: i32) -> io::Result<u64> {
    let mut signals = 0u64;
    request(
        GET_BLOCKED,
        tid,
        size_of::<u64>(),
        (&raw mut signals).cast(),
    )?;
    Ok(signals)
}

pub(crate) fn block_signals(tid: i32, mut signals: u64) -> io::Result<()> {
    request(
        SET_BLOCKED,
        tid,
        size_of::<u64>(),
        (&raw mut signals).cast(),
    )
}

/// Waits for the next change of a thread.
pub(crate) fn wait(tid: i32, until: Instant) -> io::Result<Change> {
    loop {
        let mut status = 0;
        // SAFETY: writes to a live local.
        let found = unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL | libc::WNOHANG) };
        if found == tid {
            return Ok(change(status));
        }
        if found == -1 {
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::ECHILD) => return Ok(Change::Ended),
                Some(libc::EINTR) => {}
                _ => return Err(error),
            }
        }
        if Instant::now() >= until {
            return Ok(Change::None);
        }
        std::thread::sleep(INTERVAL);
    }
}

fn change(status: i32) -> Change {
    if !libc::WIFSTOPPED(status) {
        return Change::Ended;
    }
    match status >> 16 {
        0 => Change::Signal(libc::WSTOPSIG(status)),
        _ => Change::Stopped,
    }
}
