//! The hardware's log: which of its entries are of which tasks.
//!
//! An entry says on which stream it ran and which call submitted it, by a number of msPTI's that nobody else
//! knows. So entries are joined to tasks by their order on a stream, stretch by stretch: from one
//! synchronisation to another where it is certain which entries lie between them. A stretch is joined only
//! when it has an entry, or several of one call, for each task, of the task's kind, none of which began before its
//! task was submitted. All others stay work of their stream that no task is known for. So an entry that is lost makes
//! a stretch unknown, and nothing behind it wrong. Nodes of a graph that is replayed are joined in the same way, to the
//! task that replays it, once it is known on which streams of the device they run.

mod axis;
mod bind;
mod binding;
mod entry;
mod graphs;
mod lane;
mod matching;
mod patterns;
mod progress;
mod replays;

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::{AnchorSource, Part, Role, TaskKind, Untimed, part_in};
use ascend_trace_format::record::{ActivityKind, Counter, LogState, told};
use ascend_trace_format::time::Ticks;
use ascend_trace_recording::GraphRef;
use ascend_trace_recording::rows::{
    ActivityRow, AnchorRow, CallRow, CounterRow, EventRow, LogRow, Row, StreamRow, TaskRow,
};

use super::clock::{self, Clock, WallClock};
use crate::tables;
use axis::Axis;
use entry::{Entry, Span};
use graphs::{Ends, Graph, Launch, Node, Place};
use lane::{Expected, Lane, Owner, Phase, Sync, Work};
use patterns::Patterns;
use progress::Progress;
use replays::{Done, Replays};

/// So many tasks of a stream are kept whose number is not known yet: it is asked for with the first.
const MOST_EARLY: usize = 1 << 12;
/// So many replays are kept that have no time yet.
const MOST_REPLAYS: usize = 1 << 20;

/// All processes whose log is read.
#[derive(Debug, Default)]
pub(super) struct Hardware {
    processes: BTreeMap<u32, Process>,
    /// How it stood with the log of any process, and what msPTI answered.
    states: BTreeSet<(u8, u32)>,
    /// Whether logs are to be read at all.
    is_wanted: bool,
    /// What processes have told whose log is not known of: another thread has begun it, whose channel is read later. By
    /// pass over the channels, this one and the last.
    early: [Vec<(u32, Row)>; 2],
}

/// One process.
#[derive(Debug, Default)]
struct Process {
    /// A bit for each kind that the log tells of.
    kinds: u32,
    is_alone: bool,
    /// By device and the stream's number.
    lanes: BTreeMap<Place, Lane>,
    /// Where a stream is, by its serial.
    places: BTreeMap<u32, Place>,
    /// Where there is a stream of the program's now, and its serial.
    taken: BTreeMap<Place, u32>,
    /// What streams have been given to do before their numbers are known.
    early: BTreeMap<u32, Vec<(u32, Expected)>>,
    /// By serial.
    graphs: BTreeMap<u32, Graph>,
    /// Graphs with replays that nothing has waited for.
    undone: BTreeSet<u32>,
    /// Graphs are gone of which not all was joined.
    has_lost_graphs: bool,
    replays: Replays,
    /// Replays, by stream and sequence, of which nobody has said when they ran, or that nobody knows.
    untold: BTreeSet<(u32, u32)>,
    patterns: Patterns,
    /// Events that link graphs to what is around them.
    external: BTreeSet<u32>,
    /// Where the wall clock stood when the log was begun.
    comparison: WallClock,
    axes: BTreeMap<u32, Axis>,
    /// By device.
    progress: BTreeMap<u32, Progress>,
    counts: Counts,
    told: Counts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    joined: u64,
    loose: u64,
    mismatches: u64,
}

impl Hardware {
    /// How it stands with the log of a process from now on.
    pub(super) fn log(&mut self, told: &told::Log, process: u32) -> Row {
        self.states.insert((told.state.code(), told.code));
        if told.state == LogState::On {
            let own = self.processes.entry(process).or_default();
            own.kinds = told.kinds;
            own.is_alone = told.is_alone;
            own.comparison = clock::comparison();
            self.take_early(process);
        }
        Row::Log(LogRow {
            process,
            state: told.state.code(),
            code: told.code,
            kinds: told.kinds,
            is_alone: told.is_alone,
        })
    }

    pub(super) fn want(&mut self) {
        self.is_wanted = true;
    }

    /// A process has told of something.
    pub(super) fn told(&mut self, row: &Row, process: u32) {
        if !self.is_wanted || !matches!(row, Row::Stream(_) | Row::Event(_) | Row::Call(_)) {
            return;
        }
        if !self.processes.contains_key(&process) {
            self.early[0].push((process, row.clone()));
            return;
        }
        match row {
            Row::Stream(row) => self.stream(row),
            Row::Event(row) => self.event(row),
            Row::Call(row) => self.call(row, process),
            _ => {}
        }
    }

    /// The log of a process was begun.
    fn take_early(&mut self, process: u32) {
        let [this, last] = std::mem::take(&mut self.early);
        for (pass, rows) in [last, this].into_iter().enumerate() {
            for (of, row) in rows {
                match of == process {
                    true => self.told(&row, process),
                    false => self.early[1 - pass].push((of, row)),
                }
            }
        }
    }

    /// A stream's number is known.
    fn stream(&mut self, row: &StreamRow) {
        let Some(id) = row.acl_id.and_then(|id| u32::try_from(id).ok()) else {
            return;
        };
        let Some(own) = self.processes.get_mut(&row.process) else {
            return;
        };
        own.stream(row.serial, (row.device, id));
    }

    /// An event was made.
    fn event(&mut self, row: &EventRow) {
        /// `ACL_EVENT_EXTERNAL`, of `aclrtCreateEventWithFlag`.
        const EXTERNAL: (u8, u32) = (1, 0x20);
        if (row.creation, row.flags & EXTERNAL.1) == EXTERNAL
            && let Some(own) = self.processes.get_mut(&row.process)
        {
            own.external.insert(row.serial);
        }
    }

    /// A call has returned, or was left.
    fn call(&mut self, row: &CallRow, process: u32) {
        let Some(own) = self.processes.get_mut(&process) else {
            return;
        };
        let function = tables::FUNCTIONS.get(usize::from(row.function));
        let role = function.map_or(Role::Plain, |function| function.role);
        match (&row.task, row.stream) {
            (Some(task), Some(serial)) => own.task(row, task, serial, role),
            _ => own.execute(row, role),
        }
        if row.ret == 0 {
            own.done(row, role);
        }
    }

    /// An entry has come.
    pub(super) fn entry(&mut self, told: &told::Activity, process: u32, clock: &Clock) {
        let Some(own) = self.processes.get_mut(&process) else {
            return;
        };
        let seen = clock.at(Ticks::new(told.seen));
        let progress = own.progress.entry(told.device).or_default();
        let entry = Entry { told: *told, seen };
        progress.note(seen, entry.begin());
        let lane = own.lanes.entry((told.device, told.stream)).or_default();
        lane.take(entry);
    }

    /// One line for each thing that a reader of the times should know.
    pub(super) fn summary(&self) -> Vec<String> {
        let states = self.states.iter();
        let refusals = states.filter_map(|(state, code)| {
            let why = match LogState::from_code(*state)? {
                LogState::On => return None,
                LogState::Absent => "there is no libmspti.so".to_owned(),
                LogState::Busy => "another profiler is active".to_owned(),
                LogState::Refused => format!("msPTI refused with code {code}"),
                LogState::GaveWay => {
                    let text = "the tool stopped reading the hardware log: the program began its own profiler";
                    return Some(text.to_owned());
                }
            };
            Some(format!(
                "the tool did not read the hardware log: {why}; it timed tasks by events"
            ))
        });
        let mismatches: u64 = (self.processes.values())
            .map(|process| process.counts.mismatches)
            .sum();
        let unclear = (mismatches > 0).then(|| {
            format!(
                "in {mismatches} stretches of streams the hardware log did not match the submitted tasks: \
                 these tasks have no times from it"
            )
        });
        refusals.chain(unclear).collect()
    }

    /// Joins what can be joined by now; with `is_last` all that there is. To be called when all channels have been read.
    pub(super) fn settle(&mut self, is_last: bool) -> Vec<Row> {
        let mut rows = Vec::new();
        self.early.swap(0, 1);
        self.early[0].clear();
        for (process, own) in &mut self.processes {
            own.settle(*process, is_last, &mut rows);
        }
        rows
    }
}

impl Process {
    /// What the log calls a task, if it tells of it.
    fn logged(&self, kind: TaskKind) -> Option<ActivityKind> {
        let there = |kind: &ActivityKind| self.kinds & 1 << kind.code() != 0;
        let kind = match kind {
            TaskKind::Kernel => ActivityKind::Kernel,
            TaskKind::Collective => ActivityKind::Communication,
            _ => return None,
        };
        Some(kind).filter(there)
    }

    fn stream(&mut self, serial: u32, place: Place) {
        if self.places.insert(serial, place) == Some(place) {
            return;
        }
        self.taken.insert(place, serial);
        let lane = self.lanes.entry(place).or_default();
        for (order, task) in self.early.remove(&serial).into_iter().flatten() {
            lane.expect(Owner::Stream(serial), order, task);
        }
    }

    fn expect(&mut self, serial: u32, order: u32, task: Expected) {
        match self.places.get(&serial) {
            Some(place) => {
                let lane = self.lanes.entry(*place).or_default();
                lane.expect(Owner::Stream(serial), order, task);
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
    fn task(&mut self, row: &CallRow, task: &TaskRow, serial: u32, role: Role) {
        let untimed = Untimed::from_code(task.untimed);
        let graph = row.graph.filter(|graph| graph.index > 0);
        match (untimed, graph) {
            (Some(Untimed::Captured | Untimed::Bound), Some(graph)) => {
                self.node(row, task, (graph, serial), role);
            }
            (Some(Untimed::Captured | Untimed::Bound | Untimed::Failed | Untimed::HostCopy), _) => {
            }
            (_, Some(graph)) => {
                let device = self.places.get(&serial).map(|place| place.0);
                let launch = Launch {
                    task: Some((serial, task.sequence)),
                    begin: row.begin_ns,
                    end: row.end_ns,
                    is_mixed: false,
                };
                self.replay(graph, device.or(row.device.map(u32::from)), launch);
            }
            _ => {
                let kind = TaskKind::from_code(task.kind).and_then(|kind| self.logged(kind));
                let task = kind.map(|kind| Expected {
                    work: Work {
                        task: Some((serial, task.sequence)),
                        node: None,
                    },
                    begin: row.begin_ns,
                    end: row.end_ns,
                    kind,
                    function: Some(row.function),
                    done: None,
                });
                let order = |task: &Expected| task.work.task.map_or(0, |(_, order)| order);
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
                let node = Node {
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
    fn execute(&mut self, row: &CallRow, role: Role) {
        let graph = row.graph.filter(|graph| graph.index > 0);
        let Some(graph) = graph.filter(|_| role == Role::ExecuteGraph) else {
            return;
        };
        let launch = Launch {
            task: None,
            begin: row.begin_ns,
            end: row.begin_ns,
            is_mixed: false,
        };
        self.replay(graph, row.device.map(u32::from), launch);
        let sync = Sync {
            begin: row.begin_ns,
            end: row.end_ns,
        };
        self.sync_graphs((None, sync), |serial, _| serial == graph.serial);
    }

    fn replay(&mut self, of: GraphRef, device: Option<u32>, launch: Launch) {
        self.untold.extend(launch.task);
        let graph = self.graphs.entry(of.serial).or_default();
        graph.device = device.unwrap_or(graph.device);
        let mut ends = Ends {
            lanes: &mut self.lanes,
            replays: &mut self.replays,
        };
        graph.replay(of.serial, launch, &mut ends);
        self.undone.insert(of.serial);
    }

    /// What a call that succeeded has waited for, or put an end to.
    fn done(&mut self, row: &CallRow, role: Role) {
        let sync = Sync {
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
                        lane.leave(Owner::Stream(serial), row.begin_ns);
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

    /// A graph has been destroyed: its streams are somebody else's from now on.
    fn destroyed(&mut self, serial: u32, at: i64) {
        let Some(graph) = self.graphs.get_mut(&serial) else {
            return;
        };
        graph.destroy(at);
        for place in graph.places() {
            let lane = self.lanes.entry(place).or_default();
            lane.leave(Owner::Graph(serial), at);
        }
    }

    /// Replays of these graphs have been waited for.
    fn sync_graphs(&mut self, sync: (Option<u32>, Sync), is_meant: impl Fn(u32, &Graph) -> bool) {
        let mut ends = Ends {
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

    fn settle(&mut self, process: u32, is_last: bool, rows: &mut Vec<Row>) {
        match is_last {
            true => self.settle_all(process, rows),
            false => {
                self.bind(false, false);
                self.settle_lanes(process, Phase::Growing, rows);
            }
        }
        let lost = &mut self.has_lost_graphs;
        self.graphs.retain(|_, graph| {
            graph.note_settled();
            *lost |= graph.is_over() && graph.has_lost;
            !graph.is_over()
        });
        self.give_up_replays(process, is_last, rows);
        self.tell_counts(process, rows);
    }

    /// Nobody will say when these replays ran: at last of none that are left.
    fn give_up_replays(&mut self, process: u32, is_last: bool, rows: &mut Vec<Row>) {
        let kept = if is_last { 0 } else { MOST_REPLAYS };
        while self.untold.len() > kept
            && let Some(task) = self.untold.pop_first()
        {
            if self.is_alone {
                rows.push(Row::TaskTime(entry::time(process, task, None)));
            }
        }
    }

    /// All has come. A stream of a graph's may be another graph's after it.
    fn settle_all(&mut self, process: u32, rows: &mut Vec<Row>) {
        loop {
            let before = rows.len();
            self.settle_lanes(process, Phase::Complete, rows);
            let is_news = rows.len() > before || self.bind(true, false);
            if !is_news && !self.bind(true, true) {
                break;
            }
        }
        self.settle_lanes(process, Phase::Last, rows);
    }

    fn settle_lanes(&mut self, process: u32, phase: Phase, rows: &mut Vec<Row>) {
        for ((device, acl_id), lane) in &mut self.lanes {
            let axis = self.axes.entry(*device);
            let axis = axis.or_insert_with(|| Axis::near(self.comparison));
            lane.settle(axis, phase, &mut |joined| {
                let row = |entry: &Entry, work: Option<Work>, part: usize| {
                    let told = &entry.told;
                    let task = work.and_then(|work| work.task);
                    Row::Activity(ActivityRow {
                        process,
                        device: *device,
                        acl_id: *acl_id,
                        stream: task.map(|(serial, _)| serial),
                        sequence: task.map(|(_, sequence)| sequence),
                        part: part as u32,
                        kind: told.kind.code(),
                        correlation: told.correlation,
                        name: told.name,
                        begin_ns: told.begin_ns,
                        end_ns: told.end_ns,
                        node: work.and_then(|work| work.node),
                    })
                };
                let entries = joined.entries.iter().enumerate();
                rows.extend(entries.map(|(part, entry)| row(entry, joined.work, part)));
                // Where the log has lost entries, what a call has may not be all that it launched.
                let is_lossy = self.counts.mismatches > 0;
                let function = joined.function.filter(|_| !joined.entries.is_empty());
                let is_torn = function.is_some_and(|function| {
                    self.patterns.is_part(function, joined.entries) && is_lossy
                });
                let span = Span::of(joined.entries).filter(|_| !is_torn);
                let told = joined.work.and_then(|work| match (work.task, work.node) {
                    (Some(task), None) => Some((task, span)),
                    (Some(task), Some(_)) => {
                        let done = self.replays.node(task, span)?;
                        let bound = anchor(process, *device, done).filter(|_| self.is_alone);
                        rows.extend(bound.map(Row::Anchor));
                        Some((task, done.time()))
                    }
                    (None, _) => None,
                });
                if let Some((task, span)) = told.filter(|_| self.is_alone) {
                    self.untold.remove(&task);
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
            (Counter::JoinedEntries, self.counts.joined, self.told.joined),
            (Counter::LooseEntries, self.counts.loose, self.told.loose),
            (
                Counter::LogMismatches,
                self.counts.mismatches,
                self.told.mismatches,
            ),
        ];
        for (what, value, _) in all.into_iter().filter(|(_, now, told)| now != told) {
            rows.push(Row::Counter(CounterRow {
                process,
                what: what.code().into(),
                value,
            }));
        }
        self.told = self.counts;
    }
}

/// What a replay without a time tells of the log's clock: its nodes ran after it was submitted, and before it was seen done.
fn anchor(process: u32, device: u32, done: Done) -> Option<AnchorRow> {
    let Done::Part(submitted, span) = done else {
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

/// Whether a call asks for a record or wait that links a graph to what is around it.
fn is_external(row: &CallRow) -> bool {
    /// `ACL_EVENT_RECORD_EXTERNAL` and `ACL_EVENT_WAIT_EXTERNAL`.
    const EXTERNAL: u64 = 1;
    let function = tables::FUNCTIONS.get(usize::from(row.function));
    let flags = function.and_then(|function| part_in(function.parts, Part::Flags));
    let flags = flags.and_then(|place| row.args.get(usize::from(place)));
    flags == Some(&EXTERNAL)
}

#[cfg(test)]
mod replayed_tests;
#[cfg(test)]
mod tests;
