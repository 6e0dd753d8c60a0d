//! Collectives that waited for their peers.
//!
//! A collective on one device cannot move data before those on the other devices have begun. The trace
//! names no peers, so they are found: two communicators belong together as long as they run the same
//! collectives, and each pair of these overlaps in time. From the first pair that does not, they are
//! strangers. So the earlier ones and the overlapping ones determine the peers of a collective: for any
//! cut of a recording, the same ones are found.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use ascend_trace_recording::{ProcessId, TaskId, TaskTime, Trace};

use crate::collectives::CollectiveArguments;
use crate::retention::Keys;

/// A communicator of one process: the handle that its collectives name.
type Communicator = (ProcessId, u64);

/// What must be the same on all peers: the function, and the amount of data.
type Shape = (u32, Option<u64>);

/// Two times overlap even if they miss each other by the sum of their errors, up to this.
const MOST_TOLERANCE_NS: i64 = 1_000_000;

/// Place of a collective among all: by its key, and a distinction of those with the same key. It is the
/// same for any cut of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct CollectiveKey {
    key: i64,
    called: i64,
    thread: u32,
    sequence: u32,
}

/// A collective that ran.
#[derive(Clone, Copy, Debug)]
struct Collective {
    task: TaskId,
    place: CollectiveKey,
    shape: Shape,
    time: TaskTime,
    clock: HostClock,
}

/// Which clock of a host a time is on, and how far that may be off against those of other hosts.
#[derive(Clone, Copy, Debug)]
struct HostClock {
    number: u32,
    error: i64,
}

impl Collective {
    /// How far the time from this one to another may be off.
    fn tolerance(&self, other: &Self) -> i64 {
        let of_tasks = self.time.error.saturating_add(other.time.error);
        match self.clock.number == other.clock.number {
            true => of_tasks,
            false => of_tasks
                .saturating_add(self.clock.error)
                .saturating_add(other.clock.error),
        }
    }
}

/// How long a collective waited for the peer that came last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerWait {
    pub(super) task: TaskId,
    pub(super) until: i64,
    pub(super) peer: TaskId,
}

/// The same by places: ids change when a part of a trace is forgotten.
#[derive(Clone, Copy, Debug)]
struct Wait {
    of: CollectiveKey,
    until: i64,
    peer: CollectiveKey,
}

/// State of communicators after all collectives up to a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peers {
    /// The last collective of each that has been dealt with.
    settled: BTreeMap<Communicator, CollectiveKey>,
    /// Pairs that do not belong together, the lesser one first.
    strangers: BTreeSet<(Communicator, Communicator)>,
    /// Results for collectives that a later part will own.
    waits: Vec<Wait>,
}

/// Collectives by communicator, in their order.
type Heads = BTreeMap<Communicator, VecDeque<Collective>>;

impl Peers {
    /// The key up to which the collectives can be processed with a trace that has everything with keys
    /// below `known`: all that overlap one in time must be in it.
    pub(crate) fn reach(&self, trace: &Trace, keys: &Keys, known: i64) -> i64 {
        let heads = self.unsettled(&collectives(trace, keys));
        let over = |it: &Collective| it.time.end.saturating_add(2 * MOST_TOLERANCE_NS) < known;
        let open = heads.values().flatten().filter(|it| !over(it));
        open.map(|it| it.place.key).min().unwrap_or(i64::MAX)
    }

    /// Processes the collectives with keys below `until`, and returns all waits that are known and were
    /// not [dropped](Self::forget).
    pub(super) fn take(&mut self, trace: &Trace, keys: &Keys, until: i64) -> Vec<PeerWait> {
        let all = collectives(trace, keys);
        let mut heads = self.unsettled(&all);
        while let Some((communicator, first)) = earliest(&heads)
            && (first.place.key < until || until == i64::MAX)
        {
            let round = self.round(&heads, communicator, first);
            for (member, collective) in &round {
                self.settled.insert(*member, collective.place);
                if let Some(run) = heads.get_mut(member) {
                    run.pop_front();
                }
            }
            waits_of(round.iter().map(|(_, it)| *it), &mut self.waits);
        }
        let ids: HashMap<CollectiveKey, TaskId> =
            all.iter().map(|(_, it)| (it.place, it.task)).collect();
        let by_id = |wait: &Wait| {
            Some(PeerWait {
                task: *ids.get(&wait.of)?,
                until: wait.until,
                peer: *ids.get(&wait.peer)?,
            })
        };
        self.waits.iter().filter_map(by_id).collect()
    }

    /// Drops the results for collectives with keys below this one.
    pub(crate) fn forget(&mut self, until: i64) {
        self.waits.retain(|wait| wait.of.key >= until);
    }

    /// Tasks that the waits name which are not dropped.
    pub(crate) fn named(&self, trace: &Trace, keys: &Keys) -> Vec<TaskId> {
        let named: HashSet<CollectiveKey> = self.waits.iter().map(|wait| wait.peer).collect();
        if named.is_empty() {
            return Vec::new();
        }
        let all = collectives(trace, keys).into_iter();
        let found = all.filter(|(_, it)| named.contains(&it.place));
        found.map(|(_, it)| it.task).collect()
    }

    /// The collectives that belong together with the earliest one, itself included. Every other communicator is a
    /// stranger to its one from now on.
    fn round(
        &mut self,
        heads: &Heads,
        communicator: Communicator,
        first: Collective,
    ) -> Vec<(Communicator, Collective)> {
        let mut round = vec![(communicator, first)];
        for (other, run) in heads {
            let joins = |it: &Collective| {
                let is_peer = |(member, of): &(Communicator, Collective)| {
                    member != other && self.can_be_peers(*member, *other) && are_peers(of, it)
                };
                round.iter().all(is_peer)
            };
            if let Some(head) = run.front().copied().filter(joins) {
                round.push((*other, head));
            }
        }
        let others = self.settled.keys().chain(heads.keys());
        let others = others.filter(|it| round.iter().all(|(member, _)| member != *it));
        let strangers = others.map(|other| ordered(communicator, *other));
        self.strangers.extend(strangers);
        round
    }

    /// Whether two communicators ran the same collectives until now. One without any is no peer of one
    /// with some.
    fn can_be_peers(&self, one: Communicator, other: Communicator) -> bool {
        let has_run = |it| self.settled.contains_key(&it);
        has_run(one) == has_run(other) && !self.strangers.contains(&ordered(one, other))
    }

    /// The collectives of each communicator that have not been dealt with.
    fn unsettled(&self, all: &[(Communicator, Collective)]) -> Heads {
        let mut heads = Heads::new();
        for (communicator, collective) in all {
            let settled = self.settled.get(communicator);
            if settled.is_none_or(|settled| collective.place > *settled) {
                let run = heads.entry(*communicator).or_default();
                run.push_back(*collective);
            }
        }
        for run in heads.values_mut() {
            run.make_contiguous().sort_by_key(|it| it.place);
        }
        heads
    }
}

/// The collectives of a trace that have times.
fn collectives(trace: &Trace, keys: &Keys) -> Vec<(Communicator, Collective)> {
    let places: Vec<Option<CollectiveArguments>> = trace
        .functions()
        .iter()
        .map(CollectiveArguments::of)
        .collect();
    if places.iter().all(Option::is_none) {
        return Vec::new();
    }
    let tasks = trace.tasks().iter().zip((0..).map(TaskId));
    let found = tasks.filter_map(|(task, id)| {
        let call = trace.call(task.call);
        let places = places[call.function.index()]?;
        let communicator = (trace.thread(call.thread).process, places.comm(trace, call)?);
        let collective = Collective {
            task: id,
            place: CollectiveKey {
                key: keys.task(id),
                called: call.begin,
                thread: call.thread.0,
                sequence: task.sequence,
            },
            shape: (call.function.0, places.equal_amount(trace, call)),
            time: task.time?,
            clock: clock_of(trace, communicator.0),
        };
        Some((communicator, collective))
    });
    found.collect()
}

fn clock_of(trace: &Trace, process: ProcessId) -> HostClock {
    let process = trace.process(process);
    HostClock {
        number: process.clock,
        error: process.clock_error.unwrap_or(MOST_TOLERANCE_NS),
    }
}

/// The collective that comes first of those that have not been dealt with.
fn earliest(heads: &Heads) -> Option<(Communicator, Collective)> {
    let firsts = heads
        .iter()
        .filter_map(|(communicator, run)| Some((*communicator, *run.front()?)));
    firsts.min_by_key(|(communicator, it)| (it.place, *communicator))
}

fn ordered(one: Communicator, other: Communicator) -> (Communicator, Communicator) {
    (one.min(other), one.max(other))
}

/// The waits of one collective on all its devices.
fn waits_of(members: impl Iterator<Item = Collective> + Clone, waits: &mut Vec<Wait>) {
    let Some(last) = members.clone().max_by_key(|it| it.time.begin) else {
        return;
    };
    for member in members {
        let tolerance = match member.task == last.task {
            true => continue,
            false => member.tolerance(&last),
        };
        let until = last.time.begin.min(member.time.end);
        if until.saturating_sub(member.time.begin) > tolerance {
            waits.push(Wait {
                of: member.place,
                until,
                peer: last.place,
            });
        }
    }
}

fn are_peers(one: &Collective, other: &Collective) -> bool {
    let tolerance = one.tolerance(other).min(MOST_TOLERANCE_NS);
    let widened = one.time.range().widened(tolerance);
    one.shape == other.shape && widened.overlaps(other.time.range())
}
