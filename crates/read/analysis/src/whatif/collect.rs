//! Takes the calls, the tasks and the waits of a recording.

use ascend_trace_format::api::WaitTarget;
use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_recording::{CallId, StackId, StreamId, TaskId, ThreadId, TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::compact_recording::{Facts, Stream, StreamPlace, Thread};
use super::item_numbers::ItemNumbers;
use super::limited_waits::LimitedWaits;
use super::links::{LaneCode, LanePosition, Link, LinkKind, QueueWait};
use super::other_threads::OtherThreads;
use super::positions::Located;
use super::records::{Call, CallShape, NONE, Numbered, Task, TaskShape};
use crate::dependencies::runs;
use crate::estimate::{EstimatedTime, Learner};
use crate::polls;
use crate::stats::{CallSite, operation};
use crate::{Fold, Node, ReleaseKind, TaskRole, Window};

/// The names of directions from and to the host.
const OF_HOST: [&str; 2] = ["D2H", "H2D"];

/// A call in memory.
#[derive(Clone, Copy, Debug)]
struct CallPlace {
    /// Of the outermost call around it.
    outer: LanePosition,
    ordinal: u32,
    begin: i64,
    end: i64,
    /// It is that call.
    is_outer: bool,
    copies: bool,
    function: u32,
}

/// A task in memory.
#[derive(Clone, Copy, Debug)]
struct TaskPlace {
    /// `None` until its stream comes to it.
    place: Option<LanePosition>,
    begin: i64,
    end: i64,
    operation: u32,
    /// Its call counts it.
    is_counted: bool,
}

/// The last outermost call of a thread: calls in it follow.
#[derive(Clone, Copy, Debug)]
struct OpenCall {
    place: CallPlace,
    shape: CallShape,
    /// The number of the last task in it that is work.
    last: Option<u32>,
    /// The numbers of the first and of the last query of a loop; else its own.
    numbers: (u32, u32),
}

/// Two calls or tasks by number.
#[derive(Clone, Copy, Debug)]
struct NumberedPair {
    way: LinkKind,
    from: (NodeKind, u32),
    to: (NodeKind, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKind {
    Call,
    Task,
}

/// Takes a recording in, window by window.
#[derive(Debug, Default)]
pub(super) struct Collect {
    facts: Facts,
    names: FxHashMap<String, u32>,
    sites: FxHashMap<StackId, u32>,
    call_shapes: Numbered<CallShape>,
    task_shapes: Numbered<TaskShape>,
    calls: Located<CallPlace>,
    tasks: Located<TaskPlace>,
    /// By thread.
    open: Vec<Option<OpenCall>>,
    /// By thread: number of outermost calls.
    counts: Vec<u32>,
    /// Links of the window, and links to later items.
    found: Vec<NumberedPair>,
    /// The number of a call that waited for room, and how long it lasted; the number of its task.
    rooms: Vec<(u32, i64, u32)>,
    learner: Learner,
    limited: LimitedWaits,
    /// Where the numbers of calls and tasks are wanted.
    numbers: Option<ItemNumbers>,
}

impl Collect {
    /// Keeps the numbers of calls and of functions on the host as well.
    pub(super) fn with_numbers() -> Self {
        Self {
            numbers: Some(ItemNumbers::default()),
            ..Self::default()
        }
    }

    /// All that was taken, with the numbers.
    pub(super) fn finish_with_numbers(mut self) -> (Facts, ItemNumbers) {
        (0..self.open.len()).for_each(|it| self.close(it));
        let numbers = self.numbers.take().unwrap_or_default();
        // The threads have no open calls any more.
        self.open.clear();
        (self.finish(), numbers)
    }

    fn call(&mut self, window: &Window<'_>, thread: ThreadId, id: CallId) {
        let trace = window.trace;
        let call = trace.call(id);
        let function = trace.function(call.function);
        let task = call.task.map(|it| trace.task(it));
        let is_host_copy = task.is_some_and(|it| it.untimed == Untimed::HostCopy);
        let meaning = function.role.meaning();
        let submits = call.task.is_some_and(|it| runs(trace, it));
        let waits = match meaning.waits {
            WaitTarget::Nothing => polls::target(function),
            waits => waits,
        };
        self.function(call.function.0, &function.name, waits);
        let poll = window.stalls.poll_step(id);
        let number = trace.call_number(id);
        let goes_on = self.limited.take(trace, call);
        let is_loop = poll.continues && self.is_polling(thread.index());
        if (goes_on || is_loop) && self.go_on(thread.index(), (id, number, call.end)) {
            if is_loop && poll.waited_since.is_some() {
                self.facts.poll_periods += poll.period;
            }
            return;
        }
        if call.depth == 0 || self.open[thread.index()].is_none() {
            self.close(thread.index());
            let ordinal = self.counts[thread.index()];
            let end = call.end.max(call.begin);
            let place = CallPlace {
                outer: LanePosition::new(LaneCode::thread(thread.index()), ordinal),
                ordinal,
                begin: call.begin,
                end,
                is_outer: true,
                copies: is_host_copy || meaning.waits == WaitTarget::Transfer,
                function: call.function.0,
            };
            let shape = CallShape {
                function: call.function.0,
                submits,
                copies: place.copies,
                bounds_life: meaning.bounds_life,
                tasks: 0,
                operation: NONE,
                polls: function.role.asks_for_an_end(),
                site: match waits {
                    WaitTarget::Nothing => NONE,
                    _ => call.stack.map_or(NONE, |stack| self.site(trace, stack)),
                },
            };
            self.counts[thread.index()] += 1;
            let own = &mut self.facts.threads[thread.index()];
            let known = own.pauses.take(call.begin, end, call.cpu);
            own.work.extend(known.map(|it| (it.ordinal, it.work)));
            self.facts.extend(TimeRange::new(place.begin, place.end));
            self.open[thread.index()] = Some(OpenCall {
                place,
                shape,
                last: None,
                numbers: (number, number),
            });
            self.calls.set(id.index(), place);
        } else if let Some(open) = &self.open[thread.index()] {
            let is_outer = false;
            self.calls.set(
                id.index(),
                CallPlace {
                    is_outer,
                    ..open.place
                },
            );
        }
        if let Some(task) = call.task {
            self.submitted(trace, thread, task, submits);
        }
    }

    /// The last call of a thread is a loop of queries. False where its begin is not known.
    fn is_polling(&self, thread: usize) -> bool {
        let open = self.open[thread].as_ref();
        open.is_some_and(|it| it.shape.polls)
    }

    /// A call continues the last one, as one call. False where its begin is not known.
    fn go_on(&mut self, thread: usize, (id, number, end): (CallId, u32, i64)) -> bool {
        let Some(open) = self.open[thread].as_mut() else {
            return false;
        };
        open.place.end = open.place.end.max(end);
        self.facts.threads[thread].pauses.go_on(end);
        open.numbers.1 = number;
        let place = open.place;
        self.facts.extend(TimeRange::new(place.begin, place.end));
        self.calls.set(id.index(), place);
        true
    }

    /// The place in the program that a stack shows.
    fn site(&mut self, trace: &Trace, stack: StackId) -> u32 {
        if let Some(known) = self.sites.get(&stack) {
            return *known;
        }
        let Some(site) = CallSite::of(trace, stack) else {
            return NONE;
        };
        let sites = &mut self.facts.sites;
        // Different stacks lead to one line.
        let known = sites.iter().position(|it| it.call_site == site.call_site);
        let place = known.unwrap_or_else(|| {
            sites.push(site);
            sites.len() - 1
        });
        self.sites.insert(stack, place as u32);
        place as u32
    }

    fn function(&mut self, number: u32, name: &str, waits: WaitTarget) {
        let functions = &mut self.facts.functions;
        let place = number as usize;
        if functions.len() <= place {
            functions.resize(place + 1, (String::new(), WaitTarget::Nothing));
        }
        if functions[place].0.is_empty() {
            functions[place] = (name.to_owned(), waits);
        }
    }

    /// A call submitted a task.
    fn submitted(&mut self, trace: &Trace, thread: ThreadId, id: TaskId, is_counted: bool) {
        let task = trace.task(id);
        let is_work = is_counted && TaskRole::of(trace, task) == TaskRole::Work;
        let operation = match is_work {
            true => self.name(&operation(trace, task)),
            false => NONE,
        };
        let place = TaskPlace {
            place: None,
            begin: 0,
            end: 0,
            operation,
            is_counted,
        };
        self.tasks.set(id.index(), place);
        let Some(open) = &mut self.open[thread.index()] else {
            return;
        };
        open.shape.tasks += u32::from(is_counted);
        let number = Some(trace.task_number(id));
        if is_work && number > open.last {
            (open.last, open.shape.operation) = (number, operation);
        }
    }

    /// Writes the last call of a thread down: nothing more happens in it.
    fn close(&mut self, thread: usize) {
        if let Some(open) = &self.open[thread] {
            let shape = self.call_shapes.number(open.shape);
            if open.shape.tasks > 0 || open.shape.submits {
                self.facts.threads[thread].last_submission = Some(open.place.ordinal);
            }
            self.facts.threads[thread].push(&Call {
                shape,
                begin: open.place.begin,
                end: open.place.end,
            });
            self.facts.count_call(shape);
            if let Some(numbers) = &mut self.numbers {
                numbers.add_call(thread, open.numbers);
            }
        }
    }

    fn task(&mut self, trace: &Trace, id: TaskId) {
        let task = trace.task(id);
        let known = self.tasks.get(id.index());
        let call = self.calls.get(task.call.index());
        let does_run = runs(trace, id);
        if let Some(call) = call
            && does_run != known.is_some_and(|it| it.is_counted)
        {
            // Whether a task runs is known with its time.
            let more = if does_run { 1 } else { -1 };
            self.facts.corrections.push((call.outer, more));
        }
        if !does_run {
            return;
        }
        let call_begin = trace.call(task.call).begin;
        let call_lasts = trace.call(task.call).range().duration();
        let tasks = &self.facts.streams[task.stream.index()].tasks;
        let ordinal = tasks.count;
        let last = (tasks.count > 0).then_some(tasks.last.end);
        // Where no time is known, it took none, as soon as it could run.
        let soon = last.map_or(call_begin, |it| it.max(call_begin));
        let best = self.best(trace, id);
        let begin = best.map_or(soon, |it| it.time.begin);
        let end = best.map_or(soon, |it| it.time.end.max(it.time.begin));
        let (shape, operation) = self.task_shape(trace, id, known);
        let place = LanePosition::new(LaneCode::stream(task.stream.index()), ordinal);
        let own = Task {
            shape,
            begin,
            end,
            error: task.time.map_or(0, |it| it.error),
            thread: trace.call(task.call).thread.0,
            call: call.map_or(NONE, |it| it.ordinal),
            inside: call.map_or(0, |it| call_begin.wrapping_sub(it.begin)),
            since: begin.wrapping_sub(call_begin),
        };
        let shape = &self.task_shapes.all[shape as usize];
        if let (Some(numbers), TaskRole::Callback) = (&mut self.numbers, shape.class) {
            numbers.add_function(place, trace.task_number(id));
        }
        let on = task.stream.index();
        self.facts
            .add_task((&own, shape), on, best.as_ref(), call_lasts);
        self.facts.streams[task.stream.index()].tasks.push(&own);
        let place = TaskPlace {
            place: Some(place),
            begin,
            end,
            operation,
            is_counted: true,
        };
        self.tasks.set(id.index(), place);
    }

    /// The best estimate of a task's time. Waits are as long as they were measured.
    fn best(&mut self, trace: &Trace, id: TaskId) -> Option<EstimatedTime> {
        let task = trace.task(id);
        let time = task.time?;
        match TaskRole::of(trace, task) {
            TaskRole::Work => self.learner.place(trace, task),
            _ => Some(EstimatedTime {
                time: time.range(),
                error: time.local_error,
                common: 0,
            }),
        }
    }

    fn task_shape(&mut self, trace: &Trace, id: TaskId, known: Option<TaskPlace>) -> (u32, u32) {
        let task = trace.task(id);
        let direction = trace.direction(trace.call(task.call));
        let is_of_host = direction.is_some_and(|it| OF_HOST.contains(&it.name()));
        let operation = match known {
            Some(known) if known.operation != NONE => known.operation,
            _ => self.name(&operation(trace, task)),
        };
        let bytes = trace.bytes(trace.call(task.call)).unwrap_or(0);
        let shape = self.task_shapes.number(TaskShape {
            direction,
            bits: u64::BITS - bytes.leading_zeros(),
            operation,
            class: TaskRole::of(trace, task),
            is_copy: task.kind == TaskKind::Memcpy,
            is_of_host: task.kind == TaskKind::Memcpy && is_of_host,
            is_record: task.kind == TaskKind::Record,
            is_timed: task.time.is_some(),
        });
        (shape, operation)
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

    fn link(&mut self, trace: &Trace, way: LinkKind, from: Node, to: Node) {
        let number = |node: Node| match node {
            Node::Call(id) => (NodeKind::Call, trace.call_number(id)),
            Node::Task(id) => (NodeKind::Task, trace.task_number(id)),
        };
        let (from, to) = (number(from), number(to));
        self.found.push(NumberedPair { way, from, to });
    }

    fn links(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for row in window.releases() {
            if let Some(way) = LinkKind::of_release(row.kind) {
                self.link(trace, way, row.by, row.waiter);
            }
            let (ReleaseKind::Room, Node::Call(id)) = (row.kind, row.waiter) else {
                continue;
            };
            let call = trace.call(id);
            if let Some(own) = call.task {
                let lasts = call.end.max(call.begin).saturating_sub(call.begin);
                let numbers = (trace.call_number(id), trace.task_number(own));
                self.rooms.push((numbers.0, lasts, numbers.1));
            }
        }
    }

    /// Places links with known ends.
    fn settle(&mut self) {
        let mut found = std::mem::take(&mut self.found);
        found.retain(|it| !self.place(it));
        self.found = found;
        let mut rooms = std::mem::take(&mut self.rooms);
        rooms.retain(|(call, lasts, task)| {
            let place = self.tasks.find(*task).and_then(|it| it.place);
            let (Some(call), Some(task)) = (self.calls.find(*call), place) else {
                return self.calls.has(*call) && self.tasks.has(*task);
            };
            let (call, lasts) = (call.outer, *lasts);
            self.facts.rooms.push(QueueWait { task, call, lasts });
            false
        });
        self.rooms = rooms;
    }

    /// Whether a link is finished.
    fn place(&mut self, found: &NumberedPair) -> bool {
        let (way, from, to) = (found.way, found.from, found.to);
        if let (LinkKind::Sync, Some(call)) = (way, self.calls.find(to.1))
            && call.is_outer
            && !call.copies
        {
            self.facts.blocked.insert(call.function);
        }
        let is_there = |it: (NodeKind, u32)| match it.0 {
            NodeKind::Call => self.calls.has(it.1),
            NodeKind::Task => self.tasks.has(it.1),
        };
        let located = |it: (NodeKind, u32)| match it.0 {
            NodeKind::Call => self.calls.find(it.1).map(|it| (it.outer, it.begin, it.end)),
            NodeKind::Task => {
                let known = self.tasks.find(it.1);
                known.and_then(|it| Some((it.place?, it.begin, it.end)))
            }
        };
        let (Some(source), Some(target)) = (located(from), located(to)) else {
            return !is_there(from) || !is_there(to);
        };
        // A call needs no plan but its own.
        if way != LinkKind::Plan || source.0 != target.0 {
            let (from, to) = way.points(source.0, target.0);
            let at = if from.is_end() { source.2 } else { source.1 };
            self.facts.links.push(Link { way, from, to, at });
        }
        true
    }

    fn threads(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            if self.facts.threads.len() <= thread.index() {
                let about = trace.thread(thread);
                let process = trace.process(about.process).serial;
                self.facts.threads.push(Thread::new(process, about.tid));
                self.open.push(None);
                self.counts.push(0);
            }
            for id in window.thread_calls(thread) {
                self.call(window, thread, id);
            }
        }
        for (thread, series) in trace.costs().threads() {
            let known = self.facts.threads.get_mut(thread.index());
            // Sums from the begin of the recording.
            if let (Some(known), Some(last)) = (known, series.last()) {
                known.overhead = last.own_ns().max(known.overhead);
                known.reading = last.reading_ns.max(known.reading);
            }
        }
    }

    fn streams(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            if self.facts.streams.len() <= stream.index() {
                let about = trace.stream(stream);
                self.facts.streams.push(Stream::new(StreamPlace {
                    process: trace.process(about.process).serial,
                    device: about.device,
                    stream_id: about.number(),
                }));
            }
            for id in window.stream_tasks(stream) {
                self.task(trace, id);
            }
        }
    }
}

impl Fold for Collect {
    type Answer = Facts;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let calls = (0..trace.calls().len() as u32).map(CallId);
        self.calls.renew(calls.map(|it| trace.call_number(it)));
        let tasks = (0..trace.tasks().len() as u32).map(TaskId);
        self.tasks.renew(tasks.map(|it| trace.task_number(it)));
        self.threads(window);
        self.streams(window);
        self.links(window);
        self.settle();
        if window.part.is_last {
            self.facts.others = OtherThreads::of(trace);
        }
    }

    fn finish(mut self) -> Facts {
        (0..self.open.len()).for_each(|it| self.close(it));
        self.facts.call_shapes = self.call_shapes.all;
        self.facts.task_shapes = self.task_shapes.all;
        self.facts.sort();
        self.facts
    }
}
