//! The file as packets.

use std::io::{self, Write};

use super::fields::{annotation, event, packet, trace};
use super::meta::uuid;
use super::names::InternedNames;
use super::sequences::{PacketSequences, SequenceOwner};
use super::wire::MessageWriter;
use crate::ArgDetail;
use crate::fields::{FieldName, FieldWriter};
use crate::lane_labels::UNNAMED;
use crate::tracks::SliceTrack;

/// Bytes that are collected before they are handed on.
const CHUNK: usize = 256 * 1024;

/// Packets that are no events are of this sequence.
const SEQUENCE: u64 = 1;

/// A track, as Perfetto names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TrackUuid(pub(super) u64);

/// Place of an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventPlace {
    pub(super) owner: SequenceOwner,
    pub(super) track: TrackUuid,
}

impl From<SliceTrack> for EventPlace {
    #[inline]
    fn from(track: SliceTrack) -> Self {
        Self {
            owner: SequenceOwner::Lane(track.lane, 0),
            track: uuid(track),
        }
    }
}

/// A trace file in the making.
pub(super) struct PacketOutput<'w> {
    file: Box<dyn Write + 'w>,
    wire: MessageWriter,
    sequences: PacketSequences,
    /// Added to every time.
    shift: i64,
    /// No event is earlier.
    begin: i64,
    /// Bytes of the lengths of most events that begin slices.
    room: usize,
}

impl<'w> PacketOutput<'w> {
    pub(super) fn new(file: Box<dyn Write + 'w>) -> Self {
        Self {
            file,
            shift: 0,
            begin: 0,
            room: 2,
            wire: MessageWriter::with_capacity(CHUNK + CHUNK / 8),
            sequences: PacketSequences::new(),
        }
    }

    /// Perfetto knows no times below 0: a trace that begins there is moved.
    pub(super) fn set_begin(&mut self, begin: i64, args: ArgDetail) {
        self.room = if args == ArgDetail::Full { 2 } else { 1 };
        self.shift = begin.min(0).saturating_neg();
        self.begin = begin.saturating_add(self.shift);
    }

    /// Writes a packet without a timestamp.
    pub(super) fn packet(&mut self, fill: impl FnOnce(&mut MessageWriter)) -> io::Result<()> {
        let open = self.wire.open(trace::PACKET);
        self.wire.unsigned(packet::SEQUENCE_ID, SEQUENCE);
        fill(&mut self.wire);
        self.wire.close(open);
        self.hand_on(CHUNK)
    }

    /// Writes a track event of this type at a time; `fill` adds its content.
    #[inline]
    pub(super) fn event(
        &mut self,
        kind: u64,
        place: impl Into<EventPlace>,
        time: i64,
        fill: impl FnOnce(&mut TrackEvent<'_>),
    ) -> io::Result<()> {
        let place = place.into();
        let wire = &mut self.wire;
        let first = (place.track, self.begin);
        let sequence = self.sequences.of(place.owner, first, wire);
        // Ends and values are short, and use no names: they do not need the sequence's introductions.
        let is_plain = matches!(kind, event::SLICE_END | event::COUNTER);
        let room = if is_plain { 1 } else { self.room };
        let open = wire.open_short(trace::PACKET, room);
        wire.raw(if is_plain {
            &sequence.head
        } else {
            &sequence.long_head
        });
        sequence.write_time(time.saturating_add(self.shift).max(0), wire);
        let body = wire.open_short(packet::TRACK_EVENT, 1);
        wire.unsigned(event::TYPE, kind);
        if place.track != sequence.track {
            wire.unsigned(event::TRACK_UUID, place.track.0);
        }
        let names = &mut sequence.names;
        fill(&mut TrackEvent { wire, names });
        wire.close_short(body, 1);
        if names.has_fresh() {
            let interned = wire.open(packet::INTERNED_DATA);
            names.write_fresh(wire);
            wire.close(interned);
        }
        wire.close_short(open, room);
        self.hand_on(CHUNK)
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.hand_on(0)?;
        self.file.flush()
    }

    #[inline]
    fn hand_on(&mut self, beyond: usize) -> io::Result<()> {
        if self.wire.bytes().len() > beyond {
            self.file.write_all(self.wire.bytes())?;
            self.wire.clear();
        }
        Ok(())
    }
}

/// The members of one track event.
pub(super) struct TrackEvent<'e> {
    wire: &'e mut MessageWriter,
    names: &'e mut InternedNames,
}

impl TrackEvent<'_> {
    #[inline]
    pub(super) fn named(&mut self, name: &str, category: &str) {
        let name = match name.is_empty() {
            true => UNNAMED,
            false => name,
        };
        let fields = self.names.label(name, category);
        self.wire.fields(&fields);
    }

    pub(super) fn counter(&mut self, value: i64) {
        self.wire.signed(event::COUNTER_VALUE, value);
    }

    /// A flow begins here.
    pub(super) fn flow_begins(&mut self, id: u64) {
        self.wire.fixed(event::FLOW_ID, id);
    }

    /// A flow ends here.
    pub(super) fn flow_ends(&mut self, id: u64) {
        self.wire.fixed(event::TERMINATING_FLOW_ID, id);
    }

    /// An argument of any length.
    #[inline]
    fn annotation(&mut self, name: FieldName<'_>, fill: impl FnOnce(&mut MessageWriter)) {
        let open = self.wire.open(event::ANNOTATION);
        let number = self.names.key(name);
        self.wire.unsigned(annotation::NAME_IID, number);
        fill(self.wire);
        self.wire.close(open);
    }

    /// An argument that is a number.
    #[inline]
    fn number(&mut self, name: FieldName<'_>, fill: impl FnOnce(&mut MessageWriter)) {
        let number = self.names.key(name);
        self.wire.short(event::ANNOTATION, |wire| {
            wire.unsigned(annotation::NAME_IID, number);
            fill(wire);
        });
    }
}

impl<'t> FieldWriter<'t> for TrackEvent<'_> {
    #[inline]
    fn integer(&mut self, name: impl Into<FieldName<'t>>, value: i64) {
        self.number(name.into(), |wire| wire.signed(annotation::INT, value));
    }

    #[inline]
    fn unsigned(&mut self, name: impl Into<FieldName<'t>>, value: u64) {
        self.number(name.into(), |wire| wire.unsigned(annotation::UINT, value));
    }

    #[inline]
    fn address(&mut self, name: impl Into<FieldName<'t>>, value: u64) {
        self.number(name.into(), |wire| {
            wire.unsigned(annotation::POINTER, value)
        });
    }

    fn float(&mut self, name: impl Into<FieldName<'t>>, value: f64) {
        self.number(name.into(), |wire| wire.double(annotation::DOUBLE, value));
    }

    fn boolean(&mut self, name: impl Into<FieldName<'t>>, value: bool) {
        self.number(name.into(), |wire| {
            wire.unsigned(annotation::BOOL, value.into())
        });
    }

    #[inline]
    fn word(&mut self, name: impl Into<FieldName<'t>>, value: &str) {
        let value = self.names.string(value);
        self.number(name.into(), |wire| {
            wire.unsigned(annotation::STRING_IID, value)
        });
    }

    fn text(&mut self, name: impl Into<FieldName<'t>>, value: &str) {
        self.annotation(name.into(), |wire| wire.text(annotation::STRING, value));
    }

    fn nothing(&mut self, name: impl Into<FieldName<'t>>) {
        self.text(name, "NULL");
    }
}
