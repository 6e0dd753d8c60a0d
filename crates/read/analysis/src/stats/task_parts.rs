//! Sums of what ran inside of tasks: the kernels of operators, and the nodes of graphs that are replayed.

use ascend_trace_recording::{StreamId, TaskId, Trace};
use rustc_hash::FxHashMap;

use super::PartStats;
use super::histogram::Histogram;
use super::tables::{Range, overlaps, replayed};
use crate::Window;
use crate::graphs::{part_kind, part_label};

/// Identity of a part: its operation, its node and its name.
type Key = (String, Option<u32>, String);

#[derive(Clone, Debug, Default)]
pub(super) struct TaskPartSums {
    sums: FxHashMap<Key, (&'static str, Histogram)>,
}

impl TaskPartSums {
    pub(super) fn take(&mut self, window: &Window<'_>, range: Range) {
        let trace = window.trace;
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in window.stream_tasks(stream) {
                if overlaps(range, trace.extent(trace.task(id))) {
                    self.task(window, trace, id);
                }
            }
        }
    }

    fn task(&mut self, window: &Window<'_>, trace: &Trace, id: TaskId) {
        let task = trace.task(id);
        for part in trace.parts(id) {
            let operation = match replayed(trace, task) {
                Some(graph) => format!("graph {graph}"),
                None => trace.task_name(task).to_owned(),
            };
            let name = part_label(trace, &window.graphs, id, &part).into_owned();
            let sums = self.sums.entry((operation, part.node, name));
            let sums = sums.or_insert_with(|| (part_kind(&part), Histogram::default()));
            sums.1.add(part.end.saturating_sub(part.begin));
        }
    }

    pub(super) fn rows(self) -> Vec<PartStats> {
        let rows = self.sums.into_iter();
        let rows = rows.map(|((operation, node, name), (kind, time))| PartStats {
            operation,
            node: node.filter(|node| *node > 0),
            name,
            kind,
            time: time.durations(),
        });
        let mut rows: Vec<PartStats> = rows.collect();
        rows.sort_by(|a, b| {
            let key = |row: &PartStats| (-row.time.total_ns, row.node);
            (key(a), &a.operation, &a.name).cmp(&(key(b), &b.operation, &b.name))
        });
        rows
    }
}
