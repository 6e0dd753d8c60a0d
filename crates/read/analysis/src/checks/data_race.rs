//! Two tasks use the same memory, at least one of them writes, and nothing puts them in order. They may
//! run at the same time or in the other order. The result is then right or wrong by chance: often right on an idle
//! machine, and wrong once a week.
//!
//! Let the stream of the second one wait for the first one: record an event after the first one, and pass the event to
//! `aclrtStreamWaitEvent` before the second one. For a copy that blocks, such as `aclrtMemcpy`, wait on the host
//! instead, with `aclrtSynchronizeEvent` or `aclrtSynchronizeStream`: it waits for no stream.
//!
//! To see a wrong result of a suspected race, run the program with `--soft=order=adversarial` and some seeds, such as
//! `--soft=order=adversarial,noise_seed=3`. SOFTACL.md has the option.
//!
//! The check knows the memory of:
//!
//! - `aclrtMemcpy`, `aclrtMemset` and their asynchronous forms, also copies of up to 4,096 rows with gaps between them, but not
//!   copies in batches;
//! - `aclrtReduceAsync`;
//! - the buffers of collectives with one count for all ranks, such as `HcclAllReduce` and `HcclAllGather`. Those with counts in arrays,
//!   and messages that one call passes together, are left out. Where the recording lacks the call that made the communicator, only the
//!   part that each rank uses counts;
//! - the tensors and the scratch memory of `aclnn` operators. A table has the tensors that an operator writes, for the
//!   operators that frameworks call most (HOOKING.md). Of other operators, `Inplace` ones write the first tensor, and further tensors
//!   count as read. Tensors with gaps between their elements, tensors in blocked layouts and lists of tensors are left out.
//!
//! It does not know what other kernels use, such as those of `aclrtLaunchKernel` and `aclrtLaunchKernelWithConfig`. Their
//! arguments are in memory of the program, also those of `aclrtKernelArgsAppend`, and a recording has only the addresses of that
//! memory. The check knows no access of the host's own code. It reports nothing where the order cannot be known:
//!
//! - after waits for notifies and values, and after callbacks, until the host waits for the stream;
//! - in a process that lost calls, and across pauses of the recording;
//! - for tasks of graphs that wait for notifies, values, callbacks or other devices, and of graphs with updated nodes. A
//!   replay of another graph uses what its tasks use.
//!
//! Calls of two threads count as ordered if one returned before the other began. A program that polls memory
//! instead of asking the runtime has an order that the check does not see.

use ascend_trace_format::api::ArgPart;
use ascend_trace_recording::units::bytes;
use ascend_trace_recording::{FunctionId, StreamId, ThreadId, Trace};

use super::super::finding::site;
use super::super::grouping::Sorted;
use super::super::happens_before::{OrderFact, NotedCall};
use super::super::{Check, Finding};

/// What findings have in common.
type Key = (ThreadId, [FunctionId; 2], [Option<StreamId>; 2], [bool; 2]);

#[derive(Debug, Default)]
pub(super) struct DataRace {
    found: Sorted<Key>,
}

impl Check for DataRace {
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            match fact {
                OrderFact::Race {
                    before,
                    before_writes,
                    after,
                    after_writes,
                    bytes,
                } if after.is_wanted => {
                    let key = (
                        after.thread,
                        [before.function, after.function],
                        [before.stream, after.stream],
                        [*before_writes, *after_writes],
                    );
                    let verbs = [
                        verb(trace, before, *before_writes),
                        verb(trace, after, *after_writes),
                    ];
                    let finding = finding(trace, [before, after], verbs, *bytes);
                    let process = trace.thread(after.thread).process;
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

fn verb(trace: &Trace, note: &NotedCall, writes: bool) -> &'static str {
    let is_operator = trace
        .function(note.function)
        .part(ArgPart::Executor)
        .is_some();
    match (writes, is_operator) {
        (true, _) => "writes",
        // Whether it only reads is not known of each.
        (false, true) => "uses",
        (false, false) => "reads",
    }
}

fn finding(trace: &Trace, [before, after]: [&NotedCall; 2], verbs: [&str; 2], shared: u64) -> Finding {
    let first = before.on_stream(trace);
    let what = format!(
        "{} {} {} that {first} {} (call {}): nothing puts the two in order",
        after.on_stream(trace),
        verbs[1],
        bytes(shared),
        verbs[0],
        before.number,
    );
    let streams = [before, after].map(|note| note.number_of_stream(trace));
    let advice = match (streams[0], streams[1]) {
        (Some(first), Some(second)) => format!(
            "record an event on stream {first} after call {}, and let stream {second} wait for it",
            before.number
        ),
        (Some(first), None) => format!("wait for stream {first}, or for an event on it, before"),
        _ => "put the two in order".to_owned(),
    };
    Finding {
        what,
        advice,
        streams: streams.into_iter().flatten().collect(),
        other: Some(site(trace, before)),
        ..Finding::of_note(trace, after)
    }
}
