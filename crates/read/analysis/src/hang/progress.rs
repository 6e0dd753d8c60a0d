//! Possible progress of each stream, if the device is quick and nothing more is submitted.
//!
//! Kernels and copies end, so a stream stops only where it waits for something that was not submitted,
//! for something behind such a wait, or for the host. A stream that stops in this model stops for ever.
//!
//! A second model shows the present: nothing that takes time has ended, unless the recording proves it.

use std::collections::{HashMap, HashSet};

use ascend_trace_format::api::WaitTarget;
use ascend_trace_recording::{StreamId, Trace};

use super::events::EventKey;
use super::hosts::Host;
use super::queues::{CompletionCondition, PendingTask, Queue, StreamPosition};
use super::ranks::CommKey;
use super::state::HangState;

/// Facts about the record of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// The wait does not hold its stream.
    Done,
    /// It was submitted here and is not known to be done.
    At(StreamPosition),
    /// It was never submitted.
    Never,
    /// The recording does not have it, although the wait names it.
    Unseen,
}

/// How many of the tasks that are not known to be done each stream can have done.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    trace: &'a Trace,
    state: &'a HangState,
    reached: HashMap<StreamId, usize>,
    /// The same if work, and functions on the host, do not end.
    held: HashMap<StreamId, usize>,
    /// Streams that threads have waited for during some time, and since when.
    awaited: Vec<(StreamId, i64)>,
    /// Waits for notifies that hold their streams although the records are done: their signals were lost.
    lost: HashSet<StreamPosition>,
}

/// A call that waits for a stream on which all is done returns within this time. Nanoseconds.
const RETURNS_NS: i64 = 1_000_000_000;

/// What streams can pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    /// Work ends, and threads run their callbacks.
    Quick,
    /// Only records and waits that are over end.
    Held,
}

impl<'a> Progress<'a> {
    pub(super) fn of(trace: &'a Trace, state: &'a HangState, now: i64) -> Self {
        let streams = state.queues.busy();
        let mut progress = Self {
            trace,
            state,
            reached: HashMap::new(),
            held: HashMap::new(),
            awaited: awaited(trace, state, now),
            lost: HashSet::new(),
        };
        progress.advance_all(&streams);
        // One after the other: the first may hold the other streams.
        while let Some(lost) = progress.lost_signal() {
            progress.lost.insert(lost);
            progress.advance_all(&streams);
        }
        progress
    }

    fn advance_all(&mut self, streams: &[StreamId]) {
        self.reached = streams.iter().map(|stream| (*stream, 0)).collect();
        self.held = self.reached.clone();
        // Each round brings a stream forward, or is the last.
        for model in [Model::Quick, Model::Held] {
            while streams.iter().any(|it| self.advance(model, *it)) {}
        }
    }

    /// A thread waits for a stream that nothing seems to hold. If the stream has a wait for a notify, and nothing that takes
    /// time, this wait is not over: its signal was lost.
    fn lost_signal(&self) -> Option<StreamPosition> {
        self.awaited.iter().find_map(|(stream, _)| {
            if self.running(*stream).is_some() {
                return None;
            }
            let entries = self.state.queues.stream(*stream)?.entries();
            let is_notify = |it: &&PendingTask| match it.needs {
                CompletionCondition::Signal(key) => key.is_some_and(|it| it.is_notify),
                _ => false,
            };
            let entry = entries.iter().rev().find(is_notify)?;
            Some(StreamPosition {
                stream: *stream,
                sequence: entry.sequence,
            })
        })
    }

    /// Streams that threads have waited for during some time, and since when.
    pub(super) fn awaited(&self) -> &[(StreamId, i64)] {
        &self.awaited
    }

    /// Whether a wait for a notify is not over, although its record is done.
    pub(super) fn is_lost(&self, wait: StreamPosition) -> bool {
        self.lost.contains(&wait)
    }

    const fn model(&self, model: Model) -> &HashMap<StreamId, usize> {
        match model {
            Model::Quick => &self.reached,
            Model::Held => &self.held,
        }
    }

    /// The task at which a stream stops for good.
    pub(super) fn stop(&self, stream: StreamId) -> Option<&'a PendingTask> {
        self.first(Model::Quick, stream)
    }

    /// The first task of a stream that may be running, or waits for something that is not known to be done.
    pub(super) fn running(&self, stream: StreamId) -> Option<&'a PendingTask> {
        self.first(Model::Held, stream)
    }

    fn first(&self, model: Model, stream: StreamId) -> Option<&'a PendingTask> {
        let reached = *self.model(model).get(&stream)?;
        self.state.queues.stream(stream)?.entries().get(reached)
    }

    /// Whether a stream can have done a task.
    pub(super) fn is_past(&self, place: StreamPosition) -> bool {
        self.is_past_in(Model::Quick, place)
    }

    fn is_past_in(&self, model: Model, place: StreamPosition) -> bool {
        let at = self.at(model, place);
        at.is_none_or(|(at, reached)| reached > at)
    }

    /// Whether a stream can have reached a task.
    pub(super) fn is_at(&self, place: StreamPosition) -> bool {
        let at = self.at(Model::Quick, place);
        at.is_none_or(|(at, reached)| reached >= at)
    }

    /// The place of a task among those that are not known to be done, and that of the stop.
    fn at(&self, model: Model, place: StreamPosition) -> Option<(usize, usize)> {
        let queue: &Queue = self.state.queues.stream(place.stream)?;
        let at = queue.place_of(place.sequence)?;
        let reached = self.model(model).get(&place.stream);
        Some((at, reached.copied().unwrap_or(0)))
    }

    fn advance(&mut self, model: Model, stream: StreamId) -> bool {
        let mut has_moved = false;
        while let Some(entry) = self.first(model, stream) {
            let place = StreamPosition {
                stream,
                sequence: entry.sequence,
            };
            if !self.can_pass(model, place, entry) {
                break;
            }
            let reached = match model {
                Model::Quick => &mut self.reached,
                Model::Held => &mut self.held,
            };
            *reached.entry(stream).or_default() += 1;
            has_moved = true;
        }
        has_moved
    }

    fn can_pass(&self, model: Model, place: StreamPosition, entry: &PendingTask) -> bool {
        match entry.needs {
            CompletionCondition::Nothing | CompletionCondition::Record(..) => true,
            CompletionCondition::Device | CompletionCondition::HostFunction => {
                model == Model::Quick
            }
            CompletionCondition::Reports | CompletionCondition::Ranks(..)
                if model == Model::Held =>
            {
                false
            }
            CompletionCondition::Event(event, generation) => match self.record(event, generation) {
                Record::Done | Record::Unseen => true,
                Record::At(record) => self.is_past_in(model, record),
                Record::Never => false,
            },
            CompletionCondition::Signal(_) => {
                let set = self.state.signals.set_for(place);
                !self.is_lost(place) && set.is_some_and(|set| self.is_past_in(model, set))
            }
            CompletionCondition::Reports => self.is_served(place.stream),
            CompletionCondition::Ranks(comm, number) => self.has_met(comm, number),
        }
    }

    /// The first task behind another one that may hold the stream for as long as the program likes: a function on the host,
    /// or a graph that has one. Those behind a stop are not reached.
    pub(super) fn host_work_behind(
        &self,
        stream: StreamId,
        entry: &PendingTask,
    ) -> Option<&'a PendingTask> {
        self.behind(stream, entry).find(|it| match it.needs {
            CompletionCondition::HostFunction | CompletionCondition::Reports => true,
            _ => self.host_functions(stream, it) > 0,
        })
    }

    /// Tasks behind another one that the device does, and that the stream can have reached.
    pub(super) fn work_behind(
        &self,
        stream: StreamId,
        entry: &PendingTask,
    ) -> impl Iterator<Item = &'a PendingTask> {
        let is_work = |it: &&PendingTask| it.needs == CompletionCondition::Device;
        self.behind(stream, entry).filter(is_work)
    }

    fn behind(
        &self,
        stream: StreamId,
        entry: &PendingTask,
    ) -> impl Iterator<Item = &'a PendingTask> {
        let queue = self.state.queues.stream(stream);
        let at = queue.and_then(|it| it.place_of(entry.sequence));
        let reached = self.reached.get(&stream).copied().unwrap_or(0);
        let entries = queue.map(Queue::entries).into_iter().flatten();
        let from = at.map_or(usize::MAX, |at| at + 1);
        entries.take(reached).skip(from)
    }

    /// The host functions and callbacks of the graph that a task replays.
    pub(super) fn host_functions(&self, stream: StreamId, entry: &PendingTask) -> u32 {
        let place = StreamPosition {
            stream,
            sequence: entry.sequence,
        };
        self.state.hosted.get(&place).copied().unwrap_or(0)
    }

    /// The record that a wait for a generation is for.
    pub(super) fn record(&self, event: EventKey, generation: u32) -> Record {
        if let Some(place) = self.state.queues.record(event, generation) {
            return Record::At(place);
        }
        let known = self.state.events.get(event);
        match (generation, known.map_or(0, |it| it.generation)) {
            (0, _) => Record::Never,
            (wanted, known) if wanted <= known => Record::Done,
            _ => Record::Unseen,
        }
    }

    /// Whether a thread can run the callbacks of a stream: one that did, and is in no other call.
    fn is_served(&self, stream: StreamId) -> bool {
        let hosts = &self.state.hosts;
        let mut servers = hosts.servers(self.trace, stream).into_iter();
        servers.any(|thread| {
            hosts.get(thread).is_some_and(|host| {
                host.is_server(self.trace) && !host.is_blocked(self.trace) && !host.has_ended()
            })
        })
    }

    /// Whether all ranks in the recording can have reached their collective of this number.
    fn has_met(&self, comm: CommKey, number: u64) -> bool {
        let others = self.state.ranks.others(comm, number);
        let has_come = |peer: &super::ranks::PeerState| {
            peer.count >= number && peer.place.is_none_or(|place| self.is_at(place))
        };
        let mut known = others.iter().filter_map(|it| it.peer.as_ref());
        known.all(has_come)
    }
}

/// Streams that threads have waited for during some time, and since when: in a call, or by a loop of queries.
fn awaited(trace: &Trace, state: &HangState, now: i64) -> Vec<(StreamId, i64)> {
    let wait = |host: &Host| {
        let open = host.blocked_in(trace).map(|it| it.call);
        let waits = open.filter(|it| {
            let role = trace.function(it.function).role;
            role.meaning().waits == WaitTarget::Stream
        });
        let call = waits.and_then(|it| Some((it.stream?, it.begin)));
        let asks = || Some((host.poll(now)?.stream?, host.asks_since?));
        call.or_else(asks)
    };
    let hosts = state.hosts.threads().into_iter();
    let waits = hosts.filter_map(|it| wait(state.hosts.get(it)?));
    let mut waits: Vec<(StreamId, i64)> = waits
        .filter(|(_, since)| now.saturating_sub(*since) >= RETURNS_NS)
        .collect();
    waits.sort_unstable();
    waits.dedup_by_key(|it| it.0);
    waits
}
