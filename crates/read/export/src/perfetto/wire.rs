//! Protocol buffer messages, written forwards into one buffer.

/// Bytes of the length of a nested message: always four, so that it can be filled in when the message
/// is complete. Readers accept lengths that are longer than necessary.
const LENGTH: usize = 4;

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;

/// A message under construction, and its enclosing ones.
#[derive(Debug, Default)]
pub(super) struct MessageWriter {
    bytes: Vec<u8>,
}

/// Where a nested message began.
#[must_use = "the message has to be closed"]
#[derive(Debug)]
pub(super) struct OpenMessage(usize);

impl MessageWriter {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(capacity),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    #[inline]
    pub(super) fn unsigned(&mut self, field: u32, value: u64) {
        self.tag(field, VARINT);
        self.varint(value);
    }

    /// A signed value of the types `int32` and `int64`.
    #[inline]
    pub(super) fn signed(&mut self, field: u32, value: i64) {
        self.unsigned(field, value as u64);
    }

    #[inline]
    pub(super) fn fixed(&mut self, field: u32, value: u64) {
        self.tag(field, FIXED64);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    #[inline]
    pub(super) fn text(&mut self, field: u32, text: &str) {
        self.tag(field, BYTES);
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    #[inline]
    pub(super) fn open(&mut self, field: u32) -> OpenMessage {
        self.tag(field, BYTES);
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(&[0; LENGTH]);
        OpenMessage(begin)
    }

    #[inline]
    pub(super) fn close(&mut self, OpenMessage(begin): OpenMessage) {
        let length = self.bytes.len().saturating_sub(begin + LENGTH);
        debug_assert!(length < 1 << (7 * LENGTH));
        let septets = spread(length as u64) as u32 | 0x0080_8080;
        if let Some(room) = self.bytes[begin..].first_chunk_mut::<LENGTH>() {
            *room = septets.to_le_bytes();
        }
    }

    /// Opens a message that is nearly always so short that its length takes this many bytes.
    #[inline]
    pub(super) fn open_short(&mut self, field: u32, room: usize) -> OpenMessage {
        self.tag(field, BYTES);
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(&[0; LENGTH][..room]);
        OpenMessage(begin)
    }

    /// Closes what [`Self::open_short`] opened. A message that is longer is moved.
    #[inline]
    pub(super) fn close_short(&mut self, OpenMessage(begin): OpenMessage, room: usize) {
        let length = self.bytes.len().saturating_sub(begin + room);
        if length >> (7 * room) != 0 {
            let more = [0; LENGTH].into_iter().skip(room);
            self.bytes.splice(begin..begin, more);
            return self.close(OpenMessage(begin));
        }
        let last = begin + room - 1;
        let mut rest = length;
        for byte in &mut self.bytes[begin..last] {
            *byte = rest as u8 | 0x80;
            rest >>= 7;
        }
        self.bytes[last] = rest as u8;
    }

    /// Adds bytes that are fields.
    #[inline]
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// A message of less than 128 bytes, with a length of one byte.
    #[inline]
    pub(super) fn short(&mut self, field: u32, fill: impl FnOnce(&mut Self)) {
        self.tag(field, BYTES);
        let begin = self.bytes.len();
        self.bytes.push(0);
        fill(self);
        let length = self.bytes.len() - begin - 1;
        debug_assert!(length < 0x80);
        self.bytes[begin] = length as u8;
    }

    /// Adds fields that were written before.
    #[inline]
    pub(super) fn fields(&mut self, fields: &RepeatedFields) {
        let end = self.bytes.len() + usize::from(fields.length);
        self.bytes.extend_from_slice(&fields.bytes);
        self.bytes.truncate(end);
    }

    #[inline]
    fn tag(&mut self, field: u32, kind: u64) {
        self.varint(u64::from(field) << 3 | kind);
    }

    #[inline]
    fn varint(&mut self, value: u64) {
        if value < 0x80 {
            self.bytes.push(value as u8);
        } else if value < SPREAD {
            // A copy of fixed length and a cut are faster than a byte at a time.
            let count = (70 - value.leading_zeros() as usize) / 7;
            let more = 0x8080_8080_8080_8080 & !(u64::MAX << (8 * (count - 1)));
            let end = self.bytes.len() + count;
            let septets = spread(value) | more;
            self.bytes.extend_from_slice(&septets.to_le_bytes());
            self.bytes.truncate(end);
        } else {
            self.long_varint(value);
        }
    }

    fn long_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

/// Numbers below this have eight septets at the most.
const SPREAD: u64 = 1 << 56;

/// The septets of a number below [`SPREAD`], a byte each: halves of halves are moved apart.
#[inline]
const fn spread(value: u64) -> u64 {
    let halves = (value & 0x0fff_ffff) | (value & 0x00ff_ffff_f000_0000) << 4;
    let quarters = (halves & 0x0000_3fff_0000_3fff) | (halves & 0x0fff_c000_0fff_c000) << 2;
    (quarters & 0x007f_007f_007f_007f) | (quarters & 0x3f80_3f80_3f80_3f80) << 1
}

/// A few fields that occur often, as they are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct RepeatedFields {
    bytes: [u8; 24],
    length: u8,
}

impl RepeatedFields {
    /// Two numbers at the most.
    pub(super) fn of(fill: impl FnOnce(&mut MessageWriter)) -> Self {
        let mut wire = MessageWriter::default();
        fill(&mut wire);
        let mut bytes = [0; 24];
        let length = wire.bytes.len().min(bytes.len());
        debug_assert_eq!(length, wire.bytes.len());
        bytes[..length].copy_from_slice(&wire.bytes[..length]);
        let length = length as u8;
        Self { bytes, length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_the_format_wants_them() {
        let mut wire = MessageWriter::default();
        wire.unsigned(1, 300);
        wire.signed(2, -1);
        wire.fixed(47, 1);
        wire.text(3, "ab");
        let minus_one = [0xff; 9];
        let mut expected = vec![0x08, 0xac, 0x02, 0x10];
        expected.extend(minus_one);
        expected.extend([
            0x01, 0xf9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0, 0x1a, 2, b'a', b'b',
        ]);
        assert_eq!(wire.bytes(), expected);
    }

    #[test]
    fn numbers_of_every_length_have_their_septets() {
        for bits in 0..=64_u32 {
            for value in [
                1_u64.checked_shl(bits).unwrap_or(0),
                u64::MAX.checked_shr(bits).unwrap_or(0),
            ] {
                for value in [value, value.wrapping_sub(1), value / 3, value / 5] {
                    let mut wire = MessageWriter::default();
                    wire.varint(value);
                    let septets = wire.bytes().iter().enumerate();
                    let parts =
                        septets.map(|(place, septet)| u64::from(septet & 0x7f) << (7 * place));
                    assert_eq!(parts.fold(0, |sum, part| sum | part), value);
                    let (last, others) = wire.bytes().split_last().unwrap();
                    assert!(*last < 0x80 && others.iter().all(|septet| *septet >= 0x80));
                    assert!(*last > 0 || others.is_empty(), "{value}");
                }
            }
        }
    }

    #[test]
    fn messages_that_are_longer_than_expected_are_moved() {
        for count in [0, 5, 127, 128, 129, 16_383, 16_384, 70_000] {
            for room in [1, 2] {
                let mut wire = MessageWriter::default();
                let open = wire.open_short(1, room);
                wire.raw(&vec![7; count]);
                wire.close_short(open, room);
                let bytes = wire.bytes();
                assert_eq!(
                    (bytes[0], bytes[bytes.len() - count..].len()),
                    (0x0a, count)
                );
                let septets = &bytes[1..bytes.len() - count];
                let parts = septets.iter().enumerate();
                let parts = parts.map(|(place, it)| usize::from(it & 0x7f) << (7 * place));
                assert_eq!(parts.sum::<usize>(), count);
                let is_short = count >> (7 * room) == 0;
                assert_eq!(septets.len(), if is_short { room } else { LENGTH });
            }
        }
    }

    #[test]
    fn lengths_are_filled_in_when_a_message_closes() {
        let mut wire = MessageWriter::default();
        let outer = wire.open(1);
        let inner = wire.open(2);
        wire.unsigned(1, 5);
        wire.close(inner);
        wire.close(outer);
        let inner = [0x12, 0x82, 0x80, 0x80, 0x00, 0x08, 5];
        assert_eq!(wire.bytes()[..5], [0x0a, 0x87, 0x80, 0x80, 0x00]);
        assert_eq!(wire.bytes()[5..], inner);
    }
}
