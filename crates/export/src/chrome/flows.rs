//! Dependencies as flows.
//!
//! An importer binds each end of a flow to the innermost slice that is open at the end's time, and
//! wants the start no later than the finish. So each end has a *reach*: the times inside its slice
//! at which no other slice of the track is open. The two reaches decide where exactly it lies.

use std::io;

use ascend_trace_analysis::{Edge, EdgeKind, Node};
use ascend_trace_model::{CallId, TaskId, Trace};

use super::output::Output;
use crate::Source;
use crate::tracks::{Track, Tracks, is_beside};

/// Where one end of a flow may lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub(super) track: Track,
    pub(super) first: i64,
    pub(super) last: i64,
}

/// Writes a flow for every dependency and returns how many could not be drawn.
pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
    next_id: &mut u64,
) -> io::Result<u64> {
    let trace = source.trace;
    let mut omitted = 0;
    // The slice of a capture has arrows of its own to the replays.
    let edges = source.dependencies.all(trace);
    for edge in edges.filter(|edge| edge.kind != EdgeKind::Replay) {
        let Some(ends) = bind(trace, tracks, &edge) else {
            omitted += 1;
            continue;
        };
        write_ends(output, edge.kind.name(), ends, next_id)?;
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
    write_ends(output, flow.name, ends, next_id)?;
    Ok(true)
}

fn write_ends(
    output: &mut Output<'_>,
    name: &str,
    (from, to): (End, End),
    next_id: &mut u64,
) -> io::Result<()> {
    *next_id += 1;
    write_end(output, "s", from, name, *next_id)?;
    write_end(output, "f", to, name, *next_id)
}

fn write_end(
    output: &mut Output<'_>,
    phase: &str,
    (track, time): End,
    name: &str,
    id: u64,
) -> io::Result<()> {
    output.event(phase, track, |members| {
        members.named(name, name);
        members.at(time);
        members.json.name("id").unsigned(id);
        if phase == "f" {
            members.json.name("bp").string("e");
        }
    })
}

type End = (Track, i64);

/// Where the flow of an edge begins and ends.
fn bind(trace: &Trace, tracks: &Tracks, edge: &Edge) -> Option<(End, End)> {
    let early = edge.kind == EdgeKind::LaunchToTask;
    let froms = candidates(trace, tracks, edge.from, edge);
    let tos = candidates(trace, tracks, edge.to, edge);
    let pairs = froms
        .iter()
        .flatten()
        .flat_map(|from| tos.iter().flatten().map(move |to| (from, to)));
    pairs
        .filter_map(|(from, to)| connect(from, to, early))
        .next()
}

/// The slices that can stand for a node, best first: a task without a slice, or one whose mapped
/// time contradicts the dependency, is represented by the call that submitted it.
fn candidates(trace: &Trace, tracks: &Tracks, node: Node, edge: &Edge) -> [Option<Reach>; 2] {
    match node {
        Node::Call(id) if edge.kind == EdgeKind::TaskToSync => {
            [Some(whole_call(trace, tracks, id)), None]
        }
        Node::Call(id) => [Some(call_begin(trace, tracks, id)), None],
        // The call is where a launch comes from; it cannot be where it goes.
        Node::Task(id) if edge.kind == EdgeKind::LaunchToTask => [task(trace, tracks, id), None],
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
    let (first, last) = match time.end - time.begin {
        _ if is_beside(trace.task(id)) => (time.begin, time.end),
        1 => (time.begin, time.begin),
        _ => (time.begin + 1, time.end - 1),
    };
    Some(Reach { track, first, last })
}

/// The begin of a call, where none of its children is open yet.
fn call_begin(trace: &Trace, tracks: &Tracks, id: CallId) -> Reach {
    let begin = trace.call(id).begin;
    Reach {
        track: tracks.call(trace, id),
        first: begin,
        last: begin,
    }
}

/// Anywhere in a call that has no children on its track: see [`Tracks`].
fn whole_call(trace: &Trace, tracks: &Tracks, id: CallId) -> Reach {
    let call = trace.call(id);
    Reach {
        track: tracks.call(trace, id),
        first: call.begin,
        last: (call.end - 1).max(call.begin),
    }
}

/// The two times, as early (a launch) or as late (a release) as both reaches allow.
fn connect(from: &Reach, to: &Reach, early: bool) -> Option<(End, End)> {
    if from.first > to.last {
        return None;
    }
    let start = match early {
        true => from.first,
        false => from.last.min(to.last),
    };
    let finish = match early {
        true => to.first.max(start),
        false => to.last,
    };
    Some(((from.track, start), (to.track, finish)))
}
