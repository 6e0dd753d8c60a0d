//! The cause that released a wait, and the effects of a record, in words.

use ascend_trace_analysis::{Edge, EdgeKind, Node};
use ascend_trace_format::api::{Role, WaitTarget};
use ascend_trace_recording::Trace;

use crate::display_names;
use crate::item::{CallOrTask, Category};

use super::facts::{SpanGroup, since_start};
use super::{Scene, links};
use ratatui::text::Span;

/// Waits that are named of those that a record released.
const NAMED: usize = 3;

/// The cause that released an item, and its effects; for a call also its submission.
pub(super) fn of(scene: &Scene<'_>, item: CallOrTask) -> Vec<SpanGroup> {
    let submitted = links::submitted(scene.world.trace, item);
    let items = [Some(item), submitted].into_iter().flatten();
    let groups = items.flat_map(|item| [by(scene, item), others(scene, item)]);
    groups.flatten().collect()
}

fn by(scene: &Scene<'_>, item: CallOrTask) -> Option<SpanGroup> {
    let trace = scene.world.trace;
    let edges = scene.app.document.dependencies.incoming(trace, item.node());
    let released = edges.iter().filter(|edge| releases(edge.kind));
    let last = released.max_by_key(|edge| (edge.kind != EdgeKind::TimedOut, left(trace, edge)));
    let Some(last) = last else {
        let text = without_record(trace, item)?;
        return Some(vec![Span::styled(text, scene.app.theme.stall())]);
    };
    let verb = match last.kind {
        EdgeKind::TimedOut => "gave up before",
        _ => "released by",
    };
    let text = format!("{verb} {}", words(scene, last, item));
    Some(vec![Span::styled(text, scene.app.theme.stall())])
}

/// Why the cause of a wait for an event may be missing.
fn without_record(trace: &Trace, item: CallOrTask) -> Option<&'static str> {
    let call = trace.call(item.call(trace));
    let role = trace.function(call.function).role;
    let waits = role == Role::WaitEvent || role.meaning().waits == WaitTarget::Event;
    let is_recorded = call.event.is_some_and(|it| it.number > 0);
    let is_unknown = trace.is_filtered() && waits && is_recorded;
    is_unknown.then_some("the record of its event may be left out by the filters")
}

/// What waited for a record.
fn others(scene: &Scene<'_>, item: CallOrTask) -> Option<SpanGroup> {
    let trace = scene.world.trace;
    if item.category(trace) != Category::Record {
        return None;
    }
    let edges = scene.app.document.dependencies.outgoing(trace, item.node());
    let released = edges.iter().filter(|edge| releases(edge.kind));
    let released: Vec<&Edge> = released
        .filter(|it| it.kind != EdgeKind::TimedOut)
        .collect();
    if released.is_empty() {
        return None;
    }
    let named = released.iter().take(NAMED).map(|edge| target(scene, edge));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match released.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let text = format!("released {named}{more}");
    Some(vec![Span::styled(text, scene.app.theme.stall())])
}

fn releases(kind: EdgeKind) -> bool {
    matches!(
        kind,
        EdgeKind::RecordToWait | EdgeKind::SignalToWait | EdgeKind::TaskToSync | EdgeKind::TimedOut
    )
}

fn left(trace: &Trace, edge: &Edge) -> Option<i64> {
    edge.times(trace).map(|times| times.leave)
}

/// The source of an edge: its name, its event, its stream, and its time.
fn words(scene: &Scene<'_>, edge: &Edge, waiter: CallOrTask) -> String {
    let trace = scene.world.trace;
    let from = CallOrTask::from(edge.from);
    let label = from.label(trace);
    let mut text = label.to_string();
    let generation = trace.call(from.call(trace)).event;
    if let Some(generation) = generation.filter(|_| from.category(trace) == Category::Record) {
        let number = generation.number;
        text += &format!(" {} #{number}", display_names::event(trace, generation));
    }
    text += &format!(", {}", place(trace, from, device(trace, waiter)));
    if let Some(moment) = left(trace, edge) {
        let before = match moment < waiter.span(trace).begin {
            true => ", before this began",
            false => "",
        };
        text += &format!(", at {}{before}", since_start(scene, moment));
    }
    text
}

/// Where and when the target of a record continued.
fn target(scene: &Scene<'_>, edge: &Edge) -> String {
    let trace = scene.world.trace;
    let device = device(trace, CallOrTask::from(edge.from));
    let place = place(trace, CallOrTask::from(edge.to), device);
    match edge.times(trace) {
        Some(times) => format!("{place} at {}", since_start(scene, times.arrive)),
        None => place,
    }
}

fn place(trace: &Trace, item: CallOrTask, seen_from: Option<u32>) -> String {
    match item.node() {
        Node::Task(task) => display_names::stream_from(trace, trace.task(task).stream, seen_from),
        Node::Call(call) => display_names::thread(trace, trace.call(call).thread),
    }
}

fn device(trace: &Trace, item: CallOrTask) -> Option<u32> {
    match item.node() {
        Node::Task(task) => Some(trace.stream(trace.task(task).stream).device),
        Node::Call(call) => trace.call(call).device.map(u32::from),
    }
}
