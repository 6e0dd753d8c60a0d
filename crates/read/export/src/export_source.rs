//! Input of an export: a trace, or a part of one with its surroundings.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

use ascend_trace_analysis::collectives::{Collective, Communicators};
use ascend_trace_analysis::critical::Segments;
use ascend_trace_analysis::stats::StepStats;
use ascend_trace_analysis::{Edge, Lane, Node, PlacedTasks, Stall, Window};
use ascend_trace_recording::{
    Call, CallId, Placement, ProcessId, StreamId, TaskId, ThreadId, Trace,
};

use crate::ArgDetail;
use crate::constants::ConstantNames;
use crate::selection::{ShownLanes, TraceSelection, WantedPart};

/// Input of an export: a window of a recording, and the wanted part of it.
#[derive(Clone, Debug)]
pub struct ExportSource<'a> {
    window: Window<'a>,
    pub(crate) selection: TraceSelection,
    pub(crate) constants: ConstantNames<'a>,
    pub(crate) args: ArgDetail,
    pub(crate) critical: Arc<Segments>,
    pub(crate) steps: Option<Arc<[StepStats]>>,
    places: Arc<PlacedTasks>,
    /// By function: what timelines file its calls under.
    host_categories: Arc<[String]>,
    /// By process: whether its pid is that of another one before it.
    repeated_pids: Arc<[bool]>,
    communicators: Arc<Communicators>,
}

impl<'a> Deref for ExportSource<'a> {
    type Target = Window<'a>;

    fn deref(&self) -> &Window<'a> {
        &self.window
    }
}

/// What calls are filed under.
const HOST: &str = "host";

fn host_categories(trace: &Trace) -> Arc<[String]> {
    let functions = trace.functions().iter();
    let category = |group: &str| match group {
        "" => HOST.to_owned(),
        group => format!("{HOST}.{group}"),
    };
    functions
        .map(|function| category(&function.category))
        .collect()
}

fn repeated_pids(trace: &Trace) -> Arc<[bool]> {
    let mut pids = HashSet::new();
    let processes = trace.processes().iter();
    processes.map(|it| !pids.insert(it.pid)).collect()
}

impl<'a> ExportSource<'a> {
    /// Analyses a trace for exports of all of it.
    pub fn new(trace: &'a Trace) -> Self {
        Self::of(trace, &WantedPart::default())
    }

    /// Analyses a trace for exports of the wanted part.
    pub fn of(trace: &'a Trace, wanted: &WantedPart) -> Self {
        let shown = Arc::new(ShownLanes::of(trace, wanted));
        let communicators = Arc::new(Communicators::of(trace));
        Self::of_window(Window::whole(trace), (wanted, &shown), communicators)
    }

    /// Whether something is left to be written after the selection.
    pub fn has_any(&self) -> bool {
        !self.selection.is_empty()
    }

    /// The wanted part of a window; `shown` covers the whole recording, `communicators` all until here.
    pub(crate) fn of_window(
        window: Window<'a>,
        (wanted, shown): (&WantedPart, &Arc<ShownLanes>),
        communicators: Arc<Communicators>,
    ) -> Self {
        let trace = window.trace;
        Self {
            selection: TraceSelection::of(trace, wanted, Arc::clone(shown)),
            constants: ConstantNames::of(trace),
            args: wanted.args,
            critical: Arc::clone(&wanted.critical),
            steps: wanted.steps.clone(),
            places: Arc::clone(&wanted.places),
            host_categories: host_categories(trace),
            repeated_pids: repeated_pids(trace),
            communicators,
            window,
        }
    }

    /// The same for some of the processes alone, by their numbers in the trace.
    pub(crate) fn narrowed(&self, is_in: impl Fn(ProcessId) -> bool) -> Self {
        Self {
            selection: self.selection.narrowed(self.trace, is_in),
            ..self.clone()
        }
    }

    /// Whether an earlier process has the same pid.
    pub(crate) fn has_pid_of_another(&self, process: ProcessId) -> bool {
        let repeated = self.repeated_pids.get(process.index());
        repeated.copied().unwrap_or(false)
    }

    /// The collective of a call, and how many ranks take part as far as calls before it say.
    pub(crate) fn collective(&self, call: &Call) -> Option<(Collective<'a>, Option<u64>)> {
        let trace: &'a Trace = self.window.trace;
        let collective = Collective::of(trace, call)?;
        let process = trace.thread(call.thread).process;
        let known = self.communicators.get(process, collective.comm, call.begin);
        Some((collective, known.and_then(|it| it.size)))
    }

    /// What timelines file a call under. Tasks are under their kinds, which some groups of functions are called
    /// like: who asks for kernels wants those of devices.
    pub(crate) fn host_category(&self, call: &Call) -> &str {
        let category = self.host_categories.get(call.function.index());
        category.map_or(HOST, String::as_str)
    }

    /// The calls of a thread that are wanted, by begin time.
    pub(crate) fn calls(&self, thread: ThreadId) -> impl Iterator<Item = CallId> {
        let calls = self.window.thread_calls(thread);
        calls.filter(|id| self.selection.call(*id))
    }

    /// The tasks of a stream that are wanted, in the order of submission.
    pub(crate) fn tasks(&self, stream: StreamId) -> impl Iterator<Item = TaskId> {
        let tasks = self.window.stream_tasks(stream);
        tasks.filter(|id| self.selection.task(*id))
    }

    /// The wanted tasks of a stream without a time that have a place, in the order of submission.
    pub(crate) fn placed(&self, stream: StreamId) -> impl Iterator<Item = (TaskId, Placement)> {
        let tasks = (!self.places.is_empty()).then(|| self.tasks(stream));
        let tasks = tasks.into_iter().flatten();
        tasks.filter_map(|id| Some((id, self.placement(id)?)))
    }

    /// Whether tasks without a time have a place.
    pub(crate) fn has_places(&self) -> bool {
        !self.places.is_empty()
    }

    /// The same without the places of tasks.
    pub(crate) fn without_places(&self) -> Self {
        Self {
            places: Arc::default(),
            ..self.clone()
        }
    }

    /// Where a task without a time probably ran.
    pub(crate) fn placement(&self, id: TaskId) -> Option<Placement> {
        let task = self.window.trace.task(id);
        match task.time {
            Some(_) => None,
            None => self.places.get(task),
        }
    }

    /// Whether the whole trace is written at once.
    pub(crate) fn is_all(&self) -> bool {
        self.part.is_whole() && self.selection.is_whole()
    }

    /// Whether a call or task belongs to the part, wanted or not.
    pub(crate) fn is_here(&self, node: Node) -> bool {
        self.window.owns(node)
    }

    /// Whether a call or task is written with this part.
    pub(crate) fn owns(&self, node: Node) -> bool {
        self.is_here(node) && self.selection.node(node)
    }

    pub(crate) fn owns_edge(&self, edge: &Edge) -> bool {
        self.window.owns_edge(edge) && self.selection.edge(edge)
    }

    pub(crate) fn owns_stall(&self, stall: &Stall) -> bool {
        self.window.owns_stall(stall) && self.selection.stall(stall)
    }

    /// The dependencies that are written with this part: the launches, then the others.
    pub(crate) fn edges(&self) -> impl Iterator<Item = Edge> {
        let edges = self.dependencies.all(self.trace);
        edges.filter(|edge| self.owns_edge(edge))
    }

    /// The stretches in which a stream did nothing, unless that is as it should be.
    pub(crate) fn idle(&self, stream: StreamId) -> impl Iterator<Item = &Stall> {
        let stalls = self.stalls.lane(Lane::Stream(stream)).iter();
        stalls.filter(|stall| stall.is_notable() && self.owns_stall(stall))
    }
}
