//! Jumps inside of a graph: labels on its streams, and the task that goes to one of them.

use std::sync::Arc;

use super::body::Action;
use super::route::{Seat, Target};
use super::{Graph, Phase};
use crate::code::{
    INVALID_PARAM, Outcome, RT_PARAM_INVALID, RT_STREAM_CAPTURED, RT_STREAM_MODEL, check, fault,
};
use crate::label::{self, Label};
use crate::memory::{Place, check_range, place_of};
use crate::stream;
use crate::sync::lock;

/// Where to go: the label with the number that is in device memory when the turn comes.
pub(crate) struct Switch {
    address: usize,
    labels: Vec<Arc<Label>>,
}

/// A lane and the place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Goal {
    pub(crate) lane: usize,
    pub(crate) position: usize,
}

/// The seat of a stream that is bound to a graph which is being built.
fn seat(handle: usize) -> Outcome<Seat> {
    match stream::of_context(handle)?.route.target() {
        Some(Target::Build(seat)) => Ok(seat),
        Some(Target::Capture(_)) => fault(RT_STREAM_CAPTURED, "the stream is capturing"),
        _ => fault(
            RT_STREAM_MODEL,
            "labels need a stream that is bound to a graph",
        ),
    }
}

pub(crate) fn set_label(handle: usize, stream: usize) -> Outcome {
    let label = label::of(handle)?;
    let seat = seat(stream)?;
    let mut state = lock(&seat.graph.state);
    check(state.phase == Phase::Building, "the graph is complete")?;
    let position = state.lanes[seat.lane].nodes.len();
    label.put(&seat.graph, seat.lane, position)?;
    state.push(seat.lane, Action::Label);
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
        place != Place::Pageable,
        "the index is not in device memory",
    )?;
    check_range(address, 4, place)?;
    let seat = seat(stream)?;
    let mut state = lock(&seat.graph.state);
    if state.phase != Phase::Building {
        return fault(RT_PARAM_INVALID, "the graph is complete");
    }
    let labels = list.labels.clone();
    state.push(seat.lane, Action::Switch(Switch { address, labels }));
    Ok(())
}

impl Switch {
    /// Where to go now; nowhere when the label is not in this graph. An index beyond the last label
    /// means the last one.
    pub(crate) fn target(&self, graph: &Arc<Graph>) -> Option<Goal> {
        // SAFETY: `switch_label` saw that the bytes are inside memory of ours, which stays mapped.
        let index = unsafe { (self.address as *const u32).read_unaligned() } as usize;
        let label = self.labels.get(index).or_else(|| self.labels.last())?;
        let place = label.place_in(graph)?;
        Some(Goal {
            lane: place.lane,
            position: place.position,
        })
    }
}
