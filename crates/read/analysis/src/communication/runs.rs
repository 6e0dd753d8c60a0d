//! Each collective by itself: its group, its number there, its size, and its wait for the last rank.

use ascend_trace_recording::{ProcessId, TaskId};
use rustc_hash::FxHashMap;

use super::part_times::SplitTime;
use super::rounds::SplitRound;
use super::sums::PartOf;
use super::{CommunicationFold, GroupStats};
use crate::estimate::Estimate;
use crate::{Fold, Window};

/// A collective of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollectiveRun {
    /// The number of its group.
    pub group: usize,
    /// The handle of its communicator.
    pub comm: u64,
    /// Counts the collectives of its function in the group, or the messages of its two ranks: the same at all ranks. `None`
    /// where they cannot be counted.
    pub number: Option<u32>,
    /// The ranks of the group that a message goes from and to.
    pub link: Option<(u64, u64)>,
    /// Bytes of the whole collective.
    pub size: Option<u64>,
    /// By how much bus bandwidth is more than algorithm bandwidth.
    pub bus_factor: Option<f64>,
    /// From its begin to that of the last rank, and the time after that. `None` where they are not known.
    pub split: Option<(RunTime, RunTime)>,
}

/// A duration and its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunTime {
    pub ns: i64,
    pub low_ns: i64,
    pub high_ns: i64,
}

/// A group of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunGroup {
    /// The same text at all ranks; empty where it is not known.
    pub identity: String,
    pub size: Option<u64>,
    /// The recorded ranks of the group, and the process of each.
    pub members: Vec<(u64, ProcessId)>,
    /// Whether the communicators of the ranks are certainly one group with comparable times.
    pub is_known: bool,
}

impl RunTime {
    fn of(time: Estimate) -> Self {
        Self {
            ns: time.value.round() as i64,
            low_ns: time.low.round() as i64,
            high_ns: time.high.round() as i64,
        }
    }

    /// How far it may be off.
    pub fn error_ns(&self) -> i64 {
        (self.high_ns - self.ns).max(self.ns - self.low_ns)
    }
}

/// The collectives of a recording until now.
#[derive(Debug, Default)]
pub(super) struct RunList {
    runs: Vec<CollectiveRun>,
    /// Those of the present window.
    present: FxHashMap<TaskId, usize>,
}

impl RunList {
    pub(super) fn add(
        &mut self,
        task: TaskId,
        (comm, number): (u64, Option<u32>),
        part: &PartOf,
    ) -> usize {
        let place = self.runs.len();
        self.runs.push(CollectiveRun {
            group: part.group,
            comm,
            number,
            link: part.link,
            size: part.size,
            bus_factor: part.bus_factor,
            split: None,
        });
        self.present.insert(task, place);
        place
    }

    /// Takes the wait of one call.
    pub(super) fn split_run(&mut self, run: usize, split: &SplitTime) {
        let SplitTime { wait, transfer } = *split;
        if let Some(run) = self.runs.get_mut(run) {
            run.split = Some((RunTime::of(wait), RunTime::of(transfer)));
        }
    }

    /// Takes the waits of a collective that all ranks have joined.
    pub(super) fn split(&mut self, round: &SplitRound) {
        for (run, part, split) in &round.runs {
            self.split_run(*run, split);
            if let Some(run) = self.runs.get_mut(*run) {
                (run.size, run.bus_factor) = (part.size, part.bus_factor);
            }
        }
    }
}

/// Finds the collectives of a recording one by one.
#[derive(Debug)]
pub struct CollectiveRuns(CommunicationFold);

impl Default for CollectiveRuns {
    fn default() -> Self {
        Self(CommunicationFold {
            runs: Some(RunList::default()),
            ..CommunicationFold::default()
        })
    }
}

impl CollectiveRuns {
    /// Takes a window of the recording.
    pub fn take(&mut self, window: &Window<'_>) {
        if let Some(runs) = &mut self.0.runs {
            runs.present.clear();
        }
        self.0.take(window);
    }

    /// The place of a collective of the window that was taken last.
    pub fn place(&self, task: TaskId) -> Option<usize> {
        self.0.runs.as_ref()?.present.get(&task).copied()
    }

    /// The collective at a place. Its wait is known when all windows were taken.
    pub fn run(&self, place: usize) -> Option<&CollectiveRun> {
        self.0.runs.as_ref()?.runs.get(place)
    }

    /// The groups by number, when all windows were taken.
    pub fn groups(&self) -> Vec<RunGroup> {
        let fold = &self.0;
        let mut groups: Vec<RunGroup> = fold
            .groups
            .rows(&fold.numbering, &fold.sums)
            .into_iter()
            .map(|row: GroupStats| RunGroup {
                identity: row.identity,
                size: row.ranks,
                members: Vec::new(),
                is_known: row.unknown.is_none(),
            })
            .collect();
        for ((group, process), rank) in fold.groups.members() {
            if let Some(group) = groups.get_mut(group) {
                group.members.push((rank, process));
            }
        }
        groups.iter_mut().for_each(|it| it.members.sort_unstable());
        groups
    }
}
