//! A call used a stream, an event or a context that the program had ended before: by destroying it, by destroying its
//! context, or by resetting its device. Or a call used memory after its release, or released it twice. Calls that need a context
//! after the thread reset its device count as well. The effect of such a call is missing. Some releases of the runtime do not
//! check handles, and the program then crashes.
//!
//! Use things before they end. A device that was reset must be set again, and what belonged to it must be made again.
//!
//! The check looks at calls that returned an error or never returned. A handle that works counts as a new stream, event or
//! context. A reset of a device does not end its events. Memory counts as given back until a call allocates memory there
//! again.

use ascend_trace_format::api::{ArgPart, Role};
use ascend_trace_recording::{FunctionId, ThreadId, Trace};

use super::super::finding::site;
use super::super::grouping::Sorted;
use super::super::happens_before::OrderFact;
use super::super::{Check, Finding, EndedObject, UseAfterEnd};

/// Common part of findings: the thread, the kind of object, its use, and the function that ended it.
type Key = (ThreadId, [FunctionId; 2], &'static str);

#[derive(Debug, Default)]
pub(super) struct UsedAfterEnd {
    found: Sorted<Key>,
}

impl Check for UsedAfterEnd {
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            match fact {
                OrderFact::UsedAfterEnd(it) if it.by.is_wanted => {
                    let process = trace.thread(it.by.thread).process;
                    let functions = [it.by.function, it.ended.function];
                    let key = (it.by.thread, functions, kind(it.entity));
                    self.found.add(process, key, finding(trace, it));
                }
                OrderFact::Unknown(process) => self.found.doubt(*process),
                _ => {}
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.found.take()
    }
}

fn kind(entity: EndedObject) -> &'static str {
    match entity {
        EndedObject::Stream(_) => "stream",
        EndedObject::Event(_) => "event",
        EndedObject::Context => "context",
        EndedObject::Binding => "binding",
        EndedObject::Memory => "memory",
    }
}

fn finding(trace: &Trace, it: &UseAfterEnd) -> Finding {
    let name = &trace.function(it.by.function).name;
    let ender = trace.function(it.ended.function);
    let by = format!("{} (call {})", ender.name, it.ended.number);
    let mut streams = Vec::new();
    let what = match it.entity {
        EndedObject::Stream(stream) => {
            let number = trace.stream(stream).number();
            streams.push(number);
            format!("{name} used stream {number}, which {by} had ended")
        }
        EndedObject::Event(event) => {
            let serial = trace.event(event).serial;
            format!("{name} used event {serial}, which {by} had ended")
        }
        EndedObject::Memory => format!("{name} used memory that {by} had given back"),
        EndedObject::Context => format!("{name} used a context that {by} had ended"),
        EndedObject::Binding => format!("{name} had no context: {by} had ended the context that the thread used"),
    };
    let frees = |function: FunctionId| {
        let parts = [ArgPart::Freed, ArgPart::HostFreed, ArgPart::PoolFreed];
        parts.iter().any(|it| trace.function(function).part(*it).is_some())
    };
    let advice = match ender.role {
        _ if it.entity == EndedObject::Memory && frees(it.by.function) => {
            "give memory back once: by its owner, or set the pointer to null after it"
        }
        _ if it.entity == EndedObject::Memory => "make the call before the memory is given back, or keep the memory",
        Role::ResetDevice => "make the call before the reset, or set the device and make things again",
        _ => "make the call before the end, or make another one",
    };
    Finding {
        what,
        advice: advice.to_owned(),
        streams,
        other: Some(site(trace, &it.ended)),
        ..Finding::of_note(trace, &it.by)
    }
}
