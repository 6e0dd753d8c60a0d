//! Possible progress of each stream, if the device is quick and nothing more is submitted.
//!
//! Kernels and copies end, so a stream stops only where it waits for something that was not submitted,
//! for something behind such a wait, or for the host. A stream that stops in this model stops for ever.
//!
//! A second model shows the present: nothing that takes time has ended, unless the recording proves it.

use std::collections::HashMap;

use ascend_trace_recording::{StreamId, Trace};

use super::events::EventKey;
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
}

/// What streams can pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    /// Work ends, and threads run their callbacks.
    Quick,
    /// Only records and waits that are over end.
    Held,
}

impl<'a> Progress<'a> {
    pub(super) fn of(trace: &'a Trace, state: &'a HangState) -> Self {
        let streams = state.queues.busy();
        let mut progress = Self {
            trace,
            state,
            reached: streams.iter().map(|stream| (*stream, 0)).collect(),
            held: streams.iter().map(|stream| (*stream, 0)).collect(),
        };
        // Each round brings a stream forward, or is the last.
        for model in [Model::Quick, Model::Held] {
            while streams.iter().any(|it| progress.advance(model, *it)) {}
        }
        progress
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
            CompletionCondition::Signal => {
                let set = self.state.signals.get(&place);
                set.is_some_and(|set| self.is_past_in(model, *set))
            }
            CompletionCondition::Reports => self.is_served(place.stream),
            CompletionCondition::Ranks(comm, number) => self.has_met(comm, number),
        }
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
            hosts
                .get(thread)
                .is_some_and(|host| host.is_server(self.trace) && !host.is_blocked(self.trace))
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
