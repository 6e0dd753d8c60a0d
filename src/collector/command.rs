//! The command lines of processes, which come in parts ahead of what else is told of a process.

use std::collections::HashMap;

use ascend_trace_format::record::{Header, MAX_STRING, Reader, RecordKind};

/// What the end of a command line that is not told whole looks like.
const CUT: &str = "…";

/// Parts that have come.
#[derive(Debug, Default)]
struct Begun {
    bytes: Vec<u8>,
    parts: u16,
    is_cut: bool,
}

/// Command lines of processes that have not been introduced yet.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    begun: HashMap<u32, Begun>,
}

impl Commands {
    /// Takes a part of a command line; `false` for any other record.
    pub(crate) fn take(&mut self, words: &[u64], process: u32) -> bool {
        let header = words.first().and_then(|word| Header::decode(*word));
        let Some(header) = header.filter(|it| it.kind == RecordKind::Command) else {
            return false;
        };
        let begun = self.begun.entry(process).or_default();
        let mut reader = Reader::new(words);
        let (texts, is_cut) = (reader.word(), reader.word() != 0);
        // A part that is missing found no room.
        if begun.is_cut || header.aux != begun.parts {
            begun.is_cut = true;
            return true;
        }
        let mut text = [0; MAX_STRING];
        for _ in 0..texts.min(words.len() as u64) {
            begun
                .bytes
                .extend(reader.string(&mut text).unwrap_or_default());
        }
        begun.parts += 1;
        begun.is_cut = is_cut;
        true
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
    use ascend_trace_format::record::{MAX_WORDS, Words};

    fn part(number: u16, is_cut: bool, texts: &[&[u8]]) -> [u64; MAX_WORDS] {
        let mut buffer = [0; MAX_WORDS];
        let mut words = Words::new(&mut buffer);
        words.push(texts.len() as u64);
        words.push(is_cut.into());
        texts.iter().for_each(|text| words.push_string(text));
        words.finish(Header {
            kind: RecordKind::Command,
            slots: 0,
            aux: number,
            depth: 0,
            flags: 0,
            device: None,
        });
        buffer
    }

    #[test]
    fn parts_are_put_together() {
        let mut commands = Commands::default();
        assert!(commands.take(&part(0, false, &[b"python\0tra", b"in.py\0"]), 4));
        assert!(commands.take(&part(1, false, &[b"\0--x\0"]), 4));
        assert_eq!(commands.of(4), "python\0train.py\0\0--x");
        assert!(commands.of(4).is_empty());
    }

    #[test]
    fn what_is_not_whole_says_so() {
        let mut commands = Commands::default();
        commands.take(&part(0, true, &[b"a\0bcd"]), 1);
        assert_eq!(commands.of(1), "a\0bcd…");
        commands.take(&part(0, false, &[b"a\0b"]), 1);
        commands.take(&part(2, false, &[b"lost before\0"]), 1);
        assert_eq!(commands.of(1), "a\0b…");
    }

    #[test]
    fn nonsense_is_no_harm() {
        let mut commands = Commands::default();
        assert!(!commands.take(&[], 1));
        let mut strange = part(0, false, &[b"a"]);
        strange[1] = u64::MAX;
        assert!(commands.take(&strange, 1));
        assert!(commands.of(1).starts_with('a'));
    }
}
