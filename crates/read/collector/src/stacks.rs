//! The stacks of calls: each has a number in the file, independent of its process's number.

use std::collections::HashMap;
use std::fmt::Write as _;

use ascend_trace_format::record::{MAX_LONG_TEXT, Text, kinds};
use ascend_trace_recording::rows::{CodeRow, ObjectRow, StackRow};

use super::decode::string;

/// Where the number of a frame's object is in its word.
const OBJECT_AT: u32 = 48;
/// A frame of Python: it has a line, and the number of its code above.
const IS_PYTHON: u64 = 1 << 63;
const LINE_BITS: u32 = 24;
/// Limit for different stacks of a recording, and for codes of Python: a faulty program may send any
/// number.
const MOST: usize = 1 << 22;

#[derive(Debug, Default)]
pub(crate) struct Stacks {
    numbers: HashNumbers,
    codes: HashNumbers,
}

/// Numbers, from 1, of the hashes of a process.
#[derive(Debug, Default)]
struct HashNumbers(HashMap<(u32, u64), NumberedHash>);

#[derive(Debug)]
struct NumberedHash {
    number: u32,
    /// The file contains its subject.
    is_described: bool,
}

impl HashNumbers {
    fn noted(&mut self, process: u32, id: u64) -> Option<&mut NumberedHash> {
        let next = self.0.len() + 1;
        let key = (process, id);
        if next > MOST && !self.0.contains_key(&key) {
            return None;
        }
        let noted = self.0.entry(key).or_insert(NumberedHash {
            number: u32::try_from(next).unwrap_or(u32::MAX),
            is_described: false,
        });
        Some(noted)
    }

    fn number(&mut self, process: u32, id: u64) -> Option<u32> {
        self.noted(process, id).map(|noted| noted.number)
    }

    /// The number of a subject that the file does not contain yet.
    fn new_number(&mut self, process: u32, id: u64) -> Option<u32> {
        let noted = self.noted(process, id)?;
        let is_described = std::mem::replace(&mut noted.is_described, true);
        (!is_described).then_some(noted.number)
    }
}

impl Stacks {
    /// The number of a stack, from 1. Its frames may come later, or never.
    pub(crate) fn number(&mut self, process: u32, id: u64) -> Option<u32> {
        self.numbers.number(process, id)
    }

    /// The row of a stack; `None` when the file has it.
    pub(crate) fn row(&mut self, record: &kinds::Stack<'_>, process: u32) -> Option<StackRow> {
        Some(StackRow {
            process,
            stack: self.numbers.new_number(process, record.id)?,
            frames: self.frames(record.frames, process),
        })
    }

    /// The row of code of Python; `None` when the file has it.
    pub(crate) fn code(&mut self, record: &kinds::Code<'_>, process: u32) -> Option<CodeRow> {
        Some(CodeRow {
            process,
            code: self.codes.new_number(process, record.number)?,
            function: string(record.function),
            file: string(record.file),
        })
    }

    /// The frames as the file has them.
    fn frames(&mut self, record: Text<'_, MAX_LONG_TEXT>, process: u32) -> String {
        let mut room = [0; MAX_LONG_TEXT];
        let (words, _) = record.copy(&mut room).as_chunks();
        let mut text = String::new();
        for word in words.iter().map(|bytes| u64::from_ne_bytes(*bytes)) {
            if !text.is_empty() {
                text.push(' ');
            }
            let _ = if word & IS_PYTHON == 0 {
                let (object, address) = (word >> OBJECT_AT, word & ((1 << OBJECT_AT) - 1));
                write!(text, "{object}:{address:x}")
            } else {
                let line = word & ((1 << LINE_BITS) - 1);
                let code = (word & !IS_PYTHON) >> LINE_BITS;
                let code = self.codes.number(process, code).unwrap_or(0);
                write!(text, "p{code}:{line}")
            };
        }
        text
    }
}

/// The row of an object.
pub(crate) fn object(record: &kinds::Object<'_>, process: u32) -> ObjectRow {
    let mut room = [0; _];
    let mut build_id = String::new();
    for byte in record.build_id.copy(&mut room) {
        let _ = write!(build_id, "{byte:02x}");
    }
    ObjectRow {
        process,
        object: record.number.into(),
        base: record.base,
        build_id,
        path: string(record.path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: u64, frames: &[u8]) -> kinds::Stack<'_> {
        kinds::Stack {
            id,
            frames: Text::new(frames),
        }
    }

    #[test]
    fn a_stack_has_one_number_and_is_in_the_file_once() {
        let mut stacks = Stacks::default();
        assert_eq!(stacks.number(1, 77), Some(1), "a call may come first");
        let words = [3 << OBJECT_AT | 0x1234u64, 0xabc].map(u64::to_ne_bytes);
        let row = stacks.row(&record(77, words.as_flattened()), 1);
        let expected = StackRow {
            process: 1,
            stack: 1,
            frames: "3:1234 0:abc".to_owned(),
        };
        assert_eq!(row, Some(expected));
        assert_eq!(stacks.row(&record(77, &[]), 1), None);
        // Another process may have the same hash.
        assert_eq!(
            stacks.row(&record(77, &[]), 2).map(|row| row.stack),
            Some(2)
        );
        assert_eq!(stacks.number(1, 77), Some(1));
    }

    #[test]
    fn frames_of_python_have_lines_and_numbers_of_their_code() {
        let mut stacks = Stacks::default();
        let word = |code: u64, line: u64| IS_PYTHON | code << LINE_BITS | line;
        let words = [word(0x7f_1234_5678, 42), 2 << OBJECT_AT | 0x10, word(9, 0)];
        let bytes = words.map(u64::to_ne_bytes);
        let row = stacks.row(&record(5, bytes.as_flattened()), 1).unwrap();
        assert_eq!(row.frames, "p1:42 2:10 p2:0");
        let code = kinds::Code {
            number: 9,
            function: Text::new(b"Net.forward"),
            file: Text::new(b"/srv/net.py"),
        };
        let row = stacks.code(&code, 1).unwrap();
        assert_eq!((row.process, row.code), (1, 2));
        assert_eq!((&*row.function, &*row.file), ("Net.forward", "/srv/net.py"));
        assert_eq!(stacks.code(&code, 1), None);
        assert_eq!(stacks.code(&code, 2).map(|row| row.code), Some(3));
    }

    #[test]
    fn an_object_has_its_build_id_in_hexadecimal() {
        let record = kinds::Object {
            number: 9,
            base: 0x5500,
            build_id: Text::new(&[0xab, 0x01]),
            path: Text::new(b"/bin/train"),
        };
        let row = object(&record, 4);
        assert_eq!((row.process, row.object, row.base), (4, 9, 0x5500));
        assert_eq!((&*row.build_id, &*row.path), ("ab01", "/bin/train"));
    }
}
