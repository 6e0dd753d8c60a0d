//! A thread on the way through its calls, with the last of them.

use std::collections::VecDeque;

use ascend_trace_format::api::WaitTarget;

use crate::pause_work::Work;
use crate::whatif::compact_recording::Facts;
use crate::whatif::records::{Call, CallReader};

/// Calls of a thread that are looked at for the end of another thread's pause.
const RECENT: usize = 16;

/// A call that began.
#[derive(Clone, Copy, Debug)]
pub(super) struct BegunCall {
    pub(super) call: Call,
    pub(super) ordinal: u32,
    pub(super) waits: bool,
}

/// A thread on the way through its calls.
#[derive(Debug)]
pub(super) struct Walker<'f> {
    pub(super) process: u32,
    /// Processor times of pauses, by the ordinals of the calls after them.
    pub(super) work: &'f [(u32, Work)],
    pub(super) calls: CallReader<'f>,
    pub(super) next: Option<Call>,
    /// The number of calls before the next one.
    pub(super) ordinal: u32,
    /// The last calls that began, the latest first.
    pub(super) done: VecDeque<BegunCall>,
    /// By shape: how many calls began.
    pub(super) counts: Vec<u32>,
}

impl<'f> Walker<'f> {
    /// A thread before its first call.
    pub(super) fn of(facts: &'f Facts, thread: usize) -> Self {
        let thread = &facts.threads[thread];
        let mut calls = thread.calls.iter();
        Self {
            process: thread.process,
            work: &thread.work,
            next: calls.next(),
            calls,
            ordinal: 0,
            done: VecDeque::new(),
            counts: vec![0; facts.call_shapes.len()],
        }
    }

    fn done_within(&self, since: i64, until: i64) -> impl Iterator<Item = &BegunCall> + Clone {
        let ended = self.done.iter();
        ended.filter(move |it| since < it.call.end && it.call.end <= until)
    }

    /// How long the thread used a processor in the pause before its next call.
    pub(super) fn work(&self) -> Option<Work> {
        let place = self.work.binary_search_by_key(&self.ordinal, |it| it.0);
        self.work.get(place.ok()?).map(|it| it.1)
    }

    /// The last call that ended in this time, and the last of those that wait for the device: others may follow it before the
    /// waiting thread goes on.
    pub(super) fn ended(&self, since: i64, until: i64) -> impl Iterator<Item = &BegunCall> {
        let ended = self.done_within(since, until);
        let last = ended.clone().next();
        let waited = ended.clone().find(|it| it.waits);
        let is_other = |it: &&BegunCall| last.is_some_and(|last| last.call.shape != it.call.shape);
        last.into_iter().chain(waited.filter(is_other))
    }

    /// The shapes of all calls that ended in this time, as far as they are known.
    pub(super) fn all_ended(&self, since: i64, until: i64) -> impl Iterator<Item = u32> {
        self.done_within(since, until).map(|it| it.call.shape)
    }

    /// The last call that waited and ended before this time.
    pub(super) fn waited_before(&self, at: i64) -> Option<&BegunCall> {
        self.done.iter().find(|it| it.waits && it.call.end <= at)
    }

    /// The place of the first call that this thread may have made after it had waited for one that paused in this time.
    pub(super) fn next_since(&self, since: i64, until: i64) -> Option<u32> {
        if let Some(waited) = self.ended(since, until).find(|it| it.waits) {
            return Some(waited.ordinal + 1);
        }
        let later = self.done.iter().take_while(|it| it.call.begin >= since);
        later.last().map(|it| it.ordinal)
    }

    pub(super) fn step(&mut self, facts: &Facts, call: Call) {
        let shape = facts.call_shapes.get(call.shape as usize);
        let waits = shape.is_some_and(|it| it.polls || facts.waits(it) != WaitTarget::Nothing);
        self.done.truncate(RECENT - 1);
        self.done.push_front(BegunCall {
            call,
            ordinal: self.ordinal,
            waits,
        });
        if let Some(count) = self.counts.get_mut(call.shape as usize) {
            *count += 1;
        }
        self.ordinal += 1;
        self.next = self.calls.next();
    }
}
