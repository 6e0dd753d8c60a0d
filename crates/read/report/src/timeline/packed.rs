//! Numbers of variable size, seven bits to a byte, as base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

#[derive(Clone, Debug, Default)]
pub(super) struct PackedBytes {
    bytes: Vec<u8>,
}

impl PackedBytes {
    /// A number that is not negative; a negative one becomes 0.
    pub(super) fn put(&mut self, number: i64) {
        let mut rest = number.max(0).unsigned_abs();
        while rest >= 0x80 {
            self.bytes.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    /// A number of either sign.
    pub(super) fn put_signed(&mut self, number: i64) {
        let number = number.clamp(-(1 << 61), 1 << 61);
        self.put(number << 1 ^ number >> 63);
    }

    pub(super) fn text(&self) -> String {
        STANDARD.encode(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_bits_to_a_byte() {
        let mut packed = PackedBytes::default();
        [0, 127, 128, 300].into_iter().for_each(|it| packed.put(it));
        [-1, 1].into_iter().for_each(|it| packed.put_signed(it));
        assert_eq!(packed.bytes, [0, 127, 0x80, 1, 0xac, 2, 1, 2]);
    }
}
