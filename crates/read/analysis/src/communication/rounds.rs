//! The ranks of one collective, side by side: which one began last, and how long the others waited for it.

use std::collections::BTreeMap;

use ascend_trace_recording::TaskTime;

use super::part_times::{SplitTime, measured};
use super::sums::{PartOf, PartScope};
use crate::estimate::Estimate;

/// Collectives of a function on a group, or messages between two ranks: group, function, ranks.
pub(super) type LaneKey = (usize, (String, u64, u64));

/// Collectives of a lane that wait for further ranks.
const MOST_OPEN: usize = 1 << 14;

/// A rank in a collective.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// `None` outside the range of interest.
    pub(super) part: Option<PartOf>,
    pub(super) rank: u64,
    pub(super) time: TaskTime,
    /// The number of the clock, and by how much it may be off.
    pub(super) clock: (u32, Option<i64>),
    pub(super) shape: u64,
    /// Bytes of its share, where the shares of ranks may differ.
    pub(super) share: Option<u64>,
    /// Its place among all collectives, where they are wanted one by one.
    pub(super) run: Option<usize>,
    /// The number of its call, where that has several messages.
    pub(super) batch: Option<u64>,
}

/// Collectives that not all ranks have joined yet.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    open: BTreeMap<LaneKey, BTreeMap<u32, Round>>,
}

/// The ranks of one collective.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) members: Vec<Member>,
}

/// A collective with known waits.
#[derive(Clone, Debug)]
pub(super) struct SplitRound {
    pub(super) parts: Vec<(PartOf, SplitTime)>,
    /// The same of collectives that are wanted one by one.
    pub(super) runs: Vec<(usize, PartOf, SplitTime)>,
    /// The calls that are one message each, their begins, and their waits.
    pub(super) messages: Vec<(PartOf, i64, SplitTime)>,
    /// The calls with several messages of which this is one, and the wait for the other rank.
    pub(super) batches: Vec<(u64, Estimate)>,
    /// The size is known only now, by the shares of all ranks.
    pub(super) is_sized_late: bool,
    /// The rank that certainly began last.
    pub(super) last: Option<u64>,
    /// The waits of the others.
    pub(super) waited: Estimate,
}

impl Rounds {
    /// Adds a member. Returns the collective when all ranks have joined.
    pub(super) fn join(
        &mut self,
        lane: LaneKey,
        number: u32,
        member: Member,
        size: u64,
    ) -> Option<Round> {
        let open = self.open.entry(lane).or_default();
        let round = open.entry(number).or_default();
        round.members.push(member);
        if round.members.len() as u64 >= size {
            return open.remove(&number);
        }
        if open.len() > MOST_OPEN {
            open.pop_first();
        }
        None
    }
}

impl Round {
    /// The shares of all ranks together, where shares may differ.
    fn shares(&self) -> Option<u64> {
        let mut shares = self.members.iter().map(|it| it.share);
        shares.try_fold(0, |sum: u64, share| sum.checked_add(share?))
    }

    /// A part with the size by the shares of all ranks.
    fn sized(&self, part: PartOf) -> PartOf {
        let ranks = self.members.len() as f64;
        match self.shares() {
            Some(size) => PartOf {
                size: Some(size),
                bus_factor: Some((ranks - 1.0) / ranks),
                ..part
            },
            None => part,
        }
    }

    /// The waits and transfers. `None` if the ranks ran different collectives, one of them has no share, or their clocks cannot be
    /// compared.
    pub(super) fn split(&self) -> Option<SplitRound> {
        let first = self.members.first()?;
        // The others may not wait for a rank without a share.
        let is_odd = |it: &Member| it.shape != first.shape || it.share == Some(0);
        if self.members.iter().any(is_odd) {
            return None;
        }
        let is_one_clock = self.members.iter().all(|it| it.clock.0 == first.clock.0);
        let begins = self.members.iter().map(|it| {
            let of_clock = match is_one_clock {
                true => 0,
                false => it.clock.1?,
            };
            Some(Begin::of(it, of_clock))
        });
        let begins: Vec<Begin> = begins.collect::<Option<_>>()?;
        let waits: Vec<Estimate> = (0..begins.len()).map(|it| wait(&begins, it)).collect();
        let last = certain_last(&begins);
        let numbered = self.members.iter().zip(&waits);
        let splits =
            numbered.map(|(member, wait)| (member, SplitTime::of(*wait, measured(&member.time))));
        let splits: Vec<(&Member, SplitTime)> = splits.collect();
        let all = splits.iter();
        let parts = all.filter_map(|(member, split)| Some((self.sized(member.part?), *split)));
        let parts: Vec<(PartOf, SplitTime)> = parts.collect();
        let all = splits.iter();
        let runs =
            all.filter_map(|(member, split)| Some((member.run?, self.sized(member.part?), *split)));
        let runs = runs.collect();
        let messages = splits.iter().filter_map(|(member, split)| {
            let part = member.part.filter(|it| it.link.is_some())?;
            let is_call = part.scope == PartScope::Call;
            is_call.then_some((part, member.time.begin, *split))
        });
        let messages = messages.collect();
        let batches = self.members.iter().zip(&waits);
        let batches = batches.filter_map(|(member, wait)| Some((member.batch?, *wait)));
        let batches = batches.collect();
        let mut waited = Estimate::default();
        parts.iter().for_each(|(_, it)| waited.add(it.wait));
        Some(SplitRound {
            parts,
            runs,
            messages,
            batches,
            is_sized_late: self.shares().is_some(),
            last: last.and_then(|it| self.members.get(it)).map(|it| it.rank),
            waited,
        })
    }
}

/// The begin of a rank, and how far it may be off.
#[derive(Clone, Copy, Debug)]
struct Begin {
    at: i64,
    error: i64,
}

impl Begin {
    fn of(member: &Member, of_clock: i64) -> Self {
        Self {
            at: member.time.begin,
            error: member.time.error.saturating_add(of_clock),
        }
    }

    fn earliest(&self) -> i64 {
        self.at.saturating_sub(self.error)
    }

    fn latest(&self) -> i64 {
        self.at.saturating_add(self.error)
    }
}

/// From the begin of one to that of the last one.
fn wait(begins: &[Begin], own: usize) -> Estimate {
    let begin = begins[own];
    let others = begins.iter().enumerate().filter(|(it, _)| *it != own);
    let others = others.map(|(_, it)| it);
    let after = |last: Option<i64>, from: i64| last.map_or(0, |it| it.saturating_sub(from).max(0));
    let value = after(others.clone().map(|it| it.at).max(), begin.at);
    let low = after(others.clone().map(Begin::earliest).max(), begin.latest());
    let high = after(others.map(Begin::latest).max(), begin.earliest());
    Estimate {
        value: value as f64,
        low: low as f64,
        high: high as f64,
    }
}

/// The one that began last, if no error can make it another one.
fn certain_last(begins: &[Begin]) -> Option<usize> {
    let (last, begin) = begins.iter().enumerate().max_by_key(|(_, it)| it.at)?;
    let others = begins.iter().enumerate().filter(|(it, _)| *it != last);
    others
        .map(|(_, it)| it)
        .all(|it| it.latest() < begin.earliest())
        .then_some(last)
}

#[cfg(test)]
mod tests {
    use ascend_trace_recording::ProcessId;

    use super::*;

    /// A rank that began at this time and ended at 100.
    fn member(rank: u64, begin: i64, share: Option<u64>) -> Member {
        let part = PartOf {
            scope: PartScope::Call,
            group: 0,
            function: 0,
            process: ProcessId(rank as u32),
            link: None,
            size: None,
            bus_factor: None,
        };
        let time = TaskTime {
            begin,
            end: 100,
            error: 1,
            local_error: 1,
            shorter: 0,
            longer: 0,
            noise: 0,
        };
        Member {
            part: Some(part),
            rank,
            time,
            clock: (0, Some(0)),
            shape: 7,
            share,
            run: None,
            batch: None,
        }
    }

    fn split(shares: [Option<u64>; 2]) -> Option<SplitRound> {
        let [first, second] = shares;
        let members = vec![member(0, 10, first), member(1, 40, second)];
        Round { members }.split()
    }

    #[test]
    fn shares_of_all_ranks_are_the_size() {
        let found = split([Some(64), Some(192)]).expect("the waits are known");
        assert!(found.is_sized_late);
        let sizes = found.parts.iter().map(|it| (it.0.size, it.0.bus_factor));
        assert_eq!(sizes.collect::<Vec<_>>(), [(Some(256), Some(0.5)); 2]);
        assert_eq!(found.last, Some(1));
    }

    #[test]
    fn one_unknown_share_leaves_the_size_unknown_and_a_rank_without_a_share_the_waits() {
        let found = split([Some(64), None]).expect("the waits are known");
        assert!(!found.is_sized_late && found.parts.iter().all(|it| it.0.size.is_none()));
        assert!(split([Some(64), Some(0)]).is_none());
    }
}
