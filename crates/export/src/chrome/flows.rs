//! Dependencies as flows.
//!
//! An importer binds each end of a flow to the innermost slice that is open at the end's time, and
//! wants the start no later than the finish. So each end has a *reach*: the times inside its slice
//! at which no other slice of the track is open. The two reaches decide where exactly it lies.
//!
//! Perfetto lets an arrow point from the slice that begins first, whatever its two ends say. A wait
//! or a blocking call begins before what releases it: such an arrow arrives at a mark, a slice
//! without length at the end of the waiter.

use std::collections::HashSet;
use std::io;

use ascend_trace_analysis::{Edge, EdgeKind, Node};
use ascend_trace_model::{CallId, TaskId, Trace};

use super::output::{Output, Phase};
use crate::Source;
use crate::tracks::{Track, Tracks, is_beside, is_waiter};

/// Where one end of a flow may lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub(super) track: Track,
    pub(super) first: i64,
    pub(super) last: i64,
    /// The whole slice.
    pub(super) begin: i64,
    pub(super) end: i64,
    /// Where a mark has room, with no other arrow beside it.
    pub(super) mark: Option<i64>,
}

/// Marks that are in the file.
type Marks = HashSet<(u32, i64)>;

/// Writes a flow for every dependency and returns how many could not be drawn.
pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
    next_id: &mut u64,
) -> io::Result<u64> {
    let trace = source.trace;
    let mut omitted = 0;
    let mut marks = Marks::new();
    // The slice of a capture has arrows of its own to the replays.
    for edge in source.edges().filter(|edge| edge.kind != EdgeKind::Replay) {
        let Some(ends) = bind(trace, tracks, &edge) else {
            omitted += 1;
            continue;
        };
        write_ends(output, edge.kind.name(), ends, next_id, &mut marks)?;
    }
    Ok(omitted)
}

/// A flow that is no dependency.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) name: &'static str,
    /// It leaves and arrives as early as it can, else as late.
    pub(super) early: bool,
}

/// Writes a flow between two slices. False when the second is over before the first may be left.
pub(super) fn write_flow(
    output: &mut Output<'_>,
    flow: Flow,
    (from, to): (Reach, Reach),
    next_id: &mut u64,
) -> io::Result<bool> {
    let Some(ends) = connect(&from, &to, flow.early) else {
        return Ok(false);
    };
    write_ends(output, flow.name, ends, next_id, &mut Marks::new())?;
    Ok(true)
}

fn write_ends(
    output: &mut Output<'_>,
    name: &'static str,
    ends: Ends,
    next_id: &mut u64,
    marks: &mut Marks,
) -> io::Result<()> {
    *next_id += 1;
    write_end(output, b's', ends.from, name, *next_id)?;
    let (track, time) = ends.to;
    if ends.at_mark && marks.insert((track.tid, time)) {
        output.event(b'X', track, |members| {
            members.named("released".into(), "released");
            members.lasting(time, time);
        })?;
    }
    write_end(output, b'f', ends.to, name, *next_id)
}

fn write_end(
    output: &mut Output<'_>,
    phase: Phase,
    (track, time): End,
    name: &'static str,
    id: u64,
) -> io::Result<()> {
    output.event(phase, track, |members| {
        members.named(name.into(), name);
        members.at(time);
        members.json.next(b",\"id\":").unsigned(id);
        if phase == b'f' {
            members.json.plain(b",\"bp\":\"e\"");
        }
    })
}

type End = (Track, i64);

/// Where a flow begins and ends.
#[derive(Clone, Copy, Debug)]
struct Ends {
    from: End,
    to: End,
    /// It ends at a mark.
    at_mark: bool,
}

/// Where the flow of an edge begins and ends. A launch comes from its call and cannot go there.
fn bind(trace: &Trace, tracks: &Tracks, edge: &Edge) -> Option<Ends> {
    if let (EdgeKind::LaunchToTask, Node::Call(from), Node::Task(to)) =
        (edge.kind, edge.from, edge.to)
    {
        let (from, to) = (call_begin(trace, tracks, from), task(trace, tracks, to)?);
        return connect(&from, &to, true);
    }
    let froms = candidates(trace, tracks, edge.from, edge);
    let tos = candidates(trace, tracks, edge.to, edge);
    let pairs = froms
        .iter()
        .flatten()
        .flat_map(|from| tos.iter().flatten().map(move |to| (from, to)));
    pairs
        .filter_map(|(from, to)| connect(from, to, false))
        .next()
}

/// Whether the call at an end of such a dependency was under way when it came about: a callback
/// runs inside the call that was there before it.
fn is_anywhere_in(kind: EdgeKind) -> bool {
    matches!(
        kind,
        EdgeKind::TaskToSync | EdgeKind::TimedOut | EdgeKind::HostFunc
    )
}

/// The slices that can stand for a node, best first: a task without a slice, or one whose mapped
/// time contradicts the dependency, is represented by the call that submitted it.
fn candidates(trace: &Trace, tracks: &Tracks, node: Node, edge: &Edge) -> [Option<Reach>; 2] {
    match node {
        Node::Call(id) if is_anywhere_in(edge.kind) => [Some(whole_call(trace, tracks, id)), None],
        // Arrows to the call end at a mark in its last moment: this one leaves before.
        Node::Call(id) if edge.kind == EdgeKind::HostResume => {
            let call = whole_call(trace, tracks, id);
            let last = (call.last - 1).max(call.first);
            let mark = None;
            [Some(Reach { last, mark, ..call }), None]
        }
        Node::Call(id) => [Some(call_begin(trace, tracks, id)), None],
        Node::Task(id) => {
            let call = trace.task(id).call;
            [
                task(trace, tracks, id),
                Some(call_begin(trace, tracks, call)),
            ]
        }
    }
}

/// Inside a task's slice, off the edges that it shares with its neighbours.
pub(super) fn task(trace: &Trace, tracks: &Tracks, id: TaskId) -> Option<Reach> {
    let track = tracks.task(trace, id)?;
    let time = trace.task(id).time?;
    let (begin, end) = (time.begin, time.end);
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
    Some(Reach {
        track,
        first,
        last,
        begin,
        end,
        mark: (mark > first).then_some(mark),
    })
}

/// The begin of a call, where none of its children is open yet.
fn call_begin(trace: &Trace, tracks: &Tracks, id: CallId) -> Reach {
    let call = trace.call(id);
    Reach {
        track: tracks.call(trace, id),
        first: call.begin,
        last: call.begin,
        begin: call.begin,
        end: call.end,
        mark: None,
    }
}

/// Anywhere in a call that has no children on its track: see [`Tracks`].
fn whole_call(trace: &Trace, tracks: &Tracks, id: CallId) -> Reach {
    let call = trace.call(id);
    let last = (call.end - 1).max(call.begin);
    Reach {
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
fn connect(from: &Reach, to: &Reach, early: bool) -> Option<Ends> {
    let straight = |start: i64, finish: i64| Ends {
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
        Some(mark) if mark >= from.first => Some(Ends {
            from: (from.track, from.last.min(mark)),
            to: (to.track, mark),
            at_mark: true,
        }),
        _ => is_in_order.then(|| straight(from.last.min(to.last), to.last)),
    }
}
