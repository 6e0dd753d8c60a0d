//! The kernel's lists of processes and threads, and their processor times.

use std::collections::{BTreeMap, HashSet};
use std::fs;

/// Generations of children that are followed.
const DEPTH: usize = 4;

/// How long a thread has used a processor, and how often it got one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProcessorTimes {
    pub(super) cpu_ns: u64,
    pub(super) runs: u64,
}

impl ProcessorTimes {
    /// Nothing where the thread has ended, and where the kernel does not count this.
    pub(super) fn of(pid: u32, tid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
        let mut words = text.split_ascii_whitespace();
        let cpu_ns = words.next()?.parse().ok()?;
        let runs = words.nth(1)?.parse().ok()?;
        Some(Self { cpu_ns, runs })
    }
}

/// The name of a thread, without its line end.
pub(super) fn name(pid: u32, tid: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
    let name = String::from_utf8_lossy(&name);
    Some(name.trim_end_matches('\n').to_owned())
}

/// The numbers of the threads of a process; none where it has ended.
pub fn threads(pid: u32) -> impl Iterator<Item = u32> {
    numbered(&format!("/proc/{pid}/task"))
}

fn numbered(folder: &str) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|it| it.file_name().to_str()?.parse().ok())
}

/// Child processes. Some kernels list those of a thread; with others, all processes are read, once.
#[derive(Debug, Default)]
pub struct Children {
    /// All processes, by their parent.
    all: Option<BTreeMap<u32, Vec<u32>>>,
}

impl Children {
    /// The children of a process.
    pub fn of(&mut self, pid: u32) -> Vec<u32> {
        // The file exists for each thread or for none.
        let listed: Option<Vec<String>> = threads(pid)
            .map(|tid| fs::read_to_string(format!("/proc/{pid}/task/{tid}/children")).ok())
            .collect();
        match listed {
            Some(texts) => {
                let pids = texts.iter().flat_map(|it| it.split_ascii_whitespace());
                pids.filter_map(|it| it.parse().ok()).collect()
            }
            None => {
                let all = self.all.get_or_insert_with(by_parent);
                all.get(&pid).cloned().unwrap_or_default()
            }
        }
    }

    /// The children of a process, and theirs, except for `others` and their children.
    pub fn descendants(&mut self, pid: u32, others: &HashSet<u32>) -> Vec<u32> {
        let mut found = Vec::new();
        let mut last = vec![pid];
        for _ in 0..DEPTH {
            let next: Vec<u32> = last.iter().flat_map(|it| self.of(*it)).collect();
            let next = next.into_iter().filter(|it| !others.contains(it));
            last = next.collect();
            found.extend(&last);
        }
        found
    }
}

fn by_parent() -> BTreeMap<u32, Vec<u32>> {
    let mut all: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in numbered("/proc") {
        if let Some(parent) = parent(pid) {
            all.entry(parent).or_default().push(pid);
        }
    }
    all
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The state comes first, after the name, which may contain anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(1)?.parse().ok()
}
