//! Processor time of threads without recorded calls, of recorded processes and of their children.
//!
//! A program often waits for such a thread or process: a loader prepares the next batch. The kernel counts how long each thread used
//! a processor. A thread of the recorder reads these counts, often at first and seldom later, so the number of rows grows only with
//! the logarithm of the time. The collecting thread never waits for it, except at the end.

pub(crate) mod kernel;
mod sums;

use std::collections::{BTreeMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ascend_trace_recording::rows::OtherThreadRow;
use rustix::time::{ClockId, clock_gettime};

use crate::clock;
use sums::Sums;

/// From one look to the next: this part of the time since the first one, within these limits.
const PART: u32 = 32;
const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(2);

/// A look takes this part of a processor's time at most, as a divisor.
const COST: u32 = 200;

/// Threads that a look reads at most.
const MOST_THREADS: usize = 512;

/// News about the recorded processes.
enum Notice {
    Process { process: u32, pid: u32 },
    Thread { pid: u32, tid: u32 },
    End { process: u32 },
}

/// The thread that looks, from the side of the collector.
#[derive(Default)]
pub(crate) struct OtherThreads {
    running: Option<Running>,
    /// Without a thread, nothing is known of other threads.
    has_failed: bool,
}

struct Running {
    notices: Sender<Notice>,
    rows: Receiver<OtherThreadRow>,
    thread: JoinHandle<()>,
}

impl Running {
    fn start() -> std::io::Result<Self> {
        let (notices, received) = channel();
        let (found, rows) = channel();
        let thread = std::thread::Builder::new()
            .name("other threads".to_owned())
            .spawn(move || Looker::default().run(&received, &found))?;
        Ok(Self {
            notices,
            rows,
            thread,
        })
    }
}

impl OtherThreads {
    /// A process of this pid namespace is recorded.
    pub(crate) fn add_process(&mut self, process: u32, pid: u32) {
        if self.running.is_none() && !self.has_failed {
            self.running = Running::start().ok();
            self.has_failed = self.running.is_none();
        }
        self.notify(Notice::Process { process, pid });
    }

    /// A thread makes recorded calls.
    pub(crate) fn add_recorded(&mut self, pid: u32, tid: u32) {
        self.notify(Notice::Thread { pid, tid });
    }

    pub(crate) fn end_process(&mut self, process: u32) {
        self.notify(Notice::End { process });
    }

    fn notify(&self, notice: Notice) {
        if let Some(running) = &self.running {
            // It ends only after this.
            let _ = running.notices.send(notice);
        }
    }

    /// Rows since this was asked last.
    pub(crate) fn take(&self) -> impl Iterator<Item = OtherThreadRow> {
        let running = self.running.iter();
        running.flat_map(|it| it.rows.try_iter())
    }

    /// Ends the looks. Returns the last rows.
    pub(crate) fn close(&mut self) -> Vec<OtherThreadRow> {
        let Some(running) = self.running.take() else {
            return Vec::new();
        };
        self.has_failed = true;
        drop(running.notices);
        // A panic there must not end the recording.
        let _ = running.thread.join();
        running.rows.try_iter().collect()
    }
}

/// The thread that looks.
#[derive(Default)]
struct Looker {
    /// The recorded processes, by number.
    pids: BTreeMap<u32, u32>,
    recorded: HashSet<(u32, u32)>,
    sums: Sums,
}

impl Looker {
    fn run(mut self, notices: &Receiver<Notice>, rows: &Sender<OtherThreadRow>) {
        let begun = Instant::now();
        let mut due = begun + SHORT;
        loop {
            let pause = due.saturating_duration_since(Instant::now());
            match notices.recv_timeout(pause) {
                Ok(notice) => self.take(notice, rows),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let before = used();
                    self.look(rows);
                    let took = used().saturating_sub(before);
                    let usual = (begun.elapsed() / PART).clamp(SHORT, LONG);
                    due = Instant::now() + usual.max(took * COST);
                }
            }
        }
        self.sums.close(rows);
    }

    fn take(&mut self, notice: Notice, rows: &Sender<OtherThreadRow>) {
        match notice {
            Notice::Process { process, pid } => {
                self.pids.insert(process, pid);
            }
            Notice::Thread { pid, tid } => {
                self.recorded.insert((pid, tid));
                self.sums.forget(pid, tid);
            }
            Notice::End { process } => {
                if let Some(ended) = self.pids.remove(&process) {
                    self.recorded.retain(|(pid, _)| *pid != ended);
                    self.sums.end_process(process, rows);
                }
            }
        }
    }

    fn look(&mut self, rows: &Sender<OtherThreadRow>) {
        let mut left = MOST_THREADS;
        let recorded: HashSet<u32> = self.pids.values().copied().collect();
        let mut children = kernel::Children::default();
        self.sums.begin_look();
        for (process, pid) in &self.pids {
            let others = children.descendants(*pid, &recorded);
            for pid in std::iter::once(*pid).chain(others) {
                let tids = kernel::threads(pid);
                let tids = tids.filter(|tid| !self.recorded.contains(&(pid, *tid)));
                for tid in tids.take(left) {
                    left -= 1;
                    if let Some(times) = kernel::ProcessorTimes::of(pid, tid) {
                        let key = (*process, pid, tid);
                        self.sums.add(key, times, clock::now(), rows);
                    }
                }
            }
        }
        // A look that did not reach all of them does not show which have ended.
        if left > 0 {
            self.sums.end_look(rows);
        }
    }
}

/// How long the calling thread has used a processor: on a busy machine, a look may wait for one.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests;
