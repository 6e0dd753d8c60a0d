//! Captures: from a stream's first task to the check that every stream came back.

use std::collections::HashMap;
use std::sync::Arc;

use super::body::NodeAction;
use super::modes::{RELAXED, this_thread};
use super::route::{GraphPosition, RouteTarget};
use super::state::{self, Capture, Graph, GraphLane, GraphPhase, GraphState, ORIGIN};
use crate::code::{
    INVALID_PARAM, Outcome, RT_CAPTURE_INVALIDATED, RT_CAPTURE_UNMATCHED, RT_CAPTURE_WRONG_THREAD,
    RT_INTERNAL, RT_NOT_SUPPORTED, RT_PARAM_INVALID, RT_STREAM_CAPTURED, RT_STREAM_MODEL,
    RT_STREAM_NOT_CAPTURED, RT_STREAM_UNJOINED, RT_TASK_GROUP_STATUS, check, fault,
};
use crate::current;
use crate::stream::line::flag;
use crate::stream::{Stream, access};
use crate::sync::lock;

impl Graph {
    /// Adds a stream to the capture: from now on its tasks become nodes.
    pub(super) fn enlist(
        self: &Arc<Self>,
        state: &mut GraphState,
        stream: &Arc<Stream>,
    ) -> Outcome<GraphPosition> {
        let hidden = current::with(|context| {
            Stream::create_hidden(&context.owner(), flag::PERSISTENT, stream.priority())
        })?;
        let seat = GraphPosition {
            graph: Arc::clone(self),
            lane: state.lanes.len(),
        };
        if !stream.route.divert(RouteTarget::Capture(seat.clone())) {
            hidden.retire();
            return fault(RT_STREAM_CAPTURED, "the stream takes part in a capture");
        }
        let lane = GraphLane::new(Arc::clone(stream), hidden, true);
        state.lanes.push(lane);
        Ok(seat)
    }

    /// Checks the joins of this capture. Every stream that joined must have returned: its last task is
    /// a record that was waited for, and the origin waits for at least one of these.
    fn check_join(state: &GraphState) -> Outcome {
        const UNJOINED: Outcome = fault(
            RT_STREAM_UNJOINED,
            "a stream's last task is no record that another stream waits for",
        );
        if state.lanes.iter().any(|lane| lane.group.is_some()) {
            return fault(RT_TASK_GROUP_STATUS, "a task group was not ended");
        }
        let Some(capture) = &state.capture else {
            return Ok(());
        };
        let mut came_back = state.lanes.len() == 1;
        for lane in state.lanes.iter().skip(1) {
            let last = lane.nodes.last().copied();
            let Some(last) =
                last.filter(|&node| matches!(state.nodes[node].action, NodeAction::Record { .. }))
            else {
                return UNJOINED;
            };
            let waited = capture.waited.get(&last).copied().unwrap_or_default();
            if !waited.anywhere {
                return UNJOINED;
            }
            came_back |= waited.at_origin;
        }
        if came_back {
            Ok(())
        } else {
            fault(
                RT_STREAM_UNJOINED,
                "no stream came back to the one that began the capture",
            )
        }
    }
}

/// A stream for the begin or the end of a capture.
fn capturable(handle: usize) -> Outcome<Arc<Stream>> {
    if handle == 0 {
        return fault(INVALID_PARAM, "the stream is NULL");
    }
    let stream = access::of_any_context(handle)?;
    if !can_be_captured(&stream) {
        return fault(RT_INTERNAL, "streams of this kind cannot be captured");
    }
    access::of_context(handle)?;
    if stream.route.bound().is_some() || stream.is_hidden {
        return fault(RT_STREAM_MODEL, "the stream is bound to a graph");
    }
    if stream.is_default {
        return fault(RT_NOT_SUPPORTED, "a default stream cannot be captured");
    }
    Ok(stream)
}

pub(crate) fn begin(stream: usize, mode: u32) -> Outcome {
    if stream != 0 {
        check(mode <= RELAXED, "this capture mode does not exist")?;
    }
    let stream = capturable(stream)?;
    match stream.route.target() {
        None => {}
        Some(RouteTarget::Update(_)) => {
            return fault(RT_TASK_GROUP_STATUS, "the stream updates a task group");
        }
        Some(_) => return fault(RT_STREAM_CAPTURED, "the stream is capturing already"),
    }
    current::with(|context| {
        let graph = Graph::begin(context, GraphPhase::Capturing)?;
        let mut state = lock(&graph.state);
        let seated = graph.enlist(&mut state, &stream);
        if let Err(failed) = seated {
            drop(state);
            graph.dissolve();
            return Err(failed);
        }
        state.capture = Some(Capture {
            thread: this_thread(),
            mode,
            events: Vec::new(),
            waited: HashMap::new(),
            is_spoilt: false,
            group_fault: None,
        });
        context.count_capture(true);
        Ok(())
    })
}

/// Ends a capture and gives the graph's handle. `wants_result` says whether the caller can take it.
pub(crate) fn end(stream: usize, wants_result: bool) -> Outcome<usize> {
    if stream == 0 {
        return fault(INVALID_PARAM, "the stream is NULL");
    }
    let known = access::of_any_context(stream)?;
    if known.route.is_capturing() {
        check(wants_result, "the result is NULL")?;
    }
    let stream = capturable(stream)?;
    let Some(seat) = stream.route.capture() else {
        return fault(RT_STREAM_NOT_CAPTURED, "the stream is not capturing");
    };
    if seat.lane != ORIGIN {
        return fault(
            RT_CAPTURE_UNMATCHED,
            "another stream began this capture and has to end it",
        );
    }
    let graph = seat.graph;
    let mut state = lock(&graph.state);
    let verdict = judge(&state);
    graph.finish_capture(&mut state);
    match verdict {
        Ok(()) => {
            state.reset_events();
            state.complete();
            Ok(graph.handle)
        }
        Err(failed) => {
            drop(state);
            graph.dissolve();
            Err(failed)
        }
    }
}

fn judge(state: &GraphState) -> Outcome {
    let Some(capture) = &state.capture else {
        return fault(RT_STREAM_NOT_CAPTURED, "the stream is not capturing");
    };
    if capture.mode != RELAXED && capture.thread != this_thread() {
        return fault(
            RT_CAPTURE_WRONG_THREAD,
            "another thread began this capture and has to end it",
        );
    }
    if state.phase == GraphPhase::Invalidated || capture.is_spoilt {
        return fault(RT_CAPTURE_INVALIDATED, "the capture was invalidated");
    }
    Graph::check_join(state)
}

/// `aclmdlRICaptureStatus`, and the graph that the stream captures into.
pub(crate) fn info(stream: usize) -> Outcome<(u32, usize)> {
    const NONE: u32 = 0;
    const ACTIVE: u32 = 1;
    const INVALIDATED: u32 = 2;
    let stream = access::of_any_context(stream)?;
    let Some(seat) = stream.route.capture() else {
        return Ok((NONE, 0));
    };
    let is_active = lock(&seat.graph.state).phase == GraphPhase::Capturing;
    let status = if is_active { ACTIVE } else { INVALIDATED };
    Ok((status, seat.graph.handle))
}

/// Into a sub-graph, which this runtime does not have: conditions are not supported.
pub(crate) fn begin_into(stream: usize, graph: usize, mode: u32) -> Outcome {
    check(mode <= RELAXED, "this capture mode does not exist")?;
    state::of(graph)?;
    capturable(stream)?;
    fault(RT_PARAM_INVALID, "the graph is no sub-graph")
}

/// Streams of these kinds cannot be captured.
pub(super) fn can_be_captured(stream: &Stream) -> bool {
    stream.flags & (flag::CPU_SCHEDULE | flag::DEVICE_USE_ONLY) == 0
}
