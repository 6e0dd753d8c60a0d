//! The records that are no calls: their declarations, with units and meaning of each field.

use super::layout::{LongText, Reader, RecordField, Recorded, Text, Writer};
use super::{ActivityKind, Call, LogState, RecordHead, Shape};
use crate::api::{AnchorSource, Untimed};
use crate::engine::PatchOutcome;
use crate::range::RangeKind;
use crate::{coded_enum, verbatim_records};

/// Declares a record, and how it is written and read.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident [] $fields:tt) => {
        record! { @ $(#[$meta])* $name [] 'a $fields }
    };
    ($(#[$meta:meta])* $name:ident [$life:lifetime] $fields:tt) => {
        record! { @ $(#[$meta])* $name [<$life>] $life $fields }
    };
    (@ $(#[$meta:meta])* $name:ident [$($generics:tt)*] $life:lifetime
        { $($(#[$fmeta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name $($generics)* { $($(#[$fmeta])* pub $field: $type,)* }

        impl<$life> Recorded<$life> for $name $($generics)* {
            const KIND: RecordKind = RecordKind::$name;

            #[inline]
            fn end(&self) -> usize {
                let at = RecordHead::BYTES;
                $(let at = self.$field.end(at);)*
                at
            }

            #[inline]
            fn put_fields(&self, writer: &mut Writer<'_>) {
                $(self.$field.put(writer);)*
            }

            fn take_fields(reader: &mut Reader<$life>) -> Option<Self> {
                Some(Self { $($field: RecordField::take(reader)?,)* })
            }
        }
    };
}

macro_rules! records {
    ({
        $($(#[$meta:meta])* $name:ident $(<$life:lifetime>)? = $code:literal $fields:tt)*
    }
        $($(#[$pmeta:meta])* $passed:ident $row:ident = $pcode:literal $kind:literal,
            $class:ident of $memory:literal $pfields:tt)*
    ) => {
        coded_enum! {
            /// Kind of a record.
            RecordKind {
                /// A call that returned, or was left.
                Call = 1,
                $($(#[$meta])* $name = $code,)*
                $($(#[$pmeta])* $passed = $pcode,)*
            }
        }

        /// A record as it is read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Record<'a> {
            Call(Call<'a>),
            /// One that is in the file as it comes.
            Verbatim(Verbatim),
            $($name($name $(<$life>)?),)*
        }

        impl<'a> Record<'a> {
            /// The fields of a record's words; `None` when they make no sense.
            #[inline]
            pub fn take(words: &'a [u64]) -> Option<Self> {
                Some(match RecordHead::decode(*words.first()?)?.kind {
                    RecordKind::Call => Self::Call(Call::take(words)?),
                    $(RecordKind::$name => Self::$name(Recorded::take(words)?),)*
                    $(RecordKind::$passed => Self::Verbatim(Verbatim::$passed(Recorded::take(words)?)),)*
                })
            }
        }

        /// A record that is in the file as it comes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Verbatim { $($passed($passed),)* }

        $(record! { $(#[$meta])* $name [$($life)?] $fields })*
        $(record! { $(#[$pmeta])* $passed [] $pfields })*
    };
}

verbatim_records! { records {
    /// The process has joined. Its command line comes before.
    Process<'a> = 2 {
        pid: u32,
        parent_pid: u32,
        /// In ticks.
        begin: u64,
        name: Text<'a>,
        /// Its rank in a distributed run, if its environment names one.
        rank: Text<'a>,
    }

    /// When a task ran, or that its time will never come.
    TaskTime = 6 {
        /// Why the task has no time: then the fields behind the sequence are 0.
        untimed: Untimed,
        /// Serial of its stream.
        stream: u32,
        /// Position among the tasks that were submitted to the stream.
        sequence: u32,
        /// Ticks from before its start event was submitted to `submitted`.
        arming: u32,
        begin_device_ns: i64,
        end_device_ns: i64,
        /// Host ticks when it was seen complete.
        seen: u64,
        /// Host ticks before it was submitted.
        submitted: u64,
        /// Ticks from `submitted` to after its end event was.
        closing: u32,
        /// Nanoseconds that the end event took; of a host function see [`hosted`].
        record_ns: u32,
        /// The error of `record_ns`, and the resolution of both times in the runtime; of a host function see [`hosted`].
        record_open_ns: u32,
        /// Number of tasks between the two events: this one and those after it on its stream. 0 or 1 for this one alone.
        run_tasks: u32,
    }

    /// The device's clock read `device_ns` somewhere between the two host times.
    Anchor = 7 {
        source: AnchorSource,
        device: u32,
        /// In ticks.
        before: u64,
        after: u64,
        device_ns: i64,
    }

    /// The thread has this name now.
    Thread<'a> = 8 {
        tid: u32,
        /// What `pthread_self` returns in it.
        handle: u64,
        name: Text<'a>,
    }

    /// The program has fetched a function by name.
    Lookup<'a> = 10 {
        outcome: super::Lookup,
        name: Text<'a>,
    }

    /// A library of AscendCL that the process has loaded.
    Library<'a> = 11 {
        path: LongText<'a>,
    }

    /// From then on the object of the key has this name.
    Name<'a> = 12 {
        /// In ticks.
        since: u64,
        key: u64,
        name: Text<'a>,
    }

    /// Tracer overhead of a thread of the process, as sums.
    Cost = 13 {
        tid: u32,
        /// When that was, in ticks; so are the other times.
        at: u64,
        /// Number of calls with a measured recording, and the duration of the recording.
        samples: u64,
        sampled: u64,
        /// What took longer than the recording of a call: memory for more of them, and readings of the processor time.
        besides: u64,
        /// Tasks with events around them, these events, and how long recording them took.
        tasks: u64,
        events: u64,
        timing: u64,
        /// How long reading times took.
        reading: u64,
    }

    /// Calls with the index plus [`STUB`](super::STUB) in this channel are calls of the function with
    /// this name.
    Function<'a> = 14 {
        shape: Shape,
        index: u16,
        name: Text<'a>,
    }

    /// Outcome of patching a function.
    Patch<'a> = 15 {
        outcome: PatchOutcome,
        function: Text<'a>,
        /// The file name of its library.
        file: Text<'a>,
    }

    /// The engine that patches functions could not be loaded.
    EngineFailure<'a> = 16 {
        reason: LongText<'a>,
    }

    /// The hardware's log has this of something that ran. The times are on a clock of the log's own.
    Activity = 18 {
        kind: ActivityKind,
        device: u32,
        /// The runtime's number of the stream.
        stream: u32,
        /// Of the call that submitted it; 0 when unknown.
        correlation: u64,
        /// 0 and 0 when the log has no times of it.
        begin_ns: i64,
        end_ns: i64,
        /// The key of a [`Name`]; 0 for none.
        name: u64,
        /// In ticks, when this was received: it had ended before.
        seen: u64,
    }

    /// Whether the hardware's log is read from now on, or not any more.
    Log = 19 {
        state: LogState,
        /// Return code of msPTI, 0 where it was not asked.
        code: u32,
        /// A bit for each [`ActivityKind`] that it reports.
        kinds: u32,
        /// Tasks have no other times.
        is_alone: bool,
    }

    /// A part of the words that the process was started with, each with a NUL after it.
    Command<'a> = 17 {
        /// Counts the parts from 0.
        part: u16,
        /// The line is longer than the recorded part.
        goes_on: bool,
        bytes: LongText<'a>,
    }

    /// A range of the thread begins, from the hook inside Python.
    RangeBegin<'a> = 20 {
        kind: RangeKind,
        /// No other range of the process has it.
        id: u64,
        /// In ticks.
        at: u64,
        name: Text<'a>,
    }

    /// It ends, with all ranges that began inside it.
    RangeEnd = 21 {
        id: u64,
        /// It was cancelled: only the ranges inside it are kept.
        is_void: bool,
        /// In ticks.
        at: u64,
    }

    /// A stack that calls of the process were made with.
    Stack<'a> = 22 {
        /// A hash of the frames.
        id: u64,
        /// A word for each frame, innermost first: the address after its call, with the number of its
        /// object in the upper 16 bits, or 0. With the highest bit set it is a frame of Python: the line
        /// in the lower 24 bits, 0 for none, and the number of its code in the 39 bits above.
        frames: LongText<'a>,
    }

    /// An object with frames.
    Object<'a> = 23 {
        /// From 1; no other object of the process has it.
        number: u16,
        /// The offset that the loader has added to the addresses of its file.
        base: u64,
        build_id: Text<'a>,
        path: LongText<'a>,
    }

    /// Code of Python that frames are of.
    Code<'a> = 24 {
        /// A hash of its names.
        number: u64,
        function: Text<'a>,
        file: LongText<'a>,
    }

    /// A part of a text that is longer than records have room for, see [`long_text`](crate::long_text). The parts of a
    /// text follow each other in a channel.
    TextPart<'a> = 25 {
        /// Of the whole text.
        hash: u64,
        /// Bytes of the text before this part.
        offset: u32,
        /// Bytes of the text that parts have.
        length: u32,
        bytes: LongText<'a>,
    }
} }

/// The mark of a task that ran a function of the program on the host, in [`TaskTime::record_ns`].
const HOSTED: u32 = 1 << 31;
/// Nanoseconds of a unit of its times.
const HOSTED_UNIT: u64 = 16;

/// When a function of the program ran, in nanoseconds after the submission of its task, and for how long: as the two words of
/// a record's duration. `None` if that is too long.
pub const fn hosted(after_ns: u64, lasted_ns: u64) -> Option<(u32, u32)> {
    let (after, lasted) = (after_ns / HOSTED_UNIT, lasted_ns / HOSTED_UNIT);
    if after >= HOSTED as u64 || lasted > u32::MAX as u64 {
        return None;
    }
    Some((HOSTED | after as u32, lasted as u32))
}

/// The same of these words; `None` if they are the duration of a record and its error.
pub const fn hosted_of(record_ns: u32, record_open_ns: u32) -> Option<(u64, u64)> {
    if record_ns & HOSTED == 0 {
        return None;
    }
    let after = (record_ns & !HOSTED) as u64 * HOSTED_UNIT;
    Some((after, record_open_ns as u64 * HOSTED_UNIT))
}

impl TaskTime {
    /// A task that has no time.
    pub const fn none(stream: u32, sequence: u32, untimed: Untimed) -> Self {
        Self {
            untimed,
            stream,
            sequence,
            arming: 0,
            begin_device_ns: 0,
            end_device_ns: 0,
            seen: 0,
            submitted: 0,
            closing: 0,
            record_ns: 0,
            record_open_ns: 0,
            run_tasks: 0,
        }
    }
}
