//! The tables of a recording that is read part by part: what they need of each part, summed up.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_format::api::{RetKind, TaskKind};
use ascend_trace_model::{CallId, Function, ProcessId, StreamId, Task, TaskId, ThreadId, Trace};

use super::histogram::Histogram;
use super::idle::CauseTable;
use super::lane_sums::{StreamSums, ThreadSums, WorkSums};
use super::lanes::is_late;
use super::open::{self, OpenCallStats};
use super::stall::Worst;
use super::tables::{Range, extent, overlaps, replayed};
use crate::dependencies::Dependencies;
use crate::graphs::Graphs;
use crate::stalls::Running;
use crate::{Lane, Node, Stall, Stalls};

/// What an operation is told by: its name, or the graph that it replays; and its kind.
pub(super) type Operation = (String, Option<u32>, TaskKind);

/// The calls of one function.
#[derive(Clone, Debug, Default)]
pub(super) struct ApiSums {
    pub(super) time: Histogram,
    pub(super) errors: u64,
    pub(super) nested: u64,
}

/// Sums over the parts so far.
#[derive(Debug, Default)]
pub(super) struct RunningStats {
    pub(super) range: Range,
    stalls: Running,
    /// Tasks, and the durations of those with a time.
    pub(super) operations: HashMap<Operation, (u64, Histogram)>,
    /// By function, with those that the file's damaged table does not have.
    pub(super) apis: Vec<ApiSums>,
    pub(super) functions: Vec<Function>,
    pub(super) streams: BTreeMap<StreamId, StreamSums>,
    pub(super) work: WorkSums,
    pub(super) threads: BTreeMap<ThreadId, ThreadSums>,
    pub(super) causes: CauseTable,
    pub(super) worst: Worst,
    /// Replays of graphs by process and serial, as operations.
    pub(super) replays: HashMap<(ProcessId, u32), (u64, Histogram)>,
    pub(super) lives: Vec<Option<(i64, i64)>>,
    /// Calls that did not return: a few for each thread.
    pub(super) open: Vec<OpenCallStats>,
}

/// A part: calls and tasks that begin in `own` belong to it, both moments included.
struct Part<'t> {
    trace: &'t Trace,
    own: (i64, i64),
    range: Range,
}

impl Part<'_> {
    fn owns(&self, begin: i64) -> bool {
        self.own.0 <= begin && begin <= self.own.1
    }

    fn is_inside(&self, (begin, end): (i64, i64)) -> bool {
        self.owns(begin) && overlaps(self.range, begin, end)
    }

    fn tasks(&self) -> impl Iterator<Item = &Task> {
        let tasks = self.trace.tasks().iter();
        tasks.filter(|task| self.is_inside(extent(self.trace, task)))
    }
}

impl RunningStats {
    pub(super) fn new(range: Range) -> Self {
        Self {
            range,
            ..Self::default()
        }
    }

    /// Takes in the next part of the recording, in the order of time.
    pub(super) fn take(&mut self, trace: &Trace, own: (i64, i64)) {
        let part = Part {
            trace,
            own,
            range: self.range,
        };
        let calls = (0..trace.calls().len() as u32).map(CallId);
        let calls: Vec<CallId> = calls
            .filter(|id| part.owns(trace.call(*id).begin))
            .collect();
        let dependencies = Dependencies::of(trace);
        let owns = |begin| part.owns(begin);
        let ended = self.stalls.take(trace, &dependencies, &calls, owns);
        let hosts = self.stalls.host_stalls();
        self.calls(&part, &calls);
        let open = open::of_calls(trace, calls.iter().copied(), self.range);
        self.open.extend(open);
        self.tasks(&part);
        self.replays(&part);
        self.work.take(trace, &ended, own, self.range);
        self.stalls_of(trace, &ended, &hosts);
        let all = ended.iter().chain(&hosts);
        let inside = all.filter(|it| overlaps(part.range, it.begin, it.end));
        self.worst.take(trace, &dependencies, inside);
    }

    fn calls(&mut self, part: &Part<'_>, calls: &[CallId]) {
        let trace = part.trace;
        let new = trace.functions().iter().skip(self.functions.len());
        self.functions.extend(new.cloned());
        self.apis
            .resize_with(self.functions.len(), ApiSums::default);
        let all = calls.iter().map(|id| trace.call(*id));
        for call in all.filter(|call| overlaps(part.range, call.begin, call.end)) {
            let api = &mut self.apis[call.function.index()];
            let has_code = trace.function(call.function).ret == RetKind::Error;
            api.time.add(call.end - call.begin);
            api.errors += u64::from(has_code && call.ret != 0);
            api.nested += u64::from(call.depth > 0);
            if call.depth == 0 {
                let thread = self.threads.entry(call.thread).or_default();
                let range = part.range.unwrap_or((call.begin, call.end));
                thread.call((call.begin, call.end), range);
            }
        }
    }

    fn tasks(&mut self, part: &Part<'_>) {
        let trace = part.trace;
        for task in part.tasks() {
            let graph = replayed(trace, task);
            let name = graph.map_or_else(|| trace.task_name(task), |_| "");
            let key = (name.to_owned(), graph, task.kind);
            let operation = self.operations.entry(key).or_default();
            operation.0 += 1;
            let stream = self.streams.entry(task.stream).or_default();
            stream.tasks += 1;
            match task.time {
                Some(time) => operation.1.add(time.end - time.begin),
                None => stream.untimed += 1,
            }
        }
    }

    fn replays(&mut self, part: &Part<'_>) {
        let trace = part.trace;
        if trace.calls().iter().all(|call| call.graph.is_none()) {
            return;
        }
        for graph in Graphs::of(trace).all() {
            for replay in &graph.replays {
                let call = trace.call(replay.call);
                let time = replay.task.and_then(|task| trace.task(task).time);
                let span = time.map_or((call.begin, call.end), |it| (it.begin, it.end));
                if part.is_inside(span) {
                    let key = (graph.process, graph.serial);
                    let replays = self.replays.entry(key).or_default();
                    replays.0 += 1;
                    if time.is_some() {
                        replays.1.add(span.1 - span.0);
                    }
                }
            }
        }
    }

    fn stalls_of(&mut self, trace: &Trace, ended: &Stalls, hosts: &[Stall]) {
        let Some(range) = self.range else { return };
        for stall in ended.iter().chain(hosts) {
            if !overlaps(self.range, stall.begin, stall.end) {
                continue;
            }
            self.causes.add(stall);
            match stall.lane {
                Lane::Thread(id) => {
                    let thread = self.threads.entry(id).or_default();
                    thread.blocked.add(stall, range);
                }
                Lane::Stream(id) => {
                    let stream = self.streams.entry(id).or_default();
                    stream.sums.add(stall, range);
                    if let (true, Node::Task(task)) = (is_late(stall.cause), stall.node) {
                        let id = thread_of(trace, task);
                        let thread = self.threads.entry(id).or_default();
                        thread.late.add(stall, range);
                    }
                }
            }
        }
    }

    /// Takes in what is left when nothing more will come.
    pub(super) fn close(&mut self, things: &Trace) {
        let left = std::mem::take(&mut self.stalls).finish(things);
        self.stalls_of(things, &left, &[]);
        let streams = (0..things.streams().len() as u32).map(StreamId);
        self.lives = streams.map(|id| left.life(id)).collect();
    }
}

fn thread_of(trace: &Trace, task: TaskId) -> ThreadId {
    trace.call(trace.task(task).call).thread
}
