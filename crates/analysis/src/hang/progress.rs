//! Possible progress of each stream, if the device is quick and nothing more is submitted.
//!
//! Kernels and copies end, so a stream stops only where it waits for something that was not submitted,
//! for something behind such a wait, or for the host. A stream that stops in this model stops for ever.

use std::collections::HashMap;

use ascend_trace_recording::{StreamId, Trace};

use super::events::EventKey;
use super::queues::{Entry, Needs, Place, Queue};
use super::ranks::CommKey;
use super::state::State;

/// Facts about the record of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// The wait does not hold its stream.
    Done,
    /// It was submitted here and is not known to be done.
    At(Place),
    /// It was never submitted.
    Never,
    /// The recording does not have it, although the wait names it.
    Unseen,
}

/// How many of the tasks that are not known to be done each stream can have done.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    trace: &'a Trace,
    state: &'a State,
    reached: HashMap<StreamId, usize>,
}

impl<'a> Progress<'a> {
    pub(super) fn of(trace: &'a Trace, state: &'a State) -> Self {
        let streams = state.queues.busy();
        let mut progress = Self {
            trace,
            state,
            reached: streams.iter().map(|stream| (*stream, 0)).collect(),
        };
        // Each round brings a stream forward, or is the last.
        while streams.iter().any(|it| progress.advance(*it)) {}
        progress
    }

    /// The task at which a stream stops for good.
    pub(super) fn stop(&self, stream: StreamId) -> Option<&'a Entry> {
        let reached = *self.reached.get(&stream)?;
        self.state.queues.stream(stream)?.entries().get(reached)
    }

    /// The first task of a stream that may be running or waiting for the device or the host.
    pub(super) fn running(&self, stream: StreamId) -> Option<&'a Entry> {
        let entries = self.state.queues.stream(stream)?.entries();
        let takes_time = |it: &&Entry| {
            matches!(
                it.needs,
                Needs::Device | Needs::Reports | Needs::HostFunction | Needs::Ranks(..)
            )
        };
        entries.iter().find(takes_time)
    }

    /// Whether a stream can have done a task.
    pub(super) fn is_past(&self, place: Place) -> bool {
        self.at(place).is_none_or(|(at, reached)| reached > at)
    }

    /// Whether a stream can have reached a task.
    pub(super) fn is_at(&self, place: Place) -> bool {
        self.at(place).is_none_or(|(at, reached)| reached >= at)
    }

    /// The place of a task among those that are not known to be done, and that of the stop.
    fn at(&self, place: Place) -> Option<(usize, usize)> {
        let queue: &Queue = self.state.queues.stream(place.stream)?;
        let at = queue.place_of(place.sequence)?;
        Some((at, self.reached.get(&place.stream).copied().unwrap_or(0)))
    }

    fn advance(&mut self, stream: StreamId) -> bool {
        let mut has_moved = false;
        while let Some(entry) = self.stop(stream) {
            let place = Place {
                stream,
                sequence: entry.sequence,
            };
            if !self.can_pass(place, entry) {
                break;
            }
            *self.reached.entry(stream).or_default() += 1;
            has_moved = true;
        }
        has_moved
    }

    fn can_pass(&self, place: Place, entry: &Entry) -> bool {
        match entry.needs {
            Needs::Device | Needs::Nothing | Needs::Record(..) | Needs::HostFunction => true,
            Needs::Event(event, generation) => match self.record(event, generation) {
                Record::Done | Record::Unseen => true,
                Record::At(record) => self.is_past(record),
                Record::Never => false,
            },
            Needs::Signal => {
                let set = self.state.signals.get(&place);
                set.is_some_and(|set| self.is_past(*set))
            }
            Needs::Reports => self.is_served(place.stream),
            Needs::Ranks(comm, number) => self.has_met(comm, number),
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
