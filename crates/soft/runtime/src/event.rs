//! Events: their parts. Their calls are in `calls`.

pub(crate) mod calls;
mod captured;
pub(crate) mod kind;
pub(crate) mod record;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::code::{Outcome, check};
use crate::device::{Device, Lease};
use crate::handles::{HandleKind, Registry};
use crate::per_process::PerProcess;
use crate::stream::failures::Failures;
use crate::stream::line::StreamLine;
use crate::sync::{Mutex, lock};
use captured::EventUses;
use kind::EventClass;
use record::{EventName, Record};

static EVENTS: PerProcess<Registry<Event>> = PerProcess::new(|| Registry::new(HandleKind::Event));

pub(crate) struct Event {
    pub(crate) handle: usize,
    pub(crate) flags: u32,
    pub(crate) class: EventClass,
    device: &'static Device,
    /// Those of the context that it was made in.
    failures: Arc<Failures>,
    /// The id of an event that holds one from creation on.
    held_id: Option<Arc<Lease>>,
    state: Mutex<EventState>,
    /// Is there a capture in the state?
    is_captured: AtomicBool,
    uses: EventUses,
}

#[derive(Default)]
struct EventState {
    latest: Option<Arc<Record>>,
    /// The record that a wait before the first record will get.
    expected: Option<Arc<Record>>,
    waits: Vec<(Arc<StreamLine>, u64)>,
    /// The handle of the graph that is being captured and has the latest record, and the node of that.
    capture: Option<(usize, usize)>,
}

pub(crate) fn of(handle: usize) -> Outcome<Arc<Event>> {
    EVENTS
        .get()
        .named(handle, "the event is NULL", "this is no event")
}

/// The event object lives on while tasks refer to it; its handle is dead at once.
pub(crate) fn destroy(handle: usize) -> Outcome {
    of(handle)?;
    EVENTS.get().remove(handle);
    Ok(())
}

impl Event {
    /// How logs and graphs name it.
    pub(crate) const fn name(&self) -> EventName {
        EventName {
            handle: self.handle,
            flags: self.flags,
        }
    }

    fn host_may_use(&self) -> Outcome {
        check(
            self.class != EventClass::DeviceUseOnly,
            "the event is for the device only",
        )
    }

    pub(crate) fn latest(&self) -> Option<Arc<Record>> {
        lock(&self.state).latest.clone()
    }
}
