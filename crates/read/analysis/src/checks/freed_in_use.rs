//! The program gave memory back while a copy or a fill could still use it. `aclrtFree` and `aclrtFreeHost` do not
//! wait for tasks. The next allocation may get the same memory, and the task then writes or reads memory of
//! another owner.
//!
//! `aclrtMemPoolFreeAsync` gives memory back when its stream gets there. Tasks of other streams that use the memory must come
//! before it: let its stream wait for an event that is recorded after them.
//!
//! Wait for the stream before you free other memory, or use `aclrtFreeWithDevSync` and `aclrtFreeHostWithDevSync`. A
//! pool of buffers that reuses memory in the order of one stream needs neither.
//!
//! The page of `data-race` says which memory the check knows, and where it reports nothing.

use ascend_trace_recording::{FunctionId, StreamId, ThreadId, Trace};

use super::super::finding::site;
use super::super::grouping::Sorted;
use super::super::happens_before::{OrderFact, NotedCall};
use super::super::{Check, Finding};

#[derive(Debug, Default)]
pub(super) struct FreedInUse {
    found: Sorted<(ThreadId, FunctionId, FunctionId, Option<StreamId>)>,
}

impl Check for FreedInUse {
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            match fact {
                OrderFact::Freed {
                    by,
                    user,
                    writes,
                    is_host,
                } if by.is_wanted => {
                    let name = &trace.function(by.function).name;
                    let uses = if *writes { "write" } else { "read" };
                    let advice = match by.number_of_stream(trace) {
                        Some(own) => in_order(trace, user, own),
                        None => before(*is_host).to_owned(),
                    };
                    let finding = Finding {
                        what: format!(
                            "{name} gave back memory that {} (call {}) may still {uses}",
                            user.on_stream(trace),
                            user.number,
                        ),
                        advice,
                        streams: user.number_of_stream(trace).into_iter().collect(),
                        other: Some(site(trace, user)),
                        ..Finding::of_note(trace, by)
                    };
                    let key = (by.thread, by.function, user.function, user.stream);
                    let process = trace.thread(by.thread).process;
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

/// What to do where a stream gives memory back.
fn in_order(trace: &Trace, user: &NotedCall, own: i64) -> String {
    let number = user.number;
    let other = user.number_of_stream(trace);
    let on = other.map_or_else(String::new, |it| format!(" on stream {it}"));
    format!("record an event{on} after call {number}, and let stream {own} wait for it before")
}

/// What to do where the host gives memory back.
fn before(is_host: bool) -> &'static str {
    match is_host {
        true => "wait for the stream before, or use aclrtFreeHostWithDevSync",
        false => "wait for the stream before, or use aclrtFreeWithDevSync",
    }
}
