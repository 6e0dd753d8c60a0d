//! Graphs (`aclmdlRI`): tasks that are kept instead of executed, and replayed as one task.
//!
//! A graph comes from a capture (`capture`, `events`) or is built by hand (`build`). A stream that
//! takes part hands its tasks to its seat in the graph (`route`). Once complete, the graph's body
//! is fixed; a replay is one task of the executing stream, which the engine plays lane by lane.
//!
//! Lock order: a graph's state, then an event's state; the lists of contexts are leaves.

mod body;
mod build;
mod capture;
mod debug;
pub(crate) mod events;
mod execute;
mod group;
mod introspect;
mod jump;
mod modes;
mod params;
mod route;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::code::{
    Fault, INVALID_PARAM, Outcome, RT_INTERNAL, RT_INVALID_HANDLE, RT_MODEL_CAPTURED,
    RT_MODEL_CONTEXT, RT_MODEL_RUNNING, check, fault,
};
use crate::context::Context;
use crate::ffi::Callback;
use crate::stream::{Stream, flag};
use crate::sync::lock;
use crate::{context, current, process, virtual_time};

use crate::handles::{Kind, Registry};
use crate::per_process::PerProcess;
pub(crate) use body::{Action, Body, Node};
pub(crate) use build::{begin as build_begin, bind, end as build_end, end_task, unbind};
pub(crate) use capture::{begin, begin_into, end, info};
pub(crate) use debug::{print, write};
pub(crate) use execute::{Replay, execute, execute_async};
pub(crate) use group::{Patch, begin_group, begin_update, end_group, end_update};
pub(crate) use introspect::{
    disable, kind_of, seq_of, stream_handles, task_handles, update as apply_changes,
};
pub(crate) use jump::{Goal, set_label, switch_label};
pub(crate) use modes::{exchange, permit_blocking_copy, permit_unsafe};
pub(crate) use params::{TaskParams, params_of, set_params};
pub(crate) use route::{Route, Target};

static GRAPHS: PerProcess<Registry<Graph>> = PerProcess::new(|| Registry::new(Kind::Graph));

pub(crate) struct Graph {
    pub(crate) handle: usize,
    pub(crate) id: u32,
    /// Handle of the context that it was made in.
    pub(crate) context: usize,
    state: Mutex<GraphState>,
    /// Replays that were submitted and are not over.
    replays: AtomicU32,
    /// When the last replay ended.
    pub(crate) ended_ns: AtomicU64,
    name: Mutex<String>,
    callbacks: Mutex<Vec<Callback>>,
}

struct GraphState {
    phase: Phase,
    lanes: Vec<Lane>,
    /// In the order of submission, so that what a node depends on comes before it.
    nodes: Vec<Arc<Node>>,
    capture: Option<capture::Capture>,
    groups: Vec<usize>,
    /// Set once, when the graph is complete.
    body: Option<Arc<Body>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Capturing,
    Invalidated,
    Building,
    Ready,
}

/// The tasks of one stream.
struct Lane {
    /// The stream whose tasks it takes, while it takes them.
    source: Option<Arc<Stream>>,
    /// The stream that stands for the lane: a hidden one, or the one that was bound.
    stream: Arc<Stream>,
    nodes: Vec<usize>,
    /// Starts with the graph; others would have to be activated.
    is_head: bool,
    /// The open task group.
    group: Option<Vec<Arc<Node>>>,
}

impl Lane {
    const fn new(source: Arc<Stream>, stream: Arc<Stream>, is_head: bool) -> Self {
        Self {
            source: Some(source),
            stream,
            nodes: Vec::new(),
            is_head,
            group: None,
        }
    }
}

impl GraphState {
    fn push(&mut self, lane: usize, action: Action) -> usize {
        let index = self.nodes.len();
        let seq = self.lanes[lane].nodes.len() as u32;
        self.nodes.push(Arc::new(Node::new(lane, seq, action)));
        self.lanes[lane].nodes.push(index);
        crate::stream::remember_task((seq, crate::stream::last_task().1));
        index
    }

    /// Takes every record back at the end of the first lane, as the runtime does by itself. The nodes
    /// do nothing, and programs that look into the graph find them.
    fn reset_events(&mut self) {
        let records = self.nodes.iter().enumerate();
        let resets: Vec<Action> = records
            .filter_map(|(record, node)| match &node.action {
                Action::Record { event } => Some(Action::Reset {
                    event: *event,
                    record,
                }),
                _ => None,
            })
            .collect();
        let last = crate::stream::last_task();
        for reset in resets {
            self.push(0, reset);
        }
        crate::stream::remember_task(last);
    }

    /// Fixes the nodes: from now on the graph can be executed.
    fn complete(&mut self) {
        let lanes = self.lanes.iter();
        self.body = Some(Arc::new(Body {
            nodes: self.nodes.clone(),
            lanes: lanes.clone().map(|lane| lane.nodes.clone()).collect(),
            heads: lanes.clone().map(|lane| lane.is_head).collect(),
            streams: lanes.map(|lane| lane.stream.id).collect(),
        }));
        self.phase = Phase::Ready;
    }
}

impl Graph {
    fn create(context: &Context, phase: Phase) -> Outcome<Arc<Self>> {
        static NEXT_ID: AtomicU32 = AtomicU32::new(0);
        const NONE_LEFT: Fault = Fault {
            code: RT_INTERNAL,
            why: "no graph is left",
        };
        let made = GRAPHS.get().insert_with(|handle| Self {
            handle,
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            context: context.handle,
            state: Mutex::new(GraphState {
                phase,
                lanes: Vec::new(),
                nodes: Vec::new(),
                capture: None,
                groups: Vec::new(),
                body: None,
            }),
            replays: AtomicU32::new(0),
            ended_ns: AtomicU64::new(0),
            name: Mutex::default(),
            callbacks: Mutex::default(),
        });
        let graph = made.ok_or(NONE_LEFT)?;
        context.adopt_graph(&graph);
        Ok(graph)
    }

    /// Gives up everything but the memory: handles, streams, the place in the context. What is
    /// still to be executed is not affected.
    fn dissolve(&self) {
        GRAPHS.get().remove(self.handle);
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

    pub(crate) fn is_capturing(&self) -> bool {
        lock(&self.state).capture.is_some()
    }

    fn is_running(&self) -> bool {
        self.replays.load(Ordering::Acquire) != 0
    }

    fn wait_until_it_rests(&self) -> Outcome {
        let limit = Duration::from_millis(process::options().graph_wait_ms);
        let begin = Instant::now();
        while self.is_running() {
            if begin.elapsed() > limit {
                return fault(RT_MODEL_RUNNING, "the graph is still being executed");
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        if virtual_time::is_on() {
            virtual_time::reach(self.ended_ns.load(Ordering::Acquire));
        }
        Ok(())
    }

    /// A function is told once.
    pub(crate) fn add_callback(&self, callback: Callback) -> Outcome {
        let mut callbacks = lock(&self.callbacks);
        let function = callback.function as usize;
        check(
            callbacks
                .iter()
                .all(|known| known.function as usize != function),
            "this function is registered for the graph already",
        )?;
        callbacks.push(callback);
        Ok(())
    }

    pub(crate) fn remove_callback(&self, function: extern "C" fn(usize)) -> Outcome {
        let mut callbacks = lock(&self.callbacks);
        let before = callbacks.len();
        callbacks.retain(|callback| callback.function as usize != function as usize);
        check(
            callbacks.len() < before,
            "this function is not registered for the graph",
        )
    }

    pub(crate) fn name(&self) -> String {
        lock(&self.name).clone()
    }

    pub(crate) fn set_name(&self, name: String) {
        *lock(&self.name) = name;
    }
}

pub(crate) fn of(handle: usize) -> Outcome<Arc<Graph>> {
    if handle == 0 {
        return fault(INVALID_PARAM, "the graph is NULL");
    }
    const UNKNOWN: Fault = Fault {
        code: RT_INVALID_HANDLE,
        why: "this is no graph",
    };
    GRAPHS.get().get(handle).ok_or(UNKNOWN)
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

/// Destroys a graph when its last replay is over, and tells who asked to be told.
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

/// Streams of these kinds cannot be captured.
const fn can_be_captured(stream: &Stream) -> bool {
    stream.flags & (flag::CPU_SCHEDULE | flag::DEVICE_USE_ONLY) == 0
}
