//! State after a recording, window by window: unfinished tasks, and the last activity of each thread.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, Fact, Role, TaskKind, Untimed, WaitTarget};
use ascend_trace_recording::{Call, CallId, Ending, Stream, StreamId, Task, TaskId, Trace};

use super::events::{Events, Recording, holds};
use super::hosts::Hosts;
use super::last_activity::ActivityTimes;
use super::queues::{CompletionCondition, Names, PendingTask, Queues, StreamPosition};
use super::ranks::{Ranks, Submitted};
use super::signals::{SignalKey, SignalUse, Signals};
use super::usual_durations::Lengths;
use crate::checks::{is_done, proves_stream};
use crate::dependencies::{runs, streams_of, took_effect};
use crate::released;
use crate::{Node, TaskRole, Window};

#[derive(Debug, Default)]
pub(super) struct HangState {
    pub(super) queues: Queues,
    pub(super) events: Events,
    pub(super) hosts: Hosts,
    pub(super) ranks: Ranks,
    pub(super) moved: ActivityTimes,
    pub(super) lengths: Lengths,
    pub(super) signals: Signals,
    /// By a replay that is not known to be done: the host functions and callbacks of its graph.
    pub(super) hosted: HashMap<StreamPosition, u32>,
    /// Tasks that ran and will have no time.
    pub(super) untimed: u64,
    names: Names,
}

impl HangState {
    pub(super) fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        self.moved.take(window);
        self.ranks.learn(trace);
        let mut calls: Vec<CallId> = window.calls().collect();
        calls.sort_by_key(|id| (trace.call(*id).begin, trace.call_number(*id)));
        for id in &calls {
            let call = trace.call(*id);
            self.hosts.note(trace, *id);
            if took_effect(trace, call) {
                self.ranks.made(trace, call);
            }
        }
        for id in tasks(window) {
            self.submitted(trace, id);
        }
        for id in calls {
            self.returned(trace, trace.call(id));
        }
        self.queues.settle();
        self.signals.settle();
        let queues = &self.queues;
        self.signals.keep(|wait| queues.has(wait));
        if window.part.is_last {
            trace
                .open_calls()
                .iter()
                .for_each(|call| self.hosts.open(trace, None, call));
            self.bind_values(window);
            self.look_into_graphs(trace);
        }
    }

    /// A task was submitted.
    fn submitted(&mut self, trace: &Trace, id: TaskId) {
        let task = trace.task(id);
        let call = trace.call(task.call);
        let name = self.names.shared(trace.task_name(task));
        let place = StreamPosition {
            stream: task.stream,
            sequence: task.sequence,
        };
        let submitted = Submitted {
            name: name.clone(),
            thread: call.thread,
            begin: call.begin,
            place,
        };
        let needs = self.needs(trace, id, submitted);
        if let Some(time) = task.time {
            if needs == CompletionCondition::Device {
                self.lengths
                    .note(&name, time.end.saturating_sub(time.begin));
            }
        } else {
            let never = !matches!(task.untimed, Untimed::Timed | Untimed::Lost);
            self.untimed += u64::from(never && needs == CompletionCondition::Device);
        }
        let used = SignalUse {
            place,
            begin: call.begin,
            call: trace.call_number(task.call),
        };
        self.signals.submitted(trace, call, used);
        let entry = PendingTask {
            sequence: task.sequence,
            needs,
            name,
            thread: call.thread,
            begin: call.begin,
            call: trace.call_number(task.call),
            has_no_time: !matches!(task.untimed, Untimed::Timed),
        };
        self.queues.push(task.stream, entry);
        if let Some(time) = task.time {
            self.queues.ended(task.stream, task.sequence, time.end);
            let end = time.end.saturating_add(time.error);
            self.signals.proved(task.stream, call.begin, end);
        }
    }

    fn needs(&mut self, trace: &Trace, id: TaskId, submitted: Submitted) -> CompletionCondition {
        let task = trace.task(id);
        let call = trace.call(task.call);
        let function = trace.function(call.function);
        match (TaskRole::of(trace, task), call.event) {
            (TaskRole::Mark, Some(generation)) if function.role == Role::RecordEvent => {
                let event = self.events.note(trace, generation.event);
                let recording = recording(call, Some(submitted.place));
                let made = (event, generation.number);
                self.events.recorded(made, recording, &mut self.queues);
                CompletionCondition::Record(event, generation.number)
            }
            (TaskRole::Mark, Some(generation)) if function.role == Role::ResetEvent => {
                let event = self.events.note(trace, generation.event);
                let reset = recording(call, Some(submitted.place));
                self.events.reset(event, reset, call.function);
                CompletionCondition::Nothing
            }
            (TaskRole::Mark, _) => CompletionCondition::Nothing,
            (TaskRole::EventWait, Some(generation)) if holds(trace, call) => {
                let event = self.events.note(trace, generation.event);
                match generation.number {
                    0 => self.events.waits(event, submitted.place),
                    number => self.events.awaited(event, number),
                }
                CompletionCondition::Event(event, generation.number)
            }
            (TaskRole::EventWait, _) => CompletionCondition::Nothing,
            (TaskRole::SignalWait, _) => CompletionCondition::Signal(SignalKey::of(trace, call)),
            (TaskRole::Callback, _) => match function.part(ArgPart::Blocking).is_some() {
                true => CompletionCondition::Reports,
                false => {
                    let process = trace.stream(task.stream).process;
                    self.hosts.launched(process, call.begin);
                    CompletionCondition::HostFunction
                }
            },
            (TaskRole::Work, _) if task.kind == TaskKind::Collective => {
                let numbered = self.ranks.submitted(trace, call, submitted);
                numbered.map_or(CompletionCondition::Device, |(comm, number)| {
                    CompletionCondition::Ranks(comm, number)
                })
            }
            (TaskRole::Work, _) => CompletionCondition::Device,
        }
    }

    /// Effects of a call's return: finished tasks, and ended objects.
    fn returned(&mut self, trace: &Trace, call: &Call) {
        let function = trace.function(call.function);
        let role = function.role;
        let event = call.event;
        if !took_effect(trace, call) {
            if let (Role::RecordEvent, Some(event), Some(code)) = (role, event, call.result()) {
                let event = self.events.note(trace, event.event);
                let failed = Recording {
                    code,
                    ..recording(call, None)
                };
                self.events.failed(event, failed);
            }
            return;
        }
        let meaning = role.meaning();
        if proves_stream(trace, call) {
            let stream = call.stream.into_iter();
            stream.for_each(|stream| {
                self.queues.proved(stream, call.begin);
                self.signals.proved(stream, call.begin, call.end);
            });
        }
        if meaning.waits == WaitTarget::Device {
            let own = streams_of(trace, call);
            own.for_each(|stream| {
                self.queues.proved(stream, call.begin);
                self.signals.proved(stream, call.begin, call.end);
            });
        }
        let done = u64::from(!function.is(Fact::ZeroWhenDone));
        let is_over = match role {
            Role::SyncEvent => true,
            Role::QueryEvent => is_done(trace, function, call, done),
            _ => false,
        };
        if let Some(generation) = event.filter(|_| is_over) {
            let event = self.events.note(trace, generation.event);
            if let Some((stream, before)) = self.queues.submitted_before(event, generation.number) {
                self.signals.proved(stream, before, call.end);
            }
            self.queues.recorded(event, generation.number);
        }
        match role {
            Role::CreateEvent => {
                event.map(|it| self.events.note(trace, it.event));
            }
            Role::DestroyEvent => {
                if let Some(event) = event.map(|it| trace.event(it.event)) {
                    self.events.destroyed((event.process, event.serial));
                }
            }
            Role::DestroyStream => {
                call.stream.into_iter().for_each(|it| self.queues.end(it));
            }
            _ if meaning.on_all_streams && meaning.bounds_life => {
                let ended = |it: StreamId| ends(trace, call, role, trace.stream(it));
                self.queues.end_all(ended);
            }
            _ => {}
        }
    }

    /// Finds what sets the values that streams wait for: such calls are never forgotten.
    fn bind_values(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for stream in self.queues.busy() {
            for id in trace.stream_tasks(stream) {
                let task = trace.task(*id);
                let key = SignalKey::of(trace, trace.call(task.call));
                let is_value = TaskRole::of(trace, task) == TaskRole::SignalWait
                    && key.is_none_or(|it| !it.is_notify);
                let set = is_value
                    .then(|| released::tasks(trace, &window.dependencies, Node::Task(*id)).next());
                if let Some(set) = set.flatten() {
                    let place = |id: TaskId| StreamPosition {
                        stream: trace.task(id).stream,
                        sequence: trace.task(id).sequence,
                    };
                    self.signals.bind(place(*id), place(set));
                }
            }
        }
    }

    /// Counts the host functions of graphs in replays that are not known to be done.
    fn look_into_graphs(&mut self, trace: &Trace) {
        let graph = |task: &Task| {
            let call = trace.call(task.call);
            let process = trace.thread(call.thread).process;
            call.graph.map(|it| (process, it.serial))
        };
        let mut hosted: HashMap<_, u32> = HashMap::new();
        for task in trace.tasks() {
            let is_node = !trace.runs(task) && TaskRole::of(trace, task) == TaskRole::Callback;
            if let Some(graph) = graph(task).filter(|_| is_node) {
                *hosted.entry(graph).or_default() += 1;
            }
        }
        let replays = self.queues.busy().into_iter();
        let replays = replays.flat_map(|stream| trace.stream_tasks(stream));
        for task in replays.map(|id| trace.task(*id)) {
            let known = graph(task).and_then(|it| hosted.get(&it));
            if let Some(count) = known.filter(|_| trace.runs(task)) {
                let place = StreamPosition {
                    stream: task.stream,
                    sequence: task.sequence,
                };
                self.hosted.insert(place, *count);
            }
        }
    }
}

/// The tasks of a window that gave their streams something to do, in the order of their submission.
fn tasks(window: &Window<'_>) -> Vec<TaskId> {
    let trace = window.trace;
    let streams = (0..trace.streams().len() as u32).map(StreamId);
    let tasks = streams.flat_map(|stream| window.stream_tasks(stream));
    // A call that did not return may have submitted nothing.
    let has_run = |id: &TaskId| {
        let task = trace.task(*id);
        // A message of a group has a peer, which the end of the group does not name.
        let has_run = runs(trace, *id) || task.untimed == Untimed::InGroup;
        has_run && trace.call(task.call).ending != Ending::Open
    };
    let mut tasks: Vec<TaskId> = tasks.filter(has_run).collect();
    tasks.sort_by_key(|id| {
        let task = trace.task(*id);
        (window.keys.task(*id), task.stream, task.sequence)
    });
    tasks
}

fn recording(call: &Call, place: Option<StreamPosition>) -> Recording {
    Recording {
        thread: call.thread,
        place,
        begin: call.begin,
        code: call.ret,
    }
}

/// Whether a stream ends with a context, a device or the runtime.
fn ends(trace: &Trace, call: &Call, role: Role, stream: &Stream) -> bool {
    let process = trace.thread(call.thread).process;
    let fits = match role {
        Role::DestroyContext => call.context.is_some() && stream.context == call.context,
        Role::ResetDevice => call.device.map(u32::from) == Some(stream.device),
        _ => true,
    };
    stream.process == process && fits
}
