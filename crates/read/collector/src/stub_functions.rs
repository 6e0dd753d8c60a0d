//! Functions that no table has. A process numbers those that it finds; here each name has one place,
//! after those of the table.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_format::api::{ArgPart, Blocks, RetKind, Role, TaskKind};
use ascend_trace_format::record::{STUB, Shape, kinds};
use ascend_trace_recording::rows::{ArgRow, FunctionRow};

use super::decode::string;
use crate::tables;

/// Facts about such functions from records.
#[derive(Debug, Default)]
pub(crate) struct StubFunctions {
    /// By process and index of the record.
    numbers: HashMap<(u32, u16), u16>,
    /// By shape and name.
    known: BTreeMap<(Shape, String), u16>,
    /// New ones since the last [`StubFunctions::new_ones`].
    new: Vec<FunctionRow>,
}

impl StubFunctions {
    /// The place of a function that a process calls by this index.
    pub(crate) fn number(&self, process: u32, index: u16) -> Option<u16> {
        match index {
            STUB.. => self.numbers.get(&(process, index)).copied(),
            _ => Some(index),
        }
    }

    /// Takes the name of a function; a new one takes the next place.
    pub(crate) fn take(&mut self, record: &kinds::Function<'_>, process: u32) {
        let next = u16::try_from(tables::FUNCTIONS.len() + self.known.len());
        let (Ok(next), Some(index)) = (next, STUB.checked_add(record.index)) else {
            return;
        };
        let number = *self
            .known
            .entry((record.shape, string(record.name)))
            .or_insert_with_key(|(shape, name)| {
                self.new.push(described(*shape, name));
                next
            });
        self.numbers.insert((process, index), number);
    }

    /// The functions that took the next places, in order.
    pub(crate) fn new_ones(&mut self) -> impl Iterator<Item = FunctionRow> {
        self.new.drain(..)
    }

    /// The places of the functions of a name.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = u16> {
        let keys = Shape::ALL.iter().map(|shape| (*shape, name.to_owned()));
        keys.filter_map(|key| self.known.get(&key).copied())
    }
}

/// Description of such a function in the trace.
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
            parts: [(ArgPart::Executor.name().to_owned(), 2)].into(),
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
    use ascend_trace_format::record::Text;

    fn function(index: u16, shape: Shape, name: &str) -> kinds::Function<'_> {
        let name = Text::new(name.as_bytes());
        kinds::Function { shape, index, name }
    }

    #[test]
    fn a_name_has_one_number_in_all_processes() {
        let mut found = StubFunctions::default();
        let place = tables::FUNCTIONS.len() as u16;
        found.take(&function(0, Shape::Submitting, "aclnnOwn"), 1);
        let new: Vec<_> = found.new_ones().collect();
        assert_eq!(
            (new[0].name.as_str(), new[0].task.as_str()),
            ("aclnnOwn", "kernel")
        );
        found.take(&function(7, Shape::Submitting, "aclnnOwn"), 2);
        assert_eq!(found.new_ones().count(), 0);
        assert_eq!(found.number(1, STUB), Some(place));
        assert_eq!(found.number(2, STUB + 7), Some(place));
        assert_eq!(found.number(2, STUB), None);
        assert_eq!(found.number(2, 5), Some(5));
        found.take(&function(1, Shape::Unknown, "aclOther"), 1);
        assert_eq!(found.new_ones().next().unwrap().name, "aclOther");
        assert_eq!(found.named("aclOther").collect::<Vec<_>>(), [place + 1]);
    }

    #[test]
    fn an_index_that_no_stub_has_is_left_alone() {
        let mut found = StubFunctions::default();
        found.take(&function(STUB, Shape::Unknown, "aclOther"), 1);
        assert_eq!(found.new_ones().count(), 0);
    }
}
