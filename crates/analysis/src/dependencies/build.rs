//! Finds the edges of a trace, in one pass over its calls.

use ascend_trace_format::api::{RetKind, Role, Untimed};
use ascend_trace_model::{Call, CallId, EventId, Generation, Stream, StreamId, TaskId, Trace};

use super::{Edge, EdgeKind, Node};

/// Return codes from here on tell of what happened on the device, after the call had waited;
/// smaller ones refuse the call at once.
const DEVICE_ERRORS: i64 = 500_000;

/// `EventRow::creation` of `aclrtCreateEventWithFlag`: such an event may be waited for before it
/// is recorded.
const CREATED_WITH_FLAG: u8 = 1;

/// The records of one event by generation, with the time they were submitted.
type Records = Vec<(u32, TaskId)>;

/// Where the pass stands, and what it must remember to resolve later calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Builder {
    calls: usize,
    records: Vec<Records>,
    /// Waits and event syncs whose record has not been seen.
    open: Vec<CallId>,
}

impl Builder {
    /// Handles the calls that are new in the trace.
    pub(super) fn advance(&mut self, trace: &Trace, emit: &mut dyn FnMut(Edge)) {
        let calls = trace.calls();
        self.records.resize(trace.events().len(), Records::new());
        let new = self.calls..calls.len();
        self.calls = calls.len();
        for call in &calls[new.clone()] {
            self.note_record(trace, call);
        }
        let open = std::mem::take(&mut self.open);
        for id in open {
            self.resolve(trace, id, emit);
        }
        for index in new {
            self.visit(trace, CallId(index as u32), emit);
        }
    }

    fn note_record(&mut self, trace: &Trace, call: &Call) {
        if trace.function(call.function).role != Role::RecordEvent || !took_effect(trace, call) {
            return;
        }
        let (Some(generation), Some(task)) = (call.event, call.task) else {
            return;
        };
        if let Some(records) = self.records.get_mut(generation.event.index()) {
            let place = records.partition_point(|(number, _)| *number < generation.number);
            records.insert(place, (generation.number, task));
        }
    }

    fn visit(&mut self, trace: &Trace, id: CallId, emit: &mut dyn FnMut(Edge)) {
        let call = trace.call(id);
        match trace.function(call.function).role {
            Role::WaitEvent | Role::SyncEvent => self.resolve(trace, id, emit),
            Role::SyncStream if waited(trace, call) => {
                let last = call.stream.and_then(|s| last_before(trace, s, call));
                last.into_iter().for_each(|task| emit(synced(task, id)));
            }
            Role::SyncDevice if waited(trace, call) => {
                for stream in streams_of(trace, call) {
                    let last = last_before(trace, stream, call);
                    last.into_iter().for_each(|task| emit(synced(task, id)));
                }
            }
            _ => {}
        }
    }

    /// Links a wait or an event sync to its record, or keeps it for later.
    fn resolve(&mut self, trace: &Trace, id: CallId, emit: &mut dyn FnMut(Edge)) {
        let call = trace.call(id);
        let is_wait = trace.function(call.function).role == Role::WaitEvent;
        let counts = if is_wait {
            call.task.is_some() && took_effect(trace, call)
        } else {
            waited(trace, call)
        };
        if !counts || call.event.is_none() {
            return;
        }
        match (self.record_for(trace, id), call.task) {
            (None, _) => self.open.push(id),
            (Some(record), Some(wait)) if is_wait => emit(Edge {
                kind: EdgeKind::RecordToWait,
                from: Node::Task(record),
                to: Node::Task(wait),
            }),
            (Some(record), _) => emit(synced(record, id)),
        }
    }

    /// The record that a wait or an event sync is bound to.
    pub(super) fn record_for(&self, trace: &Trace, id: CallId) -> Option<TaskId> {
        let call = trace.call(id);
        let generation = call.event?;
        match trace.function(call.function).role {
            Role::WaitEvent | Role::SyncEvent if generation.number > 0 => self.record(generation),
            Role::WaitEvent if trace.event(generation.event).creation == CREATED_WITH_FLAG => {
                self.next_record(trace, generation.event, call.begin)
            }
            _ => None,
        }
    }

    pub(super) fn record(&self, generation: Generation) -> Option<TaskId> {
        let records = self.records.get(generation.event.index())?;
        let place = records.binary_search_by_key(&generation.number, |record| record.0);
        Some(records[place.ok()?].1)
    }

    /// The first record of an event after `begin`. It is certain only when the record before it is
    /// known to be earlier, so that records which arrive late cannot change the answer.
    fn next_record(&self, trace: &Trace, event: EventId, begin: i64) -> Option<TaskId> {
        let records = self.records.get(event.index())?;
        let earlier = |&(_, task): &(u32, TaskId)| trace.call(trace.task(task).call).begin < begin;
        let place = records.partition_point(earlier);
        let previous = place.checked_sub(1).map_or(0, |before| records[before].0);
        let &(number, task) = records.get(place)?;
        (number == previous + 1).then_some(task)
    }

    pub(super) fn unresolved(&self, trace: &Trace) -> Vec<TaskId> {
        let waits = self.open.iter().filter_map(|id| {
            let call = trace.call(*id);
            let is_wait = trace.function(call.function).role == Role::WaitEvent;
            call.task.filter(|_| is_wait)
        });
        let mut waits: Vec<_> = waits.collect();
        waits.sort_unstable();
        waits
    }
}

fn synced(task: TaskId, call: CallId) -> Edge {
    Edge {
        kind: EdgeKind::TaskToSync,
        from: Node::Task(task),
        to: Node::Call(call),
    }
}

/// Whether the runtime accepted the call.
fn took_effect(trace: &Trace, call: &Call) -> bool {
    trace.function(call.function).ret != RetKind::Error || call.ret == 0
}

/// Whether a blocking call really waited: it may report a failure of the device afterwards.
pub(crate) fn waited(trace: &Trace, call: &Call) -> bool {
    took_effect(trace, call) || call.ret >= DEVICE_ERRORS
}

/// The streams that a device sync waits for: those of the caller's context, or where that is not
/// known, of its device and process.
fn streams_of(trace: &Trace, call: &Call) -> impl Iterator<Item = StreamId> {
    let process = trace.thread(call.thread).process;
    let device = call.device.map(u32::from);
    let context = call.context;
    let waited_for = move |stream: &Stream| match context {
        Some(context) => stream.context == Some(context),
        None => stream.process == process && Some(stream.device) == device,
    };
    let streams = trace.streams().iter().enumerate();
    streams
        .filter(move |(_, stream)| waited_for(stream))
        .map(|(index, _)| StreamId(index as u32))
}

/// The last task that had been submitted to a stream when `call` began, and that ran by itself.
fn last_before(trace: &Trace, stream: StreamId, call: &Call) -> Option<TaskId> {
    let tasks = trace.stream_tasks(stream);
    let submitted = |id: &TaskId| trace.call(trace.task(*id).call).begin < call.begin;
    let before = &tasks[..tasks.partition_point(submitted)];
    before.iter().rev().copied().find(|id| runs(trace, *id))
}

/// Whether submitting the task made the stream run something.
pub(crate) fn runs(trace: &Trace, task: TaskId) -> bool {
    !matches!(
        trace.task(task).untimed,
        Untimed::Failed | Untimed::Captured | Untimed::Bound | Untimed::HostCopy
    )
}
