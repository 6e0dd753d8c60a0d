//! The ledger of syncs: for how long calls blocked, how much of that was for something that the host needed, and which
//! narrower call would do.
//!
//! A host needs a sync for two reasons. It reads data that a device has copied to it, or writes data
//! again that a device copies from it; and it ends or copies something that the device still uses.
//! Later work needs no host that waits: streams keep their order, and events order streams.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ascend_trace_format::api::WaitTarget;
use ascend_trace_recording::ThreadId;
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{Changes, Narrow};
use super::compact_recording::Facts;
use super::links::{LaneCode, LanePosition, of_lane, take_at};
use super::predict::{ChangedProgram, Predictor};
use super::records::{Call, NONE};
use super::solve::Run;
use super::sync_rewrite::{EarlierTask, SyncTask};
use super::wait_index::Index;
use crate::checks::{Removal, Removed, Verdict};
use crate::stats::CallSite;

/// Why a call is needed after which another thread goes on.
const AWAITED: &str = "another thread seems to go on after it, and may rely on it";

/// Calls after one that are looked at for why it was needed.
const AHEAD: usize = 16;

/// Rows with a check of the order that is left without their waits.
const CHECKED: usize = 12;

/// Rows that are kept: those that blocked longest.
const ROWS: usize = 40;

/// Blocking calls of one function, made by one thread after the same operation. Those for which nothing narrower would do
/// are apart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sync {
    pub function: String,
    /// Number of the process in the recording.
    pub process: u32,
    pub tid: u32,
    /// The operation that the thread had submitted last.
    pub after: Option<String>,
    pub count: u64,
    /// From begin to end of all of them. The next three add up to it.
    pub blocked_ns: i64,
    /// Until the last copy to or from the host was done; or all of the wait, if the thread then ended or copied something itself.
    pub needed_ns: i64,
    /// The rest of the time in which a device was not done.
    pub not_needed_ns: i64,
    /// From there to the end: the call only had to return.
    pub returning_ns: i64,
    /// What would do for all of them; `null` if nothing narrower does.
    pub narrower: Option<Narrow>,
    /// By how much shorter the program would be with that, and how far this may be off.
    pub saved_ns: i64,
    pub error_ns: Option<i64>,
    /// What must hold for the narrower wait, or why the wait is needed.
    pub holds: Option<String>,
    /// The order of the program's uses of memory and of events is known to be the same with the narrower wait.
    pub is_checked: bool,
    /// Where in the program the first of them was made, if stacks were recorded: each place is a row.
    #[serde(flatten)]
    pub at: Option<CallSite>,
}

/// Needs of a call.
#[derive(Clone, Copy, Debug)]
struct Need {
    /// Until when it waited with a reason.
    until: i64,
    narrower: Option<Narrow>,
}

/// Function, thread, the operation before, whether a narrower call would do, and the place in the program: the last sync of
/// a loop, before everything ends, is another thing than those in it.
pub(super) type Key = (u32, usize, u32, bool, u32);

/// The calls of a group on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) calls: Vec<LanePosition>,
    /// The ends of those that are checked.
    ends: Vec<i64>,
    needed: i64,
    not_needed: i64,
    returning: i64,
    /// The widest of what its calls need; `None` where they need all that they wait for.
    pub(super) narrower: Option<Narrow>,
    /// A use of memory or of an event that is unordered without the waits.
    pub(super) conflict: Option<String>,
    pub(super) is_checked: bool,
}

/// The ledger of a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// By blocked time.
    pub(super) groups: Vec<(Key, Group)>,
}

/// The ledger of a recording, by blocked time.
pub(super) fn ledger(facts: &Facts, index: &Index) -> Ledger {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for thread in 0..facts.threads.len() {
        of_thread((facts, index), thread, &mut groups);
    }
    let mut groups: Vec<(Key, Group)> = groups.into_iter().collect();
    // Numbers of operations depend on where the recording was cut, names do not.
    let name = |key: &Key| facts.operations.get(key.2 as usize);
    groups.sort_by(|(a, one), (b, other)| {
        let site = |key: &Key| facts.sites.get(key.4 as usize).map(|it| &it.call_site);
        let names = || (a.0, a.1, name(a), site(a)).cmp(&(b.0, b.1, name(b), site(b)));
        other.blocked().cmp(&one.blocked()).then_with(names)
    });
    groups.truncate(ROWS);
    Ledger { groups }
}

impl Ledger {
    /// The groups with a narrower wait that is checked.
    fn checked(&self) -> impl Iterator<Item = usize> {
        let narrower = self
            .groups
            .iter()
            .enumerate()
            .filter(|it| it.1.1.narrower.is_some());
        narrower.map(|it| it.0).take(CHECKED)
    }

    /// The waits that the narrower ones leave out.
    pub(super) fn removals(&self) -> Vec<Removal> {
        let groups = self.checked().map(|it| &self.groups[it]);
        let removals = groups.filter_map(|(key, group)| {
            let thread = ThreadId(key.1 as u32);
            let calls = group.ends.iter().map(|end| (thread, *end)).collect();
            Some(Removal::Calls(calls, group.narrower?.removed()))
        });
        removals.collect()
    }

    /// Takes in the results for these removals. Calls with a conflict are needed.
    pub(super) fn judge(&mut self, verdicts: &[Verdict]) {
        let checked: Vec<usize> = self.checked().collect();
        for (place, verdict) in checked.into_iter().zip(verdicts) {
            let group = &mut self.groups[place].1;
            group.is_checked = !verdict.is_unknown;
            if let Some(conflict) = &verdict.conflict {
                group.conflict = Some(conflict.clone());
                group.narrower = None;
                group.needed += std::mem::take(&mut group.not_needed);
            }
        }
    }

    /// How many calls of some functions the program needs, and how many there are.
    pub(super) fn needed(&self, is_own: impl Fn(u32) -> bool) -> (usize, usize) {
        let own = self.groups.iter().filter(|it| is_own(it.0.0));
        own.fold((0, 0), |(needed, all), (_, group)| {
            let calls = group.calls.len();
            let own = if group.narrower.is_none() { calls } else { 0 };
            (needed + own, all + calls)
        })
    }

    /// The functions with calls in the ledger.
    pub(super) fn functions(&self) -> BTreeSet<u32> {
        self.groups.iter().map(|it| it.0.0).collect()
    }

    /// The calls of the groups with a narrower wait, by place, with the number of the group.
    pub(super) fn calls(&self) -> Vec<(LanePosition, u32)> {
        let groups = self.groups.iter().zip(0..);
        let groups = groups.filter(|it| it.0.1.narrower.is_some());
        let calls =
            groups.flat_map(|(it, number)| it.1.calls.iter().map(move |call| (*call, number)));
        let mut calls: Vec<(LanePosition, u32)> = calls.collect();
        calls.sort_unstable();
        calls
    }
}

impl Narrow {
    fn removed(self) -> Removed {
        match self {
            Self::None => Removed::Everything,
            Self::Stream => Removed::OtherStreams,
            Self::Event => Removed::AllButCopies,
        }
    }

    /// What must hold for a program that waits for no more than this.
    pub(super) fn holds(self) -> &'static str {
        match self {
            Self::None => {
                "the host uses no memory of the tasks that it waited for before it waits for them in another way"
            }
            Self::Stream => {
                "the host uses only memory of the stream with the last copy to or from it, until it waits for the others"
            }
            Self::Event => {
                "the host uses only memory of the copies to or from it, until it waits for the other tasks"
            }
        }
    }
}

/// Savings of the narrower calls of each group.
pub(super) fn saved<'f>(
    (facts, index): (&'f Facts, &'f Index),
    ledger: &Ledger,
) -> (Vec<Sync>, Predictor<'f>) {
    let groups = ledger.groups.as_slice();
    let numbered = || (0..).zip(groups);
    let calls = ledger.calls();
    let changes = numbered().filter_map(|(number, it)| {
        let changes = Changes::of_group(facts, number, it.1.narrower?);
        Some((number, changes))
    });
    let changes: Vec<(u32, Changes)> = changes.collect();
    let runs = changes.iter().flat_map(|(_, changes)| {
        let run = move |manner| Run { changes, manner };
        index.manners().map(run)
    });
    let runs: Vec<Run<'_>> = runs.collect();
    let (predictor, solved) = Predictor::with((facts, index), &calls, &runs);
    let mut rows: Vec<Sync> = groups.iter().map(|(key, it)| it.row(facts, *key)).collect();
    let each = solved.chunks_exact(index.manners().count());
    for ((number, changes), solved) in changes.iter().zip(each) {
        let at = *number as usize;
        let changed = ChangedProgram {
            changes,
            calls: groups[at].1.calls.len() as u64,
            blocked: groups[at].1.blocked(),
            own: &solved[0],
            others: &solved[1..],
        };
        let prediction = predictor.predict(changed, Vec::new());
        rows[at].saved_ns = prediction.saved_ns;
        rows[at].error_ns = prediction.error_ns;
    }
    (rows, predictor)
}

/// Puts the calls of a thread into groups.
fn of_thread((facts, index): (&Facts, &Index), thread: usize, groups: &mut BTreeMap<Key, Group>) {
    let lane = LaneCode::thread(thread);
    let mut waits = of_lane(&index.waits, lane, |it| it.to.place());
    let mut syncs = of_lane(&index.syncs, lane, |it| it.to.place());
    let (mut after, mut synced) = (NONE, i64::MIN);
    let last_submission = facts.threads[thread].last_submission;
    let until = facts.checked_until();
    let mut calls = facts.threads[thread].calls.iter();
    let mut next: VecDeque<Call> = calls.by_ref().take(AHEAD).collect();
    let mut ordinal = 0;
    let shape = |call: &Call| &facts.call_shapes[call.shape as usize];
    while let Some(call) = {
        next.extend(calls.next());
        next.pop_front()
    } {
        let (place, own) = (LanePosition::new(lane, ordinal), shape(&call));
        ordinal += 1;
        if own.operation != NONE {
            after = own.operation;
        }
        let waits = take_at(&mut waits, place.end(), |it| it.to);
        let tasks = take_at(&mut syncs, place.end(), |it| it.to);
        let is_own = !own.copies && !own.bounds_life && !own.submits;
        let Some(released) = index
            .released(waits)
            .filter(|_| !tasks.is_empty() && is_own)
        else {
            continue;
        };
        let mut ahead = next.iter().map(shape).take_while(|it| !it.submits);
        let is_end = ahead.any(|it| it.bounds_life || facts.waits(it) == WaitTarget::Transfer);
        // After the last wait of a thread comes the end of the program, or the use of results.
        let is_last = last_submission.is_none_or(|it| it < place.ordinal());
        let is_awaited = index.awaited.contains(&(thread as u32, call.shape));
        let need = match is_end || is_last || is_awaited {
            true => Need {
                until: i64::MAX,
                narrower: None,
            },
            false => need(tasks, &call, facts.waits(own), synced),
        };
        let key = (
            own.function,
            thread,
            after,
            need.narrower.is_some(),
            own.site,
        );
        let group = groups.entry(key).or_default();
        group.add(place, &call, released, need);
        if is_awaited {
            group.conflict = Some(AWAITED.to_owned());
        }
        if call.end < until {
            group.ends.push(call.end);
        }
        synced = call.end;
    }
}

/// Needs of a call when its thread submits more work after it: `synced` is the last time that the
/// thread had waited.
fn need(tasks: &[SyncTask], call: &Call, waits: WaitTarget, synced: i64) -> Need {
    // Copies that were submitted since the thread waited last: others had been waited for.
    let copies = tasks.iter().filter_map(|it| Some((it.from, it.copy?)));
    let copies = copies.filter(|it| it.1.submitted >= synced);
    let copies: Vec<(LanePosition, EarlierTask)> = copies.collect();
    let until = copies.iter().map(|it| it.1.end).max();
    let is_last = copies.iter().all(|(last, copy)| *last == copy.place);
    let narrower = match copies.as_slice() {
        [] => Some(Narrow::None),
        // It waits for a single point already.
        _ if waits == WaitTarget::Event => None,
        [_] if is_last && tasks.len() == 1 => None,
        [_] if is_last => Some(Narrow::Stream),
        _ => Some(Narrow::Event),
    };
    Need {
        until: until.unwrap_or(call.begin),
        narrower,
    }
}

impl Group {
    fn add(&mut self, place: LanePosition, call: &Call, released: i64, need: Need) {
        self.calls.push(place);
        let released = released.clamp(call.begin, call.end);
        let needed = need.until.clamp(call.begin, released) - call.begin;
        self.needed += needed;
        self.not_needed += released - call.begin - needed;
        self.returning += call.end - released;
        // Stream is the widest and comes first.
        let both = [self.narrower, need.narrower];
        self.narrower = both.into_iter().flatten().min();
    }

    pub(super) fn blocked(&self) -> i64 {
        self.needed + self.not_needed + self.returning
    }

    /// Known values before the simulation.
    fn row(&self, facts: &Facts, (function, thread, after, _, site): Key) -> Sync {
        Sync {
            function: facts.functions[function as usize].0.clone(),
            process: facts.threads[thread].process,
            tid: facts.threads[thread].tid,
            after: facts.operations.get(after as usize).cloned(),
            count: self.calls.len() as u64,
            blocked_ns: self.blocked(),
            needed_ns: self.needed,
            not_needed_ns: self.not_needed,
            returning_ns: self.returning,
            narrower: self.narrower,
            saved_ns: 0,
            error_ns: self.narrower.map(|_| 0),
            holds: match (&self.conflict, self.narrower) {
                (Some(conflict), _) => Some(format!("needed: {conflict}")),
                (None, narrower) => narrower.map(|it| it.holds().to_owned()),
            },
            is_checked: self.is_checked,
            at: facts.sites.get(site as usize).cloned(),
        }
    }
}
