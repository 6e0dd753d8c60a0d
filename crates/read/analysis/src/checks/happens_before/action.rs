//! What calls do to the order of tasks and to memory, call by call.
//!
//! An action has all necessary data of its call, because the call may have been forgotten when its time
//! is reached.

use std::ops::Range;

use ascend_trace_format::api::{
    ArgPart, Fact as Said, RetKind, Role, TaskKind, Untimed, WaitTarget,
};
use ascend_trace_recording::{
    Call, CallId, Direction, EventId, Function, Generation, ProcessId, StreamId, Task, Trace,
};

use super::area::Area;
use super::collective_buffers::{CollectiveBuffers, Membership, joined};
use super::sync_events::{EventUse, HeldEvents};
use super::{NotedCall, tensors, unknown_writes};
use crate::dependencies::{timed_out, took_effect, waited};

/// A place on a stream: the number of a task there.
pub(super) type StreamPosition = (StreamId, u32);

/// Effect of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallEffect {
    /// The host begins to wait for the earlier submissions of these streams.
    Looks(Vec<StreamPosition>),
    /// The streams that it waited for are done.
    Learns,
    /// A recording of an event is done.
    LearnsOf(Generation),
    Records(StreamPosition, Generation),
    /// The stream goes on after a recording of an event. Without a place, the wait needed no task.
    Waits(StreamId, Option<u32>, Option<Generation>),
    /// From here on, the stream waits for something that is not known.
    WaitsForUnknown(StreamId, u32),
    /// The program runs code on its behalf, which may inform others.
    CallsBack(StreamId, u32),
    /// With the serial number of the graph, if it is known.
    Replays(StreamPosition, Option<u32>),
    /// A graph got a node that uses memory.
    Captures(u32, MemoryAccesses),
    /// Nodes of graphs are replaced.
    ChangesGraphs,
    EndsGraph(u32),
    /// A graph waits inside for something that is not known.
    CapturesWait,
    Uses(StreamPosition, MemoryAccesses),
    /// A collective. With `true`, it waits for tasks of other devices of the process.
    Communicates(StreamPosition, CollectiveBuffers, bool),
    /// The process is part of a communicator, with this handle.
    Joins(u64, Membership),
    /// A task may write any memory.
    MayWrite,
    /// Something may write at these addresses.
    Mentions(Vec<u64>),
    /// The host does this itself.
    HostUses(MemoryAccesses),
    /// The runtime copies memory that may be pageable: then it does so itself, when the stream is empty.
    MayHostUse(StreamPosition, MemoryAccesses),
    Allocates(Range<u64>, bool),
    /// Memory that another task may have given back, in an order that only the runtime knows.
    Renews(Range<u64>),
    Frees(u64, bool),
    /// A call failed, or did not return, that names memory at these addresses.
    Fails([Option<u64>; 2]),
    /// A stream gives memory back, after its earlier tasks.
    FreesInOrder(StreamPosition, u64),
    EndsEvent(EventId),
    /// It is about an event that stays done until it is reset.
    Holds(EventId, EventUse),
    MakesStream(StreamId),
    EndsStream(StreamId),
    /// A stream ends without its tasks, the last of which has this number.
    Drops(StreamId, u32),
    /// The program ends its use of the runtime.
    Finalizes,
    /// It may end the device of these streams.
    LeavesDevice(Vec<StreamId>),
    /// Nothing that was before matters any more.
    Resets,
    /// Something was not recorded.
    Misses,
}

/// Reads and writes of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryAccesses {
    pub(super) reads: Option<Area>,
    pub(super) writes: Option<Area>,
    /// Which of them is the host's: reads, writes.
    pub(super) is_host: [bool; 2],
}

/// An act with its time.
#[derive(Clone, Debug)]
pub(super) struct TimedEffect {
    pub(super) at: i64,
    /// Ends come before begins of the same time.
    pub(super) is_begin: bool,
    pub(super) process: ProcessId,
    pub(super) note: NotedCall,
    pub(super) act: CallEffect,
}

impl TimedEffect {
    pub(super) fn key(&self) -> (i64, bool, u32) {
        (self.at, self.is_begin, self.note.number)
    }
}

/// Appends the actions of a call.
pub(super) fn note_actions(trace: &Trace, id: CallId, is_wanted: bool, to: &mut Vec<TimedEffect>) {
    let call = trace.call(id);
    let function = trace.function(call.function);
    let process = trace.thread(call.thread).process;
    let note = NotedCall::of(trace, id, is_wanted);
    let mut push = |at: i64, is_begin: bool, act: CallEffect| {
        to.push(TimedEffect {
            at,
            is_begin,
            process,
            note,
            act,
        });
    };
    if !took_effect(trace, call) {
        let waits = function.role.meaning().waits.is_sync();
        if waits && waited(trace, call) && !timed_out(call) {
            push(call.end, false, CallEffect::Resets);
        }
        let named = named_memory(trace, function, call);
        if function.ret == RetKind::Error && named != [None; 2] {
            push(call.begin, true, CallEffect::Fails(named));
        }
        return;
    }
    let looks = looks(trace, call);
    if let Some(places) = looks {
        // A call without duration has its begin and its end in one.
        push(call.begin, call.begin < call.end, CallEffect::Looks(places));
        push(call.end, false, CallEffect::Learns);
    }
    if function.role == Role::Finalize {
        push(call.begin, true, CallEffect::Finalizes);
    }
    if function.role == Role::ResetDevice {
        let streams = all(trace, call).into_iter().map(|it| it.0);
        push(
            call.begin,
            true,
            CallEffect::LeavesDevice(streams.collect()),
        );
    }
    if let Some(act) = begins(trace, function, call) {
        push(call.begin, true, act);
    }
    for act in ends(trace, function, call) {
        push(call.end, false, act);
    }
}

/// The addresses that a call gives back, or copies and fills.
fn named_memory(trace: &Trace, function: &Function, call: &Call) -> [Option<u64>; 2] {
    let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    let freed = [ArgPart::Freed, ArgPart::HostFreed, ArgPart::PoolFreed];
    match freed.into_iter().find_map(word) {
        Some(freed) => [Some(freed), None],
        None => [word(ArgPart::Reads), word(ArgPart::Writes)],
    }
}

/// The places up to which a call waits for streams.
fn looks(trace: &Trace, call: &Call) -> Option<Vec<StreamPosition>> {
    if trace.function(call.function).role.meaning().waits == WaitTarget::Device {
        return Some(all(trace, call));
    }
    let last = |stream| last(trace, stream, call);
    proves_stream(trace, call).then(|| call.stream.into_iter().filter_map(last).collect())
}

/// Whether the success of a call proves that the earlier tasks of its stream are done.
pub(crate) fn proves_stream(trace: &Trace, call: &Call) -> bool {
    let function = trace.function(call.function);
    let meaning = function.role.meaning();
    let task = call.task.map(|it| trace.task(it).untimed);
    let is_empty = function.role == Role::QueryStream && is_done(trace, function, call, 0);
    let drains = meaning.drains && !function.is(Said::Forced);
    let waits = meaning.waits == WaitTarget::Stream;
    waits || is_empty || drains || task == Some(Untimed::HostCopy)
}

/// The last task of a stream that had been submitted when a call began.
fn last(trace: &Trace, stream: StreamId, call: &Call) -> Option<StreamPosition> {
    let tasks = trace.stream_tasks(stream);
    let submitted = |id: &_| trace.call(trace.task(*id).call).begin < call.begin;
    let before = tasks.partition_point(submitted).checked_sub(1)?;
    let task = trace.task(tasks[before]);
    // A captured task has the number of the next task that runs.
    match trace.runs(task) {
        true => Some((stream, task.sequence)),
        false => Some((stream, task.sequence.checked_sub(1)?)),
    }
}

/// The last tasks of all streams of the call's device: a context is not always known.
fn all(trace: &Trace, call: &Call) -> Vec<StreamPosition> {
    let process = trace.thread(call.thread).process;
    let device = call.device.map(u32::from);
    let streams = (0..).map(StreamId).zip(trace.streams());
    let own = streams.filter(|(_, stream)| {
        stream.process == process && device.is_none_or(|it| it == stream.device)
    });
    own.filter_map(|(id, _)| last(trace, id, call)).collect()
}

/// Whether a query returned that all is done. Where its result is not recorded, it may have.
pub(crate) fn is_done(trace: &Trace, function: &Function, call: &Call, done: u64) -> bool {
    let status = function.part(ArgPart::Status);
    let status = status.and_then(|at| trace.args(call).get(at));
    status.is_none_or(|status| *status == done)
}

/// Effect of a call's begin.
fn begins(trace: &Trace, function: &Function, call: &Call) -> Option<CallEffect> {
    let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    if let Some(address) = word(ArgPart::Freed).or_else(|| word(ArgPart::HostFreed)) {
        // Another thread may get the memory before this call returns.
        let waits = function.role.meaning().waits == WaitTarget::Device;
        return Some(CallEffect::Frees(address, !waits));
    }
    if let Some(act) = freed_in_order(trace, function, call) {
        return Some(act);
    }
    if function.role != Role::DestroyStream || !function.is(Said::Forced) {
        return None;
    }
    let (stream, number) = last(trace, call.stream?, call)?;
    Some(CallEffect::Drops(stream, number))
}

/// Effect of a call's return.
fn ends(trace: &Trace, function: &Function, call: &Call) -> Vec<CallEffect> {
    let mut acts: Vec<CallEffect> = Vec::new();
    acts.extend(memory_of(trace, function, call));
    acts.extend(unknown_writes::of(trace, function, call));
    let made = joined(trace, function, call);
    acts.extend(made.map(|(handle, own)| CallEffect::Joins(handle, own)));
    let task = call.task.map(|task| trace.task(task));
    let role = function.role;
    let stream = call.stream;
    match role {
        _ if task.is_some_and(|task| !trace.runs(task)) => {
            acts.extend(captured(task));
            acts.extend(captured_memory(trace, call));
        }
        Role::RecordEvent => {
            acts.extend(held(trace, call, EventUse::Records));
            let place = task.map(|task| (task.stream, task.sequence));
            acts.extend(
                place
                    .zip(call.event)
                    .map(|(at, event)| CallEffect::Records(at, event)),
            );
        }
        Role::WaitEvent => {
            // First: the order that the wait itself establishes does not count for it.
            acts.extend(held(trace, call, EventUse::Waits));
            acts.extend(stream.map(|stream| {
                let number = task.map(|task| task.sequence);
                CallEffect::Waits(stream, number, call.event)
            }));
        }
        Role::Task => {
            acts.extend(task.and_then(|task| task_act(trace, function, call, task)));
            if let Some(task) = task.filter(|it| it.kind == TaskKind::Kernel) {
                let memory = tensors::memory_of(trace, call, task).into_iter();
                acts.extend(memory.map(|it| CallEffect::Uses((task.stream, task.sequence), it)));
            }
        }
        Role::SyncEvent => acts.extend(call.event.map(CallEffect::LearnsOf)),
        Role::QueryEvent => {
            let done = u64::from(!function.is(Said::ZeroWhenDone));
            let event = call.event.filter(|_| is_done(trace, function, call, done));
            acts.extend(event.map(CallEffect::LearnsOf));
        }
        Role::BlockingCopy => acts.extend(uses(trace, function, call).map(CallEffect::HostUses)),
        Role::ResetEvent | Role::DestroyEvent => {
            acts.extend(held(trace, call, EventUse::Resets).filter(|_| role == Role::ResetEvent));
            acts.extend(call.event.map(|it| CallEffect::EndsEvent(it.event)));
        }
        Role::CreateStream => acts.extend(stream.map(CallEffect::MakesStream)),
        Role::UpdateBegin => acts.push(CallEffect::ChangesGraphs),
        Role::DestroyGraph => acts.extend(call.graph.map(|it| CallEffect::EndsGraph(it.serial))),
        Role::DestroyStream => acts.extend(stream.map(CallEffect::EndsStream)),
        Role::AbortStream => acts.extend(stream.map(CallEffect::EndsStream)),
        _ => {
            // It ends a device, a context or the runtime.
            let meaning = role.meaning();
            if meaning.on_all_streams && meaning.bounds_life {
                acts.push(CallEffect::Resets);
            }
        }
    }
    acts
}

/// Effect of a task on an event that stays done until it is reset.
fn held(trace: &Trace, call: &Call, act: fn(StreamPosition) -> EventUse) -> Option<CallEffect> {
    let event = call.event?.event;
    let task = trace.task(call.task?);
    HeldEvents::is_held(trace.event(event))
        .then(|| CallEffect::Holds(event, act((task.stream, task.sequence))))
}

/// Effect of a new node in a graph.
fn captured(task: Option<&Task>) -> Option<CallEffect> {
    let waits = matches!(
        task?.kind,
        TaskKind::Notify | TaskKind::Value | TaskKind::HostFunc | TaskKind::Collective
    );
    waits.then_some(CallEffect::CapturesWait)
}

/// The memory that a node uses.
fn captured_memory(trace: &Trace, call: &Call) -> Vec<CallEffect> {
    let (Some(task), Some(graph)) = (call.task, call.graph) else {
        return Vec::new();
    };
    let task = trace.task(task);
    let memory = match task.kind {
        TaskKind::Memcpy | TaskKind::Memset | TaskKind::Other => {
            let used = uses(trace, trace.function(call.function), call);
            used.into_iter().collect()
        }
        _ => tensors::memory_of(trace, call, task),
    };
    let memory = memory.into_iter();
    memory
        .map(|it| CallEffect::Captures(graph.serial, it))
        .collect()
}

fn task_act(trace: &Trace, function: &Function, call: &Call, task: &Task) -> Option<CallEffect> {
    let place = (task.stream, task.sequence);
    match task.kind {
        TaskKind::Memcpy | TaskKind::Memset => {
            let memory = uses(trace, function, call)?;
            let is_known = !matches!(
                task.untimed,
                Untimed::Off | Untimed::Unknown | Untimed::InCallback | Untimed::ContextFailed
            );
            Some(match task.untimed {
                Untimed::HostCopy => CallEffect::HostUses(memory),
                _ if is_known || task.kind == TaskKind::Memset => CallEffect::Uses(place, memory),
                // Whether the memory is pageable was not asked.
                _ if trace.direction(call).is_some() => CallEffect::MayHostUse(place, memory),
                _ => CallEffect::MayHostUse(
                    place,
                    MemoryAccesses {
                        is_host: [true; 2],
                        ..memory
                    },
                ),
            })
        }
        TaskKind::Notify | TaskKind::Value if function.is(Said::Sets) => None,
        TaskKind::Notify | TaskKind::Value => Some(CallEffect::WaitsForUnknown(place.0, place.1)),
        TaskKind::HostFunc => Some(CallEffect::CallsBack(place.0, place.1)),
        TaskKind::Graph => Some(CallEffect::Replays(place, call.graph.map(|it| it.serial))),
        TaskKind::Collective => {
            let has_peers = has_peers(trace, task.stream);
            match CollectiveBuffers::of(trace, function, call) {
                Some(buffers) => Some(CallEffect::Communicates(place, buffers, has_peers)),
                // It waits for tasks of other devices, which may be of this process.
                None => has_peers.then_some(CallEffect::WaitsForUnknown(place.0, place.1)),
            }
        }
        TaskKind::Other => Some(CallEffect::Uses(place, uses(trace, function, call)?)),
        _ => None,
    }
}

/// Whether the process has streams of other devices.
fn has_peers(trace: &Trace, stream: StreamId) -> bool {
    let own = trace.stream(stream);
    let mut streams = trace.streams().iter();
    streams.any(|it| it.process == own.process && it.device != own.device)
}

/// Reads and writes of a copy or fill; `None` if unknown.
pub(super) fn uses(trace: &Trace, function: &Function, call: &Call) -> Option<MemoryAccesses> {
    let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    let bytes = word(ArgPart::Extent)?;
    // The distance between the rows of a copy in rows.
    let area = |part: ArgPart, pitch: ArgPart| match word(pitch) {
        Some(pitch) => Area::of_rows(word(part)?, bytes, pitch, word(ArgPart::Rows)?),
        None => Area::of(word(part)?, bytes),
    };
    let direction = trace.direction(call);
    let memory = MemoryAccesses {
        reads: area(ArgPart::Reads, ArgPart::ReadPitch),
        writes: area(ArgPart::Writes, ArgPart::WritePitch),
        is_host: [
            direction == Some(Direction::HostToDevice),
            direction == Some(Direction::DeviceToHost),
        ],
    };
    (memory.reads.is_some() || memory.writes.is_some()).then_some(memory)
}

/// Effect of a call that gives memory back when its stream gets there.
fn freed_in_order(trace: &Trace, function: &Function, call: &Call) -> Option<CallEffect> {
    let address = *trace.args(call).get(function.part(ArgPart::PoolFreed)?)?;
    let task = call.task.map(|task| trace.task(task));
    let place = match task.filter(|it| trace.runs(it)) {
        Some(task) => Some((task.stream, task.sequence)),
        None => last(trace, call.stream?, call),
    };
    Some(CallEffect::FreesInOrder(place?, address))
}

/// Effect of a call on the allocated memory.
fn memory_of(trace: &Trace, function: &Function, call: &Call) -> Option<CallEffect> {
    let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    let of_part = |part: ArgPart| Some(Area::of(word(part)?, word(ArgPart::Size)?)?.whole());
    if let Some(range) = of_part(ArgPart::Pooled) {
        return Some(CallEffect::Renews(range));
    }
    let device = of_part(ArgPart::Allocated).map(|range| CallEffect::Allocates(range, false));
    device.or_else(|| {
        Some(CallEffect::Allocates(
            of_part(ArgPart::HostAllocated)?,
            true,
        ))
    })
}
