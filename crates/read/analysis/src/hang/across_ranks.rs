//! Which rank of a job holds the others up, by several recordings of its ranks.
//!
//! Recordings say nothing of each other. As within one of them, communicators of the same size and of different ranks
//! belong together where the calls that made them overlap in time. Where two fit for a rank, none is taken: a sentence
//! must be true.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::report::{CommState, Report};

/// Possible difference between clocks of different hosts. Nanoseconds.
const APART_NS: i64 = 1_000_000_000;

/// The clock of a host since it was started differs from the time of day by the same amount, nearly.
const SAME_BOOT_NS: u64 = 10_000_000_000;

/// The report on one recording, and the identity of its clock.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'r> {
    pub report: &'r Report,
    pub host: &'r str,
    /// Offset that is added to its times to count since 1970.
    pub since_1970_ns: i64,
}

/// A rank that others wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LateRank {
    pub rank: u64,
    /// How many ranks its communicator has.
    pub size: u64,
    /// The recording that has it, by number from 0; `null` where none has.
    pub recording: Option<usize>,
    /// Collectives that it has submitted.
    pub count: u64,
    pub last: Option<String>,
    /// The collective that is waited for, by number from 1; 0 is the making of the communicator.
    pub awaited: u64,
    /// Ranks that wait for it, of those that are in the recordings.
    pub waiting: Vec<u64>,
}

/// Rank and size, recording, and the progress of this one and of others.
type Key = (u64, u64, Option<usize>, u64, u64);

/// The ranks that hold others up: first those that are the furthest behind, then those that no recording has.
pub fn late(recordings: &[Recorded<'_>]) -> Vec<LateRank> {
    let all = members(recordings);
    let mut found: BTreeMap<Key, LateRank> = BTreeMap::new();
    for member in &all {
        let Some(awaited) = member.awaits() else {
            continue;
        };
        for rank in (0..member.comm.size.min(65_536)).filter(|rank| *rank != member.comm.rank) {
            if let Some(late) = late_rank(&all, member, rank, awaited) {
                // Several may wait for the same rank.
                let own = found.entry(late.key()).or_insert(late);
                if !own.waiting.contains(&member.comm.rank) {
                    own.waiting.push(member.comm.rank);
                }
            }
        }
    }
    let mut found: Vec<LateRank> = found.into_values().collect();
    found.sort_by_key(|it| (it.recording.is_none(), it.count, it.rank));
    found
}

/// What holds a member up at a rank, if that rank does.
fn late_rank(all: &[Member<'_>], member: &Member<'_>, rank: u64, awaited: u64) -> Option<LateRank> {
    let mut own = all
        .iter()
        .filter(|it| it.comm.rank == rank && it.fits(member));
    let Some(one) = own.next() else {
        return Some(LateRank::absent(rank, member, awaited));
    };
    // Another one that fits in the place of either may be meant.
    let peers = all.iter();
    let mut peers = peers.filter(|it| it.comm.rank == member.comm.rank && it.fits(one));
    let is_certain = own.next().is_none() && peers.nth(1).is_none();
    (is_certain && one.is_behind(awaited)).then(|| LateRank::behind(one, awaited))
}

/// A communicator of one of the recordings.
#[derive(Clone, Copy, Debug)]
struct Member<'r> {
    recording: usize,
    recorded: Recorded<'r>,
    comm: &'r CommState,
}

fn members<'r>(recordings: &[Recorded<'r>]) -> Vec<Member<'r>> {
    let numbered = recordings.iter().enumerate();
    let all = numbered.flat_map(|(recording, recorded)| {
        let recorded = *recorded;
        let comms = recorded.report.communicators.iter();
        comms.map(move |comm| Member {
            recording,
            recorded,
            comm,
        })
    });
    all.collect()
}

impl Member<'_> {
    /// The collective that it waits in.
    fn awaits(&self) -> Option<u64> {
        match self.comm.end_ns {
            None => Some(0),
            Some(_) => self.comm.waits_in,
        }
    }

    fn is_behind(&self, awaited: u64) -> bool {
        self.comm.end_ns.is_some() && self.comm.count < awaited
    }

    /// Whether another one can be a rank of the same communicator.
    fn fits(&self, other: &Self) -> bool {
        if let (Some(own), Some(its)) = (&self.comm.identity, &other.comm.identity) {
            return own == its && self.comm.size == other.comm.size;
        }
        let [own, its] = [self, other].map(|it| &it.recorded);
        let skew_ns = own.since_1970_ns.abs_diff(its.since_1970_ns);
        let is_one_clock = own.host == its.host && skew_ns < SAME_BOOT_NS;
        let [(begin, end), (its_begin, its_end)] = match is_one_clock {
            true => [self, other].map(|it| it.made(0)),
            false => [self, other].map(|it| it.made(it.recorded.since_1970_ns)),
        };
        let apart = if is_one_clock { 0 } else { APART_NS };
        self.comm.size == other.comm.size
            && begin <= its_end.saturating_add(apart)
            && its_begin <= end.saturating_add(apart)
    }

    /// Its creation, on a clock that is ahead of the host's by this.
    fn made(&self, ahead_ns: i64) -> (i64, i64) {
        let comm = self.comm;
        let end = comm
            .end_ns
            .map_or(i64::MAX, |it| it.saturating_add(ahead_ns));
        (comm.begin_ns.saturating_add(ahead_ns), end)
    }
}

impl LateRank {
    fn key(&self) -> Key {
        (
            self.rank,
            self.size,
            self.recording,
            self.count,
            self.awaited,
        )
    }

    fn absent(rank: u64, member: &Member<'_>, awaited: u64) -> Self {
        Self {
            rank,
            size: member.comm.size,
            recording: None,
            count: 0,
            last: None,
            awaited,
            waiting: Vec::new(),
        }
    }

    fn behind(member: &Member<'_>, awaited: u64) -> Self {
        Self {
            recording: Some(member.recording),
            count: member.comm.count,
            last: member.comm.last.clone(),
            ..Self::absent(member.comm.rank, member, awaited)
        }
    }
}
