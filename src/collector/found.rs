//! Functions that no table has. A process numbers those that it finds; here each name has one place,
//! after those of the table.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_format::api::{Blocks, Part, RetKind, Role, TaskKind};
use ascend_trace_format::record::{Header, MAX_STRING, Reader, RecordKind, STUB, Shape};
use ascend_trace_model::rows::{ArgRow, FunctionRow};

use crate::tables;

/// What records tell of such functions.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// By process and index of the record.
    numbers: HashMap<(u32, u16), u16>,
    /// By shape and name.
    known: BTreeMap<(Shape, String), u16>,
}

impl Found {
    /// The place of a function that a process calls by this index.
    pub(crate) fn number(&self, process: u32, index: u16) -> Option<u16> {
        match index {
            STUB.. => self.numbers.get(&(process, index)).copied(),
            _ => Some(index),
        }
    }

    /// Takes a record that names a function. Answers `None` for any other record, and what takes
    /// the next place, if anything.
    pub(crate) fn take(&mut self, words: &[u64], process: u32) -> Option<Option<FunctionRow>> {
        let header = Header::decode(*words.first()?)?;
        if header.kind != RecordKind::Function {
            return None;
        }
        let mut reader = Reader::new(words);
        let shape = Shape::from_code(u8::try_from(reader.word()).ok()?)?;
        let mut bytes = [0; MAX_STRING];
        let name = String::from_utf8_lossy(reader.string(&mut bytes)?).into_owned();
        let next = u16::try_from(tables::FUNCTIONS.len() + self.known.len()).ok()?;
        let key = (shape, name);
        let known = self.known.get(&key).copied();
        let number = known.unwrap_or(next);
        let index = STUB.checked_add(header.aux)?;
        self.numbers.insert((process, index), number);
        if known.is_some() {
            return Some(None);
        }
        let function = described(shape, &key.1);
        self.known.insert(key, number);
        Some(Some(function))
    }

    /// The places of the functions of a name.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = u16> {
        let shapes = [Shape::Unknown, Shape::Planning, Shape::Submitting];
        let keys = shapes.map(|shape| (shape, name.to_owned()));
        keys.into_iter()
            .filter_map(|key| self.known.get(&key).copied())
    }
}

/// What the trace says of such a function.
fn described(shape: Shape, name: &str) -> FunctionRow {
    let plain = FunctionRow {
        name: name.to_owned(),
        category: "untyped".to_owned(),
        role: Role::Plain.name().to_owned(),
        blocks: Blocks::No.name().to_owned(),
        ret: RetKind::Int.name().to_owned(),
        ..FunctionRow::default()
    };
    let operator = FunctionRow {
        category: "aclnn_operator".to_owned(),
        ret: RetKind::Error.name().to_owned(),
        ..plain.clone()
    };
    match shape {
        Shape::Unknown => plain,
        Shape::Planning => operator,
        Shape::Submitting => FunctionRow {
            role: Role::Task.name().to_owned(),
            task: TaskKind::Kernel.name().to_owned(),
            stream: Some(3),
            parts: [(Part::Executor.name().to_owned(), 2)].into(),
            args: [
                ("workspace", "pointer"),
                ("workspaceSize", "size"),
                ("executor", "handle"),
                ("stream", "stream"),
            ]
            .map(argument)
            .into(),
            ..operator
        },
    }
}

fn argument((name, kind): (&str, &str)) -> ArgRow {
    ArgRow {
        name: name.to_owned(),
        kind: kind.to_owned(),
        out: false,
        enumeration: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::record::{MAX_WORDS, Words};

    fn record(index: u16, shape: Shape, name: &str) -> [u64; MAX_WORDS] {
        let mut buffer = [0; MAX_WORDS];
        let mut words = Words::new(&mut buffer);
        words.push(shape as u64);
        words.push_string(name.as_bytes());
        words.finish(Header {
            kind: RecordKind::Function,
            slots: 0,
            aux: index,
            depth: 0,
            flags: 0,
            device: None,
        });
        buffer
    }

    #[test]
    fn a_name_has_one_place_whatever_processes_call_it() {
        let mut found = Found::default();
        let place = tables::FUNCTIONS.len() as u16;
        let first = found.take(&record(0, Shape::Submitting, "aclnnOwn"), 1);
        let first = first.unwrap().unwrap();
        assert_eq!(
            (first.name.as_str(), first.task.as_str()),
            ("aclnnOwn", "kernel")
        );
        let again = found.take(&record(7, Shape::Submitting, "aclnnOwn"), 2);
        assert_eq!(again, Some(None));
        assert_eq!(found.number(1, STUB), Some(place));
        assert_eq!(found.number(2, STUB + 7), Some(place));
        assert_eq!(found.number(2, STUB), None);
        assert_eq!(found.number(2, 5), Some(5));
        let other = found.take(&record(1, Shape::Unknown, "aclOther"), 1);
        assert_eq!(other.unwrap().unwrap().name, "aclOther");
        assert_eq!(found.named("aclOther").collect::<Vec<_>>(), [place + 1]);
    }

    #[test]
    fn other_records_and_nonsense_are_left_alone() {
        let mut found = Found::default();
        assert_eq!(found.take(&[], 1), None);
        let mut strange = record(0, Shape::Unknown, "aclOther");
        strange[1] = 9;
        assert_eq!(found.take(&strange, 1), None);
    }
}
