//! Events in graphs: how a capture spreads over streams, and what links a graph to the outside.

use std::sync::Arc;

use super::body::NodeAction;
use super::capture::can_be_captured;
use super::route::{GraphPosition, RouteTarget};
use super::state::{self, Graph, GraphPhase, GraphState};
use crate::code::{
    Fault, Outcome, RT_CAPTURE_CONFLICT, RT_CAPTURE_DEPENDENCY, RT_CAPTURE_IMPLICIT,
    RT_CAPTURE_INVALIDATED, RT_INTERNAL, RT_NOT_SUPPORTED, RT_PARAM_INVALID,
    RT_STREAM_NOT_CAPTURED, RT_TASK_TYPE, check, fault,
};
use crate::event::Event;
use crate::event::kind::{EventClass, flag};
use crate::stream::Stream;
use crate::sync::lock;

const WRONG_KIND: Outcome = fault(
    RT_NOT_SUPPORTED,
    "events of this kind cannot be captured in this way",
);
const IMPLICIT: Outcome = fault(
    RT_CAPTURE_IMPLICIT,
    "the default stream would take part in a capture",
);
const INVALID: Fault = Fault {
    code: RT_CAPTURE_INVALIDATED,
    why: "the capture was invalidated",
};

/// What became of an event call: whether the graph took it or the stream has to do it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EventRouting {
    Yes,
    No,
}

/// Can a record of the event be a node that other streams wait for? Only events of `aclrtCreateEventExWithFlag` can:
/// what samples of 2025 did with those of `aclrtCreateEvent` is refused.
fn is_capturable(event: &Event) -> bool {
    event.class == EventClass::ExSync
}

/// The graph that is being captured and has the event's latest record, and the node of that.
fn captured(event: &Event) -> Option<(Arc<Graph>, usize)> {
    let (graph, node) = event.capture()?;
    Some((state::find(graph)?, node))
}

pub(crate) fn record(event: &Arc<Event>, stream: &Arc<Stream>) -> Outcome<EventRouting> {
    match stream.route.target() {
        None => Ok(EventRouting::No),
        Some(RouteTarget::Capture(seat)) => {
            match event.class {
                EventClass::External => seat.push(NodeAction::FlagRecord(Arc::clone(event)))?,
                EventClass::ExPlain => {}
                _ if !is_capturable(event) => WRONG_KIND?,
                _ => seat.record(event)?,
            }
            Ok(EventRouting::Yes)
        }
        Some(RouteTarget::Build(seat)) => seat.build(event, NodeAction::FlagRecord),
        Some(other) => refuse(&other),
    }
}

pub(crate) fn wait(event: &Arc<Event>, stream: &Arc<Stream>) -> Outcome<EventRouting> {
    let target = stream.route.target();
    if let Some((graph, record)) = captured(event) {
        wait_for_captured(event, stream, target, &graph, record)?;
        return Ok(EventRouting::Yes);
    }
    match target {
        None => Ok(EventRouting::No),
        Some(RouteTarget::Capture(seat)) => {
            match event.class {
                EventClass::External => seat.push(NodeAction::FlagWait(Arc::clone(event)))?,
                _ if !is_capturable(event) => WRONG_KIND?,
                _ if event.was_recorded() => {
                    return fault(RT_CAPTURE_DEPENDENCY, "the event was recorded outside");
                }
                _ => {}
            }
            Ok(EventRouting::Yes)
        }
        Some(RouteTarget::Build(seat)) => seat.build(event, NodeAction::FlagWait),
        Some(other) => refuse(&other),
    }
}

pub(crate) fn reset(event: &Arc<Event>, stream: &Arc<Stream>) -> Outcome<EventRouting> {
    match stream.route.target() {
        None => Ok(EventRouting::No),
        Some(RouteTarget::Capture(seat)) => {
            if event.class != EventClass::External {
                WRONG_KIND?;
            }
            seat.push(NodeAction::FlagReset(Arc::clone(event)))?;
            Ok(EventRouting::Yes)
        }
        Some(RouteTarget::Build(seat)) => seat.build(event, NodeAction::FlagReset),
        Some(other) => refuse(&other),
    }
}

/// An update replaces kernels only, and the streams of graphs are not the program's.
fn refuse(target: &RouteTarget) -> Outcome<EventRouting> {
    match target {
        RouteTarget::Update(update) => {
            update.spoil();
            fault(RT_TASK_TYPE, "an event has no place in a task update")
        }
        _ => fault(
            crate::code::RT_STREAM_MODEL,
            "the stream belongs to a graph",
        ),
    }
}

/// A wait for a captured record: it draws the stream into the capture.
fn wait_for_captured(
    event: &Arc<Event>,
    stream: &Arc<Stream>,
    target: Option<RouteTarget>,
    graph: &Arc<Graph>,
    record: usize,
) -> Outcome {
    if !can_be_captured(stream) {
        return fault(RT_INTERNAL, "streams of this kind cannot be captured");
    }
    if stream.is_default {
        return IMPLICIT;
    }
    let seat = match target {
        Some(RouteTarget::Capture(seat)) => {
            seat.same_graph(graph)?;
            Some(seat)
        }
        Some(RouteTarget::Build(_)) => return WRONG_KIND,
        Some(other) => return refuse(&other).map(drop),
        None => None,
    };
    let mut state = lock(&graph.state);
    let seat = match (seat, state.phase) {
        (Some(seat), GraphPhase::Capturing) => seat,
        (Some(_), _) => return Err(INVALID),
        (None, GraphPhase::Capturing) => match graph.enlist(&mut state, stream) {
            Ok(seat) => seat,
            Err(failed) => {
                state.phase = GraphPhase::Invalidated;
                return Err(failed);
            }
        },
        (None, _) => return fault(RT_INTERNAL, "the capture cannot take another stream"),
    };
    let from = state.nodes[record].lane;
    let event = event.name();
    state.push(seat.lane, NodeAction::Wait { event, record });
    if let Some(capture) = &mut state.capture {
        capture.note_wait(record, from, seat.lane);
    }
    Ok(())
}

/// A record or wait that links the graph to the outside: only in a capture, only for events that do
/// nothing but order streams, and once per graph.
pub(crate) fn check_external(event: &Event, stream: &Stream) -> Outcome {
    check(
        event.class == EventClass::ExSync && event.flags == flag::SYNC,
        "external records and waits need an event with SYNC only",
    )?;
    check(
        stream.route.is_capturing(),
        "external records and waits belong into a capture",
    )
}

fn external(event: &Arc<Event>, stream: &Stream, action: NodeAction) -> Outcome {
    let Some(seat) = stream.route.capture() else {
        return fault(RT_STREAM_NOT_CAPTURED, "the stream is not capturing");
    };
    let used = |state: &GraphState| {
        state.nodes.iter().any(|node| {
            node.action.is_external()
                && node
                    .action
                    .event()
                    .is_some_and(|known| known.handle == event.handle)
        })
    };
    let mut state = lock(&seat.graph.state);
    if state.phase != GraphPhase::Capturing {
        return Err(INVALID);
    }
    check(
        !used(&state),
        "the graph has an external use of the event already",
    )?;
    state.push(seat.lane, action);
    Ok(())
}

pub(crate) fn record_external(event: &Arc<Event>, stream: &Stream) -> Outcome {
    external(event, stream, NodeAction::ExternalRecord(Arc::clone(event)))
}

pub(crate) fn wait_external(event: &Arc<Event>, stream: &Stream) -> Outcome {
    external(event, stream, NodeAction::ExternalWait(Arc::clone(event)))
}

impl GraphPosition {
    fn push(&self, action: NodeAction) -> Outcome {
        let mut state = lock(&self.graph.state);
        if state.phase == GraphPhase::Invalidated {
            return Err(INVALID);
        }
        state.push(self.lane, action);
        Ok(())
    }

    /// Two captures must not touch: it spoils both.
    fn same_graph(&self, other: &Arc<Graph>) -> Outcome {
        if Arc::ptr_eq(&self.graph, other) {
            return Ok(());
        }
        self.graph.spoil();
        other.spoil();
        fault(RT_CAPTURE_CONFLICT, "the event belongs to another capture")
    }

    /// The event belongs to this capture from now on, even if another capture has a record of it.
    fn record(&self, event: &Arc<Event>) -> Outcome {
        let mut state = lock(&self.graph.state);
        if state.phase != GraphPhase::Capturing {
            return Err(INVALID);
        }
        let name = event.name();
        let index = state.push(self.lane, NodeAction::Record { event: name });
        if let Some(capture) = &mut state.capture {
            capture.events.push(Arc::downgrade(event));
        }
        event.enter_capture(self.graph.handle, index);
        Ok(())
    }

    /// On a stream bound to a graph only events that the device keeps a flag of are possible.
    fn build(
        &self,
        event: &Arc<Event>,
        action: impl FnOnce(Arc<Event>) -> NodeAction,
    ) -> Outcome<EventRouting> {
        if !matches!(event.class, EventClass::HeldSync | EventClass::External) {
            WRONG_KIND?;
        }
        let mut state = lock(&self.graph.state);
        if state.phase != GraphPhase::Building {
            return fault(RT_PARAM_INVALID, "the graph is complete");
        }
        state.push(self.lane, action(Arc::clone(event)));
        Ok(EventRouting::Yes)
    }
}
