//! Protocol buffer messages, written forwards into one buffer.

/// Bytes of the length of a nested message: four, whatever its value, so that it can be filled in
/// when the message is complete. Readers take lengths that are longer than they need to be.
const LENGTH: usize = 4;

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;

/// A message under construction, and those it lies in.
#[derive(Debug, Default)]
pub(super) struct Wire {
    bytes: Vec<u8>,
}

/// Where a nested message began.
#[must_use = "the message has to be closed"]
#[derive(Debug)]
pub(super) struct Open(usize);

impl Wire {
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
    pub(super) fn open(&mut self, field: u32) -> Open {
        self.tag(field, BYTES);
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(&[0; LENGTH]);
        Open(begin)
    }

    #[inline]
    pub(super) fn close(&mut self, Open(begin): Open) {
        let length = self.bytes.len().saturating_sub(begin + LENGTH);
        debug_assert!(length < 1 << (7 * LENGTH));
        let mut septets = [0; LENGTH];
        for (place, septet) in septets.iter_mut().enumerate() {
            let more = if place + 1 < LENGTH { 0x80 } else { 0 };
            *septet = (length >> (7 * place)) as u8 & 0x7f | more;
        }
        if let Some(room) = self.bytes.get_mut(begin..begin + LENGTH) {
            room.copy_from_slice(&septets);
        }
    }

    #[inline]
    fn tag(&mut self, field: u32, kind: u64) {
        self.varint(u64::from(field) << 3 | kind);
    }

    #[inline]
    fn varint(&mut self, value: u64) {
        if value < 0x80 {
            self.bytes.push(value as u8);
        } else if value < 0x4000 {
            self.bytes
                .extend_from_slice(&[value as u8 | 0x80, (value >> 7) as u8]);
        } else {
            self.long_varint(value);
        }
    }

    /// A copy of fixed length and a cut are faster than a byte at a time.
    fn long_varint(&mut self, mut value: u64) {
        let mut septets = [0; 10];
        let mut count = 0;
        for septet in &mut septets {
            count += 1;
            if value < 0x80 {
                *septet = value as u8;
                break;
            }
            *septet = value as u8 | 0x80;
            value >>= 7;
        }
        let end = self.bytes.len() + count;
        self.bytes.extend_from_slice(&septets);
        self.bytes.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_the_format_wants_them() {
        let mut wire = Wire::default();
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
    fn lengths_are_filled_in_when_a_message_closes() {
        let mut wire = Wire::default();
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
