//! Waits of a thread for the ends of other threads, as `pthread_join` makes them.
//!
//! A thread that joins others pauses until the last of them has ended. A recording does not have that end, but it has the
//! last call of each thread. Such a pause may happen once, so it cannot be learnt from its repetition.

use super::{LEAST_NS, Site};
use crate::whatif::compact_recording::Facts;
use crate::whatif::links::{LaneCode, LanePosition, Link, LinkKind};

/// A pause is at least this number of times as long as the time from the last call of the other thread to its end: where the
/// other thread began in the pause, and where it had begun before.
const TIMES_OF_LAG: (i64, i64) = (2, 20);

/// The last call of a thread.
#[derive(Clone, Copy, Debug)]
struct ThreadEnd {
    thread: usize,
    /// The begin of its first call.
    first: i64,
    at: i64,
    shape: u32,
    call: LanePosition,
}

/// A pause of a thread that ended when other threads had ended.
#[derive(Clone, Debug)]
pub(super) struct Join {
    pub(super) site: Site,
    pub(super) call: LanePosition,
    /// The thread that ended last, and the shape of its last call.
    pub(super) last: (u32, u32),
    /// One for each of these threads, the last one first.
    pub(super) links: Vec<Link>,
}

/// The joins of the threads of a process, by the call after each.
pub(super) fn of(facts: &Facts, threads: &[usize]) -> Vec<Join> {
    let ends = ends(facts, threads);
    let mut found = Vec::new();
    for thread in threads {
        let lane = LaneCode::thread(*thread);
        let mut before = None;
        for (call, ordinal) in facts.threads[*thread].calls.iter().zip(0..) {
            if let Some((since, shape)) = before.replace((call.end, call.shape))
                && call.begin - since >= LEAST_NS
            {
                let site = (*thread as u32, shape, call.shape);
                let to = LanePosition::new(lane, ordinal);
                found.extend(join(&ends, site, to, (since, call.begin)));
            }
        }
    }
    found.sort_unstable_by_key(|it| it.call);
    found
}

/// The last calls of threads, by their ends.
fn ends(facts: &Facts, threads: &[usize]) -> Vec<ThreadEnd> {
    let ends = threads.iter().filter_map(|thread| {
        let own = &facts.threads[*thread];
        let (last, ordinal) = own.calls.iter().zip(0..).last()?;
        Some(ThreadEnd {
            thread: *thread,
            first: own.first?,
            at: last.end,
            shape: last.shape,
            call: LanePosition::new(LaneCode::thread(*thread), ordinal),
        })
    });
    let mut ends: Vec<ThreadEnd> = ends.collect();
    ends.sort_unstable_by_key(|it| it.at);
    ends
}

/// The threads that ended in a pause, if the last of them ended it.
fn join(
    ends: &[ThreadEnd],
    site: Site,
    to: LanePosition,
    (since, until): (i64, i64),
) -> Option<Join> {
    let from = ends.partition_point(|it| it.at <= since);
    let ended = &ends[from..ends.partition_point(|it| it.at <= until)];
    let last = ended.last().filter(|it| it.thread != site.0 as usize)?;
    let times = match last.first >= since {
        true => TIMES_OF_LAG.0,
        false => TIMES_OF_LAG.1,
    };
    let is_soon = (until - last.at).saturating_mul(times) <= until - since;
    let links = ended.iter().rev().map(|it| {
        let (way, at) = (LinkKind::Join, it.at);
        let (from, to) = way.points(it.call, to);
        Link { way, from, to, at }
    });
    is_soon.then(|| Join {
        site,
        call: to,
        last: (last.thread as u32, last.shape),
        links: links.collect(),
    })
}
