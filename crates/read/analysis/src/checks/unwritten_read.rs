//! A copy to the host takes memory that nothing had written: a copy or a fill before it was shorter. The host gets the
//! earlier bytes of the memory, of another owner.
//!
//! Copy no more than was written, or fill the memory first.
//!
//! The check follows memory of the device from its allocation on, and through copies within the device. It reports a copy to the
//! host where a part of its memory was written and another part was not. It knows the writes of the copies and fills that the page
//! of `data-race` names. Other tasks may write memory as well: kernels, operators, collectives and graphs, and calls that get an
//! address in it. Nothing is reported of memory that was allocated before one of them. So a program with kernels gets findings only for
//! memory that it allocates after the last of them.

use ascend_trace_recording::units::bytes;
use ascend_trace_recording::{FunctionId, StreamId, ThreadId, Trace};

use super::super::finding::site;
use super::super::grouping::Sorted;
use super::super::happens_before::OrderFact;
use super::super::{Check, Finding};

#[derive(Debug, Default)]
pub(super) struct UnwrittenRead {
    found: Sorted<(ThreadId, FunctionId, Option<StreamId>)>,
}

impl Check for UnwrittenRead {
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            match fact {
                OrderFact::ReadsUnwritten { by, missing, writer } if by.is_wanted => {
                    let finding = Finding {
                        what: format!(
                            "{} copies memory to the host, and nothing had written {} of it{}",
                            by.on_stream(trace),
                            bytes(*missing),
                            writer.map_or_else(String::new, |it| format!(": the last write of the rest is call {}", it.number)),
                        ),
                        advice: "copy no more than was written, or fill the memory first".to_owned(),
                        streams: by.number_of_stream(trace).into_iter().collect(),
                        other: writer.map(|it| site(trace, &it)),
                        ..Finding::of_note(trace, by)
                    };
                    let key = (by.thread, by.function, by.stream);
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
