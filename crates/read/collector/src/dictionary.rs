//! Functions in the file: each has a number from its first call on, and is described there before that
//! call. Most programs call few of those that the hook table has.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::{Arg, ArgPart, Function, RetKind, TaskKind};
use ascend_trace_recording::rows::{ArgRow, CallRow, FunctionRow, TablesRow};

use crate::tables;

/// The enumeration of return codes.
const CODES: &str = "aclError";
/// Number of a function that has none yet. The hook table is far shorter.
const NONE: u16 = u16::MAX;

/// The descriptions that the file contains already.
#[derive(Debug)]
pub struct Dictionary {
    /// By place in the hook table, or behind it.
    numbers: Vec<u16>,
    /// Functions that the hook table does not have: their places are behind it.
    found: Vec<FunctionRow>,
    count: u16,
    enumerations: BTreeSet<String>,
    /// The file contains the names of return codes other than 0.
    has_codes: bool,
}

impl Default for Dictionary {
    fn default() -> Self {
        Self {
            numbers: vec![NONE; tables::FUNCTIONS.len()],
            found: Vec::new(),
            count: 0,
            enumerations: BTreeSet::new(),
            has_codes: false,
        }
    }
}

impl Dictionary {
    /// Replaces a call's place in the hook table by its function's number in the file; returns the
    /// descriptions that the file needs before the call.
    #[inline]
    pub fn translate(&mut self, call: &mut CallRow) -> Option<TablesRow> {
        let place = usize::from(call.function);
        let number = *self.numbers.get(place)?;
        if number == NONE || (call.ret != 0 && !self.has_codes && self.returns_code(place)) {
            return self.describe(place, call);
        }
        call.function = number;
        None
    }

    /// A function that the hook table does not have gets the next place.
    pub fn learn(&mut self, function: FunctionRow) {
        self.numbers.push(NONE);
        self.found.push(function);
    }

    /// Whether a function returns a return code.
    fn returns_code(&self, place: usize) -> bool {
        match tables::FUNCTIONS.get(place) {
            Some(known) => matches!(known.ret, RetKind::Error),
            None => {
                let found = place.wrapping_sub(tables::FUNCTIONS.len());
                let found = self.found.get(found);
                found.is_some_and(|it| it.ret == RetKind::Error.name())
            }
        }
    }

    /// Whether a call failed that has not been translated yet.
    pub fn is_failure(&self, call: &CallRow) -> bool {
        call.ret != 0 && self.returns_code(usize::from(call.function))
    }

    /// The names of a failed call's function and of its return code.
    pub fn failure(&self, call: &CallRow) -> Option<(String, String)> {
        let place = usize::from(call.function);
        let found = || self.found.get(place.checked_sub(tables::FUNCTIONS.len())?);
        let name = match tables::FUNCTIONS.get(place) {
            Some(known) => known.name,
            None => &found()?.name,
        };
        let codes = enumeration(CODES).map(|(_, codes)| codes);
        let code =
            codes.and_then(|codes| Some(format!("{} ({})", codes.get(&call.ret)?, call.ret)));
        let code = code.unwrap_or_else(|| call.ret.to_string());
        Some((name.to_owned(), code))
    }

    #[cold]
    fn describe(&mut self, place: usize, call: &mut CallRow) -> Option<TablesRow> {
        let known = tables::FUNCTIONS.get(place);
        let returns_code = self.returns_code(place);
        let number = self.numbers.get_mut(place)?;
        let is_new = *number == NONE;
        let mut described = TablesRow {
            first: self.count,
            ..TablesRow::default()
        };
        if is_new {
            let found = place.checked_sub(tables::FUNCTIONS.len());
            let row = match (known, found) {
                (Some(known), _) => function(known),
                (None, found) => self.found.get(found?)?.clone(),
            };
            for arg in &row.args {
                if let Some(new) = enumeration(&arg.enumeration)
                    && self.enumerations.insert(new.0.clone())
                {
                    described.enumerations.extend([new]);
                }
            }
            *number = self.count;
            self.count += 1;
            described.functions.push(row);
        }
        call.function = *number;
        if call.ret != 0 && returns_code && !self.has_codes {
            self.has_codes = true;
            described.enumerations.extend(enumeration(CODES));
        }
        let is_empty = described.functions.is_empty() && described.enumerations.is_empty();
        (!is_empty).then_some(described)
    }
}

/// First tables of a file: the name of success.
pub fn first_tables() -> TablesRow {
    let mut enumerations: BTreeMap<_, _> = enumeration(CODES).into_iter().collect();
    for constants in enumerations.values_mut() {
        constants.retain(|value, _| *value == 0);
    }
    TablesRow {
        enumerations,
        ..TablesRow::default()
    }
}

/// An enumeration with its constants, if the hook table has it.
fn enumeration(wanted: &str) -> Option<(String, BTreeMap<i64, String>)> {
    let mut all = tables::ENUMERATIONS.iter();
    let (name, values) = all.find(|(name, _)| *name == wanted)?;
    let values = values
        .iter()
        .map(|(value, name)| (*value, (*name).to_owned()));
    Some(((*name).to_owned(), values.collect()))
}

fn function(function: &Function) -> FunctionRow {
    FunctionRow {
        name: function.name.to_owned(),
        category: function.category.to_owned(),
        role: function.role.name().to_owned(),
        task: function
            .task
            .map(TaskKind::name)
            .unwrap_or_default()
            .to_owned(),
        blocks: function.blocks.name().to_owned(),
        ret: function.ret.name().to_owned(),
        stream: function.stream,
        event: function.event,
        bytes: function.bytes,
        label: function.label,
        parts: function.parts.iter().map(part).collect(),
        facts: function
            .facts
            .iter()
            .map(|it| it.name().to_owned())
            .collect(),
        args: function.args.iter().map(argument).collect(),
    }
}

fn part((part, at): &(ArgPart, u8)) -> (String, u8) {
    (part.name().to_owned(), *at)
}

fn argument(arg: &Arg) -> ArgRow {
    ArgRow {
        name: arg.name.to_owned(),
        kind: arg.kind.name().to_owned(),
        out: arg.out,
        enumeration: arg.enumeration.to_owned(),
        is_written: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> usize {
        let mut all = tables::FUNCTIONS.iter();
        all.position(|it| it.name == name).unwrap()
    }

    fn call(name: &str, ret: i64) -> CallRow {
        CallRow {
            function: place(name) as u16,
            ret,
            ..CallRow::default()
        }
    }

    #[test]
    fn functions_are_numbered_and_described_in_the_order_of_their_first_calls() {
        let mut dictionary = Dictionary::default();
        let mut whole = first_tables();
        let names = ["aclrtMemcpy", "aclInit", "aclrtMemcpy", "aclrtSetDevice"];
        let numbers = names.map(|name| {
            let mut call = call(name, 0);
            whole.extend(dictionary.translate(&mut call).unwrap_or_default());
            call.function
        });
        assert_eq!(numbers, [0, 1, 0, 2]);
        let described: Vec<_> = whole.functions.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(described, ["aclrtMemcpy", "aclInit", "aclrtSetDevice"]);
        assert_eq!(whole.functions[0].args.len(), 5);
        assert!(whole.enumerations["aclrtMemcpyKind"].len() > 2);
    }

    #[test]
    fn codes_have_names_once_one_is_returned() {
        let mut dictionary = Dictionary::default();
        let first = first_tables();
        assert_eq!(first.enumerations[CODES].len(), 1);
        assert!(dictionary.translate(&mut call("aclInit", 0)).is_some());
        let described = dictionary.translate(&mut call("aclInit", 107_002)).unwrap();
        assert!(described.functions.is_empty() && described.enumerations[CODES].len() > 100);
        for name in ["aclInit", "aclInit"] {
            let mut call = call(name, 107_002);
            assert_eq!(dictionary.translate(&mut call), None);
            assert_eq!(call.function, 0);
        }
    }

    #[test]
    fn results_that_are_no_codes_describe_no_codes() {
        let is_wide = |it: &&Function| it.ret != RetKind::Error;
        let name = tables::FUNCTIONS.iter().find(is_wide).unwrap().name;
        let mut dictionary = Dictionary::default();
        dictionary.translate(&mut call(name, 0)).unwrap();
        let mut again = call(name, 5);
        assert_eq!(dictionary.translate(&mut again), None);
        assert_eq!(again.function, 0);
    }
}
