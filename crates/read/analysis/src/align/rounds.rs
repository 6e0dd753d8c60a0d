//! The rounds of a lane on all its ranks, side by side.

use std::collections::BTreeMap;

use super::alignment_input::{Lane, Round};
use super::groups::CommunicatorPlace;
use super::hosts::Member;

/// One lane on several members.
#[derive(Clone, Debug)]
pub(super) struct CommonLane<'r> {
    lanes: Vec<(usize, &'r [Round])>,
}

/// The lanes that the communicators of a group have in common.
pub(super) fn joints<'r>(
    members: &[Member<'r>],
    group: &[CommunicatorPlace],
) -> Vec<CommonLane<'r>> {
    let mut all: Vec<(&'r Lane, CommonLane<'r>)> = Vec::new();
    for (member, place) in group {
        for lane in &members[*member].comms()[*place].lanes {
            let own = (*member, lane.rounds.as_slice());
            match all.iter_mut().find(|(first, _)| first.is_one_with(lane)) {
                Some((_, joint)) => joint.lanes.push(own),
                None => all.push((lane, CommonLane { lanes: vec![own] })),
            }
        }
    }
    let joints = all.into_iter().map(|(_, joint)| joint);
    joints.filter(|it| it.lanes.len() > 1).collect()
}

impl<'r> CommonLane<'r> {
    /// Hands out each round that several members have, with those members.
    pub(super) fn each(&self, mut take: impl FnMut(&[(usize, &'r Round)])) {
        let mut rest: Vec<(usize, &'r [Round])> = self.lanes.clone();
        let mut round = Vec::with_capacity(rest.len());
        loop {
            let firsts = rest.iter().filter_map(|(_, rounds)| rounds.first());
            let Some(number) = firsts.map(|it| it.number).min() else {
                return;
            };
            round.clear();
            for (member, rounds) in &mut rest {
                if let Some((first, others)) = rounds.split_first()
                    && first.number == number
                {
                    round.push((*member, first));
                    *rounds = others;
                }
            }
            if round.len() > 1 {
                take(&round);
            }
        }
    }
}

/// The shape that most have; the lesser one of two that are as frequent.
pub(super) fn usual_shape(round: &[(usize, &Round)]) -> u64 {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for (_, it) in round {
        *counts.entry(it.shape).or_default() += 1;
    }
    let most = counts.iter().rev().max_by_key(|(_, count)| **count);
    most.map_or(0, |(shape, _)| *shape)
}
