//! Selects the functions to patch: one patch belongs to one function.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::engine::PatchOutcome;

use crate::forwarder::PatchPoint;

/// A function that could be patched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Its place in the caller's list.
    pub(crate) index: usize,
    pub(crate) entry: PatchPoint,
}

/// The patches to make, and the refused candidates.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PatchPlan {
    pub(crate) patched: Vec<Candidate>,
    pub(crate) refused: Vec<(usize, PatchOutcome)>,
}

/// Rejects functions that share their code, because their calls cannot be distinguished. `taken` has
/// the entries of earlier patches.
pub(crate) fn settle(candidates: &[Candidate], taken: &BTreeSet<usize>) -> PatchPlan {
    let mut by_entry: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
    for candidate in candidates {
        let place = by_entry.entry(candidate.entry.address).or_default();
        place.push(*candidate);
    }
    let mut plan = PatchPlan::default();
    for (address, group) in &by_entry {
        match chosen(group).filter(|_| !taken.contains(address)) {
            Some(chosen) if !overlaps(&chosen.entry, &by_entry) => plan.take(chosen, group),
            Some(chosen) => plan.refuse_all(group, Some(chosen), PatchOutcome::SharedCode),
            None => plan.refuse_all(group, None, PatchOutcome::SharedCode),
        }
    }
    plan
}

/// The one function of a group that the code belongs to: the only one that begins with it, else the
/// only one that jumps to it.
fn chosen(group: &[Candidate]) -> Option<Candidate> {
    let mut own = group.iter().filter(|it| !it.entry.is_forwarded);
    match (own.next(), own.next(), group) {
        (Some(one), None, _) => Some(*one),
        (None, _, [one]) => Some(*one),
        _ => None,
    }
}

/// Whether another function begins within the moved bytes.
fn overlaps(entry: &PatchPoint, by_entry: &BTreeMap<usize, Vec<Candidate>>) -> bool {
    let end = entry.address.saturating_add(entry.moved);
    let mut inside = by_entry.range(entry.address + 1..end);
    inside.next().is_some()
}

impl PatchPlan {
    fn take(&mut self, chosen: Candidate, group: &[Candidate]) {
        self.patched.push(chosen);
        let others = group.iter().filter(|it| it.index != chosen.index);
        self.refused
            .extend(others.map(|it| (it.index, PatchOutcome::LeadsToHooked)));
    }

    fn refuse_all(&mut self, group: &[Candidate], chosen: Option<Candidate>, own: PatchOutcome) {
        for candidate in group {
            let leads = candidate.entry.is_forwarded && chosen != Some(*candidate);
            let outcome = if leads {
                PatchOutcome::SharedTarget
            } else {
                own
            };
            self.refused.push((candidate.index, outcome));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(index: usize, address: usize, is_forwarded: bool) -> Candidate {
        Candidate {
            index,
            entry: PatchPoint {
                address,
                moved: 16,
                is_forwarded,
            },
        }
    }

    fn plan(list: &[(usize, bool)], taken: &[usize]) -> (Vec<usize>, Vec<(usize, PatchOutcome)>) {
        let candidates: Vec<_> = list
            .iter()
            .enumerate()
            .map(|(index, (address, forwarded))| candidate(index, *address, *forwarded))
            .collect();
        let plan = settle(&candidates, &taken.iter().copied().collect());
        let patched = plan.patched.iter().map(|it| it.index).collect();
        let mut refused = plan.refused;
        refused.sort();
        (patched, refused)
    }

    #[test]
    fn functions_with_separate_code_are_patched() {
        let (patched, refused) = plan(&[(0x1000, false), (0x2000, true)], &[]);
        assert_eq!(patched, [0, 1]);
        assert!(refused.is_empty());
    }

    #[test]
    fn forwarders_to_one_target_are_not_merged() {
        let (patched, refused) = plan(&[(0x1000, true), (0x1000, true)], &[]);
        assert!(patched.is_empty());
        assert_eq!(
            refused,
            [
                (0, PatchOutcome::SharedTarget),
                (1, PatchOutcome::SharedTarget)
            ]
        );
    }

    #[test]
    fn a_forwarder_to_a_function_with_a_name_leaves_the_code_to_it() {
        let (patched, refused) = plan(&[(0x1000, true), (0x1000, false)], &[]);
        assert_eq!(patched, [1]);
        assert_eq!(refused, [(0, PatchOutcome::LeadsToHooked)]);
    }

    #[test]
    fn two_names_for_one_code_are_not_patched() {
        let (patched, refused) = plan(&[(0x1000, false), (0x1000, false)], &[]);
        assert!(patched.is_empty());
        assert_eq!(
            refused,
            [(0, PatchOutcome::SharedCode), (1, PatchOutcome::SharedCode)]
        );
        // One begins inside the other's begin; the later one is whole.
        let (patched, refused) = plan(&[(0x1000, false), (0x1008, false)], &[]);
        assert_eq!(patched, [1]);
        assert_eq!(refused, [(0, PatchOutcome::SharedCode)]);
    }

    #[test]
    fn a_patched_function_is_not_patched_again() {
        let (patched, refused) = plan(&[(0x1000, false), (0x2000, true)], &[0x1000, 0x2000]);
        assert!(patched.is_empty());
        assert_eq!(
            refused,
            [
                (0, PatchOutcome::SharedCode),
                (1, PatchOutcome::SharedTarget)
            ]
        );
    }
}
