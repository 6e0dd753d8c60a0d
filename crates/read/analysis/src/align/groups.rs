//! Which communicators of different processes are one.
//!
//! Those with the same identity, a digest of the root info. Where no call gave one: communicators of
//! one size, with each rank in it once, belong together if each is the n-th of that size in its
//! process. Where a rank is in it twice, their creation times separate them; if that does not help,
//! none is used.

use std::collections::{BTreeMap, BTreeSet};

use super::hosts::Member;

/// Communicators with creation times this far apart on their wall clocks are different ones.
const APART_NS: i64 = 60_000_000_000;

/// A communicator by its member and its place there.
pub(super) type CommunicatorPlace = (usize, usize);

/// The communicators that belong together, as far as that is certain.
pub(super) fn groups(members: &[Member<'_>]) -> Vec<Vec<CommunicatorPlace>> {
    let mut named: BTreeMap<(&str, u64), Vec<CommunicatorPlace>> = BTreeMap::new();
    let mut alike: BTreeMap<(u64, usize), Vec<CommunicatorPlace>> = BTreeMap::new();
    for (number, member) in members.iter().enumerate() {
        let mut ordinals: BTreeMap<u64, usize> = BTreeMap::new();
        for (place, comm) in member.comms().iter().enumerate() {
            let ordinal = ordinals.entry(comm.size).or_default();
            if comm.size > 1 && !comm.identity.is_empty() {
                let key = (comm.identity.as_str(), comm.size);
                named.entry(key).or_default().push((number, place));
            } else if comm.size > 1 {
                let key = (comm.size, *ordinal);
                alike.entry(key).or_default().push((number, place));
            }
            *ordinal += 1;
        }
    }
    let sets = alike.into_values().flat_map(|it| split(members, it));
    named
        .into_values()
        .chain(sets)
        .filter(|set| set.len() > 1 && is_certain(members, set))
        .collect()
}

/// Whether each rank is in it once.
fn is_certain(members: &[Member<'_>], set: &[CommunicatorPlace]) -> bool {
    let mut ranks = BTreeSet::new();
    set.iter().all(|(member, place)| {
        let comm = &members[*member].comms()[*place];
        comm.rank < comm.size && ranks.insert(comm.rank)
    })
}

/// Separates members by creation time, where a rank is in the set twice.
fn split(members: &[Member<'_>], mut set: Vec<CommunicatorPlace>) -> Vec<Vec<CommunicatorPlace>> {
    if is_certain(members, &set) {
        return vec![set];
    }
    let made = |(member, place): CommunicatorPlace| {
        let member = &members[member];
        let end = member.comms()[place].made.1;
        end.saturating_add(member.since_1970_ns)
    };
    set.sort_by_key(|it| made(*it));
    let mut sets: Vec<Vec<CommunicatorPlace>> = Vec::new();
    let mut last = i64::MIN;
    for it in set {
        let at = made(it);
        match sets.last_mut() {
            Some(open) if at.saturating_sub(last) <= APART_NS => open.push(it),
            _ => sets.push(vec![it]),
        }
        last = at;
    }
    for set in &mut sets {
        set.sort_unstable();
    }
    sets
}
