//! Threads that do the same work at regular times until a flag stops them, for example to save statistics.
//!
//! Such a thread submits to streams that no other thread uses, sleeps, and looks at a flag. When the program has done its work, it sets the flag, and
//! waits for the end of the thread. So a program that takes less time has fewer rounds of this thread. A thread with a fixed number of
//! rounds ends at any time: seldom just when the others have no more work.

use std::collections::BTreeSet;

use super::pauses::Quartiles;
use crate::whatif::compact_recording::Facts;
use crate::whatif::links::{ItemEdge, LaneCode, Link, LinkKind};

/// Fewer rounds may end by chance when the work of the others does.
const LEAST_ROUNDS: usize = 24;

/// The spread of the intervals between rounds is at most this part of an interval, as a divisor.
const REGULAR: i64 = 4;

/// The other threads submit no more than this part of their tasks after the end of the thread, as a divisor.
const AFTER: usize = 32;

/// A thread that works at regular times until the others have done their work.
#[derive(Clone, Debug)]
pub(in crate::whatif) struct Periodic {
    pub(in crate::whatif) thread: usize,
    /// The streams that it alone submits to.
    pub(in crate::whatif) streams: BTreeSet<u32>,
    /// From one of its rounds to the next.
    pub(in crate::whatif) period: i64,
}

/// Those of the threads of a process. `links` are those of the recording.
pub(super) fn of(facts: &Facts, threads: &[usize], links: &[Link]) -> Vec<Periodic> {
    let first = threads.iter().min_by_key(|it| facts.threads[**it].first);
    let others = threads.iter().filter(|it| Some(*it) != first);
    let regular = others.filter_map(|it| Some((*it, rounds(facts, *it)?)));
    let regular: Vec<(usize, Rounds)> = regular.collect();
    if regular.is_empty() {
        return Vec::new();
    }
    let submitters = submitters(facts);
    let found = regular.into_iter().filter_map(|(thread, rounds)| {
        let own = BTreeSet::from([thread as u32]);
        let used = submitters.iter().zip(0_u32..);
        let used: Vec<_> = used.filter(|it| it.0.contains(&(thread as u32))).collect();
        let is_alone = !used.is_empty() && used.iter().all(|it| *it.0 == own);
        let streams: BTreeSet<u32> = used.iter().map(|it| it.1).collect();
        let is_stopped = is_alone
            && is_apart(links, thread, &streams)
            && stops(facts, (thread, threads), &rounds);
        is_stopped.then_some(Periodic {
            thread,
            streams,
            period: rounds.period,
        })
    });
    found.collect()
}

/// The rounds of a thread.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    /// The begin of the last one.
    last: i64,
    period: i64,
    /// The end of the thread's last call.
    end: i64,
}

/// The rounds of a thread that does the same at regular times, and sleeps most of the time.
fn rounds(facts: &Facts, thread: usize) -> Option<Rounds> {
    let calls = || facts.threads[thread].calls.iter();
    let mut counts = vec![0_usize; facts.call_shapes.len()];
    for call in calls() {
        counts[call.shape as usize] += 1;
    }
    let usual = (0..counts.len()).max_by_key(|it| counts[*it])?;
    if counts[usual] < LEAST_ROUNDS {
        return None;
    }
    let begins = calls().filter(|it| it.shape as usize == usual);
    let begins: Vec<i64> = begins.map(|it| it.begin).collect();
    let intervals = Quartiles::of(begins.windows(2).map(|it| it[1] - it[0]));
    let inside: i64 = calls().map(|it| it.end - it.begin).sum();
    let (first, last) = (*begins.first()?, *begins.last()?);
    let is_regular = intervals.spread().saturating_mul(REGULAR) <= intervals.second;
    let does_sleep = inside.saturating_mul(2) <= last - first;
    (is_regular && does_sleep).then_some(Rounds {
        last,
        period: intervals.second,
        end: calls().last()?.end,
    })
}

/// The threads that submit to each stream.
fn submitters(facts: &Facts) -> Vec<BTreeSet<u32>> {
    let each = facts.streams.iter();
    let each = each.map(|stream| stream.tasks.iter().map(|it| it.thread).collect());
    each.collect()
}

/// Nothing waits for these streams and nothing on them waits for others, except for calls that wait for all work of a device.
fn is_apart(links: &[Link], thread: usize, streams: &BTreeSet<u32>) -> bool {
    let own = |edge: ItemEdge| is_own(edge, thread, streams);
    links
        .iter()
        .all(|link| match (own(link.from), own(link.to)) {
            (true, false) => link.way == LinkKind::Sync,
            (false, true) => link.way == LinkKind::Start,
            _ => true,
        })
}

fn is_own(edge: ItemEdge, thread: usize, streams: &BTreeSet<u32>) -> bool {
    let lane = edge.place().lane();
    match lane.stream_number() {
        Some(stream) => streams.contains(&stream),
        None => lane == LaneCode::thread(thread),
    }
}

/// Whether another thread pauses from the last round of the thread until its end, and the others have hardly any work after that.
fn stops(facts: &Facts, (thread, threads): (usize, &[usize]), rounds: &Rounds) -> bool {
    let others = || threads.iter().filter(|it| **it != thread);
    let ends = |since: i64, until: i64| {
        let is_round = 2 * (rounds.last - since) <= rounds.period
            && 4 * (since - rounds.last) <= 5 * rounds.period;
        is_round && until >= rounds.end && until - rounds.last <= 2 * rounds.period
    };
    let end = others().find_map(|other| {
        let mut before = None;
        let mut calls = facts.threads[*other].calls.iter();
        calls.find_map(|call| {
            let since = before.replace(call.end)?;
            ends(since, call.begin).then_some(call.begin)
        })
    });
    let Some(end) = end else {
        return false;
    };
    let (mut all, mut after) = (0, 0);
    for call in others().flat_map(|it| facts.threads[*it].calls.iter()) {
        let shape = facts.call_shapes.get(call.shape as usize);
        if shape.is_some_and(|it| it.tasks > 0) {
            all += 1;
            after += usize::from(call.begin >= end);
        }
    }
    after.saturating_mul(AFTER) <= all
}

/// The links without those from the work of these threads to others.
pub(in crate::whatif) fn without(links: &mut Vec<Link>, threads: &[Periodic]) {
    links.retain(|link| {
        let leaves = |it: &Periodic| {
            is_own(link.from, it.thread, &it.streams) && !is_own(link.to, it.thread, &it.streams)
        };
        !threads.iter().any(leaves)
    });
}
