//! Processes of nested pid namespaces, as in a container: their pids inside differ from those outside.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;

/// Time between looks through all processes.
const INTERVAL_NS: i64 = 100_000_000;

/// What became of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PidSearch {
    /// It is called this here. Unless the look was made just now, it may be another process that had
    /// this pid and namespace before: the numbers of namespaces are used again as well.
    Found { pid: u32, is_fresh: bool },
    /// Its namespace can be seen, and does not have it.
    Absent,
    /// Its namespace cannot be seen.
    Unknown,
}

/// Nested processes, as of the last look.
#[derive(Debug, Default)]
pub(super) struct NestedProcesses {
    /// By the pid that it has in its own namespace, and that.
    pids: HashMap<(u32, u64), u32>,
    /// Those with an unknown namespace, by the pid in it.
    unplaced: HashMap<u32, u32>,
    /// Namespaces that have been seen at any time.
    namespaces: HashSet<u64>,
    looked_ns: Option<i64>,
}

impl NestedProcesses {
    /// Finds a process by its inner pid. Looks through all processes at most ten times a second, for
    /// any number of searches.
    pub(super) fn find(&mut self, pid: u32, namespace: u64, now: i64) -> PidSearch {
        let is_fresh = |looked: i64| now - looked < INTERVAL_NS;
        if let PidSearch::Found { pid, .. } = self.known(pid, namespace) {
            let is_fresh = false;
            return PidSearch::Found { pid, is_fresh };
        }
        if self.looked_ns.is_some_and(is_fresh) {
            // It may be younger than the last look.
            return PidSearch::Unknown;
        }
        self.looked_ns = Some(now);
        self.look();
        self.known(pid, namespace)
    }

    /// The pid here of a process, as of the last look.
    pub(super) fn outer(&self, pid: u32, namespace: u64) -> Option<u32> {
        self.pids.get(&(pid, namespace)).copied()
    }

    /// The next search looks again.
    pub(super) fn look_again(&mut self) {
        self.looked_ns = None;
    }

    /// Notes the result of a look.
    #[cfg(test)]
    pub(super) fn note(&mut self, inner: u32, namespace: u64, outer: u32, now: i64) {
        self.pids.insert((inner, namespace), outer);
        self.namespaces.insert(namespace);
        self.looked_ns = Some(now);
    }

    fn known(&self, pid: u32, namespace: u64) -> PidSearch {
        let placed = self.pids.get(&(pid, namespace));
        let found = placed.or_else(|| self.unplaced.get(&pid));
        match found {
            Some(found) => PidSearch::Found {
                pid: *found,
                is_fresh: true,
            },
            None if namespace == 0 || self.namespaces.contains(&namespace) => PidSearch::Absent,
            None => PidSearch::Unknown,
        }
    }

    fn look(&mut self) {
        self.pids.clear();
        self.unplaced.clear();
        // Where `/proc` belongs to another namespace, its names say nothing.
        if !names_are_ours() {
            return;
        }
        let own = own_namespace();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        for outer in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
            let namespace = namespace_of(&outer.to_string());
            if namespace == Some(own) {
                continue;
            }
            let Some(inner) = inner_of(outer) else {
                continue;
            };
            match namespace {
                Some(namespace) => {
                    self.namespaces.insert(namespace);
                    self.pids.insert((inner, namespace), outer);
                }
                None => {
                    self.unplaced.insert(inner, outer);
                }
            }
        }
    }
}

/// The pid namespace of this process, 0 when it is not known.
pub(super) fn own_namespace() -> u64 {
    namespace_of("self").unwrap_or(0)
}

/// Whether the process with the pid `outer` here has the pid `inner` in that namespace, as far as its
/// namespace is known.
pub(super) fn is(outer: u32, inner: u32, namespace: u64) -> bool {
    let own = namespace_of(&outer.to_string());
    inner_of(outer) == Some(inner) && own.is_none_or(|own| namespace == 0 || own == namespace)
}

fn names_are_ours() -> bool {
    let own = std::process::id().to_string();
    std::fs::read_link("/proc/self").is_ok_and(|found| found.as_os_str() == own.as_str())
}

fn namespace_of(process: &str) -> Option<u64> {
    let found = std::fs::metadata(format!("/proc/{process}/ns/pid"));
    Some(found.ok()?.ino())
}

fn inner_of(outer: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{outer}/status"));
    inner_pid(&status.ok()?)
}

/// The pid in the innermost of several namespaces.
fn inner_pid(status: &str) -> Option<u32> {
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

    #[test]
    fn only_nested_processes_have_an_inner_pid() {
        assert_eq!(inner_pid("Name:\tsh\nNSpid:\t812\t7\n"), Some(7));
        assert_eq!(inner_pid("Name:\tsh\nNSpid:\t812\n"), None);
        assert_eq!(inner_pid(""), None);
    }

    #[test]
    fn what_cannot_be_seen_is_not_said_to_be_absent() {
        let mut nested = NestedProcesses::default();
        assert_eq!(nested.find(7, 1, 0), PidSearch::Unknown);
        nested.note(7, 1, 812, 0);
        let found = PidSearch::Found {
            pid: 812,
            is_fresh: false,
        };
        assert_eq!(nested.find(7, 1, 1), found);
        assert_eq!(nested.find(8, 1, INTERVAL_NS), PidSearch::Absent);
        assert_eq!(nested.find(8, 2, INTERVAL_NS), PidSearch::Unknown);
    }
}
