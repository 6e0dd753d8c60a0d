//! Functions that no table has. A process numbers those that it finds; here each name has one place,
//! after those of the table.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_format::api::{ArgPart, Blocks, RetKind, Role, TaskKind};
use ascend_trace_format::record::{STUB, Shape, kinds};
use ascend_trace_recording::rows::{ArgRow, FunctionRow};

use super::decode::string;
use super::operator_words::{self, Fit};
use crate::tables::{self, Operator};

/// Suffix of the first of an operator's two functions, after the name of the second.
const PLANNING: &str = "GetWorkspaceSize";

/// Facts about such functions from records.
#[derive(Debug, Default)]
pub(crate) struct StubFunctions {
    /// By process and index of the record.
    numbers: HashMap<(u32, u16), StubPlace>,
    /// By shape and name.
    known: BTreeMap<(Shape, String), StubPlace>,
    /// Functions that have taken a place.
    count: usize,
    /// New ones since the last [`StubFunctions::new_ones`].
    new: Vec<FunctionRow>,
}

/// The place of a function.
#[derive(Clone, Copy, Debug)]
struct StubPlace {
    number: u16,
    /// The function plans this operator. Then the next place is that of its calls with other parameters.
    operator: Option<&'static Operator>,
    /// The last call with a known number of words had other parameters.
    is_other: bool,
}

impl StubPlace {
    /// The place of the calls that do not fit the operator.
    const fn other(self) -> u16 {
        self.number + 1
    }
}

impl StubFunctions {
    /// The place of a function that a process calls by this index. The words of a call that plans a known operator become
    /// the arguments of the operator.
    pub(crate) fn place(&mut self, process: u32, index: u16, words: &mut Vec<u64>) -> Option<u16> {
        if index < STUB {
            return Some(index);
        }
        let place = self.numbers.get_mut(&(process, index))?;
        let Some(operator) = place.operator else {
            return Some(place.number);
        };
        let is_unsure = words.last() == Some(&0);
        if is_unsure && place.is_other {
            return Some(place.other());
        }
        let fit = operator_words::arrange(words, operator);
        if !is_unsure && fit != Fit::Begin {
            place.is_other = fit == Fit::None;
        }
        Some(match fit == Fit::None || place.is_other {
            true => place.other(),
            false => place.number,
        })
    }

    /// Takes the name of a function; a new one takes the next place.
    pub(crate) fn take(&mut self, record: &kinds::Function<'_>, process: u32) {
        let next = u16::try_from(tables::FUNCTIONS.len() + self.count);
        let (Ok(next @ ..STUB), Some(index)) = (next, STUB.checked_add(record.index)) else {
            return;
        };
        let place = *self
            .known
            .entry((record.shape, string(record.name)))
            .or_insert_with_key(|(shape, name)| {
                let row = described(*shape, name);
                let operator = operator_of(*shape, name);
                let known = operator.map(|it| operator_words::described(&row, it));
                let before = self.new.len();
                self.new.extend(known.into_iter().chain([row]));
                self.count += self.new.len() - before;
                StubPlace {
                    number: next,
                    operator,
                    is_other: false,
                }
            });
        self.numbers.insert((process, index), place);
    }

    /// The functions that took the next places, in order.
    pub(crate) fn new_ones(&mut self) -> impl Iterator<Item = FunctionRow> {
        self.new.drain(..)
    }

    /// The places of the functions of a name.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = u16> {
        let keys = Shape::ALL.iter().map(|shape| (*shape, name.to_owned()));
        let places = keys.filter_map(|key| self.known.get(&key));
        places.flat_map(|it| {
            let other = it.operator.map(|_| it.other());
            [Some(it.number), other].into_iter().flatten()
        })
    }
}

/// The operator that a function plans, if the table has it.
fn operator_of(shape: Shape, name: &str) -> Option<&'static Operator> {
    match shape {
        Shape::Planning => tables::operator(name.strip_suffix(PLANNING)?),
        _ => None,
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
            parts: [
                (ArgPart::Executor, 2),
                (ArgPart::Writes, 0),
                (ArgPart::Extent, 1),
            ]
            .map(|(part, at)| (part.name().to_owned(), at))
            .into(),
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
        ..ArgRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::record::Text;

    const OBJECT: u64 = 0x5555_0000;

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
        let mut place_of = |process, index| found.place(process, index, &mut Vec::new());
        assert_eq!(place_of(1, STUB), Some(place));
        assert_eq!(place_of(2, STUB + 7), Some(place));
        assert_eq!(place_of(2, STUB), None);
        assert_eq!(place_of(2, 5), Some(5));
        found.take(&function(1, Shape::Unknown, "aclOther"), 1);
        assert_eq!(found.new_ones().next().unwrap().name, "aclOther");
        assert_eq!(found.named("aclOther").collect::<Vec<_>>(), [place + 1]);
    }

    #[test]
    fn calls_with_other_parameters_than_the_table_says_have_a_place_without_arguments() {
        let mut found = StubFunctions::default();
        let name = "aclnnTrilGetWorkspaceSize";
        found.take(&function(3, Shape::Planning, name), 1);
        let new: Vec<_> = found.new_ones().collect();
        let names: Vec<_> = new[0].args.iter().map(|it| it.name.as_str()).collect();
        let expected = ["self", "diagonal", "out", "workspaceSize", "executor"];
        assert_eq!(names, expected);
        let written: Vec<_> = new[0].args.iter().map(|it| it.is_written).collect();
        assert_eq!(written, [false, false, true, false, false]);
        assert_eq!(new[0].parts["executor"], 4);
        assert!(new[1].args.is_empty() && new[1].name == name);
        let number = tables::FUNCTIONS.len() as u16;
        assert_eq!(found.named(name).collect::<Vec<_>>(), [number, number + 1]);
        let mut place_of = |words: &[u64]| found.place(1, STUB + 3, &mut words.to_vec());
        let failed = [OBJECT, 2, 0, 4, 5, 6, 0, 0];
        assert_eq!(place_of(&failed), Some(number));
        assert_eq!(place_of(&[OBJECT, 2, OBJECT, 8, 9]), Some(number));
        assert_eq!(place_of(&[OBJECT, 2, OBJECT, 4, 8, 9]), Some(number + 1));
        assert_eq!(place_of(&failed), Some(number + 1));
        assert_eq!(place_of(&[OBJECT, OBJECT, 2, 8, 9]), Some(number + 1));
        assert_eq!(place_of(&[OBJECT, 2, OBJECT, 8, 9]), Some(number));
        found.take(&function(4, Shape::Planning, "aclnnOwnGetWorkspaceSize"), 1);
        assert_eq!(found.new_ones().count(), 1);
    }

    #[test]
    fn an_index_that_no_stub_has_is_left_alone() {
        let mut found = StubFunctions::default();
        found.take(&function(STUB, Shape::Unknown, "aclOther"), 1);
        assert_eq!(found.new_ones().count(), 0);
    }
}
