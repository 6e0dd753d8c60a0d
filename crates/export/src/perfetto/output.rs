//! The file as packets of one sequence.

use std::borrow::Cow;
use std::io::{self, Write};

use super::fields::{annotation, event, packet, trace};
use super::names::Names;
use super::wire::Wire;
use crate::fields::{Fields, Name};

/// Bytes that are collected before they are handed on.
const CHUNK: usize = 256 * 1024;

/// Every packet is of this sequence.
const SEQUENCE: u64 = 1;

/// A track, as Perfetto names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Uuid(pub(super) u64);

/// A trace file in the making.
pub(super) struct Output<'w> {
    file: Box<dyn Write + 'w>,
    wire: Wire,
    names: Names,
    /// Added to every time.
    shift: i64,
}

impl<'w> Output<'w> {
    pub(super) fn new(file: Box<dyn Write + 'w>) -> Self {
        Self {
            file,
            shift: 0,
            wire: Wire::with_capacity(CHUNK + CHUNK / 8),
            names: Names::new(),
        }
    }

    /// Perfetto knows no times below 0: a trace that begins there is moved.
    pub(super) fn set_begin(&mut self, begin: i64) {
        self.shift = begin.min(0).saturating_neg();
    }

    /// The texts that were looked up so far may be gone.
    pub(super) fn forget_addresses(&mut self) {
        self.names.forget_addresses();
    }

    /// Writes a packet that belongs to no moment.
    pub(super) fn packet(&mut self, fill: impl FnOnce(&mut Wire)) -> io::Result<()> {
        let open = self.wire.open(trace::PACKET);
        self.wire.unsigned(packet::SEQUENCE_ID, SEQUENCE);
        fill(&mut self.wire);
        self.wire.close(open);
        self.hand_on(CHUNK)
    }

    /// Writes a track event of this type at a time; `fill` adds what it holds.
    #[inline]
    pub(super) fn event(
        &mut self,
        kind: u64,
        track: Uuid,
        time: i64,
        fill: impl FnOnce(&mut Event<'_>),
    ) -> io::Result<()> {
        let open = self.wire.open(trace::PACKET);
        self.wire.unsigned(packet::SEQUENCE_ID, SEQUENCE);
        self.wire
            .unsigned(packet::SEQUENCE_FLAGS, packet::NEEDS_STATE);
        let moment = time.saturating_add(self.shift).max(0);
        self.wire.unsigned(packet::TIMESTAMP, moment as u64);
        let body = self.wire.open(packet::TRACK_EVENT);
        self.wire.unsigned(event::TYPE, kind);
        self.wire.unsigned(event::TRACK_UUID, track.0);
        fill(&mut Event {
            wire: &mut self.wire,
            names: &mut self.names,
        });
        self.wire.close(body);
        if self.names.has_fresh() {
            let interned = self.wire.open(packet::INTERNED_DATA);
            self.names.write_fresh(&mut self.wire);
            self.wire.close(interned);
        }
        self.wire.close(open);
        self.hand_on(CHUNK)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
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
pub(super) struct Event<'e> {
    wire: &'e mut Wire,
    names: &'e mut Names,
}

impl Event<'_> {
    /// What is borrowed lasts as long as the part that is being written.
    #[inline]
    pub(super) fn named(&mut self, name: Cow<'_, str>, category: &str) {
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
    fn annotation(&mut self, name: &str, fill: impl FnOnce(&mut Wire)) {
        let open = self.wire.open(event::ANNOTATION);
        let number = self.names.key(name);
        self.wire.unsigned(annotation::NAME_IID, number);
        fill(self.wire);
        self.wire.close(open);
    }

    /// An argument that is a number.
    #[inline]
    fn number(&mut self, name: &str, fill: impl FnOnce(&mut Wire)) {
        let number = self.names.key(name);
        self.wire.short(event::ANNOTATION, |wire| {
            wire.unsigned(annotation::NAME_IID, number);
            fill(wire);
        });
    }
}

impl<'t> Fields<'t> for Event<'_> {
    #[inline]
    fn integer(&mut self, name: impl Into<Name<'t>>, value: i64) {
        let name = name.into().text();
        self.number(name, |wire| wire.signed(annotation::INT, value));
    }

    #[inline]
    fn unsigned(&mut self, name: impl Into<Name<'t>>, value: u64) {
        let name = name.into().text();
        self.number(name, |wire| wire.unsigned(annotation::UINT, value));
    }

    #[inline]
    fn address(&mut self, name: impl Into<Name<'t>>, value: u64) {
        let name = name.into().text();
        self.number(name, |wire| wire.unsigned(annotation::POINTER, value));
    }

    fn float(&mut self, name: impl Into<Name<'t>>, value: f64) {
        let name = name.into().text();
        self.number(name, |wire| wire.double(annotation::DOUBLE, value));
    }

    fn boolean(&mut self, name: impl Into<Name<'t>>, value: bool) {
        let name = name.into().text();
        self.number(name, |wire| wire.unsigned(annotation::BOOL, value.into()));
    }

    #[inline]
    fn constant(&mut self, name: impl Into<Name<'t>>, value: &'t str) {
        let (name, value) = (name.into().text(), self.names.string(value));
        self.number(name, |wire| wire.unsigned(annotation::STRING_IID, value));
    }

    fn text(&mut self, name: impl Into<Name<'t>>, value: &str) {
        let name = name.into().text();
        self.annotation(name, |wire| wire.text(annotation::STRING, value));
    }

    fn nothing(&mut self, name: impl Into<Name<'t>>) {
        self.text(name, "NULL");
    }
}
