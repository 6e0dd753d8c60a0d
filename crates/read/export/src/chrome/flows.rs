//! Dependencies as flows.
//!
//! An importer binds each end of a flow to the innermost slice that is open at the end's time, and
//! wants the start no later than the finish. So each end has a *reach*: the times inside its slice
//! at which no other slice of the track is open. The two reaches decide where exactly it lies.
//!
//! Perfetto lets an arrow point from the slice that begins first, regardless of its two ends. A wait or
//! a blocking call begins before the task that releases it: such an arrow ends at a mark, a slice
//! without duration at the end of the waiter.

use std::collections::HashSet;
use std::io;

use ascend_trace_analysis::{Edge, EdgeKind, Node};
use ascend_trace_recording::{CallId, TaskId};

use super::output::{EventOutput, EventPhase};
use crate::dependency_end::drawn_end;
use crate::dependency_slices::{NodeSlice, first_pair};
use crate::timeline::{Dialect, TimelinePart};
use crate::tracks::{SliceTrack, is_beside, is_waiter};

/// Where one end of a flow may lie.
#[derive(Clone, Copy, Debug)]
struct FlowReach {
    track: SliceTrack,
    first: i64,
    last: i64,
    /// The whole slice.
    begin: i64,
    end: i64,
    /// A free place for a mark, without another arrow.
    mark: Option<i64>,
}

/// Marks that are in the file.
type PlacedMarks = HashSet<(SliceTrack, i64)>;

/// Writes a flow for every dependency and returns how many could not be drawn.
pub(super) fn write(
    output: &mut EventOutput<'_>,
    dialect: &impl Dialect,
    part: TimelinePart<'_, '_>,
) -> io::Result<u64> {
    let mut omitted = 0;
    let mut marks = PlacedMarks::new();
    for edge in part.source.edges() {
        match bind(part, &edge) {
            Some(ends) => write_ends(output, dialect.arrow(edge.kind), ends, &mut marks)?,
            None => omitted += 1,
        }
    }
    Ok(omitted)
}

fn write_ends(
    output: &mut EventOutput<'_>,
    name: &'static str,
    ends: FlowEnds,
    marks: &mut PlacedMarks,
) -> io::Result<()> {
    output.flows += 1;
    let id = output.flows;
    write_end(output, b's', ends.from, name, id)?;
    let (track, time) = ends.to;
    if ends.at_mark && marks.insert((track, time)) {
        output.event(b'X', track, |members| {
            members.named("released", "released");
            members.lasting(time, time);
        })?;
    }
    write_end(output, b'f', ends.to, name, id)
}

fn write_end(
    output: &mut EventOutput<'_>,
    phase: EventPhase,
    (track, time): FlowEnd,
    name: &'static str,
    id: u64,
) -> io::Result<()> {
    output.event(phase, track, |members| {
        members.named(name, name);
        members.at(time);
        members.json.next(b",\"id\":").unsigned(id);
        if phase == b'f' {
            members.json.plain(b",\"bp\":\"e\"");
        }
    })
}

type FlowEnd = (SliceTrack, i64);

/// Where a flow begins and ends.
#[derive(Clone, Copy, Debug)]
struct FlowEnds {
    from: FlowEnd,
    to: FlowEnd,
    /// It ends at a mark.
    at_mark: bool,
}

/// Where the flow of an edge begins and ends.
fn bind(part: TimelinePart<'_, '_>, edge: &Edge) -> Option<FlowEnds> {
    first_pair(part.source.trace, edge, |from, to| {
        let from = reach(part, (edge.from, from), edge.kind)?;
        let to = reach(part, (edge.to, to), edge.kind)?;
        let begins = edge.kind.arrives_early().then(|| connect(&from, &to, true));
        let begins = begins.flatten();
        match edge.kind {
            EdgeKind::LaunchToTask => begins,
            _ => begins.or_else(|| connect(&from, &to, false)),
        }
    })
}

/// The reach of an edge of this kind in a slice of a node.
fn reach(
    part: TimelinePart<'_, '_>,
    (node, slice): (Node, NodeSlice),
    kind: EdgeKind,
) -> Option<FlowReach> {
    // The call was running when the dependency arose: a callback runs inside the call that began before it.
    let is_anywhere = matches!(
        kind,
        EdgeKind::TaskToSync | EdgeKind::TimedOut | EdgeKind::HostFunc
    );
    match (node, slice) {
        (_, NodeSlice::Task(id)) => task(part, id),
        (Node::Call(_), NodeSlice::Call(id)) if is_anywhere => Some(whole_call(part, id)),
        (_, NodeSlice::Call(id)) => Some(call_begin(part, id)),
    }
}

/// Inside a task's slice, off the edges that it shares with its neighbours.
fn task(part: TimelinePart<'_, '_>, id: TaskId) -> Option<FlowReach> {
    let TimelinePart { source, tracks } = part;
    let trace = source.trace;
    let track = tracks.task(trace, id)?;
    let time = trace.task(id).time?;
    let (begin, end) = (time.begin, drawn_end(source, id, time));
    let is_beside = is_beside(trace.task(id));
    let is_waiter = is_waiter(trace, trace.task(id));
    let (first, last) = match end - begin {
        // One with a mark at its end is a little longer; see [`Members::lasting_until`].
        _ if is_beside && (is_waiter || begin == end) => (begin, end),
        _ if is_beside => (begin, end - 1),
        1 => (begin, begin),
        _ => (begin + 1, end - 1),
    };
    let mark = if is_waiter { end } else { end - 2 };
    Some(FlowReach {
        track,
        first,
        last,
        begin,
        end,
        mark: (mark > first).then_some(mark),
    })
}

/// The begin of a call, where none of its children is open yet.
fn call_begin(part: TimelinePart<'_, '_>, id: CallId) -> FlowReach {
    let (trace, tracks) = (part.source.trace, part.tracks);
    let call = trace.call(id);
    FlowReach {
        track: tracks.call(trace, id),
        first: call.begin,
        last: call.begin,
        begin: call.begin,
        end: call.end,
        mark: None,
    }
}

/// Anywhere in a call that has no children on its track: see [`TrackLayout`].
fn whole_call(part: TimelinePart<'_, '_>, id: CallId) -> FlowReach {
    let (trace, tracks) = (part.source.trace, part.tracks);
    let call = trace.call(id);
    let last = (call.end - 1).max(call.begin);
    FlowReach {
        track: tracks.call(trace, id),
        first: call.begin,
        last,
        begin: call.begin,
        end: call.end,
        mark: (last > call.begin).then_some(last),
    }
}

/// The two times, such that no reader turns the arrow around. What launches is left and reached as
/// early as can be; what releases is left as late as can be.
fn connect(from: &FlowReach, to: &FlowReach, early: bool) -> Option<FlowEnds> {
    let straight = |start: i64, finish: i64| FlowEnds {
        from: (from.track, start),
        to: (to.track, finish),
        at_mark: false,
    };
    let is_in_order = to.begin >= from.begin && to.last >= from.first;
    if early {
        let finish = to.first.max(from.first);
        return is_in_order.then(|| straight(from.first, finish));
    }
    if to.begin >= from.end && to.begin >= from.first {
        return Some(straight(from.last.min(to.first), to.first));
    }
    match to.mark {
        Some(mark) if mark >= from.first => Some(FlowEnds {
            from: (from.track, from.last.min(mark)),
            to: (to.track, mark),
            at_mark: true,
        }),
        _ => is_in_order.then(|| straight(from.last.min(to.last), to.last)),
    }
}
