//! Reads the tables that compilers write for unwinding. All of it may be wrong: nothing is read beyond
//! the available bytes, and nonsense is `None`.

/// How addresses are written in the tables.
const OMITTED: u8 = 0xff;
const FORM: u8 = 0x0f;
const RELATION: u8 = 0x70;
const INDIRECT: u8 = 0x80;

/// Bytes of a mapped object, and the address of the first one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a> {
    pub(super) at: usize,
    pub(super) bytes: &'a [u8],
}

#[cfg(test)]
impl Bytes<'_> {
    /// What there is from an address on.
    pub(super) fn from(&self, address: usize) -> Option<Self> {
        let offset = address.wrapping_sub(self.at);
        Some(Self {
            at: address,
            bytes: self.bytes.get(offset..)?,
        })
    }
}

/// Takes values from the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a>(pub(super) Bytes<'a>);

impl<'a> Cursor<'a> {
    pub(super) fn at(&self) -> usize {
        self.0.at
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.bytes.is_empty()
    }

    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.bytes.split_at_checked(count)?;
        self.0.at = self.0.at.wrapping_add(count);
        self.0.bytes = rest;
        Some(taken)
    }

    /// The next `count` bytes as a separate cursor.
    pub(super) fn part(&mut self, count: usize) -> Option<Self> {
        let at = self.at();
        let bytes = self.bytes(count)?;
        Some(Self(Bytes { at, bytes }))
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_ne_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_ne_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_ne_bytes)
    }

    /// A number of any length (ULEB128), as far as it fits.
    pub(super) fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A signed number of any length (SLEB128), as far as it fits.
    pub(super) fn signed(&mut self) -> Option<i64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.u8()?;
            value |= i64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let used = (shift + 7).min(u64::BITS);
                let unused = u64::BITS - used;
                return Some(value << unused >> unused);
            }
        }
        None
    }

    /// A text up to its NUL.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.0.bytes.iter().position(|byte| *byte == 0)?;
        let text = self.bytes(length)?;
        self.u8()?;
        Some(text)
    }

    /// An address in one of the forms of the tables; those that are relative to data are so to `data`.
    /// One that is only a place where the address is found is not followed: 0.
    pub(super) fn address(&mut self, encoding: u8, data: usize) -> Option<usize> {
        if encoding == OMITTED {
            return Some(0);
        }
        let place = self.at();
        let value = self.value(encoding)?;
        let base = match encoding & RELATION {
            0x00 => 0,
            0x10 => place,
            0x30 => data,
            _ => return None,
        };
        Some(match encoding & INDIRECT {
            0 => base.wrapping_add(value),
            _ => 0,
        })
    }

    /// The value alone, for a length.
    pub(super) fn value(&mut self, encoding: u8) -> Option<usize> {
        Some(match encoding & FORM {
            0x00 | 0x04 | 0x0c => self.u64()? as usize,
            0x01 => self.unsigned()? as usize,
            0x02 => self.u16()?.into(),
            0x03 => self.u32()? as usize,
            0x09 => self.signed()? as usize,
            0x0a => self.u16()?.cast_signed() as isize as usize,
            0x0b => self.u32()?.cast_signed() as isize as usize,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(bytes: &[u8]) -> Cursor<'_> {
        Cursor(Bytes { at: 0x1000, bytes })
    }

    #[test]
    fn numbers_of_any_length_are_read_with_their_signs() {
        assert_eq!(cursor(&[0xe5, 0x8e, 0x26]).unsigned(), Some(624_485));
        assert_eq!(cursor(&[0x7f]).signed(), Some(-1));
        assert_eq!(cursor(&[0x80, 0x7f]).signed(), Some(-128));
        assert_eq!(cursor(&[0xc0, 0xbb, 0x78]).signed(), Some(-123_456));
        assert_eq!(cursor(&[0x80]).unsigned(), None);
        assert_eq!(cursor(&[0x80; 20]).unsigned(), None);
        assert_eq!(cursor(&[0xff; 20]).signed(), None);
    }

    #[test]
    fn addresses_are_relative_to_their_place_or_to_data() {
        let bytes = (-16i32).to_ne_bytes();
        assert_eq!(cursor(&bytes).address(0x1b, 0), Some(0xff0));
        assert_eq!(cursor(&bytes).address(0x3b, 0x5000), Some(0x4ff0));
        assert_eq!(cursor(&bytes).address(0x9b, 0), Some(0), "indirect");
        assert_eq!(cursor(&bytes).address(OMITTED, 0), Some(0));
        assert_eq!(cursor(&bytes).address(0x2b, 0), None);
        assert_eq!(cursor(&bytes[..3]).address(0x1b, 0), None);
    }
}
