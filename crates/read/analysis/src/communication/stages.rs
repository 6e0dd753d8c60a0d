//! Stages of a pipeline: the order of the ranks of a group by their first messages, and the time that each waited for others.
//!
//! The first message of the first stage is one that it sends. The first message of each other stage comes from the stage before
//! it. Later messages go in both directions.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_recording::{ProcessId, TimeRange};

use super::part_times::SplitTime;
use super::waited::WaitedTime;

/// The first message of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstMessage {
    Sent,
    ReceivedFrom(u64),
    /// The first call sends and receives: such ranks exchange data, and are no stages.
    Exchanged,
}

/// A rank in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PipelinePlace {
    first: u64,
    stage: u32,
}

#[derive(Debug, Default)]
pub(super) struct Stages {
    /// By group and rank.
    firsts: BTreeMap<(usize, u64), FirstMessage>,
    /// Ranks with messages from one to the other, by group.
    links: BTreeMap<usize, BTreeSet<(u64, u64)>>,
    /// By group and process.
    pub(super) waited: BTreeMap<(usize, ProcessId), WaitedTime>,
    /// From the first begin to the last end of the tasks of a process.
    pub(super) extents: BTreeMap<ProcessId, TimeRange>,
}

impl Stages {
    /// Takes the messages of a call: the ranks that they go from and to. Calls of a rank come in their order.
    pub(super) fn call(&mut self, (group, rank): (usize, u64), messages: &[(u64, u64)]) {
        self.links.entry(group).or_default().extend(messages);
        let sends = messages.iter().any(|it| it.0 == rank);
        let source = messages.iter().find(|it| it.1 == rank).map(|it| it.0);
        let first = match (sends, source) {
            (true, None) => FirstMessage::Sent,
            (false, Some(source)) => FirstMessage::ReceivedFrom(source),
            _ => FirstMessage::Exchanged,
        };
        self.firsts.entry((group, rank)).or_insert(first);
    }

    /// Takes the wait of a call that began at this time.
    pub(super) fn wait(&mut self, of: (usize, ProcessId), begin: i64, split: &SplitTime) {
        self.waited.entry(of).or_default().add(begin, split);
    }

    /// Takes the time of a task of a process.
    pub(super) fn task(&mut self, process: ProcessId, time: TimeRange) {
        let extent = self.extents.entry(process).or_insert(time);
        extent.begin = extent.begin.min(time.begin);
        extent.end = extent.end.max(time.end);
    }

    /// The stage of each rank of a group. Ranks that are in no pipeline are left out.
    pub(super) fn of(&self, group: usize) -> BTreeMap<u64, u32> {
        let ranks = self.firsts.range((group, 0)..=(group, u64::MAX));
        let places = ranks.filter_map(|((_, rank), _)| Some((*rank, self.place(group, *rank)?)));
        let places: BTreeMap<u64, PipelinePlace> = places.collect();
        let first = |rank: &u64| places.get(rank).map(|it| it.first);
        // Ranks with messages between them are one pipeline only if it has one first stage.
        let mut doubtful = BTreeSet::new();
        for (from, to) in self.links.get(&group).into_iter().flatten() {
            let ends = [first(from), first(to)];
            if ends[0] != ends[1] {
                doubtful.extend(ends.into_iter().flatten());
            }
        }
        let certain = places
            .into_iter()
            .filter(|(_, it)| !doubtful.contains(&it.first));
        certain.map(|(rank, place)| (rank, place.stage)).collect()
    }

    fn place(&self, group: usize, rank: u64) -> Option<PipelinePlace> {
        let (mut first, mut stage) = (rank, 0);
        loop {
            match self.firsts.get(&(group, first))? {
                FirstMessage::Sent => return Some(PipelinePlace { first, stage }),
                FirstMessage::Exchanged => return None,
                FirstMessage::ReceivedFrom(source) => {
                    first = *source;
                    stage += 1;
                }
            }
            if stage as usize > self.firsts.len() {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks and their calls, in order: each message as the ranks from and to.
    fn stages(calls: &[(u64, &[(u64, u64)])]) -> Vec<(u64, u32)> {
        let mut stages = Stages::default();
        for (rank, messages) in calls {
            stages.call((0, *rank), messages);
        }
        stages.of(0).into_iter().collect()
    }

    #[test]
    fn stages_are_in_the_order_of_the_first_messages() {
        let pipeline: [(u64, &[(u64, u64)]); 6] = [
            (2, &[(1, 2)]),
            (2, &[(2, 1)]),
            (1, &[(0, 1)]),
            (1, &[(1, 2), (2, 1)]),
            (0, &[(0, 1)]),
            (0, &[(1, 0)]),
        ];
        assert_eq!(stages(&pipeline), [(0, 0), (1, 1), (2, 2)]);
        // The last stage also sends to the first one, for its second part of the model.
        let interleaved: [(u64, &[(u64, u64)]); 4] = [
            (3, &[(3, 1)]),
            (1, &[(3, 1)]),
            (1, &[(1, 3)]),
            (3, &[(1, 3)]),
        ];
        assert_eq!(stages(&interleaved), [(1, 1), (3, 0)]);
    }

    #[test]
    fn ranks_that_exchange_data_are_no_stages() {
        let ring: [(u64, &[(u64, u64)]); 3] = [
            (0, &[(0, 1), (2, 0)]),
            (1, &[(1, 2), (0, 1)]),
            (2, &[(2, 0), (1, 2)]),
        ];
        assert_eq!(stages(&ring), []);
        // Even ranks send first, so there are two first ranks.
        let pairs: [(u64, &[(u64, u64)]); 5] = [
            (0, &[(0, 1)]),
            (1, &[(0, 1)]),
            (2, &[(2, 3)]),
            (3, &[(2, 3)]),
            (3, &[(3, 0)]),
        ];
        assert_eq!(stages(&pairs), []);
        // All wait for each other.
        let circle: [(u64, &[(u64, u64)]); 2] = [(0, &[(1, 0)]), (1, &[(0, 1)])];
        assert_eq!(stages(&circle), []);
        // The first stage is not in the recording.
        assert_eq!(stages(&[(1, &[(0, 1)])]), []);
    }
}
