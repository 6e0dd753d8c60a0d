//! Converts the hook table of a file to the trace's table of functions.

use ascend_trace_format::api::{ArgKind, ArgPart, Blocks, Fact, FactSet, RetKind, Role, TaskKind};

use std::collections::BTreeMap;

use crate::rows::{ArgRow, FunctionRow};
use crate::trace::{Argument, Function};

/// Words that a newer tool may have added read as the plainest one.
pub(crate) fn function(row: FunctionRow) -> Function {
    Function {
        name: row.name,
        category: row.category,
        role: Role::from_name(&row.role).unwrap_or(Role::Plain),
        task: TaskKind::from_name(&row.task),
        blocks: Blocks::from_name(&row.blocks).unwrap_or(Blocks::No),
        ret: RetKind::from_name(&row.ret).unwrap_or(RetKind::Wide),
        stream: row.stream,
        event: row.event,
        bytes: row.bytes,
        label: row.label,
        parts: parts(&row.parts),
        facts: row
            .facts
            .iter()
            .filter_map(|it| Fact::from_name(it))
            .collect(),
        args: row.args.into_iter().map(argument).collect(),
    }
}

fn parts(row: &BTreeMap<String, u8>) -> Vec<(ArgPart, u8)> {
    let known = row
        .iter()
        .filter_map(|(name, at)| Some((ArgPart::from_name(name)?, *at)));
    known.collect()
}

fn argument(row: ArgRow) -> Argument {
    Argument {
        name: row.name,
        kind: ArgKind::from_name(&row.kind).unwrap_or(ArgKind::Uint),
        out: row.out,
        enumeration: row.enumeration,
        is_written: row.is_written,
    }
}

/// Stands for a function that the file's tables do not hold.
pub(super) fn unknown_function(number: u16) -> Function {
    Function {
        name: format!("function {number}"),
        category: String::new(),
        role: Role::Plain,
        task: None,
        blocks: Blocks::No,
        ret: RetKind::Wide,
        stream: None,
        event: None,
        bytes: None,
        label: None,
        parts: Vec::new(),
        facts: FactSet::default(),
        args: Vec::new(),
    }
}
