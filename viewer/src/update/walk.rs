//! Walking along dependencies, and back.

use ascend_trace_analysis::{Edge, EdgeKind, Node};
use ascend_trace_recording::{TaskId, Trace};

use crate::app::{App, DependencyWalk, Selection, ViewData, ViewPosition};
use crate::item::CallOrTask;

use super::select::select;

/// What to say of a range.
const NO_TASK: &str = "a range is no task or call: nothing waits for it";
/// What to say of a call that has not returned.
const UNDER_WAY: &str = "this call has not returned: its dependencies are known when it returns";

/// Steps that can be undone.
const HISTORY: usize = 200;

/// Notes the present place as one to come back to.
pub(super) fn remember(app: &mut App) {
    remember_place(app, app.place());
}

/// Notes a place as one to come back to.
pub(super) fn remember_place(app: &mut App, place: ViewPosition) {
    if app.camera.history.len() == HISTORY {
        app.camera.history.remove(0);
    }
    app.camera.history.push(place);
    app.camera.future.clear();
}

/// Goes back to where the last jump or move began.
pub(super) fn back(app: &mut App) {
    let Some(place) = app.camera.history.pop() else {
        app.message = Some("there is no way back from here".to_owned());
        return;
    };
    app.camera.future.push(app.place());
    step(app, place);
}

/// Goes again to where [`back`] came from.
pub(super) fn forward(app: &mut App) {
    let Some(place) = app.camera.future.pop() else {
        app.message = Some("nothing was undone".to_owned());
        return;
    };
    app.camera.history.push(app.place());
    step(app, place);
}

/// Restores a place. On a walk that came from there, its trail gets shorter by a step.
fn step(app: &mut App, place: ViewPosition) {
    let walk = app.camera.walk.take();
    app.restore(place);
    app.camera.walk = walk.and_then(|mut walk| {
        let (last, to_cause) = walk.trail.pop()?;
        walk.choices.clear();
        walk.to_cause = to_cause;
        (Some(last) == app.camera.selected).then_some(walk)
    });
}

/// Goes to the cause of the selection's wait.
pub(super) fn to_cause(app: &mut App, world: ViewData<'_>) {
    match app.camera.selected {
        Some(Selection::Item(item)) => {
            let causes = causes(app, world.trace, item);
            start(
                app,
                world,
                causes,
                true,
                "this waited for nothing that is known",
            );
        }
        Some(Selection::Gap(stall)) => {
            let evidence =
                app.document
                    .stalls
                    .evidence(world.trace, &app.document.dependencies, &stall);
            let culprit = evidence.culprit;
            let items = [
                culprit.call.map(CallOrTask::Call),
                culprit.task.map(CallOrTask::Task),
            ];
            let items = items.into_iter().flatten().collect();
            start(
                app,
                world,
                items,
                true,
                "why the stream was idle is not known",
            );
        }
        Some(Selection::Node(node)) => {
            let items = vec![CallOrTask::Task(node.replay), CallOrTask::Task(node.task)];
            start(app, world, items, true, "");
        }
        Some(Selection::Open(_)) => app.message = Some(UNDER_WAY.to_owned()),
        Some(Selection::Range(..)) => app.message = Some(NO_TASK.to_owned()),
        None => app.message = Some("nothing is selected".to_owned()),
    }
}

/// Goes to what waited for the selection.
pub(super) fn to_effect(app: &mut App, world: ViewData<'_>) {
    match app.camera.selected {
        Some(Selection::Item(item)) => {
            let effects = effects(app, world.trace, item);
            start(
                app,
                world,
                effects,
                false,
                "nothing is known to have waited for this",
            );
        }
        Some(Selection::Gap(stall)) => start(app, world, vec![stall.node.into()], false, ""),
        Some(Selection::Node(node)) => {
            let replay = CallOrTask::Task(node.replay);
            let effects = effects(app, world.trace, replay);
            start(
                app,
                world,
                effects,
                false,
                "nothing is known to have waited for its replay",
            );
        }
        Some(Selection::Open(_)) => app.message = Some(UNDER_WAY.to_owned()),
        Some(Selection::Range(..)) => app.message = Some(NO_TASK.to_owned()),
        None => app.message = Some("nothing is selected".to_owned()),
    }
}

fn start(
    app: &mut App,
    world: ViewData<'_>,
    choices: Vec<CallOrTask>,
    to_cause: bool,
    nothing: &str,
) {
    if choices.is_empty() {
        app.message = Some(nothing.to_owned());
        return;
    }
    remember(app);
    let mut trail = app
        .camera
        .walk
        .take()
        .map_or_else(Vec::new, |walk| walk.trail);
    trail.extend(app.camera.selected.map(|selected| (selected, to_cause)));
    let walk = DependencyWalk {
        choices,
        chosen: 0,
        trail,
        to_cause,
    };
    go(app, world, walk);
}

/// Goes to another end of the last step.
pub(super) fn alternative(app: &mut App, world: ViewData<'_>) {
    match app.camera.walk.take() {
        Some(mut walk) if walk.choices.len() > 1 => {
            walk.chosen = (walk.chosen + 1) % walk.choices.len();
            go(app, world, walk);
        }
        walk => {
            app.camera.walk = walk;
            app.message = Some("there is no other one".to_owned());
        }
    }
}

fn go(app: &mut App, world: ViewData<'_>, walk: DependencyWalk) {
    let Some(item) = walk.choices.get(walk.chosen).copied() else {
        return;
    };
    select(app, world, Selection::Item(item));
    if walk.choices.len() > 1 {
        let (number, all) = (walk.chosen + 1, walk.choices.len());
        app.message = Some(format!("{number} of {all}: tab goes to the next one"));
    }
    app.camera.walk = Some(walk);
}

/// The causes of an item's wait. The one that released it is first.
pub(crate) fn causes(app: &App, trace: &Trace, item: CallOrTask) -> Vec<CallOrTask> {
    let edges = app.document.dependencies.incoming(trace, item.node());
    let mut causes: Vec<_> = edges
        .iter()
        .filter_map(|it| dated(trace, *it, it.from))
        .collect();
    if let CallOrTask::Task(task) = item
        && let Some(previous) = beside(trace, task, -1)
    {
        let previous = CallOrTask::Task(previous);
        causes.push((previous.span(trace).end, previous));
    }
    causes.sort_by_key(|(moment, _)| std::cmp::Reverse(*moment));
    prefer_waited_for(app, trace, item, causes)
}

/// A wait exists for its event, even if other causes ended later.
fn prefer_waited_for(
    app: &App,
    trace: &Trace,
    item: CallOrTask,
    causes: Vec<(i64, CallOrTask)>,
) -> Vec<CallOrTask> {
    let edges = app.document.dependencies.incoming(trace, item.node());
    let records = edges.iter().filter(|it| it.kind == EdgeKind::RecordToWait);
    let mut ordered: Vec<_> = records.map(|edge| CallOrTask::from(edge.from)).collect();
    for (_, cause) in causes {
        if !ordered.contains(&cause) {
            ordered.push(cause);
        }
    }
    ordered
}

/// Items that waited for an item: waits and syncs first, then the next task of the stream.
pub(crate) fn effects(app: &App, trace: &Trace, item: CallOrTask) -> Vec<CallOrTask> {
    let edges = app.document.dependencies.outgoing(trace, item.node());
    let mut effects: Vec<_> = edges
        .iter()
        .filter_map(|it| dated(trace, *it, it.to))
        .collect();
    effects.sort_by_key(|(moment, _)| *moment);
    let mut effects: Vec<_> = effects.into_iter().map(|(_, item)| item).collect();
    if let CallOrTask::Task(task) = item {
        effects.extend(beside(trace, task, 1).map(CallOrTask::Task));
    }
    effects
}

/// An end of an edge with its relevant timestamp.
fn dated(trace: &Trace, edge: Edge, end: Node) -> Option<(i64, CallOrTask)> {
    let item = CallOrTask::from(end);
    let moment = match edge.times(trace) {
        Some(times) if end == edge.from => times.leave,
        Some(times) => times.arrive,
        None => item.span(trace).begin,
    };
    Some((moment, item))
}

/// The task before or after on the same stream.
fn beside(trace: &Trace, task: TaskId, step: isize) -> Option<TaskId> {
    let own = trace.task(task);
    let tasks = trace.stream_tasks(own.stream);
    let place = tasks.partition_point(|it| trace.task(*it).sequence < own.sequence);
    tasks.get(place.checked_add_signed(step)?).copied()
}
