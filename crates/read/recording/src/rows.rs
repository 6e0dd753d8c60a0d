//! The rows of a trace file, with one type for each kind of fact that the collector learns. A row is
//! declared once: its columns, their text in docs/FORMAT.md, writing and reading come from there.
//!
//! Handles are the traced program's own pointers and may be reused, so things are named by
//! *serials*: numbers that are never reused within their process. All host times are nanoseconds
//! of the recording host's `CLOCK_MONOTONIC`; device times are nanoseconds of the device's clock.

mod call;
mod header_rows;
mod times;

use ascend_trace_format::record::Verbatim;
use ascend_trace_format::verbatim_records;

use crate::file::budget::Budget;
use crate::file::chunk::ChunkKind;
use crate::file::declare::{ColumnText, row};
use crate::file::decode::{self, ChunkStop, ItemSink};
use crate::file::encoder::{PendingRows, RowBatch};
use crate::file::names::GivenNames;
use crate::file::table::Table;

pub use call::{CallRow, Ending, GraphRef, TaskRow};
pub use header_rows::{
    ArgRow, ContinuedRow, FunctionRow, HostRow, KeptRow, PartRow, SessionRow, SnapshotRow,
    TablesRow,
};
pub use times::{AnchorRow, MOST_RUN_TASKS, TaskTimeRow};

/// Content of a kind of chunk.
#[derive(Clone, Copy, Debug)]
pub struct TableText {
    pub kind: [u8; 4],
    /// The index of a long file says where its chunks are.
    pub is_entity: bool,
    pub columns: &'static [ColumnText],
}

/// Runs code for each kind of row in turn: those of things that calls name come before the calls.
macro_rules! kinds {
    (before { $($before:ident $before_row:ident,)* } then { $($then:ident $then_row:ident,)* }) => {
        /// Anything a trace file stores after its two leading chunks.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Row { $($before($before_row),)* $($then($then_row),)* }

        kinds! { @each $($before $before_row,)* $($then $then_row,)* }

        /// Rows that are not sealed yet.
        #[expect(non_snake_case, reason = "named as the rows are")]
        #[derive(Debug, Default)]
        pub(crate) struct Tables {
            $($before: PendingRows<$before_row>,)*
            $(pub(crate) $then: PendingRows<$then_row>,)*
        }

        impl Tables {
            /// Adds a row. Returns whether it is time to seal.
            pub(crate) fn push(&mut self, row: &Row) -> bool {
                match row {
                    $(Row::$before(row) => self.$before.push(row),)*
                    $(Row::$then(row) => self.$then.push(row),)*
                }
            }

            /// Seals the rows before the calls.
            pub(crate) fn seal_entities(&mut self, batch: &mut RowBatch) {
                $(self.$before.seal(batch);)*
            }

            /// Seals the calls and the rows after them.
            pub(crate) fn seal_rest(&mut self, batch: &mut RowBatch) {
                $(self.$then.seal(batch);)*
            }
        }
    };
    (@each $($name:ident $row:ident,)*) => {
        $(impl From<$row> for Row {
            fn from(row: $row) -> Self {
                Self::$name(row)
            }
        }

        impl<'r> TryFrom<&'r Row> for &'r $row {
            type Error = ();

            fn try_from(row: &'r Row) -> Result<Self, ()> {
                match row {
                    Row::$name(row) => Ok(row),
                    _ => Err(()),
                }
            }
        })*

        /// The contents of the chunks of each kind.
        pub const TABLES: &[TableText] = &[$(TableText {
            kind: $row::KIND,
            is_entity: $row::IS_ENTITY,
            columns: $row::COLUMNS,
        },)*];

        /// Hands out the rows of a chunk, as far as the budget allows; none of a kind that is not known.
        pub(crate) fn read(
            kind: ChunkKind,
            payload: &[u8],
            budget: &mut Budget,
            sink: &mut impl ItemSink,
        ) -> Result<(), ChunkStop> {
            match kind {
                $($row::KIND => decode::rows::<$row>(payload, budget, sink),)*
                _ => Ok(()),
            }
        }
    };
}

macro_rules! rows {
    (
        {
            before {$(
                $(#[$bmeta:meta])* $before:ident $before_row:ident = $bkind:literal,
                    $bclass:ident of $bmemory:literal $(remembering $remember:ty)? { $($bfields:tt)* }
            )*}
            by_hand { $($hand:ident $hand_row:ident,)* }
            then {$(
                $(#[$tmeta:meta])* $then:ident $then_row:ident = $tkind:literal,
                    $tclass:ident of $tmemory:literal { $($tfields:tt)* }
            )*}
        }
        $(
            $(#[$pmeta:meta])* $passed:ident $passed_row:ident = $code:literal $pkind:literal,
                $pclass:ident of $pmemory:literal {
                    $($(#[doc = $doc:literal])* $field:ident: $type:ty,)+
                }
        )*
    ) => {
        $(row! {
            $(#[$bmeta])*
            $before_row = $bkind, $bclass of $bmemory $(remembering $remember)? { $($bfields)* }
        })*
        $(row! {
            $(#[$pmeta])*
            $passed_row = $pkind, $pclass of $pmemory {
                /// process
                process: u32 as process,
                $($(#[doc = $doc])* $field: $type,)+
            }
        })*
        $(row! {
            $(#[$tmeta])*
            $then_row = $tkind, $tclass of $tmemory { $($tfields)* }
        })*

        kinds! {
            before { $($before $before_row,)* $($passed $passed_row,)* }
            then { $($hand $hand_row,)* $($then $then_row,)* }
        }

        /// The row of a record that is in the file as it comes.
        pub fn verbatim_row(process: u32, record: Verbatim) -> Row {
            match record {
                $(Verbatim::$passed(record) => Row::$passed($passed_row {
                    process,
                    $($field: record.$field,)+
                }),)*
            }
        }
    };
}

verbatim_records! { rows {
    before {
        /// A traced process: one image of a program. A process that replaces its image by `exec` is another
        /// one from then on, under the same pid. Pids do not tell processes apart: namespaces have the same
        /// ones, and they are used again.
        Process ProcessRow = b"PROC", entity of 640 {
            /// process: its number in this trace
            process: u32,
            /// pid
            pid: u32,
            /// pid of its parent
            parent_pid: u32,
            /// host time at which recording began in it
            begin_ns: i64,
            /// name
            name: String,
            /// rank in a distributed run, or empty
            rank: String,
            /// the words that it was started with, a zero byte between two; ends with `…` when there was more
            /// than the recorder keeps
            command: String,
            /// its pid where the recorder runs, if its pid namespace is another one; 0 otherwise, and where that is not known
            outer_pid: u32 as later,
        }

        /// A traced thread.
        Thread ThreadRow = b"THRD", entity of 160 {
            /// thread: its number in this trace, unique over all processes
            thread: u32,
            /// process
            process: u32 as process,
            /// tid
            tid: u32,
            /// name
            name: String,
            /// what `pthread_self` returns in it; 0 where that is not known
            handle: u64 as later,
        }

        /// What the program called something that it passes by handle or number: a kernel, a model, a
        /// domain of marks. Only what is new takes memory.
        Name NameRow = b"NAME", entity of 0 remembering GivenNames {
            /// process
            process: u32 as process,
            /// host time from which on the name holds
            since_ns: i64,
            /// what the program passes for it: a handle of a kernel or of a domain, a model's number
            key: u64,
            /// name
            name: String,
        }

        /// A text of more than 120 bytes. The file has it once; other rows have its short form: its first bytes,
        /// `…#`, and its hash as 16 hexadecimal digits.
        LongText LongTextRow = b"TEXT", entity of 128 {
            /// 64-bit FNV-1a hash of the text, as far as the recorder has read it: 16,384 bytes
            hash: u64,
            /// text; one of more than 4000 bytes is cut, and ends with `…`
            text: String,
        }

        /// An object file that frames of stacks lie in: the program, or a library.
        Object ObjectRow = b"OBJT", entity of 128 {
            /// process
            process: u32 as process,
            /// its number in its process, from 1
            object: u32,
            /// difference between an address in memory and one in the file
            base: u64,
            /// build id in hexadecimal, or empty
            build_id: String,
            /// path
            path: String,
        }

        /// A stack that calls were made with, see column 22 of `CALL`.
        Stack StackRow = b"STCK", entity of 64 {
            /// process
            process: u32 as process,
            /// its number in this trace, from 1
            stack: u32,
            /// its frames, innermost first, with a space between two. A frame is the number of its object, a
            /// colon, and the address in memory after the call in hexadecimal. Object 0 stands for code that was
            /// made at run time. A frame of Python is `p`, the number of its code, a colon, and its line, or 0
            frames: String,
        }

        /// Code of Python that frames of stacks are of.
        Code CodeRow = b"PYCO", entity of 128 {
            /// process
            process: u32 as process,
            /// its number in its process, from 1
            code: u32,
            /// qualified name of the function; before Python 3.11, its name
            function: String,
            /// source file, as the interpreter has it
            file: String,
        }
    }

    by_hand { Call CallRow, TaskTime TaskTimeRow, Anchor AnchorRow, }

    then {
        /// What could not be recorded.
        #[derive(Copy)]
        Loss LossRow = b"LOSS", figure of 96 {
            /// thread; none when there was no channel left for a thread
            thread: Option<u32>,
            /// calls lost; amounts of several rows add up
            calls: u64,
            /// other records lost
            others: u64,
            /// those of the other records that had times of tasks
            times: u64,
        }

        /// A range of a thread's time that the program named, or a moment of it, which begins and ends at
        /// once.
        Range RangeRow = b"RNGE", entity of 96 {
            /// process
            process: u32,
            /// thread that began it
            thread: u32,
            /// begin, host time
            begin_ns: i64,
            /// end − begin; 0 for a mark
            end_ns: i64 as since(begin_ns),
            /// handle of its domain, 0 for the default one; ranges of `--python`: 2^63 + 1 step, 2 phase, 3
            /// module, 4 loader, 5 function, 6 fetch, 7 backward; 2^63 + 8 a pause of the recording
            domain: u64,
            /// name
            name: String,
        }

        /// A process has ended, or another program has taken its place. Of several rows the earliest counts.
        #[derive(Copy)]
        ProcessEnd ProcessEndRow = b"PEND", entity of 32 {
            /// process
            process: u32,
            /// host time at which the recorder saw the end, some milliseconds later at most
            end_ns: i64,
        }

        /// A function of AscendCL that a loaded library exports, or that the program asked for; or several
        /// of which there is nothing else to say; or that a library is the software runtime.
        Coverage CoverageRow = b"COVR", entity of 192 {
            /// the library's path, empty for functions without a known library
            library: String,
            /// function; empty in a row for several functions
            function: String,
            /// sum of: 1 the tool sees calls by name; 2 it was looked up by name, with a wrapper; 4 it was
            /// looked up and not there; 8 it was looked up without a wrapper; 16 its calls are recorded without
            /// their arguments; 32 it is patched. 64 of a library: it is the software runtime
            ways: u8,
            /// calls
            calls: u64,
            /// number of functions of the row
            functions: u64,
            /// why an engine did not patch it; empty if it did, or there was none
            refused: String,
        }

        /// What the tool has cost a thread of the program so far: every number only grows.
        #[derive(Copy)]
        Cost CostRow = b"COST", entity of 192 {
            /// thread
            thread: u32,
            /// host time
            at_ns: i64,
            /// calls that were recorded
            calls: u64,
            /// nanoseconds that this took
            recording_ns: u64,
            /// tasks with events around them
            tasks: u64,
            /// events that were recorded on streams
            events: u64,
            /// nanoseconds that this took
            timing_ns: u64,
            /// nanoseconds that reading the times of tasks, and comparing the clocks, took
            reading_ns: u64,
        }

        /// Whether the hardware's log was read in a process, and from when on.
        #[derive(Copy)]
        Log LogRow = b"HLOG", entity of 96 {
            /// process
            process: u32 as process,
            /// 1 the tool reads it; 2 there is no msPTI; 3 another profiler has it; 4 msPTI refused; 5 the tool
            /// stopped, because the program has begun a profiler
            state: u8,
            /// the return value of msPTI, 0 without a call
            code: u32,
            /// a bit for each kind that it reports, see `ACTV`
            kinds: u32,
            /// 1: tasks have no other times
            is_alone: bool,
        }

        /// Something that ran, by the hardware's log: a task, a part of one, a node of a graph that is replayed, or
        /// what nobody is known to have submitted. Its times are on the log's clock, which runs at the rate of
        /// the device's and begins elsewhere. Where tasks have no other times, rows of `TIME` are on that clock.
        #[derive(Copy)]
        Activity ActivityRow = b"ACTV", entity of 160 {
            /// process
            process: u32 as process,
            /// device
            device: u32,
            /// id of its stream, as `aclrtStreamGetId` returns it
            acl_id: u32,
            /// serial of that stream; none when the program has no such stream
            stream: Option<u32>,
            /// sequence of its task, or of the task that replays its graph; none when it is not certainly part of one
            sequence: Option<u32>,
            /// number of earlier parts of its task, or of its node
            part: u32,
            /// what it is: 2 kernel, 9 communication
            kind: u8,
            /// number of the call that submitted it, as msPTI counts calls; 0 when unknown
            correlation: u64,
            /// key of its name, see `NAME`; 0 for none
            name: u64,
            /// begin on the log's clock; 0 when the log has no times of it
            begin_ns: i64,
            /// end − begin
            end_ns: i64 as since(begin_ns),
            /// number of its node in the replayed graph: 0 for one of several nodes that look the same; none
            /// outside of replays
            node: Option<u32>,
        }

        /// A recorder that ran inside the recording. It took the processes that it started: their calls are in its trace.
        Inner InnerRow = b"INNR", entity of 96 {
            /// pid of the recorder
            pid: u32,
            /// absolute path of its trace, empty for standard output. A backslash is written as `\\`, a byte that is not of
            /// UTF-8 as `\x` and two hexadecimal digits
            trace: String,
        }

        /// Processor time of a thread without recorded calls. It belongs to a recorded process, or to a child process that is
        /// not recorded. Sums since the recorder saw it first: of several rows for a thread the last counts.
        OtherThread OtherThreadRow = b"OTHR", entity of 192 {
            /// process: the thread's own, or the recorded one that its process comes from
            process: u32 as process,
            /// pid of its process
            pid: u32,
            /// tid
            tid: u32,
            /// name
            name: String,
            /// host time at which the recorder saw it first
            first_ns: i64,
            /// host time of the sums
            at_ns: i64 as since(first_ns),
            /// nanoseconds on a processor between these times
            cpu_ns: u64,
            /// how often it got a processor in between
            runs: u64,
        }

        /// How the recording ended: the last chunk of a complete file.
        End EndRow = b"END ", figure of 192 {
            /// host time
            end_ns: i64,
            /// the program's exit status as the tool passed it on; 0 where the recording ended before the program
            exit_status: i32,
            /// why the recording ended before the program; empty where it ended with it, and of a snapshot
            reason: String as later,
        }
    }
} }

impl LossRow {
    /// Adds the amounts of another one.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.others = self.others.saturating_add(other.others);
        self.times = self.times.saturating_add(other.times);
    }
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
    /// The library is the software runtime: the row is of no function.
    pub const SOFTWARE: u8 = 64;
}
