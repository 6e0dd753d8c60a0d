//! Communication between ranks: calls, bytes, the wait for the last rank, transfer, bandwidth, and computing at the same time.
//!
//! A collective cannot move its data before its last rank has begun. So the time of a rank in it is a wait, until the last
//! rank began, and the transfer after that. Both are known if all ranks are in the recording, on clocks that can be compared.
//! Collectives are matched by communicator, function and number (`Numbering`), and messages by their two ranks. Bandwidth is
//! size by transfer. Where the wait is not known, it is size by the whole time, which is the least that it can be.

mod batches;
mod groups;
mod overlap;
mod part_times;
mod rounds;
mod rows;
mod runs;
mod stages;
mod sums;
mod waited;

use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_recording::{StreamId, Task, TaskId, TimeRange, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::align::numbering::{NumberedCollective, Numbering};
use crate::collectives::{Collective, has_facts_of_counts};
use crate::columns::rows;
use crate::estimate::Estimate;
use crate::{AnalysisNeeds, Fold, TaskRole, Window};

use batches::{Batch, Batches};
use groups::Groups;
use overlap::Overlaps;
use part_times::{SplitTime, measured};
use rounds::{Member, Rounds};
use runs::RunList;
use stages::Stages;
use sums::{PartOf, PartScope, Sums};

pub use rows::{CollectiveStats, GroupStats, LinkStats, RankStats, StageStats};
pub use runs::{CollectiveRun, CollectiveRuns, RunGroup, RunTime};

/// The communication of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Communication {
    /// In the order of their first use.
    #[serde(serialize_with = "rows")]
    pub groups: Vec<GroupStats>,
    /// By time, longest first.
    #[serde(serialize_with = "rows")]
    pub collectives: Vec<CollectiveStats>,
    /// By group and rank.
    #[serde(serialize_with = "rows")]
    pub ranks: Vec<RankStats>,
    /// Pairs of ranks with messages, the slowest first.
    #[serde(serialize_with = "rows")]
    pub links: Vec<LinkStats>,
    /// Ranks that are the stages of a pipeline, by group and stage.
    #[serde(serialize_with = "rows")]
    pub stages: Vec<StageStats>,
}

/// Sums up the communication of a recording.
#[derive(Debug, Default)]
pub struct CommunicationFold {
    range: Option<TimeRange>,
    numbering: Numbering,
    groups: Groups,
    rounds: Rounds,
    overlaps: Overlaps,
    sums: Sums,
    batches: Batches,
    stages: Stages,
    has_facts: Option<bool>,
    /// Each collective, where they are wanted one by one.
    runs: Option<RunList>,
}

impl CommunicationFold {
    /// Of collectives that overlap a range of time.
    pub fn within(range: Option<TimeRange>) -> Self {
        Self {
            range,
            ..Self::default()
        }
    }

    /// Takes the computing of a window, and returns its collectives in their order.
    fn collectives(&mut self, window: &Window<'_>) -> Vec<TaskId> {
        let trace = window.trace;
        let mut found = Vec::new();
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in window.stream_tasks(stream) {
                let task = trace.task(id);
                self.extend(trace, task);
                if !trace.runs(task) || TaskRole::of(trace, task) != TaskRole::Work {
                    continue;
                }
                match task.kind {
                    TaskKind::Collective => found.push(id),
                    TaskKind::Memcpy | TaskKind::Memset => {}
                    _ => self.overlaps.compute(device(trace, task), task.time),
                }
            }
        }
        found.sort_by_key(|id| (window.keys.task(*id), *id));
        found
    }

    /// Takes the time of a task into that of its process.
    fn extend(&mut self, trace: &Trace, task: &Task) {
        let is_counted = |time: &TimeRange| self.range.is_none_or(|range| range.overlaps(*time));
        let time = task.time.map(|it| TimeRange::new(it.begin, it.end));
        if let Some(time) = time.filter(is_counted) {
            self.stages.task(trace.stream(task.stream).process, time);
        }
    }

    fn collective(&mut self, trace: &Trace, id: TaskId) {
        let task = trace.task(id);
        let call = trace.call(task.call);
        let mut messages = self.numbering.messages(trace, task);
        let single = match messages.len() {
            1 => messages.pop(),
            _ => None,
        };
        let size = single.as_ref().map(|it| it.round.bytes);
        let numbered = single.or_else(|| self.numbering.number(trace, task));
        let has_facts = self
            .has_facts
            .get_or_insert_with(|| has_facts_of_counts(trace));
        let has_facts = *has_facts;
        if task.untimed == Untimed::InGroup {
            // The end of the group counts for it.
            return;
        }
        let process = trace.stream(task.stream).process;
        let first = numbered.as_ref().or(messages.first());
        let of_group = first.and_then(|it| self.comm(it)).map(|comm| comm.handle);
        let collective = Collective::of(trace, call);
        let Some(collective) = collective.or_else(|| of_group.map(Collective::of_messages)) else {
            return;
        };
        let group = self.groups.of(
            &self.numbering,
            (process, collective.comm),
            numbered.as_ref().or(messages.first()),
        );
        let ranks = self.groups.size(group);
        let mut part = PartOf {
            scope: PartScope::Call,
            group,
            function: self.sums.function(trace.task_name(task)),
            process,
            link: self.link(numbered.as_ref()),
            size: size.unwrap_or_else(|| collective.size(ranks)),
            bus_factor: match size {
                Some(_) => Some(1.0),
                None => collective.bus_factor(ranks),
            },
        };
        if !messages.is_empty() {
            let sizes = messages.iter().map(|it| it.round.bytes);
            part.scope = PartScope::Batch;
            part.size = sizes.sum();
            part.bus_factor = None;
        }
        let run = self.runs.as_mut().map(|runs| {
            let number = numbered.as_ref().map(|it| it.round.number);
            runs.add(id, (collective.comm, number), &part)
        });
        let is_counted = self
            .range
            .is_none_or(|range| range.overlaps(trace.extent(task)));
        if is_counted {
            self.sums.call(part, task.time);
            let single = numbered.as_ref().filter(|_| part.link.is_some());
            self.pass(group, single.into_iter().chain(&messages));
        }
        if let Some(time) = task.time.filter(|_| is_counted) {
            self.overlaps.communicate(device(trace, task), part, time);
        }
        let Some(time) = task.time.filter(|_| ranks.is_some()) else {
            return;
        };
        let process = trace.process(process);
        let member = |part: PartOf, numbered: &NumberedCollective| Member {
            part: is_counted.then_some(part),
            rank: u64::MAX,
            time,
            clock: (process.clock, process.clock_error),
            shape: numbered.round.shape,
            share: collective.own_share(has_facts),
            run: None,
            batch: None,
        };
        if let Some(numbered) = numbered {
            let member = Member {
                run,
                ..member(part, &numbered)
            };
            self.join(&numbered, group, member);
        }
        if messages.is_empty() {
            return;
        }
        let batch = self.batches.add(Batch {
            part: is_counted.then_some(part),
            run,
            begin: time.begin,
            whole: measured(&time),
            left: messages.len(),
            wait: Estimate::default(),
        });
        for numbered in &messages {
            let part = PartOf {
                scope: PartScope::InBatch,
                link: self.link(Some(numbered)),
                size: numbered.round.bytes,
                ..part
            };
            if is_counted {
                self.sums.call(part, Some(time));
                self.overlaps.communicate(device(trace, task), part, time);
            }
            let member = Member {
                batch: Some(batch),
                ..member(part, numbered)
            };
            self.join(numbered, group, member);
        }
    }

    /// Takes the messages of a call for the order of the ranks.
    fn pass<'a>(&mut self, group: usize, messages: impl Iterator<Item = &'a NumberedCollective>) {
        let mut rank = None;
        let mut links = Vec::new();
        for message in messages {
            rank = self.comm(message).map(|it| it.rank);
            links.extend(self.link(Some(message)));
        }
        if let Some(rank) = rank {
            self.stages.call((group, rank), &links);
        }
    }

    /// Adds a rank to its collective. If it was the last one that was missing, the waits are known.
    fn join(&mut self, numbered: &NumberedCollective, group: usize, member: Member) {
        let Some(comm) = self.comm(numbered) else {
            return;
        };
        let member = Member {
            rank: comm.rank,
            ..member
        };
        let (size, lane) = (comm.size, comm.lanes.get(numbered.lane));
        let Some(lane) = lane else { return };
        let (size, lane) = match lane.peers {
            Some((from, to)) => (2, (String::new(), from, to)),
            None => (size, (lane.function.clone(), 0, 0)),
        };
        let number = numbered.round.number;
        let complete = self.rounds.join((group, lane), number, member, size);
        let Some(split) = complete.and_then(|it| it.split()) else {
            return;
        };
        self.sums.split(group, &split);
        for (part, begin, split) in &split.messages {
            self.stages.wait((group, part.process), *begin, split);
        }
        if let Some(runs) = &mut self.runs {
            runs.split(&split);
        }
        for (number, wait) in split.batches {
            if let Some((batch, split)) = self.batches.take(number, wait) {
                self.split_batch(&batch, &split);
            }
        }
    }

    /// Takes the wait of a call with several messages.
    fn split_batch(&mut self, batch: &Batch, split: &SplitTime) {
        if let Some(part) = batch.part {
            self.sums.split_call(part, split);
            self.stages
                .wait((part.group, part.process), batch.begin, split);
        }
        if let Some((runs, run)) = self.runs.as_mut().zip(batch.run) {
            runs.split_run(run, split);
        }
    }

    fn comm(&self, numbered: &NumberedCollective) -> Option<&crate::align::Comm> {
        let participant = self.numbering.participants.get(&numbered.process)?;
        participant.comms.get(numbered.comm)
    }

    /// The ranks of a message, and whether the first one is this one.
    fn link(&self, numbered: Option<&NumberedCollective>) -> Option<(u64, u64)> {
        let numbered = numbered?;
        self.comm(numbered)?.lanes.get(numbered.lane)?.peers
    }
}

impl Fold for CommunicationFold {
    type Answer = Communication;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        self.numbering.take(window);
        for id in self.collectives(window) {
            self.collective(trace, id);
        }
        let until = match window.part.is_last {
            true => i64::MAX,
            false => window.part.until,
        };
        let sums = &mut self.sums;
        self.overlaps
            .settle(until, |part, overlap| sums.overlap(part, overlap));
        if window.part.is_last {
            self.sums.describe(trace);
        }
    }

    fn finish(mut self) -> Communication {
        self.sums.members = self.groups.members();
        let groups = self.groups.rows(&self.numbering, &self.sums);
        rows::of(groups, &self.sums, &self.stages)
    }
}

/// Numbers of the process and the device of a task.
fn device(trace: &Trace, task: &Task) -> (u32, u32) {
    let stream = trace.stream(task.stream);
    (stream.process.0, stream.device)
}
