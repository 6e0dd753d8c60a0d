//! Jumps inside of a graph: labels on its streams, and the task that goes to one of them.

use super::body::NodeAction;
use super::route::{GraphPosition, RouteTarget};
use super::state::GraphPhase;
use crate::code::{
    INVALID_PARAM, Outcome, RT_PARAM_INVALID, RT_STREAM_CAPTURED, RT_STREAM_MODEL, check, fault,
};
use crate::current;
use crate::label::{self, LabelSwitch};
use crate::memory::{MemoryKind, check_range, place_of};
use crate::stream::access;
use crate::sync::lock;

/// The seat of a stream that is bound to a graph which is being built.
fn seat(handle: usize) -> Outcome<GraphPosition> {
    match access::of_context(handle)?.route.target() {
        Some(RouteTarget::Build(seat)) => Ok(seat),
        Some(RouteTarget::Capture(_)) => fault(RT_STREAM_CAPTURED, "the stream is capturing"),
        _ => fault(
            RT_STREAM_MODEL,
            "labels need a stream that is bound to a graph",
        ),
    }
}

/// Creates a label, for which the thread needs a context.
pub(crate) fn create_label() -> Outcome<usize> {
    current::context()?;
    label::create()
}

pub(crate) fn set_label(handle: usize, stream: usize) -> Outcome {
    let label = label::of(handle)?;
    let seat = seat(stream)?;
    let mut state = lock(&seat.graph.state);
    check(state.phase == GraphPhase::Building, "the graph is complete")?;
    let position = state.lanes[seat.lane].nodes.len();
    label.put(&seat.graph.activity, seat.lane, position)?;
    state.push(seat.lane, NodeAction::Label);
    Ok(())
}

pub(crate) fn switch_label(address: usize, count: u32, list: usize, stream: usize) -> Outcome {
    if address == 0 {
        return fault(INVALID_PARAM, "the index is NULL");
    }
    let list = label::list(list)?;
    check(
        count as usize == list.labels.len(),
        "the list has another number of labels",
    )?;
    let place = place_of(address);
    check(
        place != MemoryKind::Pageable,
        "the index is not in device memory",
    )?;
    check_range(address, 4, place)?;
    let seat = seat(stream)?;
    let mut state = lock(&seat.graph.state);
    if state.phase != GraphPhase::Building {
        return fault(RT_PARAM_INVALID, "the graph is complete");
    }
    let labels = list.labels.clone();
    state.push(
        seat.lane,
        NodeAction::Switch(LabelSwitch { address, labels }),
    );
    Ok(())
}
