//! The part of the past that the present depends on: for readers that go through a trace part by part
//! and forget earlier parts.
//!
//! Every call and task has a *key*, a time that assigns it to a part. That of a call is its begin. That
//! of a task is the begin of the call that submitted it, but not before the key of the task before it
//! on its stream, so that the tasks of a stream are in the order of their keys.

use std::collections::{HashMap, HashSet};

use ascend_trace_format::api::{Role, TaskKind};
use ascend_trace_recording::recording::KeptCalls;
use ascend_trace_recording::{
    Call, CallId, EventId, Generation, StreamId, TaskId, TaskTime, ThreadId, Trace, is_capture_code,
};

use crate::dependencies::runs;
use crate::stalls::untimed_gap::behind;
use crate::stalls::{CarriedState, work_until};
use crate::{Edge, Lane, Node, Stall, TaskRole, Window, released};

/// Largest number of tasks to look back at on a stream for the last one that shows its activity.
pub(crate) const MOST_BACK: usize = 256;
/// Largest number of calls of a thread that are examined for its activity while a stream waited for it.
pub(crate) const HOST_CALLS: usize = 1024;

/// The keys of the tasks of a trace.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    tasks: Vec<i64>,
}

impl Keys {
    /// The keys of a trace, given those that its first tasks had before others were forgotten.
    pub fn of(trace: &Trace, before: Self) -> Self {
        let mut tasks = before.tasks;
        tasks.resize(trace.tasks().len(), i64::MIN);
        for stream in 0..trace.streams().len() as u32 {
            let mut key = i64::MIN;
            for id in trace.stream_tasks(StreamId(stream)) {
                let begin = trace.call(trace.task(*id).call).begin;
                key = key.max(begin).max(tasks[id.index()]);
                tasks[id.index()] = key;
            }
        }
        Self { tasks }
    }

    /// The keys of the tasks to keep.
    pub fn kept(&self, trace: &Trace, keep: &KeptCalls) -> Self {
        let tasks = trace.tasks().iter().zip(&self.tasks);
        let kept = tasks.filter(|(task, _)| keep.has(task.call));
        Self {
            tasks: kept.map(|(_, key)| *key).collect(),
        }
    }

    pub fn task(&self, id: TaskId) -> i64 {
        self.tasks.get(id.index()).copied().unwrap_or(i64::MIN)
    }

    pub fn node(&self, trace: &Trace, node: Node) -> i64 {
        match node {
            Node::Call(id) => trace.call(id).begin,
            Node::Task(id) => self.task(id),
        }
    }

    /// A dependency belongs to the part of the later one of its ends.
    pub fn edge(&self, trace: &Trace, edge: &Edge) -> i64 {
        self.node(trace, edge.from).max(self.node(trace, edge.to))
    }

    /// A stall belongs to the part of the held-up item. The ends of streams are known at the very end.
    pub fn stall(&self, trace: &Trace, stall: &Stall) -> i64 {
        if let Some(bound) = stall.bound {
            return self.task(bound.next);
        }
        match (stall.lane, stall.node) {
            (Lane::Stream(_), Node::Call(_)) => i64::MAX,
            (_, node) => self.node(trace, node),
        }
    }
}

/// With more calls in memory, a task does not wait for calls that may have ended it.
const MOST_CALLS: usize = 1 << 17;
/// An end may be off by this.
const MOST_OFF_NS: i64 = 2_000_000;

/// The key before which all tasks can be looked at, where everything with keys below `known` is known. A call may end a wait
/// for a signal, or a host function, long after the call that submitted it: that call must be known, too.
pub(crate) fn reach(trace: &Trace, keys: &Keys, known: i64) -> i64 {
    if trace.calls().len() > MOST_CALLS {
        return i64::MAX;
    }
    let tasks = trace.tasks().iter().zip((0..).map(TaskId));
    let open = tasks.filter(|(task, _)| {
        let ends_later = |time: TaskTime| time.end.saturating_add(MOST_OFF_NS) >= known;
        task.time.is_some_and(ends_later)
            && matches!(
                TaskRole::of(trace, task),
                TaskRole::SignalWait | TaskRole::Callback
            )
    });
    open.map(|(_, id)| keys.task(id)).min().unwrap_or(i64::MAX)
}

/// The calls of a trace, with their tasks, that are needed once everything before `since` has been
/// dealt with.
pub(crate) fn keep(window: &Window<'_>, carried: &CarriedState, since: i64) -> KeptCalls {
    let (trace, keys) = (window.trace, &*window.keys);
    let mut keep = KeptCalls::none(trace);
    for (call, id) in trace.calls().iter().zip((0..).map(CallId)) {
        if call.begin >= since || is_lasting(trace, call) {
            keep.call(id);
        }
    }
    let mut waits = HashSet::new();
    for stream in (0..trace.streams().len() as u32).map(StreamId) {
        let tasks = tail(trace, keys, stream, since);
        tasks.iter().for_each(|id| keep.call(trace.task(*id).call));
        let untimed = tasks.iter().filter(|id| trace.task(**id).time.is_none());
        waits.extend(untimed.filter_map(|id| trace.call(trace.task(*id).call).event));
    }
    for id in records(trace, since, waits).chain(signals(trace)) {
        keep.call(id);
        let task = trace.call(id).task.into_iter();
        // The tasks by which the time of an untimed record is derived.
        task.flat_map(|task| behind(trace, task))
            .for_each(|task| keep.call(trace.task(task).call));
    }
    for thread in (0..trace.threads().len() as u32).map(ThreadId) {
        let calls = trace.thread_calls(thread);
        let upto = calls.partition_point(|id| trace.call(*id).begin < since);
        let recent = calls[..upto].iter().rev().take(HOST_CALLS);
        recent.chain(calls.last()).for_each(|id| keep.call(*id));
    }
    for id in carried.calls() {
        keep.call(id);
        let tasks = released::tasks(trace, &window.dependencies, Node::Call(id));
        for task in tasks.flat_map(|task| [Some(task), work_until(trace, task)]) {
            task.into_iter()
                .for_each(|task| keep.call(trace.task(task).call));
        }
    }
    let peers = carried.peers.named(trace, keys);
    peers.iter().for_each(|id| keep.call(trace.task(*id).call));
    trace.operands_in_use().for_each(|id| keep.call(id));
    keep
}

/// Whether a call belongs to something lasting, and sensible programs have few such calls.
fn is_lasting(trace: &Trace, call: &Call) -> bool {
    let function = trace.function(call.function);
    if function.role.meaning().bounds_life || is_capture_code(call.ret) {
        return true;
    }
    let task = call.task.map(|id| trace.task(id));
    let is_signal = |kind| matches!(kind, TaskKind::Notify | TaskKind::Value);
    match call.graph {
        // Replays are counted, not kept.
        Some(graph) if graph.serial != 0 => {
            function.role != Role::ExecuteGraph && task.is_none_or(|task| !trace.runs(task))
        }
        _ => task.is_some_and(|task| is_signal(task.kind)),
    }
}

/// What sets notifies and values, and waits for them.
fn signals(trace: &Trace) -> impl Iterator<Item = CallId> {
    let is_signal = |kind| matches!(kind, TaskKind::Notify | TaskKind::Value);
    let tasks = trace.tasks().iter();
    let signals = tasks.filter(move |task| task.time.is_none() && is_signal(task.kind));
    signals.map(|task| task.call)
}

/// The records before `since` that waits from then on can be bound to: the last one of every event that was
/// not destroyed before, and those that waits name; and the last wait for each such event. `named` are those that earlier waits name. What happens to an
/// event after `since` leaves them: the wait may come first.
fn records(
    trace: &Trace,
    since: i64,
    mut named: HashSet<Generation>,
) -> impl Iterator<Item = CallId> {
    let mut last: HashMap<EventId, (u32, CallId)> = HashMap::new();
    let mut waits: HashMap<EventId, CallId> = HashMap::new();
    for (call, id) in trace.calls().iter().zip((0..).map(CallId)) {
        let Some(generation) = call.event else {
            continue;
        };
        match trace.function(call.function).role {
            role if role.names_record() && call.begin >= since => {
                named.insert(generation);
            }
            // A loop may ask for it.
            Role::WaitEvent => {
                let known = waits.entry(generation.event).or_insert(id);
                if trace.call(*known).begin < call.begin {
                    *known = id;
                }
            }
            Role::RecordEvent if call.begin < since => {
                let known = last.entry(generation.event).or_insert((0, id));
                if generation.number >= known.0 {
                    *known = (generation.number, id);
                }
            }
            Role::DestroyEvent if call.begin < since && call.result() == Some(0) => {
                last.remove(&generation.event);
                waits.remove(&generation.event);
            }
            _ => {}
        }
    }
    let calls = trace.calls().iter().zip((0..).map(CallId));
    // Another thread may have recorded the event again before the wait began.
    let bound = calls.filter(move |(call, _)| {
        let is_record = trace.function(call.function).role == Role::RecordEvent;
        is_record && call.event.is_some_and(|it| named.contains(&it))
    });
    let last = last.into_values().map(|(_, id)| id);
    last.chain(bound.map(|(_, id)| id))
        .chain(waits.into_values())
}

/// The end of a stream's tasks: from the last one before `since` that shows its activity, and all that
/// had not ended then.
fn tail<'t>(trace: &'t Trace, keys: &Keys, stream: StreamId, since: i64) -> &'t [TaskId] {
    let tasks = trace.stream_tasks(stream);
    let upto = tasks.partition_point(|id| keys.task(*id) < since);
    let least = upto.saturating_sub(MOST_BACK);
    let last = |wanted: &dyn Fn(TaskId) -> bool| {
        let place = tasks[least..upto].iter().rposition(|id| wanted(*id));
        place.map(|place| least + place)
    };
    let time = |id: TaskId| trace.task(id).time;
    let is_place = |id: TaskId| {
        let class = TaskRole::of(trace, trace.task(id));
        time(id).is_some() && matches!(class, TaskRole::Work | TaskRole::Callback)
    };
    let over = last(&|id| time(id).is_some_and(|time| time.end <= since));
    let begins = [
        last(&|id| runs(trace, id)),
        last(&is_place),
        over.map(|place| place + 1),
    ];
    let is_reported = begins[1].is_some();
    let begin = begins.into_iter().flatten().min().filter(|_| is_reported);
    &tasks[begin.unwrap_or(least)..]
}
