//! Totals over all parts of a trace that were exported.

use ascend_trace_analysis::graphs::Graph;
use ascend_trace_analysis::stats::Steps;
use ascend_trace_analysis::{Fold, Node};
use ascend_trace_recording::{CallId, ProcessId, TaskId};

use crate::ExportSource;
use rustc_hash::FxHashMap;

/// Counts over all parts that have been written.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExportTotals {
    pub(crate) calls: u64,
    pub(crate) tasks: u64,
    pub(crate) untimed_tasks: u64,
    pub(crate) left_out_calls: u64,
    pub(crate) left_out_tasks: u64,
    /// Dependencies without an arrow: at least one end has no slice.
    pub(crate) omitted_flows: u64,
    /// Of all processes, independent of the selection.
    steps: Steps,
    replays: FxHashMap<(ProcessId, u32), u64>,
}

impl ExportTotals {
    /// Counts the rows of the part.
    pub(crate) fn add(&mut self, source: &ExportSource<'_>) {
        let trace = source.trace;
        self.steps.take(source);
        if source.is_all() {
            let untimed = trace.tasks().iter().filter(|task| task.time.is_none());
            self.calls += trace.calls().len() as u64;
            self.tasks += trace.tasks().len() as u64;
            self.untimed_tasks += untimed.count() as u64;
        } else {
            self.add_part(source);
        }
        for graph in source.graphs.all() {
            let replays = graph.replays.iter();
            let here = replays.filter(|replay| source.is_here(Node::Call(replay.call)));
            *self
                .replays
                .entry((graph.process, graph.serial))
                .or_default() += here.count() as u64;
        }
    }

    /// The steps of training loops, once the last part was added.
    pub(crate) fn steps(&self) -> &Steps {
        &self.steps
    }

    fn add_part(&mut self, source: &ExportSource<'_>) {
        let trace = source.trace;
        let is_here = |node: Node, call: CallId| {
            let thread = trace.call(call).thread;
            source.is_here(node) && source.selection.process(trace.thread(thread).process)
        };
        for id in (0..trace.calls().len() as u32).map(CallId) {
            if is_here(Node::Call(id), id) {
                self.calls += 1;
                self.left_out_calls += u64::from(!source.selection.call(id));
            }
        }
        for (id, task) in (0..).map(TaskId).zip(trace.tasks()) {
            if is_here(Node::Task(id), task.call) {
                self.tasks += 1;
                self.untimed_tasks += u64::from(task.time.is_none());
                self.left_out_tasks += u64::from(!source.selection.task(id));
            }
        }
    }

    /// How often a graph was replayed.
    pub(crate) fn replays(&self, graph: &Graph) -> u64 {
        let key = (graph.process, graph.serial);
        self.replays.get(&key).copied().unwrap_or(0)
    }
}
