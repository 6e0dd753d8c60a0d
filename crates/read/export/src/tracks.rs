//! Which track each slice is drawn on.
//!
//! Importers want the slices of a track to nest or to be apart. A lane's slices go to its first
//! track where they can, else to the first of its sub-tracks that has room.
//!
//! Event records and waits have tracks next to their stream's, and so have slices without duration. A
//! record takes no time, and a wait ends exactly at its record, while the surrounding work begins and
//! ends there too: on one track, an arrow could mean any of them.

mod nesting;
mod numbers;

use std::collections::HashSet;

use ascend_trace_analysis::graphs::{Graph, Outcome};
use ascend_trace_analysis::{Node, Stall, TaskRole};
use ascend_trace_format::api::{Role, TaskKind};
use ascend_trace_recording::{
    CallId, ProcessId, StreamId, Task, TaskId, ThreadId, TimeRange, Trace,
};

use crate::ExportSource;
use crate::dependency_end::drawn_end;
use nesting::{OpenNesting, first_fit, first_room, nest};
pub(crate) use numbers::ProcessNumbering;
use numbers::TrackIds;
use rustc_hash::FxHashMap;

/// Where a slice is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SliceTrack {
    pub(crate) pid: u32,
    /// Occurs once in its process.
    pub(crate) tid: u32,
    /// Counts the tracks from 1.
    pub(crate) number: u32,
    /// Counts the threads and streams from 1: the events of one of them are mostly in the order of
    /// time.
    pub(crate) lane: u32,
}

/// The tracks of one lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneTracks {
    pub(crate) pid: u32,
    number: u32,
    /// Where calls and work go; the first is the lane's own.
    pub(crate) slices: ParallelTracks,
    /// Where a stream's records and waits go. No two slices of such a track touch.
    pub(crate) events: ParallelTracks,
    /// Where the captures that a thread began go.
    pub(crate) captures: ParallelTracks,
    /// Tracks of parts of tasks that overlap the parts drawn inside the tasks.
    pub(crate) parts: ParallelTracks,
    /// Tracks of the causes of idle time.
    pub(crate) stalls: ParallelTracks,
    /// The track of tasks without a time that have a place.
    pub(crate) placed: ParallelTracks,
    /// Where the ranges that a thread began go.
    pub(crate) ranges: ParallelTracks,
    /// Open slices on the tracks of calls.
    nesting: Vec<OpenNesting>,
    /// When the last slice ended on each other track.
    ends: [Vec<i64>; 3],
    /// Slices on each track of captures. They are few, and failed ones are placed last.
    making: Vec<Vec<TimeRange>>,
}

/// Parallel tracks: what overlaps is on different ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParallelTracks {
    pub(crate) tracks: Vec<SliceTrack>,
    described: usize,
}

impl ParallelTracks {
    /// Makes tracks of a process and a lane until it has `count`.
    fn extend(&mut self, count: usize, (pid, lane): (u32, u32), ids: &mut TrackIds) {
        while self.tracks.len() < count {
            let tid = ids.tids.make();
            self.tracks.push(ids.track(pid, tid, lane));
        }
    }

    /// The tracks that have not been asked for here before, each with its place.
    pub(crate) fn fresh(&mut self) -> Vec<(usize, SliceTrack)> {
        let begin = std::mem::replace(&mut self.described, self.tracks.len());
        let fresh = self.tracks.iter().copied().enumerate();
        fresh.skip(begin).collect()
    }
}

impl LaneTracks {
    fn has_tracks(&self) -> bool {
        let groups = [&self.slices, &self.events, &self.captures];
        groups.iter().any(|group| !group.tracks.is_empty())
    }

    /// The lane's own track.
    pub(crate) fn own(&self) -> Option<SliceTrack> {
        self.slices.tracks.first().copied()
    }
}

/// A process in the exported trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessTrack {
    pub(crate) pid: u32,
    pub(crate) process: ProcessId,
    /// `None` for the host's threads.
    pub(crate) device: Option<u32>,
}

/// The tracks of all placed slices.
#[derive(Debug, Default)]
pub(crate) struct TrackLayout {
    ids: TrackIds,
    pub(crate) processes: Vec<ProcessTrack>,
    /// The processes and devices that have been asked for as fresh.
    described: HashSet<u32>,
    pub(crate) threads: Vec<LaneTracks>,
    /// By the first stream of each lane.
    pub(crate) streams: Vec<LaneTracks>,
    /// Streams that have a lane.
    described_streams: usize,
    /// Slices that are not on the first track of their kind.
    elsewhere: FxHashMap<ItemKey, u32>,
    /// Parts of tasks outside the task's track, for the part being written: by task and place among its
    /// parts.
    parts: FxHashMap<(TaskId, usize), usize>,
    /// By graph: the thread that made it, and which of its tracks for captures.
    captures: FxHashMap<(ProcessId, u32), (ThreadId, usize)>,
    /// The ranges, by begin, each by its place in the trace and with its track.
    pub(crate) ranges: Vec<(usize, SliceTrack)>,
    /// Where the recording as a whole is described, of the first process that is shown.
    pub(crate) recording: Option<SliceTrack>,
    /// Where the critical path is, if it is wanted.
    pub(crate) critical: Option<SliceTrack>,
}

/// A call or task by its number, which stays when others are forgotten.
type ItemKey = (bool, u32);

fn key(trace: &Trace, node: Node) -> ItemKey {
    match node {
        Node::Call(id) => (false, trace.call_number(id)),
        Node::Task(id) => (true, trace.task_number(id)),
    }
}

impl TrackLayout {
    pub(crate) fn new(numbering: ProcessNumbering) -> Self {
        Self {
            ids: TrackIds::new(numbering),
            ..Self::default()
        }
    }

    /// Places the slices of a part. A lane without shown content has no tracks in a selection.
    pub(crate) fn advance(&mut self, source: &ExportSource<'_>) {
        let trace = source.trace;
        self.forget(trace);
        self.parts.clear();
        self.add_lanes(source);
        for index in 0..trace.threads().len() {
            self.place_calls(source, ThreadId(index as u32));
        }
        self.place_captures(source);
        for index in 0..trace.streams().len() {
            self.place_tasks(source, StreamId(index as u32));
        }
        if !source.selection.is_whole() {
            self.leave_out_processes();
        }
        if source.part.is_last {
            self.place_ranges(source);
            if let Some(first) = self.processes.first() {
                let tid = self.ids.tids.make();
                self.recording = Some(self.ids.track(first.pid, tid, 0));
                if !source.critical.is_empty() {
                    let tid = self.ids.tids.make();
                    self.critical = Some(self.ids.track(first.pid, tid, 0));
                }
            }
        }
    }

    /// Places the ranges that the program named. They overlap in any way; most nest.
    fn place_ranges(&mut self, source: &ExportSource<'_>) {
        let ranges = source.trace.ranges();
        let mut places: Vec<usize> = (0..ranges.len()).collect();
        places.retain(|it| source.selection.span(ranges[*it].begin, ranges[*it].end));
        places.sort_by_key(|it| (ranges[*it].begin, std::cmp::Reverse(ranges[*it].end)));
        let mut open: FxHashMap<u32, Vec<OpenNesting>> = FxHashMap::default();
        for place in places {
            let range = &ranges[place];
            let Some(lane) = self.threads.get_mut(range.thread.index()) else {
                continue;
            };
            if lane.own().is_none() {
                continue;
            }
            let rows = open.entry(range.thread.0).or_default();
            let at = nest(rows, range.time(), false);
            lane.ranges
                .extend(at + 1, (lane.pid, lane.number), &mut self.ids);
            self.ranges.push((place, lane.ranges.tracks[at]));
        }
    }

    /// Forgets where things were drawn that the trace has forgotten.
    fn forget(&mut self, trace: &Trace) {
        if self.elsewhere.is_empty() {
            return;
        }
        let calls = (0..trace.calls().len() as u32).map(|id| Node::Call(CallId(id)));
        let tasks = (0..trace.tasks().len() as u32).map(|id| Node::Task(TaskId(id)));
        let keys = calls.chain(tasks).map(|node| key(trace, node));
        let old = std::mem::take(&mut self.elsewhere);
        self.elsewhere = keys
            .filter_map(|key| Some((key, *old.get(&key)?)))
            .collect();
    }

    /// Gives tracks to processes, threads and streams that are new.
    fn add_lanes(&mut self, source: &ExportSource<'_>) {
        let trace = source.trace;
        self.ids.add_processes(trace);
        for index in self.threads.len()..trace.threads().len() {
            let id = ThreadId(index as u32);
            let thread = trace.thread(id);
            let pid = self.ids.host(thread.process);
            let number = self.ids.lane();
            let tid = self.ids.tids.take(thread.tid);
            let own = self.ids.track(pid, tid, number);
            let is_shown = source.selection.thread(id);
            self.threads.push(LaneTracks {
                pid,
                number,
                slices: ParallelTracks {
                    tracks: is_shown.then_some(own).into_iter().collect(),
                    described: 0,
                },
                ..LaneTracks::default()
            });
        }
        for index in self.streams.len()..trace.streams().len() {
            let stream = trace.stream(StreamId(index as u32));
            let pid = self.ids.device(stream.process, stream.device);
            let number = self.ids.lane();
            self.streams.push(LaneTracks {
                pid,
                number,
                ..LaneTracks::default()
            });
        }
        for index in self.described_streams..trace.streams().len() {
            self.add_stream(source, StreamId(index as u32));
        }
        self.described_streams = trace.streams().len();
        self.processes = self.ids.processes();
    }

    /// Gives a track to the lane of a stream, if it has none: one lane shows all streams with a number.
    fn add_stream(&mut self, source: &ExportSource<'_>, id: StreamId) {
        let lane = &mut self.streams[source.trace.lane_of(id).index()];
        if source.selection.stream(id) && lane.own().is_none() {
            let number = source.trace.stream(id).number();
            let tid = self.ids.stream(lane.pid, number);
            let track = self.ids.track(lane.pid, tid, lane.number);
            lane.slices.tracks.push(track);
        }
    }

    /// The lane of a stream.
    pub(crate) fn stream(&self, trace: &Trace, id: StreamId) -> Option<&LaneTracks> {
        self.streams.get(trace.lane_of(id).index())
    }

    /// The processes and devices that have not been asked for here before, each with its order.
    pub(crate) fn fresh_processes(&mut self) -> Vec<(i64, ProcessTrack)> {
        let all = (0..).zip(self.processes.iter().copied());
        all.filter(|(_, track)| self.described.insert(track.pid))
            .collect()
    }

    /// Leaves out the processes and devices of which no lane is shown.
    fn leave_out_processes(&mut self) {
        let lanes = self.threads.iter().chain(&self.streams);
        let lanes = lanes.filter(|lane| lane.has_tracks());
        let pids: HashSet<u32> = lanes.map(|lane| lane.pid).collect();
        let shown = self.processes.iter().filter(|it| pids.contains(&it.pid));
        let shown: HashSet<ProcessId> = shown.map(|it| it.process).collect();
        self.processes.retain(|it| match it.device {
            None => shown.contains(&it.process),
            Some(_) => pids.contains(&it.pid),
        });
    }

    fn place_calls(&mut self, source: &ExportSource<'_>, thread: ThreadId) {
        let trace = source.trace;
        let lane = &mut self.threads[thread.index()];
        let functions = trace.functions().iter();
        let late: Vec<bool> = functions.map(|it| arrives_late(it.role)).collect();
        for id in source.calls(thread) {
            let call = trace.call(id);
            let late = late[call.function.index()];
            let place = nest(&mut lane.nesting, call.range(), late);
            if place > 0 {
                let key = key(trace, Node::Call(id));
                self.elsewhere.insert(key, place as u32);
            }
        }
        let used = lane.nesting.len();
        if !lane.slices.tracks.is_empty() {
            lane.slices
                .extend(used, (lane.pid, lane.number), &mut self.ids);
        }
    }

    /// Places the captures that are complete.
    fn place_captures(&mut self, source: &ExportSource<'_>) {
        let trace = source.trace;
        let mut spans: Vec<(&Graph, TimeRange)> = source
            .graphs
            .all()
            .iter()
            .filter(|graph| is_made(source, graph))
            .filter(|graph| !self.captures.contains_key(&(graph.process, graph.serial)))
            .filter_map(|graph| Some((graph, graph.making_span(trace)?)))
            .collect();
        spans.sort_by_key(|(_, span)| *span);
        for (graph, span) in spans {
            let Some(call) = graph.begin.filter(|call| source.selection.call(*call)) else {
                continue;
            };
            let thread = trace.call(call).thread;
            let lane = &mut self.threads[thread.index()];
            let place = first_room(&mut lane.making, span);
            lane.captures
                .extend(place + 1, (lane.pid, lane.number), &mut self.ids);
            let key = (graph.process, graph.serial);
            self.captures.insert(key, (thread, place));
        }
    }

    /// Where the making of a graph is drawn; `None` when its begin or end is not known.
    pub(crate) fn capture(&self, graph: &Graph) -> Option<SliceTrack> {
        let (thread, place) = *self.captures.get(&(graph.process, graph.serial))?;
        let lane = self.threads.get(thread.index())?;
        lane.captures.tracks.get(place).copied()
    }

    /// Places the timed tasks of a stream.
    fn place_tasks(&mut self, source: &ExportSource<'_>, stream: StreamId) {
        let trace = source.trace;
        let lane = &mut self.streams[trace.lane_of(stream).index()];
        for id in source.tasks(stream) {
            let task = trace.task(id);
            let Some(time) = task.time else {
                continue;
            };
            let place = match is_beside(task) {
                true => {
                    // Where there may be a mark at the end, what holds it is a little longer.
                    let end = drawn_end(source, id, time);
                    let until = end.saturating_add(i64::from(is_waiter(trace, task)));
                    first_fit(&mut lane.ends[EVENTS], until, |end| end < time.begin)
                }
                false => first_fit(&mut lane.ends[WORK], time.end, |end| end <= time.begin),
            };
            if place > 0 {
                let key = key(trace, Node::Task(id));
                self.elsewhere.insert(key, place as u32);
            }
        }
        for id in source.tasks(stream) {
            let task = trace.task(id);
            // Nodes of several streams run at the same time.
            let is_drawn = task.time.is_some() && !is_beside(task);
            let mut inside = is_drawn.then_some(i64::MIN);
            for (at, part) in trace.parts(id).iter().enumerate() {
                if inside.is_some_and(|end| end <= part.begin && part.begin < part.end) {
                    inside = Some(part.end);
                    continue;
                }
                let place = first_fit(&mut lane.ends[PARTS], part.end, |end| end <= part.begin);
                self.parts.insert((id, at), place);
            }
        }
        let (process_lane, ids) = ((lane.pid, lane.number), &mut self.ids);
        lane.parts.extend(lane.ends[PARTS].len(), process_lane, ids);
        lane.slices.extend(lane.ends[WORK].len(), process_lane, ids);
        lane.events
            .extend(lane.ends[EVENTS].len(), process_lane, ids);
        if source.idle(stream).next().is_some() {
            lane.stalls.extend(1, process_lane, ids);
        }
        if source.placed(stream).next().is_some() {
            lane.placed.extend(1, process_lane, ids);
        }
    }

    /// The one of parallel tracks that something is on.
    #[inline]
    fn track(&self, trace: &Trace, parallel: &ParallelTracks, node: Node) -> SliceTrack {
        match parallel.tracks.as_slice() {
            [only] => *only,
            tracks => {
                let place = self.elsewhere.get(&key(trace, node));
                tracks[place.map_or(0, |place| *place as usize)]
            }
        }
    }

    pub(crate) fn call(&self, trace: &Trace, id: CallId) -> SliceTrack {
        let lane = &self.threads[trace.call(id).thread.index()];
        self.track(trace, &lane.slices, Node::Call(id))
    }

    /// The stalls of streams, each with its track.
    pub(crate) fn stalls<'s>(
        &self,
        source: &'s ExportSource<'_>,
    ) -> impl Iterator<Item = (SliceTrack, &'s Stall)> {
        let streams = (0..self.streams.len() as u32).map(StreamId);
        streams.flat_map(|id| {
            let lane = self.stream(source.trace, id);
            let track = lane.and_then(|lane| lane.stalls.tracks.first().copied());
            let stalls = track.map(|track| source.idle(id).map(move |stall| (track, stall)));
            stalls.into_iter().flatten()
        })
    }

    /// The track for tasks of a stream that have a place and no time.
    pub(crate) fn placed(&self, trace: &Trace, stream: StreamId) -> Option<SliceTrack> {
        self.stream(trace, stream)?.placed.tracks.first().copied()
    }

    /// Where a part of a task is drawn, by its place among them.
    pub(crate) fn part(&self, trace: &Trace, id: TaskId, at: usize) -> Option<SliceTrack> {
        match self.parts.get(&(id, at)) {
            Some(place) => {
                let lane = self.stream(trace, trace.task(id).stream)?;
                lane.parts.tracks.get(*place).copied()
            }
            None => self.task(trace, id),
        }
    }

    /// `None` for a task that is not drawn because it has no times.
    pub(crate) fn task(&self, trace: &Trace, id: TaskId) -> Option<SliceTrack> {
        let task = trace.task(id);
        task.time?;
        let lane = self.stream(trace, task.stream)?;
        let parallel = match is_beside(task) {
            true => &lane.events,
            false => &lane.slices,
        };
        Some(self.track(trace, parallel, Node::Task(id)))
    }
}

/// Which ends a lane keeps.
const WORK: usize = 0;
const EVENTS: usize = 1;
const PARTS: usize = 2;

/// Whether the capture of a graph has ended.
fn is_made(source: &ExportSource<'_>, graph: &Graph) -> bool {
    let is_known = |call| source.trace.call(call).begin < source.part.until;
    match graph.outcome {
        Outcome::Ready => graph.end.is_some_and(is_known) || source.part.is_last,
        Outcome::Open | Outcome::Failed(_) => source.part.is_last,
    }
}

/// Whether arrows to a call arrive at its end, where no other call may be open on its track: the last
/// nanosecond is for the mark that they arrive at.
fn arrives_late(role: Role) -> bool {
    let meaning = role.meaning();
    meaning.waits.is_sync() || meaning.drains || meaning.calls_back
}

/// Whether a task waits for another one, and so ends when that does.
pub(crate) fn is_waiter(trace: &Trace, task: &Task) -> bool {
    matches!(
        TaskRole::of(trace, task),
        TaskRole::EventWait | TaskRole::SignalWait
    )
}

/// Whether a task is drawn outside its stream's track.
pub(crate) fn is_beside(task: &Task) -> bool {
    use TaskKind::{Notify, Record, Value, Wait};
    matches!(task.kind, Record | Wait | Notify | Value)
        || task.time.is_some_and(|time| time.begin == time.end)
}
