//! Sums of streams, and of the devices that they share.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ascend_trace_recording::{ProcessId, StreamId, TaskId, TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::lane_rows::{DeviceStats, Overlap, StreamStats, process_order};
use super::shared_time::{DeviceSums, StreamWork};
use super::stalls_by_cause::Sums;
use super::tables::{Operations, Range, is_copy, overlaps};
use super::work::{DeviceTime, Work, WorkInterval};
use crate::{Cause, Lane, Node, Stall, TaskRole, Window};

const fn waits(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::EventWait | Cause::SignalWait | Cause::Callback | Cause::CollectivePeer
    )
}

/// One stream until now.
#[derive(Clone, Debug, Default)]
struct Stream {
    tasks: u64,
    untimed: u64,
    busy: i64,
    /// Of these, while something was copied or set.
    copied: i64,
    sums: Sums,
    /// From when to when it is accounted for.
    life: Option<TimeRange>,
    /// Until then its time belongs to earlier tasks: no time of a stream counts twice.
    until: Option<i64>,
}

/// All streams until now.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    work: Work,
}

impl Streams {
    pub(super) fn take(&mut self, window: &Window<'_>, range: Range, operations: &mut Operations) {
        let trace = window.trace;
        self.streams
            .resize_with(trace.streams().len(), Stream::default);
        for (id, stream) in (0..).map(StreamId).zip(&mut self.streams) {
            let pieces = stream.take(window, (id, range), operations);
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
    pub(super) fn rows(
        &self,
        trace: &Trace,
        range: Range,
        operations: &Operations,
    ) -> (Vec<StreamStats>, Vec<DeviceStats>) {
        let mut devices: BTreeMap<(ProcessId, u32), (DeviceStats, Sums, [DeviceSums; 3])> =
            BTreeMap::new();
        let mut lanes: BTreeMap<StreamId, (StreamStats, Sums)> = BTreeMap::new();
        for (id, sums) in (0..).map(StreamId).zip(&self.streams) {
            let stream = trace.stream(id);
            let row = sums.row(trace, (id, range), operations);
            if let Some((begin, end)) = row.begin_ns.zip(row.end_ns) {
                let key = (stream.process, stream.device);
                let (device, causes, together) = devices.entry(key).or_insert_with(|| {
                    let device = device_row(trace, key, begin, self.work.of(key));
                    (device, Sums::default(), Default::default())
                });
                device.streams += 1;
                device.begin_ns = device.begin_ns.min(begin);
                device.end_ns = device.end_ns.max(end);
                device.work_ns += row.busy_ns;
                causes.join(&sums.sums);
                let kinds = [None, Some(true), Some(false)];
                for (together, is_copy) in together.iter_mut().zip(kinds) {
                    together.add(&sums.worked(id, is_copy, operations));
                }
            }
            match lanes.entry(trace.lane_of(id)) {
                Entry::Vacant(lane) => {
                    lane.insert((row, sums.sums.clone()));
                }
                Entry::Occupied(mut lane) => {
                    let (known, causes) = lane.get_mut();
                    known.join(&row);
                    causes.join(&sums.sums);
                }
            }
        }
        let rows = lanes.into_values().map(|(row, causes)| StreamStats {
            causes: causes.rows(),
            ..row
        });
        let mut rows: Vec<StreamStats> = rows.collect();
        rows.sort_by_key(|row| {
            let process = process_order(row.rank, row.pid, row.process);
            (process, row.device, row.stream_id)
        });
        let devices = devices.into_iter().map(|(key, (device, sums, together))| {
            let time = self.work.of(key);
            let length = device.end_ns - device.begin_ns;
            let [busy, copy, compute] = together;
            let unestimated = busy.unestimated;
            let busy = busy.estimate(time.busy, length);
            let copy = copy.estimate(time.copy, length);
            let compute = compute.estimate(time.compute, length);
            DeviceStats {
                estimated_busy_ns: busy.value_ns(),
                busy_error_ns: busy.error_ns(),
                estimated_copy_ns: copy.value_ns(),
                copy_error_ns: copy.error_ns(),
                estimated_compute_ns: compute.value_ns(),
                compute_error_ns: compute.error_ns(),
                unestimated,
                idle_ns: length - device.busy_ns,
                stream_ns: device.work_ns + sums.total(|_| true),
                causes: sums.rows(),
                ..device
            }
        });
        let mut devices: Vec<DeviceStats> = devices.collect();
        devices.sort_by_key(|row| (process_order(row.rank, row.pid, row.process), row.device));
        (rows, devices)
    }
}

impl Stream {
    /// Takes the stream's part of a window, and returns its work.
    fn take(
        &mut self,
        window: &Window<'_>,
        (id, range): (StreamId, Range),
        operations: &mut Operations,
    ) -> Vec<WorkInterval> {
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
            let piece = self.piece(trace, task, held.get(&task));
            let clip = |(piece, range): (WorkInterval, TimeRange)| piece.clip(range);
            let piece = piece.zip(range).and_then(clip);
            if overlaps(range, trace.extent(trace.task(task))) {
                self.tasks += 1;
                self.untimed += u64::from(trace.task(task).time.is_none());
                operations.add(trace, task, piece.as_ref().map_or(0, WorkInterval::length));
            }
            pieces.extend(piece);
        }
        self.busy += pieces.iter().map(WorkInterval::length).sum::<i64>();
        let copies = pieces.iter().filter(|piece| piece.is_copy);
        self.copied += copies.map(WorkInterval::length).sum::<i64>();
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
    fn piece(&mut self, trace: &Trace, id: TaskId, held: Option<&Stall>) -> Option<WorkInterval> {
        let task = trace.task(id);
        let time = task.time?;
        let class = TaskRole::of(trace, task);
        let is_over = match class {
            TaskRole::Work | TaskRole::Callback => Some(time.end),
            TaskRole::EventWait | TaskRole::SignalWait => held.map(|stall| stall.end),
            TaskRole::Mark => None,
        };
        let before = self.until;
        self.until = before.max(is_over);
        let begin = before.map_or(time.begin, |until| until.max(time.begin));
        let begin = held.map_or(begin, |stall| begin.max(stall.end));
        let is_work = class == TaskRole::Work && begin < time.end;
        let bar = TimeRange::new(begin, time.end);
        is_work.then(|| WorkInterval::of(bar, &time, is_copy(task.kind)))
    }

    /// How long it worked: all of it, or copies alone, or all but copies.
    fn worked(&self, id: StreamId, is_copy: Option<bool>, operations: &Operations) -> StreamWork {
        let (estimate, unestimated) = operations.worked(id, is_copy);
        StreamWork {
            bars: match is_copy {
                None => self.busy,
                Some(true) => self.copied,
                Some(false) => self.busy - self.copied,
            },
            estimate,
            is_timed: self.untimed == 0,
            untimed: operations.untimed(id, is_copy),
            unestimated,
        }
    }

    fn row(
        &self,
        trace: &Trace,
        (id, range): (StreamId, Range),
        operations: &Operations,
    ) -> StreamStats {
        let stream = trace.stream(id);
        let life = self.life.zip(range);
        let life = life.map(|(life, range)| life.intersection(range));
        let life = life.filter(|life| life.begin <= life.end);
        let length = life.map_or(0, TimeRange::duration);
        let waiting_ns = self.sums.total(waits);
        let (worked, unestimated) = operations.worked(id, None);
        let most = (length - waiting_ns).max(0);
        let busy = worked.value_ns().min(most);
        StreamStats {
            process: trace.process(stream.process).serial,
            pid: trace.process(stream.process).pid,
            rank: trace.process(stream.process).rank_number(),
            device: stream.device,
            card: trace.card(stream.process, stream.device).number,
            stream_id: stream.number(),
            is_default: stream.is_default,
            lives: 1,
            timing: trace.timing_of(id).to_owned(),
            tasks: self.tasks,
            untimed: self.untimed,
            begin_ns: life.map(|life| life.begin),
            end_ns: life.map(|life| life.end),
            lived_ns: length,
            busy_ns: self.busy,
            estimated_busy_ns: busy,
            busy_error_ns: worked.error_ns(),
            unestimated,
            waiting_ns,
            idle_ns: length - self.busy - waiting_ns,
            busy_share: match length {
                0 => 0.0,
                length => busy as f64 / length as f64,
            },
            causes: Vec::new(),
        }
    }
}

/// A device with streams that are still to be counted.
fn device_row(
    trace: &Trace,
    (process, device): (ProcessId, u32),
    begin_ns: i64,
    time: DeviceTime,
) -> DeviceStats {
    let card = trace.card(process, device);
    DeviceStats {
        process: trace.process(process).serial,
        pid: trace.process(process).pid,
        rank: trace.process(process).rank_number(),
        device,
        card: card.number,
        pci_address: card.address.map(|it| it.to_string()),
        streams: 0,
        begin_ns,
        end_ns: begin_ns,
        busy_ns: time.busy.bars,
        estimated_busy_ns: 0,
        busy_error_ns: 0,
        estimated_copy_ns: 0,
        copy_error_ns: 0,
        estimated_compute_ns: 0,
        compute_error_ns: 0,
        unestimated: 0,
        idle_ns: 0,
        copy_ns: time.copy.bars,
        compute_ns: time.compute.bars,
        copy_compute_ns: time.both,
        shared_ns: time.shared,
        stream_ns: 0,
        work_ns: 0,
        causes: Vec::new(),
    }
}
