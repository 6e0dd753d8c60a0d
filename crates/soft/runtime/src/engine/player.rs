//! The thread of the engine: which stream is looked at when.

use std::cmp::{Ordering as Order, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use super::adversary::Adversary;
use super::{bell, inbox};
use crate::clock::mono;
use crate::context::device_contexts;
use crate::stream::Stream;
use crate::sync::LONGEST_SLEEP;
use crate::{device, process, virtual_time};

/// After its last activity the thread stays awake for this long, so that a busy submitter does not
/// pay for waking it.
const LINGER_NS: u64 = 30_000;
/// The thread sleeps only when the next completion is farther away than this.
const SLEEP_AHEAD_NS: u64 = 60_000;

/// How often memory is looked at that a stream waits for and no task has written.
const POLL_NS: u64 = 100_000;

/// Plays all tasks there will be.
pub(crate) fn run() {
    Player::new().run();
}

/// The time that the engine compares with the times of tasks. In virtual time it waits for none: it
/// knows all their inputs.
pub(super) fn now() -> u64 {
    if virtual_time::is_on() {
        return u64::MAX / 2;
    }
    mono()
}

/// When the engine saw something that has no time itself, for a task that had waited for it since `begin`.
pub(super) fn seen(begin: u64) -> u64 {
    if virtual_time::is_on() {
        return begin;
    }
    mono().max(begin)
}

/// A stream to look at when its time is reached. Orders by time, then by entry, so that equal times are
/// taken in the order in which they were set.
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
pub(super) struct Player {
    pub(super) ready: Vec<Arc<Stream>>,
    alarms: BinaryHeap<Reverse<Alarm>>,
    entries: u64,
    /// Streams that have tasks, by their handles.
    pub(super) playing: HashMap<usize, Arc<Stream>>,
    /// When a task last wrote a value that others may wait for, by address.
    pub(super) values: HashMap<usize, u64>,
    /// Streams that wait for a value in memory, which anybody may write.
    pub(super) polling: Vec<Arc<Stream>>,
    /// With `order=adversarial`.
    pub(super) adversary: Option<Adversary>,
}

impl Player {
    fn new() -> Self {
        Self {
            ready: Vec::new(),
            alarms: BinaryHeap::new(),
            entries: 0,
            playing: HashMap::new(),
            values: HashMap::new(),
            polling: Vec::new(),
            adversary: Adversary::from_options(),
        }
    }

    fn run(mut self) {
        // Sleeps should end when asked, not up to 50 us later.
        // SAFETY: this option takes a plain number and concerns this thread only.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
        loop {
            let submitted = virtual_time::unseen().submitted();
            self.collect();
            if self.ready.is_empty() {
                let chosen = self.choose();
                self.ready.extend(chosen);
            }
            if self.ready.is_empty() {
                // Those that were given had nothing to do.
                virtual_time::unseen().played(submitted);
                self.rest();
                self.ready.append(&mut self.polling);
            }
            while let Some(stream) = self.ready.pop().or_else(|| self.choose()) {
                self.advance(&stream);
            }
            virtual_time::unseen().played(submitted);
        }
    }

    /// Takes the streams with new work and those with a due time.
    fn collect(&mut self) {
        if self.adversary.is_some() {
            bell::get().clear();
        }
        if !inbox::get().is_empty(Ordering::SeqCst) {
            let woken = inbox::get().take(&mut self.ready);
            self.wake(&woken);
            for device in device::all() {
                if device.wants_recycling.swap(false, Ordering::AcqRel) {
                    device_contexts::of(device).recycle();
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

    /// From now on the stream can be woken.
    pub(super) fn begin_playing(&mut self, stream: &Arc<Stream>) {
        let known = self.playing.entry(stream.handle);
        known.or_insert_with(|| Arc::clone(stream));
    }

    /// The stream has no task left that could be waited for.
    pub(super) fn end_playing(&mut self, stream: &Stream) {
        self.playing.remove(&stream.handle);
    }

    /// Has streams looked at that waited for something. They are taken in their order: the last entry of
    /// `ready` comes first.
    pub(super) fn wake(&mut self, handles: &[usize]) {
        let streams = handles.iter().rev();
        let streams = streams.filter_map(|handle| self.playing.get(handle).cloned());
        self.ready.extend(streams);
    }

    pub(super) fn set_alarm(&mut self, at: u64, stream: &Arc<Stream>) {
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
        let engine = inbox::get();
        let mut next = self
            .alarms
            .peek()
            .map_or(u64::MAX, |Reverse(alarm)| alarm.at);
        if !self.polling.is_empty() {
            next = next.min(mono() + POLL_NS);
        }
        if let Some(deadline) = self.adversary.as_ref().and_then(Adversary::deadline) {
            next = next.min(deadline);
        }
        let is_called = || self.adversary.is_some() && bell::get().has_rung();
        let linger_until = mono() + LINGER_NS;
        loop {
            if !engine.is_empty(Ordering::Acquire) || is_called() {
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
                if engine.is_empty(Ordering::SeqCst) && !is_called() {
                    let nap = Duration::from_nanos(left - SLEEP_AHEAD_NS / 2);
                    std::thread::park_timeout(nap.min(LONGEST_SLEEP));
                }
                return;
            }
            std::thread::yield_now();
        }
    }
}
