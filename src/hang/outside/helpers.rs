//! Threads without calls of AscendCL and processes that were started, for which a thread outside AscendCL may wait.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use ascend_trace_analysis::hang::{NamedThread, ThreadSight};
use ascend_trace_collector::{Children, threads};

use super::{KernelState, PART};

/// More are not looked at: each look takes some microseconds.
const MOST: usize = 512;

/// A thread of one of the processes, or of a process below it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Helper {
    /// The process that may wait for it.
    of: u32,
    pid: u32,
    tid: u32,
    is_child: bool,
}

/// All of them, with the time that each has used a processor.
#[derive(Debug)]
pub(super) struct Helpers(Vec<(Helper, Duration)>);

impl Helpers {
    /// Those of the processes of these threads.
    pub(super) fn of(threads: &[NamedThread]) -> Self {
        let known: BTreeSet<(u32, u32)> = threads.iter().map(|it| (it.pid, it.tid)).collect();
        // Processes with other numbers, as in another container, have no such threads here.
        let seen = threads.iter().filter(|it| !it.name.is_empty());
        let seen = seen.filter(|it| KernelState::of(it.pid, it.tid, &it.name).is_some());
        let pids: BTreeSet<u32> = seen.map(|it| it.pid).collect();
        let all = pids.iter().flat_map(|pid| helpers(*pid, &known));
        let used = |it: Helper| Some((it.clone(), KernelState::of(it.pid, it.tid, "")?.used));
        Self(all.take(MOST).filter_map(used).collect())
    }

    /// Those that have used a processor since then, by the process that may wait for them.
    pub(super) fn that_work(before: &Self, passed: Duration) -> WorkingHelpers {
        let mut found = BTreeMap::new();
        for (helper, used_before) in &before.0 {
            let now = KernelState::of(helper.pid, helper.tid, "");
            let used = now.map_or(Duration::ZERO, |it| it.used.saturating_sub(*used_before));
            if used >= passed / PART {
                found.entry(helper.of).or_insert_with(|| helper.words());
            }
        }
        WorkingHelpers(found)
    }
}

impl Helper {
    fn words(&self) -> String {
        match (self.pid == self.of, self.is_child) {
            (true, _) => format!("thread {} of its process works", self.tid),
            (false, true) => format!("its child process {} works", self.pid),
            (false, false) => format!("process {} works, which a child of it started", self.pid),
        }
    }
}

/// A helper that works, for each process with one.
#[derive(Debug)]
pub(super) struct WorkingHelpers(BTreeMap<u32, String>);

impl WorkingHelpers {
    /// A thread that only waits may wait for one that works.
    pub(super) fn add_to(&self, sight: ThreadSight, pid: u32) -> ThreadSight {
        match (sight, self.0.get(&pid)) {
            (
                ThreadSight::Lives {
                    works: false,
                    state,
                    waits,
                },
                Some(helper),
            ) => ThreadSight::Lives {
                works: true,
                state: format!("{state}, and {helper}"),
                waits,
            },
            (sight, _) => sight,
        }
    }
}

/// The other threads of a process, and those of the processes below it.
fn helpers(pid: u32, known: &BTreeSet<(u32, u32)>) -> Vec<Helper> {
    let own = tasks(pid);
    let children = children(pid);
    let of = pid;
    let threads = own.into_iter().filter(|tid| !known.contains(&(pid, *tid)));
    let threads = threads.map(|tid| Helper {
        of,
        pid,
        tid,
        is_child: false,
    });
    let below = Children::default().descendants(of, &HashSet::new());
    let below = below.into_iter().flat_map(|pid| {
        let is_child = children.contains(&pid);
        let helper = move |tid| Helper {
            of,
            pid,
            tid,
            is_child,
        };
        tasks(pid).into_iter().map(helper)
    });
    threads.chain(below).collect()
}

pub(super) fn tasks(pid: u32) -> Vec<u32> {
    threads(pid).collect()
}

/// The children of a process.
pub(super) fn children(pid: u32) -> Vec<u32> {
    Children::default().of(pid)
}
