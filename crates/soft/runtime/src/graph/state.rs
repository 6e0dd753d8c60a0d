//! Contents of a graph, from its first task on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use super::activity::Activity;
use super::body::{Body, Node, NodeAction};
use super::update::{WRONG_TYPE, is_kernel};
use crate::code::{Fault, Outcome, check};
use crate::engine::task::Work;
use crate::event::Event;
use crate::ffi::Callback;
use crate::handles::{HandleKind, Registry};
use crate::per_process::PerProcess;
use crate::stream::{Stream, last_task};
use crate::sync::{Mutex, lock};

static GRAPHS: PerProcess<Registry<Graph>> = PerProcess::new(|| Registry::new(HandleKind::Graph));

/// The graph, unless its handle is dead.
pub(super) fn find(handle: usize) -> Option<Arc<Graph>> {
    GRAPHS.get().get(handle)
}

pub(crate) fn of(handle: usize) -> Outcome<Arc<Graph>> {
    GRAPHS
        .get()
        .named(handle, "the graph is NULL", "this is no graph")
}

/// The lane of the stream that began the capture.
pub(super) const ORIGIN: usize = 0;

pub(crate) struct Graph {
    pub(crate) handle: usize,
    pub(crate) id: u32,
    /// Handle of the context that it was made in.
    pub(crate) context: usize,
    pub(super) state: Mutex<GraphState>,
    pub(super) activity: Arc<Activity>,
    pub(super) name: Mutex<String>,
    pub(super) callbacks: Mutex<Vec<Callback>>,
}

pub(crate) struct GraphState {
    pub(super) phase: GraphPhase,
    pub(super) lanes: Vec<GraphLane>,
    /// In the order of submission, so that dependencies of a node come before it.
    pub(super) nodes: Vec<Arc<Node>>,
    pub(super) capture: Option<Capture>,
    pub(super) groups: Vec<usize>,
    /// Set once, when the graph is complete.
    pub(super) body: Option<Arc<Body>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GraphPhase {
    Capturing,
    Invalidated,
    Building,
    Ready,
}

/// The tasks of one stream.
pub(crate) struct GraphLane {
    /// The stream with the tasks that it takes, while it takes them.
    pub(super) source: Option<Arc<Stream>>,
    /// The stream that represents the lane: a hidden one, or the one that was bound.
    pub(super) stream: Arc<Stream>,
    pub(super) nodes: Vec<usize>,
    /// Starts with the graph; others would have to be activated.
    pub(super) is_head: bool,
    /// The open task group.
    pub(super) group: Option<Vec<Arc<Node>>>,
}

impl GraphLane {
    pub(super) const fn new(source: Arc<Stream>, stream: Arc<Stream>, is_head: bool) -> Self {
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
    /// The lanes as the runtime lists them: that of the stream that came last is the first.
    pub(super) fn listed(&self) -> impl Iterator<Item = &GraphLane> {
        self.lanes.iter().rev()
    }

    pub(super) fn push(&mut self, lane: usize, action: NodeAction) -> usize {
        let index = self.nodes.len();
        let seq = self.lanes[lane].nodes.len() as u32;
        self.nodes
            .push(Arc::new(Node::new((lane, seq), index as u32, action)));
        self.lanes[lane].nodes.push(index);
        last_task::remember((seq, last_task::get().1));
        index
    }

    /// Takes every record back at the end of the first lane, as the runtime does by itself. The nodes
    /// do nothing, and programs that look into the graph find them.
    pub(super) fn reset_events(&mut self) {
        let records = self.nodes.iter().enumerate();
        let resets: Vec<NodeAction> = records
            .filter_map(|(record, node)| match &node.action {
                NodeAction::Record { event } => Some(NodeAction::Reset {
                    event: *event,
                    record,
                }),
                _ => None,
            })
            .collect();
        let last = last_task::get();
        for reset in resets {
            self.push(0, reset);
        }
        last_task::remember(last);
    }

    /// Fixes the nodes: from now on the graph can be executed.
    pub(super) fn complete(&mut self) {
        let lanes = self.lanes.iter();
        self.body = Some(Arc::new(Body {
            nodes: self.nodes.clone(),
            lanes: lanes.clone().map(|lane| lane.nodes.clone()).collect(),
            heads: lanes.clone().map(|lane| lane.is_head).collect(),
            streams: lanes.map(|lane| lane.stream.id).collect(),
        }));
        self.phase = GraphPhase::Ready;
    }

    /// Refuses what cannot be in the lane's open group; the group is then useless.
    pub(super) fn admit(&mut self, lane: usize, work: &Work) -> Outcome {
        if self.lanes[lane].group.is_none() || is_kernel(work) {
            return Ok(());
        }
        if let Some(capture) = &mut self.capture {
            capture.group_fault = Some(WRONG_TYPE);
            self.phase = GraphPhase::Invalidated;
        }
        Err(WRONG_TYPE)
    }

    /// Notes a node as one of the lane's open group.
    pub(super) fn join(&mut self, lane: usize, index: usize) {
        let node = Arc::clone(&self.nodes[index]);
        if let Some(group) = &mut self.lanes[lane].group {
            group.push(node);
        }
    }
}

/// State of a graph during its capture.
pub(super) struct Capture {
    pub(super) thread: u64,
    pub(super) mode: u32,
    /// The events that have a captured record.
    pub(super) events: Vec<Weak<Event>>,
    /// Who waits for a record: by node.
    pub(super) waited: HashMap<usize, EndWaits>,
    /// It touched another capture. Only its end reports that.
    pub(super) is_spoilt: bool,
    /// A refused task of a group; the end of the group reports it.
    pub(super) group_fault: Option<Fault>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EndWaits {
    pub(super) anywhere: bool,
    /// By the origin, which is not the recording stream itself.
    pub(super) at_origin: bool,
}

impl Capture {
    pub(super) fn note_wait(&mut self, record: usize, from: usize, by: usize) {
        let waited = self.waited.entry(record).or_default();
        waited.anywhere = true;
        waited.at_origin |= by == ORIGIN && from != ORIGIN;
    }
}

impl Graph {
    /// Makes a graph of a context.
    pub(super) fn create(context: usize, phase: GraphPhase) -> Option<Arc<Self>> {
        static NEXT_ID: AtomicU32 = AtomicU32::new(0);
        GRAPHS.get().insert_with(|handle| Self {
            handle,
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            context,
            state: Mutex::new(GraphState {
                phase,
                lanes: Vec::new(),
                nodes: Vec::new(),
                capture: None,
                groups: Vec::new(),
                body: None,
            }),
            activity: Arc::default(),
            name: Mutex::default(),
            callbacks: Mutex::default(),
        })
    }

    /// Its handle is dead from here on.
    pub(super) fn forget(&self) {
        GRAPHS.get().remove(self.handle);
    }

    /// Spoils the capture. It goes on as if nothing had happened, and its end fails.
    pub(super) fn spoil(&self) {
        if let Some(capture) = &mut lock(&self.state).capture {
            capture.is_spoilt = true;
        }
    }

    pub(crate) fn is_capturing(&self) -> bool {
        lock(&self.state).capture.is_some()
    }

    pub(super) fn is_running(&self) -> bool {
        self.activity.replays.load(Ordering::Acquire) != 0
    }

    /// A function is called once.
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
