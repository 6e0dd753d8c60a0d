//! What an export is made from: a trace, or a part of one with what surrounds it.

use std::collections::HashSet;
use std::sync::Arc;

use ascend_trace_analysis::past::Keys;
use ascend_trace_analysis::{Dependencies, Edge, Graphs, Lane, Learnt, Node, Stall, Stalls, Step};
use ascend_trace_model::{Call, CallId, ProcessId, StreamId, TaskId, ThreadId, Trace};

use crate::Args;
use crate::constants::Constants;
use crate::selection::{Selection, Shown, Wanted};

/// Which part of a trace is to be written; see [`ascend_trace_analysis::past`] for the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where the part before began, and below which keys everything was known then.
    pub(crate) before: (i64, i64),
    /// Calls and tasks with keys in `from..until` belong to the part.
    pub(crate) from: i64,
    pub(crate) until: i64,
    /// Everything with a key below this is known.
    pub(crate) known: i64,
    pub(crate) is_last: bool,
    /// The first moment of the recording.
    pub(crate) begin: i64,
}

impl Part {
    /// All of a trace.
    fn whole(trace: &Trace) -> Self {
        Self {
            before: (i64::MIN, i64::MAX),
            from: i64::MIN,
            until: i64::MAX,
            known: i64::MAX,
            is_last: true,
            begin: trace.span().map_or(0, |span| span.0),
        }
    }

    /// The part of a trace before the first one.
    pub(crate) fn none(begin: i64) -> Self {
        Self {
            before: (i64::MIN, i64::MIN),
            from: i64::MIN,
            until: i64::MIN,
            known: i64::MIN,
            is_last: false,
            begin,
        }
    }

    /// The part after this one, now that everything with keys below `known` is.
    pub(crate) fn next(&self, until: i64, known: i64, is_last: bool) -> Self {
        Self {
            before: (self.from, self.known),
            from: self.until,
            until: until.max(self.until),
            known: known.max(self.known),
            is_last,
            begin: self.begin,
        }
    }

    /// Whether what has this key was written before a dependency with that key was known.
    pub(crate) fn is_far(&self, key: i64, edge: i64) -> bool {
        let (from, known) = self.before;
        key < self.from && (key < from || edge >= known)
    }

    fn is_whole(&self) -> bool {
        self.from == i64::MIN && self.is_last
    }

    pub(crate) fn holds(&self, key: i64) -> bool {
        self.from <= key && (key < self.until || self.is_last)
    }
}

/// What the parts before leave behind.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) learnt: Learnt,
    pub(crate) keys: Keys,
    /// Everything from here on is in memory.
    pub(crate) since: i64,
}

impl Default for Past {
    fn default() -> Self {
        Self {
            learnt: Learnt::default(),
            keys: Keys::default(),
            since: i64::MIN,
        }
    }
}

/// What an export is made from.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    pub trace: &'a Trace,
    pub dependencies: Arc<Dependencies>,
    pub stalls: Arc<Stalls>,
    pub graphs: Arc<Graphs>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) part: Part,
    pub(crate) selection: Selection,
    pub(crate) constants: Constants<'a>,
    pub(crate) args: Args,
    /// By function: what timelines file its calls under.
    host_categories: Arc<[String]>,
    /// By process: whether its pid is that of another one before it.
    repeated_pids: Arc<[bool]>,
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

impl<'a> Source<'a> {
    /// Analyses a trace for exports of all of it.
    pub fn new(trace: &'a Trace) -> Self {
        Self::of(trace, &Wanted::default())
    }

    /// Analyses a trace for exports of what is wanted of it.
    pub fn of(trace: &'a Trace, wanted: &Wanted) -> Self {
        let shown = Arc::new(Shown::of(trace, wanted));
        let part = Part::whole(trace);
        Self::of_part(trace, (wanted, &shown), &mut Past::default(), part)
    }

    /// Whether something is left to be written after the selection.
    pub fn has_any(&self) -> bool {
        !self.selection.is_empty()
    }

    /// Analyses a part of a trace; `shown` is of all of it.
    pub(crate) fn of_part(
        trace: &'a Trace,
        (wanted, shown): (&Wanted, &Arc<Shown>),
        past: &mut Past,
        part: Part,
    ) -> Self {
        let dependencies = Dependencies::of(trace);
        let step = Step {
            learnt: &mut past.learnt,
            since: past.since,
            is_last: part.is_last,
        };
        Self {
            trace,
            stalls: Stalls::of_step(trace, &dependencies, step).into(),
            dependencies: dependencies.into(),
            graphs: Graphs::of(trace).into(),
            keys: Keys::of(trace, std::mem::take(&mut past.keys)).into(),
            part,
            selection: Selection::of(trace, wanted, Arc::clone(shown)),
            constants: Constants::of(trace),
            args: wanted.args,
            host_categories: host_categories(trace),
            repeated_pids: repeated_pids(trace),
        }
    }

    /// The same for some of the processes alone, by their numbers in the trace.
    pub(crate) fn narrowed(&self, is_in: impl Fn(ProcessId) -> bool) -> Self {
        Self {
            selection: self.selection.narrowed(self.trace, is_in),
            ..self.clone()
        }
    }

    /// Whether a process is not told from another one before it by its pid.
    pub(crate) fn has_pid_of_another(&self, process: ProcessId) -> bool {
        let repeated = self.repeated_pids.get(process.index());
        repeated.copied().unwrap_or(false)
    }

    /// What timelines file a call under. Tasks are under their kinds, which some groups of functions are called
    /// like: who asks for kernels wants those of devices.
    pub(crate) fn host_category(&self, call: &Call) -> &str {
        let category = self.host_categories.get(call.function.index());
        category.map_or(HOST, String::as_str)
    }

    /// The calls of a thread that are wanted, by begin time.
    pub(crate) fn calls(&self, thread: ThreadId) -> impl Iterator<Item = CallId> {
        let calls = self.trace.thread_calls(thread);
        let begin = |id: &CallId| self.trace.call(*id).begin;
        let first = calls.partition_point(|id| begin(id) < self.part.from);
        let calls = calls[first..].iter().copied();
        let calls = calls.take_while(move |id| self.part.holds(begin(id)));
        calls.filter(|id| self.selection.call(*id))
    }

    /// The tasks of a stream that are wanted, in the order of submission.
    pub(crate) fn tasks(&self, stream: StreamId) -> impl Iterator<Item = TaskId> {
        let tasks = self.trace.stream_tasks(stream);
        let first = tasks.partition_point(|id| self.keys.task(*id) < self.part.from);
        let tasks = tasks[first..].iter().copied();
        let tasks = tasks.take_while(|id| self.part.holds(self.keys.task(*id)));
        tasks.filter(|id| self.selection.task(*id))
    }

    /// Whether everything in the trace is to be written at once.
    pub(crate) fn is_all(&self) -> bool {
        self.part.is_whole() && self.selection.is_whole()
    }

    /// Whether a call or task belongs to the part, wanted or not.
    pub(crate) fn is_here(&self, node: Node) -> bool {
        self.part.holds(self.keys.node(self.trace, node))
    }

    /// Whether a call or task is to be written with this part.
    pub(crate) fn owns(&self, node: Node) -> bool {
        self.is_here(node) && self.selection.node(node)
    }

    pub(crate) fn owns_edge(&self, edge: &Edge) -> bool {
        if self.is_all() {
            return true;
        }
        self.part.holds(self.keys.edge(self.trace, edge)) && self.selection.edge(edge)
    }

    pub(crate) fn owns_stall(&self, stall: &Stall) -> bool {
        self.part.holds(self.keys.stall(self.trace, stall)) && self.selection.stall(stall)
    }

    /// The dependencies that are to be written with this part: the launches, then the others.
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
