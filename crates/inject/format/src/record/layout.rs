//! The layout of fields in a record: one after another, each at a multiple of its size, as in C. All
//! words are native. Writing stops at the end of the room, and reading returns 0 past the end of the
//! words, so that a torn record cannot fault.

use super::{MAX_LONG_TEXT, MAX_STRING, NULL_STRING, RecordHead, SLOT_WORDS};

/// Bytes of a word.
pub(super) const WORD: usize = size_of::<u64>();

/// Puts fields into a record that is being built.
pub struct Writer<'a> {
    words: &'a mut [u64],
    /// Number of bytes.
    at: usize,
}

impl<'a> Writer<'a> {
    /// A record in `words`, after its head: word 0 without further fields, or a whole one.
    #[inline(always)]
    pub(super) fn new(words: &'a mut [u64], head: u64, at: usize) -> Self {
        if let Some(first) = words.first_mut() {
            *first = head;
        }
        Self { words, at }
    }

    /// A value of `size` bytes; all other bytes of `value` are 0.
    #[inline(always)]
    fn value(&mut self, value: u64, bytes: usize) {
        let at = self.at.next_multiple_of(bytes);
        if let Some(word) = self.words.get_mut(at / WORD) {
            // The previous content belongs to another record.
            *word = match at % WORD {
                0 => value,
                behind => *word | value << (8 * behind),
            };
        }
        self.at = at + bytes;
    }

    #[inline(always)]
    pub(super) fn word(&mut self, word: u64) {
        self.value(word, WORD);
    }

    /// A length and the bytes.
    pub(super) fn bytes(&mut self, text: &[u8]) {
        self.word(text.len() as u64);
        for chunk in text.chunks(WORD) {
            let mut bytes = [0; WORD];
            for (place, byte) in bytes.iter_mut().zip(chunk) {
                *place = *byte;
            }
            self.word(u64::from_ne_bytes(bytes));
        }
    }
}

/// Takes the fields of a record in order.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    words: &'a [u64],
    at: usize,
}

impl<'a> Reader<'a> {
    /// The rest after the first `at` bytes.
    #[inline]
    pub(super) fn new(words: &'a [u64], at: usize) -> Self {
        Self { words, at }
    }

    #[inline]
    fn value(&mut self, bytes: usize) -> u64 {
        let at = self.at.next_multiple_of(bytes);
        self.at = at + bytes;
        let word = self.words.get(at / WORD).copied().unwrap_or(0) >> (8 * (at % WORD));
        match bytes {
            WORD => word,
            _ => word & ((1 << (8 * bytes)) - 1),
        }
    }

    #[inline]
    pub(super) fn word(&mut self) -> u64 {
        self.value(WORD)
    }

    /// The words that follow.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u64] {
        self.words.get(self.at.div_ceil(WORD)..).unwrap_or(&[])
    }

    /// The next `length` bytes, or those that exist.
    fn bytes<const MOST: usize>(&mut self, length: u64) -> Text<'a, MOST> {
        let rest = self.rest();
        let length = usize::try_from(length).unwrap_or(MOST).min(MOST);
        let length = length.min(rest.len() * WORD);
        self.at = self.at.next_multiple_of(WORD) + length.next_multiple_of(WORD);
        Text(TextBytes::Words(rest, length))
    }

    /// The next text; `None` for one that was NULL.
    pub fn text(&mut self) -> Option<Text<'a>> {
        match self.word() {
            NULL_STRING => None,
            length => Some(self.bytes(length)),
        }
    }
}

/// A value of a fixed size.
pub trait FixedField: Copy {
    const BYTES: usize;
    /// The value in its lowest bytes, all others 0.
    fn to_word(self) -> u64;
    /// `None` for an impossible value.
    fn from_word(word: u64) -> Option<Self>;
}

/// Type of a field of a record.
pub trait RecordField<'a>: Sized {
    /// Bytes of the record up to the end of this, when there are `at` before it.
    fn end(&self, at: usize) -> usize;
    fn put(&self, writer: &mut Writer<'_>);
    /// `None` for an impossible value.
    fn take(reader: &mut Reader<'a>) -> Option<Self>;
}

impl<T: FixedField> RecordField<'_> for T {
    #[inline(always)]
    fn end(&self, at: usize) -> usize {
        at.next_multiple_of(T::BYTES) + T::BYTES
    }

    #[inline(always)]
    fn put(&self, writer: &mut Writer<'_>) {
        writer.value(self.to_word(), T::BYTES);
    }

    fn take(reader: &mut Reader<'_>) -> Option<Self> {
        T::from_word(reader.value(T::BYTES))
    }
}

macro_rules! unsigned_fields {
    ($($type:ident)+) => {
        $(impl FixedField for $type {
            const BYTES: usize = size_of::<Self>();

            #[inline(always)]
            fn to_word(self) -> u64 {
                self as u64
            }

            fn from_word(word: u64) -> Option<Self> {
                Some(word as Self)
            }
        })+
    };
}

unsigned_fields! { u8 u16 u32 u64 }

impl FixedField for i64 {
    const BYTES: usize = WORD;

    #[inline(always)]
    fn to_word(self) -> u64 {
        self.cast_unsigned()
    }

    fn from_word(word: u64) -> Option<Self> {
        Some(word.cast_signed())
    }
}

impl FixedField for bool {
    const BYTES: usize = 1;

    #[inline(always)]
    fn to_word(self) -> u64 {
        self.into()
    }

    fn from_word(word: u64) -> Option<Self> {
        Some(word != 0)
    }
}

/// 0, or the value's bits plus 1.
impl FixedField for Option<i32> {
    const BYTES: usize = WORD;

    #[inline(always)]
    fn to_word(self) -> u64 {
        self.map_or(0, |value| u64::from(value.cast_unsigned()) + 1)
    }

    fn from_word(word: u64) -> Option<Self> {
        match word.checked_sub(1) {
            None => Some(None),
            Some(bits) => u32::try_from(bits).ok().map(|it| Some(it.cast_signed())),
        }
    }
}

/// A text, cut after `MOST` bytes: a length, and the bytes in whole words.
#[derive(Clone, Copy)]
pub struct Text<'a, const MOST: usize = MAX_STRING>(TextBytes<'a>);

/// A text of which there may be one in a record.
pub type LongText<'a> = Text<'a, MAX_LONG_TEXT>;

#[derive(Clone, Copy)]
enum TextBytes<'a> {
    Plain(&'a [u8]),
    /// This number of bytes in words.
    Words(&'a [u64], usize),
}

impl<'a, const MOST: usize> Text<'a, MOST> {
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(TextBytes::Plain(bytes.get(..MOST).unwrap_or(bytes)))
    }

    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        match self.0 {
            TextBytes::Plain(bytes) => bytes.len(),
            TextBytes::Words(_, length) => length,
        }
    }

    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies the bytes to the begin of `room`, and returns them there.
    pub fn copy<'b>(&self, room: &'b mut [u8; MOST]) -> &'b [u8] {
        let room = room.get_mut(..self.len()).unwrap_or_default();
        match self.0 {
            TextBytes::Plain(bytes) => room.copy_from_slice(bytes),
            TextBytes::Words(words, _) => {
                for (chunk, word) in room.chunks_mut(WORD).zip(words) {
                    for (place, byte) in chunk.iter_mut().zip(word.to_ne_bytes()) {
                        *place = byte;
                    }
                }
            }
        }
        room
    }
}

impl<const MOST: usize> PartialEq for Text<'_, MOST> {
    fn eq(&self, other: &Self) -> bool {
        self.copy(&mut [0; MOST]) == other.copy(&mut [0; MOST])
    }
}

impl<const MOST: usize> Eq for Text<'_, MOST> {}

impl<const MOST: usize> core::fmt::Debug for Text<'_, MOST> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "\"{}\"", self.copy(&mut [0; MOST]).escape_ascii())
    }
}

impl<'a, const MOST: usize> RecordField<'a> for Text<'a, MOST> {
    fn end(&self, at: usize) -> usize {
        at.next_multiple_of(WORD) + WORD + self.len().next_multiple_of(WORD)
    }

    fn put(&self, writer: &mut Writer<'_>) {
        match self.0 {
            TextBytes::Plain(bytes) => writer.bytes(bytes),
            TextBytes::Words(words, length) => {
                writer.word(length as u64);
                let words = words.iter().take(length.div_ceil(WORD));
                words.for_each(|word| writer.word(*word));
            }
        }
    }

    fn take(reader: &mut Reader<'a>) -> Option<Self> {
        let length = reader.word();
        Some(reader.bytes(length))
    }
}

/// A record that consists of fields.
pub trait Recorded<'a>: Sized {
    const KIND: super::RecordKind;

    /// Bytes up to the end of its last field.
    fn end(&self) -> usize;
    fn put_fields(&self, writer: &mut Writer<'_>);
    fn take_fields(reader: &mut Reader<'a>) -> Option<Self>;

    /// Slots that the record fills.
    fn slots(&self) -> usize {
        self.end().div_ceil(WORD * SLOT_WORDS)
    }

    /// Writes the record into its slots.
    fn put(&self, room: &mut [u64]) {
        let head = RecordHead {
            kind: Self::KIND,
            slots: (room.len() / SLOT_WORDS) as u8,
        };
        self.put_fields(&mut Writer::new(room, head.encode(), RecordHead::BYTES));
    }

    /// Reads the record from its words; `None` when they make no sense.
    fn take(words: &'a [u64]) -> Option<Self> {
        Self::take_fields(&mut Reader::new(words, RecordHead::BYTES))
    }
}
