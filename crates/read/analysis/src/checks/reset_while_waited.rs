//! A stream reset an event, and nothing orders the reset after a wait for the event on another stream. If the reset comes first,
//! the other stream does not see the record: it waits for the next one, or forever.
//!
//! Reset an event on the stream that waits for it, after the wait. If several streams wait for it, let the stream that resets
//! it wait for the others first, or give each of them an event. Events of `aclrtCreateEventExWithFlag` need no reset.
//!
//! The check knows events of `aclrtCreateEventWithFlag` with `ACL_EVENT_SYNC`: only these keep their state until a reset. The
//! page of `data-race` says where the order of tasks is not known. There, nothing is reported.

use ascend_trace_recording::{FunctionId, StreamId, ThreadId, Trace};

use super::super::grouping::Sorted;
use super::super::happens_before::{OrderFact, NotedCall};
use super::super::{Check, Finding};

#[derive(Debug, Default)]
pub(super) struct ResetWhileWaited {
    found: Sorted<(ThreadId, FunctionId, [Option<StreamId>; 2])>,
}

impl Check for ResetWhileWaited {
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            match fact {
                OrderFact::ResetEarly { by, wait } if by.is_wanted => {
                    let process = trace.thread(by.thread).process;
                    let key = (by.thread, by.function, [by.stream, wait.stream]);
                    self.found.add(process, key, finding(trace, by, wait));
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

fn finding(trace: &Trace, by: &NotedCall, wait: &NotedCall) -> Finding {
    let streams = [by, wait].map(|note| note.number_of_stream(trace));
    let what = format!(
        "{} reset an event, and nothing puts this after {} (call {})",
        by.on_stream(trace),
        wait.on_stream(trace),
        wait.number,
    );
    let advice = "reset the event after all waits for it, or use an event for each stream";
    Finding {
        what,
        advice: advice.to_owned(),
        streams: streams.into_iter().flatten().collect(),
        ..Finding::of_note(trace, by)
    }
}
