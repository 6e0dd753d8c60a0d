//! The ledger of syncs: for how long calls blocked, how much of that was for something that the host needed, and which
//! narrower call would do.
//!
//! A host needs a sync for two reasons. It reads what a device has copied to it, or writes again what a device copies from
//! it; and it ends or copies something that the device still uses. Work that is submitted later needs no host that waits: streams keep their order, and events order streams.

use std::collections::BTreeMap;

use ascend_trace_format::api::Waits;
use serde::Serialize;

use super::change::{Change, Narrow};
use super::collect::{Call, NONE, Way};
use super::index::Index;
use super::predict::Predictor;

/// Calls after one that are looked at for why it was needed.
const AHEAD: usize = 16;

/// Rows that are kept: those that blocked longest.
const ROWS: usize = 40;

/// Blocking calls of one function, made by one thread after the same operation. Those for which nothing narrower would do
/// are apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    pub error_ns: i64,
}

/// What a call needed.
#[derive(Clone, Copy, Debug)]
struct Need {
    /// Until when it waited with a reason.
    until: i64,
    narrower: Option<Narrow>,
}

/// Function, thread, the operation before, and whether a narrower call would do: the last sync of a loop, before everything
/// ends, is another thing than those in it.
type Key = (u32, usize, u32, bool);

/// The calls of a group on their way.
#[derive(Debug, Default)]
struct Group {
    calls: Vec<u32>,
    needed: i64,
    not_needed: i64,
    returning: i64,
    /// The widest of what its calls need; `None` where they need all that they wait for.
    narrower: Option<Narrow>,
}

/// The ledger of a recording, by blocked time.
pub(super) fn ledger(predictor: &Predictor<'_>) -> Vec<Sync> {
    let index = &predictor.model.index;
    let submits = last_submitted(index);
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for (thread, (_, calls)) in index.facts.threads.iter().enumerate() {
        let (mut after, mut synced) = (NONE, i64::MIN);
        for (place, number) in calls.iter().enumerate() {
            let call = index.call(*number);
            if let Some(name) = submits.get(number) {
                after = *name;
            }
            let Some(released) = waited(index, *number, &call) else {
                continue;
            };
            let next = calls[place + 1..].iter().map(|it| index.call(*it));
            let mut next = next.take(AHEAD).take_while(|it| !it.submits);
            let is_end = next.any(|it| it.bounds_life || index.waits(it) == Waits::Transfer);
            let need = need(index, *number, &call, (synced, is_end));
            let group = groups
                .entry((call.function, thread, after, need.narrower.is_some()))
                .or_default();
            group.add(*number, &call, released, need);
            synced = call.end;
        }
    }
    let mut groups: Vec<(Key, Group)> = groups.into_iter().collect();
    groups.sort_by_key(|it| std::cmp::Reverse(it.1.blocked()));
    groups.truncate(ROWS);
    let rows = groups.into_iter();
    rows.map(|(key, group)| group.row(predictor, key)).collect()
}

/// The name of the last work that was submitted by each outermost call.
fn last_submitted(index: &Index<'_>) -> BTreeMap<u32, u32> {
    let tasks = index.facts.all_tasks();
    let tasks = tasks.filter(|it| it.1.class == crate::Class::Work);
    tasks
        .map(|(_, task)| (index.call(task.call).outer, task.name))
        .collect()
}

/// When that was done what a call waited for. `None` for calls that wait for nothing, or copy by themselves.
fn waited(index: &Index<'_>, number: u32, call: &Call) -> Option<i64> {
    let is_sync = index
        .links_of_call(number)
        .iter()
        .any(|it| it.way == Way::Sync);
    let is_own = is_sync && !call.copies && !call.bounds_life && !call.submits;
    index.released(number).filter(|_| is_own)
}

/// What a call needed: `synced` is when the thread had last waited, and `is_end` says whether the thread then ends
/// or copies something by itself.
fn need(index: &Index<'_>, number: u32, call: &Call, (synced, is_end): (i64, bool)) -> Need {
    let tasks = index
        .links_of_call(number)
        .iter()
        .filter(|it| it.way == Way::Sync);
    let tasks: Vec<u32> = tasks.map(|it| it.from).collect();
    if is_end {
        return Need {
            until: i64::MAX,
            narrower: None,
        };
    }
    // Copies that were submitted since the thread waited last: others had been waited for.
    let is_new = |it: &u32| *it != NONE && index.call(index.task(*it).call).begin >= synced;
    let copies = tasks.iter().map(|it| (*it, index.copies[*it as usize]));
    let copies: Vec<(u32, u32)> = copies.filter(|it| is_new(&it.1)).collect();
    let until = copies.iter().map(|it| index.task(it.1).end).max();
    let is_last = copies.iter().all(|(last, copy)| last == copy);
    let narrower = match copies.as_slice() {
        [] => Some(Narrow::None),
        // It waits for a single point already.
        _ if index.waits(*call) == Waits::Event => None,
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
    fn add(&mut self, number: u32, call: &Call, released: i64, need: Need) {
        self.calls.push(number);
        let released = released.clamp(call.begin, call.end);
        let needed = need.until.clamp(call.begin, released) - call.begin;
        self.needed += needed;
        self.not_needed += released - call.begin - needed;
        self.returning += call.end - released;
        // Stream is the widest and comes first.
        let both = [self.narrower, need.narrower];
        self.narrower = both.into_iter().flatten().min();
    }

    fn blocked(&self) -> i64 {
        self.needed + self.not_needed + self.returning
    }

    fn row(self, predictor: &Predictor<'_>, (function, thread, after, _): Key) -> Sync {
        let facts = predictor.model.index.facts;
        let blocked_ns = self.blocked();
        let count = self.calls.len() as u64;
        let narrower = self.narrower;
        let prediction = narrower.map(|narrow| {
            let calls = self.calls;
            predictor.predict(&[Change::Calls { calls, narrow }], Vec::new())
        });
        Sync {
            function: facts.functions[function as usize].0.clone(),
            process: facts.threads[thread].0,
            tid: facts.tids[thread],
            after: facts.operations.get(after as usize).cloned(),
            count,
            blocked_ns,
            needed_ns: self.needed,
            not_needed_ns: self.not_needed,
            returning_ns: self.returning,
            narrower,
            saved_ns: prediction.as_ref().map_or(0, |it| it.saved_ns),
            error_ns: prediction.as_ref().map_or(0, |it| it.error_ns),
        }
    }
}
