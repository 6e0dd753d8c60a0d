//! Looking into a graph: its streams and tasks, and changes of single tasks.

use std::sync::Arc;

use super::body::{self, Node, NodeAction};
use super::lifetime;
use super::state::{Graph, GraphPhase};
use crate::code::{
    Outcome, RT_MODEL_EXECUTE, RT_MODEL_RUNNING, RT_MODEL_UPDATE, RT_NOT_SUPPORTED,
    RT_PARAM_INVALID, check, fault,
};
use crate::engine::task::Work;
use crate::stream::{Stream, access};
use crate::sync::lock;
use crate::{current, process};

/// The streams that represent the lanes of a graph.
pub(crate) fn stream_handles(graph: usize) -> Outcome<Vec<usize>> {
    check(graph != 0, "the graph is NULL")?;
    let graph = lifetime::of_context(graph)?;
    let state = lock(&graph.state);
    Ok(state.listed().map(|lane| lane.stream.handle).collect())
}

/// The tasks of a stream that represents a lane, or is bound to one.
pub(crate) fn task_handles(stream: usize) -> Outcome<Vec<usize>> {
    check(stream != 0, "the stream is NULL")?;
    let stream = access::of_context(stream)?;
    let Some((graph, lane)) = graph_of(&stream)? else {
        return fault(RT_PARAM_INVALID, "the stream belongs to no graph");
    };
    let state = lock(&graph.state);
    let nodes = state.lanes[lane].nodes.iter();
    nodes.map(|&node| state.nodes[node].handle()).collect()
}

fn graph_of(stream: &Arc<Stream>) -> Outcome<Option<(Arc<Graph>, usize)>> {
    if let Some(seat) = stream.route.bound() {
        return Ok(Some((seat.graph, seat.lane)));
    }
    let graphs = current::with(|context| Ok(context.graphs()))?;
    Ok(graphs.into_iter().find_map(|graph| {
        let state = lock(&graph.state);
        let mut lanes = state.lanes.iter();
        let lane = lanes.position(|lane| Arc::ptr_eq(&lane.stream, stream))?;
        drop(state);
        Some((graph, lane))
    }))
}

pub(super) fn task(handle: usize) -> Outcome<Arc<Node>> {
    check(handle != 0, "the task is NULL")?;
    body::node(handle)
}

/// `aclmdlRITaskType`.
pub(super) fn kind(node: &Node) -> u32 {
    match &node.action {
        NodeAction::Record { .. } | NodeAction::ExternalRecord(_) | NodeAction::FlagRecord(_) => 2,
        NodeAction::Wait { .. } | NodeAction::ExternalWait(_) | NodeAction::FlagWait(_) => 3,
        NodeAction::Reset { .. } | NodeAction::FlagReset(_) => 4,
        NodeAction::Label | NodeAction::Switch(_) => 0,
        NodeAction::Task(work) => match &**lock(work) {
            Work::Kernel(_) | Work::Operator(_) => 1,
            Work::WriteValue { .. } => 5,
            Work::WaitValue(_) => 6,
            _ => 0,
        },
    }
}

pub(crate) fn kind_of(handle: usize) -> Outcome<u32> {
    Ok(kind(&*task(handle)?))
}

pub(crate) fn seq_of(handle: usize) -> Outcome<u32> {
    Ok(task(handle)?.number)
}

/// A graph that is being captured or executed cannot be changed.
pub(super) fn refuse_while_running(node: &Arc<Node>) -> Outcome {
    let graphs = current::with(|context| Ok(context.graphs()))?;
    let owner = graphs.iter().find(|graph| {
        let state = lock(&graph.state);
        state.nodes.iter().any(|other| Arc::ptr_eq(other, node))
    });
    match owner {
        Some(graph) if graph.is_running() || graph.is_capturing() => {
            fault(RT_MODEL_UPDATE, "the graph is being captured or executed")
        }
        _ => Ok(()),
    }
}

/// From the next update of its graph on the task does nothing. Only kernels can be left out.
pub(crate) fn disable(handle: usize) -> Outcome {
    let node = task(handle)?;
    refuse_while_running(&node)?;
    if kind(&node) != 1 {
        return fault(RT_PARAM_INVALID, "only kernels can be disabled");
    }
    lock(&node.wanted).disable = true;
    Ok(())
}

/// Applies the changes that were asked for since the last update, where the driver can do that.
pub(crate) fn update(graph: usize) -> Outcome {
    check(graph != 0, "the graph is NULL")?;
    let graph = lifetime::of_context(graph)?;
    if !process::options().graph_updates {
        return fault(RT_NOT_SUPPORTED, "the driver cannot update graphs");
    }
    let state = lock(&graph.state);
    if state.phase != GraphPhase::Ready {
        return fault(RT_MODEL_EXECUTE, "the graph is not complete");
    }
    if graph.is_running() {
        return fault(RT_MODEL_RUNNING, "the graph is being executed");
    }
    for node in &state.nodes {
        let wanted = std::mem::take(&mut *lock(&node.wanted));
        if let Some(work) = wanted.work {
            node.replace(work);
        }
        if wanted.disable {
            node.disable();
        }
    }
    Ok(())
}
