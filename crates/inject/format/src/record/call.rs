//! Records of calls. Word 0, after the [`RecordHead`]:
//!
//! | bits  | meaning |
//! |-------|---------|
//! | 16–31 | function |
//! | 32–39 | depth: 0 for the program's own calls |
//! | 40–47 | [`flags`] |
//! | 48–55 | device of the thread + 1, 0 when unknown |
//! | 56–63 | more [`flags`] |
//!
//! Then: begin ticks; duration in ticks (low half) and return code (high half); one word for each flag
//! with a word, in the order of the flags; one word per argument; and with `TEXTS`, for each argument
//! that is recorded as a text, its length and its bytes padded to words.
//!
//! A function from [`STUB`] on is a stub of the process, with the rest as its number: no table has it,
//! and an earlier record of the same channel has its name. The number of its arguments comes as a word
//! before them.

use super::layout::{Reader, WORD, Writer};
use super::{
    CpuTime, MAX_SLOTS, MAX_STRING, NULL_STRING, RecordHead, RecordKind, SLOT_WORDS, STUB, pair,
    unpair,
};
use crate::api::{TaskKind, Untimed};

/// Words of a call before its optional ones: head, begin, duration and code.
pub const FIXED_WORDS: usize = 3;

/// Further fields of word 0 of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallHead {
    pub slots: u8,
    pub function: u16,
    pub depth: u8,
    pub flags: u16,
    /// Device of the calling thread, if known.
    pub device: Option<u8>,
}

impl CallHead {
    /// Word 0 of the record.
    #[inline]
    pub const fn encode(self) -> u64 {
        let head = RecordHead {
            kind: RecordKind::Call,
            slots: self.slots,
        };
        head.encode()
            | (self.function as u64) << 16
            | (self.depth as u64) << 32
            | (self.flags as u64 & 0xff) << 40
            | Self::device_bits(self.device)
            | (self.flags as u64 >> 8) << 56
    }

    /// The part of word 0 that names the device.
    #[inline]
    pub const fn device_bits(device: Option<u8>) -> u64 {
        let number = match device {
            Some(device) => device as u64 + 1,
            None => 0,
        };
        (number & 0xff) << 48
    }

    /// The fields of word 0, if it belongs to a call.
    #[inline]
    pub fn decode(word: u64) -> Option<Self> {
        let head = RecordHead::decode(word).filter(|head| head.kind == RecordKind::Call)?;
        Some(Self {
            slots: head.slots,
            function: (word >> 16) as u16,
            depth: (word >> 32) as u8,
            flags: (word >> 40) as u16 & 0xff | (word >> 56 << 8) as u16,
            device: ((word >> 48) as u8).checked_sub(1),
        })
    }
}

/// Declares the words that not every call has, with the flags that say so.
macro_rules! optional_words {
    ($($(#[$meta:meta])* $flag:ident = $bit:literal $field:ident,)+) => {
        /// Optional parts of a call's record.
        pub mod flags {
            $($(#[$meta])* pub const $flag: u16 = $bit;)+
            /// No word here: texts follow the arguments.
            pub const TEXTS: u16 = 32;
            /// No word here: the call did not return. An exception, a jump or the end of its thread
            /// left it, at the recorded end or before. Its return value means nothing.
            pub const LEFT: u16 = 128;
        }

        #[derive(Clone, Copy, Default)]
        struct OptionalFields { $($field: Option<u64>,)+ }

        impl OptionalFields {
            #[inline(always)]
            fn flags(&self) -> u16 {
                0 $(| if self.$field.is_some() { $bit } else { 0 })+
            }

            #[inline(always)]
            fn put(&self, writer: &mut Writer<'_>) {
                $(if let Some(word) = self.$field {
                    writer.word(word);
                })+
            }

            #[inline]
            fn take(flags: u16, reader: &mut Reader<'_>) -> Self {
                Self { $($field: (flags & $bit != 0).then(|| reader.word()),)+ }
            }
        }
    };
}

optional_words! {
    /// `stream serial | context serial << 32`, either is 0 if missing.
    STREAM = 1 stream,
    /// `event serial | generation << 32`: the record that this call made, waits for or asks about.
    OBJECT = 2 object,
    /// A [`TaskWord`](super::TaskWord).
    TASK = 4 task,
    /// The end in ticks, when the duration does not fit 32 bits.
    LONG = 8 end,
    /// The whole return value, when it is wider than 32 bits.
    WIDE = 16 result,
    /// `graph serial | index << 32`. The index is the number of the node that the call added to the
    /// graph, or of the replay that it started, both from 1; 0 for calls on the graph as a whole,
    /// and for calls that were refused while their stream was being captured.
    GRAPH = 64 graph,
    /// The stack of the call, see `record::kinds::Stack`.
    STACK = 256 stack,
    /// A [`CpuTime`](super::CpuTime): of the thread until the call began.
    CPU = 512 cpu,
}

/// The task word of a call record: `sequence | task kind << 32 | untimed code << 40`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskWord {
    /// Position among the tasks that were submitted to the stream.
    pub sequence: u32,
    pub kind: TaskKind,
    pub untimed: Untimed,
}

impl TaskWord {
    #[inline]
    pub const fn encode(self) -> u64 {
        self.sequence as u64 | (self.kind as u64) << 32 | (self.untimed as u64) << 40
    }

    #[inline]
    pub fn decode(word: u64) -> Option<Self> {
        Some(Self {
            sequence: word as u32,
            kind: TaskKind::from_code((word >> 32) as u8)?,
            untimed: Untimed::from_code((word >> 40) as u8)?,
        })
    }
}

/// A call that has returned, or was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    pub function: u16,
    /// Calls of the thread around this one.
    pub depth: u8,
    /// Device of the calling thread, if known.
    pub device: Option<u8>,
    /// In ticks.
    pub begin: u64,
    pub end: u64,
    /// The return value; one that fits 32 bits is extended by its sign.
    pub result: u64,
    /// `stream serial | context serial << 32`.
    pub stream: Option<u64>,
    /// `event serial | generation << 32`.
    pub object: Option<u64>,
    pub task: Option<TaskWord>,
    /// `graph serial | index << 32`.
    pub graph: Option<u64>,
    /// The stack that it was made with.
    pub stack: Option<u64>,
    /// Processor time of the thread until the call began.
    pub cpu: Option<CpuTime>,
    /// It did not return.
    pub is_left: bool,
    /// One word for each argument. When it is read, the words of the texts follow: only who knows the
    /// function knows how many arguments it has.
    pub args: &'a [u64],
    /// When it is read: whether texts follow.
    pub has_texts: bool,
}

/// Writes the record of a call that has no word for a flag, into the slots that `head` names: word 0, begin, duration
/// and return code, arguments.
#[inline(always)]
pub fn put_bare(
    room: &mut [u64],
    head: u64,
    (begin, duration): (u64, u32),
    code: u32,
    args: &[u64],
) {
    let words = [head, begin, pair(duration, code)].into_iter();
    for (place, word) in room.iter_mut().zip(words.chain(args.iter().copied())) {
        *place = word;
    }
}

/// A text that an argument points to; `None` for NULL.
pub type ArgText<'t> = Option<&'t [u8]>;

/// The texts of a call that has none.
pub const NO_TEXTS: Option<core::iter::Empty<ArgText<'static>>> = None;

impl<'a> Call<'a> {
    /// A call of which nothing but its times and arguments is known.
    #[inline(always)]
    pub const fn plain(function: u16, (begin, end): (u64, u64), args: &'a [u64]) -> Self {
        Self {
            function,
            depth: 0,
            device: None,
            begin,
            end,
            result: 0,
            stream: None,
            object: None,
            task: None,
            graph: None,
            stack: None,
            cpu: None,
            is_left: false,
            args,
            has_texts: false,
        }
    }

    #[inline(always)]
    fn optional(&self) -> OptionalFields {
        let is_long = self.end.wrapping_sub(self.begin) > u64::from(u32::MAX);
        let is_wide = self.result as i64 != i64::from(self.result as i32);
        OptionalFields {
            stream: self.stream,
            object: self.object,
            task: self.task.map(TaskWord::encode),
            end: is_long.then_some(self.end),
            result: is_wide.then_some(self.result),
            graph: self.graph,
            stack: self.stack,
            cpu: self.cpu.map(CpuTime::encode),
        }
    }

    #[inline(always)]
    fn is_stub(&self) -> bool {
        self.function >= STUB
    }

    /// Slots that the record fills with these texts. Beyond [`MAX_SLOTS`] texts are cut.
    #[inline(always)]
    pub fn slots<'t>(&self, texts: Option<impl Iterator<Item = ArgText<'t>>>) -> usize {
        let optional = self.optional().flags().count_ones() as usize;
        let mut words = FIXED_WORDS + optional + usize::from(self.is_stub()) + self.args.len();
        for text in texts.into_iter().flatten() {
            words += 1 + text.map_or(0, |text| text.len().min(MAX_STRING).div_ceil(WORD));
        }
        words.div_ceil(SLOT_WORDS).min(MAX_SLOTS)
    }

    /// Writes the record into its slots. Texts that do not fit are cut.
    #[inline(always)]
    pub fn put<'t>(&self, room: &mut [u64], texts: Option<impl Iterator<Item = ArgText<'t>>>) {
        let optional = self.optional();
        let has_texts = texts.is_some();
        let head = CallHead {
            slots: (room.len() / SLOT_WORDS) as u8,
            function: self.function,
            depth: self.depth,
            flags: optional.flags()
                | if has_texts { flags::TEXTS } else { 0 }
                | if self.is_left { flags::LEFT } else { 0 },
            device: self.device,
        };
        let mut writer = Writer::new(room, head.encode(), WORD);
        writer.word(self.begin);
        let duration = match optional.end {
            Some(_) => u32::MAX,
            None => self.end.wrapping_sub(self.begin) as u32,
        };
        writer.word(pair(duration, self.result as u32));
        optional.put(&mut writer);
        if self.is_stub() {
            writer.word(self.args.len() as u64);
        }
        for word in self.args {
            writer.word(*word);
        }
        for text in texts.into_iter().flatten() {
            match text {
                Some(text) => writer.bytes(text.get(..MAX_STRING).unwrap_or(text)),
                None => writer.word(NULL_STRING),
            }
        }
    }

    /// Reads a call from the words of its record.
    #[inline]
    pub fn take(words: &'a [u64]) -> Option<Self> {
        let head = CallHead::decode(*words.first()?)?;
        let mut reader = Reader::new(words, WORD);
        let begin = reader.word();
        let (duration, code) = unpair(reader.word());
        let optional = OptionalFields::take(head.flags, &mut reader);
        let end = optional.end;
        Some(Self {
            depth: head.depth,
            device: head.device,
            end: end.unwrap_or_else(|| begin.saturating_add(duration.into())),
            result: (optional.result)
                .unwrap_or_else(|| i64::from(code.cast_signed()).cast_unsigned()),
            stream: optional.stream,
            object: optional.object,
            task: optional.task.and_then(TaskWord::decode),
            graph: optional.graph,
            stack: optional.stack,
            cpu: optional.cpu.and_then(CpuTime::decode),
            is_left: head.flags & flags::LEFT != 0,
            args: args(&mut reader, head.function)?,
            has_texts: head.flags & flags::TEXTS != 0,
            ..Self::plain(head.function, (begin, end.unwrap_or(begin)), &[])
        })
    }

    /// Reads a running call from its thread's list, which is laid out like the first slot of its
    /// record, but without a length: word 0, begin, the stack or 0, the stream if it is known, and the
    /// first arguments. A stub has no arguments there.
    pub fn take_open(words: &'a [u64; SLOT_WORDS]) -> Option<Self> {
        let head = CallHead::decode(words[0])?;
        let begin = words[1];
        let (stream, args) = match words.get(FIXED_WORDS..)? {
            [stream, args @ ..] if head.flags & flags::STREAM != 0 => (Some(*stream), args),
            args => (None, args),
        };
        Some(Self {
            depth: head.depth,
            device: head.device,
            stream,
            stack: Some(words[2]).filter(|stack| *stack != 0),
            is_left: true,
            args: if head.function < STUB { args } else { &[] },
            ..Self::plain(head.function, (begin, begin), &[])
        })
    }

    /// The first `count` words of the arguments, and a reader of the texts behind them.
    #[inline]
    pub fn split(&self, count: usize) -> (&'a [u64], Reader<'a>) {
        let (args, rest) = self.args.split_at(count.min(self.args.len()));
        (args, Reader::new(rest, 0))
    }
}

/// The words of the arguments, and the rest of the record.
#[inline]
fn args<'a>(reader: &mut Reader<'a>, function: u16) -> Option<&'a [u64]> {
    if function < STUB {
        return Some(reader.rest());
    }
    let count = usize::try_from(reader.word()).ok()?;
    let rest = reader.rest();
    Some(rest.get(..count).unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{MAX_WORDS, Record};

    const CALL: Call<'_> = Call::plain(517, (1000, 1250), &[7, 8]);

    /// The call is read as `expected` and has these texts.
    #[track_caller]
    fn reads_as(call: &Call<'_>, texts: Option<&[ArgText<'_>]>, expected: &Call<'_>) {
        let mut words = [u64::MAX; MAX_WORDS];
        let texts = texts.map(|texts| texts.iter().copied());
        let slots = call.slots(texts.clone());
        let (room, _) = words.split_at_mut(slots * SLOT_WORDS);
        call.put(room, texts.clone());
        let Some(Record::Call(read)) = Record::take(&words) else {
            panic!("no call");
        };
        let (args, mut reader) = read.split(expected.args.len());
        assert_eq!(Call { args, ..read }, *expected);
        for text in texts.into_iter().flatten() {
            let read = reader.text();
            let mut bytes = [0; MAX_STRING];
            assert_eq!(read.as_ref().map(|it| it.copy(&mut bytes)), text);
        }
    }

    #[test]
    fn a_call_with_everything_reads_back() {
        let call = Call {
            depth: 2,
            device: Some(7),
            end: 9_000_000_000_000,
            result: 1 << 40,
            stream: Some(pair(4, 6)),
            object: Some(pair(11, 12)),
            task: Some(TaskWord {
                sequence: u32::MAX,
                kind: TaskKind::Wait,
                untimed: Untimed::Captured,
            }),
            graph: Some(pair(2, 31)),
            stack: Some(u64::MAX - 1),
            cpu: CpuTime::new(6_000, 64_000, 2),
            is_left: true,
            has_texts: true,
            ..CALL
        };
        let texts = [Some(&b"MatMulV2 of a long name"[..]), None, Some(b"")];
        reads_as(&call, Some(&texts), &call);
    }

    #[test]
    fn a_bare_call_reads_back_in_one_slot() {
        reads_as(&CALL, None, &CALL);
        assert_eq!(CALL.slots(NO_TEXTS), 1);
        let negative = Call {
            result: i64::from(-7).cast_unsigned(),
            ..CALL
        };
        reads_as(&negative, None, &negative);
        assert_eq!(negative.slots(NO_TEXTS), 1);
    }

    #[test]
    fn a_bare_record_is_that_of_the_same_call() {
        let call = Call {
            depth: 0,
            device: Some(7),
            result: i64::from(-7).cast_unsigned(),
            ..CALL
        };
        let (mut bare, mut whole) = ([0; SLOT_WORDS], [0; SLOT_WORDS]);
        call.put(&mut whole, NO_TEXTS);
        let head = CallHead {
            slots: 1,
            function: call.function,
            depth: 0,
            flags: 0,
            device: None,
        };
        let head = head.encode() | CallHead::device_bits(call.device);
        put_bare(&mut bare, head, (1000, 250), -7i32 as u32, call.args);
        assert_eq!(bare, whole);
    }

    #[test]
    fn a_stubs_call_says_how_many_arguments_it_has() {
        let call = Call {
            function: STUB + 3,
            ..CALL
        };
        reads_as(&call, None, &call);
        let none = Call { args: &[], ..call };
        reads_as(&none, None, &none);
    }

    #[test]
    fn a_long_text_is_cut() {
        let call = Call {
            has_texts: true,
            ..CALL
        };
        let text: &[u8] = &[b'x'; 500];
        let mut words = [0; MAX_WORDS];
        call.put(&mut words, Some([Some(text)].into_iter()));
        assert_eq!(words[FIXED_WORDS + 2], MAX_STRING as u64);
        assert_eq!(words[FIXED_WORDS + 3 + MAX_STRING / WORD], 0);
    }

    #[test]
    fn a_call_that_is_under_way_reads_as_one_that_was_left() {
        let head = CallHead {
            slots: 1,
            function: 5,
            depth: 3,
            flags: flags::STREAM,
            device: None,
        };
        let words = [head.encode(), 100, u64::MAX, 7, 1, 2, 3, 4];
        let call = Call::take_open(&words).unwrap();
        assert_eq!(
            (call.begin, call.stream, call.args),
            (100, Some(7), &[1, 2, 3, 4][..])
        );
        assert!(call.is_left && call.depth == 3);
        let stub = CallHead {
            function: STUB,
            ..head
        };
        let words = [stub.encode(), 100, 0, 7, 1, 2, 3, 4];
        assert!(Call::take_open(&words).unwrap().args.is_empty());
        assert_eq!(CallHead::decode(stub.encode()), Some(stub));
    }
}
