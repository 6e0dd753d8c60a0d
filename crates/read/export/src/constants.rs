//! Names of constants, looked up once per value: calls pass and return the same few.

use std::cell::Cell;

use ascend_trace_format::api::{ArgKind, RetKind};
use ascend_trace_recording::{Argument, FunctionId, Trace};

/// A value and its name.
type KnownValue<'t> = Option<(i64, Option<&'t str>)>;

/// What each argument was last, and each result.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConstantNames<'t> {
    arguments: Vec<Vec<Cell<KnownValue<'t>>>>,
    results: Vec<Cell<KnownValue<'t>>>,
}

impl<'t> ConstantNames<'t> {
    pub(crate) fn of(trace: &'t Trace) -> Self {
        let functions = trace.functions().iter();
        Self {
            arguments: functions
                .clone()
                .map(|function| vec![Cell::new(None); function.args.len()])
                .collect(),
            results: functions.map(|_| Cell::new(None)).collect(),
        }
    }

    /// The name of the value of a call's argument.
    pub(crate) fn argument(
        &self,
        trace: &'t Trace,
        (function, place): (FunctionId, usize),
        argument: &'t Argument,
        value: i64,
    ) -> Option<&'t str> {
        if argument.kind != ArgKind::Enum {
            return None;
        }
        let cells = self.arguments.get(function.index());
        let cell = cells.and_then(|cells| cells.get(place));
        remember(cell, value, || trace.constant(&argument.enumeration, value))
    }

    /// The name of a code that a function returned.
    pub(crate) fn result(&self, trace: &'t Trace, id: FunctionId, value: i64) -> Option<&'t str> {
        if trace.function(id).ret != RetKind::Error {
            return None;
        }
        let cell = self.results.get(id.index());
        remember(cell, value, || trace.error_name(value))
    }
}

fn remember<'t>(
    cell: Option<&Cell<KnownValue<'t>>>,
    value: i64,
    look_up: impl FnOnce() -> Option<&'t str>,
) -> Option<&'t str> {
    if let Some((known, name)) = cell.and_then(Cell::get)
        && known == value
    {
        return name;
    }
    let name = look_up();
    if let Some(cell) = cell {
        cell.set(Some((value, name)));
    }
    name
}
