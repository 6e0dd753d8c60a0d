//! Where the tasks of a stream go while it does not execute them itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::body::Action;
use super::state::{Graph, Phase};
use super::update::Update;
use crate::code::{Outcome, RT_CAPTURE_INVALIDATED, RT_INTERNAL, RT_STREAM_MODEL, fault};
use crate::engine::task::Work;
use crate::sync::{Mutex, lock};

/// A stream's side of it. Asking costs one load while the stream executes its tasks.
#[derive(Default)]
pub(crate) struct Route {
    is_diverted: AtomicBool,
    target: Mutex<Option<Target>>,
}

#[derive(Clone)]
pub(crate) enum Target {
    Capture(Seat),
    Build(Seat),
    Update(Arc<Update>),
    /// The stream only represents a lane of a graph.
    Lane,
}

/// A place in a graph: tasks become nodes of this lane.
#[derive(Clone)]
pub(crate) struct Seat {
    pub(crate) graph: Arc<Graph>,
    pub(crate) lane: usize,
}

impl Route {
    pub(crate) fn target(&self) -> Option<Target> {
        if !self.is_diverted.load(Ordering::Acquire) {
            return None;
        }
        lock(&self.target).clone()
    }

    /// Diverts the stream; false when it is diverted already.
    pub(crate) fn divert(&self, to: Target) -> bool {
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
    pub(crate) fn capture(&self) -> Option<Seat> {
        match self.target() {
            Some(Target::Capture(seat)) => Some(seat),
            _ => None,
        }
    }

    pub(crate) fn is_capturing(&self) -> bool {
        self.capture().is_some()
    }

    /// The seat of a stream that is bound to a graph.
    pub(crate) fn bound(&self) -> Option<Seat> {
        match self.target() {
            Some(Target::Build(seat)) => Some(seat),
            _ => None,
        }
    }
}

impl Target {
    /// Takes a task in place of the stream.
    pub(crate) fn take(&self, work: Work) -> Outcome {
        match self {
            Self::Capture(seat) | Self::Build(seat) => seat.add(work),
            Self::Update(update) => update.add(work),
            Self::Lane => fault(RT_STREAM_MODEL, "the stream belongs to a graph"),
        }
    }
}

impl Seat {
    fn add(&self, work: Work) -> Outcome {
        let mut state = lock(&self.graph.state);
        match state.phase {
            Phase::Capturing | Phase::Building => {}
            Phase::Invalidated => {
                return fault(RT_CAPTURE_INVALIDATED, "the capture was invalidated");
            }
            Phase::Ready => return fault(RT_INTERNAL, "the graph is complete"),
        }
        state.admit(self.lane, &work)?;
        let index = state.push(self.lane, Action::task(work));
        state.join(self.lane, index);
        Ok(())
    }
}
