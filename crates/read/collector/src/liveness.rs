//! Which of the recorded processes are still there.
//!
//! Giving a channel back while its process still writes would corrupt the recording, so a process
//! counts as ended only when that is known. It is looked up once, when its first channel appears; from
//! then on the kernel reports its end, through a descriptor of the process.
//!
//! **Invariant: nothing here costs more the more processes have ended.**

mod nested;
mod watch;

use std::collections::HashMap;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use ascend_trace_ring::ChannelInfo;

use super::clock;
use nested::{NestedProcesses, PidSearch};
use watch::PidWatch;

/// Time between looks at a process that has no descriptor.
const INTERVAL_NS: i64 = 100_000_000;

/// One image of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ProcessKey {
    pid: u32,
    namespace: u64,
    key: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum WatchState {
    /// The kernel will report its end.
    Watched,
    /// It is in our namespace, and is asked about.
    Polled {
        looked_ns: i64,
    },
    /// No namespace that can be seen has it: it may live in one that cannot, or have ended.
    Hidden {
        looked_ns: i64,
    },
    Gone,
}

/// Identity of a process when it was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProcessIdentity {
    key: u64,
    /// Address of its stack, which `exec` changes; `None` where the kernel does not show it.
    stack: Option<u64>,
}

impl ProcessIdentity {
    /// Whether both belong to one process, which has replaced one by the other. Without a sign of that,
    /// both may exist: a library that is loaded twice joins twice.
    fn replaces(self, other: Self) -> bool {
        let differ = |(one, two): (u64, u64)| one != two;
        self.stack.zip(other.stack).is_some_and(differ)
    }
}

/// Known processes.
pub(crate) struct Liveness {
    /// Our pid namespace, 0 when it is not known.
    namespace: u64,
    members: HashMap<ProcessKey, WatchState>,
    /// The latest image of each process.
    latest: HashMap<(u32, u64), ProcessIdentity>,
    /// Members that were known to be gone at the last refresh.
    settled: Vec<ProcessKey>,
    watch: PidWatch<ProcessKey>,
    nested: NestedProcesses,
}

impl Default for Liveness {
    fn default() -> Self {
        Self {
            namespace: nested::own_namespace(),
            members: HashMap::new(),
            latest: HashMap::new(),
            settled: Vec::new(),
            watch: PidWatch::new(),
            nested: NestedProcesses::default(),
        }
    }
}

impl Liveness {
    /// Takes the kernel's reports since the last time.
    pub(crate) fn refresh(&mut self) {
        // Their channels have been given back.
        for member in self.settled.drain(..) {
            self.members.remove(&member);
        }
        for member in self.watch.ended() {
            self.members.insert(member, WatchState::Gone);
            self.settled.push(member);
        }
    }

    /// Whether the process that holds a channel has ended, as of the last refresh.
    pub(crate) fn has_ended(&mut self, info: ChannelInfo) -> bool {
        let member = ProcessKey {
            pid: info.pid,
            namespace: info.namespace,
            key: info.process_key,
        };
        let now = clock::now();
        let known = match self.members.get(&member) {
            Some(WatchState::Gone) => return true,
            Some(WatchState::Watched) => return false,
            Some(WatchState::Polled { looked_ns } | WatchState::Hidden { looked_ns })
                if now - looked_ns < INTERVAL_NS =>
            {
                return false;
            }
            Some(WatchState::Polled { .. }) if exists(info.pid) => {
                WatchState::Polled { looked_ns: now }
            }
            Some(WatchState::Polled { .. }) => WatchState::Gone,
            Some(WatchState::Hidden { .. }) | None => self.meet(member, now),
        };
        let is_gone = known == WatchState::Gone;
        if is_gone {
            self.settled.push(member);
        }
        self.members.insert(member, known);
        is_gone
    }

    /// Forces a new look at all of them at the next query.
    pub(crate) fn look_again(&mut self) {
        self.refresh();
        self.nested.look_again();
        for known in self.members.values_mut() {
            if let WatchState::Polled { looked_ns } | WatchState::Hidden { looked_ns } = known {
                *looked_ns = i64::MIN / 2;
            }
        }
    }

    /// Notes that the process of our namespace has been waited for.
    pub(crate) fn set_gone(&mut self, pid: u32) {
        for (member, known) in &mut self.members {
            if member.pid == pid && self.namespace == member.namespace {
                *known = WatchState::Gone;
            }
        }
    }

    /// Whether the process is known to be there.
    pub(crate) fn is_alive(&self, info: ChannelInfo) -> bool {
        let member = ProcessKey {
            pid: info.pid,
            namespace: info.namespace,
            key: info.process_key,
        };
        let known = self.members.get(&member);
        matches!(known, Some(WatchState::Watched | WatchState::Polled { .. }))
    }

    /// The pid here of a process of another pid namespace, as of the last look; 0 where it is not known. `None` for a process of
    /// our namespace.
    pub(crate) fn outer_pid(&self, info: ChannelInfo) -> Option<u32> {
        let is_elsewhere = ![0, self.namespace].contains(&info.namespace) && self.namespace != 0;
        is_elsewhere.then(|| self.nested.outer(info.pid, info.namespace).unwrap_or(0))
    }

    /// Finds a process that is seen for the first time.
    fn meet(&mut self, member: ProcessKey, now: i64) -> WatchState {
        let is_own = member.namespace == self.namespace;
        let image = ProcessIdentity {
            key: member.key,
            stack: is_own.then(|| stack_of(member.pid)).flatten(),
        };
        let latest = self.latest.entry((member.pid, member.namespace));
        let latest = latest.or_insert(image);
        if latest.key < image.key {
            let earlier = std::mem::replace(latest, image);
            if image.replaces(earlier) {
                let earlier = ProcessKey {
                    key: earlier.key,
                    ..member
                };
                self.watch.forget(&earlier);
                self.members.insert(earlier, WatchState::Gone);
            }
        }
        if member.namespace == self.namespace || member.namespace == 0 {
            return match self.find_own(member, now) {
                // Its namespace may be unknown.
                WatchState::Gone if member.namespace == 0 => self.find_nested(member, now),
                known => known,
            };
        }
        self.find_nested(member, now)
    }

    fn find_own(&mut self, member: ProcessKey, now: i64) -> WatchState {
        match self.watch.add(member, member.pid) {
            Ok(()) => WatchState::Watched,
            Err(Errno::SRCH) => WatchState::Gone,
            // No descriptors of processes here, or no more descriptors.
            Err(_) if exists(member.pid) => WatchState::Polled { looked_ns: now },
            Err(_) => WatchState::Gone,
        }
    }

    fn find_nested(&mut self, member: ProcessKey, now: i64) -> WatchState {
        match self.nested.find(member.pid, member.namespace, now) {
            PidSearch::Found { pid, is_fresh } => match self.watch.add(member, pid) {
                // Another process has got its pid meanwhile.
                Ok(()) if nested::is(pid, member.pid, member.namespace) => WatchState::Watched,
                Ok(()) | Err(Errno::SRCH) if is_fresh => {
                    self.watch.forget(&member);
                    WatchState::Gone
                }
                _ => {
                    self.watch.forget(&member);
                    WatchState::Hidden { looked_ns: now }
                }
            },
            PidSearch::Absent => WatchState::Gone,
            PidSearch::Unknown => WatchState::Hidden { looked_ns: now },
        }
    }
}

fn exists(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    test_kill_process(pid) != Err(Errno::SRCH) && !is_left_over(pid.as_raw_nonzero().get())
}

/// Where the stack of a process of our namespace begins.
fn stack_of(pid: u32) -> Option<u64> {
    const STACK: usize = 25;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let stack = fields.split(' ').nth(STACK)?.parse().ok()?;
    // Where it is not to be seen, there is a small number.
    (stack > 4096).then_some(stack)
}

/// Whether a process has ended but its parent has not yet read its exit status. A first thread that has
/// ended alone looks the same, but then other threads exist.
fn is_left_over(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|state| state.starts_with(['Z', 'X']))
        && std::fs::read_dir(format!("/proc/{pid}/task")).is_ok_and(|tasks| tasks.count() <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    fn info(liveness: &Liveness, pid: u32, process_key: u64) -> ChannelInfo {
        ChannelInfo {
            pid,
            tid: pid,
            process_key,
            namespace: liveness.namespace,
        }
    }

    fn sleeper() -> Child {
        Command::new("sleep").arg("100").spawn().unwrap()
    }

    fn until_gone(liveness: &mut Liveness, info: ChannelInfo) {
        while !liveness.has_ended(info) {
            std::thread::yield_now();
            liveness.refresh();
        }
    }

    #[test]
    fn the_kernel_reports_the_end_of_a_process_without_a_wait() {
        let mut liveness = Liveness::default();
        let mut child = sleeper();
        let info = info(&liveness, child.id(), 1);
        assert!(!liveness.has_ended(info) && liveness.is_alive(info));
        child.kill().unwrap();
        until_gone(&mut liveness, info);
        assert!(!liveness.is_alive(info));
        child.wait().unwrap();
        liveness.refresh();
        liveness.refresh();
        assert!(liveness.has_ended(info), "it is looked up again");
        assert_eq!(liveness.watch.len(), 0);
    }

    #[test]
    fn a_process_without_a_descriptor_is_asked_about() {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = child.id();
        while !is_left_over(pid as i32) {
            std::thread::yield_now();
        }
        assert!(!exists(pid));
        child.wait().unwrap();
        assert!(exists(std::process::id()) && !exists(pid));
        let mut liveness = Liveness {
            watch: PidWatch::none(),
            ..Liveness::default()
        };
        let own = info(&liveness, std::process::id(), 1);
        let ended = info(&liveness, pid, 1);
        assert!(!liveness.has_ended(own) && liveness.is_alive(own));
        assert!(liveness.has_ended(ended));
    }

    #[test]
    fn a_replaced_image_has_ended() {
        let mut liveness = Liveness::default();
        let mut shell = Command::new("sh");
        shell.args(["-c", "read line; exec sleep 100"]);
        let mut child = shell.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        let (first, second) = (info(&liveness, pid, 5), info(&liveness, pid, 9));
        let name = || std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
        // Between fork and exec it is still the image of this test; an image has its name before it has its stack.
        let is_there = |image: &str| name() == image && stack_of(pid).is_some();
        while !is_there("sh\n") {
            std::thread::yield_now();
        }
        assert!(!liveness.has_ended(first));
        drop(child.stdin.take());
        while !is_there("sleep\n") {
            std::thread::yield_now();
        }
        assert!(!liveness.has_ended(second));
        assert!(liveness.has_ended(first) && !liveness.has_ended(second));
        assert_eq!(liveness.watch.len(), 1);
        child.kill().unwrap();
        until_gone(&mut liveness, second);
        child.wait().unwrap();
    }

    #[test]
    fn two_that_join_from_one_image_are_both_there() {
        let mut liveness = Liveness::default();
        let pid = std::process::id();
        let (first, second) = (info(&liveness, pid, 5), info(&liveness, pid, 9));
        assert!(!liveness.has_ended(first) && !liveness.has_ended(second));
        assert!(!liveness.has_ended(first) && liveness.is_alive(first));
    }

    #[test]
    fn the_pid_of_another_namespace_is_no_pid_here() {
        let mut liveness = Liveness::default();
        let mut child = sleeper();
        let elsewhere = ChannelInfo {
            namespace: liveness.namespace + 1,
            ..info(&liveness, child.id(), 1)
        };
        assert!(!liveness.has_ended(elsewhere), "nothing is known of it");
        assert!(!liveness.is_alive(elsewhere));
        let here = info(&liveness, child.id(), 1);
        assert!(!liveness.has_ended(here) && liveness.is_alive(here));
        child.kill().unwrap();
        until_gone(&mut liveness, here);
        assert!(!liveness.has_ended(elsewhere));
        child.wait().unwrap();
    }

    #[test]
    fn a_namespace_that_has_the_number_of_an_ended_one_is_not_taken_for_it() {
        let mut liveness = Liveness::default();
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let namespace = liveness.namespace + 1;
        let nested = ChannelInfo {
            namespace,
            ..info(&liveness, 1, 1)
        };
        // The one that was first in that namespace has ended; this one came after the look.
        let now = clock::now();
        liveness.nested.note(1, namespace, child.id(), now);
        assert!(!liveness.has_ended(nested));
        assert_eq!(liveness.watch.len(), 0);
    }
}
