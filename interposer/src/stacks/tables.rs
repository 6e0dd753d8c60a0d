//! What an object's unwind tables (`.eh_frame_hdr`, `.eh_frame`) say of an address.

use super::cursor::{Bytes, Cursor};
use super::program::{self, Program};
use super::rule::Step;

/// A table of pairs: begin of a function, and its entry. Each of two words of 32 bits.
const SORTED: u8 = 0x3b;
/// Instructions of an entry, or its augmentation, in bytes. More than that is taken to be damage.
const MOST_BYTES: usize = 1 << 20;

/// The step at an address, by the tables that begin in `header`; `part` answers the object's bytes from an
/// address on. `None` when they say nothing of it.
pub(super) fn step<'a>(
    header: Bytes<'a>,
    address: usize,
    part: &dyn Fn(usize) -> Option<Bytes<'a>>,
) -> Option<Step> {
    let entry = entry_for(header, address)?;
    let cursor = Cursor(part(entry)?);
    let (mut body, id_at, back) = open(cursor)?;
    if back == 0 {
        // It is no function's.
        return None;
    }
    let shared = Shared::read(Cursor(part(id_at.wrapping_sub(back))?))?;
    let begin = body.address(shared.encoding, 0)?;
    let length = body.value(shared.encoding)?;
    if address.wrapping_sub(begin) >= length {
        return None;
    }
    if shared.has_augmentation {
        let bytes = body.unsigned()? as usize;
        body.bytes(bytes)?;
    }
    if shared.is_signal {
        return Some(Step::Signal);
    }
    let program = Program {
        code_factor: shared.code_factor,
        data_factor: shared.data_factor,
        ra: shared.ra,
        encoding: shared.encoding,
    };
    program::run(&program, shared.instructions, body, address.wrapping_sub(begin))
}

/// The entry of the last function that begins at an address or before.
fn entry_for(header: Bytes<'_>, address: usize) -> Option<usize> {
    let mut cursor = Cursor(header);
    let [version, place, count, table] = cursor.bytes(4)? else {
        return None;
    };
    if *version != 1 || *table != SORTED {
        return None;
    }
    cursor.address(*place, header.at)?;
    let count = cursor.address(*count, header.at)?;
    let rows = cursor.bytes(count.checked_mul(8)?)?;
    let row = |index: usize| {
        let bytes = rows.get(index.checked_mul(8)?..)?;
        let mut row = Cursor(Bytes { at: 0, bytes });
        let begin = row.u32()?.cast_signed() as isize;
        let entry = row.u32()?.cast_signed() as isize;
        let from_header = |offset: isize| header.at.wrapping_add_signed(offset);
        Some((from_header(begin), from_header(entry)))
    };
    let (mut first, mut end) = (0, count);
    while first < end {
        let middle = first + (end - first) / 2;
        match row(middle)?.0 <= address {
            true => first = middle + 1,
            false => end = middle,
        }
    }
    let (_, entry) = row(first.checked_sub(1)?)?;
    Some(entry)
}

/// The content of an entry behind its id, where the id is, and what it is.
fn open(mut cursor: Cursor<'_>) -> Option<(Cursor<'_>, usize, usize)> {
    let length = cursor.u32()? as usize;
    // Long entries are for objects that nobody has.
    if !(4..MOST_BYTES).contains(&length) {
        return None;
    }
    let mut body = cursor.part(length)?;
    let id_at = body.at();
    let id = body.u32()? as usize;
    Some((body, id_at, id))
}

/// What entries have in common.
struct Shared<'a> {
    code_factor: u64,
    data_factor: i64,
    ra: u64,
    encoding: u8,
    has_augmentation: bool,
    is_signal: bool,
    instructions: Cursor<'a>,
}

impl<'a> Shared<'a> {
    fn read(cursor: Cursor<'a>) -> Option<Self> {
        let (mut body, _, id) = open(cursor)?;
        let version = body.u8()?;
        if id != 0 || !matches!(version, 1 | 3) {
            return None;
        }
        let letters = body.text()?;
        let mut shared = Self {
            code_factor: body.unsigned()?,
            data_factor: body.signed()?,
            ra: match version {
                1 => body.u8()?.into(),
                _ => body.unsigned()?,
            },
            encoding: 0,
            has_augmentation: false,
            is_signal: false,
            instructions: body,
        };
        shared.augment(letters, &mut body)?;
        shared.instructions = body;
        Some(shared)
    }

    fn augment(&mut self, letters: &[u8], body: &mut Cursor<'a>) -> Option<()> {
        let Some((b'z', letters)) = letters.split_first() else {
            return letters.is_empty().then_some(());
        };
        self.has_augmentation = true;
        let bytes = body.unsigned()? as usize;
        let mut data = body.part(bytes)?;
        for letter in letters {
            match letter {
                b'R' => self.encoding = data.u8()?,
                b'P' => {
                    let encoding = data.u8()?;
                    data.address(encoding, 0)?;
                }
                b'L' => {
                    data.u8()?;
                }
                b'S' => self.is_signal = true,
                // Return addresses are signed with the other key.
                b'B' => {}
                _ => return None,
            }
        }
        Some(())
    }
}
