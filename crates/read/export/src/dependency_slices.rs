//! Which slices show the two ends of a dependency.

use ascend_trace_analysis::{Edge, EdgeKind, Node};
use ascend_trace_recording::{CallId, TaskId, Trace};

/// The slice of a task or of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeSlice {
    Task(TaskId),
    Call(CallId),
}

/// The first result for two slices that can represent the ends of a dependency, best ones first: the call that
/// submitted it represents a task without a slice, or one with a mapped time that contradicts the dependency. A launch
/// comes from its call and cannot go there.
pub(crate) fn first_pair<T>(
    trace: &Trace,
    edge: &Edge,
    connect: impl Fn(NodeSlice, NodeSlice) -> Option<T>,
) -> Option<T> {
    let slices = |node| match node {
        Node::Call(id) => [Some(NodeSlice::Call(id)), None],
        Node::Task(id) => {
            let may_be_call = edge.kind != EdgeKind::LaunchToTask;
            let call = may_be_call.then(|| NodeSlice::Call(trace.task(id).call));
            [Some(NodeSlice::Task(id)), call]
        }
    };
    let (froms, tos) = (slices(edge.from), slices(edge.to));
    let pairs = froms
        .into_iter()
        .flatten()
        .flat_map(|from| tos.into_iter().flatten().map(move |to| (from, to)));
    pairs.filter_map(|(from, to)| connect(from, to)).next()
}
