//! Sums by function, rank and pair of ranks.

use std::collections::BTreeMap;

use ascend_trace_recording::{ProcessId, TaskTime, Trace};

use super::part_times::{ComputedMeanwhile, PartTimes, SplitTime};
use super::rounds::SplitRound;
use crate::estimate::Estimate;

/// The extent of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartScope {
    /// A call that is a collective or one message.
    Call,
    /// A call with several messages.
    Batch,
    /// One of these messages. It has the time of the whole call.
    InBatch,
}

/// The rows to which the time of a rank in a collective is added.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartOf {
    pub(super) scope: PartScope,
    pub(super) group: usize,
    /// Number of the name of its function.
    pub(super) function: usize,
    pub(super) process: ProcessId,
    /// The ranks that a message goes from and to.
    pub(super) link: Option<(u64, u64)>,
    /// Bytes of the whole collective.
    pub(super) size: Option<u64>,
    pub(super) bus_factor: Option<f64>,
}

/// How often a rank was the last one, and how long the others waited then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LastCount {
    pub(super) count: u64,
    pub(super) waited: Estimate,
}

/// Which ranks were the last ones in collectives.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LastRanks {
    /// Collectives in which one rank was certainly the last one.
    pub(super) certain: u64,
    pub(super) ranks: BTreeMap<u64, LastCount>,
}

/// Number and rank of a process in the recording.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RankOf {
    pub(super) process: u32,
    pub(super) rank: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) names: Vec<String>,
    numbers: BTreeMap<String, usize>,
    /// By group and function.
    pub(super) functions: BTreeMap<(usize, usize), (PartTimes, LastRanks)>,
    /// By group and process.
    pub(super) ranks: BTreeMap<(usize, ProcessId), PartTimes>,
    /// The same of calls that are messages.
    pub(super) messages: BTreeMap<(usize, ProcessId), PartTimes>,
    /// By group and group's rank, over all functions that are no messages.
    pub(super) lasts: BTreeMap<usize, LastRanks>,
    /// By group and the ranks from and to.
    pub(super) links: BTreeMap<(usize, u64, u64), PartTimes>,
    pub(super) processes: BTreeMap<ProcessId, RankOf>,
    /// Ranks in groups, by group and process.
    pub(super) members: BTreeMap<(usize, ProcessId), u64>,
}

impl LastRanks {
    fn add(&mut self, round: &SplitRound) {
        let Some(last) = round.last else { return };
        self.certain += 1;
        let count = self.ranks.entry(last).or_default();
        count.count += 1;
        count.waited.add(round.waited);
    }

    /// The rank that the others waited for longest.
    pub(super) fn most(&self) -> Option<(u64, LastCount)> {
        let all = self.ranks.iter();
        let most = all.max_by(|one, other| {
            let waited = one.1.waited.value.total_cmp(&other.1.waited.value);
            waited.then(one.1.count.cmp(&other.1.count))
        });
        most.map(|(rank, count)| (*rank, *count))
    }
}

impl PartOf {
    /// Whether the call passes messages, and is no collective of all ranks.
    pub(super) fn has_messages(&self) -> bool {
        self.link.is_some() || self.scope != PartScope::Call
    }

    fn moved(&self) -> (Option<u64>, Option<f64>) {
        (self.size, self.bus_factor)
    }
}

impl Sums {
    /// The number of a function's name.
    pub(super) fn function(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len();
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }

    fn each(&mut self, part: PartOf, change: impl Fn(&mut PartTimes)) {
        if part.scope != PartScope::InBatch {
            let rank = (part.group, part.process);
            let function = self.functions.entry((part.group, part.function));
            change(&mut function.or_default().0);
            change(self.ranks.entry(rank).or_default());
            if part.has_messages() {
                change(self.messages.entry(rank).or_default());
            }
        }
        if let Some((from, to)) = part.link {
            change(self.links.entry((part.group, from, to)).or_default());
        }
    }

    pub(super) fn call(&mut self, part: PartOf, time: Option<TaskTime>) {
        self.each(part, |it| it.call(part.moved(), time));
    }

    pub(super) fn overlap(&mut self, part: PartOf, more: ComputedMeanwhile) {
        self.each(part, |it| it.overlap(&more));
    }

    /// Takes the wait of one call.
    pub(super) fn split_call(&mut self, part: PartOf, split: &SplitTime) {
        let mut split = *split;
        if part.scope == PartScope::InBatch {
            // The call may have waited for the ranks of its other messages.
            split.transfer.low = 0.0;
        }
        self.each(part, |it| it.split(part.moved(), &split));
    }

    pub(super) fn split(&mut self, group: usize, round: &SplitRound) {
        for (part, split) in &round.parts {
            if let Some(size) = part.size.filter(|_| round.is_sized_late) {
                self.each(*part, |it| it.sized(size));
            }
            self.split_call(*part, split);
        }
        let collective = round.parts.iter().find(|(part, _)| part.link.is_none());
        if let Some((part, _)) = collective {
            let function = self.functions.entry((group, part.function));
            function.or_default().1.add(round);
            self.lasts.entry(group).or_default().add(round);
        }
    }

    pub(super) fn has_splits(&self, group: usize) -> bool {
        let own = self.functions.range((group, 0)..=(group, usize::MAX));
        own.map(|(_, (times, _))| times.split).any(|it| it > 0)
    }

    pub(super) fn describe(&mut self, trace: &Trace) {
        self.processes = self
            .ranks
            .keys()
            .map(|(_, id)| {
                let process = trace.process(*id);
                let rank = RankOf {
                    process: process.serial,
                    rank: process.rank_number(),
                };
                (*id, rank)
            })
            .collect();
    }
}
