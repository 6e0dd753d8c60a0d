//! The program ended a stream by force while tasks of the stream could still be pending. The runtime drops such
//! tasks: their results are missing, and a stream that waits for one of their events may wait forever.
//!
//! Use `aclrtDestroyStream`, which waits for the tasks. Or synchronise with the stream before. If the program gives up
//! after an error, this is right.

use ascend_trace_recording::units::count;
use ascend_trace_recording::{FunctionId, ThreadId, Trace};

use super::super::finding::site;
use super::super::grouping::Sorted;
use super::super::happens_before::OrderFact;
use super::super::{Check, Finding};

#[derive(Debug, Default)]
pub(super) struct DestroyedWithWork {
    found: Sorted<(ThreadId, FunctionId)>,
}

impl Check for DestroyedWithWork {
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            match fact {
                OrderFact::Dropped { by, tasks, copy } if by.is_wanted => {
                    let finding = Finding {
                        what: format!(
                            "{} ended it with up to {} that the host had not waited for{}",
                            by.on_stream(trace),
                            match tasks {
                                1 => "1 task".to_owned(),
                                more => format!("{} tasks", count(*more)),
                            },
                            copy.map_or_else(String::new, |it| format!(", with a copy to the host (call {})", it.number)),
                        ),
                        advice: "synchronise before, or use aclrtDestroyStream".to_owned(),
                        other: copy.map(|it| site(trace, &it)),
                        ..Finding::of_note(trace, by)
                    };
                    let process = trace.thread(by.thread).process;
                    self.found.add(process, (by.thread, by.function), finding);
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
