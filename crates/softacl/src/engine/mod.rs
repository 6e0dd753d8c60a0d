//! The engine: one thread that plays every stream of every device.
//!
//! The times of a task are computed: it begins at the latest of the end of the task before it, the
//! ends of what it depends on, and its submission plus the submit latency; it ends after the
//! duration that its kind has by the documented model. The thread performs the effect when all
//! earlier tasks of the stream are complete, and publishes completion no earlier than the computed
//! end. So the times are exact however late the thread runs. Only the end of a host function or a
//! blocking callback is measured, since it is the program's own code.
//!
//! A stream that has something to do is in exactly one of these places: the inbox (new work), the
//! heap (until a time), or with what it waits for (an event record, a running host function).
//! Looking at a stream once too often does no harm: `advance` finds the same state again.

mod host;
mod lane;
mod replay;
mod steps;
pub(crate) mod task;

use std::cmp::{Ordering as Order, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use crate::clock::mono;
use crate::code::{Outcome, RT_INTERNAL, fault};
use crate::stream::Stream;
use crate::sync::lock;
use crate::{device, process, threads, virtual_time};

use crate::per_process::PerProcess;
pub(crate) use host::{Due, HostThread};
pub(crate) use lane::Lane;

static ENGINE: PerProcess<Engine> = PerProcess::new(Engine::new);

pub(crate) fn get() -> &'static Engine {
    ENGINE.get()
}

/// After its last activity the thread stays awake for this long, so that a busy submitter does not
/// pay for waking it.
const LINGER_NS: u64 = 30_000;
/// The thread sleeps only when the next completion is farther away than this.
const SLEEP_AHEAD_NS: u64 = 60_000;

/// How often memory is looked at that a stream waits for and no task has written.
const POLL_NS: u64 = 100_000;

/// The engine as the other threads see it.
pub(crate) struct Engine {
    inbox: Mutex<Vec<Arc<Stream>>>,
    /// Length of the inbox, readable without its lock.
    waiting: AtomicUsize,
    thread: OnceLock<Thread>,
    /// Held by who starts the thread.
    starting: Mutex<()>,
}

impl Engine {
    pub(crate) const fn new() -> Self {
        Self {
            inbox: Mutex::new(Vec::new()),
            waiting: AtomicUsize::new(0),
            thread: OnceLock::new(),
            starting: Mutex::new(()),
        }
    }

    /// Has the stream looked at. While the engine is awake this makes no system call.
    pub(crate) fn enqueue(&self, stream: &Arc<Stream>) {
        let mut inbox = lock(&self.inbox);
        inbox.push(Arc::clone(stream));
        self.waiting.store(inbox.len(), Ordering::SeqCst);
        // After the length: the engine finds the stream in the inbox when it has seen this.
        virtual_time::unseen().give();
        drop(inbox);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Starts the thread unless it runs already. It comes before every submission: where there can be no
    /// thread, as under a limit or a filter, the program gets an error and no task that never ends.
    pub(crate) fn begin(&self) -> Outcome {
        if self.thread.get().is_some() {
            return Ok(());
        }
        let _starting = lock(&self.starting);
        if self.thread.get().is_none() {
            let thread = threads::spawn("softacl-engine", || Player::new().run());
            let Some(thread) = thread else {
                return fault(RT_INTERNAL, "the thread that runs tasks cannot be started");
            };
            // Nobody else can have set it.
            let _ = self.thread.set(thread);
        }
        Ok(())
    }
}

/// What the engine compares the times of tasks with. In virtual time it waits for none of them: it has all that
/// they follow from.
fn now() -> u64 {
    if virtual_time::is_on() {
        return u64::MAX / 2;
    }
    mono()
}

/// When the engine saw something that has no time itself, for a task that had waited for it since `begin`.
fn seen(begin: u64) -> u64 {
    if virtual_time::is_on() {
        return begin;
    }
    mono().max(begin)
}

/// A stream to look at when its time has come. Orders by time, then by entry, so that equal times
/// are taken in the order in which they were set.
struct Alarm {
    at: u64,
    entry: u64,
    stream: Arc<Stream>,
}

impl PartialEq for Alarm {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Order::Equal
    }
}

impl Eq for Alarm {}

impl PartialOrd for Alarm {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Ord for Alarm {
    fn cmp(&self, other: &Self) -> Order {
        (self.at, self.entry).cmp(&(other.at, other.entry))
    }
}

/// The state of the engine thread.
struct Player {
    ready: Vec<Arc<Stream>>,
    alarms: BinaryHeap<Reverse<Alarm>>,
    entries: u64,
    /// When a task last wrote a value that others may wait for, by address.
    values: HashMap<usize, u64>,
    /// Streams that wait for a value in memory, which anybody may write.
    polling: Vec<Arc<Stream>>,
}

impl Player {
    fn new() -> Self {
        Self {
            ready: Vec::new(),
            alarms: BinaryHeap::new(),
            entries: 0,
            values: HashMap::new(),
            polling: Vec::new(),
        }
    }

    fn run(mut self) {
        // Sleeps should end when asked, not up to 50 us later.
        // SAFETY: this option takes a plain number and concerns this thread only.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
        loop {
            let given = virtual_time::unseen().given();
            self.collect();
            if self.ready.is_empty() {
                self.rest();
                self.ready.append(&mut self.polling);
            }
            while let Some(stream) = self.ready.pop() {
                self.advance(&stream);
            }
            virtual_time::unseen().played(given);
        }
    }

    /// Takes the streams with new work and those whose time has come.
    fn collect(&mut self) {
        if get().waiting.load(Ordering::SeqCst) != 0 {
            let mut inbox = lock(&get().inbox);
            self.ready.append(&mut inbox);
            get().waiting.store(0, Ordering::Release);
            drop(inbox);
            for device in device::all() {
                if device.wants_recycling.swap(false, Ordering::AcqRel) {
                    device.recycle();
                }
            }
        }
        if self.alarms.is_empty() {
            return;
        }
        let now = now();
        while self
            .alarms
            .peek()
            .is_some_and(|Reverse(alarm)| alarm.at <= now)
        {
            if let Some(Reverse(alarm)) = self.alarms.pop() {
                self.ready.push(alarm.stream);
            }
        }
        // The last is taken first: earlier times go to the end.
        self.ready.reverse();
    }

    fn set_alarm(&mut self, at: u64, stream: &Arc<Stream>) {
        self.entries += 1;
        let alarm = Alarm {
            at,
            entry: self.entries,
            stream: Arc::clone(stream),
        };
        self.alarms.push(Reverse(alarm));
    }

    /// Waits for new work or the next alarm: awake for a while, then asleep.
    fn rest(&self) {
        let engine = get();
        let mut next = self
            .alarms
            .peek()
            .map_or(u64::MAX, |Reverse(alarm)| alarm.at);
        if !self.polling.is_empty() {
            next = next.min(mono() + POLL_NS);
        }
        let linger_until = mono() + LINGER_NS;
        loop {
            if engine.waiting.load(Ordering::Acquire) != 0 {
                return;
            }
            let now = mono();
            if now >= next {
                return;
            }
            let left = next - now;
            if now >= linger_until && left > SLEEP_AHEAD_NS {
                process::flush_truth();
                fence(Ordering::SeqCst);
                if engine.waiting.load(Ordering::SeqCst) == 0 {
                    let nap = left - SLEEP_AHEAD_NS / 2;
                    std::thread::park_timeout(Duration::from_nanos(nap));
                }
                return;
            }
            std::thread::yield_now();
        }
    }
}
