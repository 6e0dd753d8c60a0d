//! Pipes and counters (`eventfd`) that only one process has, and child processes that have ended.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;

use super::helpers::children;

/// Statuses of processes that a signal ended have it in these bits.
const SIGNAL: i32 = 127;

/// The pipes and counters of all processes but one.
#[derive(Debug)]
pub(super) struct OtherPipes {
    pid: u32,
    /// Looked for when they are needed. Nothing where a process cannot be looked at that may have some.
    found: OnceCell<Option<HashSet<String>>>,
}

impl OtherPipes {
    pub(super) const fn than(pid: u32) -> Self {
        Self {
            pid,
            found: OnceCell::new(),
        }
    }

    /// Whether only this process can write to the pipe or counter of one of its file descriptors.
    pub(super) fn lack(&self, descriptor: u64) -> bool {
        let Some(wanted) = identity(self.pid, &descriptor.to_string()) else {
            return false;
        };
        let others = self.found.get_or_init(|| others(self.pid));
        others.as_ref().is_some_and(|it| !it.contains(&wanted))
    }
}

fn others(pid: u32) -> Option<HashSet<String>> {
    let descendants = children(pid).into_iter();
    let descendants: Vec<u32> = descendants.collect();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let processes = processes.filter_map(|it| it.file_name().to_str()?.parse().ok());
    let mut found = HashSet::new();
    for other in processes.filter(|it| *it != pid) {
        match fs::read_dir(format!("/proc/{other}/fd")) {
            Ok(entries) => {
                let names = entries.flatten().map(|it| it.file_name());
                found.extend(names.filter_map(|it| identity(other, &it.to_string_lossy())));
            }
            // A child with the rights of another user may have it.
            Err(error)
                if error.kind() == ErrorKind::PermissionDenied && descendants.contains(&other) =>
            {
                return None;
            }
            Err(_) => {}
        }
    }
    Some(found)
}

/// The same text for the same pipe or counter, in all processes.
fn identity(pid: u32, descriptor: &str) -> Option<String> {
    let target = fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok()?;
    let target = target.to_str()?;
    if target.starts_with("pipe:[") {
        return Some(target.to_owned());
    }
    if target != "anon_inode:[eventfd]" {
        return None;
    }
    let facts = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
    let number = facts
        .lines()
        .find_map(|it| it.strip_prefix("eventfd-id:"))?;
    Some(format!("eventfd {}", number.trim()))
}

/// A child process that has ended, in words. Its parent has not asked for its status.
pub(super) fn ended_child(pid: u32) -> Option<String> {
    let own = children(pid).into_iter();
    let mut ended = own.filter_map(|child| {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        in_words(child, stat.rsplit_once(')')?.1)
    });
    ended.next_back()
}

/// A child by the rest of its `stat`, after its name.
fn in_words(child: u32, stat: &str) -> Option<String> {
    let words: Vec<&str> = stat.split_whitespace().collect();
    if words.first() != Some(&"Z") {
        return None;
    }
    let status: Option<i32> = words.last().and_then(|it| it.parse().ok());
    let how = match status {
        Some(status) if status & SIGNAL != 0 => format!(" by signal {}", status & SIGNAL),
        Some(status) => format!(" with status {}", status >> 8 & 255),
        None => String::new(),
    };
    Some(format!("its child process {child} has ended{how}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::io::{Write, pipe};
    use std::os::fd::AsRawFd;
    use std::process::{Command, Stdio};

    #[test]
    fn a_pipe_is_own_until_another_process_has_it() {
        let (reader, writer) = pipe().unwrap();
        let own = std::process::id();
        let descriptor = u64::try_from(reader.as_raw_fd()).unwrap();
        assert!(OtherPipes::than(own).lack(descriptor));
        let (end, mut held) = pipe().unwrap();
        let mut command = Command::new("cat");
        command.stdin(Stdio::from(end)).stdout(Stdio::from(writer));
        let mut other = command.spawn().unwrap();
        assert!(!OtherPipes::than(own).lack(descriptor));
        held.write_all(b"all").unwrap();
        drop(held);
        // The command has the writing end here until it is dropped.
        let words = loop {
            match ended_child(own) {
                Some(words) if words.contains(&format!(" {} ", other.id())) => break words,
                _ => std::thread::yield_now(),
            }
        };
        assert!(words.ends_with("has ended with status 0"), "{words}");
        assert!(other.wait().unwrap().success());
    }

    #[test]
    fn a_child_that_has_ended_is_described() {
        let status = |it: i32| format!(" Z 1 2 3 {it}");
        let words = |it: i32| in_words(7, &status(it)).unwrap();
        assert_eq!(words(3 << 8), "its child process 7 has ended with status 3");
        assert_eq!(words(6), "its child process 7 has ended by signal 6");
        assert_eq!(in_words(7, " S 1 2 3 0"), None);
    }
}
