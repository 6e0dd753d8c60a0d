//! A record: one or more 64-byte slots in a thread's channel, written by the traced thread and
//! read by the collector. All words are native 64-bit integers; a record never leaves the host.
//!
//! Word 0 says what the record is:
//!
//! | bits  | meaning |
//! |-------|---------|
//! | 0–7   | [`RecordKind`] |
//! | 8–15  | slots the record fills, 1 to [`MAX_SLOTS`] |
//! | 16–31 | function index of a call; `aux` of the others |
//! | 32–39 | depth of a call: 0 for the program's own |
//! | 40–47 | [`flags`] of a call |
//! | 48–55 | device + 1 of the thread, 0 when unknown |
//! | 56–63 | reserved, 0 |
//!
//! A call continues with: begin ticks; duration ticks (low half) and return code (high half); then
//! one word for each flag that is set, in the order of the flags; then one word per argument; then,
//! with `BLOBS`, for each argument that is told as a text its length and its bytes padded to words.
//!
//! A function index from [`STUB`] on is that of a stub of the process, plus `STUB`: its function is
//! in no table. A record of the same channel has told its name before. The number of its arguments
//! comes as a word before them.

use crate::api::{TaskKind, Untimed};
use crate::coded_enum;

/// Bytes of a slot.
pub const SLOT_BYTES: usize = 64;
/// Words of a slot.
pub const SLOT_WORDS: usize = SLOT_BYTES / 8;
/// Slots that one record can fill.
pub const MAX_SLOTS: usize = 16;
/// Words that one record can fill.
pub const MAX_WORDS: usize = MAX_SLOTS * SLOT_WORDS;
/// How often a thread tells what it has cost, in nanoseconds.
pub const COST_TOLD_EVERY_NS: u64 = 100_000_000;
/// A string argument is cut after this many bytes.
pub const MAX_STRING: usize = 120;
/// Function indices from here on are stubs.
pub const STUB: u16 = 0x8000;
/// Length word of a string argument that was NULL.
pub const NULL_STRING: u64 = u64::MAX;

const _: () = assert!(SLOT_WORDS * 8 == SLOT_BYTES);
const _: () = assert!(MAX_SLOTS < 256);

coded_enum! {
    /// What a record tells.
    RecordKind {
        /// A call that returned. See the module text.
        Call = 1,
        /// `[pid | ppid << 32, begin ticks]`, then the blobs name, rank text. `aux` is 0.
        Process = 2,
        /// `[serial | context << 32, handle, acl id as i32 | device << 32, creation flags | priority << 32]`;
        /// `aux` bit 0: default stream; bit 1: the id is known, else it means nothing. Sent again when
        /// more becomes known: the later record replaces the earlier one.
        Stream = 3,
        /// `[serial | context << 32, handle, creation flags | creation kind << 32]`.
        Event = 4,
        /// `[serial | device << 32, handle]`; `aux` bit 0: default context.
        Context = 5,
        /// `[stream serial | sequence << 32, device begin ns, device end ns, host ticks when it was
        /// seen complete, ticks before it was submitted, ticks from before its start event was submitted to
        /// that | ticks from that to after its end event was << 32, nanoseconds that the end event took |
        /// how far off that may be << 32]`; `aux`: an [`Untimed`] code, the others are then 0.
        TaskTime = 6,
        /// `[device, host ticks before, host ticks after, device ns]`: the device clock read this value
        /// somewhere between the two host times. `aux`: an [`AnchorSource`](crate::api::AnchorSource) code.
        Anchor = 7,
        /// `[tid]` and one blob: the thread's name.
        Thread = 8,
        /// `[what, value]`: a counter of the tool itself, see [`Counter`].
        Counter = 9,
        /// One blob, a function's name: the program has fetched it by name. `aux`: a [`Lookup`] code.
        Lookup = 10,
        /// One blob, a path: a library of AscendCL that the process has loaded.
        Library = 11,
        /// `[key, ticks]` and one blob: from then on what the key stands for has this name.
        Name = 12,
        /// What the tool has cost the calling thread so far: `[ticks, sampled calls, ticks spent on these,
        /// ticks spent otherwise on recording, tasks timed, events recorded, ticks spent on these events,
        /// ticks spent on reading times]`.
        Cost = 13,
        /// `[shape]` and one blob, a function's name: calls with the index `aux` + [`STUB`] in this
        /// channel are its calls. See [`Shape`].
        Function = 14,
        /// What came of patching a function. `aux`: an [`Outcome`](crate::engine::Outcome) code; blobs: the
        /// function's name and its library's file name. With `NoEngine`: parts of what the loader said.
        Patch = 15,
        /// `[number of blobs, 1 if the line goes on beyond what is told]` and blobs: part `aux` of the
        /// words that the process was started with, each with a NUL after it. All parts come before
        /// `Process`.
        Command = 17,
    }
}

coded_enum! {
    /// What is known of a function that no table has.
    Shape {
        /// Nothing. Its calls tell no arguments.
        Unknown = 0,
        /// It plans an operator. A call tells words among which handles of tensors may be, then the size
        /// of the workspace and the executor that it answered, 0 where that is not known.
        Planning = 1,
        /// It submits a planned operator: workspace, its size, executor, stream.
        Submitting = 2,
    }
}

coded_enum! {
    /// What came of fetching a function by name.
    Lookup {
        /// The program got a wrapper.
        Wrapped = 0,
        /// The libraries lack it.
        Absent = 1,
        /// The table has no such function: the program got the function itself.
        Unknown = 2,
        /// The table has no such function: its calls are recorded without their arguments. Also told
        /// when the program did not fetch it but is linked to it.
        Untyped = 3,
    }
}

coded_enum! {
    /// Counters that the interposer reports about itself.
    Counter {
        /// Device events that were injected.
        InjectedEvents = 1,
        /// Pairs that were still pending when their context or the process ended.
        LostPairs = 2,
        /// Tasks that were submitted with events around them.
        TimedTasks = 3,
        /// Time that the program's threads spent on these events, in nanoseconds.
        TimingNs = 4,
        /// Time that the program's threads spent on reading times after a synchronisation.
        HarvestNs = 5,
        /// The most pairs that one stream had in its queue or unread. A pair takes two places.
        MostPendingPairs = 6,
        /// For how long the host was suspended during the recording.
        SuspendedNs = 7,
        /// How often the host's wall clock was set during the recording.
        ClockSteps = 8,
        /// Functions that are in no table and got no stub because all were taken.
        StubsShort = 9,
        /// Calls that had not returned when their process, or the recording, ended.
        OpenCalls = 10,
        /// Calls that were left by exceptions, jumps or the end of their thread.
        LeftCalls = 11,
        /// Streams for which `--timing auto` went over to one event per task, for a while at least.
        ChainedStreams = 12,
        /// Streams for which it went over to timing every so manieth task.
        SampledStreams = 13,
        /// Timed tasks that took less time than an event record does.
        ShortTasks = 14,
    }
}

coded_enum! {
    /// How the tasks of a stream are timed. The code is that in records and files, where 0 says nothing.
    Manner {
        /// An event before and one after each task.
        Events = 1 "events",
        /// On a busy stream one event for each task.
        Chained = 2 "chained",
        /// Every so manieth task.
        Sampled = 3 "sampled",
    }
}

/// Bits of a stream record's `aux`.
pub mod stream_bits {
    pub const IS_DEFAULT: u16 = 1;
    /// Its id is known.
    pub const HAS_ID: u16 = 1 << 1;
    /// From here on the code of a [`Manner`](super::Manner), two bits.
    pub const MANNER_SHIFT: u32 = 2;
}

/// Flags of a call record: each of [`flags::WITH_WORD`] stands for one more word before the arguments.
pub mod flags {
    /// `stream serial | context serial << 32`, either 0 when there is none.
    pub const STREAM: u8 = 1;
    /// `event serial | generation << 32`: the record that this call made, waits for or asks about.
    pub const OBJECT: u8 = 2;
    /// `sequence on its stream | task kind << 32 | untimed code << 40`.
    pub const TASK: u8 = 4;
    /// The end in ticks, when the duration does not fit 32 bits.
    pub const LONG: u8 = 8;
    /// The whole return value, when it is wider than 32 bits.
    pub const WIDE: u8 = 16;
    /// No word here: strings follow the arguments.
    pub const BLOBS: u8 = 32;
    /// `graph serial | index << 32`. The index is the number of the node that the call added to the
    /// graph, or of the replay that it started, both from 1; 0 for calls on the graph as a whole,
    /// and for calls that were refused while their stream was being captured.
    pub const GRAPH: u8 = 64;
    /// No word here: the call did not return. It was left by an exception, by a jump or by the end of
    /// its thread, at the end that is told or before. Its return value means nothing.
    pub const LEFT: u8 = 128;

    /// The flags that stand for a word each.
    pub const WITH_WORD: u8 = STREAM | OBJECT | TASK | LONG | WIDE | GRAPH;
}

/// The decoded word 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub kind: RecordKind,
    pub slots: u8,
    pub aux: u16,
    pub depth: u8,
    pub flags: u8,
    /// Device of the calling thread, if known.
    pub device: Option<u8>,
}

impl Header {
    /// Word 0 of a record.
    #[inline]
    pub const fn encode(self) -> u64 {
        let device = match self.device {
            Some(device) => device as u64 + 1,
            None => 0,
        };
        self.kind as u64
            | (self.slots as u64) << 8
            | (self.aux as u64) << 16
            | (self.depth as u64) << 32
            | (self.flags as u64) << 40
            | (device & 0xff) << 48
    }

    /// What word 0 says, unless it is not a header.
    pub fn decode(word: u64) -> Option<Self> {
        let slots = (word >> 8) as u8;
        let device = (word >> 48) as u8;
        let kind = RecordKind::from_code(word as u8)?;
        if slots == 0 || usize::from(slots) > MAX_SLOTS {
            return None;
        }
        Some(Self {
            kind,
            slots,
            aux: (word >> 16) as u16,
            depth: (word >> 32) as u8,
            flags: (word >> 40) as u8,
            device: device.checked_sub(1),
        })
    }
}

/// The task word of a call record.
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

    pub fn decode(word: u64) -> Option<Self> {
        Some(Self {
            sequence: word as u32,
            kind: TaskKind::from_code((word >> 32) as u8)?,
            untimed: Untimed::from_code((word >> 40) as u8)?,
        })
    }
}

/// Two 32-bit numbers in one word.
#[inline]
pub const fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// The two numbers of [`pair`].
pub const fn unpair(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// Slots that `words` words need.
pub const fn slots_for(words: usize) -> usize {
    words.div_ceil(SLOT_WORDS)
}

/// Appends words to a record that is being built; silently stops at the end of the buffer, which
/// the callers size with [`MAX_WORDS`].
pub struct Words<'a> {
    buffer: &'a mut [u64],
    used: usize,
}

impl<'a> Words<'a> {
    /// A record in `buffer`; word 0 is left for [`Words::finish`].
    #[inline]
    pub fn new(buffer: &'a mut [u64]) -> Self {
        Self { buffer, used: 1 }
    }

    #[inline]
    pub fn push(&mut self, word: u64) {
        if let Some(place) = self.buffer.get_mut(self.used) {
            *place = word;
            self.used += 1;
        }
    }

    /// A length and the bytes, cut to [`MAX_STRING`].
    pub fn push_string(&mut self, text: &[u8]) {
        let text = text.get(..MAX_STRING).unwrap_or(text);
        self.push(text.len() as u64);
        for chunk in text.chunks(8) {
            let mut bytes = [0; 8];
            for (place, byte) in bytes.iter_mut().zip(chunk) {
                *place = *byte;
            }
            self.push(u64::from_ne_bytes(bytes));
        }
    }

    /// Writes word 0 and answers the record, in whole slots.
    pub fn finished(self, header: Header) -> &'a [u64] {
        let slots = slots_for(self.used);
        if let Some(first) = self.buffer.first_mut() {
            *first = Header {
                slots: slots as u8,
                ..header
            }
            .encode();
        }
        self.buffer.get(..slots * SLOT_WORDS).unwrap_or(&[])
    }

    /// Writes word 0 and returns the slots the record fills.
    #[inline]
    pub fn finish(self, header: Header) -> usize {
        let slots = slots_for(self.used);
        if let Some(first) = self.buffer.first_mut() {
            *first = Header {
                slots: slots as u8,
                ..header
            }
            .encode();
        }
        slots
    }
}

/// Reads the words of a record in order; answers 0 past the end, so a torn record cannot fault.
#[derive(Clone)]
pub struct Reader<'a> {
    words: &'a [u64],
    next: usize,
}

impl<'a> Reader<'a> {
    /// The words after word 0.
    pub fn new(words: &'a [u64]) -> Self {
        Self { words, next: 1 }
    }

    pub fn word(&mut self) -> u64 {
        let word = self.words.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        word
    }

    /// Words that have not been read.
    pub fn left(&self) -> usize {
        self.words.len().saturating_sub(self.next)
    }

    /// A string written by [`Words::push_string`]: `None` when it was NULL. The bytes are copied
    /// into `out`.
    pub fn string<'b>(&mut self, out: &'b mut [u8; MAX_STRING]) -> Option<&'b [u8]> {
        let length = self.word();
        if length == NULL_STRING {
            return None;
        }
        let length = (length as usize).min(MAX_STRING);
        for chunk in out.get_mut(..length)?.chunks_mut(8) {
            let bytes = self.word().to_ne_bytes();
            for (place, byte) in chunk.iter_mut().zip(bytes) {
                *place = byte;
            }
        }
        out.get(..length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_its_encoding() {
        let header = Header {
            kind: RecordKind::Call,
            slots: 3,
            aux: 517,
            depth: 2,
            flags: flags::STREAM | flags::TASK,
            device: Some(7),
        };
        assert_eq!(Header::decode(header.encode()), Some(header));
        let nowhere = Header {
            device: None,
            ..header
        };
        assert_eq!(Header::decode(nowhere.encode()), Some(nowhere));
    }

    #[test]
    fn garbage_is_not_a_header() {
        assert_eq!(Header::decode(0), None);
        assert_eq!(Header::decode(200), None);
        assert_eq!(Header::decode(1 | 200 << 8), None);
    }

    #[test]
    fn a_record_of_words_and_strings_reads_back() {
        let mut buffer = [0; MAX_WORDS];
        let mut words = Words::new(&mut buffer);
        words.push(41);
        words.push_string(b"MatMulV2 of a long name");
        words.push(NULL_STRING);
        let header = Header {
            kind: RecordKind::Thread,
            slots: 0,
            aux: 0,
            depth: 0,
            flags: 0,
            device: None,
        };
        assert_eq!(words.finish(header), 1);
        let mut reader = Reader::new(&buffer);
        let mut text = [0; MAX_STRING];
        assert_eq!(reader.word(), 41);
        assert_eq!(
            reader.string(&mut text),
            Some(&b"MatMulV2 of a long name"[..])
        );
        assert_eq!(reader.string(&mut text), None);
    }

    #[test]
    fn a_long_string_is_cut_and_fits() {
        let mut buffer = [0; MAX_WORDS];
        let mut words = Words::new(&mut buffer);
        words.push_string(&[b'x'; 500]);
        let mut reader = Reader::new(&buffer);
        let mut text = [0; MAX_STRING];
        assert_eq!(reader.string(&mut text).map(<[u8]>::len), Some(MAX_STRING));
    }

    #[test]
    fn the_task_word_survives_its_encoding() {
        let word = TaskWord {
            sequence: u32::MAX,
            kind: TaskKind::Wait,
            untimed: Untimed::Captured,
        };
        assert_eq!(TaskWord::decode(word.encode()), Some(word));
    }
}
