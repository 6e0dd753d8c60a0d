//! Sequences of packets.
//!
//! Each thread, stream and counter has a sequence: its events are mostly in the order of time and on
//! one track, so a sequence counts time from event to event on a separate clock, and its track need not
//! be named. Beyond a number that no usual program reaches, threads and streams share the sequence of
//! the descriptions, on the host's clock.

use super::fields::{clock, packet};
use super::meta::write_clock;
use super::names::InternedNames;
use super::output::TrackUuid;
use super::wire::MessageWriter;
use rustc_hash::FxHashMap;

/// Sequences that are kept at a time.
const MOST: usize = 250;

/// One sequence.
#[derive(Debug)]
pub(super) struct PacketSequence {
    /// The field that every event begins with.
    pub(super) head: Vec<u8>,
    /// The same of an event that needs earlier introductions.
    pub(super) long_head: Vec<u8>,
    pub(super) names: InternedNames,
    /// The time of the last event on the sequence's own clock; `None` when it has none.
    pub(super) last: Option<i64>,
    /// The track of events that name none.
    pub(super) track: TrackUuid,
}

/// Whose sequence it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SequenceOwner {
    /// Descriptions, and facts that are written once.
    All,
    /// A thread or stream, and the row of it: the events of one of these are in the order of time.
    Lane(u32, u8),
    Counter(u64),
}

/// All sequences, and which of them is in use.
#[derive(Debug)]
pub(super) struct PacketSequences {
    all: Vec<PacketSequence>,
    by_owner: FxHashMap<(u8, u64), usize>,
    current: (SequenceOwner, usize),
}

impl PacketSequences {
    pub(super) fn new() -> Self {
        let shared = PacketSequence::new(1, TrackUuid(0), None);
        Self {
            all: vec![shared],
            by_owner: FxHashMap::default(),
            current: (SequenceOwner::All, 0),
        }
    }

    /// The sequence of an owner. A new one begins with a separate packet; `begin` is a time before its
    /// first event.
    #[inline]
    pub(super) fn of(
        &mut self,
        owner: SequenceOwner,
        (first, begin): (TrackUuid, i64),
        wire: &mut MessageWriter,
    ) -> &mut PacketSequence {
        if self.current.0 != owner {
            self.current = (owner, self.find(owner, (first, begin), wire));
        }
        &mut self.all[self.current.1]
    }

    fn find(
        &mut self,
        owner: SequenceOwner,
        (first, begin): (TrackUuid, i64),
        wire: &mut MessageWriter,
    ) -> usize {
        let key = match owner {
            SequenceOwner::All => return 0,
            SequenceOwner::Lane(lane, what) => (what, u64::from(lane)),
            SequenceOwner::Counter(number) => (u8::MAX, number),
        };
        if let Some(place) = self.by_owner.get(&key) {
            return *place;
        }
        if self.all.len() >= MOST {
            return 0;
        }
        let sequence = PacketSequence::new(self.all.len() as u64 + 1, first, Some(begin));
        sequence.write_start(begin, wire);
        self.all.push(sequence);
        self.by_owner.insert(key, self.all.len() - 1);
        self.all.len() - 1
    }
}

impl PacketSequence {
    fn new(id: u64, track: TrackUuid, last: Option<i64>) -> Self {
        let mut head = MessageWriter::default();
        head.unsigned(packet::SEQUENCE_ID, id);
        let short = head.bytes().to_vec();
        head.unsigned(packet::SEQUENCE_FLAGS, packet::NEEDS_STATE);
        Self {
            head: short,
            long_head: head.bytes().to_vec(),
            names: InternedNames::new(),
            last,
            track,
        }
    }

    /// The first packet: defaults for the others, and the rate of the sequence's clock.
    fn write_start(&self, begin: i64, wire: &mut MessageWriter) {
        let open = wire.open(super::fields::trace::PACKET);
        wire.raw(&self.head);
        wire.unsigned(packet::FIRST_ON_SEQUENCE, 1);
        wire.unsigned(packet::SEQUENCE_FLAGS, packet::STATE_CLEARED);
        let defaults = wire.open(packet::DEFAULTS);
        wire.unsigned(packet::TIMESTAMP_CLOCK_ID, clock::OWN);
        let events = wire.open(packet::EVENT_DEFAULTS);
        wire.unsigned(super::fields::event::TRACK_UUID, self.track.0);
        wire.close(events);
        wire.close(defaults);
        let snapshot = wire.open(packet::CLOCK_SNAPSHOT);
        let own = wire.open(clock::CLOCK);
        wire.unsigned(clock::ID, clock::OWN);
        wire.unsigned(clock::TIME, begin.max(0) as u64);
        wire.unsigned(clock::IS_INCREMENTAL, 1);
        wire.close(own);
        write_clock(wire, clock::MONOTONIC, begin);
        wire.close(snapshot);
        wire.close(open);
    }

    /// The time of an event: since the one before, or on the host's clock where it is earlier.
    #[inline]
    pub(super) fn write_time(&mut self, time: i64, wire: &mut MessageWriter) {
        match self.last {
            Some(last) if last <= time => {
                self.last = Some(time);
                wire.unsigned(packet::TIMESTAMP, (time - last) as u64);
            }
            Some(_) => {
                wire.unsigned(packet::TIMESTAMP, time as u64);
                wire.unsigned(packet::TIMESTAMP_CLOCK_ID, clock::MONOTONIC);
            }
            None => wire.unsigned(packet::TIMESTAMP, time as u64),
        }
    }
}
