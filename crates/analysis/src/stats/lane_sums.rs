//! What lanes did in the parts of a recording so far, and the rows that it makes.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_model::{ProcessId, StreamId, Task, ThreadId, Trace};

use super::idle::Sums;
use super::lanes::{DeviceStats, Overlap, StreamStats, ThreadStats, Work, united, waits, work};
use super::tables::{Range, extent, overlaps};
use crate::{Intervals, Lane, Stalls};

#[derive(Clone, Debug, Default)]
pub(super) struct StreamSums {
    pub(super) tasks: u64,
    pub(super) untimed: u64,
    pub(super) sums: Sums,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ThreadSums {
    calls: u64,
    begin: Option<i64>,
    end: Option<i64>,
    in_calls: i64,
    pub(super) blocked: Sums,
    pub(super) late: Sums,
}

impl ThreadSums {
    /// Counts a call of the program's own. Those of one thread follow each other.
    pub(super) fn call(&mut self, (begin, end): (i64, i64), range: (i64, i64)) {
        let (begin, end) = (begin.max(range.0), end.min(range.1));
        self.calls += 1;
        self.begin = Some(self.begin.map_or(begin, |first| first.min(begin)));
        let from = self.end.map_or(begin, |last| last.max(begin));
        self.in_calls += (end - from).max(0);
        self.end = Some(self.end.map_or(end, |last| last.max(end)));
    }

    fn row(&self, trace: &Trace, id: ThreadId) -> Option<ThreadStats> {
        let thread = trace.thread(id);
        Some(ThreadStats {
            process: trace.process(thread.process).serial,
            pid: trace.process(thread.process).pid,
            tid: thread.tid,
            name: thread.name.clone(),
            calls: self.calls,
            begin_ns: self.begin?,
            end_ns: self.end?,
            in_calls_ns: self.in_calls,
            blocked_ns: self.blocked.total(|_| true),
            causes: self.blocked.rows(),
            streams_late: self.late.rows(),
        })
    }
}

pub(super) fn thread_rows(
    trace: &Trace,
    threads: &BTreeMap<ThreadId, ThreadSums>,
) -> Vec<ThreadStats> {
    let rows = threads.iter().filter_map(|(id, sums)| sums.row(trace, *id));
    let mut rows: Vec<ThreadStats> = rows.collect();
    rows.sort_by_key(|row| (row.pid, row.process, row.begin_ns, row.tid));
    rows
}

/// For how long the streams of a process on a device worked.
#[derive(Clone, Copy, Debug, Default)]
struct DeviceTime {
    busy: i64,
    copy: i64,
    compute: i64,
    both: i64,
    shared: i64,
}

/// For how long streams and devices worked.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkSums {
    streams: BTreeMap<StreamId, i64>,
    devices: BTreeMap<(ProcessId, u32), DeviceTime>,
    pub(super) overlap: Overlap,
}

struct Busy {
    stream: StreamId,
    device: (ProcessId, u32),
    work: Work,
    busy: Intervals,
}

impl WorkSums {
    /// Takes in what was done in a part; both of its moments are included.
    pub(super) fn take(&mut self, trace: &Trace, ended: &Stalls, own: (i64, i64), range: Range) {
        let Some(range) = range else { return };
        let span = (own.0.max(range.0), own.1.saturating_add(1).min(range.1));
        if span.0 >= span.1 {
            return;
        }
        let ids = (0..trace.streams().len() as u32).map(StreamId);
        let lanes: Vec<Busy> = ids
            .map(|id| busy(trace, ended, id, span))
            .filter(|lane| !lane.busy.is_empty())
            .collect();
        for lane in &lanes {
            *self.streams.entry(lane.stream).or_default() += lane.busy.total();
        }
        let mut devices: BTreeMap<_, Vec<&Busy>> = BTreeMap::new();
        for lane in &lanes {
            devices.entry(lane.device).or_default().push(lane);
        }
        for (device, lanes) in devices {
            self.devices.entry(device).or_default().add(&lanes);
        }
        let numbers: BTreeSet<u32> = lanes.iter().map(|lane| lane.device.1).collect();
        let by_number = numbers.into_iter().map(|number| {
            let own = lanes.iter().filter(|lane| lane.device.1 == number);
            united(own.map(|lane| &lane.busy))
        });
        let by_number: Vec<Intervals> = by_number.collect();
        self.overlap.busy_ns += united(&by_number).total();
        self.overlap.shared_ns += Intervals::shared_by(&by_number).total();
    }
}

impl DeviceTime {
    fn add(&mut self, lanes: &[&Busy]) {
        let copies = united(lanes.iter().map(|lane| &lane.work.copies));
        let computes = united(lanes.iter().map(|lane| &lane.work.computes));
        self.busy += united(lanes.iter().map(|lane| &lane.busy)).total();
        self.copy += copies.total();
        self.compute += computes.total();
        self.both += copies.intersection(&computes).total();
        self.shared += Intervals::shared_by(lanes.iter().map(|lane| &lane.busy)).total();
    }
}

fn busy(trace: &Trace, ended: &Stalls, id: StreamId, span: (i64, i64)) -> Busy {
    let tasks = trace.stream_tasks(id).iter().map(|id| trace.task(*id));
    let inside = tasks.filter(|task| {
        let (begin, end) = extent(trace, task);
        overlaps(Some(span), begin, end)
    });
    let inside: Vec<&Task> = inside.collect();
    let stalls = ended.lane(Lane::Stream(id)).iter();
    let stalled = Intervals::union_of(stalls.map(|it| (it.begin, it.end)));
    let work = work(trace, &inside, span, &stalled);
    let stream = trace.stream(id);
    Busy {
        stream: id,
        device: (stream.process, stream.device),
        busy: work.copies.union(&work.computes),
        work,
    }
}

/// The rows of streams and devices, when nothing more will come. `lives` says from when to when each
/// stream is accounted for.
pub(super) fn rows(
    trace: &Trace,
    streams: &BTreeMap<StreamId, StreamSums>,
    work: &WorkSums,
    lives: &[Option<(i64, i64)>],
    range: Range,
) -> (Vec<StreamStats>, Vec<DeviceStats>) {
    let mut rows = Vec::new();
    let mut devices: BTreeMap<(ProcessId, u32), DeviceStats> = BTreeMap::new();
    let mut causes: BTreeMap<(ProcessId, u32), Sums> = BTreeMap::new();
    for (id, life) in (0..).map(StreamId).zip(lives) {
        let stream = trace.stream(id);
        let clipped = life.zip(range).map(|(life, range)| {
            let (begin, end) = (life.0.max(range.0), life.1.min(range.1));
            (begin, end)
        });
        let clipped = clipped.filter(|(begin, end)| begin <= end);
        let sums = streams.get(&id).cloned().unwrap_or_default();
        let busy = work.streams.get(&id).copied().unwrap_or(0);
        let row = stream_row(trace, id, clipped, &sums, busy);
        if let Some((begin, end)) = clipped {
            let key = (stream.process, stream.device);
            let device = devices
                .entry(key)
                .or_insert_with(|| device_row(trace, key, begin, work));
            device.streams += 1;
            device.begin_ns = device.begin_ns.min(begin);
            device.end_ns = device.end_ns.max(end);
            device.work_ns += busy;
            causes.entry(key).or_default().join(&sums.sums);
        }
        rows.push(row);
    }
    for (key, device) in &mut devices {
        let sums = causes.remove(key).unwrap_or_default();
        device.idle_ns = device.end_ns - device.begin_ns - device.busy_ns;
        device.stream_ns = device.work_ns + sums.total(|_| true);
        device.causes = sums.rows();
    }
    rows.sort_by_key(|row| (row.pid, row.process, row.device, row.stream_id));
    let mut devices: Vec<DeviceStats> = devices.into_values().collect();
    devices.sort_by_key(|row| (row.pid, row.process, row.device));
    (rows, devices)
}

fn stream_row(
    trace: &Trace,
    id: StreamId,
    life: Option<(i64, i64)>,
    sums: &StreamSums,
    busy_ns: i64,
) -> StreamStats {
    let stream = trace.stream(id);
    let (begin, end) = life.unwrap_or((0, 0));
    let waiting_ns = sums.sums.total(waits);
    StreamStats {
        process: trace.process(stream.process).serial,
        pid: trace.process(stream.process).pid,
        device: stream.device,
        stream_id: stream.number(),
        is_default: stream.is_default,
        timing: trace.timing_of(id).to_owned(),
        tasks: sums.tasks,
        untimed: sums.untimed,
        begin_ns: life.map(|life| life.0),
        end_ns: life.map(|life| life.1),
        busy_ns,
        waiting_ns,
        idle_ns: end - begin - busy_ns - waiting_ns,
        busy_share: match end - begin {
            0 => 0.0,
            length => busy_ns as f64 / length as f64,
        },
        causes: sums.sums.rows(),
    }
}

/// A device whose streams are still to be counted.
fn device_row(trace: &Trace, key: (ProcessId, u32), begin_ns: i64, work: &WorkSums) -> DeviceStats {
    let time = work.devices.get(&key).copied().unwrap_or_default();
    DeviceStats {
        process: trace.process(key.0).serial,
        pid: trace.process(key.0).pid,
        device: key.1,
        streams: 0,
        begin_ns,
        end_ns: begin_ns,
        busy_ns: time.busy,
        idle_ns: 0,
        copy_ns: time.copy,
        compute_ns: time.compute,
        copy_compute_ns: time.both,
        shared_ns: time.shared,
        stream_ns: 0,
        work_ns: 0,
        causes: Vec::new(),
    }
}
