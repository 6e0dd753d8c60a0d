//! Which track each slice is drawn on.
//!
//! Importers want the slices of a track to nest or to be apart. A lane's slices go to its first
//! track where they can, else to the first of its sub-tracks that has room.
//!
//! Event records and waits have tracks beside their stream's, and so has whatever has no length.
//! A record takes no time, and a wait ends at the very moment of its record, while the work around
//! them begins and ends there too: on one track nothing would tell which of them an arrow means.

use std::collections::{BTreeMap, HashMap, HashSet};

use ascend_trace_analysis::Node;
use ascend_trace_format::api::{Role, TaskKind};
use ascend_trace_model::{CallId, ProcessId, StreamId, Task, TaskId, ThreadId, Trace};

use crate::Source;

/// Where a slice is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Track {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
}

/// Ids that are made up begin here: above the largest pid of Linux.
const MADE_UP: u32 = 10_000_000;

/// The tracks of one lane.
#[derive(Clone, Debug)]
pub(crate) struct LaneTracks {
    pub(crate) pid: u32,
    /// Where calls and work go; the first is the lane's own.
    pub(crate) slices: Vec<u32>,
    /// Where a stream's records and waits go. No two slices of such a track touch.
    pub(crate) events: Vec<u32>,
    /// Where the captures that a thread began go.
    pub(crate) captures: Vec<u32>,
    /// Where it is told why a stream did nothing; described when something is.
    stalls: Option<u32>,
}

impl LaneTracks {
    fn has_tracks(&self) -> bool {
        !(self.slices.is_empty() && self.events.is_empty() && self.captures.is_empty())
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

/// The tracks of everything in a trace.
#[derive(Debug)]
pub(crate) struct Tracks {
    pub(crate) processes: Vec<ProcessTrack>,
    pub(crate) threads: Vec<LaneTracks>,
    pub(crate) streams: Vec<LaneTracks>,
    /// Slices that are not on the first track of their kind.
    elsewhere: HashMap<Node, u32>,
    /// By graph: the thread that made it, and which of its tracks for captures.
    captures: Vec<Option<(ThreadId, usize)>>,
}

impl Tracks {
    /// The tracks of what is wanted. A lane of which nothing is has none.
    pub(crate) fn of(source: &Source<'_>) -> Self {
        let trace = source.trace;
        let mut ids = Ids::default();
        let hosts = host_processes(trace, &mut ids);
        let devices = device_processes(trace, &mut ids);
        let mut tracks = Self {
            processes: Vec::new(),
            threads: Vec::new(),
            streams: Vec::new(),
            elsewhere: HashMap::new(),
            captures: Vec::new(),
        };
        let captures = tracks.place_captures(source);
        for (index, thread) in trace.threads().iter().enumerate() {
            let pid = hosts[thread.process.index()];
            let id = ThreadId(index as u32);
            let own = ids.tids.take(thread.tid);
            let used = tracks.place_calls(source, id);
            let is_shown = source.selection.thread(trace, id);
            let own = is_shown.then_some(own);
            let slices = own
                .into_iter()
                .chain((1..used).map(|_| ids.tids.make()))
                .collect();
            tracks.threads.push(LaneTracks {
                pid,
                slices,
                events: Vec::new(),
                captures: (0..captures[index]).map(|_| ids.tids.make()).collect(),
                stalls: None,
            });
        }
        for (index, stream) in trace.streams().iter().enumerate() {
            let pid = devices[&(stream.process, stream.device)];
            let id = StreamId(index as u32);
            let (slices, events) = tracks.place_tasks(source, id);
            let own = usize::from(source.selection.stream(trace, id));
            tracks.streams.push(LaneTracks {
                pid,
                slices: (0..slices.max(own)).map(|_| ids.tids.make()).collect(),
                events: (0..events).map(|_| ids.tids.make()).collect(),
                captures: Vec::new(),
                stalls: Some(ids.tids.make()),
            });
        }
        tracks.processes = processes(&hosts, &devices);
        if !source.selection.is_whole() {
            tracks.leave_out_processes();
        }
        tracks
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

    /// Places the calls of a thread and returns how many tracks they need.
    fn place_calls(&mut self, source: &Source<'_>, thread: ThreadId) -> usize {
        let trace = source.trace;
        let mut lane: Vec<Nesting> = vec![Nesting::default()];
        for id in source.calls(thread) {
            let call = trace.call(id);
            let role = trace.function(call.function).role;
            let place = lane
                .iter_mut()
                .position(|track| track.accepts(call.begin, call.end));
            let place = place.unwrap_or(lane.len());
            if place == lane.len() {
                lane.push(Nesting::default());
            }
            let arrives_late = matches!(
                role,
                Role::SyncStream
                    | Role::SyncEvent
                    | Role::SyncDevice
                    | Role::DestroyStream
                    | Role::ProcessReport
            );
            lane[place].push(call.begin, call.end, arrives_late);
            self.put(Node::Call(id), place);
        }
        lane.len()
    }

    /// Places the captures and answers how many tracks each thread needs for them.
    fn place_captures(&mut self, source: &Source<'_>) -> Vec<usize> {
        let (trace, graphs) = (source.trace, &source.graphs);
        let mut ends: Vec<Vec<i64>> = vec![Vec::new(); trace.threads().len()];
        let mut spans: Vec<(usize, (i64, i64))> = (0..graphs.all().len())
            .filter_map(|index| Some((index, graphs.all()[index].making_span(trace)?)))
            .collect();
        spans.sort_by_key(|(_, span)| *span);
        self.captures = vec![None; graphs.all().len()];
        for (index, (begin, end)) in spans {
            let call = graphs.all()[index].begin;
            let Some(call) = call.filter(|call| source.selection.call(*call)) else {
                continue;
            };
            let thread = trace.call(call).thread;
            let place = first_fit(&mut ends[thread.index()], end, |last| last < begin);
            self.captures[index] = Some((thread, place));
        }
        ends.iter().map(Vec::len).collect()
    }

    /// Where the making of a graph is drawn; `None` when its begin or end is not known.
    pub(crate) fn capture(&self, graph: usize) -> Option<Track> {
        let (thread, place) = (*self.captures.get(graph)?)?;
        let lane = self.threads.get(thread.index())?;
        Some(Track {
            pid: lane.pid,
            tid: *lane.captures.get(place)?,
        })
    }

    /// Places the timed tasks of a stream and returns how many tracks its work and its events
    /// need.
    fn place_tasks(&mut self, source: &Source<'_>, stream: StreamId) -> (usize, usize) {
        let trace = source.trace;
        let (mut slices, mut events): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
        for id in source.tasks(stream) {
            let Some(time) = trace.task(id).time else {
                continue;
            };
            let place = match is_beside(trace.task(id)) {
                true => first_fit(&mut events, time.end, |end| end < time.begin),
                false => first_fit(&mut slices, time.end, |end| end <= time.begin),
            };
            self.put(Node::Task(id), place);
        }
        (slices.len(), events.len())
    }

    fn put(&mut self, node: Node, place: usize) {
        if place > 0 {
            self.elsewhere.insert(node, place as u32);
        }
    }

    fn place(&self, node: Node) -> usize {
        self.elsewhere.get(&node).map_or(0, |place| *place as usize)
    }

    pub(crate) fn call(&self, trace: &Trace, id: CallId) -> Track {
        let lane = &self.threads[trace.call(id).thread.index()];
        Track {
            pid: lane.pid,
            tid: lane.slices[self.place(Node::Call(id))],
        }
    }

    /// Where it is told why a stream did nothing.
    pub(crate) fn stalls(&self, stream: StreamId) -> Track {
        let lane = &self.streams[stream.index()];
        Track {
            pid: lane.pid,
            tid: lane.stalls.unwrap_or_default(),
        }
    }

    /// `None` for a task that is not drawn because it has no times.
    pub(crate) fn task(&self, trace: &Trace, id: TaskId) -> Option<Track> {
        let task = trace.task(id);
        task.time?;
        let lane = &self.streams[task.stream.index()];
        let tids = match is_beside(task) {
            true => &lane.events,
            false => &lane.slices,
        };
        Some(Track {
            pid: lane.pid,
            tid: tids[self.place(Node::Task(id))],
        })
    }
}

/// Whether a task is drawn beside its stream's track.
pub(crate) fn is_beside(task: &Task) -> bool {
    matches!(task.kind, TaskKind::Record | TaskKind::Wait)
        || task.time.is_some_and(|time| time.begin == time.end)
}

/// Puts something that lasts until `end` on the first track whose last end is `free`.
fn first_fit(tracks: &mut Vec<i64>, end: i64, free: impl Fn(i64) -> bool) -> usize {
    match tracks.iter().position(|last| free(*last)) {
        Some(place) => {
            tracks[place] = end;
            place
        }
        None => {
            tracks.push(end);
            tracks.len() - 1
        }
    }
}

/// The slices of a track of calls that are open at the moment.
#[derive(Clone, Debug, Default)]
struct Nesting {
    /// Begin, end, and whether the slice must stay without children.
    open: Vec<(i64, i64, bool)>,
    /// The last slice without a length.
    mark: Option<i64>,
    /// The end of the last slice that is over.
    over: Option<i64>,
}

impl Nesting {
    /// Whether a slice can follow here, in the order of begin times. A child must begin after its
    /// parent, so that an arrow which leaves at the parent's begin finds the parent.
    fn accepts(&mut self, begin: i64, end: i64) -> bool {
        while let Some((_, over, _)) = self.open.pop_if(|open| open.1 <= begin) {
            self.over = self.over.max(Some(over));
        }
        // What has no length would be taken for a part of what ends there.
        if begin == end && self.over == Some(begin) {
            return false;
        }
        if self.mark.is_some_and(|mark| mark >= begin) {
            return false;
        }
        match self.open.last() {
            Some((outer_begin, outer_end, leaf)) => {
                !leaf && *outer_begin < begin && end <= *outer_end
            }
            None => true,
        }
    }

    fn push(&mut self, begin: i64, end: i64, leaf: bool) {
        if begin < end {
            self.open.push((begin, end, leaf));
        } else {
            self.mark = Some(begin);
        }
    }
}

/// Numbers that must not occur twice.
#[derive(Debug, Default)]
struct Numbers {
    used: HashSet<u32>,
    made: u32,
}

impl Numbers {
    /// The number itself, or a made-up one when it is taken.
    fn take(&mut self, wanted: u32) -> u32 {
        match wanted < MADE_UP && self.used.insert(wanted) {
            true => wanted,
            false => self.make(),
        }
    }

    fn make(&mut self) -> u32 {
        self.made += 1;
        MADE_UP + self.made
    }
}

#[derive(Debug, Default)]
struct Ids {
    pids: Numbers,
    tids: Numbers,
}

type Devices = BTreeMap<(ProcessId, u32), u32>;

fn host_processes(trace: &Trace, ids: &mut Ids) -> Vec<u32> {
    let processes = trace.processes().iter();
    processes
        .map(|process| ids.pids.take(process.pid))
        .collect()
}

fn device_processes(trace: &Trace, ids: &mut Ids) -> Devices {
    let mut devices = Devices::new();
    for stream in trace.streams() {
        devices.insert((stream.process, stream.device), 0);
    }
    devices.values_mut().for_each(|pid| *pid = ids.pids.make());
    devices
}

/// Every process: the host's threads of one, then its devices, then the next one.
fn processes(hosts: &[u32], devices: &Devices) -> Vec<ProcessTrack> {
    let mut all = Vec::new();
    for (index, pid) in hosts.iter().enumerate() {
        let process = ProcessId(index as u32);
        all.push(ProcessTrack {
            pid: *pid,
            process,
            device: None,
        });
        let own = devices.range((process, 0)..=(process, u32::MAX));
        all.extend(own.map(|((_, device), pid)| ProcessTrack {
            pid: *pid,
            process,
            device: Some(*device),
        }));
    }
    all
}
