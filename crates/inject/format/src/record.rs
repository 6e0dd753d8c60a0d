//! A record: one or more 64-byte slots in a thread's channel, written by the traced thread and
//! read by the collector. All words are native 64-bit integers; a record never leaves the host.
//!
//! Byte 0 of word 0 is the [`RecordKind`], byte 1 the number of slots that the record fills, 1 to
//! [`MAX_SLOTS`]. The rest is declared in [`kinds`], field by field, and laid out by [`layout`]; only
//! calls, of which there are millions, have a special layout: see [`call`].

pub mod call;
mod cpu_time;
pub mod figure;
pub mod kinds;
pub mod layout;
mod verbatim;
mod vocabulary;

pub use call::{Call, CallHead, TaskWord, flags};
pub use cpu_time::CpuTime;
pub use kinds::{Record, RecordKind, Verbatim};
pub use layout::{LongText, Recorded, Text};
pub use vocabulary::{ActivityKind, Counter, LogState, Lookup, Manner, Shape};

/// Bytes of a slot.
pub const SLOT_BYTES: usize = 64;
/// Words of a slot.
pub const SLOT_WORDS: usize = SLOT_BYTES / 8;
/// Slots that one record can fill.
pub const MAX_SLOTS: usize = 16;
/// Words that one record can fill.
pub const MAX_WORDS: usize = MAX_SLOTS * SLOT_WORDS;
/// Interval at which a thread reports its overhead, in nanoseconds.
pub const COST_REPORT_INTERVAL_NS: u64 = 100_000_000;
/// A text is cut after this many bytes.
pub const MAX_STRING: usize = 120;
/// A [`LongText`] is.
pub const MAX_LONG_TEXT: usize = 7 * MAX_STRING;
/// Function indices from here on are stubs.
pub const STUB: u16 = 0x8000;
/// Length word of a text that was NULL.
pub const NULL_STRING: u64 = u64::MAX;

const _: () = assert!(SLOT_WORDS * 8 == SLOT_BYTES);
const _: () = assert!(MAX_SLOTS < 256);

/// What word 0 says of every record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    pub kind: RecordKind,
    pub slots: u8,
}

impl RecordHead {
    pub(crate) const BYTES: usize = 2;

    /// Word 0 without further fields.
    #[inline]
    pub const fn encode(self) -> u64 {
        self.kind as u64 | (self.slots as u64) << 8
    }

    /// The fields of word 0, if it is valid.
    #[inline]
    pub fn decode(word: u64) -> Option<Self> {
        let slots = (word >> 8) as u8;
        let is_sound = slots != 0 && usize::from(slots) <= MAX_SLOTS;
        let kind = RecordKind::from_code(word as u8).filter(|_| is_sound)?;
        Some(Self { kind, slots })
    }
}

/// Two 32-bit numbers in one word.
#[inline]
pub const fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// The two numbers of [`pair`].
#[inline]
pub const fn unpair(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Untimed;

    fn written<'a>(record: &impl Recorded<'a>) -> [u64; MAX_WORDS] {
        // Words of an older record.
        let mut words = [u64::MAX; MAX_WORDS];
        let (room, _) = words.split_at_mut(record.slots() * SLOT_WORDS);
        record.put(room);
        words
    }

    #[test]
    fn every_field_of_a_record_reads_back_from_used_memory() {
        let stream = kinds::Stream {
            serial: u32::MAX,
            context: 2,
            device: 3,
            handle: u64::MAX,
            acl_id: Some(-1),
            flags: 4,
            priority: 5,
            is_default: true,
            manner: 2,
        };
        let words = written(&stream);
        let expected = Record::Verbatim(Verbatim::Stream(stream));
        assert_eq!(Record::take(&words), Some(expected));
        let none = kinds::Stream {
            acl_id: None,
            is_default: false,
            ..stream
        };
        assert_eq!(kinds::Stream::take(&written(&none)), Some(none));
    }

    #[test]
    fn texts_of_every_length_read_back() {
        for (length, slots) in [(0, 1), (7, 1), (8, 1), (33, 2), (MAX_STRING, 3)] {
            let bytes = [b'x'; MAX_STRING];
            let name = kinds::Name {
                since: 9,
                key: 4,
                name: Text::new(&bytes[..length]),
            };
            let words = written(&name);
            assert_eq!(words[0] >> 8 & 0xff, slots, "{length}");
            assert_eq!(kinds::Name::take(&words), Some(name), "{length}");
        }
        assert_eq!(Text::<'_, MAX_STRING>::new(&[b'x'; 500]).len(), MAX_STRING);
    }

    #[test]
    fn a_text_that_is_longer_than_its_record_ends_with_it() {
        let mut words = written(&kinds::Library {
            path: Text::new(b"/lib/libascendcl.so"),
        });
        words[1] = 1 << 40;
        let record = kinds::Library::take(&words[..SLOT_WORDS]).unwrap();
        assert_eq!(record.path.len(), 6 * 8);
        words[1] = NULL_STRING;
        assert!(kinds::Library::take(&words[..2]).unwrap().path.is_empty());
        assert_eq!(Record::take(&[]), None);
    }

    #[test]
    fn times_of_tasks_fill_one_slot_and_codes_that_mean_nothing_are_refused() {
        let time = kinds::TaskTime::none(3, u32::MAX, Untimed::Captured);
        let mut words = written(&time);
        assert_eq!(time.slots(), 1);
        assert_eq!(kinds::TaskTime::take(&words), Some(time));
        words[0] |= 0xff << 16;
        assert_eq!(kinds::TaskTime::take(&words), None);
    }

    #[test]
    fn garbage_is_no_head() {
        assert_eq!(RecordHead::decode(0), None);
        assert_eq!(RecordHead::decode(200), None);
        assert_eq!(RecordHead::decode(1 | 200 << 8), None);
        assert_eq!(Record::take(&[u64::MAX; 8]), None);
    }
}
