//! Replayed graphs: their captured nodes, and the replays with nodes to join.
//!
//! The nodes of a graph run on internal streams, which no call names. The first replays show which ones
//! (`bind.rs`); from then on those streams are lanes like any other, and nodes are their expected work.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ascend_trace_format::record::ActivityKind;
use ascend_trace_format::time::HostNs;
use ascend_trace_recording::TimeRange;

use super::lane::{ExpectedWork, LaneWork, LogLane, OwnerKey, ReplayStretch, SyncCall};
use super::replays::Replays;

/// Steps of a graph that are kept while it is not known where its nodes run, before the first ones are given up.
const MOST_STEPS: usize = 1 << 14;
/// Nodes of a graph, and of all graphs of a process.
const MOST_NODES: usize = 1 << 20;

/// Where a stream of a device is: the device, and the stream's number.
pub(super) type DeviceStream = (u32, u32);

/// A node with entries in the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedNode {
    pub(super) number: u32,
    /// The serial of the stream that was captured.
    pub(super) branch: u32,
    pub(super) kind: ActivityKind,
}

/// A replay was submitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplayLaunch {
    /// Stream and sequence of the task; none when the call waited for the replay itself.
    pub(super) task: Option<(u32, u32)>,
    pub(super) begin: i64,
    pub(super) end: i64,
    /// Others may have run at the same time, or before it: nodes cannot be distinguished.
    pub(super) is_mixed: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum GraphStep {
    Replay(ReplayLaunch),
    Sync(SyncCall),
}

impl GraphStep {
    const fn launch(&self) -> Option<&ReplayLaunch> {
        match self {
            Self::Replay(launch) => Some(launch),
            Self::Sync(_) => None,
        }
    }
}

/// Nodes that run one after another on a stream of the graph's.
#[derive(Clone, Debug)]
pub(super) struct GraphBranch {
    pub(super) place: DeviceStream,
    /// Their numbers, 0 where that is not certain, and their kinds.
    pub(super) nodes: Vec<(u32, ActivityKind)>,
}

impl ReplayLaunch {
    const fn mixed(self) -> Self {
        Self {
            task: None,
            is_mixed: true,
            ..self
        }
    }
}

/// Replays on a stream that nothing has waited for.
#[derive(Clone, Copy, Debug)]
struct UnsyncedReplays {
    since: i64,
    last: ReplayLaunch,
}

#[derive(Debug, Default)]
pub(super) struct LoggedGraph {
    pub(super) device: u32,
    /// In the order of their numbers.
    nodes: BTreeMap<u32, LoggedNode>,
    /// Events that were recorded in it, and that it waits for.
    recorded: BTreeSet<u32>,
    awaited: BTreeSet<u32>,
    /// A part of it takes time and is not in the log: a replay may be longer than its entries.
    is_longer: bool,
    /// Streams with replays that nothing has waited for, each with the last one; none for those that a call waits for.
    undone: BTreeMap<Option<u32>, UnsyncedReplays>,
    /// Nobody can say which of these runs first.
    is_mixed: bool,
    /// From here on, no other entries of it, or of a graph that had its streams before, may have run.
    floor: i64,
    born: i64,
    /// Replays of it were given up.
    pub(super) has_lost: bool,
    /// Possible time of these: their remaining entries on streams of the device have no owner.
    lost: Option<TimeRange>,
    /// What happened to it, until it is known where its nodes run.
    steps: VecDeque<GraphStep>,
    /// Number of steps at the end of the last pass over all channels: their nodes and entries have
    /// arrived as well.
    settled: usize,
    branches: Option<Vec<GraphBranch>>,
    /// Number of nodes that its lanes have received.
    announced: u32,
    /// When it was destroyed.
    gone: Option<i64>,
}

impl LoggedGraph {
    /// A task was captured that the log will contain.
    pub(super) fn add(&mut self, node: LoggedNode, at: i64) {
        // It had its streams when the first one was captured.
        let is_first = self.nodes.is_empty();
        self.born = if is_first { at } else { self.born.min(at) };
        if self.nodes.len() < MOST_NODES {
            self.nodes.insert(node.number, node);
        }
    }

    /// A record was captured.
    pub(super) fn records(&mut self, event: u32) {
        self.recorded.insert(event);
    }

    /// A wait was captured.
    pub(super) fn waits(&mut self, event: u32) {
        self.awaited.insert(event);
    }

    /// A captured task that the log does not contain, and that may take time.
    pub(super) fn lengthen(&mut self) {
        self.is_longer = true;
    }

    /// Nodes that are in the log, stream by stream.
    pub(super) fn by_branch(&self) -> Vec<Vec<LoggedNode>> {
        let mut branches: BTreeMap<u32, Vec<LoggedNode>> = BTreeMap::new();
        for node in self.nodes.values() {
            branches.entry(node.branch).or_default().push(*node);
        }
        branches.into_values().collect()
    }

    /// Whether its nodes may be looked for.
    pub(super) fn is_open(&self) -> bool {
        self.branches.is_none() && !self.steps.is_empty()
    }

    /// An abandoned one stays: its remaining entries may look like another graph's.
    pub(super) fn is_over(&self) -> bool {
        let is_done = self.steps.is_empty() && self.undone.is_empty();
        self.gone.is_some() && is_done && self.loose().is_none()
    }

    /// Time of the replays with unknown streams; `None` without such replays.
    pub(super) fn loose(&self) -> Option<TimeRange> {
        let open = self.is_open().then(|| self.reach());
        let lost = self.lost.filter(|_| self.branches.is_none());
        let both = open.into_iter().chain(lost);
        both.reduce(TimeRange::hull)
    }

    /// How many replays may have run in a time.
    pub(super) fn replays_within(&self, time: TimeRange) -> usize {
        let is_lost = self.lost.is_some_and(|lost| lost.overlaps(time));
        if is_lost {
            return usize::MAX;
        }
        let launches = self.steps.iter().filter_map(GraphStep::launch);
        launches.filter(|launch| launch.begin <= time.end).count()
    }

    pub(super) fn destroy(&mut self, at: i64) {
        self.gone = Some(at);
    }

    /// The time in which it had internal streams.
    pub(super) fn life(&self) -> TimeRange {
        TimeRange::new(self.born, self.gone.unwrap_or(i64::MAX))
    }

    /// Where it runs, as far as that is known.
    pub(super) fn places(&self) -> impl Iterator<Item = DeviceStream> {
        let branches = self.branches.iter().flatten();
        branches.map(|branch| branch.place)
    }

    /// The first replays, up to each synchronisation that came after all before it; with `is_last` all that there are as
    /// well.
    pub(super) fn stretches(&self, is_last: bool) -> impl Iterator<Item = ReplayStretch> {
        let known = if is_last {
            self.steps.len()
        } else {
            self.settled
        };
        let stretch = |replays, span, next, is_last| ReplayStretch {
            replays,
            floor: self.floor.max(self.born),
            is_first: !self.has_lost,
            span,
            next,
            is_last,
        };
        let mut found = Vec::new();
        let mut replays = 0;
        let mut span: Option<TimeRange> = None;
        let nexts = self.begins_after();
        for (step, next) in self.steps.iter().zip(nexts).take(known) {
            match step {
                GraphStep::Replay(launch) => {
                    replays += 1;
                    let own = TimeRange::new(launch.begin, launch.end);
                    span = TimeRange::grown(span, own);
                }
                GraphStep::Sync(sync) => {
                    if let Some(all) = span.filter(|all| all.end <= sync.begin) {
                        let waited = TimeRange::new(all.begin, sync.end);
                        found.push(stretch(replays, waited, next, false));
                    }
                }
            }
        }
        let all = span.filter(|_| is_last);
        found.extend(all.map(|all| {
            let open = TimeRange::new(all.begin, i64::MAX);
            stretch(replays, open, i64::MAX, true)
        }));
        found.into_iter()
    }

    /// Of each step, when the earliest replay after it was submitted.
    fn begins_after(&self) -> Vec<i64> {
        let mut next = i64::MAX;
        let mut all: Vec<i64> = (self.steps.iter().rev())
            .map(|step| {
                let begin = step.launch().map_or(i64::MAX, |launch| launch.begin);
                let after = next;
                next = next.min(begin);
                after
            })
            .collect();
        all.reverse();
        all
    }

    /// A time by which all kept replays had ended, if known, and the begin of the first one.
    pub(super) fn reach(&self) -> TimeRange {
        let begins = self.steps.iter().filter_map(GraphStep::launch);
        let begins = begins.map(|launch| launch.begin);
        let end = match self.steps.back() {
            Some(GraphStep::Sync(sync)) => sync.end,
            _ => i64::MAX,
        };
        TimeRange::new(begins.min().unwrap_or(i64::MAX), end)
    }

    /// Gives up a part of the replays: a large one where there are many.
    pub(super) fn give_up_some(&mut self) {
        let kept = self.steps.len() - self.steps.len().div_ceil(64);
        while self.steps.len() > kept {
            self.give_up_stretch();
        }
    }

    /// Gives up the replays up to the first synchronisation after them.
    fn give_up_stretch(&mut self) {
        self.has_lost = true;
        let mut launches = Vec::new();
        let mut end = i64::MAX;
        while let Some(step) = self.steps.pop_front() {
            match step {
                GraphStep::Replay(launch) => launches.push(launch),
                GraphStep::Sync(_) if launches.is_empty() => {}
                GraphStep::Sync(sync) => {
                    let last = launches
                        .iter()
                        .map(|launch: &ReplayLaunch| launch.end)
                        .max();
                    // Not all of them need have been waited for.
                    if last.is_some_and(|last| last <= sync.begin) {
                        self.floor = self.floor.max(sync.end);
                        end = sync.end;
                        break;
                    }
                }
            }
        }
        let begin = launches.iter().map(|launch| launch.begin).min();
        let lost = begin.map(|begin| TimeRange::new(begin, end));
        self.lost = TimeRange::around([self.lost, lost]);
        self.settled = self.settled.min(self.steps.len());
    }

    pub(super) fn is_full(&self) -> bool {
        self.steps.len() > MOST_STEPS
    }

    /// All channels have been read.
    pub(super) fn note_settled(&mut self) {
        self.settled = self.steps.len();
    }

    /// Whether a replay runs after all that were submitted before it.
    fn is_in_order(&self, launch: &ReplayLaunch) -> bool {
        let stream = launch.task.map(|(stream, _)| stream);
        let order = |launch: &ReplayLaunch| launch.task.map(|(_, order)| order);
        self.undone.iter().all(|(other, undone)| {
            *other == stream && stream.is_some() && order(&undone.last) < order(launch)
        })
    }
}

/// What graphs lead to: lanes, and tasks that are made of nodes.
pub(super) struct JoinTargets<'p> {
    pub(super) lanes: &'p mut BTreeMap<DeviceStream, LogLane>,
    pub(super) replays: &'p mut Replays,
}

impl LoggedGraph {
    pub(super) fn replay(&mut self, serial: u32, launch: ReplayLaunch, ends: &mut JoinTargets<'_>) {
        self.is_mixed |= !self.is_in_order(&launch);
        let stream = launch.task.map(|(stream, _)| stream);
        let since = self.undone.get(&stream).map(|undone| undone.since);
        let undone = UnsyncedReplays {
            since: since.unwrap_or(launch.begin),
            last: launch,
        };
        self.undone.insert(stream, undone);
        if self.is_mixed {
            self.forget_tasks(serial, ends);
        }
        let launch = if self.is_mixed {
            launch.mixed()
        } else {
            launch
        };
        self.step(serial, GraphStep::Replay(launch), ends);
    }

    /// Without a later synchronisation, the nodes of replays cannot be assigned.
    fn forget_tasks(&mut self, serial: u32, ends: &mut JoinTargets<'_>) {
        let since = self.undone.values().map(|undone| undone.since).min();
        let since = since.unwrap_or(i64::MAX);
        let places: Vec<DeviceStream> = self.places().collect();
        for place in places {
            let lane = ends.lanes.entry(place).or_default();
            lane.forget_tasks(OwnerKey::Graph(serial), since);
        }
        for step in &mut self.steps {
            if let GraphStep::Replay(launch) = step
                && launch.begin >= since
            {
                *launch = launch.mixed();
            }
        }
    }

    /// A call has waited for a stream, or for the whole device.
    pub(super) fn sync(
        &mut self,
        serial: u32,
        (stream, sync): (Option<u32>, SyncCall),
        ends: &mut JoinTargets<'_>,
    ) {
        let before = self.undone.len();
        let is_meant = |on: Option<u32>| stream.is_none() || on == stream;
        if !self.undone.keys().any(|on| is_meant(*on)) {
            return;
        }
        self.undone
            .retain(|on, undone| !is_meant(*on) || undone.last.end > sync.begin);
        let is_clear = self.undone.is_empty() || !self.is_mixed && before == 1;
        self.is_mixed &= !self.undone.is_empty();
        if is_clear {
            self.step(serial, GraphStep::Sync(sync), ends);
        }
    }

    pub(super) fn is_undone(&self) -> bool {
        !self.undone.is_empty()
    }

    fn step(&mut self, serial: u32, step: GraphStep, ends: &mut JoinTargets<'_>) {
        match self.branches.take() {
            Some(branches) => {
                self.feed(serial, &branches, step, ends);
                self.branches = Some(branches);
            }
            None if self.nodes.is_empty() => {}
            None => self.steps.push_back(step),
        }
    }

    /// It is known where its nodes run.
    pub(super) fn bind(
        &mut self,
        serial: u32,
        branches: Vec<GraphBranch>,
        ends: &mut JoinTargets<'_>,
    ) {
        for step in std::mem::take(&mut self.steps) {
            self.feed(serial, &branches, step, ends);
        }
        self.settled = 0;
        self.branches = Some(branches);
    }

    fn feed(
        &mut self,
        serial: u32,
        branches: &[GraphBranch],
        step: GraphStep,
        ends: &mut JoinTargets<'_>,
    ) {
        let launch = match step {
            GraphStep::Replay(launch) => launch,
            GraphStep::Sync(sync) => {
                for branch in branches {
                    ends.lanes.entry(branch.place).or_default().sync(sync);
                }
                return;
            }
        };
        let nodes = branches.iter().map(|branch| branch.nodes.len());
        if let Some(task) = launch.task {
            let is_complete = !self.is_longer && self.awaited.is_subset(&self.recorded);
            ends.replays
                .expect(task, HostNs::new(launch.begin), nodes.sum(), is_complete);
        }
        for branch in branches {
            let lane = ends.lanes.entry(branch.place).or_default();
            for (number, kind) in &branch.nodes {
                let node = ExpectedWork {
                    work: LaneWork {
                        task: launch.task,
                        node: Some(if launch.is_mixed { 0 } else { *number }),
                    },
                    begin: launch.begin,
                    end: launch.end,
                    kind: *kind,
                    function: None,
                    done: None,
                };
                lane.expect(OwnerKey::Graph(serial), self.announced, node);
                self.announced = self.announced.wrapping_add(1);
            }
        }
    }
}
