//! The order that a program has established, and where it has not: vector clocks over streams, events
//! and the host.
//!
//! - A task comes after the earlier tasks of its stream. It also comes after all tasks that the host
//!   knows to be done.
//! - A task after a wait for an event comes after everything before the recording that the wait belongs
//!   to.
//! - The host learns from syncs, from queries that return so, and from callbacks which tasks are done.
//!
//! Host threads count as ordered when one call returned before the other began: programs order threads
//! in ways that no recording shows. An order that cannot be known is assumed: after waits for notifies,
//! values and collectives of the process's other devices, after callbacks and events with an unknown
//! recording. That ends when the host waits for the stream. Where calls were lost, the process gets no
//! findings; a pause of the recording begins a new one.
//!
//! One pass, in bounded memory, and the same facts for any cut of a recording: every call acts at its
//! begin and at its end, and all actions happen in the order of their times.

mod action;
mod area;
mod changed;
mod clock;
mod collective_buffers;
mod graphs;
mod left_copies;
mod memory;
mod process;
mod sync_events;
mod tensors;
mod touched;
mod unknown_writes;
mod written;

use std::collections::HashMap;

use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{CallId, FunctionId, ProcessId, StackId, StreamId, ThreadId, Trace};

use super::ended_objects::UseAfterEnd;
use super::process_end::ProcessEnd;
use crate::Window;
use action::{CallEffect, TimedEffect, note_actions};
pub(crate) use action::{is_done, proves_stream};
pub use changed::{OrderCheck, Verdict, Verdicts};
pub(crate) use changed::{Removal, Removed};
use memory::Conflict;
use process::Process;
pub(crate) use touched::{Touched, conflict, touched};

/// A call that a fact names: it may be gone from memory when the fact is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotedCall {
    pub number: u32,
    pub thread: ThreadId,
    pub function: FunctionId,
    pub stream: Option<StreamId>,
    pub begin: i64,
    pub end: i64,
    pub depth: u8,
    pub stack: Option<StackId>,
    pub is_wanted: bool,
}

impl NotedCall {
    pub(crate) fn of(trace: &Trace, id: CallId, is_wanted: bool) -> Self {
        let call = trace.call(id);
        Self {
            number: trace.call_number(id),
            thread: call.thread,
            function: call.function,
            stream: call.stream,
            begin: call.begin,
            end: call.end,
            depth: call.depth,
            stack: trace.shown_stack(call),
            is_wanted,
        }
    }

    /// The function, and the stream that it was called for: `aclrtMemcpyAsync on stream 2`.
    pub(crate) fn on_stream(&self, trace: &Trace) -> String {
        let name = &trace.function(self.function).name;
        match self.number_of_stream(trace) {
            Some(stream) => format!("{name} on stream {stream}"),
            None => name.clone(),
        }
    }

    pub(crate) fn number_of_stream(&self, trace: &Trace) -> Option<i64> {
        self.stream.map(|stream| trace.stream(stream).number())
    }
}

/// Something that the order of a program's tasks and calls says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderFact {
    /// Nothing puts two uses of the same memory in order, one of which writes.
    Race {
        before: NotedCall,
        before_writes: bool,
        after: NotedCall,
        after_writes: bool,
        /// Bytes that both use.
        bytes: u64,
    },
    /// Memory was given back that a task may still use.
    Freed {
        by: NotedCall,
        user: NotedCall,
        writes: bool,
        is_host: bool,
    },
    /// The program ended, or ended the runtime with a call, and did not know whether a copy to the host was done.
    NotWaitedFor {
        copy: NotedCall,
        by: Option<NotedCall>,
    },
    /// A stream waits for an event; whether the work before the event came before it anyway.
    Waited { by: NotedCall, is_needless: bool },
    /// A graph was replayed, and memory that it uses had been given back.
    ReplaysFreed { by: NotedCall, freed: NotedCall },
    /// A copy to the host takes memory of which a part was written, and these bytes were not.
    ReadsUnwritten {
        by: NotedCall,
        missing: u64,
        /// The last call that wrote a part of it.
        writer: Option<NotedCall>,
    },
    /// A stream was ended without its tasks.
    Dropped {
        by: NotedCall,
        tasks: u64,
        /// A copy to the host among them.
        copy: Option<NotedCall>,
    },
    /// An event was reset that a stream may still wait for.
    ResetEarly { by: NotedCall, wait: NotedCall },
    /// A stream waited for a record of an event that an older one had set, and that nothing had reset.
    WaitsForOld { by: NotedCall, record: NotedCall },
    /// A call failed, or did not return, and used an ended object or memory that had been given back.
    UsedAfterEnd(UseAfterEnd),
    /// Nothing is certain about a process, or about any.
    Unknown(Option<ProcessId>),
}

impl OrderFact {
    fn race(shared: Conflict, after: NotedCall, after_writes: bool) -> Self {
        Self::Race {
            before: shared.before.note,
            before_writes: shared.before_writes,
            after,
            after_writes,
            bytes: shared.bytes,
        }
    }

    fn freed(shared: Conflict, by: NotedCall, is_host: bool) -> Self {
        Self::Freed {
            by,
            user: shared.before.note,
            writes: shared.before_writes,
            is_host,
        }
    }
}

/// Follows the order of all processes of a recording.
#[derive(Debug, Default)]
pub(super) struct ProgramOrder {
    processes: HashMap<ProcessId, Process>,
    /// The remaining actions, in no particular order.
    ahead: Vec<TimedEffect>,
}

impl ProgramOrder {
    /// Takes in the next window, and says what its calls bring to light.
    pub(super) fn take(
        &mut self,
        window: &Window<'_>,
        wanted: &dyn Fn(CallId) -> bool,
    ) -> Vec<OrderFact> {
        self.take_changed(window, wanted, &mut |_| true)
    }

    /// The same of a program with a change: `change` alters actions, and says which of them the program has.
    fn take_changed(
        &mut self,
        window: &Window<'_>,
        wanted: &dyn Fn(CallId) -> bool,
        change: &mut dyn FnMut(&mut TimedEffect) -> bool,
    ) -> Vec<OrderFact> {
        let trace = window.trace;
        for id in window.calls() {
            note_actions(trace, id, wanted(id), &mut self.ahead);
        }
        self.note_pauses(window);
        self.ahead.sort_by_key(TimedEffect::key);
        let until = window.part.until;
        let count = match window.part.is_last {
            true => self.ahead.len(),
            false => self.ahead.partition_point(|action| action.at < until),
        };
        let is_late = trace.has_past();
        let mut facts = Vec::new();
        for mut action in self.ahead.drain(..count) {
            if !change(&mut action) {
                continue;
            }
            let process = self.processes.entry(action.process);
            let process = process.or_insert_with(|| Process::new(is_late));
            process.take(action, &mut facts);
        }
        if window.part.is_last {
            // After a range of a recording, the program may still wait.
            for (id, process) in self.processes.iter().filter(|_| !trace.has_future()) {
                let is_killed = ProcessEnd::of(trace, *id) == ProcessEnd::BySignal;
                if trace.process(*id).end_ns.is_some() && !is_killed {
                    facts.extend(process.pending_copies(None));
                }
            }
            facts.extend(unknown(trace));
        }
        facts
    }

    /// What happens in a pause of the recording is not known.
    fn note_pauses(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for range in trace.ranges() {
            if range.kind() == Some(RangeKind::Pause) && window.part.holds(range.end) {
                self.ahead.push(TimedEffect {
                    at: range.end,
                    is_begin: false,
                    process: trace.thread(range.thread).process,
                    note: NotedCall::default(),
                    act: CallEffect::Misses,
                });
            }
        }
    }
}

/// Of which processes calls are missing.
fn unknown(trace: &Trace) -> Vec<OrderFact> {
    if trace.is_damaged() || trace.is_filtered() {
        return vec![OrderFact::Unknown(None)];
    }
    let lost = trace.lost().iter().filter(|it| it.calls + it.others > 0);
    let processes = lost.map(|it| it.thread.map(|thread| trace.thread(thread).process));
    processes.map(OrderFact::Unknown).collect()
}
