//! The contents of a trace: processes, threads, streams, events, calls, tasks and ranges, and their
//! names.

use std::sync::Arc;

use ascend_trace_format::api::{
    ArgKind, ArgPart, Blocks, Fact, FactSet, RetKind, Role, TaskKind, Untimed, part_in,
};
use ascend_trace_format::range::RangeKind;
use ascend_trace_format::record::{CpuTime, Manner};
use ascend_trace_format::time::HostNs;

use crate::TimeRange;
use crate::range_message;
use crate::rows::{Ending, GraphRef};
use crate::stacks::StackId;

/// Declares an index into one of the trace's tables.
macro_rules! index_type {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the table.
            pub fn index(self) -> usize { self.0 as usize }
        }
    )+};
}

index_type! {
    FunctionId, ProcessId, ThreadId, ContextId, StreamId, EventId, CallId, TaskId,
}

/// A function of the hook table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub category: String,
    pub role: Role,
    pub task: Option<TaskKind>,
    pub blocks: Blocks,
    pub ret: RetKind,
    /// Positions of the stream, event and byte-count arguments.
    pub stream: Option<u8>,
    pub event: Option<u8>,
    pub bytes: Option<u8>,
    /// Position of the argument that names the task.
    pub label: Option<u8>,
    /// Positions of further arguments.
    pub parts: Vec<(ArgPart, u8)>,
    pub facts: FactSet,
    pub args: Vec<Argument>,
}

impl Function {
    /// Position of the argument that is this part.
    pub fn part(&self, part: ArgPart) -> Option<usize> {
        part_in(&self.parts, part).map(usize::from)
    }

    pub fn is(&self, fact: Fact) -> bool {
        self.facts.has(fact)
    }
}

/// One argument of a [`Function`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    pub kind: ArgKind,
    pub out: bool,
    pub enumeration: String,
    /// It is a tensor, or a list of tensors, that the operator writes.
    pub is_written: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Number of the process in the recording, by which tables and documents name it: a pid can stand
    /// for several, in namespaces, after `exec`, and when it is used again.
    pub serial: u32,
    pub pid: u32,
    pub parent_pid: u32,
    /// The pid where the recorder ran, if that was in another pid namespace; else 0.
    pub outer_pid: u32,
    pub begin_ns: i64,
    /// When it had ended; `None` if it outlived the recording, or was not seen to end.
    pub end_ns: Option<i64>,
    pub name: String,
    pub rank: String,
    /// The words that it was started with, with a NUL between two; see [`Process::command`].
    pub command: String,
    /// Where it ran, in a file that was made of several recordings; else empty.
    pub host: String,
    /// Processes with the same number have one clock.
    pub clock: u32,
    /// By how much its times may be off against those of clock 0; `None` where that is not known.
    pub clock_error: Option<i64>,
}

impl Process {
    /// The words that it was started with.
    pub fn command(&self) -> impl Iterator<Item = &str> {
        let words = self.command.split('\0');
        words.take(match self.command.is_empty() {
            true => 0,
            false => usize::MAX,
        })
    }
}

impl Process {
    /// Whether it is an interpreter of Python.
    pub fn is_python(&self) -> bool {
        let program = self.command().next().unwrap_or(&self.name);
        let file = program.rsplit('/').next().unwrap_or(program);
        ["python", "pypy"].iter().any(|it| file.starts_with(it))
    }

    /// The word for time in which its host did nothing that the tool knows.
    pub fn host_word(&self) -> &'static str {
        match self.is_python() {
            true => "python",
            false => "program",
        }
    }

    /// The rank as a number; `None` where none is known.
    pub fn rank_number(&self) -> Option<u64> {
        self.rank.trim().parse().ok()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    pub process: ProcessId,
    pub tid: u32,
    /// What `pthread_self` returns in it; 0 where that is not known.
    pub handle: u64,
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    pub process: ProcessId,
    pub device: u32,
    pub handle: u64,
    pub is_default: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    pub process: ProcessId,
    pub serial: u32,
    pub context: Option<ContextId>,
    pub device: u32,
    pub handle: u64,
    /// The result of `aclrtStreamGetId`.
    pub acl_id: Option<i32>,
    /// Its serial is the id of another stream of the process on the device.
    pub has_ambiguous_serial: bool,
    pub flags: u32,
    pub priority: u32,
    pub is_default: bool,
    /// How `--timing auto` came to time its tasks: the way that takes the fewest events of those that it chose. `None`
    /// where it stayed with two events for each, or was not asked for.
    pub manner: Option<Manner>,
}

impl Stream {
    /// The number by which the stream is shown: the runtime's id, else its order of creation. Where another stream has
    /// that number, it is a number that no stream has.
    pub fn number(&self) -> i64 {
        match self.acl_id {
            Some(id) => i64::from(id),
            None if self.has_ambiguous_serial => AMBIGUOUS + i64::from(self.serial),
            None => i64::from(self.serial),
        }
    }
}

/// A stream without a known id has this plus its serial as its number, if another stream has that number.
const AMBIGUOUS: i64 = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub process: ProcessId,
    pub serial: u32,
    pub handle: u64,
    pub flags: u32,
    /// 0: `aclrtCreateEvent`; 1: `…WithFlag`; 2: `…ExWithFlag`.
    pub creation: u8,
}

/// One recording of an event. Waits name the recording they are bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation {
    pub event: EventId,
    /// Counts from 1; 0 is an event that has not been recorded.
    pub number: u32,
}

/// A call that returned. Times are `CLOCK_MONOTONIC` nanoseconds of the recording host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub thread: ThreadId,
    pub function: FunctionId,
    pub begin: i64,
    pub end: i64,
    pub ret: i64,
    /// 0 for the program's own calls; more for calls that the runtime's libraries made inside one.
    pub depth: u8,
    pub device: Option<u8>,
    /// The context that a call on a stream, or on a whole context, worked in.
    pub context: Option<ContextId>,
    pub stream: Option<StreamId>,
    pub event: Option<Generation>,
    pub task: Option<TaskId>,
    /// The graph that it captured into, replayed or otherwise worked on.
    pub graph: Option<GraphRef>,
    /// A call that did not return has no return value: its `ret` is 0 and means nothing.
    pub ending: Ending,
    /// The stack that it was made with, see [`Trace::call_site`](crate::Trace::call_site).
    pub stack: Option<StackId>,
    /// Processor time of the thread until it began, if it had paused for long.
    pub cpu: Option<CpuTime>,
    pub(crate) args: (u32, u8),
    pub(crate) strings: (u32, u8),
}

impl Call {
    /// Its return value, if it returned.
    pub fn result(&self) -> Option<i64> {
        self.ending.is_return().then_some(self.ret)
    }

    pub const fn range(&self) -> TimeRange {
        TimeRange::new(self.begin, self.end)
    }
}

/// An open part of a bar is small if it is less than this part of it.
const SMALL_PART: i64 = 64;
/// Nanoseconds.
const FEW_TICKS: i64 = 64;

/// When a task ran, on the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskTime {
    pub begin: i64,
    pub end: i64,
    /// The true times lie no further from these than this.
    pub error: i64,
    /// The same without the error of the host's clock: the error of the task relative to other tasks of
    /// its device.
    pub local_error: i64,
    /// By how much its duration may be shorter, and by how much it may be longer. The largest number means that this is
    /// not known.
    pub shorter: u32,
    pub longer: u32,
    /// The part of both by which the mean of many tasks is not off: it differs from task to task, in both directions.
    pub noise: u32,
}

impl TaskTime {
    pub const fn range(&self) -> TimeRange {
        TimeRange::new(self.begin, self.end)
    }

    pub const fn duration(&self) -> i64 {
        self.end.saturating_sub(self.begin)
    }

    /// The shortest and the longest duration that it may have had.
    pub fn durations(&self) -> (i64, i64) {
        let length = self.duration();
        let least = match self.shorter {
            u32::MAX => 0,
            shorter => (length - i64::from(shorter)).max(0),
        };
        let most = match self.longer {
            u32::MAX => length.saturating_add(self.local_error.saturating_mul(2)),
            longer => length.saturating_add(longer.into()),
        };
        (least, most)
    }

    /// The same, as far as the mean of many such tasks may be off.
    pub fn durations_in_mean(&self) -> (i64, i64) {
        let own = |open: u32| match open {
            u32::MAX => open,
            open => open.saturating_sub(self.noise),
        };
        let narrowed = Self {
            shorter: own(self.shorter),
            longer: own(self.longer),
            ..*self
        };
        narrowed.durations()
    }

    /// Whether its end is open: it may have ended as soon as it began.
    pub fn is_end_open(&self) -> bool {
        self.durations().0 == 0
    }

    /// The part of its bar in which it may not have run. It may have begun at any time of this part; if this is all of the
    /// bar, it may also have ended there. It is empty if it would be a small part of the bar, or a few ticks.
    pub fn open_part(&self) -> TimeRange {
        let length = self.duration().max(0);
        let open = length - self.durations().0.min(length);
        let open = match open > (length / SMALL_PART).max(FEW_TICKS) {
            true => open,
            false => 0,
        };
        TimeRange::new(self.begin, self.begin.saturating_add(open))
    }
}

/// Tasks of a stream that follow each other and were timed as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRun {
    pub tasks: u32,
    /// From the begin of the first task to the end of the last one.
    pub time: TaskTime,
    /// For how long the tasks ran, without the time of the device between them.
    pub total: i64,
    /// Limits of this time.
    pub least: i64,
    pub most: i64,
}

/// A time of another clock on the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTime {
    pub at: HostNs,
    /// The true time lies no further from it than this.
    pub error_ns: i64,
}

/// Work that a call put on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    pub stream: StreamId,
    /// Position among the tasks submitted to its stream; see [`crate::Trace::runs`].
    pub sequence: u32,
    pub kind: TaskKind,
    pub call: CallId,
    /// `None` while it is not known, and for good when `untimed` says why.
    pub time: Option<TaskTime>,
    pub untimed: Untimed,
}

/// Where a task without a time probably ran. An analysis makes it from the usual duration of such tasks, so it is no
/// measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    pub range: TimeRange,
    /// The task ran no earlier and no later than its range by more than this, if it took its usual time.
    pub error: i64,
}

/// How well a device's clock is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceClock {
    /// Position in the table of processes: each reads a device's clock for itself.
    pub process: u32,
    pub device: u32,
    pub anchors: u32,
    /// Median and largest half width of the anchors' bands, nanoseconds.
    pub median_error_ns: i64,
    pub max_error_ns: i64,
    /// Readings that the driver gave, on no stream, and the median half width of their bands. They are not among the
    /// `anchors`.
    pub driver_anchors: u32,
    pub driver_median_error_ns: i64,
    /// They contradict the events, so they were left out: the driver reported another clock.
    pub driver_disagrees: bool,
    /// Device clock rate over host clock rate, minus 1, in parts per million; `None` while too little is
    /// known for one.
    pub drift_ppm: Option<f64>,
    /// The comparisons prove a rate beyond the 200 ppm that are assumed where they prove none: the device
    /// has a poor clock, or one that the host's does not keep up with.
    pub is_unusual: bool,
    /// How often the clock was found to have stepped against the host's.
    pub steps: u64,
    /// Comparisons that contradicted all others around them and were left out.
    pub mistakes: u64,
}

/// A range of a thread's time that the program named; a mark begins and ends at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The thread that began it.
    pub thread: ThreadId,
    pub begin: i64,
    pub end: i64,
    /// 0 for the default domain.
    pub domain: u64,
    pub name: String,
    /// The message that has its name and its arguments, where the name is not all of it.
    pub message: Option<Arc<str>>,
}

impl Range {
    /// The arguments of its message, sorted by name.
    pub fn arguments(&self) -> Vec<(String, String)> {
        let message = self.message.as_deref();
        message.map_or_else(Vec::new, range_message::arguments)
    }

    /// Its kind, if it comes from the hook inside a Python program.
    pub fn kind(&self) -> Option<RangeKind> {
        RangeKind::of_domain(self.domain)
    }

    /// When it was.
    pub const fn time(&self) -> TimeRange {
        TimeRange::new(self.begin, self.end)
    }
}

/// Records that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    pub calls: u64,
    pub others: u64,
}
