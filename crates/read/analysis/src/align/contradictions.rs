//! Which rank's collectives contradict the others.

use std::collections::{BTreeMap, BTreeSet};

use super::alignment_input::Round;
use super::hosts::Member;
use super::rounds::{CommonLane, usual_shape};

/// One contradiction in a hundred rounds is more than an error bar that was too narrow.
const RARE: u64 = 100;

/// Fault of a rank's collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// This number of its collectives differs from those of its peers.
    Shapes { odd: u64, rounds: u64 },
    /// This number of them ended before a peer on the same host began.
    OneHost { rounds: u64 },
    /// No steady clock fits them.
    Clocks,
    /// No steady clock fits two hosts, and no third host shows which one is wrong. `other` is the number of the other one.
    Either { other: usize },
}

/// A process with collectives that were not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// The recording, by number.
    pub recording: usize,
    /// The process, by its number there.
    pub process: u32,
    pub rank: Option<u64>,
    pub what: Contradiction,
}

impl Culprit {
    pub(super) fn new(member: &Member<'_>, what: Contradiction) -> Self {
        Self {
            recording: member.recording,
            process: member.participant.process,
            rank: member.participant.rank,
            what,
        }
    }
}

/// The members with collectives that differ from those of their peers, or contradict those on the same
/// host.
pub(super) fn culprits(
    members: &[Member<'_>],
    joints: &[CommonLane<'_>],
) -> BTreeMap<usize, Contradiction> {
    let mut found = odd(joints);
    let mut pairs = contradicting(members, joints, &found);
    // The one that most others contradict goes first; the others may have been right.
    while let Some((member, rounds)) = worst(&pairs) {
        found.insert(member, Contradiction::OneHost { rounds });
        pairs.retain(|(one, other), _| *one != member && *other != member);
    }
    found
}

/// Members of which more than a few rounds have another shape than those of their peers.
fn odd(joints: &[CommonLane<'_>]) -> BTreeMap<usize, Contradiction> {
    let mut counts: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for joint in joints {
        joint.each(|round| {
            let usual = usual_shape(round);
            for (member, it) in round {
                let (odd, all) = counts.entry(*member).or_default();
                *odd += u64::from(it.shape != usual);
                *all += 1;
            }
        });
    }
    let odd = counts
        .into_iter()
        .filter(|(_, (odd, all))| odd.saturating_mul(RARE) > *all);
    odd.map(|(member, (odd, rounds))| (member, Contradiction::Shapes { odd, rounds }))
        .collect()
}

/// Two members of one host, and how often they contradict each other.
type Pairs = BTreeMap<(usize, usize), u64>;

fn contradicting(
    members: &[Member<'_>],
    joints: &[CommonLane<'_>],
    left_out: &BTreeMap<usize, Contradiction>,
) -> Pairs {
    let mut pairs = Pairs::new();
    let mut rounds: BTreeMap<usize, u64> = BTreeMap::new();
    for joint in joints {
        joint.each(|round| {
            let mut hosts: BTreeMap<usize, Vec<(usize, &Round)>> = BTreeMap::new();
            for (member, it) in round {
                if !left_out.contains_key(member) {
                    *rounds.entry(*member).or_default() += 1;
                    let own = hosts.entry(members[*member].host).or_default();
                    own.push((*member, it));
                }
            }
            for own in hosts.values().filter(|it| contradicts(it)) {
                note(own, &mut pairs);
            }
        });
    }
    pairs.retain(|(one, other), count| {
        let both = [one, other].map(|it| rounds.get(it).copied().unwrap_or(0));
        let [one, other] = both;
        count.saturating_mul(RARE) > one.min(other)
    });
    pairs
}

/// Whether any member of a host ended before another that it needs had begun.
fn contradicts(own: &[(usize, &Round)]) -> bool {
    let takers = own.iter().filter(|(_, it)| it.takes);
    let givers = own.iter().filter(|(_, it)| it.gives);
    let first_end = takers.map(|(_, it)| it.latest_end()).min();
    let last_begin = givers.map(|(_, it)| it.earliest_begin()).max();
    first_end
        .zip(last_begin)
        .is_some_and(|(end, begin)| end < begin)
}

fn note(own: &[(usize, &Round)], pairs: &mut Pairs) {
    for (taker, taken) in own.iter().filter(|(_, it)| it.takes) {
        let too_late = own
            .iter()
            .filter(|(_, it)| it.gives && taken.latest_end() < it.earliest_begin());
        for (giver, _) in too_late {
            let pair = (*taker.min(giver), *taker.max(giver));
            *pairs.entry(pair).or_default() += 1;
        }
    }
}

/// The member that contradicts most others, and in how many rounds at most.
fn worst(pairs: &Pairs) -> Option<(usize, u64)> {
    let mut partners: BTreeMap<usize, (BTreeSet<usize>, u64)> = BTreeMap::new();
    for ((one, other), count) in pairs {
        for (own, its) in [(one, other), (other, one)] {
            let (all, most) = partners.entry(*own).or_default();
            all.insert(*its);
            *most = (*most).max(*count);
        }
    }
    let worst = partners
        .into_iter()
        .max_by_key(|(_, (all, most))| (all.len(), *most));
    worst.map(|(member, (_, most))| (member, most))
}
