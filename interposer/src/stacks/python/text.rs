//! Texts of an interpreter, as UTF-8.

use super::layout::{Layout, SIZE};
use super::memory_readers::WordReader;

/// Where a text has its state: bits of the size of its characters, and whether they follow, and are ASCII.
const STATE: usize = 32;
const KIND_AT: u32 = 2;
const IS_COMPACT: usize = 1 << 5;
const IS_ASCII: usize = 1 << 6;
/// Characters of the longest text that is believed.
const MOST: usize = 1 << 16;

/// Where the bytes of a text are, and how many.
pub(super) fn bytes<R: WordReader>(
    reads: &R,
    layout: &Layout,
    text: usize,
) -> Option<(usize, usize)> {
    let count = reads.object_word(text.checked_add(SIZE)?)?;
    let state = reads.object_word(text.checked_add(STATE)?)?;
    let size = state >> KIND_AT & 7;
    if state & IS_COMPACT == 0 || count > MOST || !matches!(size, 1 | 2 | 4) {
        return None;
    }
    let behind = match state & IS_ASCII {
        0 => layout.compact,
        _ => layout.ascii,
    };
    Some((text.checked_add(behind)?, count * size))
}

/// Copies the text at an address as far as it fits; returns its length in bytes. The end of a longer
/// text is left out.
pub(super) fn read<R: WordReader>(
    reads: &R,
    layout: &Layout,
    text: usize,
    into: &mut [u8],
) -> Option<usize> {
    let (begin, bytes) = bytes(reads, layout, text)?;
    let count = reads.object_word(text.checked_add(SIZE)?)?;
    let size = bytes.checked_div(count).unwrap_or(1);
    let mut length = 0;
    for index in 0..count {
        let place = begin.checked_add(index * size)?;
        let word = reads.object_word(place & !7)? >> (8 * (place & 7));
        let code = (word & ((1 << (8 * size)) - 1)) as u32;
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        let Some(room) = into.get_mut(length..length + bytes.len()) else {
            break;
        };
        for (place, byte) in room.iter_mut().zip(bytes) {
            *place = *byte;
        }
        length += bytes.len();
    }
    Some(length)
}
