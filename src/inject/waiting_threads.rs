//! Threads that wait in a system call, and hold no lock of the loader or of the memory allocator there.
//!
//! Neither of them makes these calls while it holds its locks, but one: a wait for a lock is a `futex` as well. Each lock of the C
//! library, of C++ and of Rust has the value 2 while threads wait for it, and condition variables, semaphores and
//! joins do not. The kernel makes all of these calls again after an interruption, so the program does not notice it.

use std::fs;
use std::io;

use super::checks;
use super::functions::LoaderFunctions;
use crate::processes::place;

/// Bytes of the instruction for a system call. The kernel may show the thread at its begin or its end.
pub(super) const INSTRUCTION: u64 = if cfg!(target_arch = "x86_64") { 2 } else { 4 };

/// The value of a lock that threads wait for.
const LOCKED: u64 = 2;
/// Without the flags of a `futex`.
const COMMAND: u64 = 127;
const WAIT: u64 = 0;
const WAIT_BITSET: u64 = 9;

/// The numbers of system calls.
#[cfg(target_arch = "x86_64")]
mod numbers {
    pub(super) const FUTEX: u64 = 202;
    pub(super) const READ: u64 = 0;
    /// `poll`, `select`, `nanosleep`, `wait4`, `clock_nanosleep`, `waitid`, `pselect6`, `ppoll`.
    pub(super) const WAITS: &[u64] = &[7, 23, 35, 61, 230, 247, 270, 271];
}

#[cfg(not(target_arch = "x86_64"))]
mod numbers {
    pub(super) const FUTEX: u64 = 98;
    pub(super) const READ: u64 = 63;
    /// `pselect6`, `ppoll`, `waitid`, `nanosleep`, `clock_nanosleep`, `wait4`.
    pub(super) const WAITS: &[u64] = &[72, 73, 95, 101, 115, 260];
}

/// A thread and the place where it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaitingThread {
    pub(super) tid: u32,
    pub(super) stack: u64,
    /// After the system call.
    pub(super) instruction: u64,
    /// It waits for other threads of its process.
    is_shared: bool,
}

/// The threads of a process that wait so now, in the order of preference.
pub(super) fn find(pid: u32, functions: &LoaderFunctions) -> anyhow::Result<Vec<WaitingThread>> {
    let mut found = Vec::new();
    for task in fs::read_dir(place(pid, "task"))?.flatten() {
        let Some(tid) = task.file_name().to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        let line = match fs::read_to_string(task.path().join("syscall")) {
            Ok(line) => line,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(checks::refusal(pid, &error));
            }
            // It has ended.
            Err(_) => continue,
        };
        let waiting = waiting(tid, &line, |file| is_stream(pid, file));
        found.extend(waiting.filter(|it| functions.are_at(it.instruction)));
    }
    found.sort_by_key(|it| (it.is_shared, it.tid));
    Ok(found)
}

/// The thread of a line of `/proc/PID/task/TID/syscall`, if it waits so.
fn waiting(tid: u32, line: &str, is_stream: impl Fn(u64) -> bool) -> Option<WaitingThread> {
    let mut words = line.split_ascii_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    let values: Vec<u64> = words
        .map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok())
        .collect::<Option<_>>()?;
    let &[first, second, third, .., stack, instruction] = &values[..] else {
        return None;
    };
    let is_shared = number == numbers::FUTEX;
    let waits = match number {
        numbers::FUTEX => {
            // The kernel uses 32 bits of both.
            let (command, value) = (second & COMMAND, third & u64::from(u32::MAX));
            [WAIT, WAIT_BITSET].contains(&command) && value != LOCKED
        }
        numbers::READ => is_stream(first),
        number => numbers::WAITS.contains(&number),
    };
    waits.then_some(WaitingThread {
        tid,
        stack,
        instruction,
        is_shared,
    })
}

/// Whether a descriptor is a pipe or a terminal: the loader reads files only.
fn is_stream(pid: u32, file: u64) -> bool {
    let link = fs::read_link(place(pid, &format!("fd/{file}"))).unwrap_or_default();
    let link = link.to_string_lossy();
    link.starts_with("pipe:") || link.starts_with("/dev/pts/") || link.starts_with("/dev/tty")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: u64, arguments: &str) -> Option<WaitingThread> {
        let line = format!("{number} {arguments} 0x7ff0 0x401000\n");
        waiting(5, &line, |file| file == 0)
    }

    fn futex(command: u64, value: u64) -> Option<WaitingThread> {
        of(
            numbers::FUTEX,
            &format!("0x10 {command:#x} {value:#x} 0x0 0x0 0x0"),
        )
    }

    #[test]
    fn waits_for_locks_are_no_places_for_a_call() {
        assert!(futex(0x189, 0).is_some(), "a condition variable");
        assert!(futex(0x109, 4711).is_some(), "a join");
        assert!(futex(0x80, 1).is_some(), "an older condition variable");
        assert!(futex(0x80, 2).is_none(), "a lock of the C library");
        assert!(futex(0x89, 2).is_none(), "a lock of Rust");
        assert!(futex(0x89, 0xffff_ffff_0000_0002).is_none(), "32 bits");
        assert!(futex(0x8d, 0).is_none(), "a lock with priorities");
        assert!(futex(0x81, 0).is_none(), "no wait");
    }

    #[test]
    fn calls_that_the_kernel_makes_again_are_places_for_a_call() {
        let none = "0x0 0x0 0x0 0x0 0x0 0x0";
        for number in numbers::WAITS {
            let found = of(*number, none).unwrap();
            assert_eq!((found.stack, found.instruction), (0x7ff0, 0x401000));
        }
        assert!(of(numbers::READ, none).is_some(), "of a pipe");
        assert!(
            of(numbers::READ, "0x3 0x0 0x0 0x0 0x0 0x0").is_none(),
            "of a file"
        );
        // `mmap`, `close` and `epoll_wait`, for example.
        for number in [9, 3, 232, 22] {
            assert!(of(number, none).is_none(), "{number}");
        }
        assert!(waiting(5, "running\n", |_| true).is_none());
        assert!(waiting(5, "-1 0x7ff0 0x401000\n", |_| true).is_none());
    }
}
