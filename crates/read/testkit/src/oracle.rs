//! The records that the waits of a program belong to, derived from its calls one by one.
//!
//! This knows nothing of generations, serials or the analysis: it replays the handles that the program
//! passed by the rules of AscendCL. It is for programs with calls on events that follow each other in
//! time, on any threads.

use std::collections::HashMap;

use ascend_trace_recording::{Call, CallId, ProcessId, Trace};

/// The creation of an event decides the meaning of a wait before its first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventCreation {
    /// A wait without a record is refused; a reset changes nothing.
    Plain,
    /// A wait without a record, or after a reset, waits for the next record.
    Resettable,
    /// A wait without a record waits for nothing.
    Recordable,
}

#[derive(Clone, Debug)]
struct EventState {
    making: EventCreation,
    latest: Option<CallId>,
    /// Waits and their calls that the next record will release.
    expecting: Vec<CallId>,
}

/// The record that a wait, or a host's wait for an event, is bound to.
pub type BoundRecord = (CallId, Option<CallId>);

/// All successful waits for events of a trace, by the begin of their calls.
pub fn waits(trace: &Trace) -> Vec<BoundRecord> {
    let mut calls: Vec<CallId> = (0..trace.calls().len() as u32).map(CallId).collect();
    calls.retain(|id| trace.call(*id).ret == 0);
    calls.sort_by_key(|id| (trace.call(*id).begin, id.0));
    let mut events: HashMap<(ProcessId, u64), EventState> = HashMap::new();
    let mut bound: HashMap<CallId, Option<CallId>> = HashMap::new();
    let mut order = Vec::new();
    for id in calls {
        let call = trace.call(id);
        let name = trace.function(call.function).name.as_str();
        let Some(handle) = argument(trace, call, "event") else {
            continue;
        };
        let key = (trace.thread(call.thread).process, handle);
        match name {
            "aclrtCreateEvent" => create(&mut events, key, EventCreation::Plain),
            "aclrtCreateEventWithFlag" => create(&mut events, key, EventCreation::Resettable),
            "aclrtCreateEventExWithFlag" => create(&mut events, key, EventCreation::Recordable),
            "aclrtDestroyEvent" => drop(events.remove(&key)),
            _ => {}
        }
        let Some(event) = events.get_mut(&key) else {
            continue;
        };
        match name {
            "aclrtRecordEvent" | "aclrtRecordEventWithFlag" => {
                event.latest = Some(id);
                for wait in event.expecting.drain(..) {
                    bound.insert(wait, Some(id));
                }
            }
            "aclrtResetEvent" if event.making == EventCreation::Resettable => event.latest = None,
            "aclrtStreamWaitEvent"
            | "aclrtStreamWaitEventWithTimeout"
            | "aclrtStreamWaitEventWithFlag" => {
                if event.latest.is_none() && event.making == EventCreation::Resettable {
                    event.expecting.push(id);
                }
                bound.insert(id, event.latest);
                order.push(id);
            }
            "aclrtSynchronizeEvent" | "aclrtSynchronizeEventWithTimeout" => {
                bound.insert(id, event.latest);
                order.push(id);
            }
            _ => {}
        }
    }
    order.into_iter().map(|id| (id, bound[&id])).collect()
}

fn create(
    events: &mut HashMap<(ProcessId, u64), EventState>,
    key: (ProcessId, u64),
    making: EventCreation,
) {
    let event = EventState {
        making,
        latest: None,
        expecting: Vec::new(),
    };
    events.insert(key, event);
}

/// An argument by its name.
fn argument(trace: &Trace, call: &Call, name: &str) -> Option<u64> {
    let args = &trace.function(call.function).args;
    let place = args.iter().position(|arg| arg.name == name)?;
    trace.args(call).get(place).copied()
}
