//! Links of the selection: its highlighted arrows, and the items at their ends.

use std::collections::BTreeSet;

use ascend_trace_analysis::{Edge, EdgeKind, Node};
use ascend_trace_recording::Trace;

use crate::app::{App, Selection};
use crate::item::{CallOrTask, Category};

/// The arrows of the selection and the items at their ends.
#[derive(Debug, Default)]
pub(crate) struct SelectionLinks {
    pub(super) edges: Vec<Edge>,
    items: BTreeSet<CallOrTask>,
}

impl SelectionLinks {
    pub(crate) fn of(app: &App, trace: &Trace) -> Self {
        match app.camera.selected {
            Some(Selection::Item(item)) => of_item(app, trace, item),
            Some(Selection::Gap(stall)) => {
                let culprit = stall.culprit(trace, &app.document.dependencies);
                let ends = [
                    culprit.call.map(CallOrTask::Call),
                    culprit.task.map(CallOrTask::Task),
                ];
                let ends = ends.into_iter().flatten();
                let edges = match stall.node {
                    Node::Task(task) if stall.cause.is_of_host() => {
                        vec![Edge::launch(trace, task)]
                    }
                    _ => Vec::new(),
                };
                let items = ends.chain([CallOrTask::from(stall.node)]).collect();
                Self { edges, items }
            }
            _ => Self::default(),
        }
    }

    /// Whether an item is at the other end of an arrow of the selection.
    pub(super) fn has(&self, item: CallOrTask) -> bool {
        self.items.contains(&item)
    }
}

fn of_item(app: &App, trace: &Trace, item: CallOrTask) -> SelectionLinks {
    let mut edges = edges_of(app, trace, item);
    let mut items: BTreeSet<CallOrTask> = edges
        .iter()
        .filter(|it| ties(it.kind))
        .flat_map(ends)
        .collect();
    // Whoever looks at the call that submitted a wait or a record looks at that as well.
    if let Some(task) = submitted(trace, item) {
        let more = edges_of(app, trace, task);
        items.extend(more.iter().filter(|it| ties(it.kind)).flat_map(ends));
        items.insert(task);
        edges.extend(more.into_iter().filter(|it| ties(it.kind)));
    }
    items.remove(&item);
    SelectionLinks { edges, items }
}

fn edges_of(app: &App, trace: &Trace, item: CallOrTask) -> Vec<Edge> {
    let mut edges = app.document.dependencies.incoming(trace, item.node());
    edges.extend(app.document.dependencies.outgoing(trace, item.node()));
    edges
}

fn ends(edge: &Edge) -> [CallOrTask; 2] {
    [CallOrTask::from(edge.from), CallOrTask::from(edge.to)]
}

/// The wait or the record that a call submitted.
pub(super) fn submitted(trace: &Trace, item: CallOrTask) -> Option<CallOrTask> {
    let CallOrTask::Call(call) = item else {
        return None;
    };
    let task = CallOrTask::Task(trace.call(call).task?);
    let category = task.category(trace);
    matches!(category, Category::Record | Category::Wait).then_some(task)
}

/// Whether an end of such an edge waited for the other.
fn ties(kind: EdgeKind) -> bool {
    matches!(
        kind,
        EdgeKind::RecordToWait
            | EdgeKind::SignalToWait
            | EdgeKind::TaskToSync
            | EdgeKind::TimedOut
            | EdgeKind::Captured
    )
}
