//! Which calls and tasks an export holds.

mod conditions;
mod pattern;
mod shown_lanes;

use std::sync::Arc;

use ascend_trace_analysis::critical::Segments;
use ascend_trace_analysis::stats::StepStats;
use ascend_trace_analysis::{Edge, Node, PlacedTasks, Stall};
use ascend_trace_recording::{
    Call, CallId, ProcessId, StreamId, Task, TaskId, ThreadId, TimeRange, Trace,
};

use crate::ArgDetail;
pub use conditions::{OnlyConditions, OnlyError};
pub use pattern::NamePattern;
pub(crate) use shown_lanes::ShownLanes;

/// The wanted part of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedPart {
    /// Begin and end; everything outside is left out.
    pub range: Option<TimeRange>,
    pub only: OnlyConditions,
    /// Detail of the slices of timelines; tables have all of it.
    pub args: ArgDetail,
    /// The critical path, if timelines have a track of it, and tables its pieces.
    pub critical: Arc<Segments>,
    /// The steps of tables, by begin; `None`: those that the program or its framework names.
    pub steps: Option<Arc<[StepStats]>>,
    /// Where tasks without a time probably ran, for the tracks of these in timelines.
    pub places: Arc<PlacedTasks>,
}

/// Which calls and tasks of a trace are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceSelection {
    range: Option<TimeRange>,
    /// `None`: everything is.
    chosen: Option<SelectedItems>,
    shown: Arc<ShownLanes>,
    /// By process: whether it has a part in this file. Empty: all have.
    processes: Vec<bool>,
    /// Nothing else than processes is left out.
    is_by_process: bool,
}

#[derive(Clone, Debug)]
struct SelectedItems {
    calls: Vec<bool>,
    tasks: Vec<bool>,
}

impl TraceSelection {
    /// The selection of a trace, which may be a part of one; `shown` covers the whole.
    pub(crate) fn of(trace: &Trace, wanted: &WantedPart, shown: Arc<ShownLanes>) -> Self {
        if wanted.is_all() {
            return Self::default();
        }
        Self {
            range: wanted.range,
            chosen: Some(SelectedItems::of(trace, wanted)),
            shown,
            processes: Vec::new(),
            is_by_process: false,
        }
    }

    /// The part of it that belongs to some of the processes.
    pub(crate) fn narrowed(&self, trace: &Trace, is_in: impl Fn(ProcessId) -> bool) -> Self {
        let processes = (0..trace.processes().len() as u32).map(|id| is_in(ProcessId(id)));
        let processes: Vec<bool> = processes.collect();
        let has = |id: ProcessId| processes.get(id.index()).copied().unwrap_or(false);
        let of_call = |call: &Call| has(trace.thread(call.thread).process);
        let calls = (0..).map(CallId).zip(trace.calls());
        let tasks = (0..).map(TaskId).zip(trace.tasks());
        let chosen = SelectedItems {
            calls: calls.map(|(id, it)| self.call(id) && of_call(it)).collect(),
            tasks: tasks
                .map(|(id, it)| self.task(id) && of_call(trace.call(it.call)))
                .collect(),
        };
        let threads = (0..).map(ThreadId).zip(trace.threads());
        let streams = (0..).map(StreamId).zip(trace.streams());
        let shown = ShownLanes {
            threads: threads
                .map(|(id, it)| self.thread(id) && has(it.process))
                .collect(),
            streams: streams
                .map(|(id, it)| self.stream(id) && has(it.process))
                .collect(),
        };
        Self {
            range: self.range,
            chosen: Some(chosen),
            shown: shown.into(),
            processes,
            is_by_process: self.is_whole() || self.is_by_process,
        }
    }

    /// Whether a process has a part in this file.
    pub(crate) fn process(&self, id: ProcessId) -> bool {
        self.processes.is_empty() || self.processes.get(id.index()).copied().unwrap_or(false)
    }

    /// Whether nothing of the whole trace is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_whole() && self.shown.is_empty()
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.chosen.is_none()
    }

    /// Whether all of each process is wanted that is wanted at all.
    pub(crate) fn has_whole_processes(&self) -> bool {
        self.is_whole() || self.is_by_process
    }

    pub(crate) fn range(&self) -> Option<TimeRange> {
        self.range
    }

    pub(crate) fn call(&self, id: CallId) -> bool {
        let chosen = self.chosen.as_ref();
        chosen.is_none_or(|it| it.calls.get(id.index()).copied().unwrap_or(false))
    }

    pub(crate) fn task(&self, id: TaskId) -> bool {
        let chosen = self.chosen.as_ref();
        chosen.is_none_or(|it| it.tasks.get(id.index()).copied().unwrap_or(false))
    }

    pub(crate) fn node(&self, node: Node) -> bool {
        match node {
            Node::Call(id) => self.call(id),
            Node::Task(id) => self.task(id),
        }
    }

    /// A dependency is shown when both its ends are.
    pub(crate) fn edge(&self, edge: &Edge) -> bool {
        self.is_whole() || self.node(edge.from) && self.node(edge.to)
    }

    pub(crate) fn stall(&self, stall: &Stall) -> bool {
        self.span(stall.begin, stall.end) && self.node(stall.node)
    }

    /// Whether something of a process or a thread, between these times, overlaps the range.
    pub(crate) fn span(&self, begin: i64, end: i64) -> bool {
        self.range
            .is_none_or(|range| range.overlaps(TimeRange::new(begin, end)))
    }

    /// Whether anything of a thread is shown; of a whole trace, every thread is.
    pub(crate) fn thread(&self, id: ThreadId) -> bool {
        self.is_whole() || self.shown.thread(id)
    }

    /// As [`TraceSelection::thread`].
    pub(crate) fn stream(&self, id: StreamId) -> bool {
        self.is_whole() || self.shown.stream(id)
    }
}

impl SelectedItems {
    fn of(trace: &Trace, wanted: &WantedPart) -> Self {
        let tasks = trace.tasks().iter();
        let tasks: Vec<bool> = tasks.map(|task| wanted.has_task(trace, task)).collect();
        let mut calls: Vec<bool> = trace
            .calls()
            .iter()
            .map(|call| wanted.has_call(trace, call))
            .collect();
        // A task that is shown shows who submitted it.
        let shown = trace.tasks().iter().zip(&tasks).filter(|it| *it.1);
        for (task, _) in shown {
            if let Some(call) = calls.get_mut(task.call.index()) {
                *call = true;
            }
        }
        Self { calls, tasks }
    }
}

impl WantedPart {
    /// Whether nothing is left out.
    pub(crate) fn is_all(&self) -> bool {
        self.range.is_none() && self.only == OnlyConditions::default()
    }

    fn overlaps(&self, other: TimeRange) -> bool {
        self.range.is_none_or(|range| range.overlaps(other))
    }

    fn has_task(&self, trace: &Trace, task: &Task) -> bool {
        let call = trace.call(task.call);
        self.overlaps(trace.extent(task))
            && self.only.place(trace, call, Some(task.stream))
            && self.only.task(trace, task)
            && self.only.call(trace, call)
    }

    /// Calls that submit a task are in with their task; this is about the others as well.
    fn has_call(&self, trace: &Trace, call: &Call) -> bool {
        !self.only.names_tasks()
            && self.overlaps(call.range())
            && self.only.place(trace, call, call.stream)
            && self.only.call(trace, call)
    }
}
