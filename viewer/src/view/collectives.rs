//! Details of a collective: its communicator, its bytes, and its least bandwidth.

use ascend_trace_analysis::collectives::{Collective, Communicator};
use ascend_trace_recording::{TaskId, TaskTime};
use ratatui::text::{Line, Span};

use crate::display_names;
use crate::text::{bytes, count, rate};

use super::Scene;
use super::facts::flow;

/// Nothing for a task that is no collective.
pub(super) fn of(scene: &Scene<'_>, id: TaskId, room: usize) -> Vec<Line<'static>> {
    let trace = scene.world.trace;
    let task = trace.task(id);
    let Some(collective) = Collective::of(trace, trace.call(task.call)) else {
        return Vec::new();
    };
    let name = display_names::communicator(trace, collective.comm, task.stream);
    let mut groups = vec![vec![Span::styled(name, scene.app.theme.accent())]];
    let process = trace.stream(task.stream).process;
    let known =
        scene
            .app
            .document
            .communicators
            .get(process, collective.comm, trace.call(task.call).begin);
    let ranks = known.as_ref().and_then(|it| it.size);
    groups.extend(
        known
            .as_ref()
            .and_then(part)
            .map(|text| vec![Span::raw(text)]),
    );
    groups.extend(amount(&collective).map(|text| vec![Span::raw(text)]));
    let bandwidth = task
        .time
        .and_then(|time| bandwidth(&collective, ranks, time));
    groups.extend(bandwidth.map(|text| vec![Span::raw(text)]));
    if let Some(operation) = collective.operation {
        let word = operation.strip_prefix("HCCL_REDUCE_").unwrap_or(operation);
        groups.push(vec![Span::raw(word.to_lowercase())]);
    }
    if let Some((peer, rank)) = collective.peer {
        groups.push(vec![Span::raw(format!("{} {rank}", peer.name()))]);
    }
    flow(groups, room)
}

/// This process's part in a communicator.
fn part(known: &Communicator) -> Option<String> {
    match (known.rank, known.size) {
        (Some(rank), Some(size)) => Some(format!("rank {rank} of {size}")),
        (Some(rank), None) => Some(format!("rank {rank}")),
        (None, Some(size)) => Some(format!("{size} ranks")),
        (None, None) => None,
    }
}

/// Bytes, else elements.
fn amount(collective: &Collective<'_>) -> Option<String> {
    let data_type = collective.data_type.unwrap_or("elements");
    let data_type = data_type
        .strip_prefix("HCCL_DATA_TYPE_")
        .unwrap_or(data_type);
    let elements = format!("{} {data_type}", count(collective.count?));
    Some(match collective.bytes() {
        Some(moved) => format!("{} ({elements})", bytes(moved)),
        None => elements,
    })
}

/// The least bandwidths that it may have had: its time contains the wait for the last rank.
fn bandwidth(collective: &Collective<'_>, ranks: Option<u64>, time: TaskTime) -> Option<String> {
    let (algorithm, bus) = collective.least_bandwidths(ranks, time)?;
    Some(format!(
        "algorithm ≥ {}, bus ≥ {}",
        rate(algorithm),
        rate(bus)
    ))
}
