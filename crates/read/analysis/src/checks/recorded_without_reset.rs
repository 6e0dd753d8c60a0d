//! An event was recorded, waited for, and recorded again without a reset. Then a stream waited for the second record. The
//! event was still done from the first one, so the wait may wait for nothing, and work after it may run too early.
//!
//! Reset the event with `aclrtResetEvent` after the wait, and before the next record. Or use events of
//! `aclrtCreateEventExWithFlag`, which can be recorded any number of times.
//!
//! The check knows events of `aclrtCreateEventWithFlag` with `ACL_EVENT_SYNC`: only these keep their state until a reset. It
//! reports nothing where the second record comes before the wait in another way as well.

use ascend_trace_recording::{FunctionId, StreamId, ThreadId, Trace};

use super::super::grouping::Sorted;
use super::super::happens_before::{OrderFact, NotedCall};
use super::super::{Check, Finding};

#[derive(Debug, Default)]
pub(super) struct RecordedWithoutReset {
    found: Sorted<(ThreadId, FunctionId, [Option<StreamId>; 2])>,
}

impl Check for RecordedWithoutReset {
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            match fact {
                OrderFact::WaitsForOld { by, record } if by.is_wanted => {
                    let process = trace.thread(by.thread).process;
                    let key = (by.thread, by.function, [by.stream, record.stream]);
                    self.found.add(process, key, finding(trace, by, record));
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

fn finding(trace: &Trace, by: &NotedCall, record: &NotedCall) -> Finding {
    let streams = [record, by].map(|note| note.number_of_stream(trace));
    let what = format!(
        "{} may wait for nothing: {} (call {}) recorded the event again without a reset",
        by.on_stream(trace),
        record.on_stream(trace),
        record.number,
    );
    Finding {
        what,
        advice: "reset the event after each wait, before it is recorded again".to_owned(),
        streams: streams.into_iter().flatten().collect(),
        ..Finding::of_note(trace, by)
    }
}
