//! Facts about events: their latest records, and waits with a record that was still to come.

use std::collections::HashMap;

use ascend_trace_recording::{Call, EventId, FunctionId, ProcessId, ThreadId, Trace};

use super::queues::{Queues, StreamPosition};

/// An event by its process and serial.
pub(super) type EventKey = (ProcessId, u32);

/// `EventRow::creation` of `aclrtCreateEventExWithFlag`: a wait before the first record waits for nothing.
const CREATED_EX: u8 = 2;

/// A call that recorded an event, or was to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recording {
    pub(super) thread: ThreadId,
    pub(super) place: Option<StreamPosition>,
    pub(super) begin: i64,
    pub(super) code: i64,
}

impl EventState {
    /// The reset that took the last record back before any wait for it was submitted.
    pub(super) fn taken_back(&self) -> Option<(Recording, FunctionId)> {
        let last = self.last?;
        self.reset
            .filter(|(reset, _)| reset.begin >= last.begin && self.awaited < self.generation)
    }
}

#[derive(Debug, Default)]
pub(super) struct EventState {
    /// Of the latest record.
    pub(super) generation: u32,
    pub(super) last: Option<Recording>,
    /// The highest generation that a wait was submitted for.
    awaited: u32,
    /// The last reset, and the function that submitted it.
    reset: Option<(Recording, FunctionId)>,
    /// The last call that was to record it and failed.
    pub(super) failed: Option<Recording>,
    handle: u64,
    /// Waits for the next record.
    waits: Vec<StreamPosition>,
}

/// The events of a recording. One that was destroyed is forgotten.
#[derive(Debug, Default)]
pub(super) struct Events {
    known: HashMap<EventKey, EventState>,
    /// The handles that programs have now.
    handles: HashMap<(ProcessId, u64), EventKey>,
}

impl Events {
    pub(super) fn get(&self, event: EventKey) -> Option<&EventState> {
        self.known.get(&event)
    }

    /// The event that has this handle now.
    pub(super) fn by_handle(&self, process: ProcessId, handle: u64) -> Option<EventKey> {
        self.handles.get(&(process, handle)).copied()
    }

    /// An event that a call names.
    pub(super) fn note(&mut self, trace: &Trace, event: EventId) -> EventKey {
        let known = trace.event(event);
        let key = (known.process, known.serial);
        let state = self.known.entry(key).or_default();
        if known.handle != 0 {
            state.handle = known.handle;
            self.handles.insert((known.process, known.handle), key);
        }
        key
    }

    /// A call recorded an event. Waits for its next record are for this one.
    pub(super) fn recorded(
        &mut self,
        (event, generation): (EventKey, u32),
        recording: Recording,
        queues: &mut Queues,
    ) {
        let state = self.known.entry(event).or_default();
        if generation >= state.generation {
            state.generation = generation;
            state.last = Some(recording);
        }
        for wait in std::mem::take(&mut state.waits) {
            state.awaited = state.awaited.max(generation);
            queues.bind(wait, generation);
        }
    }

    /// A wait was submitted for a generation.
    pub(super) fn awaited(&mut self, event: EventKey, generation: u32) {
        let state = self.known.entry(event).or_default();
        state.awaited = state.awaited.max(generation);
    }

    /// A reset was submitted.
    pub(super) fn reset(&mut self, event: EventKey, reset: Recording, function: FunctionId) {
        let state = self.known.entry(event).or_default();
        state.reset = Some((reset, function));
    }

    pub(super) fn failed(&mut self, event: EventKey, recording: Recording) {
        self.known.entry(event).or_default().failed = Some(recording);
    }

    /// A wait was submitted that the next record ends.
    pub(super) fn waits(&mut self, event: EventKey, wait: StreamPosition) {
        self.known.entry(event).or_default().waits.push(wait);
    }

    /// The event was destroyed. Waits for it may go on.
    pub(super) fn destroyed(&mut self, event: EventKey) {
        let Some(state) = self.known.get(&event) else {
            return;
        };
        if self.handles.get(&(event.0, state.handle)) == Some(&event) {
            self.handles.remove(&(event.0, state.handle));
        }
        if state.waits.is_empty() {
            self.known.remove(&event);
        }
    }
}

/// Whether a wait that a call submitted waits for anything.
pub(super) fn holds(trace: &Trace, call: &Call) -> bool {
    let generation = call.event;
    generation.is_some_and(|it| it.number > 0 || trace.event(it.event).creation != CREATED_EX)
}
