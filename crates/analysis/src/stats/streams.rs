//! Sums of streams, and of the devices that they share.

use std::collections::BTreeMap;

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{ProcessId, StreamId, Task, TaskId, TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::idle::Sums;
use super::lanes::{DeviceStats, Overlap, StreamStats};
use super::tables::{Range, overlaps};
use super::work::{DeviceTime, Piece, Work};
use crate::{Cause, Class, Lane, Node, Stall, Window};

const fn waits(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::EventWait | Cause::SignalWait | Cause::Callback | Cause::CollectivePeer
    )
}

/// One stream so far.
#[derive(Clone, Debug, Default)]
struct Stream {
    tasks: u64,
    untimed: u64,
    busy: i64,
    sums: Sums,
    /// From when to when it is accounted for.
    life: Option<TimeRange>,
    /// Until then its time belongs to tasks that have been seen: no moment of a stream counts twice.
    until: Option<i64>,
}

/// All streams so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    work: Work,
}

impl Streams {
    pub(super) fn take(&mut self, window: &Window<'_>, range: Range) {
        let trace = window.trace;
        self.streams
            .resize_with(trace.streams().len(), Stream::default);
        for (id, stream) in (0..).map(StreamId).zip(&mut self.streams) {
            let pieces = stream.take(window, id, range);
            let of = trace.stream(id);
            self.work.add(id, (of.process, of.device), pieces);
        }
        let settled = match window.part.is_last {
            true => i64::MAX,
            false => window.since,
        };
        self.work.settle(settled);
    }

    pub(super) fn overlap(&self) -> Overlap {
        self.work.overlap()
    }

    /// The rows of streams and of devices.
    pub(super) fn rows(&self, trace: &Trace, range: Range) -> (Vec<StreamStats>, Vec<DeviceStats>) {
        let mut devices: BTreeMap<(ProcessId, u32), (DeviceStats, Sums)> = BTreeMap::new();
        let mut rows = Vec::new();
        for (id, sums) in (0..).map(StreamId).zip(&self.streams) {
            let stream = trace.stream(id);
            let row = sums.row(trace, id, range);
            if let Some((begin, end)) = row.begin_ns.zip(row.end_ns) {
                let key = (stream.process, stream.device);
                let (device, causes) = devices.entry(key).or_insert_with(|| {
                    let device = device_row(trace, key, begin, self.work.of(key));
                    (device, Sums::default())
                });
                device.streams += 1;
                device.begin_ns = device.begin_ns.min(begin);
                device.end_ns = device.end_ns.max(end);
                device.work_ns += row.busy_ns;
                causes.join(&sums.sums);
            }
            rows.push(row);
        }
        rows.sort_by_key(|row| (row.pid, row.process, row.device, row.stream_id));
        let devices = devices.into_values().map(|(device, sums)| DeviceStats {
            idle_ns: device.end_ns - device.begin_ns - device.busy_ns,
            stream_ns: device.work_ns + sums.total(|_| true),
            causes: sums.rows(),
            ..device
        });
        let mut devices: Vec<DeviceStats> = devices.collect();
        devices.sort_by_key(|row| (row.pid, row.process, row.device));
        (rows, devices)
    }
}

impl Stream {
    /// Takes in what a window has of the stream, and tells when it worked.
    fn take(&mut self, window: &Window<'_>, id: StreamId, range: Range) -> Vec<Piece> {
        let trace = window.trace;
        self.note_life(window, id);
        let mut held = FxHashMap::default();
        for stall in window.lane_stalls(Lane::Stream(id)) {
            if let Some(range) = range {
                self.sums.add(stall, range);
            }
            if let (Node::Task(task), false) = (stall.node, stall.is_gap()) {
                held.insert(task, *stall);
            }
        }
        let mut pieces = Vec::new();
        for task in window.stream_tasks(id) {
            if overlaps(range, trace.extent(trace.task(task))) {
                self.tasks += 1;
                self.untimed += u64::from(trace.task(task).time.is_none());
            }
            let piece = self.piece(trace, task, held.get(&task));
            let clip = |(piece, range): (Piece, TimeRange)| piece.clip(range);
            pieces.extend(piece.zip(range).and_then(clip));
        }
        self.busy += pieces.iter().map(Piece::length).sum::<i64>();
        pieces
    }

    fn note_life(&mut self, window: &Window<'_>, id: StreamId) {
        if let Some(TimeRange { begin, end }) = window.stalls.life(id) {
            // When it was first seen may have been forgotten.
            let first = self.life.map_or(begin, |life| life.begin.min(begin));
            self.life = Some(TimeRange::new(first, end));
        }
    }

    /// When a task kept the stream busy; `held` is the time of it in which it waited. Mapped times can make
    /// tasks overlap a little.
    fn piece(&mut self, trace: &Trace, id: TaskId, held: Option<&Stall>) -> Option<Piece> {
        let task = trace.task(id);
        let time = task.time?;
        let class = Class::of(trace, task);
        let is_over = match class {
            Class::Work | Class::Callback => Some(time.end),
            Class::EventWait | Class::SignalWait => held.map(|stall| stall.end),
            Class::Mark => None,
        };
        let before = self.until;
        self.until = before.max(is_over);
        let begin = before.map_or(time.begin, |until| until.max(time.begin));
        let begin = held.map_or(begin, |stall| begin.max(stall.end));
        let piece = Piece {
            begin,
            end: time.end,
            is_copy: is_copy(task),
        };
        (class == Class::Work && begin < time.end).then_some(piece)
    }

    fn row(&self, trace: &Trace, id: StreamId, range: Range) -> StreamStats {
        let stream = trace.stream(id);
        let life = self.life.zip(range);
        let life = life.map(|(life, range)| life.intersection(range));
        let life = life.filter(|life| life.begin <= life.end);
        let length = life.map_or(0, TimeRange::duration);
        let waiting_ns = self.sums.total(waits);
        StreamStats {
            process: trace.process(stream.process).serial,
            pid: trace.process(stream.process).pid,
            device: stream.device,
            stream_id: stream.number(),
            is_default: stream.is_default,
            timing: trace.timing_of(id).to_owned(),
            tasks: self.tasks,
            untimed: self.untimed,
            begin_ns: life.map(|life| life.begin),
            end_ns: life.map(|life| life.end),
            busy_ns: self.busy,
            waiting_ns,
            idle_ns: length - self.busy - waiting_ns,
            busy_share: match length {
                0 => 0.0,
                length => self.busy as f64 / length as f64,
            },
            causes: self.sums.rows(),
        }
    }
}

fn is_copy(task: &Task) -> bool {
    matches!(task.kind, TaskKind::Memcpy | TaskKind::Memset)
}

/// A device whose streams are still to be counted.
fn device_row(
    trace: &Trace,
    (process, device): (ProcessId, u32),
    begin_ns: i64,
    time: DeviceTime,
) -> DeviceStats {
    DeviceStats {
        process: trace.process(process).serial,
        pid: trace.process(process).pid,
        device,
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
