//! Which of the recorded processes are still there.
//!
//! Giving a channel back while its process still writes would corrupt the recording, so a process
//! counts as gone only when no namespace has it.

use std::collections::HashMap;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::clock;

/// Time between looks at the same process.
const INTERVAL_NS: i64 = 100_000_000;

/// What is known about processes by their pid.
#[derive(Default)]
pub(crate) struct Liveness {
    gone: HashMap<u32, bool>,
    looked_ns: i64,
}

impl Liveness {
    /// Forgets what was seen when it is too old, or at once when `now`.
    pub(crate) fn refresh(&mut self, at_once: bool) {
        let now = clock::now();
        if at_once || now - self.looked_ns >= INTERVAL_NS {
            self.gone.clear();
            self.looked_ns = now;
        }
    }

    /// Whether the process has ended, as of the last refresh.
    pub(crate) fn gone(&mut self, pid: u32) -> bool {
        *self.gone.entry(pid).or_insert_with(|| !exists(pid))
    }

    /// Notes that the process has been waited for.
    pub(crate) fn set_gone(&mut self, pid: u32) {
        self.gone.insert(pid, true);
    }
}

fn exists(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    match test_kill_process(pid) {
        Err(Errno::SRCH) => is_inner_pid(pid.as_raw_nonzero().get()),
        _ => !is_left_over(pid.as_raw_nonzero().get()),
    }
}

/// Whether nothing but the exit status is left of a process, for a parent that takes its time. A
/// first thread that has ended alone looks the same, but other threads stand beside it.
fn is_left_over(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|state| state.starts_with(['Z', 'X']))
        && std::fs::read_dir(format!("/proc/{pid}/task")).is_ok_and(|tasks| tasks.count() <= 1)
}

/// Whether a process of a nested pid namespace, as in a container, calls itself by this number.
fn is_inner_pid(pid: i32) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return false;
    };
    entries.flatten().any(|entry| {
        std::fs::read_to_string(entry.path().join("status"))
            .is_ok_and(|status| inner_pid(&status) == Some(pid))
    })
}

/// The pid in the innermost of several namespaces.
fn inner_pid(status: &str) -> Option<i32> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    let pids: Vec<&str> = line.split_whitespace().collect();
    match pids.as_slice() {
        [_, .., inner] => inner.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_child_is_gone_once_it_has_been_waited_for() {
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        assert!(exists(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut liveness = Liveness::default();
        assert!(liveness.gone(child.id()));
        assert!(!liveness.gone(std::process::id()));
    }

    #[test]
    fn a_child_is_gone_even_if_nobody_has_waited_for_it() {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = child.id() as i32;
        while !is_left_over(pid) {
            std::thread::yield_now();
        }
        assert!(!exists(child.id()));
        child.wait().unwrap();
    }

    #[test]
    fn only_nested_processes_have_an_inner_pid() {
        assert_eq!(inner_pid("Name:\tsh\nNSpid:\t812\t7\n"), Some(7));
        assert_eq!(inner_pid("Name:\tsh\nNSpid:\t812\n"), None);
        assert_eq!(inner_pid(""), None);
    }
}
