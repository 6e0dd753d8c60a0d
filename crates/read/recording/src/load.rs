//! Rows become a trace: all at once, or bit by bit while a recording grows.

mod forget;
mod lanes;
mod numbers;
mod open;
mod stream_numbers;
mod tables;
mod times;

use std::sync::Arc;

use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_format::record::Manner;

use crate::TimeRange;
use crate::clock::DeviceClockMap;
use crate::counters::{Counters, raise};
use crate::entities::{
    Call, CallId, Context, ContextId, DeviceClock, Event, EventId, FunctionId, Generation, Losses,
    Process, ProcessId, Range, Stream, StreamId, Task, TaskId, Thread, ThreadId,
};
use crate::loss::Loss;
use crate::range_message;
use crate::rows::{
    CallRow, ContextRow, EndRow, EventRow, LossRow, ProcessRow, RangeRow, Row, SessionRow,
    StreamRow, TablesRow, TaskRow, TaskTimeRow, ThreadRow, ways,
};
use crate::stacks::{StackId, Symbols};
use crate::trace::{TaskGap, Trace};
pub(crate) use forget::LoadNumbering;
use lanes::LaneOrder;
pub(crate) use numbers::Numbers;
use stream_numbers::StreamNumbers;
pub(crate) use tables::function;
use times::DeviceTimes;
pub(crate) use times::{may_be_timed, may_come};

/// Serial of the stream for tasks with a stream that the trace does not name.
pub(crate) const NO_STREAM: u32 = u32::MAX;

/// Builds a [`Trace`] from rows in the order they come.
///
/// Rows may refer to things with a later row, or without one: such things exist from their first
/// mention on, without their details.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceBuilder {
    trace: Trace,
    processes: Numbers,
    threads: Numbers,
    /// By process; most processes of a file that was made to harm have nothing.
    serials: Vec<Option<Box<Serials>>>,
    lanes: LaneOrder,
    times: DeviceTimes,
    numbers: StreamNumbers,
    calls_span: Option<TimeRange>,
}

/// Where the things of one process are.
#[derive(Clone, Debug, Default)]
struct Serials {
    contexts: Numbers,
    streams: Numbers,
    events: Numbers,
}

impl TraceBuilder {
    pub(crate) fn set_session(&mut self, session: SessionRow) {
        self.trace.session = session;
    }

    /// Names functions, including those that calls have mentioned already.
    pub(crate) fn set_tables(&mut self, tables: TablesRow) {
        for (number, row) in (tables.first..=u16::MAX).zip(tables.functions) {
            let id = self.function(number);
            self.trace.functions[id.index()] = tables::function(row);
        }
        for (name, constants) in tables.enumerations {
            let known = self.trace.enumerations.entry(name).or_default();
            known.extend(constants);
        }
        self.trace.operands.set_functions(&self.trace.functions);
    }

    /// Takes one row in. Lists are in order and times are mapped only after [`Self::settle`].
    pub(crate) fn apply(&mut self, row: Row) {
        match row {
            Row::Process(row) => self.process_row(row),
            Row::ProcessEnd(row) => {
                let id = self.process(row.process);
                let end = &mut self.trace.processes[id.index()].end_ns;
                *end = Some(end.map_or(row.end_ns, |known| known.min(row.end_ns)));
            }
            Row::Thread(row) => self.thread_row(row),
            Row::Context(row) => self.context_row(&row),
            Row::Stream(row) => self.stream_row(&row),
            Row::Event(row) => self.event_row(&row),
            Row::Call(mut row) => self.apply_call(&mut row),
            Row::TaskTime(row) => self.task_time_row(row),
            Row::Loss(row) => {
                let losses = &mut self.trace.losses;
                losses.calls = losses.calls.saturating_add(row.calls);
                losses.others = losses.others.saturating_add(row.others);
                let at = self.calls_span.map_or(0, |span| span.end);
                self.lose(&row, at);
            }
            Row::Counter(row) => {
                raise(&mut self.trace.counters, (row.process, row.what), row.value);
            }
            Row::Name(row) => {
                let process = self.process(row.process);
                Arc::make_mut(&mut self.trace.names).add(process, row);
            }
            Row::LongText(row) => Arc::make_mut(&mut self.trace.long_texts).add(row),
            Row::Object(row) => Arc::make_mut(&mut self.trace.stacks).add_object(row),
            Row::Code(row) => Arc::make_mut(&mut self.trace.stacks).add_code(row),
            Row::Stack(row) => Arc::make_mut(&mut self.trace.stacks).add_stack(row),
            Row::Range(row) => self.range_row(row),
            Row::Activity(row) => self.trace.entries.push(row),
            Row::Cost(row) => {
                let thread = self.thread_of(row.thread);
                self.trace.costs.add(thread, &row);
            }
            Row::End(EndRow {
                end_ns,
                exit_status,
                reason,
            }) => {
                self.trace.end = Some((end_ns, exit_status));
                self.trace.end_reason = reason;
            }
            // Who loaded it is the program's affair: the recorder knew of none.
            Row::Coverage(row) if row.ways & ways::SOFTWARE != 0 => {
                "softacl".clone_into(&mut self.trace.session.runtime);
            }
            // The clocks are made of them by the index.
            Row::Anchor(_) => {}
            row => self.trace.kept.push(row),
        }
    }

    /// Sets the source of symbols. With `is_ahead`, call sites are found ahead, and a query finds no
    /// others.
    pub(crate) fn set_symbols(&mut self, symbols: Arc<dyn Symbols>, is_ahead: bool) {
        Arc::make_mut(&mut self.trace.stacks).set_symbols(symbols, is_ahead);
    }

    /// Something of the file could not be read.
    pub(crate) fn set_damaged(&mut self) {
        self.trace.damaged = true;
    }

    /// Notes when something was lost.
    pub(crate) fn lose(&mut self, row: &LossRow, at: i64) {
        let thread = row.thread.map(|number| self.thread_of(number));
        self.trace.lost.push(Loss::new(thread, at, row));
    }

    fn range_row(&mut self, row: RangeRow) {
        let process = self.process(row.process);
        let thread = self.thread(row.thread, process);
        let message = self.trace.long_texts.whole(&row.name).cloned();
        let operation = range_message::operation(message.as_deref().unwrap_or(&row.name));
        let (name, message) = match operation {
            Some(name) => (name, Some(message.unwrap_or_else(|| row.name.into()))),
            None => (row.name, None),
        };
        self.trace.ranges.push(Range {
            thread,
            begin: row.begin_ns,
            end: row.end_ns.max(row.begin_ns),
            domain: row.domain,
            name,
            message,
        });
    }

    /// Sorts the rows that were applied since the last time and maps device times. The cost follows the
    /// new rows, apart from passes over everything; the number of these grows with the logarithm of the
    /// trace's size.
    pub(crate) fn settle(&mut self) {
        let ended = self.trace.end.is_some();
        self.lanes.settle(&mut self.trace);
        self.trace.operands.settle();
        self.times.settle(&mut self.trace);
        if ended {
            self.give_up_waiting();
        }
        let open = self.trace.open.iter();
        let open = open.map(|call| Some(call.range()));
        let span = TimeRange::around(open.chain([self.calls_span, self.times.span()]));
        self.trace.span = span.map(|span| self.trace.session.kept_span(span));
    }

    /// Maps device times by clocks that are known already.
    pub(crate) fn set_clocks(
        &mut self,
        clocks: impl Iterator<Item = ((ProcessId, u32), Arc<DeviceClockMap>)>,
        figures: Vec<DeviceClock>,
    ) {
        let clocks: Vec<_> = clocks.collect();
        let between = clocks.iter().filter_map(|(key, clock)| {
            let (records_ns, switch_ns) = clock.pairs.between()?;
            let between = TaskGap {
                records_ns,
                switch_ns,
            };
            Some((*key, between))
        });
        self.trace.between = between.collect();
        self.times.set_clocks(clocks.into_iter());
        self.trace.clocks = figures;
    }

    /// Figures of a recording that are known without reading its rows.
    pub(crate) fn set_figures(&mut self, losses: Losses, counters: Counters) {
        self.trace.losses = losses;
        self.trace.counters = counters;
    }

    /// Sets the numbers of the calls in the whole recording, whether earlier ones exist, and the time
    /// after which it continues.
    pub(crate) fn set_call_numbers(&mut self, numbers: Vec<u32>, beyond: (bool, Option<i64>)) {
        self.trace.call_numbers = Some(numbers);
        (self.trace.goes_back, self.trace.goes_on_after) = beyond;
    }

    /// The process with this number in the file.
    pub(crate) fn process_of(&mut self, number: u32) -> ProcessId {
        self.process(number)
    }

    /// The thread with this number in the file.
    pub(crate) fn thread_of(&mut self, number: u32) -> ThreadId {
        match self.threads.get(number) {
            Some(position) => ThreadId(position),
            None => {
                let process = self.only_process();
                self.thread(number, process)
            }
        }
    }

    /// The device of a stream that is known.
    pub(crate) fn device_of(&self, process: u32, serial: u32) -> Option<u32> {
        let process = self.processes.get(process)?;
        let serials = self.serials.get(process as usize)?.as_ref()?;
        let stream = serials.streams.get(serial)?;
        self.trace.streams.get(stream as usize).map(|it| it.device)
    }

    /// Serials of the events that were mentioned before their rows, in order.
    pub(crate) fn unknown_events(&self) -> Vec<u32> {
        let events = self.trace.events.iter();
        // An event that has a row has a handle.
        let unknown = events.filter(|event| event.handle == 0);
        let mut serials: Vec<u32> = unknown.map(|event| event.serial).collect();
        serials.sort_unstable();
        serials.dedup();
        serials
    }

    /// Whether an event has been mentioned.
    pub(crate) fn mentions(&self, process: u32, serial: u32) -> bool {
        let process = self.processes.get(process);
        let serials = process.and_then(|it| self.serials.get(it as usize)?.as_ref());
        serials.is_some_and(|it| it.events.get(serial).is_some())
    }

    /// The stream with this serial in a process of the file.
    pub(crate) fn stream_of(&mut self, process: u32, serial: u32, device: u32) -> StreamId {
        let process = self.process(process);
        self.stream(process, serial, device)
    }

    /// About the number of bytes of its calls and tasks, with the threads and streams that they name.
    pub(crate) fn rows_memory(&self) -> u64 {
        self.trace.rows_memory() + self.times.memory()
    }

    /// The trace as of the last [`Self::settle`].
    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Settles and hands the trace out.
    pub(crate) fn finish(mut self) -> Trace {
        self.settle();
        self.trace
    }

    /// A time that has not come by the end of the recording never will.
    fn give_up_waiting(&mut self) {
        for task in &mut self.trace.tasks {
            if task.time.is_none() && task.untimed == Untimed::Timed {
                task.untimed = Untimed::Lost;
            }
        }
    }

    fn process_row(&mut self, row: ProcessRow) {
        let id = self.process(row.process);
        let hosts = (0..).zip(&self.trace.session.hosts);
        let mut hosts = hosts.filter(|(_, host)| host.processes.contains(&row.process));
        let (clock, host) = hosts.next().unzip();
        self.trace.processes[id.index()] = Process {
            serial: row.process,
            pid: row.pid,
            parent_pid: row.parent_pid,
            outer_pid: row.outer_pid,
            begin_ns: row.begin_ns,
            // A process gets another row when its name changes.
            end_ns: self.trace.processes[id.index()].end_ns,
            name: row.name,
            rank: row.rank,
            command: row.command,
            host: host.map_or_else(String::new, |it| it.host.clone()),
            clock: clock.unwrap_or(0),
            clock_error: host.map_or(Some(0), |it| it.bar_ns),
        };
    }

    fn thread_row(&mut self, row: ThreadRow) {
        let process = self.process(row.process);
        let id = self.thread(row.thread, process);
        self.trace.threads[id.index()] = Thread {
            process,
            tid: row.tid,
            handle: row.handle,
            name: row.name,
        };
    }

    fn context_row(&mut self, row: &ContextRow) {
        let process = self.process(row.process);
        let id = self.context(process, row.serial);
        self.trace.contexts[id.index()] = Context {
            process,
            device: row.device,
            handle: row.handle,
            is_default: row.is_default,
        };
    }

    fn stream_row(&mut self, row: &StreamRow) {
        let process = self.process(row.process);
        let id = self.stream(process, row.serial, row.device);
        // Rows of several threads come in any order.
        let known = &self.trace.streams[id.index()];
        let manner = Manner::from_code(row.manner).max(known.manner);
        let acl_id = row.acl_id.or(known.acl_id);
        let has_ambiguous_serial = known.has_ambiguous_serial;
        self.trace.streams[id.index()] = Stream {
            process,
            serial: row.serial,
            context: Some(self.context(process, row.context)),
            device: row.device,
            handle: row.handle,
            acl_id,
            has_ambiguous_serial,
            flags: row.flags,
            priority: row.priority,
            is_default: row.is_default,
            manner: manner.filter(|manner| *manner != Manner::Events),
        };
        self.number_stream(id);
    }

    fn event_row(&mut self, row: &EventRow) {
        let process = self.process(row.process);
        let id = self.event(process, row.serial);
        self.trace.events[id.index()] = Event {
            process,
            serial: row.serial,
            handle: row.handle,
            flags: row.flags,
            creation: row.creation,
        };
    }

    fn task_time_row(&mut self, row: TaskTimeRow) {
        let process = self.process(row.process);
        let stream = self.stream(process, row.stream, 0);
        self.times.push_time(stream, row);
    }

    /// Takes a time in, of a task that has been applied.
    pub(crate) fn apply_time(&mut self, task: TaskId, row: &TaskTimeRow) {
        self.times.accept(&mut self.trace, task, row);
    }

    /// Takes a call in, of which the room for its arguments is left.
    pub(crate) fn apply_call(&mut self, row: &mut CallRow) {
        let thread = self.thread_of(row.thread);
        let process = self.trace.thread(thread).process;
        let device = row.device.map_or(0, u32::from);
        let stream = match (row.stream, row.task) {
            (Some(serial), _) => Some(self.stream(process, serial, device)),
            (None, Some(_)) => Some(self.stream(process, NO_STREAM, device)),
            (None, None) => None,
        };
        let id = CallId(self.trace.calls.len() as u32);
        let context = row.context.map(|serial| self.context(process, serial));
        let call = Call {
            thread,
            function: self.function(row.function),
            begin: row.begin_ns,
            end: row.end_ns.max(row.begin_ns),
            ret: row.ret,
            depth: row.depth,
            device: row.device,
            context,
            stream,
            event: row.event.map(|(serial, number)| Generation {
                event: self.event(process, serial),
                number,
            }),
            task: match (row.task, stream) {
                (Some(task), Some(stream)) => Some(self.task(id, stream, task)),
                _ => None,
            },
            graph: row.graph,
            ending: row.ending,
            stack: row.stack.and_then(StackId::new),
            cpu: row.cpu,
            args: append(&mut self.trace.words, &mut row.args),
            strings: append(&mut self.trace.texts, &mut row.strings),
        };
        self.calls_span = TimeRange::grown(self.calls_span, call.range());
        self.trace.calls.push(call);
        if let Some(numbering) = &mut self.trace.numbering {
            numbering.count_call();
        }
        self.trace.thread_calls[thread.index()].push(id);
        self.trace.note_operands(process, id);
    }

    fn task(&mut self, call: CallId, stream: StreamId, row: TaskRow) -> TaskId {
        let id = TaskId(self.trace.tasks.len() as u32);
        self.trace.tasks.push(Task {
            stream,
            sequence: row.sequence,
            kind: TaskKind::from_code(row.kind).unwrap_or(TaskKind::Other),
            call,
            time: None,
            untimed: Untimed::from_code(row.untimed).unwrap_or(Untimed::Unreadable),
        });
        if let Some(numbering) = &mut self.trace.numbering {
            numbering.count_task();
        }
        self.trace.stream_tasks[stream.index()].push(id);
        id
    }

    fn function(&mut self, number: u16) -> FunctionId {
        while self.trace.functions.len() <= usize::from(number) {
            let next = self.trace.functions.len() as u16;
            self.trace.functions.push(tables::unknown_function(next));
        }
        FunctionId(u32::from(number))
    }
}

/// The things that rows mention: found, or made without their details.
impl TraceBuilder {
    fn process(&mut self, number: u32) -> ProcessId {
        if let Some(position) = self.processes.get(number) {
            return ProcessId(position);
        }
        let id = ProcessId(self.trace.processes.len() as u32);
        self.processes.insert(number, id.0);
        self.serials.push(None);
        self.trace.processes.push(Process {
            serial: number,
            ..Process::default()
        });
        id
    }

    /// The process of a thread with a lost row: the first one is the best guess.
    fn only_process(&mut self) -> ProcessId {
        if self.trace.processes.is_empty() {
            return self.process(0);
        }
        ProcessId(0)
    }

    fn thread(&mut self, number: u32, process: ProcessId) -> ThreadId {
        if let Some(position) = self.threads.get(number) {
            return ThreadId(position);
        }
        let id = ThreadId(self.trace.threads.len() as u32);
        self.threads.insert(number, id.0);
        self.trace.thread_calls.push(Vec::new());
        self.trace.threads.push(Thread {
            process,
            ..Thread::default()
        });
        id
    }

    fn context(&mut self, process: ProcessId, serial: u32) -> ContextId {
        let known = &mut self.serials[process.index()]
            .get_or_insert_default()
            .contexts;
        if let Some(position) = known.get(serial) {
            return ContextId(position);
        }
        let id = ContextId(self.trace.contexts.len() as u32);
        known.insert(serial, id.0);
        self.trace.contexts.push(Context {
            process,
            ..Context::default()
        });
        id
    }

    fn stream(&mut self, process: ProcessId, serial: u32, device: u32) -> StreamId {
        let known = &mut self.serials[process.index()]
            .get_or_insert_default()
            .streams;
        if let Some(position) = known.get(serial) {
            return StreamId(position);
        }
        let id = StreamId(self.trace.streams.len() as u32);
        known.insert(serial, id.0);
        self.trace.stream_tasks.push(Vec::new());
        self.trace.stream_lanes.push((id, 1));
        self.trace.streams.push(Stream {
            process,
            serial,
            device,
            ..Stream::default()
        });
        id
    }

    fn event(&mut self, process: ProcessId, serial: u32) -> EventId {
        let known = &mut self.serials[process.index()].get_or_insert_default().events;
        if let Some(position) = known.get(serial) {
            return EventId(position);
        }
        let id = EventId(self.trace.events.len() as u32);
        known.insert(serial, id.0);
        self.trace.events.push(Event {
            process,
            serial,
            ..Event::default()
        });
        id
    }
}

fn append<T>(all: &mut Vec<T>, some: &mut Vec<T>) -> (u32, u8) {
    let begin = all.len() as u32;
    some.truncate(usize::from(u8::MAX));
    let count = some.len();
    all.append(some);
    (begin, count as u8)
}
