//! Makes the index from chunks, in the order of the file: for the writer while it writes, for the
//! reader where no index is.

mod output;

use ascend_trace_format::api::{AnchorSource, TaskKind, Untimed};
use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::TimeRange;
use crate::category::Category;
use crate::clock::ClockBound;
use crate::file::call::IndexMemory;
use crate::file::chunk::{self, ChunkKind};
use crate::file::table::{Table, cursors, each};
use crate::graph_calls::{GraphFacts, GraphFunctions, GraphRelation};
use crate::load::{NO_STREAM, Numbers, function, may_come};
use crate::rows::{
    AnchorRow, CallRow, CounterRow, LossRow, ProcessRow, Row, StreamRow, TablesRow, TaskRow,
    TaskTimeRow, ThreadRow,
};
use crate::summary::{DEEPEST, LaneBuilder};

use super::bounds::{BoundsByDevice, DeviceBounds, bounds_of};
use super::codec;
use super::group::{EntityChunk, Segment};
use super::links::{Links, TimesLink};
use super::pending::{FileSpan, PendingItem, PendingMatch, PendingWord};
use super::run_spans::{RunSpan, RunSpans};
use super::streams::{Streams, WaitingTasks};
use super::stretches::RoughOffsets;
use super::totals::{MOST, Totals, code};

/// A segment is complete when it has this number of rows, or bytes.
const SEGMENT_ROWS: u64 = 8192;
const SEGMENT_BYTES: u64 = 512 * 1024;
/// A group is complete when it has this number of rows, segments or chunks of things.
pub(super) const GROUP_ROWS: u64 = 1 << 19;
const GROUP_SEGMENTS: usize = 256;
const GROUP_ENTITIES: usize = 4096;
/// Entries of one lane in a group, and of all lanes, while it grows.
const LANE_ENTRIES: usize = 1024;
const ALL_ENTRIES: usize = 1 << 16;
/// Slices that share an entry at least, on average, and the fewest entries of a lane, finely and
/// coarsely summed up.
const FINE: (u64, usize) = (64, 4);
const COARSE: (u64, usize) = (512, 2);
const COARSE_ENTRIES: usize = 64;

/// Threads, and streams, that any file may have.
const LANES: usize = 1 << 14;
/// Bytes of a file for each further one.
const LANE_BYTES: u64 = 16;
/// Slots of the calls of a function that no table has.
const UNKNOWN: [u8; 2] = [7; 2];

#[derive(Debug, Default)]
struct ThreadState {
    number: u32,
    process: Option<u32>,
    calls: u64,
    /// By depth.
    lanes: Vec<LaneBuilder>,
}

/// Makes groups of chunks.
#[derive(Debug)]
pub(crate) struct Indexer {
    /// By function: the slots of its calls without and with a task.
    slots: Vec<[u8; 2]>,
    graph_functions: GraphFunctions,
    threads: Numbers,
    thread_states: Vec<ThreadState>,
    touched_threads: Vec<usize>,
    streams: Streams,
    /// By process and device.
    clocks: BoundsByDevice,
    /// The same for the driver's readings.
    drivers: BoundsByDevice,
    first_process: Option<u32>,
    begin: u64,
    end: u64,
    segment: Segment,
    segments: Vec<Segment>,
    entities: Vec<EntityChunk>,
    totals: Totals,
    links: Links,
    ran: RunSpans,
    /// Of the current group.
    offsets: RoughOffsets,
    rows: u64,
}

impl Indexer {
    /// An index of the chunks from `begin` on.
    pub(crate) fn new(begin: u64) -> Self {
        Self {
            slots: Vec::new(),
            graph_functions: GraphFunctions::default(),
            threads: Numbers::default(),
            thread_states: Vec::new(),
            touched_threads: Vec::new(),
            streams: Streams::new(LANE_ENTRIES),
            clocks: BoundsByDevice::new(),
            drivers: BoundsByDevice::new(),
            first_process: None,
            begin,
            end: begin,
            segment: Segment::default(),
            segments: Vec::new(),
            entities: Vec::new(),
            totals: Totals::default(),
            links: Links::default(),
            ran: RunSpans::default(),
            offsets: RoughOffsets::default(),
            rows: 0,
        }
    }

    /// One that knows the same functions and threads, for calls that lie apart from all groups.
    pub(crate) fn aside(&self, begin: u64) -> Self {
        let thread_states = self.thread_states.iter().map(|thread| ThreadState {
            number: thread.number,
            process: thread.process,
            ..ThreadState::default()
        });
        Self {
            slots: self.slots.clone(),
            graph_functions: self.graph_functions.clone(),
            threads: self.threads.clone(),
            thread_states: thread_states.collect(),
            first_process: self.first_process,
            streams: self.streams.aside(),
            ..Self::new(begin)
        }
    }

    /// What waits after the last group.
    pub(super) fn waiting(&self) -> Vec<WaitingTasks> {
        self.streams.waiting()
    }

    /// Goes on after a group; this waits at its end.
    pub(crate) fn set_waiting(&mut self, waiting: &[WaitingTasks]) {
        self.streams.set_most(self.most_lanes());
        self.streams.set_waiting(waiting);
    }

    /// Learns what kind of calls the functions make.
    pub(crate) fn set_tables(&mut self, tables: &TablesRow) {
        for (number, row) in (usize::from(tables.first)..).zip(&tables.functions) {
            if self.slots.len() <= number {
                self.slots.resize(number + 1, UNKNOWN);
            }
            let function = function(row.clone());
            self.slots[number] =
                [false, true].map(|submits| Category::of_call(&function, submits).slot() as u8);
            self.graph_functions.learn(number, &function);
        }
    }

    /// Where the chunks begin that are not in a complete group yet.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    /// Where the chunks end that have been taken in.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Takes in the next chunk: where its header begins, how long it is with it, and its payload
    /// after unpacking. Returns whether it has rows of named objects.
    pub(crate) fn chunk(
        &mut self,
        kind: ChunkKind,
        offset: u64,
        length: u64,
        payload: &[u8],
    ) -> bool {
        // Segments follow each other without gaps, so they have chunks that nothing is counted of.
        if self.segment.rows() >= SEGMENT_ROWS || self.segment.length >= SEGMENT_BYTES {
            self.close_segment();
        }
        if self.segment.length == 0 {
            self.segment.offset = offset;
            self.segment.launched_from = offset;
        }
        self.end = offset.saturating_add(length);
        self.segment.length = self.end.saturating_sub(self.segment.offset);
        self.streams.set_most(self.most_lanes());
        match kind {
            CallRow::KIND => self.calls(payload),
            TaskTimeRow::KIND => each(payload, |row: TaskTimeRow| self.time(&row)),
            AnchorRow::KIND => each(payload, |row: AnchorRow| self.anchor(&row)),
            LossRow::KIND => each(payload, |row: LossRow| self.totals.lose(&row)),
            CounterRow::KIND => each(payload, |row: CounterRow| self.totals.raise(&row)),
            ProcessRow::KIND => each(payload, |row: ProcessRow| self.entity(&Row::Process(row))),
            ThreadRow::KIND => each(payload, |row: ThreadRow| self.entity(&Row::Thread(row))),
            StreamRow::KIND => each(payload, |row: StreamRow| self.entity(&Row::Stream(row))),
            chunk::TABLES => {
                if let Ok(tables) = serde_json::from_slice(payload) {
                    self.set_tables(&tables);
                }
            }
            _ => {}
        }
        let is_kept = codec::is_entity(kind);
        if is_kept {
            self.entities.push(EntityChunk {
                kind,
                offset,
                length,
            });
        }
        is_kept
    }

    /// Learns about a thing that later rows name.
    pub(crate) fn entity(&mut self, row: &Row) {
        match row {
            Row::Process(row) => {
                self.first_process.get_or_insert(row.process);
            }
            Row::Thread(row) => {
                if let Some(place) = self.thread(row.thread) {
                    self.thread_states[place].process = Some(row.process);
                }
            }
            Row::Stream(row) => {
                self.streams.set_device(row.process, row.serial, row.device);
            }
            _ => {}
        }
    }

    /// Limit for lanes of a kind, for a file of this length: a thread or a stream takes more bytes than
    /// that, except in malicious files.
    fn most_lanes(&self) -> usize {
        LANES.saturating_add(usize::try_from(self.end / LANE_BYTES).unwrap_or(usize::MAX))
    }

    fn thread(&mut self, number: u32) -> Option<usize> {
        if let Some(place) = self.threads.get(number) {
            return Some(place as usize);
        }
        let place = self.thread_states.len();
        if place >= self.most_lanes() {
            return None;
        }
        self.threads.insert(number, u32::try_from(place).ok()?);
        self.thread_states.push(ThreadState {
            number,
            ..ThreadState::default()
        });
        Some(place)
    }

    /// Takes in the calls of a table. They are most of a file, so one row becomes each of them in turn.
    fn calls(&mut self, payload: &[u8]) {
        let Some(mut cursors) = cursors::<CallRow>(payload) else {
            return;
        };
        let (mut call, mut memory) = (CallRow::default(), IndexMemory::default());
        for _ in 0..cursors.rows() {
            if call.refill_brief(&mut cursors, &mut memory).is_none() {
                return;
            }
            self.call(&call);
        }
    }

    fn call(&mut self, call: &CallRow) {
        self.segment.calls += 1;
        self.rows += 1;
        let (begin, end) = (call.begin_ns, call.end_ns.max(call.begin_ns));
        let span = TimeRange::new(begin, end);
        self.segment.call_span = TimeRange::grown(self.segment.call_span, span);
        self.totals.calls += 1;
        self.totals.nested += u64::from(call.depth > 0);
        let function = self.totals.function(call.function);
        function.0 += 1;
        function.1 += u64::from(call.ret != 0);
        let Some(place) = self.thread(call.thread) else {
            return;
        };
        let thread = &mut self.thread_states[place];
        if thread.calls == 0 {
            self.touched_threads.push(place);
        }
        thread.calls += 1;
        let depth = usize::from(call.depth.min(DEEPEST));
        while thread.lanes.len() <= depth {
            thread.lanes.push(LaneBuilder::new(LANE_ENTRIES));
        }
        let slots = self.slots.get(usize::from(call.function));
        let slot = slots.unwrap_or(&UNKNOWN)[usize::from(call.task.is_some())];
        thread.lanes[depth].add(begin, end, usize::from(slot));
        let process = thread.process.or(self.first_process).unwrap_or(0);
        if let Some(task) = &call.task {
            self.task(process, call, task);
        }
        self.graph(process, call);
    }

    fn graph(&mut self, process: u32, call: &CallRow) {
        let facts = GraphFacts::from(call);
        let concern = self.graph_functions.concern(&facts);
        let replays = &mut self.totals.replays;
        match (concern, call.graph) {
            (GraphRelation::Nothing, _) => return,
            (GraphRelation::Replay, Some(graph)) => {
                *replays.entry((process, graph.serial)).or_default() += 1;
                return;
            }
            _ => {}
        }
        self.segment.graph_calls += 1;
    }

    fn task(&mut self, process: u32, call: &CallRow, task: &TaskRow) {
        let serial = call.stream.unwrap_or(NO_STREAM);
        let kind = TaskKind::from_code(task.kind).unwrap_or(TaskKind::Other);
        self.totals.kinds[code(kind as u8)] += 1;
        if let Some(stream) = self.streams.touch(process, serial) {
            if stream.totals.tasks == 0 {
                stream.totals.device = call.device.map_or(0, u32::from);
            }
            stream.totals.tasks += 1;
        }
        let untimed = Untimed::from_code(task.untimed).unwrap_or(Untimed::Unreadable);
        if untimed != Untimed::Timed {
            self.totals.untimed[code(task.untimed)] += 1;
        }
        let runs = untimed != Untimed::Bound || call.graph.is_none();
        if !runs || !may_come(untimed) {
            let has_run = !matches!(
                untimed,
                Untimed::Failed
                    | Untimed::Captured
                    | Untimed::Bound
                    | Untimed::HostCopy
                    | Untimed::InGroup
            );
            if has_run && let Some(stream) = self.streams.touch(process, serial) {
                stream.stretches.note_untimed(kind);
            }
            return;
        }
        let here = self.segment.offset;
        let slot = Category::of_task(kind).slot() as u8;
        let word = PendingWord::new(slot, task.untimed);
        let launch = PendingItem::new(task.sequence, word, call.begin_ns, here);
        // The time of another thread's task may be in the file before.
        if let Some(time) = self.streams.launch((process, serial), launch) {
            self.links.add(TimesLink {
                times: time.place(),
                launches: FileSpan::at(here),
            });
            self.count_time((process, serial), &time, (task.untimed, time.reason()));
        }
    }

    /// Counts what its row says of the time of a task. Its call may have said that there would be none.
    fn count_time(
        &mut self,
        (process, serial): (u32, u32),
        counterpart: &PendingMatch,
        (reason, untimed): (u8, u8),
    ) {
        if !counterpart.is_certain() {
            self.totals.uncertain += 1;
            return;
        }
        let has_reason = reason != Untimed::Timed as u8;
        if untimed != Untimed::Timed as u8 {
            self.totals.untimed[code(untimed)] += u64::from(!has_reason);
            return;
        }
        self.totals.regained[code(reason)] += u64::from(has_reason);
        self.totals.timed += 1;
        if let Some(stream) = self.streams.touch(process, serial) {
            stream.totals.timed += 1;
        }
    }

    fn time(&mut self, row: &TaskTimeRow) {
        self.segment.times += 1;
        self.rows += 1;
        let (record, _) = row.record();
        let end = row.end_device_ns.saturating_sub(record);
        // A record task is the event record itself.
        let first = match row.begin_device_ns < row.end_device_ns {
            true => row.begin_device_ns,
            false => end.saturating_sub(record),
        };
        let end = end.max(first);
        let length = end.saturating_sub(first);
        let is_timed = row.untimed == Untimed::Timed as u8;
        // A single task of a run has no time.
        let reported = row.run().map_or(row.untimed, |_| Untimed::InRun as u8);
        let key = (row.process, row.stream);
        let here = self.segment.offset;
        let time = PendingItem::new(row.sequence, PendingWord::new(0, reported), 0, here);
        let launch = self.streams.time(key, time);
        if let Some(launch) = launch {
            self.links.add(TimesLink {
                times: FileSpan::at(here),
                launches: launch.place(),
            });
            self.count_time(key, &launch, (launch.reason(), reported));
        }
        let Some(stream) = self.streams.touch(row.process, row.stream) else {
            return;
        };
        if is_timed {
            let slot = launch.and_then(|launch| launch.slot()).unwrap_or(7);
            let launched = match launch {
                Some(PendingMatch::Exactly(launch)) => {
                    let clock = (row.process, stream.device.unwrap_or(0));
                    self.offsets.on_device(clock, launch.begin)
                }
                _ => None,
            };
            let before = (stream.stretches).before(row.sequence, (first, end), launched);
            let further = row.run().map_or(0, |tasks| tasks.saturating_sub(1));
            stream.stretches.goes_on(further);
            if let Some((from, until, slot)) = before {
                stream.lane.add_work(from, until, usize::from(slot));
            }
            stream.lane.add(first, end, usize::from(slot));
            self.ran.add(RunSpan {
                segment: here,
                clock: stream.device.map(|device| (row.process, device)),
                begin: first,
                end,
            });
        }
        // When the task was not seen complete, the times are no help: it may have ended whenever.
        let seen = (row.seen_ns > 0).then_some(row.seen_ns);
        let begin = match (launch, seen) {
            (Some(launch), _) => launch.begin(),
            (None, Some(seen)) => seen.saturating_sub(length),
            (None, None) => return,
        };
        let latest = seen.unwrap_or_else(|| begin.saturating_add(length));
        let span = TimeRange::new(begin, latest.max(begin));
        self.segment.task_span = TimeRange::grown(self.segment.task_span, span);
        if let Some(launch) = launch {
            let from = &mut self.segment.launched_from;
            *from = launch.place().from.min(*from);
        }
        if let Some(PendingMatch::Exactly(launch)) = launch {
            let key = (row.process, stream.device.unwrap_or(0));
            if let Some(latest) = seen.filter(|_| is_timed).map(HostNs::new)
                && let Some(clock) = self.clock(key)
            {
                if row.arming_ns > 0 {
                    clock.add(&ClockBound {
                        device: DeviceNs::new(row.begin_device_ns),
                        earliest: HostNs::new(launch.begin).minus(row.arming_ns.into()),
                        latest,
                    });
                }
                // When the event was reached, rather than when the task ended: the latency is that of events.
                clock.add(&ClockBound {
                    device: DeviceNs::new(row.end_device_ns),
                    earliest: HostNs::new(launch.begin),
                    latest,
                });
            }
        }
    }

    fn anchor(&mut self, row: &AnchorRow) {
        let key = (row.process, row.device);
        let half = row.after_ns.saturating_sub(row.before_ns) / 2;
        let Some(source) = AnchorSource::from_code(row.source) else {
            return;
        };
        if source != AnchorSource::Log {
            let host = row.before_ns.saturating_add(half);
            self.offsets.note(key, host, row.device_ns, MOST);
        }
        let totals = &mut self.totals;
        if totals.devices.len() < MOST {
            let by_events = totals.devices.entry(key).or_default();
            let device = match source {
                AnchorSource::Event => Some(by_events),
                AnchorSource::Driver => Some(totals.drivers.entry(key).or_default()),
                AnchorSource::Log => None,
            };
            if let Some(device) = device {
                device.anchor(half, row.device_ns % 1000 == 0);
            }
        }
        let clock = match source {
            AnchorSource::Event | AnchorSource::Log => self.clock(key),
            AnchorSource::Driver => bounds_of(&mut self.drivers, key),
        };
        if let Some(clock) = clock {
            clock.add_anchor(&ClockBound {
                device: DeviceNs::new(row.device_ns),
                earliest: HostNs::new(row.before_ns),
                latest: HostNs::new(row.after_ns),
            });
        }
    }

    fn clock(&mut self, key: (u32, u32)) -> Option<&mut DeviceBounds> {
        bounds_of(&mut self.clocks, key)
    }

    fn close_segment(&mut self) {
        let segment = std::mem::take(&mut self.segment);
        if segment.length == 0 {
            return;
        }
        self.totals.call_span = TimeRange::around([self.totals.call_span, segment.call_span]);
        self.segments.push(segment);
        let entries: usize = self.lanes().map(|lane| lane.len()).sum();
        if entries > ALL_ENTRIES {
            self.lanes()
                .for_each(|lane| lane.shrink((lane.len() / 4).max(4)));
        }
    }

    fn lanes(&mut self) -> impl Iterator<Item = &mut LaneBuilder> {
        let mut sorted = self.touched_threads.clone();
        sorted.sort_unstable();
        let mut wanted = sorted.into_iter().peekable();
        let threads = self.thread_states.iter_mut().enumerate();
        let threads = threads
            .filter(move |(place, _)| wanted.next_if_eq(place).is_some())
            .flat_map(|(_, thread)| &mut thread.lanes);
        threads.chain(self.streams.touched().map(|stream| &mut stream.lane))
    }
}
