//! A trace in memory. Things are kept in the order they arrived and named by index, so an index
//! stays valid while a recording grows; each lane has its own time-ordered list of indices.

use std::collections::BTreeMap;
use std::sync::Arc;

use ascend_trace_format::api::Untimed;
use ascend_trace_format::record::{Counter, Manner};
use ascend_trace_format::time::DeviceNs;
use rustc_hash::FxHashMap;

use crate::TimeRange;
use crate::cost::Costs;
use crate::counters::Counters;
use crate::load::LoadNumbering;
use crate::long_texts::LongTexts;
use crate::loss::{Loss, LossSeries};
use crate::names::Names;
use crate::operands::Operands;
use crate::rows::{CoverageRow, ObjectRow, Row, SessionRow};
use crate::stacks::{CallSite, StackId, Stacks};

pub use crate::entities::*;

/// Flag in the place of a running call's arguments.
pub(crate) const OPEN_WORDS: u32 = 1 << 31;

/// A whole trace, or its part that has been read.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub(crate) session: SessionRow,
    pub(crate) functions: Vec<Function>,
    pub(crate) enumerations: BTreeMap<String, BTreeMap<i64, String>>,
    pub(crate) processes: Vec<Process>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) contexts: Vec<Context>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) events: Vec<Event>,
    pub(crate) calls: Vec<Call>,
    /// Of a part of a recording: the number of each call in the whole.
    pub(crate) call_numbers: Option<Vec<u32>>,
    /// The recording goes back beyond it.
    pub(crate) goes_back: bool,
    minds_past: bool,
    /// The recording continues after this time, up to which it is known.
    pub(crate) goes_on_after: Option<i64>,
    pub(crate) tasks: Vec<Task>,
    /// Of the first task of each run that has a time.
    pub(crate) runs: FxHashMap<TaskId, TaskRun>,
    /// Of tasks without a time, where an analysis has found one.
    placements: FxHashMap<TaskId, Placement>,
    pub(crate) words: Vec<u64>,
    /// Calls that are under way, by thread and depth, and their arguments.
    pub(crate) open: Vec<Call>,
    pub(crate) open_words: Vec<u64>,
    pub(crate) texts: Vec<Option<Arc<str>>>,
    pub(crate) thread_calls: Vec<Vec<CallId>>,
    pub(crate) stream_tasks: Vec<Vec<TaskId>>,
    pub(crate) clocks: Vec<DeviceClock>,
    /// Of devices with tasks that only have times of the hardware log.
    pub(crate) log_clocks: BTreeMap<(ProcessId, u32), Arc<crate::clock::DeviceClockMap>>,
    /// By process and device, where events time the tasks.
    pub(crate) between: BTreeMap<(ProcessId, u32), TaskGap>,
    pub(crate) losses: Losses,
    pub(crate) lost: LossSeries,
    pub(crate) counters: Counters,
    /// Shared by all windows of a recording.
    pub(crate) names: Arc<Names>,
    pub(crate) stacks: Arc<Stacks>,
    pub(crate) long_texts: Arc<LongTexts>,
    /// For each stream, the first stream with its number, and which of the streams with that number it is.
    pub(crate) stream_lanes: Vec<(StreamId, u32)>,
    pub(crate) operands: Operands,
    pub(crate) ranges: Vec<Range>,
    pub(crate) entries: crate::entries::LogEntries,
    /// Rows of kinds that nothing else is made of.
    pub(crate) kept: Vec<Row>,
    pub(crate) costs: Costs,
    /// Set in a trace that forgets.
    pub(crate) numbering: Option<LoadNumbering>,
    /// Set once the recording has ended properly.
    pub(crate) end: Option<(i64, i32)>,
    /// Why the recording ended before the program; else empty.
    pub(crate) end_reason: String,
    /// Something of the file could not be read.
    pub(crate) damaged: bool,
    pub(crate) span: Option<TimeRange>,
}

/// Answers `table[id]` for the id of a thing.
macro_rules! lookup {
    ($($(#[$meta:meta])* $one:ident, $all:ident: $id:ty => $item:ty;)+) => {$(
        $(#[$meta])*
        ///
        /// # Panics
        /// When the id comes from another trace.
        pub fn $one(&self, id: $id) -> &$item { &self.$all[id.index()] }

        /// The whole table, in the order of the ids.
        pub fn $all(&self) -> &[$item] { &self.$all }
    )+};
}

/// The time of a device between two tasks of a stream, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskGap {
    /// The event records of the tool between them take no longer than this.
    pub records_ns: i64,
    /// The usual time of the device from one task to the next.
    pub switch_ns: i64,
}

impl Trace {
    lookup! {
        /// The function with this id.
        function, functions: FunctionId => Function;
        /// The process with this id.
        process, processes: ProcessId => Process;
        /// The thread with this id.
        thread, threads: ThreadId => Thread;
        /// The context with this id.
        context, contexts: ContextId => Context;
        /// The stream with this id.
        stream, streams: StreamId => Stream;
        /// The event with this id.
        event, events: EventId => Event;
        /// The call with this id.
        call, calls: CallId => Call;
        /// The task with this id.
        task, tasks: TaskId => Task;
    }

    pub fn session(&self) -> &SessionRow {
        &self.session
    }

    /// How the tasks of a stream were timed: as asked for, or as `auto` came to do it.
    pub fn timing_of(&self, stream: StreamId) -> &str {
        match self.stream(stream).manner {
            Some(manner) => manner.name(),
            None if self.session.timing == "auto" => Manner::Events.name(),
            None => &self.session.timing,
        }
    }

    /// Whether this is a range of a recording that goes on after it.
    pub fn has_future(&self) -> bool {
        self.goes_on_after.is_some()
    }

    /// Whether everything up to a time is known, as far as it was recorded.
    pub fn reaches(&self, moment: i64) -> bool {
        self.goes_on_after.is_none_or(|last| moment <= last)
    }

    /// About the number of bytes of the calls and tasks, with the threads, streams and events that they
    /// name.
    pub(crate) fn rows_memory(&self) -> u64 {
        /// With its name, and its details.
        const LANE: usize = 200;
        let bytes = [
            (self.threads.len() + self.streams.len()) * LANE,
            self.events.len() * 2 * size_of::<Event>(),
            // Tables have room for twice as many.
            2 * self.calls.len() * (size_of::<Call>() + size_of::<CallId>()),
            2 * self.tasks.len() * (size_of::<Task>() + size_of::<TaskId>()),
            2 * self.words.len() * size_of::<u64>(),
            2 * self.texts.len() * size_of::<Option<Arc<str>>>(),
        ];
        bytes.into_iter().sum::<usize>() as u64 + self.entries.memory()
    }

    /// Whether things that are missing in this range of a recording count as earlier than it.
    pub fn has_past(&self) -> bool {
        self.minds_past && self.goes_back
    }

    /// From now on, things that are missing in the range count as earlier, if the recording has an
    /// earlier part: for a range with wide surroundings.
    pub fn mind_past(&mut self) {
        self.minds_past = true;
    }

    /// The number of a call in the whole recording, of which this trace may be a part.
    pub fn call_number(&self, id: CallId) -> u32 {
        if let Some(numbering) = &self.numbering {
            return numbering.call(id);
        }
        let numbers = self.call_numbers.as_ref();
        let number = numbers.and_then(|it| it.get(id.index())).copied();
        number.unwrap_or(id.0)
    }

    /// The number of a task in the whole recording, where that is known.
    pub fn task_number(&self, id: TaskId) -> u32 {
        let numbering = self.numbering.as_ref();
        numbering.map_or(id.0, |numbering| numbering.task(id))
    }

    /// The calls of a thread by begin time; children follow the call they were made in.
    pub fn thread_calls(&self, thread: ThreadId) -> &[CallId] {
        self.thread_calls
            .get(thread.index())
            .map_or(&[], Vec::as_slice)
    }

    /// The tasks of a stream in the order of submission, which is the order of execution.
    pub fn stream_tasks(&self, stream: StreamId) -> &[TaskId] {
        self.stream_tasks
            .get(stream.index())
            .map_or(&[], Vec::as_slice)
    }

    /// The run that begins with a task; `None` if none does, or its time is not known. Its tasks follow each other on the stream.
    pub fn run(&self, first: TaskId) -> Option<TaskRun> {
        match self.runs.is_empty() {
            true => None,
            false => self.runs.get(&first).copied(),
        }
    }

    /// The probable time of a task without a measured one; `None` without a placement.
    pub fn placement(&self, task: TaskId) -> Option<Placement> {
        self.placements.get(&task).copied()
    }

    /// Replaces the probable times of tasks.
    pub fn place(&mut self, tasks: impl IntoIterator<Item = (TaskId, Placement)>) {
        self.placements = tasks.into_iter().collect();
    }

    /// Whether submitting a task gave its stream something to run. A task that is captured, is added to
    /// a stream of a model that is built by hand, or updates a captured task does not: it has the
    /// sequence of the next task that does.
    pub fn runs(&self, task: &Task) -> bool {
        match task.untimed {
            Untimed::Captured => false,
            Untimed::Bound => self.call(task.call).graph.is_none(),
            _ => true,
        }
    }

    /// Calls of a growing recording that had not returned at the last look, which is their end. They
    /// are not among [`Trace::calls`]. By thread, outermost first. Where a recording ended early, they
    /// become ordinary calls.
    pub fn open_calls(&self) -> &[Call] {
        &self.open
    }

    /// The argument words of a call, in the order of its function's arguments.
    pub fn args(&self, call: &Call) -> &[u64] {
        let begin = (call.args.0 & !OPEN_WORDS) as usize;
        let words = match call.args.0 & OPEN_WORDS {
            0 => &self.words,
            _ => &self.open_words,
        };
        words
            .get(begin..begin + usize::from(call.args.1))
            .unwrap_or(&[])
    }

    /// The strings among a call's arguments: one entry per argument of kind `string`.
    pub fn strings(&self, call: &Call) -> &[Option<Arc<str>>] {
        let begin = call.strings.0 as usize;
        self.texts
            .get(begin..begin + usize::from(call.strings.1))
            .unwrap_or(&[])
    }

    /// The constant of an enumeration that has this value.
    pub fn constant(&self, enumeration: &str, value: i64) -> Option<&str> {
        self.enumerations
            .get(enumeration)?
            .get(&value)
            .map(String::as_str)
    }

    /// The name of a return code.
    pub fn error_name(&self, code: i64) -> Option<&str> {
        self.constant("aclError", code)
    }

    /// The displayed name of a task: that of the launched operation, else of the function that
    /// submitted it.
    pub fn task_name(&self, task: &Task) -> &str {
        let call = self.call(task.call);
        let label = self.label(call).filter(|label| !label.is_empty());
        label.unwrap_or(&self.function(call.function).name)
    }

    /// The text of an argument of a call.
    pub fn text(&self, call: &Call, position: usize) -> Option<&str> {
        let args = &self.function(call.function).args;
        if !args.get(position)?.kind.is_text() {
            return None;
        }
        let before = args.iter().take(position);
        let index = before.filter(|arg| arg.kind.is_text()).count();
        self.strings(call).get(index)?.as_deref()
    }

    /// The object of a call, by the argument that names it: a kernel, an operator, a model.
    pub fn label(&self, call: &Call) -> Option<&str> {
        let function = self.function(call.function);
        let position = usize::from(function.label?);
        if function.args.get(position)?.kind.is_text() {
            return self.text(call, position);
        }
        let key = *self.args(call).get(position)?;
        self.name_of(self.thread(call.thread).process, key, call.begin)
    }

    /// Where the program made a call, if its stack was recorded.
    pub fn call_site(&self, call: &Call) -> Option<Arc<CallSite>> {
        self.site_of(self.shown_stack(call)?)
    }

    /// The stack that shows where the program asked for a call. It is the call's own; or that of the call that planned
    /// its operator, if that runs Python, and the call's own thread does not.
    pub fn shown_stack(&self, call: &Call) -> Option<StackId> {
        let own = call.stack?;
        if !self.stacks.has_codes() || self.stacks.has_python(own) {
            return Some(own);
        }
        let planned = self.planned(call).and_then(|id| self.call(id).stack);
        let planned = planned.filter(|stack| self.stacks.has_python(*stack));
        Some(planned.unwrap_or(own))
    }

    /// The frames of a stack.
    pub fn site_of(&self, stack: StackId) -> Option<Arc<CallSite>> {
        self.stacks.site(stack, |number| self.pid_of(number))
    }

    pub(crate) fn find_call_sites(&self) {
        self.stacks.find_ahead(|number| self.pid_of(number));
    }

    fn pid_of(&self, number: u32) -> Option<u32> {
        let process = self.process_numbered(number)?;
        Some(self.process(process).pid)
    }

    /// The processes by rank; those without a rank come after them, in the order of the recording.
    pub fn processes_by_rank(&self) -> Vec<ProcessId> {
        let mut all: Vec<ProcessId> = (0..self.processes.len() as u32).map(ProcessId).collect();
        all.sort_by_key(|id| self.process(*id).rank_number().unwrap_or(u64::MAX));
        all
    }

    /// The lane of a stream: the first stream that has its number on its device in its process. The runtime gives the number
    /// of a stream that has ended to a new one, so one lane shows the lives of many streams, one after another.
    pub fn lane_of(&self, id: StreamId) -> StreamId {
        self.stream_lanes.get(id.index()).map_or(id, |lane| lane.0)
    }

    /// Which of the streams of its lane a stream is, from 1.
    pub fn life_of(&self, id: StreamId) -> u32 {
        self.stream_lanes.get(id.index()).map_or(1, |lane| lane.1)
    }

    /// The whole text of a short form. `None` if the name has no short form, or if its text was lost.
    pub fn whole_text(&self, name: &str) -> Option<&str> {
        self.long_texts.whole(name).map(AsRef::as_ref)
    }

    /// The texts that have short forms, by their hashes.
    pub fn long_texts(&self) -> impl Iterator<Item = (u64, &str)> {
        self.long_texts.iter()
    }

    /// The objects of frames of stacks.
    pub fn objects(&self) -> impl Iterator<Item = &ObjectRow> {
        self.stacks.objects()
    }

    /// A time of the hardware's log on the host's clock. `None` where tasks have times of events, or too little is known
    /// of the clock.
    pub fn log_on_host(&self, process: ProcessId, device: u32, at: DeviceNs) -> Option<HostTime> {
        let mapped = self.log_clocks.get(&(process, device))?.map(at)?;
        Some(HostTime {
            at: mapped.host,
            error_ns: mapped.error,
        })
    }

    /// The process with this number in the file.
    pub fn process_numbered(&self, number: u32) -> Option<ProcessId> {
        let mut numbered = (0..).map(ProcessId).zip(&self.processes);
        numbered
            .find(|(_, process)| process.serial == number)
            .map(|(id, _)| id)
    }

    /// The program's name of a handle or a number at a time.
    pub fn name_of(&self, process: ProcessId, key: u64, at: i64) -> Option<&str> {
        self.names.get(process, key, at)
    }

    /// Ranges and marks that the program named, in no particular order.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// The domain of a range, if it has one with a name.
    pub fn domain(&self, range: &Range) -> Option<&str> {
        if let Some(kind) = range.kind() {
            return Some(kind.name());
        }
        let process = self.thread(range.thread).process;
        let domain = Some(range.domain).filter(|domain| *domain != 0)?;
        self.name_of(process, domain, range.begin)
    }

    /// Functions of AscendCL and how they were caught, once the recording has ended.
    pub fn coverage(&self) -> impl Iterator<Item = &CoverageRow> {
        self.rows()
    }

    /// The rows of a kind that is stored without a change: [`CoverageRow`]s, and other kinds without a
    /// derived form in the trace.
    pub fn rows<'t, T: 't>(&'t self) -> impl Iterator<Item = &'t T>
    where
        &'t T: TryFrom<&'t Row>,
    {
        self.kept.iter().filter_map(|row| row.try_into().ok())
    }

    /// Bytes that a call moves, when its function says so.
    pub fn bytes(&self, call: &Call) -> Option<u64> {
        let position = self.function(call.function).bytes?;
        self.args(call).get(usize::from(position)).copied()
    }

    /// Begin and end of everything in the trace; `None` when it is empty.
    pub fn span(&self) -> Option<TimeRange> {
        self.span
    }

    pub fn clocks(&self) -> &[DeviceClock] {
        &self.clocks
    }

    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// When a task kept anyone busy: its own time, or that of its call when it has none.
    pub fn extent(&self, task: &Task) -> TimeRange {
        let time = task.time.map(|time| time.range());
        time.unwrap_or_else(|| self.call(task.call).range())
    }

    /// The losses, thread by thread, in the order in which the recorder noticed them.
    pub fn lost(&self) -> &[Loss] {
        self.lost.all()
    }

    /// A counter of the tool, summed over all processes.
    pub fn counter(&self, what: u16) -> u64 {
        self.counters
            .iter()
            .filter(|((_, code), _)| *code == what)
            .map(|(_, value)| value)
            .sum()
    }

    /// Calls that the filters of the recording left out, as far as they were counted.
    pub fn filtered_calls(&self) -> u64 {
        self.counter(Counter::FilteredCalls as u16)
    }

    /// Whether filters may have left calls out.
    pub fn is_filtered(&self) -> bool {
        !self.session.filters.is_empty()
    }

    /// The time of a stream's device between two tasks; `None` where nothing is known of it.
    pub fn between(&self, stream: StreamId) -> Option<TaskGap> {
        let stream = self.stream(stream);
        let key = (stream.process, stream.device);
        self.between.get(&key).copied()
    }

    /// Sets that time for all streams of a device.
    pub fn set_between(&mut self, process: ProcessId, device: u32, between: TaskGap) {
        self.between.insert((process, device), between);
    }

    /// Tracer overhead of the program, thread by thread.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// When the recording ended and with which status, once it has ended properly.
    pub fn end(&self) -> Option<(i64, i32)> {
        self.end
    }

    /// Why the recording ended before the program, if it did.
    pub fn end_reason(&self) -> Option<&str> {
        Some(&*self.end_reason).filter(|it| !it.is_empty())
    }

    /// The status with which the program ended, once it has. A snapshot ended before its program.
    pub fn exit_status(&self) -> Option<i32> {
        let is_early = self.session.snapshot().is_some() || self.end_reason().is_some();
        let status = self.end.map(|(_, status)| status);
        status.filter(|_| !is_early)
    }

    /// Whether something of the file could not be read, as far as it has been read.
    pub fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Whether the recording ended properly, nothing of the file is damaged, and nothing was lost.
    pub fn is_complete(&self) -> bool {
        let losses = self.losses();
        self.end.is_some() && !self.damaged && losses.calls == 0 && losses.others == 0
    }
}
