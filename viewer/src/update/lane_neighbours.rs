//! Moves along a lane of any kind.

use ascend_trace_recording::{StreamId, Trace};

use crate::app::{App, OpenCall, Selection};
use crate::item::{CallOrTask, TrackKey};
use crate::nodes::{ReplayNode, ReplayNodes};

/// The next or previous entry of a lane.
pub(super) fn neighbour(
    app: &App,
    trace: &Trace,
    lane: TrackKey,
    from: Selection,
    forward: bool,
) -> Option<Selection> {
    match (lane, from) {
        (TrackKey::Nodes(stream), Selection::Node(node)) => {
            let node = neighbour_node(app, trace, stream, node, forward)?;
            Some(Selection::Node(node))
        }
        (TrackKey::Nodes(_), _) => None,
        (TrackKey::Ranges(thread, level), Selection::Range(id, _)) => {
            let range = app
                .document
                .ranges
                .beside(trace, (thread, level), id, forward)?;
            Some(Selection::Range(range, level))
        }
        (TrackKey::Ranges(..), _) => None,
        _ => {
            let track = app.document.tracks.get(lane)?;
            let (time, item) = (from.span(trace).begin, from.item());
            let found = match forward {
                true => track.after(trace, time, item),
                false => track.before(trace, time, item),
            };
            let open = || {
                let mut open = app.document.tracks.open_calls(lane).filter(|_| forward);
                open.find(|call| call.begin > time)
            };
            let open = || open().map(|call| Selection::Open(OpenCall::of(call)));
            found.map(Selection::Item).or_else(open)
        }
    }
}

/// The entry of a lane at a timestamp, or the nearest one.
pub(super) fn nearest(app: &App, trace: &Trace, lane: TrackKey, time: i64) -> Option<Selection> {
    match lane {
        key if key.is_meter() => None,
        TrackKey::Nodes(stream) => {
            let nodes = nodes_near(app, trace, stream, time)?;
            nodes.at(time).map(Selection::Node)
        }
        TrackKey::Ranges(thread, level) => {
            let range = app.document.ranges.nearest(trace, (thread, level), time)?;
            Some(Selection::Range(range, level))
        }
        _ => {
            let item = app.document.tracks.get(lane)?.nearest(trace, time);
            let open = open_at(app, lane, time, item.is_none());
            open.or(item.map(Selection::Item))
        }
    }
}

/// The running call of a lane at a timestamp; with `anywhere` also a later one.
pub(super) fn open_at(app: &App, lane: TrackKey, time: i64, anywhere: bool) -> Option<Selection> {
    let mut open = app.document.tracks.open_calls(lane);
    let open = open.find(|call| anywhere || call.range().contains(time))?;
    Some(Selection::Open(OpenCall::of(open)))
}

/// The replay at a timestamp, else the nearest of those before and after.
fn nodes_near<'a>(
    app: &'a App,
    trace: &Trace,
    stream: StreamId,
    time: i64,
) -> Option<ReplayNodes<'a>> {
    let track = app.document.tracks.get(TrackKey::Stream(stream))?;
    let here = track.nearest(trace, time)?;
    let known = |item: CallOrTask| nodes_of(app, trace, item);
    known(here).or_else(|| {
        let from = Selection::Item(here);
        let after = neighbour_replay(app, trace, stream, from, true);
        after.or_else(|| neighbour_replay(app, trace, stream, from, false))
    })
}

fn nodes_of<'a>(app: &'a App, trace: &Trace, item: CallOrTask) -> Option<ReplayNodes<'a>> {
    match item {
        CallOrTask::Task(task) => ReplayNodes::of(&app.document.graphs, trace, task),
        CallOrTask::Call(_) => None,
    }
}

/// The next replay of a stream.
fn neighbour_replay<'a>(
    app: &'a App,
    trace: &Trace,
    stream: StreamId,
    from: Selection,
    forward: bool,
) -> Option<ReplayNodes<'a>> {
    let lane = TrackKey::Stream(stream);
    let step = |from: &Selection| neighbour(app, trace, lane, *from, forward);
    let mut items = std::iter::successors(step(&from), step);
    items.find_map(|selected| nodes_of(app, trace, selected.item()?))
}

fn neighbour_node(
    app: &App,
    trace: &Trace,
    stream: StreamId,
    node: ReplayNode,
    forward: bool,
) -> Option<ReplayNode> {
    let nodes = ReplayNodes::of(&app.document.graphs, trace, node.replay)?;
    let place = nodes.place(node.number)?;
    let next = match forward {
        true => nodes.node(place + 1),
        false => place.checked_sub(1).and_then(|place| nodes.node(place)),
    };
    next.or_else(|| {
        let from = Selection::Item(CallOrTask::Task(node.replay));
        let other = neighbour_replay(app, trace, stream, from, forward)?;
        other.node(if forward { 0 } else { other.len() - 1 })
    })
}
