//! Finds the edges of a trace, in one pass over its calls.

use std::collections::HashMap;

use ascend_trace_format::api::{
    Fact, RetKind, Role, TIMEOUTS, TaskKind, Untimed, WaitTarget, is_answer,
};
use ascend_trace_recording::{
    Call, CallId, EventId, Generation, ProcessId, Stream, StreamId, TaskId, Trace,
};

use super::signals::Signals;
use super::{Edge, EdgeKind, Node};
use crate::polls::Polls;

/// Return codes from here on describe failures on the device, after the call had waited; smaller ones
/// refuse the call at once.
const DEVICE_ERRORS: i64 = 500_000;

/// `EventRow::creation` of `aclrtCreateEventWithFlag`: such an event may be waited for before it
/// is recorded.
const CREATED_WITH_FLAG: u8 = 1;

/// The records of one event by generation, with the time they were submitted.
type Records = Vec<(u32, TaskId)>;

/// State of the pass for the resolution of later calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Builder {
    records: Vec<Records>,
    signals: Signals,
    /// The calls that completed graphs, by process and serial of the graph.
    graphs: HashMap<(ProcessId, u32), CallId>,
    /// The waits for each event, once a loop has asked for some.
    waits: Option<HashMap<EventId, Vec<TaskId>>>,
    polls: Polls,
    /// Waits, event syncs and replays with an unseen cause.
    open: Vec<CallId>,
}

impl Builder {
    /// Handles the calls of a trace.
    pub(super) fn of(trace: &Trace, emit: &mut dyn FnMut(Edge)) -> Self {
        let mut builder = Self::default();
        builder.records.resize(trace.events().len(), Records::new());
        for (id, call) in (0..).map(CallId).zip(trace.calls()) {
            builder.note(trace, id, call);
        }
        for index in 0..trace.calls().len() {
            builder.visit(trace, CallId(index as u32), emit);
        }
        builder
    }

    /// Remembers what later calls can depend on.
    fn note(&mut self, trace: &Trace, id: CallId, call: &Call) {
        let function = trace.function(call.function);
        match function.role {
            Role::RecordEvent => self.note_record(trace, call),
            Role::CaptureEnd => self.note_graph(trace, id, call),
            Role::UseGraph if function.is(Fact::CompletesGraph) => self.note_graph(trace, id, call),
            Role::Task if is_signal(function.task) && took_effect(trace, call) => {
                self.signals.note(trace, call);
            }
            _ => {}
        }
    }

    fn note_record(&mut self, trace: &Trace, call: &Call) {
        let (Some(generation), Some(task)) = (call.event, call.task) else {
            return;
        };
        if !took_effect(trace, call) {
            return;
        }
        if let Some(records) = self.records.get_mut(generation.event.index()) {
            let place = records.partition_point(|(number, _)| *number < generation.number);
            records.insert(place, (generation.number, task));
        }
    }

    fn note_graph(&mut self, trace: &Trace, id: CallId, call: &Call) {
        if let (Some(key), true) = (graph_of(trace, call), took_effect(trace, call)) {
            self.graphs.insert(key, id);
        }
    }

    fn visit(&mut self, trace: &Trace, id: CallId, emit: &mut dyn FnMut(Edge)) {
        let call = trace.call(id);
        let function = trace.function(call.function);
        let meaning = function.role.meaning();
        if call.task.is_some() {
            planned(trace, id, emit);
        }
        match meaning.waits {
            WaitTarget::Event | WaitTarget::Replay => self.resolve(trace, id, emit),
            WaitTarget::Stream => sync_streams(trace, id, call.stream, emit),
            WaitTarget::Device => sync_streams(trace, id, streams_of(trace, call), emit),
            WaitTarget::Nothing | WaitTarget::Transfer => {}
        }
        if meaning.drains && !function.is(Fact::Forced) {
            sync_streams(trace, id, call.stream, emit);
        }
        if self.polls.note(trace, call).waited_since.is_some() {
            self.polled(trace, id, emit);
        }
        match function.role {
            Role::WaitEvent => self.resolve(trace, id, emit),
            Role::Task => match call.task.map(|task| trace.task(task)) {
                Some(task)
                    if matches!(task.kind, TaskKind::Graph) || is_signal(Some(task.kind)) =>
                {
                    self.resolve(trace, id, emit);
                }
                // The host copied, once the earlier work of the stream was done.
                Some(task) if task.untimed == Untimed::HostCopy => {
                    sync_streams(trace, id, call.stream, emit);
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// Links the last query of a loop to the task that the loop waited for.
    fn polled(&mut self, trace: &Trace, id: CallId, emit: &mut dyn FnMut(Edge)) {
        let call = trace.call(id);
        match trace.function(call.function).role {
            Role::QueryStream => sync_streams(trace, id, call.stream, emit),
            Role::QueryEvent => self.resolve(trace, id, emit),
            _ => {
                let last = call
                    .event
                    .and_then(|it| self.last_wait(trace, it.event, call));
                last.into_iter().for_each(|it| emit(synced(trace, it, id)));
            }
        }
    }

    /// The last wait for an event that had been submitted when a call began.
    fn last_wait(&mut self, trace: &Trace, event: EventId, call: &Call) -> Option<TaskId> {
        let waits = self.waits.get_or_insert_with(|| waits(trace));
        let waits = waits.get(&event)?.iter().copied();
        let begin = |it: TaskId| trace.call(trace.task(it).call).begin;
        let before = waits.filter(|it| begin(*it) < call.begin);
        before.max_by_key(|it| begin(*it))
    }

    /// Links a call to the dependencies of it or its task, or notes that they were not seen yet.
    fn resolve(&mut self, trace: &Trace, id: CallId, emit: &mut dyn FnMut(Edge)) {
        let call = trace.call(id);
        let edge = match trace.function(call.function).role {
            Role::WaitEvent => self.wait(trace, id, call),
            Role::SyncEvent | Role::QueryEvent => self.sync_event(trace, id, call),
            _ if is_signal(call.task.map(|task| trace.task(task).kind)) => {
                self.signals.resolve(trace, id, call)
            }
            _ => self.replay(trace, id, call),
        };
        match edge {
            CallDependency::Edge(edge) => emit(edge),
            CallDependency::NotYet => self.open.push(id),
            CallDependency::Nothing => {}
        }
    }

    fn wait(&self, trace: &Trace, id: CallId, call: &Call) -> CallDependency {
        let Some(task) = call.task.filter(|_| took_effect(trace, call)) else {
            return CallDependency::Nothing;
        };
        let kind = match trace.runs(trace.task(task)) {
            true => EdgeKind::RecordToWait,
            false => EdgeKind::Captured,
        };
        match (call.event, self.record_for(trace, id)) {
            (None, _) => CallDependency::Nothing,
            (_, None) => CallDependency::NotYet,
            (_, Some(record)) => CallDependency::Edge(Edge {
                kind,
                from: Node::Task(record),
                to: Node::Task(task),
            }),
        }
    }

    fn sync_event(&self, trace: &Trace, id: CallId, call: &Call) -> CallDependency {
        if !waited(trace, call) || call.event.is_none() {
            return CallDependency::Nothing;
        }
        match self.record_for(trace, id) {
            None => CallDependency::NotYet,
            Some(record) => CallDependency::Edge(synced(trace, record, id)),
        }
    }

    fn replay(&self, trace: &Trace, id: CallId, call: &Call) -> CallDependency {
        let is_replay = call.graph.is_some_and(|graph| graph.index > 0);
        let runs = call.task.is_none_or(|task| trace.runs(trace.task(task)));
        let Some(key) = graph_of(trace, call).filter(|_| is_replay && runs) else {
            return CallDependency::Nothing;
        };
        match self.graphs.get(&key) {
            None => CallDependency::NotYet,
            Some(completed) => CallDependency::Edge(Edge {
                kind: EdgeKind::Replay,
                from: Node::Call(*completed),
                to: call.task.map_or(Node::Call(id), Node::Task),
            }),
        }
    }

    /// The record that a wait or an event sync is bound to.
    fn record_for(&self, trace: &Trace, id: CallId) -> Option<TaskId> {
        let call = trace.call(id);
        let generation = call.event?;
        let role = trace.function(call.function).role;
        if role.names_record() && generation.number > 0 {
            return self.record(generation);
        }
        match role == Role::WaitEvent && trace.event(generation.event).creation == CREATED_WITH_FLAG
        {
            true => self.next_record(trace, generation.event, call.begin),
            false => None,
        }
    }

    fn record(&self, generation: Generation) -> Option<TaskId> {
        let records = self.records.get(generation.event.index())?;
        let place = records.binary_search_by_key(&generation.number, |record| record.0);
        Some(records[place.ok()?].1)
    }

    /// The first record of an event after `begin`. It is certain only when the record before it is
    /// known to be earlier, so that late records cannot change the result.
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

/// The waits of streams for each event.
fn waits(trace: &Trace) -> HashMap<EventId, Vec<TaskId>> {
    let mut found: HashMap<EventId, Vec<TaskId>> = HashMap::new();
    for call in trace.calls() {
        let is_wait = trace.function(call.function).role == Role::WaitEvent;
        let task = call
            .task
            .filter(|it| runs(trace, *it) && took_effect(trace, call));
        if let (true, Some(generation), Some(task)) = (is_wait, call.event, task) {
            found.entry(generation.event).or_default().push(task);
        }
    }
    found
}

/// Links a call that submits an operator to the one that planned it, where that was another thread's.
fn planned(trace: &Trace, id: CallId, emit: &mut dyn FnMut(Edge)) {
    let call = trace.call(id);
    let planned = trace.planned(call);
    if let Some(planned) = planned.filter(|it| trace.call(*it).thread != call.thread) {
        emit(Edge {
            kind: EdgeKind::Plan,
            from: Node::Call(planned),
            to: Node::Call(id),
        });
    }
}

/// The dependency of a call.
pub(super) enum CallDependency {
    Edge(Edge),
    /// It depends on something that has not been seen.
    NotYet,
    Nothing,
}

fn is_signal(kind: Option<TaskKind>) -> bool {
    matches!(kind, Some(TaskKind::Notify | TaskKind::Value))
}

fn graph_of(trace: &Trace, call: &Call) -> Option<(ProcessId, u32)> {
    let serial = call.graph?.serial;
    Some((trace.thread(call.thread).process, serial))
}

/// Links a call to the last task of each stream that it waited for.
fn sync_streams(
    trace: &Trace,
    id: CallId,
    streams: impl IntoIterator<Item = StreamId>,
    emit: &mut dyn FnMut(Edge),
) {
    let call = trace.call(id);
    if waited(trace, call) {
        let last = streams
            .into_iter()
            .filter_map(|it| last_before(trace, it, call));
        last.for_each(|task| emit(synced(trace, task, id)));
    }
}

fn synced(trace: &Trace, task: TaskId, call: CallId) -> Edge {
    let kind = match timed_out(trace.call(call)) {
        true => EdgeKind::TimedOut,
        false => EdgeKind::TaskToSync,
    };
    Edge {
        kind,
        from: Node::Task(task),
        to: Node::Call(call),
    }
}

/// Whether a call gave up waiting.
pub(crate) fn timed_out(call: &Call) -> bool {
    TIMEOUTS.contains(&call.ret)
}

/// Whether a call reports that something failed on the device.
pub(crate) fn device_failed(trace: &Trace, call: &Call) -> bool {
    let has_code = trace.function(call.function).ret == RetKind::Error;
    let is_failure = |code: i64| code >= DEVICE_ERRORS && !is_answer(code);
    has_code && call.result().is_some_and(is_failure)
}

/// Whether the runtime accepted the call.
pub(crate) fn took_effect(trace: &Trace, call: &Call) -> bool {
    call.ending.is_return()
        && (trace.function(call.function).ret != RetKind::Error || call.ret == 0)
}

/// Whether a blocking call really waited: it may report a failure of the device afterwards.
pub(crate) fn waited(trace: &Trace, call: &Call) -> bool {
    took_effect(trace, call) || call.ret >= DEVICE_ERRORS
}

/// The streams that a device sync waits for: those of the caller's context, or where that is not
/// known, of its device and process.
pub(crate) fn streams_of(trace: &Trace, call: &Call) -> impl Iterator<Item = StreamId> {
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
pub fn runs(trace: &Trace, task: TaskId) -> bool {
    !matches!(
        trace.task(task).untimed,
        Untimed::Failed | Untimed::Captured | Untimed::Bound | Untimed::HostCopy | Untimed::InGroup
    )
}
