//! Contents of a complete graph.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::activity::Activity;
use crate::code::{Fault, Outcome, RT_INTERNAL};
use crate::engine::task::Work;
use crate::event::Event;
use crate::event::record::{EventName, Record};
use crate::handles::{HandleKind, Registry};
use crate::label::LabelSwitch;
use crate::mspti;
use crate::per_process::PerProcess;
use crate::sync::{Mutex, lock};

static GRAPH_TASKS: PerProcess<Registry<Arc<Node>>> =
    PerProcess::new(|| Registry::new(HandleKind::GraphTask));

/// The node that the program knows by a handle.
pub(super) fn node(handle: usize) -> Outcome<Arc<Node>> {
    let node = GRAPH_TASKS
        .get()
        .named(handle, "the task is NULL", "this is no task of a graph");
    node.map(|node| Arc::clone(&*node))
}

/// The nodes, and for each lane their order in it.
pub(crate) struct Body {
    pub(crate) nodes: Vec<Arc<Node>>,
    pub(crate) lanes: Vec<Vec<usize>>,
    /// Does the lane start with the graph? Others have to be jumped to.
    pub(crate) heads: Vec<bool>,
    /// By lane: the id of the stream that represents it.
    pub(crate) streams: Vec<i32>,
}

pub(crate) struct Node {
    pub(crate) lane: usize,
    /// Its number in the lane.
    pub(crate) seq: u32,
    /// Its number in the graph.
    pub(super) number: u32,
    /// The call that submitted it, as msPTI numbers calls.
    pub(crate) correlation: u64,
    pub(crate) action: NodeAction,
    /// Requested changes that are not applied yet.
    pub(super) wanted: Mutex<NodeChange>,
    is_disabled: AtomicBool,
    /// The group that it can be updated with.
    pub(super) group: OnceLock<usize>,
    handle: OnceLock<usize>,
}

/// A requested change of a node.
#[derive(Default)]
pub(super) struct NodeChange {
    pub(super) work: Option<Arc<Work>>,
    pub(super) disable: bool,
}

pub(crate) enum NodeAction {
    /// A task; an update may replace it between two executions.
    Task(Mutex<Arc<Work>>),
    /// A record inside of the graph.
    Record {
        event: EventName,
    },
    /// Waits for the record with that number.
    Wait {
        event: EventName,
        record: usize,
    },
    /// Takes an inner record back; it has no effect, since every replay has its own records.
    Reset {
        event: EventName,
        record: usize,
    },
    /// A record that is seen outside: bound to a fresh record of the event when a replay is submitted.
    ExternalRecord(Arc<Event>),
    /// Bound to the event's latest record when a replay is submitted.
    ExternalWait(Arc<Event>),
    /// The same for events that the device keeps a flag of: looked at when the turn comes.
    FlagRecord(Arc<Event>),
    FlagWait(Arc<Event>),
    FlagReset(Arc<Event>),
    /// A place to jump to.
    Label,
    /// Goes on at a label.
    Switch(LabelSwitch),
}

impl NodeAction {
    pub(super) fn task(work: Work) -> Self {
        Self::Task(Mutex::new(Arc::new(work)))
    }

    pub(super) const fn is_external(&self) -> bool {
        matches!(self, Self::ExternalRecord(_) | Self::ExternalWait(_))
    }

    /// The event of a record, a wait or a reset.
    pub(super) fn event(&self) -> Option<EventName> {
        match self {
            Self::Task(_) | Self::Label | Self::Switch(_) => None,
            Self::Record { event } | Self::Wait { event, .. } | Self::Reset { event, .. } => {
                Some(*event)
            }
            Self::ExternalRecord(event)
            | Self::ExternalWait(event)
            | Self::FlagRecord(event)
            | Self::FlagWait(event)
            | Self::FlagReset(event) => Some(event.name()),
        }
    }
}

impl Node {
    pub(super) fn new((lane, seq): (usize, u32), number: u32, action: NodeAction) -> Self {
        Self {
            lane,
            number,
            seq,
            correlation: mspti::correlation(),
            action,
            wanted: Mutex::default(),
            is_disabled: AtomicBool::new(false),
            group: OnceLock::new(),
            handle: OnceLock::new(),
        }
    }

    /// The present work of a task.
    pub(crate) fn work(&self) -> Option<Arc<Work>> {
        match &self.action {
            NodeAction::Task(work) => Some(Arc::clone(&lock(work))),
            _ => None,
        }
    }

    pub(crate) fn replace(&self, with: Arc<Work>) {
        if let NodeAction::Task(work) = &self.action {
            *lock(work) = with;
        }
    }

    pub(crate) fn is_disabled(&self) -> bool {
        self.is_disabled.load(Ordering::Acquire)
    }

    pub(super) fn disable(&self) {
        self.is_disabled.store(true, Ordering::Release);
    }

    /// The handle by which the program knows it; made when it asks.
    pub(super) fn handle(self: &Arc<Self>) -> Outcome<usize> {
        const NONE_LEFT: Fault = Fault {
            code: RT_INTERNAL,
            why: "no task handle is left",
        };
        if let Some(handle) = self.handle.get() {
            return Ok(*handle);
        }
        let mut own = 0;
        let made = GRAPH_TASKS.get().insert_with(|handle| {
            own = handle;
            Arc::clone(self)
        });
        made.ok_or(NONE_LEFT)?;
        Ok(*self.handle.get_or_init(|| own))
    }

    pub(super) fn forget_handle(&self) {
        if let Some(handle) = self.handle.get() {
            GRAPH_TASKS.get().remove(*handle);
        }
    }
}

/// The new work of one node.
pub(crate) struct NodePatch {
    pub(crate) node: Arc<Node>,
    pub(crate) work: Arc<Work>,
}

/// One execution of a graph.
pub(crate) struct Replay {
    /// Which of the graph's replays it is.
    pub(super) number: u64,
    pub(crate) activity: Arc<Activity>,
    pub(crate) body: Arc<Body>,
    /// The targets of the graph's external records and waits, by node.
    pub(crate) records: BTreeMap<usize, Arc<Record>>,
}

impl Replay {
    pub(crate) fn is_aborted(&self) -> bool {
        self.activity.is_aborted(self.number)
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.activity.replays.fetch_sub(1, Ordering::AcqRel);
    }
}
