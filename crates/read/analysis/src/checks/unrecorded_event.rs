//! A stream or a thread waited for an event that had never been recorded. The call succeeds and waits for nothing.
//! Work after it may run before the work that it should wait for. The result is then right or wrong by chance.
//!
//! Record the event before you submit the wait. If another thread records it, let that thread signal when it has.
//! A pipeline with several buffers waits in its first round for events that later rounds record. So a wait is no finding
//! where a later wait for the same event had a record to wait for.
//!
//! Only events of `aclrtCreateEventExWithFlag` do this; PyTorch uses them. Some other events refuse the wait. Events
//! of `aclrtCreateEventWithFlag` with `ACL_EVENT_SYNC` hold the stream until the next record.

use std::collections::{BTreeMap, HashSet};

use ascend_trace_format::api::Role;
use ascend_trace_recording::units::count;
use ascend_trace_recording::{Call, CallId, EventId, StackId, Trace};

use super::super::grouping::Groups;
use super::super::{Check, Finding};
use crate::Window;

/// `EventRow::creation` of `aclrtCreateEventExWithFlag`.
const MADE_EX: u8 = 2;

#[derive(Debug, Default)]
pub(super) struct UnrecordedEvent {
    /// By the event, its serial, and where the call was made.
    groups: Groups<(EventId, u32, Option<StackId>)>,
    /// The events in them, and those for which a later wait was not in vain.
    seen: HashSet<EventId>,
    recorded: HashSet<EventId>,
}

/// The calls of a thread that are made at one place.
#[derive(Debug)]
struct WaitingPlace {
    finding: Finding,
    /// The serial of the event of the first call, and the number of events.
    first: u32,
    events: u64,
}

impl Check for UnrecordedEvent {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls().filter(|id| wanted(*id)) {
            if let Some(event) = unrecorded(trace, id) {
                self.seen.insert(event);
                let serial = trace.event(event).serial;
                let stack = trace.shown_stack(trace.call(id));
                self.groups.add(trace, id, (event, serial, stack), 0);
            }
        }
        if self.seen.is_empty() {
            return;
        }
        for call in window.calls().map(|id| trace.call(id)) {
            let recorded = call.event.filter(|it| it.number > 0 && waits(trace, call));
            let recorded = recorded.map(|it| it.event);
            self.recorded
                .extend(recorded.filter(|it| self.seen.contains(it)));
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let recorded = std::mem::take(&mut self.recorded);
        let mut groups = std::mem::take(&mut self.groups);
        groups.leave_out(|(event, ..)| recorded.contains(event));
        let mut places: BTreeMap<_, WaitingPlace> = BTreeMap::new();
        for (finding, (_, serial, stack)) in groups.into_groups() {
            let key = (
                finding.process,
                finding.tid,
                finding.site.name.clone(),
                stack,
            );
            let place = WaitingPlace {
                finding,
                first: serial,
                events: 1,
            };
            match places.get_mut(&key) {
                Some(known) => known.join(place),
                None => drop(places.insert(key, place)),
            }
        }
        places.into_values().map(WaitingPlace::finding).collect()
    }
}

impl WaitingPlace {
    fn join(&mut self, other: Self) {
        let order = |it: &Self| (it.finding.begin_ns, it.first);
        if order(&other) < order(self) {
            self.first = other.first;
        }
        self.events += other.events;
        self.finding.join(&other.finding);
    }

    fn finding(self) -> Finding {
        let name = &self.finding.site.name;
        let what = match self.events {
            1 => format!(
                "{name} waited for nothing: event {} had not been recorded",
                self.first
            ),
            more => format!(
                "{name} waited for nothing: {} events had not been recorded, first event {}",
                count(more),
                self.first
            ),
        };
        Finding {
            what,
            advice: "record the event before the wait is submitted".to_owned(),
            ..self.finding
        }
    }
}

/// The event for which a call waited in vain.
fn unrecorded(trace: &Trace, id: CallId) -> Option<EventId> {
    let call = trace.call(id);
    let generation = call.event.filter(|generation| generation.number == 0)?;
    let event = trace.event(generation.event);
    let is_wait = waits(trace, call) && call.result() == Some(0);
    (is_wait && event.creation == MADE_EX).then_some(generation.event)
}

fn waits(trace: &Trace, call: &Call) -> bool {
    let role = trace.function(call.function).role;
    matches!(role, Role::WaitEvent | Role::SyncEvent)
}
