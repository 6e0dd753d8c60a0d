//! What a trace file stores: one row type per thing that the collector learns.
//!
//! Handles are the traced program's own pointers and may be reused, so things are named by
//! *serials*: numbers that are never reused within their process. All host times are nanoseconds
//! of the recording host's `CLOCK_MONOTONIC`; device times are nanoseconds of the device's clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use ascend_trace_format::record::Passed;
use ascend_trace_format::{coded_enum, passed_on};
use serde::{Deserialize, Serialize};

/// How and where the trace was recorded: the first chunk of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionRow {
    /// Version of the tool that recorded.
    pub tool_version: String,
    /// The command that was run, word by word.
    pub command: Vec<String>,
    pub host: String,
    /// Architecture of the recording host, as in `std::env::consts::ARCH`.
    pub architecture: String,
    /// `events` or `off`.
    pub timing: String,
    /// `installed` or `softacl`.
    pub runtime: String,
    /// Wall-clock time of `start_ns`, RFC 3339 with the host's offset.
    pub start_time: String,
    /// `CLOCK_MONOTONIC` at the start of the recording.
    pub start_ns: i64,
    /// `CLOCK_REALTIME` at the same moment, nanoseconds since 1970.
    pub start_realtime_ns: i64,
    /// `CLOCK_BOOTTIME` at the same moment; 0 where it is not known.
    pub start_boottime_ns: i64,
}

/// A function of the hook table, as the recording tool knew it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionRow {
    pub name: String,
    pub category: String,
    /// `ascend_trace_format::api::Role` by name.
    pub role: String,
    /// Kind of the task it submits, or empty.
    pub task: String,
    /// `no`, `yes` or `sometimes`.
    pub blocks: String,
    /// `ascend_trace_format::api::RetKind` by name.
    pub ret: String,
    pub stream: Option<u8>,
    pub event: Option<u8>,
    pub bytes: Option<u8>,
    /// Position of the argument that says what the task is: a string, or what a [`NameRow`] names.
    pub label: Option<u8>,
    /// Positions of further arguments by what they are: `ascend_trace_format::api::Part` by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, u8>,
    /// `ascend_trace_format::api::Fact`s by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    pub args: Vec<ArgRow>,
}

/// One argument of a [`FunctionRow`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgRow {
    pub name: String,
    /// `ascend_trace_format::api::ArgKind` by name.
    pub kind: String,
    pub out: bool,
    pub enumeration: String,
}

/// The tables that make a trace readable without any header: the second chunk of the file, and
/// chunks of further functions and constants before the rows that need them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TablesRow {
    /// Number of the first of these functions.
    #[serde(skip_serializing_if = "is_zero")]
    pub first: u16,
    /// Indexed by the function number of a call, less `first`.
    pub functions: Vec<FunctionRow>,
    /// Enumeration name → value → constant. `aclError` holds the return codes.
    pub enumerations: BTreeMap<String, BTreeMap<i64, String>>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(number: &u16) -> bool {
    *number == 0
}

impl TablesRow {
    /// Whether these tables and `further` ones leave no function out between them.
    pub(crate) fn reaches(&self, further: &Self) -> bool {
        let end = usize::from(self.first) + self.functions.len();
        self.first <= further.first && usize::from(further.first) <= end
    }

    /// Takes in tables that follow these in the file. Functions whose tables are lost have no name.
    pub fn extend(&mut self, further: Self) {
        let first = usize::from(further.first.saturating_sub(self.first));
        if self.functions.len() < first {
            self.functions.resize(first, FunctionRow::default());
        }
        self.functions.splice(
            first..self.functions.len().min(first + further.functions.len()),
            further.functions,
        );
        for (name, constants) in further.enumerations {
            self.enumerations.entry(name).or_default().extend(constants);
        }
    }
}

/// A traced process: one image of a program. A process that replaces its image by `exec` is another
/// one from then on, under the same pid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRow {
    /// Number of the process in this trace. Pids do not tell processes apart: namespaces have the
    /// same ones, and they are used again.
    pub process: u32,
    pub pid: u32,
    pub parent_pid: u32,
    pub begin_ns: i64,
    pub name: String,
    /// The rank it has in a distributed run, if its environment names one.
    pub rank: String,
    /// The words that it was started with, with a NUL between two; the last one ends with `…` when
    /// there was more than the recorder keeps.
    pub command: String,
}

/// A traced thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRow {
    /// Number of the thread in this trace.
    pub thread: u32,
    pub process: u32,
    pub tid: u32,
    pub name: String,
}

/// A context. A later row with the same serial replaces the earlier one; so for streams and events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRow {
    pub process: u32,
    pub serial: u32,
    pub device: u32,
    pub handle: u64,
    pub is_default: bool,
}

/// A stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamRow {
    pub process: u32,
    pub serial: u32,
    pub context: u32,
    pub device: u32,
    pub handle: u64,
    /// As `aclrtStreamGetId` tells it; `None` when it was never asked.
    pub acl_id: Option<i32>,
    pub flags: u32,
    pub priority: u32,
    pub is_default: bool,
    /// `ascend_trace_format::record::Manner` code: how `--timing auto` times its tasks from here on; 0 where nothing
    /// is said.
    pub manner: u8,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRow {
    pub process: u32,
    pub serial: u32,
    pub context: u32,
    pub handle: u64,
    pub flags: u32,
    /// 0: `aclrtCreateEvent`; 1: `…WithFlag`; 2: `…ExWithFlag`.
    pub creation: u8,
}

/// The task that a call submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRow {
    /// Position among the tasks submitted to the call's stream.
    pub sequence: u32,
    /// `TaskKind` code.
    pub kind: u8,
    /// `Untimed` code known at submission.
    pub untimed: u8,
}

/// What a call has to do with a graph, that is: with a capture, or a model that is built by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphRef {
    /// Counts the graphs of the process from 1.
    pub serial: u32,
    /// Number of the node that the call added, or of the replay that it started, from 1; 0 for
    /// calls on the graph as a whole and for calls that were refused.
    pub index: u32,
}

coded_enum! {
    /// How a call ended.
    #[derive(Default)]
    Ending {
        #[default]
        Returned = 0 "returned",
        /// By an exception, a jump or the end of its thread, at its end or before. It has no return value.
        Left = 1 "left",
        /// It had not when its process, or the recording, ended: that is its end. It has no return value.
        Open = 2 "open",
    }
}

impl Ending {
    /// What exports call it; nothing for a call that returned.
    pub fn exported(self) -> Option<&'static str> {
        (!self.is_return()).then(|| self.name())
    }

    /// Whether the call returned, and so has a return value and answers.
    pub const fn is_return(self) -> bool {
        matches!(self, Self::Returned)
    }
}

/// A call, as a rule one that returned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallRow {
    pub thread: u32,
    pub function: u16,
    pub begin_ns: i64,
    pub end_ns: i64,
    pub ret: i64,
    pub depth: u8,
    pub device: Option<u8>,
    /// Serial of the stream it worked on.
    pub stream: Option<u32>,
    pub context: Option<u32>,
    /// Serial and generation of the event it worked on. Generation 0: not recorded yet.
    pub event: Option<(u32, u32)>,
    pub task: Option<TaskRow>,
    pub graph: Option<GraphRef>,
    pub args: Vec<u64>,
    /// One entry per argument of kind `string`, in order; `None` for NULL. None of a call that did not
    /// return. Each text of a chunk is in memory once, however many calls have it.
    pub strings: Vec<Option<Arc<str>>>,
    /// Of a call that did not return only the first arguments may be known.
    pub ending: Ending,
}

/// When a task ran, in the device's own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTimeRow {
    pub process: u32,
    pub stream: u32,
    pub sequence: u32,
    /// `Untimed` code; the times are 0 unless it is `Timed`.
    pub untimed: u8,
    pub begin_device_ns: i64,
    pub end_device_ns: i64,
    /// Host time at which the task had certainly completed.
    pub seen_ns: i64,
    /// The event before the task was submitted no earlier than this before the begin of the call
    /// that submitted the task; 0 when that is not known.
    pub arming_ns: u32,
    /// The event after the task was submitted no later than this after the begin of the call that
    /// submitted the task; 0 when that is not known.
    pub submitting_ns: u32,
    /// What the event after the task took itself: its time is later than the end of the task by this.
    pub record_ns: u32,
    /// How far off that may be.
    pub record_open_ns: u32,
}

/// The device clock read `device_ns` somewhere between the two host times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorRow {
    pub process: u32,
    pub device: u32,
    pub before_ns: i64,
    pub after_ns: i64,
    pub device_ns: i64,
    /// An [`AnchorSource`](ascend_trace_format::api::AnchorSource) as a number.
    pub source: u8,
}

/// What could not be recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossRow {
    /// `None` when the loss belongs to no thread: there was no channel left.
    pub thread: Option<u32>,
    pub calls: u64,
    /// Records that were not calls: times, names.
    pub others: u64,
    /// Those of the others that told when a task ran.
    pub times: u64,
}

impl LossRow {
    /// Adds the amounts of another one.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.others = self.others.saturating_add(other.others);
        self.times = self.times.saturating_add(other.times);
    }
}

/// A counter of the tool itself, cumulative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterRow {
    pub process: u32,
    /// `ascend_trace_format::record::Counter` code.
    pub what: u16,
    pub value: u64,
}

/// What the tool has cost a thread of the program so far: every number only grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostRow {
    pub thread: u32,
    pub at_ns: i64,
    /// Calls that were recorded, and the time that this took. It is measured for some of the calls.
    pub calls: u64,
    pub recording_ns: u64,
    /// Tasks with events of ours around them, these events, and the time that recording them took.
    pub tasks: u64,
    pub events: u64,
    pub timing_ns: u64,
    /// Time spent on reading the times of tasks.
    pub reading_ns: u64,
}

/// What the program called something that it passes by handle or number: a kernel, a model, a
/// domain of marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameRow {
    pub process: u32,
    /// From then on the name holds, until another one does.
    pub since_ns: i64,
    pub key: u64,
    pub name: String,
}

/// A range of a thread's time that the program named, or a moment of it, which begins and ends at
/// once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeRow {
    pub process: u32,
    /// The thread that began it.
    pub thread: u32,
    pub begin_ns: i64,
    pub end_ns: i64,
    /// The handle of its domain, which a [`NameRow`] names; 0 for the default one.
    pub domain: u64,
    pub name: String,
}

/// What a [`CoverageRow`] says of a function, as bits.
pub mod ways {
    /// Calls by name reach a wrapper.
    pub const LINKED: u8 = 1;
    /// The program fetched it by name and got a wrapper.
    pub const FETCHED: u8 = 2;
    /// The program fetched it by name, and no library had it.
    pub const ABSENT: u8 = 4;
    /// The program fetched it by name and got no wrapper: its calls are not seen.
    pub const UNSEEN: u8 = 8;
    /// Its declaration is not known: calls are recorded without their arguments.
    pub const UNTYPED: u8 = 16;
    /// It is patched: calls are seen wherever they come from.
    pub const PATCHED: u8 = 32;
}

/// A function of AscendCL that a loaded library exports, or that the program asked for; or several
/// of which there is nothing else to say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageRow {
    /// The library's path; empty for a function that none of those that were seen exports.
    pub library: String,
    /// Empty for several.
    pub function: String,
    /// Bits of [`ways`]; 0 for a function whose calls are not seen.
    pub ways: u8,
    /// Calls in the whole recording, whichever library they went to.
    pub calls: u64,
    /// How many functions this is about.
    pub functions: u64,
    /// Why an engine that patches functions did not patch it; empty if it did, or there was none.
    pub refused: String,
}

/// How the recording ended: the last chunk of a complete file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRow {
    pub end_ns: i64,
    /// The program's exit status as the tool passed it on.
    pub exit_status: i32,
}

/// Anything a trace file stores after its two leading chunks.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    Process(ProcessRow),
    Thread(ThreadRow),
    Context(ContextRow),
    Stream(StreamRow),
    Event(EventRow),
    Call(CallRow),
    TaskTime(TaskTimeRow),
    Anchor(AnchorRow),
    Loss(LossRow),
    Counter(CounterRow),
    Name(NameRow),
    Range(RangeRow),
    Coverage(CoverageRow),
    Cost(CostRow),
    End(EndRow),
}

macro_rules! rows_of_records {
    ({}
        $($(#[$meta:meta])* $name:ident $row:ident = $code:literal $kind:literal, $class:ident of $memory:literal {
            $($(#[$fmeta:meta])* $field:ident: $type:ty,)*
        })*
    ) => {
        /// The row of a record that is in the file as it comes.
        pub fn passed_on(process: u32, record: Passed) -> Row {
            match record {
                $(Passed::$name(told) => Row::$name($row { process, $($field: told.$field,)* }),)*
            }
        }
    };
}

passed_on! { rows_of_records {} }
