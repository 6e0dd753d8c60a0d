//! Changes that the tool tries, each with what must hold for it.
//!
//! Blocking calls are those of the ledger: the tool does not suggest to remove needed ones. The waits of a stream are suggested only if
//! the program can leave them out: not where the streams that it waits for wait for it in turn, since the waits then keep
//! their pace, and not for notifies and values, which nothing would take any more.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::WaitTarget;
use rustc_hash::FxHashSet;

use super::change::{Change, Changes, Narrow};
use super::compact_recording::{Facts, StreamPlace};
use super::links::{LaneCode, LinkKind};
use super::sync_ledger::{Group, Key, Ledger};
use super::wait_index::Index;
use crate::TaskRole;
use crate::checks::{Removal, Verdict};
use crate::stats::CallSite;

/// Operations that are looked at without being asked for: those that took most time.
const OPERATIONS: usize = 8;

/// Number of streams with suggested changes of waits: those that waited most.
const STREAMS: usize = 8;

/// A change that the tool tries.
#[derive(Clone, Debug)]
pub(super) struct Suggestion {
    pub(super) changes: Changes,
    pub(super) words: String,
    pub(super) holds: Option<String>,
    pub(super) is_checked: bool,
    pub(super) at: Option<CallSite>,
    /// Of calls of a group: how many, and for how long they blocked.
    pub(super) calls: u64,
    pub(super) blocked: i64,
}

impl Suggestion {
    fn of(facts: &Facts, change: Change, words: String, holds: String) -> Self {
        Self {
            changes: Changes::of(facts, &[change]),
            words,
            holds: Some(holds),
            is_checked: false,
            at: None,
            calls: 0,
            blocked: 0,
        }
    }
}

/// Waits of streams that the program may leave out: their device and id, and the streams that they wait for.
#[derive(Clone, Debug)]
pub(super) struct FreeWaits {
    pub(super) device: u32,
    pub(super) stream_id: i64,
    on: Vec<StreamPlace>,
}

impl FreeWaits {
    pub(super) fn removal(&self) -> Removal {
        Removal::Waits {
            device: self.device,
            stream_id: self.stream_id,
        }
    }
}

/// The streams with the longest waits, of those that can be without.
pub(super) fn free_waits((facts, index): (&Facts, &Index)) -> Vec<FreeWaits> {
    let stream_of = |lane: LaneCode| lane.stream_number();
    let waits = index.waits.iter().filter(|it| it.way == LinkKind::Wait);
    let pairs = waits.filter_map(|it| {
        let from = index.sources.get(it.source as usize)?.place().lane();
        Some((stream_of(from)?, stream_of(it.to.place().lane())?))
    });
    let pairs: FxHashSet<(u32, u32)> = pairs.filter(|it| it.0 != it.1).collect();
    let mut sums: BTreeMap<(u32, i64), (i64, bool, BTreeSet<u32>)> = BTreeMap::new();
    for (number, stream) in facts.streams.iter().enumerate() {
        let place = stream.place;
        let sum = sums.entry((place.device, place.stream_id)).or_default();
        sum.0 += stream.waited;
        sum.1 |= stream.signal_waits > 0 || waits_for_itself(&pairs, number as u32);
        sum.2.extend(
            pairs
                .iter()
                .filter(|it| it.1 == number as u32)
                .map(|it| it.0),
        );
    }
    let mut all: Vec<_> = sums
        .into_iter()
        .filter(|it| it.1.0 > 0 && !it.1.1)
        .collect();
    all.sort_by_key(|it| Reverse(it.1.0));
    all.truncate(STREAMS);
    let free = all
        .into_iter()
        .map(|((device, stream_id), (_, _, on))| FreeWaits {
            device,
            stream_id,
            on: on
                .into_iter()
                .map(|it| facts.streams[it as usize].place)
                .collect(),
        });
    free.collect()
}

/// Whether a stream waits for streams that wait for it, over any number of others.
fn waits_for_itself(pairs: &FxHashSet<(u32, u32)>, stream: u32) -> bool {
    let mut reached: BTreeSet<u32> = BTreeSet::new();
    let mut open = vec![stream];
    while let Some(next) = open.pop() {
        let after = pairs.iter().filter(|it| it.0 == next).map(|it| it.1);
        for it in after {
            if it == stream {
                return true;
            }
            if reached.insert(it) {
                open.push(it);
            }
        }
    }
    false
}

/// All changes that the tool tries. `waits` has the results for the streams' waits.
pub(super) fn all(
    facts: &Facts,
    ledger: &Ledger,
    free: &[FreeWaits],
    waits: &[Verdict],
) -> Vec<Suggestion> {
    let mut found = syncs(facts, ledger);
    for name in longest(facts) {
        let words = format!("op={name} x0.5");
        let holds = format!("{name} can take half of its time");
        let names = BTreeSet::from([name]);
        let change = Change::Operation { names, factor: 0.5 };
        found.push(Suggestion::of(facts, change, words, holds));
    }
    for (place, it) in free.iter().enumerate() {
        let verdict = waits.get(place);
        if verdict.is_some_and(|it| it.conflict.is_some()) {
            continue;
        }
        let words = format!("stream={}:{} wait=none", it.device, it.stream_id);
        let on = it
            .on
            .iter()
            .map(|it| format!("{}:{}", it.device, it.stream_id));
        let on: Vec<String> = on.collect();
        let holds = format!(
            "its tasks use no memory that streams {} use before the events that it waits for",
            on.join(", ")
        );
        let change = Change::NoWaits {
            device: Some(it.device),
            stream_id: it.stream_id,
        };
        found.push(Suggestion {
            is_checked: verdict.is_some_and(|it| !it.is_unknown),
            ..Suggestion::of(facts, change, words, holds)
        });
    }
    let copies = "the program needs no copies, or they run while other work runs".to_owned();
    let change = Change::Copy { factor: 0.0 };
    found.push(Suggestion::of(facts, change, "copy x0".to_owned(), copies));
    let launches = "the host submits ahead of the device, for example a graph".to_owned();
    let change = Change::Launch { factor: 0.0 };
    found.push(Suggestion::of(
        facts,
        change,
        "launch x0".to_owned(),
        launches,
    ));
    found
}

/// The narrower waits of the ledger: of all calls of a function, or of those that do not need theirs.
fn syncs(facts: &Facts, ledger: &Ledger) -> Vec<Suggestion> {
    let mut found = Vec::new();
    for function in ledger.functions() {
        let name = &facts.functions[function as usize].0;
        let (needed, all) = ledger.needed(|it| it == function);
        let groups = ledger.groups.iter().zip(0..);
        let groups = groups.filter(|it| it.0.0.0 == function && it.0.1.narrower.is_some());
        let groups: Vec<(&(Key, Group), u32)> = groups.collect();
        if needed == 0 {
            found.extend(of_function(facts, function, &groups));
            continue;
        }
        for ((key, group), number) in groups {
            let Some(narrow) = group.narrower else {
                continue;
            };
            let after = facts.operations.get(key.2 as usize);
            let after = after.map_or_else(String::new, |it| format!(", after {it}"));
            let calls = group.calls.len();
            found.push(Suggestion {
                changes: Changes::of_group(facts, number, narrow),
                words: format!(
                    "sync={name}->{} ({calls} of {all} calls{after})",
                    narrow.name()
                ),
                holds: Some(narrow.holds().to_owned()),
                is_checked: group.is_checked,
                at: facts.sites.get(key.4 as usize).cloned(),
                calls: calls as u64,
                blocked: group.blocked(),
            });
        }
    }
    found
}

/// All calls of a function wait for the target that the widest of its groups needs.
fn of_function(
    facts: &Facts,
    function: u32,
    groups: &[(&(Key, Group), u32)],
) -> Option<Suggestion> {
    let narrow = groups.iter().filter_map(|it| it.0.1.narrower).min()?;
    let (name, waits) = &facts.functions[function as usize];
    // A call that waits for one stream already waits for no narrower one.
    let narrow = match (narrow, waits) {
        (Narrow::Stream, WaitTarget::Stream) => return None,
        (narrow, _) => narrow,
    };
    let change = Change::Sync {
        functions: BTreeSet::from([name.clone()]),
        narrow,
    };
    let words = format!("sync={name}->{}", narrow.name());
    let site = groups
        .first()
        .and_then(|it| facts.sites.get(it.0.0.4 as usize));
    Some(Suggestion {
        is_checked: groups.iter().all(|it| it.0.1.is_checked),
        at: site.cloned(),
        ..Suggestion::of(facts, change, words, narrow.holds().to_owned())
    })
}

/// The operations that took most time.
fn longest(facts: &Facts) -> Vec<String> {
    let mut sums = vec![0; facts.operations.len()];
    let shapes = facts.task_shapes.iter().zip(&facts.task_sums);
    let work = shapes.filter(|it| it.0.class == TaskRole::Work);
    work.for_each(|(shape, it)| sums[shape.operation as usize] += it.lasted);
    let names = facts.operations.iter().cloned();
    let mut all: Vec<(i64, String)> = sums.into_iter().zip(names).collect();
    all.retain(|it| it.0 > 0);
    all.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
    all.truncate(OPERATIONS);
    all.into_iter().map(|it| it.1).collect()
}
