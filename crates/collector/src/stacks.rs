//! The stacks of calls: each has a number in the file, whatever its process calls it.

use std::collections::HashMap;
use std::fmt::Write as _;

use ascend_trace_format::record::{MAX_LONG_TEXT, Text, told};
use ascend_trace_recording::rows::{ObjectRow, StackRow};

use super::decode::string;

/// Where the number of a frame's object is in its word.
const OBJECT_AT: u32 = 48;
/// Different stacks of a recording that get numbers: a program that is not sound may tell any.
const MOST: usize = 1 << 22;

#[derive(Debug, Default)]
pub(crate) struct Stacks {
    numbers: HashMap<(u32, u64), Noted>,
}

#[derive(Debug)]
struct Noted {
    number: u32,
    /// The file has its frames.
    is_told: bool,
}

impl Stacks {
    /// The number of a stack, from 1. Its frames may come later, or never.
    pub(crate) fn number(&mut self, process: u32, id: u64) -> Option<u32> {
        self.noted(process, id).map(|noted| noted.number)
    }

    fn noted(&mut self, process: u32, id: u64) -> Option<&mut Noted> {
        let next = self.numbers.len() + 1;
        let key = (process, id);
        if next > MOST && !self.numbers.contains_key(&key) {
            return None;
        }
        let noted = self.numbers.entry(key).or_insert(Noted {
            number: u32::try_from(next).unwrap_or(u32::MAX),
            is_told: false,
        });
        Some(noted)
    }

    /// The row of a stack; `None` when the file has it.
    pub(crate) fn row(&mut self, told: &told::Stack<'_>, process: u32) -> Option<StackRow> {
        let noted = self.noted(process, told.id)?;
        if std::mem::replace(&mut noted.is_told, true) {
            return None;
        }
        Some(StackRow {
            process,
            stack: noted.number,
            frames: frames(told.frames),
        })
    }
}

/// The frames as the file has them.
fn frames(told: Text<'_, MAX_LONG_TEXT>) -> String {
    let mut room = [0; MAX_LONG_TEXT];
    let (words, _) = told.copy(&mut room).as_chunks();
    let mut text = String::new();
    for word in words.iter().map(|bytes| u64::from_ne_bytes(*bytes)) {
        let (object, address) = (word >> OBJECT_AT, word & ((1 << OBJECT_AT) - 1));
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{object}:{address:x}");
    }
    text
}

/// The row of an object.
pub(crate) fn object(told: &told::Object<'_>, process: u32) -> ObjectRow {
    let mut room = [0; _];
    let mut build_id = String::new();
    for byte in told.build_id.copy(&mut room) {
        let _ = write!(build_id, "{byte:02x}");
    }
    ObjectRow {
        process,
        object: told.number.into(),
        base: told.base,
        build_id,
        path: string(told.path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(id: u64, frames: &[u8]) -> told::Stack<'_> {
        told::Stack {
            id,
            frames: Text::new(frames),
        }
    }

    #[test]
    fn a_stack_has_one_number_and_is_in_the_file_once() {
        let mut stacks = Stacks::default();
        assert_eq!(stacks.number(1, 77), Some(1), "a call may come first");
        let words = [3 << OBJECT_AT | 0x1234u64, 0xabc].map(u64::to_ne_bytes);
        let row = stacks.row(&told(77, words.as_flattened()), 1);
        let expected = StackRow {
            process: 1,
            stack: 1,
            frames: "3:1234 0:abc".to_owned(),
        };
        assert_eq!(row, Some(expected));
        assert_eq!(stacks.row(&told(77, &[]), 1), None);
        // Another process may have the same hash.
        assert_eq!(stacks.row(&told(77, &[]), 2).map(|row| row.stack), Some(2));
        assert_eq!(stacks.number(1, 77), Some(1));
    }

    #[test]
    fn an_object_has_its_build_id_in_hexadecimal() {
        let told = told::Object {
            number: 9,
            base: 0x5500,
            build_id: Text::new(&[0xab, 0x01]),
            path: Text::new(b"/bin/train"),
        };
        let row = object(&told, 4);
        assert_eq!((row.process, row.object, row.base), (4, 9, 0x5500));
        assert_eq!((&*row.build_id, &*row.path), ("ab01", "/bin/train"));
    }
}
