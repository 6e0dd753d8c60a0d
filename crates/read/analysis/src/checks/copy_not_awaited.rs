//! The program ended, or called `aclFinalize`, `aclrtResetDevice` or `aclrtResetDeviceForce`, while a copy to the host could still be under way: nothing had shown the
//! program that the copy was done. Data that it read before may be old, and the copy itself may never be done.
//!
//! Wait before you read the data: with `aclrtSynchronizeStream`, or with an event after the copy.
//!
//! A device counts how often it was set, so `aclrtResetDevice` may end nothing. If something waits for the copy after such a call, there
//! is no finding.
//!
//! Each stream has one finding, for its last copy. A program that has its result in another way, such as a flag in memory that the
//! device writes, has an order that the check does not see.

use ascend_trace_recording::{FunctionId, StreamId, ThreadId, Trace};

use super::super::finding::site;
use super::super::grouping::Sorted;
use super::super::happens_before::OrderFact;
use super::super::{Check, Finding};

#[derive(Debug, Default)]
pub(super) struct CopyNotAwaited {
    found: Sorted<(ThreadId, FunctionId, Option<StreamId>)>,
}

impl Check for CopyNotAwaited {
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            match fact {
                OrderFact::NotWaitedFor { copy, by } if copy.is_wanted => {
                    let ended = match by {
                        Some(by) => format!("{} was called", trace.function(by.function).name),
                        None => "the process ended".to_owned(),
                    };
                    let name = copy.on_stream(trace);
                    let finding = Finding {
                        what: format!("{ended}, and nothing had waited for {name} to the host"),
                        advice: "wait for the stream, or for an event after the copy, before the data are read".to_owned(),
                        other: by.map(|it| site(trace, &it)),
                        ..Finding::of_note(trace, copy)
                    };
                    let key = (copy.thread, copy.function, copy.stream);
                    let process = trace.thread(copy.thread).process;
                    self.found.add(process, key, finding);
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
