//! Tasks that are not known to be done, stream by stream.
//!
//! A time is proof that a task is done, and so are a sync, a query and a later task of the stream. No time proves
//! nothing: the tool may not have looked, or the task may never have had events around it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use ascend_trace_recording::{StreamId, ThreadId};

use super::events::EventKey;
use super::ranks::CommKey;
use super::signals::SignalKey;

/// Largest number of kept tasks of a stream. No runtime has longer queues, so earlier ones are done.
const MOST: usize = 8192;

/// A task by its place on its stream: ids change when a part of a recording is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct StreamPosition {
    pub(super) stream: StreamId,
    pub(super) sequence: u32,
}

/// Condition for a task to be done, once its stream has reached it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompletionCondition {
    /// The device, for as long as it takes.
    Device,
    /// Nothing: it takes no time.
    Nothing,
    /// Nothing either: it makes this generation of an event.
    Record(EventKey, u32),
    /// A record of an event; generation 0 is the next one.
    Event(EventKey, u32),
    /// That a notify or a value is set, if the recording says which.
    Signal(Option<SignalKey>),
    /// A thread of the program that processes reports.
    Reports,
    /// A function of the program, which a thread of the runtime runs.
    HostFunction,
    /// All ranks of a communicator, with their collective of this number.
    Ranks(CommKey, u64),
}

/// A task that is not known to be done.
#[derive(Clone, Debug)]
pub(super) struct PendingTask {
    pub(super) sequence: u32,
    pub(super) needs: CompletionCondition,
    pub(super) name: Arc<str>,
    /// The thread that submitted it, and when its call began.
    pub(super) thread: ThreadId,
    pub(super) begin: i64,
    /// Number of that call in the recording.
    pub(super) call: u32,
    /// It will have no time, so that nothing is known of its end.
    pub(super) has_no_time: bool,
}

/// The tasks of one stream.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: VecDeque<PendingTask>,
    /// Everything submitted before this time is done.
    proved: i64,
    /// Tasks up to this number are done.
    done: Option<u32>,
    /// When the last task that has a time ended.
    pub(super) last_end: Option<i64>,
}

impl Queue {
    pub(super) fn entries(&self) -> &VecDeque<PendingTask> {
        &self.entries
    }

    pub(super) fn place_of(&self, sequence: u32) -> Option<usize> {
        let found = self
            .entries
            .binary_search_by_key(&sequence, |it| it.sequence);
        found.ok()
    }

    fn drain_done(&mut self) -> Vec<PendingTask> {
        let is_done = |it: &PendingTask| {
            it.begin < self.proved || self.done.is_some_and(|done| it.sequence <= done)
        };
        match self.entries.iter().rposition(is_done) {
            Some(last) => self.entries.drain(..=last).collect(),
            None => Vec::new(),
        }
    }
}

/// The tasks of all streams.
#[derive(Debug, Default)]
pub(super) struct Queues {
    streams: HashMap<StreamId, Queue>,
    /// Records that are not known to be done.
    records: HashMap<(EventKey, u32), StreamPosition>,
}

impl Queues {
    pub(super) fn stream(&self, stream: StreamId) -> Option<&Queue> {
        self.streams.get(&stream)
    }

    /// Streams with tasks that are not known to be done, by id.
    pub(super) fn busy(&self) -> Vec<StreamId> {
        let busy = self.streams.iter().filter(|(_, it)| !it.entries.is_empty());
        let mut busy: Vec<StreamId> = busy.map(|(stream, _)| *stream).collect();
        busy.sort_unstable();
        busy
    }

    /// Whether a task is not known to be done.
    pub(super) fn has(&self, place: StreamPosition) -> bool {
        let queue = self.streams.get(&place.stream);
        queue.is_some_and(|it| it.place_of(place.sequence).is_some())
    }

    /// The stream of a record that is not known to be done, and when its call began.
    pub(super) fn submitted_before(
        &self,
        event: EventKey,
        generation: u32,
    ) -> Option<(StreamId, i64)> {
        let place = self.record(event, generation)?;
        let queue = self.streams.get(&place.stream)?;
        let entry = queue.entries.get(queue.place_of(place.sequence)?)?;
        Some((place.stream, entry.begin))
    }

    /// The record of a generation, if it is not known to be done.
    pub(super) fn record(&self, event: EventKey, generation: u32) -> Option<StreamPosition> {
        self.records.get(&(event, generation)).copied()
    }

    pub(super) fn push(&mut self, stream: StreamId, entry: PendingTask) {
        if let CompletionCondition::Record(event, generation) = entry.needs {
            let place = StreamPosition {
                stream,
                sequence: entry.sequence,
            };
            self.records.insert((event, generation), place);
        }
        let queue = self.streams.entry(stream).or_default();
        queue.entries.push_back(entry);
        let excess = queue.entries.len().checked_sub(MOST + 1);
        let oldest = excess.and_then(|place| queue.entries.get(place));
        queue.done = queue.done.max(oldest.map(|it| it.sequence));
        if queue.entries.len() > 2 * MOST {
            self.settle();
        }
    }

    /// A task ended, and so did all before it.
    pub(super) fn ended(&mut self, stream: StreamId, sequence: u32, end: i64) {
        let queue = self.streams.entry(stream).or_default();
        queue.done = queue.done.max(Some(sequence));
        queue.last_end = queue.last_end.max(Some(end));
    }

    /// The record of a generation was seen to be done.
    pub(super) fn recorded(&mut self, event: EventKey, generation: u32) {
        if let Some(place) = self.record(event, generation) {
            self.done(place);
        }
    }

    fn done(&mut self, place: StreamPosition) {
        if let Some(queue) = self.streams.get_mut(&place.stream) {
            queue.done = queue.done.max(Some(place.sequence));
        }
    }

    /// All that was submitted to a stream before this time is done.
    pub(super) fn proved(&mut self, stream: StreamId, before: i64) {
        let queue = self.streams.entry(stream).or_default();
        queue.proved = queue.proved.max(before);
    }

    /// A wait is for this generation, which was recorded after the wait had been submitted.
    pub(super) fn bind(&mut self, wait: StreamPosition, generation: u32) {
        let Some(queue) = self.streams.get_mut(&wait.stream) else {
            return;
        };
        let entry = queue.place_of(wait.sequence);
        let entry = entry.and_then(|place| queue.entries.get_mut(place));
        if let Some(PendingTask {
            needs: CompletionCondition::Event(_, number @ 0),
            ..
        }) = entry
        {
            *number = generation;
        }
    }

    /// The stream has ended, with its tasks.
    pub(super) fn end(&mut self, stream: StreamId) {
        self.streams.remove(&stream);
        self.records.retain(|_, place| place.stream != stream);
    }

    /// Drops tasks that are known to be done, and their effects.
    pub(super) fn settle(&mut self) {
        loop {
            let mut proven = Vec::new();
            for queue in self.streams.values_mut() {
                for entry in queue.drain_done() {
                    match entry.needs {
                        CompletionCondition::Record(event, generation) => {
                            self.records.remove(&(event, generation));
                        }
                        // The wait was over, so its record is.
                        CompletionCondition::Event(event, generation) => {
                            proven.extend(self.records.get(&(event, generation)));
                        }
                        _ => {}
                    }
                }
            }
            if proven.is_empty() {
                return;
            }
            proven.into_iter().for_each(|place| self.done(place));
        }
    }

    /// Streams end, with their tasks: those of an ended context, device or process.
    pub(super) fn end_all(&mut self, is_over: impl Fn(StreamId) -> bool) {
        let over: Vec<StreamId> = self.streams.keys().copied().collect();
        for stream in over.into_iter().filter(|it| is_over(*it)) {
            self.end(stream);
        }
    }
}

/// Names that many tasks share.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<Box<str>, Arc<str>>);

impl Names {
    /// Names that are kept at the same time.
    const MOST: usize = 4096;

    pub(super) fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        if self.0.len() >= Self::MOST {
            self.0.clear();
        }
        let shared: Arc<str> = name.into();
        self.0.insert(name.into(), Arc::clone(&shared));
        shared
    }
}
