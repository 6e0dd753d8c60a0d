//! Where the tasks of a stream go while it does not execute them itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::body::NodeAction;
use super::state::{Graph, GraphPhase};
use super::update::GroupUpdate;
use crate::code::{Outcome, RT_CAPTURE_INVALIDATED, RT_INTERNAL, RT_STREAM_MODEL, fault};
use crate::engine::task::Work;
use crate::sync::{Mutex, lock};

/// A stream's side of it. Asking costs one load while the stream executes its tasks.
#[derive(Default)]
pub(crate) struct Route {
    is_diverted: AtomicBool,
    target: Mutex<Option<RouteTarget>>,
}

#[derive(Clone)]
pub(crate) enum RouteTarget {
    Capture(GraphPosition),
    Build(GraphPosition),
    Update(Arc<GroupUpdate>),
    /// The stream only represents a lane of a graph.
    Lane,
}

/// A place in a graph: tasks become nodes of this lane.
#[derive(Clone)]
pub(crate) struct GraphPosition {
    pub(crate) graph: Arc<Graph>,
    pub(crate) lane: usize,
}

impl Route {
    pub(crate) fn target(&self) -> Option<RouteTarget> {
        if !self.is_diverted.load(Ordering::Acquire) {
            return None;
        }
        lock(&self.target).clone()
    }

    /// Diverts the stream; false when it is diverted already.
    pub(crate) fn divert(&self, to: RouteTarget) -> bool {
        let mut target = lock(&self.target);
        if target.is_some() {
            return false;
        }
        *target = Some(to);
        self.is_diverted.store(true, Ordering::Release);
        true
    }

    pub(crate) fn close(&self) {
        let mut target = lock(&self.target);
        *target = None;
        self.is_diverted.store(false, Ordering::Release);
    }

    /// The seat of a stream that captures.
    pub(crate) fn capture(&self) -> Option<GraphPosition> {
        match self.target() {
            Some(RouteTarget::Capture(seat)) => Some(seat),
            _ => None,
        }
    }

    pub(crate) fn is_capturing(&self) -> bool {
        self.capture().is_some()
    }

    /// The seat of a stream that is bound to a graph.
    pub(crate) fn bound(&self) -> Option<GraphPosition> {
        match self.target() {
            Some(RouteTarget::Build(seat)) => Some(seat),
            _ => None,
        }
    }
}

impl RouteTarget {
    /// Takes a task in place of the stream.
    pub(crate) fn take(&self, work: Work) -> Outcome {
        match self {
            Self::Capture(seat) | Self::Build(seat) => seat.add(work),
            Self::Update(update) => update.add(work),
            Self::Lane => fault(RT_STREAM_MODEL, "the stream belongs to a graph"),
        }
    }
}

impl GraphPosition {
    fn add(&self, work: Work) -> Outcome {
        let mut state = lock(&self.graph.state);
        match state.phase {
            GraphPhase::Capturing | GraphPhase::Building => {}
            GraphPhase::Invalidated => {
                return fault(RT_CAPTURE_INVALIDATED, "the capture was invalidated");
            }
            GraphPhase::Ready => return fault(RT_INTERNAL, "the graph is complete"),
        }
        state.admit(self.lane, &work)?;
        let index = state.push(self.lane, NodeAction::task(work));
        state.join(self.lane, index);
        Ok(())
    }
}
