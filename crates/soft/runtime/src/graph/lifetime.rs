//! Graphs in their contexts: how they begin and end.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::group;
use super::state::{Graph, GraphPhase, GraphState, of};
use crate::code::{
    Fault, Outcome, RT_INTERNAL, RT_MODEL_CAPTURED, RT_MODEL_CONTEXT, RT_MODEL_RUNNING, fault,
};
use crate::context::{self, Context};
use crate::ffi::Callback;
use crate::sync::lock;
use crate::{current, process, virtual_time};

impl Graph {
    pub(super) fn begin(context: &Context, phase: GraphPhase) -> Outcome<Arc<Self>> {
        let graph = Self::create(context.handle, phase).ok_or(Fault {
            code: RT_INTERNAL,
            why: "no graph is left",
        })?;
        context.adopt_graph(&graph);
        Ok(graph)
    }

    /// Lets streams and events go.
    pub(super) fn finish_capture(&self, state: &mut GraphState) {
        let Some(capture) = state.capture.take() else {
            return;
        };
        for event in capture.events.iter().filter_map(Weak::upgrade) {
            event.leave_capture(self.handle);
        }
        for lane in &mut state.lanes {
            if let Some(source) = lane.source.take() {
                source.route.close();
            }
        }
        if let Some(context) = context::find(self.context) {
            context.count_capture(false);
        }
    }

    /// Gives up everything but the memory: handles, streams, the place in the context. Waiting
    /// executions are not affected.
    pub(super) fn dissolve(&self) {
        self.forget();
        if let Some(context) = context::find(self.context) {
            context.disown_graph(self.handle);
        }
        let mut state = lock(&self.state);
        for lane in &mut state.lanes {
            if let Some(source) = lane.source.take() {
                source.route.close();
            }
            if lane.stream.is_hidden {
                lane.stream.retire();
            }
        }
        for node in &state.nodes {
            node.forget_handle();
        }
        for group in state.groups.drain(..) {
            group::forget(group);
        }
    }

    /// Ends a graph together with its context.
    pub(crate) fn end_with_context(&self) {
        self.finish_capture(&mut lock(&self.state));
        self.dissolve();
    }

    pub(super) fn wait_until_it_rests(&self) -> Outcome {
        let limit = Duration::from_millis(process::options().graph_wait_ms);
        let begin = Instant::now();
        while self.is_running() {
            if begin.elapsed() > limit {
                return fault(RT_MODEL_RUNNING, "the graph is still being executed");
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        if virtual_time::is_on() {
            virtual_time::reach(self.activity.ended_ns.load(Ordering::Acquire));
        }
        Ok(())
    }
}

/// The graph for a call that works in the thread's current context only.
pub(crate) fn of_context(handle: usize) -> Outcome<Arc<Graph>> {
    let graph = of(handle)?;
    current::with(|context| {
        if context.handle == graph.context {
            Ok(())
        } else {
            fault(RT_MODEL_CONTEXT, "the graph belongs to another context")
        }
    })?;
    Ok(graph)
}

/// Destroys a graph when its last replay has ended, and calls the registered callbacks.
pub(crate) fn destroy(handle: usize) -> Outcome {
    let graph = of_context(handle)?;
    if graph.is_capturing() {
        return fault(RT_MODEL_CAPTURED, "the graph is still being captured");
    }
    graph.wait_until_it_rests()?;
    graph.dissolve();
    let callbacks = std::mem::take(&mut *lock(&graph.callbacks));
    callbacks.into_iter().for_each(Callback::run);
    Ok(())
}
