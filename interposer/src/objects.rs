//! Streams, events and contexts of the traced program, named by serials that are never reused.
//!
//! A program uses a handle only between the calls that make and end it, so whatever is looked up
//! here was entered before: no ordering beyond the program's own is needed.

use core::ffi::c_void;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64};

use crate::object_table::{Object, ObjectTable, PAGE};
use crate::seen::Seen;
use crate::thread::ThreadState;

/// `ACL_STREAM_PERSISTENT`, `ACL_STREAM_CPU_SCHEDULE` and `ACL_STREAM_DEVICE_USE_ONLY`: the streams of models.
const FOR_MODELS: u32 = 0x4 | 0x10 | 0x20;

/// A context, keyed by its handle, or by [`default_context_key`] for a device's default one.
pub(crate) struct ContextEntry {
    key: AtomicU64,
    /// 0 while the context does not exist.
    pub(crate) serial: AtomicU32,
    pub(crate) device: AtomicU32,
    /// The runtime's handle, also of a default context once it is known.
    pub(crate) handle: AtomicU64,
    /// For a real handle of a default context: the key under which the context is kept.
    pub(crate) alias: AtomicU64,
    /// References that `aclrtSetDevice` has taken on a default context.
    pub(crate) references: AtomicU32,
    pub(crate) timing: crate::timing::context::ContextTiming,
}

/// A stream, keyed by its handle, or by [`default_stream_key`] for a context's default one.
pub(crate) struct StreamEntry {
    key: AtomicU64,
    /// 0 while the stream does not exist.
    pub(crate) serial: AtomicU32,
    pub(crate) context: AtomicU32,
    pub(crate) device: AtomicU32,
    /// The runtime's number of it; negative while that is not known.
    pub(crate) acl_id: AtomicI32,
    /// Whether `acl_id` was asked for.
    pub(crate) id_known: AtomicBool,
    /// Its making was seen. Another handle may be that of a stream which is gone: injecting there
    /// would fail, and the program would find our failures in its error state.
    pub(crate) was_made: AtomicBool,
    pub(crate) flags: AtomicU32,
    pub(crate) priority: AtomicU32,
    /// Tasks submitted so far.
    pub(crate) sequence: AtomicU32,
    /// Serial of the graph it is, or was last, captured into; 0 for none.
    pub(crate) capture: AtomicU32,
    /// Bound to a hand-built model, or between update begin and end.
    pub(crate) bound: AtomicBool,
    /// Handle of the hand-built model it is bound to, 0 for none.
    pub(crate) model: AtomicU64,
    /// Serial of the graph whose tasks it updates, 0 for none.
    pub(crate) update: AtomicU32,
    /// For a real handle of a default stream: the key under which the stream is kept.
    pub(crate) alias: AtomicU64,
    /// Where its lane lies, in which its tasks are timed, once the first one is. For `timing::lane` only.
    pub(crate) lane: AtomicPtr<c_void>,
    /// What the program has seen done on it.
    pub(crate) seen: Seen,
}

/// An event.
pub(crate) struct EventEntry {
    key: AtomicU64,
    pub(crate) serial: AtomicU32,
    /// Times it has been recorded.
    pub(crate) generation: AtomicU32,
    /// Made by `aclrtCreateEventWithFlag`: a reset takes its last record back, and a wait may come
    /// before the record it is for.
    pub(crate) resettable: AtomicBool,
    /// It has been reset since its last record.
    pub(crate) was_reset: AtomicBool,
    /// A record of it on a capturing stream becomes no node: it was made without the flag for waits.
    /// Said this way round so that an unused table is all zeros, and takes no room in the library.
    pub(crate) uncapturable: AtomicBool,
    /// It links graphs to the outside: waiting for it draws no stream into a capture.
    pub(crate) external: AtomicBool,
    /// It has a time, and whoever sees it done makes times readable.
    pub(crate) timeline: AtomicBool,
    /// Serial of the graph into which its last record was captured, 0 for none.
    pub(crate) capture: AtomicU32,
    /// The stream it was last recorded on, and the ticks before that record.
    pub(crate) stream: AtomicPtr<StreamEntry>,
    pub(crate) recorded: AtomicU64,
}

/// What an event's making says about it; see the fields of [`EventEntry`].
#[derive(Clone, Copy)]
pub(crate) struct EventKind {
    pub(crate) resettable: bool,
    pub(crate) uncapturable: bool,
    pub(crate) external: bool,
    pub(crate) timeline: bool,
}

macro_rules! keyed {
    ($($type:ty),+) => {$(
        impl crate::table::Entry for $type {
            fn key(&self) -> &AtomicU64 {
                &self.key
            }
        }
    )+};
}

pub(crate) use keyed;

impl Object for ContextEntry {
    const NEW: Self = Self {
        key: AtomicU64::new(0),
        serial: AtomicU32::new(0),
        device: AtomicU32::new(0),
        handle: AtomicU64::new(0),
        alias: AtomicU64::new(0),
        references: AtomicU32::new(0),
        timing: crate::timing::context::ContextTiming::new(),
    };
    const CAN_BE_TAKEN_OVER: bool = false;

    fn key(&self) -> &AtomicU64 {
        &self.key
    }

    fn clear(&self) {
        self.serial.store(0, Release);
        self.handle.store(0, Relaxed);
        self.alias.store(0, Relaxed);
        self.references.store(0, Relaxed);
        self.timing.forget();
    }
}

impl ContextEntry {
    pub(crate) fn is_default(&self) -> bool {
        self.key.load(Relaxed) & SYNTHETIC != 0
    }
}

impl ThreadState {
    /// The current context, if it was seen being set and still exists.
    #[inline]
    pub(crate) fn context(&self) -> Option<&'static ContextEntry> {
        let (entry, serial) = self.context.get();
        // SAFETY: null, or set by `set_context`; entries lie in static memory.
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
        let serial = |context: &ContextEntry| context.serial.load(Acquire);
        let known = context.map(|context| (core::ptr::from_ref(context).cast(), serial(context)));
        let none = (core::ptr::null(), 0);
        self.context
            .set(known.filter(|(_, serial)| *serial != 0).unwrap_or(none));
    }
}

impl Object for StreamEntry {
    const NEW: Self = Self {
        key: AtomicU64::new(0),
        serial: AtomicU32::new(0),
        context: AtomicU32::new(0),
        device: AtomicU32::new(0),
        acl_id: AtomicI32::new(0),
        id_known: AtomicBool::new(false),
        was_made: AtomicBool::new(false),
        flags: AtomicU32::new(0),
        priority: AtomicU32::new(0),
        sequence: AtomicU32::new(0),
        capture: AtomicU32::new(0),
        bound: AtomicBool::new(false),
        model: AtomicU64::new(0),
        update: AtomicU32::new(0),
        alias: AtomicU64::new(0),
        lane: AtomicPtr::new(core::ptr::null_mut()),
        seen: Seen::new(),
    };
    const CAN_BE_TAKEN_OVER: bool = false;

    fn key(&self) -> &AtomicU64 {
        &self.key
    }

    fn clear(&self) {
        self.serial.store(0, Release);
        self.alias.store(0, Relaxed);
        self.lane.store(core::ptr::null_mut(), Relaxed);
    }
}

impl StreamEntry {
    pub(crate) fn is_default(&self) -> bool {
        self.key.load(Relaxed) & SYNTHETIC != 0
    }

    /// The handle to give to the runtime: NULL for a default stream.
    pub(crate) fn handle(&self) -> u64 {
        if self.is_default() {
            0
        } else {
            self.key.load(Relaxed)
        }
    }

    /// Whether it is for models that are built by hand: bound to one, or made for it.
    pub(crate) fn is_for_models(&self) -> bool {
        self.bound.load(Relaxed) || self.flags.load(Relaxed) & FOR_MODELS != 0
    }

    /// Gives a stream that has just been made its serial.
    pub(crate) fn begin(&self, serial: u32, context: u32, device: u32) {
        self.context.store(context, Relaxed);
        self.device.store(device, Relaxed);
        self.acl_id.store(-1, Relaxed);
        self.id_known.store(false, Relaxed);
        self.was_made.store(self.is_default(), Relaxed);
        self.flags.store(0, Relaxed);
        self.priority.store(0, Relaxed);
        self.sequence.store(0, Relaxed);
        self.capture.store(0, Relaxed);
        self.bound.store(false, Relaxed);
        self.model.store(0, Relaxed);
        self.update.store(0, Relaxed);
        self.alias.store(0, Relaxed);
        self.lane.store(core::ptr::null_mut(), Relaxed);
        self.seen.begin();
        self.serial.store(serial, Release);
    }
}

impl Object for EventEntry {
    const NEW: Self = Self {
        key: AtomicU64::new(0),
        serial: AtomicU32::new(0),
        generation: AtomicU32::new(0),
        resettable: AtomicBool::new(false),
        was_reset: AtomicBool::new(false),
        uncapturable: AtomicBool::new(false),
        external: AtomicBool::new(false),
        timeline: AtomicBool::new(false),
        capture: AtomicU32::new(0),
        stream: AtomicPtr::new(core::ptr::null_mut()),
        recorded: AtomicU64::new(0),
    };
    const CAN_BE_TAKEN_OVER: bool = true;

    fn key(&self) -> &AtomicU64 {
        &self.key
    }

    fn clear(&self) {
        self.serial.store(0, Release);
    }
}

impl EventEntry {
    pub(crate) fn begin(&self, serial: u32, kind: EventKind) {
        self.generation.store(0, Relaxed);
        self.resettable.store(kind.resettable, Relaxed);
        self.uncapturable.store(kind.uncapturable, Relaxed);
        self.external.store(kind.external, Relaxed);
        self.timeline.store(kind.timeline, Relaxed);
        self.was_reset.store(false, Relaxed);
        self.capture.store(0, Relaxed);
        self.stream.store(core::ptr::null_mut(), Relaxed);
        self.serial.store(serial, Release);
    }

    /// The stream of the last record, and the ticks before it.
    pub(crate) fn last_record(&self) -> Option<(&'static StreamEntry, u64)> {
        // SAFETY: stream entries lie in static memory.
        let stream = unsafe { self.stream.load(Acquire).as_ref() }?;
        Some((stream, self.recorded.load(Relaxed)))
    }

    /// The program has seen its last record done, and with it all that came before on its stream. Only
    /// records with times make the runtime take note of that.
    pub(crate) fn was_seen(&self) {
        if !self.timeline.load(Relaxed) {
            return;
        }
        if let Some((stream, recorded)) = self.last_record() {
            stream.seen.knows(recorded.wrapping_add(1));
        }
    }

    /// The record that a wait issued now is for; 0 when that is yet to come.
    pub(crate) fn awaited_generation(&self) -> u32 {
        if self.was_reset.load(Relaxed) {
            0
        } else {
            self.generation.load(Relaxed)
        }
    }

    /// Notes that a reset was submitted.
    pub(crate) fn reset(&self) {
        if self.resettable.load(Relaxed) {
            self.was_reset.store(true, Relaxed);
        }
    }

    /// Notes a record on `stream` and answers its generation.
    pub(crate) fn record(&self, stream: Option<&'static StreamEntry>, ticks: u64) -> u32 {
        if let Some(stream) = stream.filter(|_| self.timeline.load(Relaxed)) {
            stream.seen.records(ticks);
        }
        let stream = stream.map_or(core::ptr::null_mut(), |s| core::ptr::from_ref(s).cast_mut());
        self.recorded.store(ticks, Relaxed);
        self.was_reset.store(false, Relaxed);
        self.stream.store(stream, Release);
        self.generation.fetch_add(1, Relaxed).wrapping_add(1)
    }

    /// The record of this generation has failed: waits are still for the one before it, unless another thread has
    /// recorded the event since.
    pub(crate) fn take_back(&self, generation: u32) {
        let before = generation.wrapping_sub(1);
        // Where the generation is another one, it stays.
        let _ = (self.generation).compare_exchange(generation, before, Relaxed, Relaxed);
    }
}

/// Handles of so many contexts, streams and events at one time are followed, as far as memory goes.
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

    /// Counts from 1 again. Answers whether any number had been given out.
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

/// Marks keys that are not handles; no user-space address has this bit.
const SYNTHETIC: u64 = 1 << 63;
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

/// A context has ended: what is kept of it is free for another one.
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
    fn a_record_that_failed_is_none() {
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
