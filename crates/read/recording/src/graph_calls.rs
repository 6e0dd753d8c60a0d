//! The relation of a call to graphs, by its row.

use ascend_trace_format::api::{Fact, RetKind, Role, Untimed};

use crate::rows::{CallRow, GraphRef};
use crate::trace::Function;

/// Whether a call returns this code only because of a capture.
pub fn is_capture_code(code: i64) -> bool {
    matches!(
        code,
        107_024..=107_034 | 107_036 | 107_038 | 107_041 | 107_045 | 507_903
    )
}

/// The relation of a call to graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GraphRelation {
    Nothing,
    /// It made, changed or ended one, added to it, or was refused because of one.
    Making,
    /// It started one.
    Replay,
}

/// The columns of a call that say it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphFacts {
    pub(crate) function: u16,
    pub(crate) ret: i64,
    /// Why its task has no time, if it has a task.
    pub(crate) untimed: Option<u8>,
    pub(crate) has_stream: bool,
    pub(crate) graph: Option<GraphRef>,
}

impl From<&CallRow> for GraphFacts {
    fn from(row: &CallRow) -> Self {
        Self {
            function: row.function,
            ret: row.ret,
            untimed: row.task.map(|task| task.untimed),
            has_stream: row.stream.is_some(),
            graph: row.graph,
        }
    }
}

/// What functions have to do with graphs.
#[derive(Clone, Debug, Default)]
pub(crate) struct GraphFunctions(Vec<GraphFunction>);

#[derive(Clone, Copy, Debug, Default)]
struct GraphFunction {
    /// Its return value is an error code.
    has_code: bool,
    /// A call of it with a graph is about the graph as a whole, for any number.
    makes: bool,
    executes: bool,
}

impl GraphFunctions {
    pub(crate) fn new<'f>(functions: impl Iterator<Item = &'f Function>) -> Self {
        Self(functions.map(GraphFunction::of).collect())
    }

    /// Learns about the function with this number.
    pub(crate) fn learn(&mut self, number: usize, function: &Function) {
        if self.0.len() <= number {
            self.0.resize(number + 1, GraphFunction::default());
        }
        self.0[number] = GraphFunction::of(function);
    }

    pub(crate) fn concern(&self, call: &GraphFacts) -> GraphRelation {
        let function = self.0.get(usize::from(call.function)).copied();
        let function = function.unwrap_or_default();
        let failed = function.has_code && call.ret != 0;
        let Some(graph) = call.graph.filter(|graph| graph.serial != 0) else {
            return match failed && is_capture_code(call.ret) {
                true => GraphRelation::Making,
                false => GraphRelation::Nothing,
            };
        };
        let became_node = [Untimed::Captured, Untimed::Bound].map(|it| Some(it as u8));
        let is_node = call.has_stream && became_node.contains(&call.untimed);
        let may_start = call.untimed.is_some() || function.executes;
        let starts = graph.index > 0 && may_start && !is_node;
        match starts && !failed && !function.makes {
            true => GraphRelation::Replay,
            false => GraphRelation::Making,
        }
    }
}

impl GraphFunction {
    fn of(function: &Function) -> Self {
        Self {
            has_code: function.ret == RetKind::Error,
            makes: function.role.meaning().makes_graph || function.is(Fact::CompletesGraph),
            executes: function.role == Role::ExecuteGraph,
        }
    }
}
