//! State of the log of one process, and its joins.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::{AnchorSource, ArgPart, Role, TaskKind, Untimed, part_in};
use ascend_trace_format::record::{ActivityKind, Counter};
use ascend_trace_recording::GraphRef;
use ascend_trace_recording::rows::{ActivityRow, AnchorRow, CallRow, CounterRow, Row, TaskRow};

use super::added::Added;
use super::clock_offset::LogClockOffset;
use super::entry::{self, LogEntry, LoggedSpan};
use super::graphs::{DeviceStream, JoinTargets, LoggedGraph, LoggedNode, ReplayLaunch};
use super::lane::{ExpectationPhase, ExpectedWork, LaneWork, LogLane, OwnerKey, SyncCall};
use super::patterns::OperatorPatterns;
use super::progress::BatchProgress;
use super::replays::{ReplayState, Replays};
use crate::clock::WallClock;
use crate::tables;

/// Largest number of kept tasks of a stream without a known number: the number is asked for with the
/// first.
const MOST_EARLY: usize = 1 << 12;
/// Largest number of kept replays without a time.
const MOST_REPLAYS: usize = 1 << 20;

/// One process.
#[derive(Debug, Default)]
pub(super) struct LoggedProcess {
    /// A bit for each kind that the log contains.
    pub(super) kinds: u32,
    pub(super) is_alone: bool,
    /// By device and the stream's number.
    pub(super) lanes: BTreeMap<DeviceStream, LogLane>,
    /// Where a stream is, by its serial.
    pub(super) places: BTreeMap<u32, DeviceStream>,
    /// Where there is a stream of the program's now, and its serial.
    pub(super) taken: BTreeMap<DeviceStream, u32>,
    /// What streams have been given to do before their numbers are known.
    pub(super) early: BTreeMap<u32, Vec<(u32, ExpectedWork)>>,
    /// By serial.
    pub(super) graphs: BTreeMap<u32, LoggedGraph>,
    /// Graphs with replays that nothing has waited for.
    pub(super) undone: BTreeSet<u32>,
    /// Some graphs ended before all their entries were joined.
    pub(super) has_lost_graphs: bool,
    pub(super) replays: Replays,
    /// Replays without a reported time, or with an unknown one, by stream and sequence.
    pub(super) timeless: BTreeSet<(u32, u32)>,
    pub(super) patterns: OperatorPatterns,
    /// Events that link graphs to other work.
    pub(super) external: BTreeSet<u32>,
    /// Where the wall clock stood when the log was begun.
    pub(super) comparison: WallClock,
    pub(super) axes: BTreeMap<u32, LogClockOffset>,
    /// By device.
    pub(super) progress: BTreeMap<u32, BatchProgress>,
    pub(super) added: Added,
    pub(super) counts: JoinCounts,
    pub(super) reported: JoinCounts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JoinCounts {
    pub(super) joined: u64,
    pub(super) loose: u64,
    pub(super) mismatches: u64,
}

impl LoggedProcess {
    /// The log's kind of a task, if the log contains it.
    fn logged(&self, kind: TaskKind) -> Option<ActivityKind> {
        let there = |kind: &ActivityKind| self.kinds & 1 << kind.code() != 0;
        let kind = match kind {
            TaskKind::Kernel => ActivityKind::Kernel,
            TaskKind::Collective => ActivityKind::Communication,
            _ => return None,
        };
        Some(kind).filter(there)
    }

    pub(super) fn stream(&mut self, serial: u32, place: DeviceStream) {
        if self.places.insert(serial, place) == Some(place) {
            return;
        }
        self.taken.insert(place, serial);
        let lane = self.lanes.entry(place).or_default();
        for (order, task) in self.early.remove(&serial).into_iter().flatten() {
            lane.expect(OwnerKey::Stream(serial), order, task);
        }
    }

    fn expect(&mut self, serial: u32, order: u32, task: ExpectedWork) {
        match self.places.get(&serial) {
            Some(place) => {
                let lane = self.lanes.entry(*place).or_default();
                lane.expect(OwnerKey::Stream(serial), order, task);
            }
            None => {
                let early = self.early.entry(serial).or_default();
                if early.len() < MOST_EARLY {
                    early.push((order, task));
                }
            }
        }
    }

    /// A call submitted a task, be it to run or to become a node of a graph.
    pub(super) fn task(&mut self, row: &CallRow, task: &TaskRow, serial: u32, role: Role) {
        let untimed = Untimed::from_code(task.untimed);
        let graph = row.graph.filter(|graph| graph.index > 0);
        match (untimed, graph) {
            (Some(Untimed::Captured | Untimed::Bound), Some(graph)) => {
                self.node(row, task, (graph, serial), role);
            }
            (
                Some(
                    Untimed::Captured
                    | Untimed::Bound
                    | Untimed::Failed
                    | Untimed::HostCopy
                    | Untimed::InGroup,
                ),
                _,
            ) => {}
            (_, Some(graph)) => {
                let device = self.places.get(&serial).map(|place| place.0);
                let launch = ReplayLaunch {
                    task: Some((serial, task.sequence)),
                    begin: row.begin_ns,
                    end: row.end_ns,
                    is_mixed: false,
                };
                self.replay(graph, device.or(row.device.map(u32::from)), launch);
            }
            _ => {
                let kind = TaskKind::from_code(task.kind).and_then(|kind| self.logged(kind));
                let task = kind.map(|kind| ExpectedWork {
                    work: LaneWork {
                        task: Some((serial, task.sequence)),
                        node: None,
                    },
                    begin: row.begin_ns,
                    end: row.end_ns,
                    kind,
                    function: Some(row.function),
                    done: None,
                });
                let order = |task: &ExpectedWork| task.work.task.map_or(0, |(_, order)| order);
                task.into_iter()
                    .for_each(|task| self.expect(serial, order(&task), task));
            }
        }
    }

    /// A task became a node of a graph.
    fn node(&mut self, row: &CallRow, task: &TaskRow, (of, branch): (GraphRef, u32), role: Role) {
        let kind = TaskKind::from_code(task.kind);
        let logged = kind.and_then(|kind| self.logged(kind));
        let event = row.event.map(|(serial, _)| serial);
        let is_external =
            is_external(row) || event.is_some_and(|serial| self.external.contains(&serial));
        let graph = self.graphs.entry(of.serial).or_default();
        match (logged, role, event) {
            (Some(kind), ..) => {
                let node = LoggedNode {
                    number: of.index,
                    branch,
                    kind,
                };
                graph.add(node, row.begin_ns);
            }
            (None, Role::RecordEvent, Some(event)) if !is_external => graph.records(event),
            (None, Role::WaitEvent, Some(event)) if !is_external => graph.waits(event),
            _ => graph.lengthen(),
        }
    }

    /// A call ran a graph and waited for it.
    pub(super) fn execute(&mut self, row: &CallRow, role: Role) {
        let graph = row.graph.filter(|graph| graph.index > 0);
        let Some(graph) = graph.filter(|_| role == Role::ExecuteGraph) else {
            return;
        };
        let launch = ReplayLaunch {
            task: None,
            begin: row.begin_ns,
            end: row.begin_ns,
            is_mixed: false,
        };
        self.replay(graph, row.device.map(u32::from), launch);
        let sync = SyncCall {
            begin: row.begin_ns,
            end: row.end_ns,
        };
        self.sync_graphs((None, sync), |serial, _| serial == graph.serial);
    }

    fn replay(&mut self, of: GraphRef, device: Option<u32>, launch: ReplayLaunch) {
        self.timeless.extend(launch.task);
        let graph = self.graphs.entry(of.serial).or_default();
        graph.device = device.unwrap_or(graph.device);
        let mut ends = JoinTargets {
            lanes: &mut self.lanes,
            replays: &mut self.replays,
        };
        graph.replay(of.serial, launch, &mut ends);
        self.undone.insert(of.serial);
    }

    /// A successful call has waited for this, or ended it.
    pub(super) fn done(&mut self, row: &CallRow, role: Role) {
        let sync = SyncCall {
            begin: row.begin_ns,
            end: row.end_ns,
        };
        match (role, row.stream) {
            (Role::SyncStream, Some(serial)) => {
                let place = self.places.get(&serial);
                if let Some(lane) = place.and_then(|place| self.lanes.get_mut(place)) {
                    lane.sync(sync);
                }
                self.sync_graphs((Some(serial), sync), |_, _| true);
            }
            (Role::SyncDevice, _) => {
                let device = row.device.map(u32::from);
                let taken = &self.taken;
                let lanes = self.lanes.iter_mut();
                lanes
                    .filter(|(place, _)| Some(place.0) == device && taken.contains_key(place))
                    .for_each(|(_, lane)| lane.sync(sync));
                self.sync_graphs((None, sync), |_, graph| Some(graph.device) == device);
            }
            (Role::DestroyStream, Some(serial)) => {
                if let Some(place) = self.places.get(&serial)
                    && self.taken.get(place) == Some(&serial)
                {
                    self.taken.remove(place);
                    if let Some(lane) = self.lanes.get_mut(place) {
                        lane.leave(OwnerKey::Stream(serial), row.begin_ns);
                    }
                }
            }
            (Role::DestroyGraph, _) => {
                let serial = row.graph.map(|graph| graph.serial);
                serial
                    .into_iter()
                    .for_each(|serial| self.destroyed(serial, row.begin_ns));
            }
            _ => {}
        }
    }

    /// A graph was destroyed: its streams have other owners from now on.
    fn destroyed(&mut self, serial: u32, at: i64) {
        let Some(graph) = self.graphs.get_mut(&serial) else {
            return;
        };
        graph.destroy(at);
        for place in graph.places() {
            let lane = self.lanes.entry(place).or_default();
            lane.leave(OwnerKey::Graph(serial), at);
        }
    }

    /// Replays of these graphs have been waited for.
    fn sync_graphs(
        &mut self,
        sync: (Option<u32>, SyncCall),
        is_meant: impl Fn(u32, &LoggedGraph) -> bool,
    ) {
        let mut ends = JoinTargets {
            lanes: &mut self.lanes,
            replays: &mut self.replays,
        };
        let graphs = &mut self.graphs;
        self.undone.retain(|serial| match graphs.get_mut(serial) {
            Some(graph) if is_meant(*serial, graph) => {
                graph.sync(*serial, sync, &mut ends);
                graph.is_undone()
            }
            Some(_) => true,
            None => false,
        });
    }

    pub(super) fn settle(&mut self, process: u32, is_last: bool, rows: &mut Vec<Row>) {
        match is_last {
            true => self.settle_all(process, rows),
            false => {
                self.bind(false, false);
                self.settle_lanes(process, ExpectationPhase::Growing, rows);
            }
        }
        let lost = &mut self.has_lost_graphs;
        self.graphs.retain(|_, graph| {
            graph.note_settled();
            *lost |= graph.is_over() && graph.has_lost;
            !graph.is_over()
        });
        self.give_up_replays(process, is_last, rows);
        self.added.settle(process, &self.axes, rows);
        self.tell_counts(process, rows);
    }

    /// Nobody will say when these replays ran: at last of none that are left.
    fn give_up_replays(&mut self, process: u32, is_last: bool, rows: &mut Vec<Row>) {
        let kept = if is_last { 0 } else { MOST_REPLAYS };
        while self.timeless.len() > kept
            && let Some(task) = self.timeless.pop_first()
        {
            if self.is_alone {
                rows.push(Row::TaskTime(entry::time(process, task, None)));
            }
        }
    }

    /// All entries have arrived. A stream of a graph may be another graph's after it.
    fn settle_all(&mut self, process: u32, rows: &mut Vec<Row>) {
        loop {
            let before = rows.len();
            self.settle_lanes(process, ExpectationPhase::Complete, rows);
            let is_news = rows.len() > before || self.bind(true, false);
            if !is_news && !self.bind(true, true) {
                break;
            }
        }
        self.settle_lanes(process, ExpectationPhase::Last, rows);
    }

    fn settle_lanes(&mut self, process: u32, phase: ExpectationPhase, rows: &mut Vec<Row>) {
        for ((device, acl_id), lane) in &mut self.lanes {
            let axis = self.axes.entry(*device);
            let axis = axis.or_insert_with(|| LogClockOffset::near(self.comparison));
            lane.settle(axis, phase, &mut |joined| {
                let row = |entry: &LogEntry, work: Option<LaneWork>, part: usize| {
                    let activity = &entry.activity;
                    let task = work.and_then(|work| work.task);
                    Row::Activity(ActivityRow {
                        process,
                        device: *device,
                        acl_id: *acl_id,
                        stream: task.map(|(serial, _)| serial),
                        sequence: task.map(|(_, sequence)| sequence),
                        part: part as u32,
                        kind: activity.kind.code(),
                        correlation: activity.correlation,
                        name: activity.name,
                        begin_ns: activity.begin_ns,
                        end_ns: activity.end_ns,
                        node: work.and_then(|work| work.node),
                    })
                };
                let entries = joined.entries.iter().enumerate();
                rows.extend(entries.map(|(part, entry)| row(entry, joined.work, part)));
                // Where the log has lost entries, a call's entries may not be all that it launched.
                let is_lossy = self.counts.mismatches > 0;
                let function = joined.function.filter(|_| !joined.entries.is_empty());
                let is_torn = function.is_some_and(|function| {
                    self.patterns.is_part(function, joined.entries) && is_lossy
                });
                let span = LoggedSpan::of(joined.entries).filter(|_| !is_torn);
                let is_kernel = joined
                    .entries
                    .iter()
                    .all(|entry| entry.activity.kind == ActivityKind::Kernel);
                let own = joined
                    .work
                    .filter(|work| work.node.is_none() && is_kernel && !self.is_alone);
                if let (Some(task), Some(span)) = (own.and_then(|work| work.task), span) {
                    self.added.logged(task, *device, span, joined.launched);
                }
                let timed = joined.work.and_then(|work| match (work.task, work.node) {
                    (Some(task), None) => Some((task, span)),
                    (Some(task), Some(_)) => {
                        let done = self.replays.node(task, span)?;
                        let bound = anchor(process, *device, done).filter(|_| self.is_alone);
                        rows.extend(bound.map(Row::Anchor));
                        Some((task, done.time()))
                    }
                    (None, _) => None,
                });
                if let Some((task, span)) = timed.filter(|_| self.is_alone) {
                    self.timeless.remove(&task);
                    rows.push(Row::TaskTime(entry::time(process, task, span)));
                }
                let count = joined.entries.len() as u64;
                match joined.work {
                    Some(_) => self.counts.joined += count,
                    None => self.counts.loose += count,
                }
                self.counts.mismatches += u64::from(joined.is_mismatch);
            });
        }
    }

    fn tell_counts(&mut self, process: u32, rows: &mut Vec<Row>) {
        let all = [
            (
                Counter::JoinedEntries,
                self.counts.joined,
                self.reported.joined,
            ),
            (
                Counter::LooseEntries,
                self.counts.loose,
                self.reported.loose,
            ),
            (
                Counter::LogMismatches,
                self.counts.mismatches,
                self.reported.mismatches,
            ),
        ];
        for (what, value, _) in all.into_iter().filter(|(_, now, reported)| now != reported) {
            rows.push(Row::Counter(CounterRow {
                process,
                what: what.code().into(),
                value,
            }));
        }
        self.reported = self.counts;
    }
}

/// Bounds of the log's clock from a replay without a time: its nodes ran after its submission, and
/// before it was seen done.
fn anchor(process: u32, device: u32, done: ReplayState) -> Option<AnchorRow> {
    let ReplayState::Part(submitted, span) = done else {
        return None;
    };
    Some(AnchorRow {
        process,
        device,
        before_ns: submitted.ns(),
        after_ns: span.seen.minus(span.end.since(span.begin)).ns(),
        device_ns: span.begin.ns(),
        source: AnchorSource::Log.code(),
    })
}

/// Whether a call submits a record or wait that links a graph to other work.
fn is_external(row: &CallRow) -> bool {
    /// `ACL_EVENT_RECORD_EXTERNAL` and `ACL_EVENT_WAIT_EXTERNAL`.
    const EXTERNAL: u64 = 1;
    let function = tables::FUNCTIONS.get(usize::from(row.function));
    let flags = function.and_then(|function| part_in(function.parts, ArgPart::Flags));
    let flags = flags.and_then(|place| row.args.get(usize::from(place)));
    flags == Some(&EXTERNAL)
}

#[cfg(test)]
#[path = "replayed_tests.rs"]
mod replayed_tests;
