//! Streams, events and contexts of the traced program, named by serials that are never reused.
//!
//! A program uses a handle only between the calls that make and end it, so every looked-up object was
//! entered before: no ordering beyond the program's is needed.

mod entries;

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::object_table::{ObjectTable, PAGE};
use crate::thread::ThreadState;
use entries::SYNTHETIC;
pub(crate) use entries::{ContextEntry, EventEntry, EventKind, StreamEntry, keyed};

impl ThreadState {
    /// The current context, if it was seen being set and still exists.
    #[inline]
    pub(crate) fn context(&self) -> Option<&'static ContextEntry> {
        let (entry, serial) = self.context_entry();
        // SAFETY: null, or set by `set_context`; entries are in static memory.
        let context = unsafe { entry.cast::<ContextEntry>().as_ref() }?;
        (context.serial.load(Acquire) == serial).then_some(context)
    }

    /// The device of the current context.
    #[inline]
    pub(crate) fn device(&self) -> Option<u8> {
        self.context()
            .map(|context| context.device.load(Relaxed) as u8)
    }

    pub(crate) fn set_context(&self, context: Option<&'static ContextEntry>) {
        let known = context.map(|context| {
            let serial = context.serial.load(Acquire);
            let device = context.device.load(Relaxed) as u8;
            let entry = core::ptr::from_ref(context).cast();
            (entry, &context.serial, serial, device)
        });
        self.set_context_entry(known.filter(|(_, _, serial, _)| *serial != 0));
    }
}

/// Largest numbers of contexts, streams and events that are followed at the same time, within the
/// memory limit.
const MOST_CONTEXTS: usize = 4096;
const MOST_STREAMS: usize = 65_536;
const MOST_EVENTS: usize = 262_144;

static CONTEXTS: ObjectTable<ContextEntry, MOST_CONTEXTS, { MOST_CONTEXTS / PAGE }, 1> =
    ObjectTable::new();
static STREAMS: ObjectTable<StreamEntry, MOST_STREAMS, { MOST_STREAMS / PAGE }, 16> =
    ObjectTable::new();
static EVENTS: ObjectTable<EventEntry, MOST_EVENTS, { MOST_EVENTS / PAGE }, 32> =
    ObjectTable::new();

/// Numbers that count the objects of one kind in the order of their making, from 1.
pub(crate) struct Serials(AtomicU32);

impl Serials {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Counts from 1 again. Returns whether any number had been given out.
    pub(crate) fn restart(&self) -> bool {
        self.0.swap(0, Relaxed) != 0
    }

    pub(crate) fn next(&self) -> u32 {
        self.0.fetch_add(1, Relaxed).wrapping_add(1)
    }
}

pub(crate) static CONTEXT_SERIALS: Serials = Serials::new();
pub(crate) static STREAM_SERIALS: Serials = Serials::new();
pub(crate) static EVENT_SERIALS: Serials = Serials::new();

const STREAM_BIT: u64 = 1 << 62;

fn default_context_key(device: u32) -> u64 {
    SYNTHETIC | u64::from(device)
}

fn default_stream_key(context: u32) -> u64 {
    SYNTHETIC | STREAM_BIT | u64::from(context)
}

/// The context behind a handle.
pub(crate) fn context(handle: u64) -> Option<&'static ContextEntry> {
    let entry = CONTEXTS.get(handle)?;
    match entry.alias.load(Acquire) {
        0 => Some(entry),
        key => CONTEXTS.get(key),
    }
}

/// The entry of a context handle that is being made or seen for the first time.
pub(crate) fn new_context(handle: u64) -> Option<&'static ContextEntry> {
    CONTEXTS.get_or_insert(handle)
}

/// The default context of a device.
pub(crate) fn default_context(device: u32) -> Option<&'static ContextEntry> {
    CONTEXTS.get_or_insert(default_context_key(device))
}

/// Learns the handle of a device's default context.
pub(crate) fn name_default_context(entry: &ContextEntry, handle: u64) {
    if entry.handle.swap(handle, Relaxed) == handle || handle == 0 {
        return;
    }
    if let Some(named) = CONTEXTS.get_or_insert(handle) {
        named.alias.store(entry.key.load(Relaxed), Release);
    }
}

/// A context has ended: its entry is free for another one.
pub(crate) fn forget_context(context: &'static ContextEntry) {
    let key = context.key.load(Relaxed);
    for named in CONTEXTS.iter() {
        if key != 0 && named.alias.load(Acquire) == key {
            CONTEXTS.remove(named.key.load(Relaxed), named);
        }
    }
    CONTEXTS.remove(key, context);
}

/// A context is about to be destroyed: its handle may be another one's before the call returns.
pub(crate) fn context_is_gone(handle: u64) -> Option<&'static ContextEntry> {
    CONTEXTS.leave(handle)
}

/// It was not destroyed after all.
pub(crate) fn context_is_back(handle: u64) {
    CONTEXTS.come_back(handle);
}

/// It has been destroyed.
pub(crate) fn context_has_gone(handle: u64, context: &'static ContextEntry) {
    CONTEXTS.gone(handle, Some(context));
}

/// A stream is about to be destroyed: its handle may be another one's before the call returns. `false` when
/// that is so already.
pub(crate) fn stream_is_gone(stream: &StreamEntry) -> bool {
    STREAMS.leave(stream.key.load(Relaxed)).is_some()
}

/// It was not destroyed after all.
pub(crate) fn stream_is_back(stream: &StreamEntry) {
    STREAMS.come_back(stream.key.load(Relaxed));
}

/// It has been destroyed.
pub(crate) fn stream_has_gone(stream: &'static StreamEntry) {
    STREAMS.gone(stream.key.load(Relaxed), Some(stream));
}

/// All streams of a context have ended, and the handle of its default one.
pub(crate) fn forget_streams_of(context: u32) {
    let default = default_stream_key(context);
    for stream in STREAMS.iter() {
        let is_alive = stream.serial.load(Acquire) != 0;
        let is_own = is_alive && stream.context.load(Relaxed) == context;
        if is_own || stream.alias.load(Acquire) == default {
            stream.serial.store(0, Release);
            STREAMS.remove(stream.key.load(Relaxed), stream);
        }
    }
}

/// Every context that this process has used.
pub(crate) fn contexts() -> impl Iterator<Item = &'static ContextEntry> {
    CONTEXTS
        .iter()
        .filter(|entry| entry.serial.load(Acquire) != 0)
}

/// The same of a stream that is known already.
pub(crate) fn known_stream(handle: u64, current: u32) -> Option<&'static StreamEntry> {
    match handle {
        0 => STREAMS.get(default_stream_key(current)),
        _ => stream(handle, current),
    }
}

/// The stream behind a handle; NULL is the default stream of the context `current`.
#[inline]
pub(crate) fn stream(handle: u64, current: u32) -> Option<&'static StreamEntry> {
    if handle == 0 {
        if current == 0 {
            return None;
        }
        return STREAMS.get_or_insert(default_stream_key(current));
    }
    let entry = STREAMS.get(handle)?;
    match entry.alias.load(Acquire) {
        0 => Some(entry),
        key => STREAMS.get(key),
    }
}

/// The entry of a stream handle that is being made or seen for the first time.
pub(crate) fn new_stream(handle: u64) -> Option<&'static StreamEntry> {
    STREAMS.get_or_insert(handle)
}

/// Learns the handle of a context's default stream.
pub(crate) fn name_default_stream(context: u32, handle: u64) {
    if let Some(entry) = STREAMS.get_or_insert(handle) {
        entry.alias.store(default_stream_key(context), Release);
    }
}

/// Streams that exist and belong to a context.
pub(crate) fn streams_of(context: u32) -> impl Iterator<Item = &'static StreamEntry> {
    STREAMS.iter().filter(move |entry| {
        entry.serial.load(Acquire) != 0 && entry.context.load(Relaxed) == context
    })
}

/// The event behind a handle.
#[inline]
pub(crate) fn event(handle: u64) -> Option<&'static EventEntry> {
    EVENTS.get(handle)
}

/// The entry of an event handle that is being made or seen for the first time.
pub(crate) fn new_event(handle: u64) -> Option<&'static EventEntry> {
    EVENTS.get_or_insert(handle)
}

/// An event is about to be destroyed: its entry is free for another one.
pub(crate) fn event_is_gone(handle: u64) {
    EVENTS.leave(handle);
}

/// It was not destroyed after all, and keeps its serial unless its entry was taken meanwhile.
pub(crate) fn event_is_back(handle: u64) {
    EVENTS.come_back(handle);
}

/// It has been destroyed.
pub(crate) fn event_has_gone(handle: u64) {
    EVENTS.gone(handle, None);
}

/// The events that exist.
pub(crate) fn events() -> impl Iterator<Item = &'static EventEntry> {
    EVENTS
        .iter()
        .filter(|entry| entry.serial.load(Acquire) != 0)
}

/// The streams that exist.
pub(crate) fn streams() -> impl Iterator<Item = &'static StreamEntry> {
    STREAMS
        .iter()
        .filter(|entry| entry.serial.load(Acquire) != 0)
}

/// The program's records and synchronisations until `now` were not followed: it may have records that it has not seen done.
pub(crate) fn begin_again(now: u64) {
    streams().for_each(|stream| stream.seen.begin_again(now));
    contexts().for_each(|context| context.timing.seen.begin_again(now));
    events().for_each(EventEntry::begin_again);
}

/// Forgets everything after a fork: the child has no use for its parent's handles, and may bring
/// the runtime up afresh.
pub(crate) fn forget_all() {
    CONTEXTS.break_after_fork();
    STREAMS.break_after_fork();
    EVENTS.break_after_fork();
    // All three restart, so no short-circuit.
    if !(CONTEXT_SERIALS.restart() | STREAM_SERIALS.restart() | EVENT_SERIALS.restart()) {
        return;
    }
    for entry in CONTEXTS.iter() {
        entry.serial.store(0, Relaxed);
        entry.references.store(0, Relaxed);
        entry.alias.store(0, Relaxed);
        entry.handle.store(0, Relaxed);
        entry.timing.forget();
    }
    STREAMS
        .iter()
        .for_each(|entry| entry.serial.store(0, Relaxed));
    EVENTS
        .iter()
        .for_each(|entry| entry.serial.store(0, Relaxed));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object_table::Object;

    #[test]
    fn null_is_the_default_stream_of_the_current_context() {
        assert!(stream(0, 0).is_none());
        let one = stream(0, 901).unwrap();
        let two = stream(0, 902).unwrap();
        assert!(one.is_default() && !std::ptr::eq(one, two));
        name_default_stream(901, 0x7000_1000);
        assert!(std::ptr::eq(one, stream(0x7000_1000, 5).unwrap()));
        assert_eq!(one.handle(), 0);
    }

    #[test]
    fn a_default_context_is_found_by_its_handle() {
        let entry = default_context(7).unwrap();
        name_default_context(entry, 0x7000_2000);
        assert!(std::ptr::eq(entry, context(0x7000_2000).unwrap()));
        assert!(entry.is_default());
    }

    #[test]
    fn a_failed_record_does_not_count() {
        let event = EventEntry::NEW;
        let first = event.record(None, 1);
        let failed = event.record(None, 2);
        event.take_back(failed);
        assert_eq!(event.awaited_generation(), first);
        let overtaken = event.record(None, 3);
        let last = event.record(None, 4);
        event.take_back(overtaken);
        assert_eq!(event.awaited_generation(), last);
    }

    #[test]
    fn serials_are_never_reused() {
        assert!(STREAM_SERIALS.next() < STREAM_SERIALS.next());
    }
}
