//! Texts of more than [`MAX_STRING`] bytes. Separate records have their bytes, once for each text. All other records
//! have a reference: the begin of the text, a zero byte, and the hash of the whole text. A C string has no zero byte, so no
//! other text looks like a reference.

use crate::fnv;
use crate::record::MAX_STRING;

/// Bytes of a text that its records have. Further bytes count for its hash only.
pub const KEPT: usize = 4000;
/// Bytes of a text that are read.
pub const MOST: usize = 16_384;
/// Bytes from the begin of a text in a reference.
const BEGIN: usize = 96;
/// Bytes after them: a zero byte and the hash.
const TAIL: usize = 1 + size_of::<u64>();

const _: () = assert!(BEGIN + TAIL <= MAX_STRING);
const _: () = assert!(KEPT < MOST);

/// A reference to a long text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference([u8; BEGIN + TAIL]);

impl Reference {
    /// A reference to this text, and its hash; `None` when the text is short.
    pub fn to(text: &[u8]) -> Option<(Self, u64)> {
        let text = text.get(..MOST).unwrap_or(text);
        if text.len() <= MAX_STRING {
            return None;
        }
        let hash = fnv::hash(text);
        let mut bytes = [0; BEGIN + TAIL];
        let (begin, tail) = bytes.split_at_mut(BEGIN);
        for (place, byte) in begin.iter_mut().zip(text) {
            *place = *byte;
        }
        for (place, byte) in tail.iter_mut().skip(1).zip(hash.to_le_bytes()) {
            *place = byte;
        }
        Some((Self(bytes), hash))
    }

    pub const fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The begin and the hash of the text that a reference names; `None` for any other text.
pub fn referenced(text: &[u8]) -> Option<(&[u8], u64)> {
    let (begin, tail) = text.split_at_checked(BEGIN)?;
    let hash: &[u8; size_of::<u64>()] = tail.strip_prefix(&[0])?.try_into().ok()?;
    Some((begin, u64::from_le_bytes(*hash)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_names_the_whole_text() {
        let mut text = [b'k'; MOST + 1];
        let (reference, hash) = Reference::to(&text[..500]).unwrap();
        assert_eq!(referenced(reference.bytes()), Some((&text[..BEGIN], hash)));
        text[499] = b'j';
        let (other, _) = Reference::to(&text[..500]).unwrap();
        assert_ne!(other, reference, "texts that differ at their ends differ");
        let longer = Reference::to(&text[..501]);
        assert_ne!(longer.map(|(it, _)| it), Some(other));
    }

    #[test]
    fn short_texts_need_no_reference() {
        let text = [b'k'; MAX_STRING + 1];
        assert_eq!(Reference::to(&text[..MAX_STRING]), None);
        assert!(Reference::to(&text).is_some());
        for text in [&text[..MAX_STRING], &text[..BEGIN + TAIL], b"", &[0; 9]] {
            assert_eq!(referenced(text), None);
        }
    }
}
