//! The trace of a recording inside a recording, as the row of it has it.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::rows::InnerRow;

impl InnerRow {
    /// `trace`: `None` for standard output.
    pub fn new(pid: u32, trace: Option<&Path>) -> Self {
        Self {
            pid,
            trace: trace.map_or_else(String::new, |it| escaped(it.as_os_str().as_bytes())),
        }
    }

    /// The trace; `None` for standard output.
    pub fn path(&self) -> Option<PathBuf> {
        let is_named = !self.trace.is_empty();
        is_named.then(|| OsString::from_vec(unescaped(self.trace.as_bytes())).into())
    }
}

fn escaped(name: &[u8]) -> String {
    let mut escaped = String::new();
    for chunk in name.utf8_chunks() {
        escaped.push_str(&chunk.valid().replace('\\', r"\\"));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(escaped, r"\x{byte:02x}");
        }
    }
    escaped
}

/// Takes a backslash that no writer has written as it is.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut name = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match after {
            [b'\\', after @ ..] if *first == b'\\' => (b'\\', after),
            [b'x', high, low, tail @ ..] if *first == b'\\' => match byte(*high, *low) {
                Some(byte) => (byte, tail),
                None => (*first, after),
            },
            _ => (*first, after),
        };
        name.push(byte);
        rest = after;
    }
    name
}

/// The byte with these hexadecimal digits.
fn byte(high: u8, low: u8) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_as_it_was_written() {
        for name in [
            &b"/x/inner.atrace"[..],
            b"/a\nb",
            br"/a\b\\x41",
            b"/\xff\\\xfe41",
            "/前向".as_bytes(),
        ] {
            let path = PathBuf::from(OsString::from_vec(name.to_vec()));
            let row = InnerRow::new(7, Some(&path));
            assert_eq!(row.path(), Some(path), "{}", row.trace);
        }
        assert_eq!(InnerRow::new(7, None).path(), None);
        assert_eq!(InnerRow::new(7, Some(Path::new("/x"))).trace, "/x");
    }

    #[test]
    fn any_text_is_read() {
        for text in [r"\", r"\x", r"\xg1", r"\x4", r"\y"] {
            let trace = text.to_owned();
            let path = InnerRow { pid: 0, trace }.path();
            assert_eq!(path, Some(text.into()));
        }
    }
}
