//! Facts about a stream, an event and a context.

use core::ffi::c_void;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64};

use ascend_trace_format::record::kinds;

use crate::object_table::Object;
use crate::stream_progress::StreamProgress;

/// Marks keys that are not handles; no user-space address has this bit.
pub(super) const SYNTHETIC: u64 = 1 << 63;

/// `ACL_STREAM_PERSISTENT`, `ACL_STREAM_CPU_SCHEDULE` and `ACL_STREAM_DEVICE_USE_ONLY`: the streams of models.
const FOR_MODELS: u32 = 0x4 | 0x10 | 0x20;

/// A context, keyed by its handle, or by a special key for a device's default one.
pub(crate) struct ContextEntry {
    pub(super) key: AtomicU64,
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

/// A stream, keyed by its handle, or by a special key for a context's default one.
pub(crate) struct StreamEntry {
    pub(super) key: AtomicU64,
    /// 0 while the stream does not exist.
    pub(crate) serial: AtomicU32,
    pub(crate) context: AtomicU32,
    pub(crate) device: AtomicU32,
    /// The runtime's number of it; negative while that is not known.
    pub(crate) acl_id: AtomicI32,
    /// Whether `acl_id` was asked for.
    pub(crate) id_known: AtomicBool,
    /// Its creation was recorded. Another handle may belong to an ended stream: injecting there would
    /// fail, and the program would find these failures in its error state.
    pub(crate) was_made: AtomicBool,
    pub(crate) flags: AtomicU32,
    pub(crate) priority: AtomicU32,
    /// Number of submitted tasks.
    pub(crate) sequence: AtomicU32,
    /// Serial of the graph it is, or was last, captured into; 0 for none.
    pub(crate) capture: AtomicU32,
    /// Bound to a hand-built model, or between update begin and end.
    pub(crate) bound: AtomicBool,
    /// Handle of the hand-built model it is bound to, 0 for none.
    pub(crate) model: AtomicU64,
    /// Serial of the graph with the tasks that it updates, 0 for none.
    pub(crate) update: AtomicU32,
    /// For a real handle of a default stream: the key under which the stream is kept.
    pub(crate) alias: AtomicU64,
    /// Where its lane lies, in which its tasks are timed, once the first one is. For `timing::lane` only.
    pub(crate) lane: AtomicPtr<c_void>,
    /// Progress of the stream that the program has seen.
    pub(crate) seen: StreamProgress,
}

/// An event.
pub(crate) struct EventEntry {
    pub(super) key: AtomicU64,
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
    /// It has a time, and a query that finds it done makes times readable.
    pub(crate) timeline: AtomicBool,
    /// Serial of the graph into which its last record was captured, 0 for none.
    pub(crate) capture: AtomicU32,
    /// The stream it was last recorded on, and the ticks before that record.
    pub(crate) stream: AtomicPtr<StreamEntry>,
    pub(crate) recorded: AtomicU64,
    /// Its context, and the flags and the manner of its creation, for the trace.
    context: AtomicU32,
    flags: AtomicU32,
    creation: AtomicU8,
}

/// Properties of an event from its creation; see the fields of [`EventEntry`].
#[derive(Clone, Copy)]
pub(crate) struct EventKind {
    pub(crate) resettable: bool,
    pub(crate) uncapturable: bool,
    pub(crate) external: bool,
    pub(crate) timeline: bool,
}

macro_rules! keyed {
    ($($type:ty),+) => {$(
        impl crate::table::TableEntry for $type {
            fn key(&self) -> &AtomicU64 {
                &self.key
            }
        }
    )+};
}

pub(crate) use keyed;

/// Entries that share no cache line with others: each task of a thread changes that of its stream.
#[repr(align(128))]
pub(crate) struct OwnLines;

impl Object for ContextEntry {
    type Alignment = u64;
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

impl Object for StreamEntry {
    type Alignment = OwnLines;
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
        seen: StreamProgress::new(),
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
    type Alignment = u64;
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
        context: AtomicU32::new(0),
        flags: AtomicU32::new(0),
        creation: AtomicU8::new(0),
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
    /// `made` has its context, and the flags and the manner of its creation.
    pub(crate) fn begin(&self, serial: u32, kind: EventKind, made: (u32, u32, u8)) {
        let (context, flags, creation) = made;
        self.context.store(context, Relaxed);
        self.flags.store(flags, Relaxed);
        self.creation.store(creation, Relaxed);
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

    /// The event for the trace.
    pub(crate) fn description(&self) -> kinds::Event {
        kinds::Event {
            serial: self.serial.load(Relaxed),
            context: self.context.load(Relaxed),
            handle: self.key.load(Relaxed),
            flags: self.flags.load(Relaxed),
            creation: self.creation.load(Relaxed),
        }
    }

    /// The program may have recorded it while nothing was recorded: waits that follow are for a record that the trace does
    /// not have.
    pub(super) fn begin_again(&self) {
        self.generation.fetch_max(1, Relaxed);
        self.was_reset.store(false, Relaxed);
        self.capture.store(0, Relaxed);
        self.stream.store(core::ptr::null_mut(), Relaxed);
    }

    /// The stream of the last record, and the ticks before it; `None` while a record is being submitted, and after one
    /// that failed.
    pub(crate) fn last_record(&self) -> Option<(&'static StreamEntry, u64)> {
        let on = self.stream.load(Acquire);
        let recorded = self.recorded.load(Acquire);
        // Another thread may have begun the next record meanwhile.
        if self.stream.load(Relaxed) != on {
            return None;
        }
        // SAFETY: stream entries are in static memory.
        Some((unsafe { on.as_ref() }?, recorded))
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

    /// Notes that a record on `stream` is about to be submitted, and returns its generation. A thread
    /// that waits for the event meanwhile may find the record before it done: so no progress is noted
    /// for either.
    pub(crate) fn record(&self, stream: Option<&'static StreamEntry>, ticks: u64) -> u32 {
        if let Some(stream) = stream.filter(|_| self.timeline.load(Relaxed)) {
            stream.seen.records(ticks);
        }
        self.stream.store(core::ptr::null_mut(), Relaxed);
        self.recorded.store(ticks, Release);
        self.was_reset.store(false, Relaxed);
        self.generation.fetch_add(1, Relaxed).wrapping_add(1)
    }

    /// The record of this generation has been submitted.
    pub(crate) fn was_recorded(&self, stream: &'static StreamEntry, generation: u32) {
        if self.generation.load(Relaxed) == generation {
            self.stream
                .store(core::ptr::from_ref(stream).cast_mut(), Release);
        }
    }

    /// The record of this generation has failed: waits are still for the one before it, unless another thread has
    /// recorded the event since.
    pub(crate) fn take_back(&self, generation: u32) {
        let before = generation.wrapping_sub(1);
        // Where the generation is another one, it stays.
        let _ = (self.generation).compare_exchange(generation, before, Relaxed, Relaxed);
    }
}
