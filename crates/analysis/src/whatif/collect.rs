//! What a recording did, in as few bytes as a simulation needs: calls, tasks, and what waited for what.

use ascend_trace_format::api::{Role, TaskKind, Untimed, Waits};
use ascend_trace_recording::{CallId, StreamId, TaskId, ThreadId, TimeRange, Trace};
use rustc_hash::FxHashMap;

use crate::dependencies::runs;
use crate::stats::operation;
use crate::{Cause, Class, EdgeKind, Fold, Lane, Node, Window};

/// The names of directions from and to the host.
const OF_HOST: [&str; 2] = ["D2H", "H2D"];

/// Stands for no call, no task and no name.
pub(super) const NONE: u32 = u32::MAX;

/// A call of a host thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) begin: i64,
    pub(super) end: i64,
    /// The call around all others that it was made in; itself if there is none.
    pub(super) outer: u32,
    pub(super) function: u32,
    /// It submits a task.
    pub(super) submits: bool,
    /// It copies by itself, on the host.
    pub(super) copies: bool,
    /// It makes or ends a stream, an event or a context.
    pub(super) bounds_life: bool,
    /// It waited for room in a queue before it could submit.
    pub(super) waits_for_room: bool,
}

/// A task of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) begin: i64,
    pub(super) end: i64,
    /// By how much its duration may be off, and by how much its times on the host's clock.
    pub(super) local_error: i64,
    pub(super) error: i64,
    pub(super) call: u32,
    pub(super) name: u32,
    pub(super) stream: u32,
    pub(super) class: Class,
    pub(super) is_copy: bool,
    /// It copies from or to the host.
    pub(super) is_of_host: bool,
    /// It records an event.
    pub(super) is_record: bool,
    pub(super) is_timed: bool,
}

impl Call {
    pub(super) const NOTHING: Self = Self {
        begin: 0,
        end: 0,
        outer: NONE,
        function: 0,
        submits: false,
        copies: false,
        bounds_life: false,
        waits_for_room: false,
    };
}

impl Task {
    pub(super) const NOTHING: Self = Self {
        begin: 0,
        end: 0,
        local_error: 0,
        error: 0,
        call: NONE,
        name: 0,
        stream: 0,
        class: Class::Mark,
        is_copy: false,
        is_of_host: false,
        is_record: false,
        is_timed: false,
    };
}

/// Why something could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The end of a wait, for the end of a task.
    Wait,
    /// The end of a call, for the end of a task.
    Sync,
    /// The same, for room in the queue of a stream.
    Room,
    /// The begin of a call, for the end of another thread's call.
    Plan,
    /// The end of a call, for the begin of a task.
    Callback,
    /// The end of a collective, for the begin of another.
    Peer,
}

/// What waited for what, by the numbers of calls and tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) way: Way,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// A stream, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) process: u32,
    pub(super) device: u32,
    pub(super) stream_id: i64,
}

/// All of a recording.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// By number in the recording.
    pub(super) calls: Vec<Option<Call>>,
    pub(super) tasks: Vec<Option<Task>>,
    pub(super) links: Vec<Link>,
    /// The outermost calls of each thread, in order, and its process.
    pub(super) threads: Vec<(u32, Vec<u32>)>,
    pub(super) tids: Vec<u32>,
    /// What recording has cost each thread.
    pub(super) overheads: Vec<u64>,
    /// The tasks of each stream, in order.
    pub(super) streams: Vec<(Place, Vec<u32>)>,
    /// Names of operations.
    pub(super) operations: Vec<String>,
    /// By name, and what their calls wait for.
    pub(super) functions: Vec<(String, Waits)>,
    /// Tasks that ran and have no time.
    pub(super) untimed: u64,
}

impl Facts {
    pub(super) fn call(&self, number: u32) -> Option<Call> {
        self.calls.get(number as usize).copied().flatten()
    }

    pub(super) fn task(&self, number: u32) -> Option<Task> {
        self.tasks.get(number as usize).copied().flatten()
    }

    /// What recording has cost the threads that made calls.
    pub(super) fn overhead(&self) -> i64 {
        let threads = self.threads.iter().zip(&self.overheads);
        let own = threads.filter(|(thread, _)| !thread.1.is_empty());
        own.map(|it| *it.1 as i64).fold(0, i64::saturating_add)
    }

    /// The calls in which no other was under way, by number.
    pub(super) fn outer_calls(&self) -> impl Iterator<Item = (u32, Call)> {
        let calls = (0..).zip(&self.calls);
        let calls = calls.filter_map(|(number, call)| Some((number, (*call)?)));
        calls.filter(|(number, call)| call.outer == *number)
    }

    /// Tasks that ran, by number.
    pub(super) fn all_tasks(&self) -> impl Iterator<Item = (u32, Task)> {
        let tasks = (0..).zip(&self.tasks);
        tasks.filter_map(|(number, task)| Some((number, (*task)?)))
    }

    /// From the first call or task to the end of the last.
    pub(super) fn range(&self) -> TimeRange {
        let calls = self
            .outer_calls()
            .map(|it| TimeRange::new(it.1.begin, it.1.end));
        let tasks = self
            .all_tasks()
            .map(|it| TimeRange::new(it.1.begin, it.1.end));
        let all = calls.chain(tasks).map(Some);
        TimeRange::around(all).unwrap_or_default()
    }
}

/// Takes a recording in, window by window.
#[derive(Debug, Default)]
pub(super) struct Collect {
    facts: Facts,
    names: FxHashMap<String, u32>,
    /// Of each thread, the outermost call that was made last.
    outer: FxHashMap<ThreadId, u32>,
}

impl Collect {
    fn call(&mut self, trace: &Trace, thread: ThreadId, id: CallId) {
        let call = trace.call(id);
        let number = trace.call_number(id);
        let outer = match call.depth {
            0 => number,
            _ => self.outer.get(&thread).copied().unwrap_or(number),
        };
        if outer == number {
            self.outer.insert(thread, number);
            self.facts.threads[thread.index()].1.push(number);
        }
        let function = trace.function(call.function);
        let task = call.task.map(|it| trace.task(it));
        let is_host_copy = task.is_some_and(|it| it.untimed == Untimed::HostCopy);
        let own = Call {
            begin: call.begin,
            end: call.end.max(call.begin),
            outer,
            function: call.function.0,
            submits: call.task.is_some_and(|it| runs(trace, it)),
            copies: is_host_copy || function.role.meaning().waits == Waits::Transfer,
            bounds_life: function.role.meaning().bounds_life,
            waits_for_room: false,
        };
        set(&mut self.facts.calls, number, own);
        let functions = &mut self.facts.functions;
        if functions.len() <= call.function.index() {
            functions.resize(call.function.index() + 1, (String::new(), Waits::Nothing));
        }
        let known = &mut functions[call.function.index()];
        if known.0.is_empty() {
            *known = (function.name.clone(), function.role.meaning().waits);
        }
        if let (Role::ExecuteGraph, Some(task)) = (function.role, call.task) {
            self.link(Way::Sync, trace.task_number(task), number);
        }
    }

    fn task(&mut self, trace: &Trace, id: TaskId) {
        if !runs(trace, id) {
            return;
        }
        let task = trace.task(id);
        let call = trace.call(task.call);
        let stream = task.stream.index();
        let class = Class::of(trace, task);
        let number = trace.task_number(id);
        let tasks = &self.facts.streams[stream].1;
        let last = tasks.last().and_then(|it| self.facts.tasks[*it as usize]);
        // Where no time is known, it took none, as soon as it could run.
        let soon = last.map_or(call.begin, |it| it.end.max(call.begin));
        let time = task.time;
        let direction = trace.direction(call).map(|it| it.name());
        let is_of_host = direction.is_some_and(|it| OF_HOST.contains(&it));
        let own = Task {
            begin: time.map_or(soon, |it| it.begin),
            end: time.map_or(soon, |it| it.end.max(it.begin)),
            local_error: time.map_or(0, |it| it.local_error),
            error: time.map_or(0, |it| it.error),
            call: trace.call_number(task.call),
            name: self.name(&operation(trace, task)),
            stream: task.stream.0,
            class,
            is_copy: task.kind == TaskKind::Memcpy,
            is_of_host: task.kind == TaskKind::Memcpy && is_of_host,
            is_record: task.kind == TaskKind::Record,
            is_timed: time.is_some(),
        };
        self.facts.untimed += u64::from(time.is_none() && class == Class::Work);
        self.facts.streams[stream].1.push(number);
        set(&mut self.facts.tasks, number, own);
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.insert(name.to_owned(), number);
        self.facts.operations.push(name.to_owned());
        number
    }

    fn link(&mut self, way: Way, from: u32, to: u32) {
        self.facts.links.push(Link { way, from, to });
    }

    fn edges(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let edges = window.dependencies.edges().iter();
        for edge in edges.filter(|it| window.owns_edge(it)) {
            let way = match edge.kind {
                EdgeKind::RecordToWait | EdgeKind::SignalToWait => Way::Wait,
                EdgeKind::TaskToSync => Way::Sync,
                EdgeKind::Plan => Way::Plan,
                EdgeKind::HostFunc => Way::Callback,
                _ => continue,
            };
            let number = |node: Node| match node {
                Node::Call(id) => trace.call_number(id),
                Node::Task(id) => trace.task_number(id),
            };
            self.link(way, number(edge.from), number(edge.to));
        }
    }

    fn stalls(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for stall in window.stalls() {
            match (stall.cause, stall.lane, stall.node) {
                (Cause::CollectivePeer, _, Node::Task(id)) => {
                    if let Some(peer) = window.stalls.peer(id) {
                        self.link(Way::Peer, trace.task_number(peer), trace.task_number(id));
                    }
                }
                (Cause::QueueFull, Lane::Thread(_), Node::Call(id)) => {
                    if let Some(task) = made_room(trace, id) {
                        self.link(Way::Room, trace.task_number(task), trace.call_number(id));
                    }
                }
                _ => {}
            }
        }
    }
}

/// The task whose end made room for the one that a call submitted.
fn made_room(trace: &Trace, id: CallId) -> Option<TaskId> {
    let call = trace.call(id);
    let own = call.task?;
    let tasks = trace.stream_tasks(trace.task(own).stream);
    let before = tasks.iter().rev().skip_while(|it| **it != own).skip(1);
    let mut ended = before.filter(|it| trace.task(**it).time.is_some_and(|it| it.end <= call.end));
    ended.next().copied()
}

fn set<T: Copy>(row: &mut Vec<Option<T>>, number: u32, value: T) {
    let place = number as usize;
    if row.len() <= place {
        row.resize(place + 1, None);
    }
    row[place] = Some(value);
}

impl Fold for Collect {
    type Answer = Facts;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            if self.facts.threads.len() <= thread.index() {
                let process = trace.process(trace.thread(thread).process).serial;
                self.facts.threads.push((process, Vec::new()));
                self.facts.tids.push(trace.thread(thread).tid);
                self.facts.overheads.push(0);
            }
            for id in window.thread_calls(thread) {
                self.call(trace, thread, id);
            }
        }
        for (thread, series) in trace.costs().threads() {
            let known = self.facts.overheads.get_mut(thread.index());
            // Sums from the begin of the recording.
            if let (Some(known), Some(last)) = (known, series.last()) {
                *known = last.own_ns().max(*known);
            }
        }
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            if self.facts.streams.len() <= stream.index() {
                let about = trace.stream(stream);
                let place = Place {
                    process: trace.process(about.process).serial,
                    device: about.device,
                    stream_id: about.number(),
                };
                self.facts.streams.push((place, Vec::new()));
            }
            for id in window.stream_tasks(stream) {
                self.task(trace, id);
            }
        }
        self.edges(window);
        self.stalls(window);
    }

    fn finish(mut self) -> Facts {
        for link in self.facts.links.iter().filter(|it| it.way == Way::Room) {
            if let Some(call) = &mut self.facts.calls[link.to as usize] {
                call.waits_for_room = true;
            }
        }
        self.facts
    }
}
