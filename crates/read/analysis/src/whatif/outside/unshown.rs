//! Waits of threads for each other that never happened in the recording, and may in a changed program.
//!
//! A lock that was always free leaves no pause. Neither does a join of a thread that had ended before. What remains is the order: things
//! that would be at the same time by chance never are. The links are for a separate simulation, which shows how far such waits may
//! matter.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::WaitTarget;

use crate::whatif::compact_recording::Facts;
use crate::whatif::links::{LaneCode, LanePosition, Link, LinkKind};
use crate::whatif::records::{Call, NONE};

/// Sections that are kept; with more of them nothing is learnt.
const MOST: usize = 1 << 16;

/// Kinds of sections that are compared with each other: those with the most sections.
const MOST_KINDS: usize = 12;

/// Sections of two threads that would overlap by chance: with fewer of them nothing is learnt.
const LEAST_BY_CHANCE: f64 = 8.0;

/// Threads that were started one after another: with fewer of them nothing is learnt.
const LEAST_STARTED: usize = 16;

/// How many of these threads run at the same time at most.
const MOST_AHEAD: usize = 8;

/// From the launch of a task to the end of the wait for it. Its kind is the operation of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Section {
    kind: u32,
    thread: usize,
    begin: i64,
    end: i64,
    first: LanePosition,
    last: LanePosition,
}

/// A thread with all its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Started {
    thread: usize,
    /// The shapes of its first and of its last call: threads with the same ones do the same.
    kind: (u32, u32),
    begin: i64,
    end: i64,
    last: LanePosition,
}

/// Links for the threads of a process.
pub(super) fn links(facts: &Facts, threads: &[usize]) -> Vec<Link> {
    if threads.len() < 2 {
        return Vec::new();
    }
    let mut links = of_locks(&sections(facts, threads));
    links.extend(of_joins(facts, threads));
    links
}

fn link(from: LanePosition, at: i64, to: LanePosition) -> Link {
    let way = LinkKind::Unshown;
    let (from, to) = way.points(from, to);
    Link { way, from, to, at }
}

/// All sections of some threads by their begins; none of too many.
fn sections(facts: &Facts, threads: &[usize]) -> Vec<Section> {
    let mut found = Vec::new();
    for thread in threads {
        let lane = LaneCode::thread(*thread);
        let mut open: Option<(u32, i64, LanePosition)> = None;
        for (call, ordinal) in facts.threads[*thread].calls.iter().zip(0..) {
            let Some(shape) = facts.call_shapes.get(call.shape as usize) else {
                continue;
            };
            let place = LanePosition::new(lane, ordinal);
            if shape.tasks > 0 && shape.operation != NONE {
                open.get_or_insert((shape.operation, call.begin, place));
            }
            let waits = facts.waits(shape) != WaitTarget::Nothing;
            if let Some((kind, begin, first)) = open.take_if(|_| waits) {
                found.push(Section {
                    kind,
                    thread: *thread,
                    begin,
                    end: call.end,
                    first,
                    last: place,
                });
                if found.len() > MOST {
                    return Vec::new();
                }
            }
        }
    }
    found.sort_unstable_by_key(|it| (it.begin, it.thread));
    found
}

/// Links between the sections of a kind, or of two kinds, that never overlap.
fn of_locks(sections: &[Section]) -> Vec<Link> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for section in sections {
        *counts.entry(section.kind).or_default() += 1;
    }
    let mut kinds: Vec<(usize, u32)> = counts.into_iter().map(|it| (it.1, it.0)).collect();
    kinds.sort_unstable_by(|one, other| other.cmp(one));
    kinds.truncate(MOST_KINDS);
    let mut links = Vec::new();
    for (place, (_, one)) in kinds.iter().enumerate() {
        for (_, other) in &kinds[place..] {
            let is_own = |it: &&Section| [*one, *other].contains(&it.kind);
            let own: Vec<&Section> = sections.iter().filter(is_own).collect();
            if never_overlap(&own) && by_chance(&own, one != other) >= LEAST_BY_CHANCE {
                links.extend(turns(&own));
            }
        }
    }
    links
}

fn never_overlap(sections: &[&Section]) -> bool {
    sections
        .windows(2)
        .all(|it| it[0].end <= it[1].begin || it[0].thread == it[1].thread)
}

/// The number of overlaps of two threads' sections if they were at any time. With `are_two`, those of different kinds alone count.
fn by_chance(sections: &[&Section], are_two: bool) -> f64 {
    let (Some(first), Some(last)) = (sections.first(), sections.last()) else {
        return 0.0;
    };
    let span = (last.end - first.begin).max(1) as f64;
    // By kind and thread: how many, and how long in all.
    let mut sums: BTreeMap<(u32, usize), (f64, f64)> = BTreeMap::new();
    for it in sections {
        let sum = sums.entry((it.kind, it.thread)).or_default();
        sum.0 += 1.0;
        sum.1 += (it.end - it.begin) as f64;
    }
    let of = |all: &mut dyn Iterator<Item = (f64, f64)>| {
        all.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
    };
    let each = sums.iter().map(|((kind, thread), own)| {
        let others = sums.iter().filter(|it| it.0.1 != *thread);
        let others = others.filter(|it| !are_two || it.0.0 != *kind);
        let others = of(&mut others.map(|it| *it.1));
        (own.0 * others.1 + own.1 * others.0) / span
    });
    // Each overlap is one of both sections.
    each.sum::<f64>() / 2.0
}

/// Each section of another thread than the one before waits for that.
fn turns(sections: &[&Section]) -> Vec<Link> {
    let pairs = sections.windows(2);
    let pairs = pairs.filter(|it| it[0].thread != it[1].thread);
    pairs
        .map(|it| link(it[0].last, it[0].end, it[1].first))
        .collect()
}

/// Links for threads that are started one after another, if a number of them always ends before the next one begins.
fn of_joins(facts: &Facts, threads: &[usize]) -> Vec<Link> {
    let mut families: BTreeMap<(u32, u32), Vec<Started>> = BTreeMap::new();
    for thread in threads {
        let calls = facts.threads[*thread].calls.iter().zip(0..);
        let mut ends: Option<(Call, Call, u32)> = None;
        for (call, ordinal) in calls {
            ends = Some((ends.map_or(call, |it| it.0), call, ordinal));
        }
        let Some((first, last, ordinal)) = ends else {
            continue;
        };
        let started = Started {
            thread: *thread,
            kind: (first.shape, last.shape),
            begin: first.begin,
            end: last.end,
            last: LanePosition::new(LaneCode::thread(*thread), ordinal),
        };
        families.entry(started.kind).or_default().push(started);
    }
    families.retain(|_, family| family.len() >= LEAST_STARTED);
    let short_lived: BTreeSet<usize> = families.values().flatten().map(|it| it.thread).collect();
    let others: Vec<usize> = threads
        .iter()
        .copied()
        .filter(|it| !short_lived.contains(it))
        .collect();
    let mut links = Vec::new();
    for mut family in families.into_values() {
        family.sort_unstable_by_key(|it| it.begin);
        let Some(ahead) = most_ahead(&family) else {
            continue;
        };
        let pairs = family.iter().zip(&family[ahead..]);
        links.extend(pairs.map(|(ended, next)| {
            let first = LanePosition::new(LaneCode::thread(next.thread), 0);
            link(ended.last, ended.end, first)
        }));
        for thread in &others {
            links.extend(starter_links(facts, *thread, &family, ahead));
        }
    }
    links
}

/// How many threads of a family run at the same time at most: each ends before the one begins that is as many places behind it.
fn most_ahead(family: &[Started]) -> Option<usize> {
    (1..=MOST_AHEAD).find(|ahead| {
        let mut pairs = family.iter().zip(family.get(*ahead..).unwrap_or_default());
        pairs.all(|(ended, next)| ended.end <= next.begin)
    })
}

/// A thread that starts the threads of a family may wait for one of them in each round: its first call after the begin of a thread is after
/// the end of that one, or of one that is up to `ahead` places before it. Each call does so once at most, else the thread starts none of
/// them.
fn starter_links(facts: &Facts, thread: usize, family: &[Started], ahead: usize) -> Vec<Link> {
    let lane = LaneCode::thread(thread);
    let mut calls = facts.threads[thread].calls.iter().zip(0..).peekable();
    let mut first_calls: Vec<(i64, LanePosition)> = Vec::new();
    for started in family {
        while calls.next_if(|it| it.0.begin < started.begin).is_some() {}
        let Some((call, ordinal)) = calls.peek() else {
            break;
        };
        let place = LanePosition::new(lane, *ordinal);
        if first_calls.last().is_some_and(|it| it.1 == place) {
            return Vec::new();
        }
        first_calls.push((call.begin, place));
    }
    let behind = |by: usize| family.iter().zip(first_calls.get(by..).unwrap_or_default());
    let found = (0..=ahead).find(|by| behind(*by).all(|(ended, next)| ended.end <= next.0));
    let pairs = found.into_iter().flat_map(behind);
    pairs
        .map(|(ended, next)| link(ended.last, ended.end, next.1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: i64 = 1_000;

    /// Sections of a kind for each of some threads in turn.
    fn sections(count: i64, threads: usize, (lasts, every): (i64, i64)) -> Vec<Section> {
        let each = (0..count).map(|number| {
            let thread = number as usize % threads;
            let place = |ordinal| LanePosition::new(LaneCode::thread(thread), ordinal);
            let ordinal = 2 * (number as u32 / threads as u32);
            Section {
                kind: 7,
                thread,
                begin: number * every,
                end: number * every + lasts,
                first: place(ordinal),
                last: place(ordinal + 1),
            }
        });
        each.collect()
    }

    #[test]
    fn sections_that_never_overlap_wait_for_each_other() {
        let all = sections(60, 3, (100 * US, 180 * US));
        let links = of_locks(&all);
        assert_eq!(links.len(), 59);
        assert!(links.iter().all(|it| it.way == LinkKind::Unshown));
        assert_eq!(
            (links[0].from, links[0].to),
            (all[0].last.end(), all[1].first.begin())
        );
    }

    #[test]
    fn an_overlap_and_rare_sections_show_no_lock() {
        let mut all = sections(60, 3, (100 * US, 180 * US));
        all[9].end = all[10].begin + 1;
        assert_eq!(of_locks(&all), []);
        assert_eq!(of_locks(&sections(60, 3, (10 * US, 1_000 * US))), []);
        assert_eq!(of_locks(&sections(60, 1, (100 * US, 180 * US))), []);
        assert_eq!(of_locks(&[]), []);
    }

    #[test]
    fn two_kinds_may_have_one_lock() {
        let mut all = sections(60, 2, (100 * US, 180 * US));
        for it in &mut all {
            it.kind = it.thread as u32;
        }
        assert_eq!(of_locks(&all).len(), 59);
    }

    fn family(count: i64, (lasts, every): (i64, i64)) -> Vec<Started> {
        let each = (0..count).map(|number| Started {
            thread: number as usize + 1,
            kind: (1, 2),
            begin: number * every,
            end: number * every + lasts,
            last: LanePosition::new(LaneCode::thread(number as usize + 1), 3),
        });
        each.collect()
    }

    #[test]
    fn threads_ahead_are_counted() {
        assert_eq!(most_ahead(&family(20, (500, 900))), Some(1));
        assert_eq!(most_ahead(&family(20, (1_500, 900))), Some(2));
        assert_eq!(most_ahead(&family(20, (15_000, 900))), None);
    }
}
