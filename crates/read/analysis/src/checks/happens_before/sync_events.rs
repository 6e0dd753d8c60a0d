//! Events that stay done until they are reset: those of `aclrtCreateEventWithFlag` with `ACL_EVENT_SYNC`. Each has one
//! place on the device: a record sets it, a wait looks at it, and a reset clears it.

use std::collections::HashMap;

use ascend_trace_recording::{Event, EventId};

use super::action::StreamPosition;
use super::{NotedCall, OrderFact};

/// Largest number of events that are followed, and of waits of each.
const MOST_EVENTS: usize = 1 << 16;
const MOST_WAITS: usize = 64;

/// `EventRow::creation` of `aclrtCreateEventWithFlag`, and the flag.
const MADE_WITH_FLAG: u8 = 1;
const SYNC: u32 = 1;

/// Effect of a call on such an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventUse {
    Records(StreamPosition),
    Waits(StreamPosition),
    Resets(StreamPosition),
}

impl EventUse {
    pub(super) fn place(self) -> StreamPosition {
        match self {
            Self::Records(place) | Self::Waits(place) | Self::Resets(place) => place,
        }
    }
}

/// A task at a position of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskPosition {
    pub(super) slot: u32,
    pub(super) position: u64,
    pub(super) note: NotedCall,
}

#[derive(Debug, Default)]
struct EventUses {
    /// Since the last reset.
    waits: Vec<TaskPosition>,
    /// A record after a wait, without a reset between them.
    again: Option<TaskPosition>,
}

#[derive(Debug, Default)]
pub(super) struct HeldEvents {
    events: HashMap<EventId, EventUses>,
}

impl HeldEvents {
    pub(super) fn is_held(event: &Event) -> bool {
        event.creation == MADE_WITH_FLAG && event.flags & SYNC != 0
    }

    pub(super) fn end(&mut self, event: EventId) {
        self.events.remove(&event);
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
    }

    /// Takes the effect of the task at a position, with its predecessors.
    pub(super) fn take(
        &mut self,
        event: EventId,
        act: EventUse,
        at: TaskPosition,
        is_before: impl Fn(&TaskPosition) -> bool,
    ) -> Option<OrderFact> {
        if let EventUse::Resets(_) = act {
            let state = self.events.remove(&event)?;
            let wait = state.waits.iter().find(|wait| !is_before(wait))?;
            return Some(OrderFact::ResetEarly {
                by: at.note,
                wait: wait.note,
            });
        }
        if self.events.len() >= MOST_EVENTS {
            self.events.clear();
        }
        let state = self.events.entry(event).or_default();
        if let EventUse::Records(_) = act {
            state.again = Some(at).filter(|_| !state.waits.is_empty());
            return None;
        }
        let old = state.again.filter(|record| !is_before(record));
        if state.waits.len() < MOST_WAITS {
            state.waits.push(at);
        }
        old.map(|record| OrderFact::WaitsForOld {
            by: at.note,
            record: record.note,
        })
    }
}
