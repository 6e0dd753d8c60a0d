//! The states of threads outside AscendCL in the kernel, while the program runs on this host.

mod functions;
mod helpers;
mod pipes;
mod stuck;
mod system_calls;
mod waits;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use ascend_trace_analysis::hang::{
    FunctionSight, NamedThread, OutsideWait, Report, SystemSight, ThreadSight,
};

use helpers::Helpers;
use system_calls::{Memory, SystemCall, numbers};
use waits::{ThreadWait, Threads};

/// Threads that are described in text.
const SHOWN: usize = 5;
/// The kernel cuts names of threads.
const NAME: usize = 15;

/// One tick of the kernel's times, on all systems that the tool runs on.
const TICK: Duration = Duration::from_millis(10);
/// Between two looks at a thread.
const PAUSE: Duration = Duration::from_millis(100);
/// A thread works that has used a processor for this part of the time. One that only looks now and then uses less.
const PART: u32 = 5;

/// The state of a thread in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KernelState {
    state: char,
    place: String,
    /// How long it has used processors.
    used: Duration,
}

impl KernelState {
    /// Nothing where it has ended, or the number means another thread, as in another container.
    fn of(pid: u32, tid: u32, name: &str) -> Option<Self> {
        const USED: [usize; 2] = [11, 12];
        let folder = format!("/proc/{pid}/task/{tid}");
        let read = |file: &str| fs::read_to_string(format!("{folder}/{file}"));
        let stat = read("stat").ok()?;
        let (begin, end) = (stat.find('(')? + 1, stat.rfind(')')?);
        let known: String = name.chars().take(NAME).collect();
        let is_it = name.is_empty() || stat.get(begin..end)? == known;
        let words: Vec<&str> = stat.get(end + 1..)?.split_whitespace().collect();
        let ticks = USED
            .iter()
            .filter_map(|it| words.get(*it)?.parse::<u64>().ok());
        let used = u32::try_from(ticks.sum::<u64>()).unwrap_or(u32::MAX);
        let found = Self {
            state: words.first()?.chars().next()?,
            place: read("wchan").unwrap_or_default().trim().to_owned(),
            used: TICK.saturating_mul(used),
        };
        (is_it && !matches!(found.state, 'Z' | 'X')).then_some(found)
    }

    /// It uses a processor, is ready to, or waits for a disk.
    fn is_busy(&self) -> bool {
        matches!(self.state, 'R' | 'D')
    }

    /// It sleeps until a time.
    fn has_an_end(&self) -> bool {
        self.place.contains("nanosleep")
    }

    /// The report's words for a thread, by its state some time before.
    fn since(&self, before: &Self, passed: Duration) -> ThreadSight {
        let used = self.used.saturating_sub(before.used);
        let has_worked = used >= passed / PART;
        let state = in_words(self.state, &self.place);
        ThreadSight::Lives {
            works: has_worked || self.is_busy() && before.is_busy() || self.has_an_end(),
            waits: None,
            state: match has_worked && !self.is_busy() {
                true => format!(
                    "it works, and in between {}",
                    state.trim_start_matches("it ")
                ),
                false => state,
            },
        }
    }
}

/// Looks at threads twice: what works uses a processor in between.
pub(crate) fn look(threads: &[NamedThread]) -> SystemSight {
    // Where one thread is known by its name, the numbers of its process are those of this host. Others may have new names.
    let is_known = |it: &&NamedThread| {
        !it.name.is_empty() && KernelState::of(it.pid, it.tid, &it.name).is_some()
    };
    let known: BTreeSet<u32> = threads.iter().filter(is_known).map(|it| it.pid).collect();
    let states = || {
        let states = threads.iter().map(|it| match known.contains(&it.pid) {
            true => KernelState::of(it.pid, it.tid, ""),
            false => KernelState::of(it.pid, it.tid, &it.name),
        });
        states.collect::<Vec<_>>()
    };
    let begun = Instant::now();
    let before = states();
    if before.iter().all(Option::is_none) {
        return SystemSight {
            threads: vec![ThreadSight::Unknown; threads.len()],
            ..SystemSight::default()
        };
    }
    let helpers_before = Helpers::of(threads);
    let waits_before = all_waits(threads, &known);
    std::thread::sleep(PAUSE);
    let after = states();
    let passed = begun.elapsed();
    let helpers = Helpers::that_work(&helpers_before, passed);
    let waits = all_waits(threads, &known);
    let is_stuck = |pid: &u32| {
        let same = |it: &ProcessWaits| {
            it.all.as_ref() == waits_before.get(pid).and_then(|it| it.all.as_ref())
        };
        let stuck = waits.get(pid).filter(|it| same(it));
        stuck
            .and_then(|it| it.all.as_ref())
            .is_some_and(|it| !it.is_empty())
    };
    let stuck = waits.keys().copied().filter(is_stuck).collect();
    let functions = waits.iter().flat_map(|(pid, it)| {
        let before = waits_before.get(pid);
        let was_there =
            move |it: &&FunctionSight| before.is_some_and(|all| all.functions.contains(it));
        it.functions.iter().filter(was_there).cloned()
    });
    let functions = functions.collect();
    let seen = threads.iter().zip(before.iter().zip(&after));
    let threads = seen.map(|(thread, states)| match states {
        (before, Some(after)) => {
            let sight = after.since(before.as_ref().unwrap_or(after), passed);
            let sight = helpers.add_to(sight, thread.pid);
            match waits.get(&thread.pid) {
                Some(waits) if !thread.in_call || thread.runs_callbacks => {
                    waits.add_to(sight, thread.tid)
                }
                _ => sight,
            }
        }
        (_, None) if waits.contains_key(&thread.pid) => ThreadSight::Ended,
        (_, None) => ThreadSight::Unknown,
    });
    SystemSight {
        threads: threads.collect(),
        stuck,
        functions,
    }
}

/// The waits of the threads of a process.
#[derive(Debug)]
struct ProcessWaits {
    threads: Threads,
    memory: Option<Memory>,
    all: stuck::Waits,
    functions: Vec<FunctionSight>,
}

/// Those of these processes.
fn all_waits(threads: &[NamedThread], pids: &BTreeSet<u32>) -> BTreeMap<u32, ProcessWaits> {
    let of = |pid: u32| {
        let alive: BTreeSet<u32> = helpers::tasks(pid).into_iter().collect();
        let own = threads.iter().filter(|it| it.pid == pid);
        let ended = own
            .clone()
            .map(|it| it.tid)
            .filter(|it| !alive.contains(it));
        let process = Threads {
            pid,
            ended: ended.collect(),
            others: pipes::OtherPipes::than(pid),
            alive,
        };
        let memory = Memory::of(pid);
        let functions = memory.as_ref();
        let functions =
            functions.map_or_else(Vec::new, |it| functions::waiting(&process, it, threads));
        let in_call: BTreeSet<u32> = own.filter(|it| it.in_call).map(|it| it.tid).collect();
        let all = memory.as_ref();
        let all = all.and_then(|it| stuck::waits(&process, it, |tid| in_call.contains(&tid)));
        (
            pid,
            ProcessWaits {
                threads: process,
                memory,
                all,
                functions,
            },
        )
    };
    pids.iter().copied().map(of).collect()
}

impl ProcessWaits {
    /// Adds the target of a thread's wait outside AscendCL.
    fn add_to(&self, sight: ThreadSight, tid: u32) -> ThreadSight {
        let ThreadSight::Lives { works, state, .. } = sight else {
            return sight;
        };
        let pid = self.threads.pid;
        let call = SystemCall::of(pid, tid);
        let memory = self.memory.as_ref();
        let wait = call
            .zip(memory)
            .and_then(|(call, memory)| ThreadWait::of(&call, &self.threads, memory));
        let reads = call.is_some_and(|it| numbers::READS.contains(&it.number));
        let child = reads.then(|| pipes::ended_child(pid)).flatten();
        let child_too = child
            .as_ref()
            .map_or_else(String::new, |it| format!(", and {it}"));
        let (waits, more) = match wait {
            Some(ThreadWait::For(wait)) => (Some(wait), String::new()),
            Some(ThreadWait::ForOwnPipe) => (
                child.clone().map(OutsideWait::EndedChild),
                format!(
                    ", and reads a pipe or counter that only its own process can write to{child_too}"
                ),
            ),
            Some(ThreadWait::ForItsProcess) | None => (None, child_too),
        };
        ThreadSight::Lives {
            works,
            state: format!("{state}{more}"),
            waits,
        }
    }
}

fn in_words(state: char, place: &str) -> String {
    let place = match place {
        "" | "0" => String::new(),
        place => format!(" in {place}"),
    };
    match state {
        'R' => "it runs on a processor, or is ready to".to_owned(),
        'S' => format!("it sleeps{place}"),
        'D' => format!("it waits for a disk or a driver{place}"),
        'T' => "a signal has stopped it".to_owned(),
        't' => "a debugger has stopped it".to_owned(),
        other => format!("its state is {other}{place}"),
    }
}

/// A paragraph of the report for each such thread, where the cause may be theirs.
pub(crate) fn text(report: &Report) -> String {
    let is_open = report.culprits.iter().any(|it| !it.certain);
    let outside = report.threads.iter();
    let outside = outside.filter(|it| is_open && it.kernel.is_some());
    let mut text = String::new();
    for thread in outside.take(SHOWN) {
        let (tid, kernel) = (thread.tid, thread.kernel.as_deref().unwrap_or_default());
        text.push_str(&format!(
            "\nthread {tid} is outside AscendCL: {kernel}\n    its stack: gdb -batch -p {tid} -ex bt; of Python: py-spy dump --pid {}\n",
            thread.pid
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    /// A thread of this name, and its numbers.
    fn thread(
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> (NamedThread, std::thread::JoinHandle<()>) {
        let (send, receive) = channel();
        let builder = std::thread::Builder::new().name(name.to_owned());
        let started = builder.spawn(move || {
            let _ = send.send(rustix::thread::gettid().as_raw_nonzero().get() as u32);
            work();
        });
        let named = NamedThread {
            pid: std::process::id(),
            tid: receive.recv().unwrap(),
            name: name.to_owned(),
            in_call: false,
            runs_callbacks: false,
        };
        (named, started.unwrap())
    }

    /// Looks until a thread is seen in some way.
    fn until(threads: &[NamedThread], is_so: impl Fn(&[ThreadSight]) -> bool) -> Vec<ThreadSight> {
        loop {
            let seen = look(threads).threads;
            if is_so(&seen) {
                return seen;
            }
        }
    }

    #[test]
    fn threads_that_sleep_work_or_have_ended_are_distinguished() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let (end, ended) = channel::<()>();
        let (sleeper, slept) = thread("sleeper", move || {
            let _ = ended.recv();
        });
        let (worker, worked) = thread("worker", || {
            while !STOP.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let (other, over) = thread("other", || {});
        over.join().unwrap();
        let all = [sleeper.clone(), worker.clone(), other.clone()];
        let asleep = |it: &ThreadSight| matches!(it, ThreadSight::Lives { works: false, state, .. } if state.starts_with("it sleeps"));
        let at_work = |it: &ThreadSight| matches!(it, ThreadSight::Lives { works: true, .. });
        let seen = until(&all, |it| asleep(&it[0]) && at_work(&it[1]));
        assert_eq!(seen[2], ThreadSight::Ended, "{seen:?}");
        // One has got another name.
        let mut renamed = all.clone();
        renamed[0].name = "before".to_owned();
        until(&renamed, |it| asleep(&it[0]));
        // The numbers mean other threads where none has its name.
        let renamed = all.map(|it| NamedThread {
            name: "another".to_owned(),
            ..it
        });
        assert_eq!(look(&renamed).threads, [const { ThreadSight::Unknown }; 3]);
        STOP.store(true, Ordering::Relaxed);
        drop(end);
        slept.join().unwrap();
        worked.join().unwrap();
        // The states of threads that have ended are not known.
        let gone = [sleeper, worker];
        assert_eq!(look(&gone).threads, [const { ThreadSight::Unknown }; 2]);
    }

    #[test]
    fn a_thread_may_wait_for_another_one_of_its_process_that_works() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let (end, ended) = channel::<()>();
        let (waiter, waited) = thread("waiter", move || {
            let _ = ended.recv();
        });
        let (_, worked) = thread("helper", || {
            while !STOP.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let helped = |it: &ThreadSight| matches!(it, ThreadSight::Lives { works: true, state, .. } if state.ends_with(" of its process works"));
        until(&[waiter], |it| helped(&it[0]));
        STOP.store(true, Ordering::Relaxed);
        drop(end);
        waited.join().unwrap();
        worked.join().unwrap();
    }

    #[test]
    fn a_sleep_until_a_time_has_an_end() {
        let at = |place: &str| KernelState {
            state: 'S',
            place: place.to_owned(),
            used: Duration::ZERO,
        };
        assert!(at("hrtimer_nanosleep").has_an_end());
        assert!(!at("futex_do_wait").has_an_end());
    }

    #[test]
    fn the_place_in_the_kernel_is_left_out_where_it_is_unknown() {
        assert_eq!(in_words('S', "0"), "it sleeps");
        assert_eq!(in_words('S', "do_futex_wait"), "it sleeps in do_futex_wait");
    }
}
