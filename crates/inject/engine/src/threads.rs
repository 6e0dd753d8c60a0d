//! Whether other threads are out of the way.
//!
//! A patch is several bytes of code, written while the program runs. A thread that runs there sees half
//! of them. So functions are patched only while every other thread of the process waits in the kernel,
//! outside the places of patches. A thread cannot return there later: code that calls from within the
//! first bytes of a function is not patched at all.

use core::ops::Range;
use std::fs;

/// How often running threads are given a chance to wait.
const TRIES: usize = 4;

/// Where a thread is, as far as the kernel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThreadPosition {
    Running,
    /// In the kernel, called from this address.
    Waits(usize),
    Gone,
}

/// Whether no other thread runs or is stopped in one of these ranges of code.
pub(crate) fn are_away(ranges: &[Range<usize>]) -> bool {
    (0..TRIES).any(|attempt| {
        if attempt > 0 {
            std::thread::yield_now();
        }
        others_are_away(ranges).unwrap_or(false)
    })
}

/// The same, checked once; `None` when the kernel does not say.
fn others_are_away(ranges: &[Range<usize>]) -> Option<bool> {
    // SAFETY: asks the kernel for a number.
    let own = unsafe { libc::syscall(libc::SYS_gettid) };
    for entry in fs::read_dir("/proc/self/task").ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name();
        let thread: i64 = name.to_str()?.parse().ok()?;
        if thread == own as i64 {
            continue;
        }
        let standing = match fs::read_to_string(entry.path().join("syscall")) {
            Ok(text) => parse(&text)?,
            // It ended meanwhile.
            Err(_) if !entry.path().exists() => ThreadPosition::Gone,
            Err(_) => return None,
        };
        match standing {
            ThreadPosition::Running => return Some(false),
            ThreadPosition::Waits(at) if ranges.iter().any(|range| range.contains(&at)) => {
                return Some(false);
            }
            ThreadPosition::Waits(_) | ThreadPosition::Gone => {}
        }
    }
    Some(true)
}

/// A line of `/proc/…/syscall`: `running`, or numbers of which the last is the address.
fn parse(text: &str) -> Option<ThreadPosition> {
    let text = text.trim();
    match text {
        "running" => Some(ThreadPosition::Running),
        "" => Some(ThreadPosition::Gone),
        _ => {
            let address = text.rsplit(' ').next()?.strip_prefix("0x")?;
            usize::from_str_radix(address, 16)
                .ok()
                .map(ThreadPosition::Waits)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    #[test]
    fn the_kernels_lines_are_understood() {
        assert_eq!(parse("running\n"), Some(ThreadPosition::Running));
        let waits = "202 0x7f 0x80 0x0 0x0 0x0 0x0 0x7ffd10 0x7f1234\n";
        assert_eq!(parse(waits), Some(ThreadPosition::Waits(0x7f1234)));
        assert_eq!(
            parse("-1 0x7ffd10 0x401000\n"),
            Some(ThreadPosition::Waits(0x401000))
        );
        assert_eq!(parse(""), Some(ThreadPosition::Gone));
        assert_eq!(parse("something else"), None);
    }

    /// Other tests run in threads of this process and change the result, so a child checks.
    fn in_child(look: impl FnOnce() -> bool) -> Option<bool> {
        if fs::read_to_string("/proc/self/syscall").is_err() {
            eprintln!("skipped: the kernel does not say what threads do");
            return None;
        }
        // SAFETY: the child only looks at its own threads and ends.
        match unsafe { libc::fork() } {
            0 => {
                let answer = look();
                // SAFETY: ends the child without running anything of the parent's.
                unsafe { libc::_exit(i32::from(answer)) }
            }
            child => {
                let mut status = 0;
                // SAFETY: waits for the child.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                Some(libc::WEXITSTATUS(status) == 1)
            }
        }
    }

    #[test]
    fn a_process_with_one_thread_may_be_patched() {
        assert_ne!(
            in_child(|| are_away(std::slice::from_ref(&(0..usize::MAX)))),
            Some(false)
        );
    }

    #[test]
    fn a_running_thread_prevents_a_patch_and_a_waiting_one_only_at_its_address() {
        let running = in_child(|| {
            static STOP: AtomicBool = AtomicBool::new(false);
            let thread = std::thread::spawn(|| {
                while !STOP.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let answer = are_away(&[]);
            STOP.store(true, Ordering::Relaxed);
            let _ = thread.join();
            answer
        });
        assert_ne!(running, Some(true));
        let waiting = in_child(|| {
            let (sender, receiver) = mpsc::channel::<()>();
            let _thread = std::thread::spawn(move || receiver.recv());
            // Until it waits, it runs.
            while !are_away(&[]) {}
            let answer = !are_away(std::slice::from_ref(&(0..usize::MAX)));
            drop(sender);
            answer
        });
        assert_ne!(waiting, Some(false));
    }
}
