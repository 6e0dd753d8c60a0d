//! Graphs built by hand: streams are bound, and their tasks become nodes until the graph is complete.

use std::sync::Arc;

use super::body::NodeAction;
use super::lifetime;
use super::route::{GraphPosition, RouteTarget};
use super::state::{Graph, GraphLane, GraphPhase};
use crate::code::{Outcome, RT_NOT_SUPPORTED, RT_PARAM_INVALID, RT_STREAM_MODEL, check, fault};
use crate::current;
use crate::engine::task::Work;
use crate::stream::line::flag;
use crate::stream::{Stream, access};
use crate::sync::lock;

/// The stream's tasks begin with the graph.
const HEAD: u32 = 0;
/// They begin when the stream is activated.
const DEFAULT: u32 = 0x7fff_ffff;

const COMPLETE: Outcome = fault(RT_PARAM_INVALID, "the graph is complete or was captured");

pub(crate) fn begin(flags: u32) -> Outcome<usize> {
    check(flags == 0, "the flags are reserved")?;
    current::with(|context| Ok(Graph::begin(context, GraphPhase::Building)?.handle))
}

fn known(stream: usize) -> Outcome<Arc<Stream>> {
    check(stream != 0, "the stream is NULL")?;
    access::of_context(stream)
}

pub(crate) fn bind(graph: usize, stream: usize, flags: u32) -> Outcome {
    let graph = lifetime::of_context(graph)?;
    let stream = known(stream)?;
    check(
        flags == HEAD || flags == DEFAULT,
        "this way of binding does not exist",
    )?;
    check(
        stream.flags & flag::PERSISTENT != 0,
        "only streams that keep their tasks can be bound",
    )?;
    let mut state = lock(&graph.state);
    if state.phase != GraphPhase::Building {
        return COMPLETE;
    }
    let seat = GraphPosition {
        graph: Arc::clone(&graph),
        lane: state.lanes.len(),
    };
    if !stream.route.divert(RouteTarget::Build(seat)) {
        return fault(
            RT_STREAM_MODEL,
            "the stream is bound to a graph or capturing",
        );
    }
    let lane = GraphLane::new(Arc::clone(&stream), stream, flags == HEAD);
    state.lanes.push(lane);
    Ok(())
}

/// The lane of a stream that is bound to the graph.
fn lane_of(graph: &Arc<Graph>, stream: &Stream) -> Outcome<usize> {
    match stream.route.bound() {
        Some(seat) if Arc::ptr_eq(&seat.graph, graph) => Ok(seat.lane),
        _ => fault(RT_STREAM_MODEL, "the stream is not bound to the graph"),
    }
}

/// Marks the end of the graph on a stream.
pub(crate) fn end_task(graph: usize, stream: usize) -> Outcome {
    let graph = lifetime::of_context(graph)?;
    let stream = known(stream)?;
    let lane = lane_of(&graph, &stream)?;
    let mut state = lock(&graph.state);
    if state.phase != GraphPhase::Building {
        return COMPLETE;
    }
    state.push(lane, NodeAction::task(Work::Marker));
    Ok(())
}

pub(crate) fn end(graph: usize) -> Outcome {
    let graph = lifetime::of_context(graph)?;
    let mut state = lock(&graph.state);
    if state.phase != GraphPhase::Building {
        return COMPLETE;
    }
    check(
        state.lanes.iter().any(|lane| lane.is_head),
        "no stream begins with the graph",
    )?;
    state.complete();
    Ok(())
}

pub(crate) fn unbind(graph: usize, stream: usize) -> Outcome {
    let graph = lifetime::of_context(graph)?;
    let stream = known(stream)?;
    let lane = lane_of(&graph, &stream)?;
    graph.wait_until_it_rests()?;
    stream.route.close();
    lock(&graph.state).lanes[lane].source = None;
    Ok(())
}

/// `aclrtActiveStream` and `aclrtSwitchStream`: from one stream of a graph to another one.
pub(crate) fn activate(streams: [usize; 2]) -> Outcome {
    for stream in streams {
        if known(stream)?.route.bound().is_none() {
            return fault(RT_STREAM_MODEL, "the stream is bound to no graph");
        }
    }
    fault(
        RT_NOT_SUPPORTED,
        "streams of graphs cannot be activated here",
    )
}
