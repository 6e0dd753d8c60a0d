//! Collectives that waited for their peers.
//!
//! A collective on one device cannot move data before those on the other devices have begun. The
//! trace names no peers, so they are found: two communicators belong together when they run the
//! same collectives, and each pair of these overlaps in time.

use std::collections::BTreeMap;

use ascend_trace_model::{ProcessId, TaskId, TaskTime, Trace};

use crate::collectives::Places;

/// A communicator of one process: the handle that its collectives name.
type Communicator = (ProcessId, u64);

/// What must be the same on all peers: the function, and the amount of data.
type Shape = (u32, Option<u64>);

/// A collective that ran.
#[derive(Clone, Copy, Debug)]
struct Collective {
    task: TaskId,
    shape: Shape,
    time: TaskTime,
}

/// How long a collective waited for the peer that came last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerWait {
    pub(super) task: TaskId,
    pub(super) until: i64,
    pub(super) peer: TaskId,
}

/// The waits of all collectives for their peers.
pub(super) fn waits(trace: &Trace) -> Vec<PeerWait> {
    let communicators: Vec<Vec<Collective>> = communicators(trace).into_values().collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, run) in communicators.iter().enumerate() {
        let is_peer = |group: &&mut Vec<usize>| {
            let others = group.iter().map(|other| &communicators[*other]);
            others.into_iter().all(|other| are_peers(other, run))
        };
        match groups.iter_mut().find(is_peer) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    let mut waits = Vec::new();
    for group in groups.iter().filter(|group| group.len() > 1) {
        let runs: Vec<&[Collective]> = group
            .iter()
            .map(|it| communicators[*it].as_slice())
            .collect();
        for place in 0..runs[0].len() {
            round(runs.iter().map(|run| run[place]), &mut waits);
        }
    }
    waits
}

/// The waits of one collective on all its devices.
fn round(members: impl Iterator<Item = Collective> + Clone, waits: &mut Vec<PeerWait>) {
    let Some(last) = members.clone().max_by_key(|it| it.time.begin) else {
        return;
    };
    for member in members {
        let tolerance = match member.task == last.task {
            true => continue,
            false => member.time.error.saturating_add(last.time.error),
        };
        let until = last.time.begin.min(member.time.end);
        if until.saturating_sub(member.time.begin) > tolerance {
            waits.push(PeerWait {
                task: member.task,
                until,
                peer: last.task,
            });
        }
    }
}

/// The collectives of each communicator that have times, in the order of submission.
fn communicators(trace: &Trace) -> BTreeMap<Communicator, Vec<Collective>> {
    let places: Vec<Option<Places>> = trace.functions().iter().map(Places::of).collect();
    let mut all: BTreeMap<Communicator, Vec<Collective>> = BTreeMap::new();
    if places.iter().all(Option::is_none) {
        return all;
    }
    for (index, task) in trace.tasks().iter().enumerate() {
        let call = trace.call(task.call);
        let places = places[call.function.index()];
        let (Some(places), Some(time)) = (places, task.time) else {
            continue;
        };
        let Some(comm) = places.comm(trace, call) else {
            continue;
        };
        let process = trace.thread(call.thread).process;
        all.entry((process, comm)).or_default().push(Collective {
            task: TaskId(index as u32),
            shape: (call.function.0, places.amount(trace, call)),
            time,
        });
    }
    for run in all.values_mut() {
        run.sort_by_key(|it| trace.call(trace.task(it.task).call).begin);
    }
    all
}

fn are_peers(one: &[Collective], other: &[Collective]) -> bool {
    let overlap = |a: TaskTime, b: TaskTime| {
        let tolerance = a.error.saturating_add(b.error);
        a.begin.saturating_sub(tolerance) <= b.end && b.begin.saturating_sub(tolerance) <= a.end
    };
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(a, b)| a.shape == b.shape && overlap(a.time, b.time))
}
