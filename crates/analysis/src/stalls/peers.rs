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

/// A communicator among its peers: its position, and how many more collectives of it come before
/// one than come before the same one of the group's first communicator.
type Member = (usize, isize);

/// The waits of all collectives for their peers. Where a trace has forgotten some of what began
/// before `since`, that is left out.
pub(super) fn waits(trace: &Trace, since: Option<i64>) -> Vec<PeerWait> {
    let communicators: Vec<Vec<Collective>> = communicators(trace, since).into_values().collect();
    let aligned = |one: &[Collective], other: &[Collective]| match since {
        None => are_peers(one, other).then_some(0),
        Some(_) => shift(one, other),
    };
    let mut groups: Vec<Vec<Member>> = Vec::new();
    for (place, run) in communicators.iter().enumerate() {
        let shift_in = |group: &[Member]| {
            let others = group.iter().map(|other| &communicators[other.0]);
            let mut shifts = others.map(|other| aligned(other, run));
            let first = shifts.next().flatten();
            first.filter(|_| shifts.all(|shift| shift.is_some()))
        };
        let found = groups
            .iter_mut()
            .find_map(|group| Some((shift_in(group)?, group)));
        match found {
            Some((shift, group)) => group.push((place, shift)),
            None => groups.push(vec![(place, 0)]),
        }
    }
    let mut waits = Vec::new();
    for group in groups.iter().filter(|group| group.len() > 1) {
        for place in 0..communicators[group[0].0].len() {
            let members = group.iter().filter_map(|(run, shift)| {
                let place = place.checked_add_signed(*shift)?;
                communicators[*run].get(place).copied()
            });
            round(members, &mut waits);
        }
    }
    waits
}

/// By how many collectives the second of two runs is ahead, if they are peers as far as both have
/// the same ones: their ends may be missing.
fn shift(one: &[Collective], other: &[Collective]) -> Option<isize> {
    let (mut first, mut second) = (0, 0);
    let found = loop {
        let (a, b) = (one.get(first)?, other.get(second)?);
        if overlap(a.time, b.time) {
            break (first, second);
        }
        match a.time.end < b.time.end {
            true => first += 1,
            false => second += 1,
        }
    };
    let mut pairs = one[found.0..].iter().zip(&other[found.1..]);
    let are_peers = pairs.all(|(a, b)| a.shape == b.shape && overlap(a.time, b.time));
    are_peers.then_some(second as isize - first as isize)
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
fn communicators(trace: &Trace, since: Option<i64>) -> BTreeMap<Communicator, Vec<Collective>> {
    let places: Vec<Option<Places>> = trace.functions().iter().map(Places::of).collect();
    let mut all: BTreeMap<Communicator, Vec<Collective>> = BTreeMap::new();
    if places.iter().all(Option::is_none) {
        return all;
    }
    for (index, task) in trace.tasks().iter().enumerate() {
        let call = trace.call(task.call);
        if since.is_some_and(|since| call.begin < since) {
            continue;
        }
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
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(a, b)| a.shape == b.shape && overlap(a.time, b.time))
}

fn overlap(a: TaskTime, b: TaskTime) -> bool {
    let tolerance = a.error.saturating_add(b.error);
    a.begin.saturating_sub(tolerance) <= b.end && b.begin.saturating_sub(tolerance) <= a.end
}
