//! Command lines of processes. They arrive in parts before the other facts about a process.

use std::collections::HashMap;

use ascend_trace_format::record::{MAX_LONG_TEXT, kinds};

/// End of a command line that is cut.
const CUT: &str = "…";

/// Parts that have arrived.
#[derive(Debug, Default)]
struct CommandParts {
    bytes: Vec<u8>,
    parts: u16,
    is_cut: bool,
}

/// Command lines of processes that have not been introduced yet.
#[derive(Debug, Default)]
pub(crate) struct CommandLines {
    begun: HashMap<u32, CommandParts>,
}

impl CommandLines {
    /// Takes a part of a command line.
    pub(crate) fn take(&mut self, record: &kinds::Command<'_>, process: u32) {
        let begun = self.begun.entry(process).or_default();
        // A part that is missing found no room.
        if begun.is_cut || record.part != begun.parts {
            begun.is_cut = true;
            return;
        }
        let mut bytes = [0; MAX_LONG_TEXT];
        begun.bytes.extend(record.bytes.copy(&mut bytes));
        begun.parts += 1;
        begun.is_cut = record.goes_on;
    }

    /// The words that the process was started with, with a NUL between two.
    pub(crate) fn of(&mut self, process: u32) -> String {
        let begun = self.begun.remove(&process).unwrap_or_default();
        let words = begun.bytes.strip_suffix(&[0]).unwrap_or(&begun.bytes);
        let mut words = String::from_utf8_lossy(words).into_owned();
        if begun.is_cut {
            words.push_str(CUT);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::record::Text;

    fn part(part: u16, goes_on: bool, bytes: &[u8]) -> kinds::Command<'_> {
        kinds::Command {
            part,
            goes_on,
            bytes: Text::new(bytes),
        }
    }

    #[test]
    fn parts_are_put_together() {
        let mut commands = CommandLines::default();
        commands.take(&part(0, false, b"python\0train.py\0"), 4);
        commands.take(&part(1, false, b"\0--x\0"), 4);
        assert_eq!(commands.of(4), "python\0train.py\0\0--x");
        assert!(commands.of(4).is_empty());
    }

    #[test]
    fn an_incomplete_command_line_is_marked() {
        let mut commands = CommandLines::default();
        commands.take(&part(0, true, b"a\0bcd"), 1);
        assert_eq!(commands.of(1), "a\0bcd…");
        commands.take(&part(0, false, b"a\0b"), 1);
        commands.take(&part(2, false, b"lost before\0"), 1);
        assert_eq!(commands.of(1), "a\0b…");
    }
}
