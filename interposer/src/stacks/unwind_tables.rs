//! The entries of an object's unwind tables (`.eh_frame_hdr`, `.eh_frame`).

use super::cfi_program::{self, Program};
use super::cursor::{Bytes, Cursor};
use super::unwind_rule::Step;

/// A table of pairs: begin of a function, and its entry. Each of two words of 32 bits.
const SORTED: u8 = 0x3b;
/// Instructions of an entry, or its augmentation, in bytes. More than that is taken to be damage.
const MOST_BYTES: usize = 1 << 20;

/// The step at an address, by the tables that begin in `header`; `part` returns the object's bytes from
/// an address on. `None` without an entry.
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
    cfi_program::run(
        &program,
        shared.instructions,
        body,
        address.wrapping_sub(begin),
    )
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

/// The content of an entry after its id, the place of the id, and the id.
fn open(mut cursor: Cursor<'_>) -> Option<(Cursor<'_>, usize, usize)> {
    let length = cursor.u32()? as usize;
    // Longer entries are for objects that do not occur.
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

#[cfg(test)]
mod tests {
    use core::ops::ControlFlow;

    use super::*;
    use crate::loader::walk;

    /// Bytes that follow no rule, the same each time.
    struct Noise(u64);

    impl Noise {
        fn next(&mut self) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            self.0 >> 24
        }
    }

    /// The segment with the tables of this program, a copy, and the address of the sorted table.
    fn own_tables() -> (usize, Vec<u8>, usize) {
        let mut found = None;
        walk::each(|place| {
            if !place.is_own() {
                return ControlFlow::Continue(());
            }
            let header = place.object.unwind_header().unwrap();
            let (begin, _) = place.object.range();
            let bytes = place.object.readable_from(begin).unwrap();
            found = Some((begin, bytes.to_vec(), header));
            ControlFlow::Break(())
        });
        found.unwrap()
    }

    fn step_in(at: usize, bytes: &[u8], header: usize, address: usize) -> Option<Step> {
        let all = Bytes { at, bytes };
        step(all.from(header)?, address, &|address| all.from(address))
    }

    #[test]
    fn all_functions_of_this_program_have_steps() {
        let (at, bytes, header) = own_tables();
        if header.wrapping_sub(at) > bytes.len() {
            return;
        }
        let known = [
            own_tables as *const () as usize,
            step_in as *const () as usize,
        ];
        for function in known {
            for offset in [0, 1, 5, 20] {
                let found = step_in(at, &bytes, header, function + offset);
                assert!(matches!(found, Some(Step::Frame { .. })), "{found:?}");
            }
        }
    }

    #[test]
    fn damaged_tables_have_no_result_and_do_no_harm() {
        let (at, sound, header) = own_tables();
        let function = own_tables as *const () as usize;
        let mut noise = Noise(1);
        let from = header.wrapping_sub(at).min(sound.len());
        for _ in 0..200 {
            let mut bytes = sound.clone();
            for _ in 0..2000 {
                let place = from + noise.next() as usize % (bytes.len() - from).max(1);
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = noise.next() as u8;
                }
            }
            for offset in 0..64 {
                step_in(at, &bytes, header, function + offset * 997);
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_harm() {
        let mut noise = Noise(2);
        for length in 0..4000usize {
            let mut bytes: Vec<u8> = (0..length % 300).map(|_| noise.next() as u8).collect();
            // Often enough it looks like a table of one entry.
            let head = [
                1, 0x1b, 0x03, SORTED, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0,
            ];
            for (place, byte) in bytes.iter_mut().zip(head) {
                *place = byte;
            }
            step_in(0x1000, &bytes, 0x1000, 0x1000 + length);
        }
    }

    #[test]
    fn an_entry_for_signals_and_one_that_aligns_its_stack_are_known() {
        // A header with one function at 0x2000, its entry at 0x1030 and the shared part at 0x1014.
        let mut bytes = vec![1, 0x1b, 0x03, SORTED, 0, 0, 0, 0, 1, 0, 0, 0];
        bytes.extend(0x1000i32.to_ne_bytes());
        bytes.extend(0x30i32.to_ne_bytes());
        let shared = |letters: &[u8], rest: &[u8]| {
            let mut body = vec![0, 0, 0, 0, 1];
            body.extend(letters);
            body.extend(rest);
            body.resize(24, 0);
            body
        };
        let own = |instructions: &[u8]| {
            let mut body = 0x20u32.to_ne_bytes().to_vec();
            body.extend(0x2000u64.to_ne_bytes());
            body.extend(0x100u64.to_ne_bytes());
            body.push(0);
            body.extend(instructions);
            body.resize(44, 0);
            body
        };
        let whole = |letters: &[u8], rest: &[u8], instructions: &[u8]| {
            let mut all = bytes.clone();
            for body in [shared(letters, rest), own(instructions)] {
                all.extend((body.len() as u32).to_ne_bytes());
                all.extend(body);
            }
            all
        };
        // Entry at 0x14 + 28 = 0x30, its id at 0x34, so the shared part is 0x20 before that.
        let signal = whole(b"zRS\0", &[1, 0x78, 16, 1, 0], &[]);
        assert_eq!(step_in(0x1000, &signal, 0x1000, 0x2010), Some(Step::Signal));
        assert_eq!(step_in(0x1000, &signal, 0x1000, 0x2100), None, "behind it");
        if cfg!(target_arch = "x86_64") {
            // The frame is at *(rbp - 8), rbp at *rbp, the return address 8 below the frame.
            let aligned = [0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0, 0x90, 1];
            let aligned = whole(b"zR\0", &[1, 0x78, 16, 1, 0, 0], &aligned);
            let expected = Step::Frame {
                base: super::super::unwind_rule::Base::AtFp(-8),
                fp: super::super::unwind_rule::Saved::Same,
                ra: super::super::unwind_rule::Saved::At(-1),
            };
            assert_eq!(step_in(0x1000, &aligned, 0x1000, 0x2010), Some(expected));
        }
    }
}
