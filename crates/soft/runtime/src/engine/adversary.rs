//! `order=adversarial`: which stream's next task runs, when any of several could.
//!
//! One task runs at a time. A stream is either prompt, and runs its tasks as soon as its dependencies
//! allow, or starved: its tasks run when a thread waits for them, directly or through other streams,
//! and no prompt task can run any more. So work without a waiter is delayed as long as a program can
//! notice it, and other work overtakes it. Tasks that run because of a waiter run in an order of the
//! seed.
//!
//! A program may wait in a way that the runtime does not see: a callback for another one, a thread that looks at
//! memory, another process. So starved tasks run after a while without one (`order_patience_ms`), too.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::inbox;

use super::lane::TaskStage;
use super::player::Player;
use super::starved::Seed;
use super::task::{Task, Work};
use crate::clock::mono;
use crate::process;
use crate::stream::Stream;
use crate::sync::lock;
use crate::virtual_time;

/// The engine's knowledge of the order.
pub(super) struct Adversary {
    seed: Seed,
    /// The task that runs: the handle of its stream and its number.
    running: Option<(usize, u64)>,
    /// No task begins earlier.
    begins_ns: u64,
    /// Since when starved tasks exist and no such task has run.
    starving_since: Option<u64>,
}

/// The first task of a stream.
struct StreamHead {
    stream: Arc<Stream>,
    seq: u64,
    submitted_ns: u64,
    state: HeadState,
    /// Somebody waits for it.
    is_needed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HeadState {
    /// It could run.
    Held,
    /// It waits for a task: the handle of its stream and its number.
    Waits(usize, u64),
    /// It waits for something that any task may bring about.
    WaitsForAny,
    /// It runs, or waits for the host.
    Elsewhere,
}

impl Adversary {
    pub(super) fn from_options() -> Option<Self> {
        process::is_adversarial().then(|| Self {
            seed: Seed(process::options().noise_seed),
            running: None,
            begins_ns: 0,
            starving_since: None,
        })
    }

    /// Whether the stream's first task may begin: then no earlier than the result.
    pub(super) fn permits(&self, stream: &Stream, task: &Task) -> Option<u64> {
        let own = (stream.handle, task.seq);
        (self.running == Some(own)).then_some(self.begins_ns)
    }

    /// A task is complete.
    pub(super) fn ended(&mut self, stream: &Stream, end_ns: u64) {
        self.begins_ns = self.begins_ns.max(end_ns);
        self.leaves(stream);
    }

    /// The stream's task waits, or has ended: another stream may run.
    pub(super) fn leaves(&mut self, stream: &Stream) {
        self.running = self.running.filter(|(handle, _)| *handle != stream.handle);
    }

    /// When patience ends.
    pub(super) fn deadline(&self) -> Option<u64> {
        Some(self.starving_since? + patience_ns())
    }

    pub(super) const fn seed(&self) -> Seed {
        self.seed
    }

    fn run(&mut self, head: &StreamHead) -> Arc<Stream> {
        self.running = Some((head.stream.handle, head.seq));
        Arc::clone(&head.stream)
    }

    /// A starved task runs, and not before a thread waited for it.
    fn run_starved(&mut self, head: &StreamHead, demanded_ns: u64) -> Arc<Stream> {
        let now = if virtual_time::is_on() {
            demanded_ns
        } else {
            mono()
        };
        self.begins_ns = self.begins_ns.max(now);
        self.starving_since = None;
        self.run(head)
    }

    /// Whether it is time to run tasks without a known waiter.
    fn loses_patience(&mut self) -> bool {
        let now = mono();
        let since = *self.starving_since.get_or_insert(now);
        now >= since + patience_ns()
    }
}

impl Player {
    /// Lets the next task run, if none runs; returns its stream.
    pub(super) fn choose(&mut self) -> Option<Arc<Stream>> {
        let adversary = self.adversary.as_mut()?;
        if adversary.running.is_some() {
            return None;
        }
        let mut heads: Vec<StreamHead> = self.playing.values().filter_map(head).collect();
        if !inbox::get().is_empty(Ordering::SeqCst) {
            // A thread may wait already, and earlier submissions have to be known first.
            return None;
        }
        let is_prompt = |head: &&StreamHead| {
            head.state == HeadState::Held && !adversary.seed.starves(&head.stream, head.seq)
        };
        let place = |head: &&StreamHead| (head.submitted_ns, head.stream.device.id, head.stream.id);
        if let Some(head) = heads.iter().filter(is_prompt).min_by_key(place) {
            return Some(adversary.run(head));
        }
        let demanded_ns = mark_needed(&mut heads);
        let seed = adversary.seed;
        let first = |among: &dyn Fn(&StreamHead) -> bool| {
            let held = heads.iter().filter(|head| head.state == HeadState::Held);
            let among = held.filter(|head| among(head));
            among.min_by_key(|head| seed.rank(&head.stream))
        };
        let needs_any = |head: &StreamHead| head.is_needed && head.state == HeadState::WaitsForAny;
        let any = heads.iter().any(needs_any);
        if let Some(head) = first(&|head| head.is_needed).or_else(|| first(&|_| any)) {
            return Some(adversary.run_starved(head, demanded_ns));
        }
        if first(&|_| true).is_none() {
            adversary.starving_since = None;
        } else if adversary.loses_patience() {
            for head in &heads {
                let stream = &head.stream;
                stream.expect(stream.submitted_so_far());
            }
            return first(&|_| true).map(|head| adversary.run_starved(head, demanded_ns));
        }
        None
    }
}

fn patience_ns() -> u64 {
    process::options().order_patience_ms * 1_000_000
}

/// The first task of the stream. In the lane of a stream that plays there is one.
fn head(stream: &Arc<Stream>) -> Option<StreamHead> {
    let lane = lock(&stream.lane);
    let task = lane.tasks.front()?;
    let (state, has_timeout) = match lane.stage {
        TaskStage::Fresh => (HeadState::Held, false),
        TaskStage::Ending { .. } => (HeadState::Elsewhere, false),
        TaskStage::Parked { .. } => awaited(&task.work),
    };
    Some(StreamHead {
        seq: task.seq,
        submitted_ns: task.submitted_ns,
        state,
        // Its time runs.
        is_needed: has_timeout || stream.demanded() >= task.seq,
        stream: Arc::clone(stream),
    })
}

/// The target of a task's wait, and whether it has a timeout.
fn awaited(work: &Work) -> (HeadState, bool) {
    match work {
        Work::Wait { record, timeout_ns } => {
            let task = record.task();
            let state = task.map_or(HeadState::WaitsForAny, |(stream, seq)| {
                HeadState::Waits(stream, seq)
            });
            (state, *timeout_ns != 0)
        }
        Work::Pass(pass) => (HeadState::WaitsForAny, pass.timeout_ns != 0),
        Work::HostFunction(_) | Work::Report(_) => (HeadState::Elsewhere, false),
        _ => (HeadState::WaitsForAny, false),
    }
}

/// Marks the targets that waiting threads need. Returns when a thread last began to wait.
fn mark_needed(heads: &mut [StreamHead]) -> u64 {
    let places: HashMap<usize, usize> = heads
        .iter()
        .enumerate()
        .map(|(place, head)| (head.stream.handle, place))
        .collect();
    let mut left: Vec<usize> = (0..heads.len())
        .filter(|place| heads[*place].is_needed)
        .collect();
    let demanded = left.iter().map(|place| heads[*place].stream.demanded_at());
    let demanded_ns = demanded.max().unwrap_or(0);
    while let Some(place) = left.pop() {
        let HeadState::Waits(stream, seq) = heads[place].state else {
            continue;
        };
        let Some(&place) = places.get(&stream) else {
            continue;
        };
        let head = &mut heads[place];
        if !head.is_needed && head.seq <= seq {
            head.is_needed = true;
            left.push(place);
        }
    }
    demanded_ns
}
