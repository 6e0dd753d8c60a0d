//! The program gave memory back while a copy or a fill could still use it. `aclrtFree` and `aclrtFreeHost` do not
//! wait for tasks. The next allocation may get the same memory, and the task then writes or reads what belongs to
//! somebody else.
//!
//! Wait for the stream before you free the memory, or use `aclrtFreeWithDevSync` and `aclrtFreeHostWithDevSync`. A
//! pool of buffers that reuses memory in the order of one stream needs neither.
//!
//! The page of `data-race` says which memory the check knows, and where it reports nothing.

use ascend_trace_recording::{FunctionId, StreamId, ThreadId, Trace};

use super::super::grouping::Sorted;
use super::super::order::Fact;
use super::super::{Check, Finding};

#[derive(Debug, Default)]
pub(super) struct FreedInUse {
    found: Sorted<(ThreadId, FunctionId, FunctionId, Option<StreamId>)>,
}

impl Check for FreedInUse {
    fn judge(&mut self, trace: &Trace, facts: &[Fact]) {
        for fact in facts {
            match fact {
                Fact::Freed {
                    by,
                    user,
                    writes,
                    is_host,
                } if by.is_wanted => {
                    let name = &trace.function(by.function).name;
                    let uses = if *writes { "write" } else { "read" };
                    let advice = match is_host {
                        true => "wait for the stream before, or use aclrtFreeHostWithDevSync",
                        false => "wait for the stream before, or use aclrtFreeWithDevSync",
                    };
                    let finding = Finding {
                        what: format!(
                            "{name} gave back memory that {} (call {}) may still {uses}",
                            user.on_stream(trace),
                            user.number,
                        ),
                        advice: advice.to_owned(),
                        streams: user.number_of_stream(trace).into_iter().collect(),
                        ..Finding::of_note(trace, by)
                    };
                    let key = (by.thread, by.function, user.function, user.stream);
                    let process = trace.thread(by.thread).process;
                    self.found.add(process, key, finding);
                }
                Fact::Unknown(process) => self.found.doubt(*process),
                _ => {}
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.found.take()
    }
}
