//! A graph was replayed after memory that its tasks use had been given back. A graph keeps the addresses of its capture, and
//! does not keep the memory. Its tasks then read and write memory of another owner.
//!
//! Keep the memory until the last replay of the graph. Or capture the graph again after you have allocated the memory
//! again, even if the address is the same.
//!
//! The page of `data-race` says which memory the check knows. Graphs with updated nodes are left out.

use ascend_trace_recording::{FunctionId, ThreadId, Trace};

use super::super::grouping::Sorted;
use super::super::happens_before::OrderFact;
use super::super::{Check, Finding};

#[derive(Debug, Default)]
pub(super) struct FreedUnderGraph {
    found: Sorted<(ThreadId, FunctionId, u32)>,
}

impl Check for FreedUnderGraph {
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            match fact {
                OrderFact::ReplaysFreed { by, freed } if by.is_wanted => {
                    let finding = Finding {
                        what: format!(
                            "{} replays a graph that uses memory which {} (call {}) gave back",
                            by.on_stream(trace),
                            trace.function(freed.function).name,
                            freed.number,
                        ),
                        advice: "keep the memory until the last replay, or capture the graph again".to_owned(),
                        streams: by.number_of_stream(trace).into_iter().collect(),
                        ..Finding::of_note(trace, by)
                    };
                    let process = trace.thread(by.thread).process;
                    self.found.add(process, (by.thread, by.function, freed.number), finding);
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
