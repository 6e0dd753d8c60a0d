//! What streams, devices and threads did. Times of things that overlap are united, never summed.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::TaskKind;
use ascend_trace_model::{Process, ProcessId, StreamId, Task, ThreadId, Trace};
use serde::Serialize;

use super::idle::{Spent, Sums};
use super::tables::{Range, extent, overlaps};
use crate::dependencies::Node;
use crate::{Cause, Class, Intervals, Lane, Stalls};

/// What one stream did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamStats {
    /// Number of the process in the recording: pids do not tell processes apart.
    pub process: u32,
    pub pid: u32,
    pub device: u32,
    pub stream_id: i64,
    pub is_default: bool,
    /// How its tasks were timed, at least for a while: `events`, `chained`, `sampled`, or as asked for.
    pub timing: String,
    pub tasks: u64,
    /// Tasks among them that have no device time.
    pub untimed: u64,
    /// From its creation, or the first task where that was not seen, to its end, within the range;
    /// nothing for a stream that never had a task.
    pub begin_ns: Option<i64>,
    pub end_ns: Option<i64>,
    /// Time in which the device worked for it. With the times of all `causes` it makes up the
    /// time between `begin_ns` and `end_ns`, to the nanosecond.
    pub busy_ns: i64,
    /// Time in which it waited for an event, a notify or a value, a host function or a peer.
    pub waiting_ns: i64,
    /// The rest of the time between `begin_ns` and `end_ns`.
    pub idle_ns: i64,
    /// `busy_ns` as a part of the time between `begin_ns` and `end_ns`, 0 to 1.
    pub busy_share: f64,
    /// Why it did not work, longest first.
    pub causes: Vec<Spent>,
}

impl StreamStats {
    /// Whether it was only made: no task of it is in the range, nor any time in which it could have had one.
    pub fn is_unused(&self) -> bool {
        self.tasks == 0 && self.begin_ns.is_none()
    }
}

/// What the streams that a process had on one device did together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceStats {
    /// Number of the process in the recording: pids do not tell processes apart.
    pub process: u32,
    pub pid: u32,
    pub device: u32,
    pub streams: u64,
    /// From the begin of its first stream to the end of its last one, within the range.
    pub begin_ns: i64,
    pub end_ns: i64,
    /// Time in which at least one stream worked.
    pub busy_ns: i64,
    /// Time in which no stream did.
    pub idle_ns: i64,
    /// Time in which something was copied or set, and time in which something else ran.
    pub copy_ns: i64,
    pub compute_ns: i64,
    /// Time in which both happened.
    pub copy_compute_ns: i64,
    /// Time in which at least two streams worked.
    pub shared_ns: i64,
    /// The lengths of its streams' times, summed. With `work_ns` the `causes` make it up.
    pub stream_ns: i64,
    /// The streams' `busy_ns`, summed.
    pub work_ns: i64,
    pub causes: Vec<Spent>,
}

/// What a host thread did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadStats {
    /// Number of the process in the recording: pids do not tell processes apart.
    pub process: u32,
    pub pid: u32,
    pub tid: u32,
    pub name: String,
    /// The program's own calls.
    pub calls: u64,
    /// From its first call to the end of its last one, within the range.
    pub begin_ns: i64,
    pub end_ns: i64,
    /// Time inside calls.
    pub in_calls_ns: i64,
    /// Time inside calls that waited for the device or for room in a queue: the `causes` together.
    pub blocked_ns: i64,
    pub causes: Vec<Spent>,
    /// Time in which streams did nothing because this thread had not submitted what came next,
    /// summed over the streams.
    pub streams_late: Vec<Spent>,
}

/// What the devices of all processes did at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// Time in which at least one device worked.
    pub busy_ns: i64,
    /// Time in which at least two did.
    pub shared_ns: i64,
}

/// Time in which a stream worked.
pub(super) struct Work {
    pub(super) copies: Intervals,
    pub(super) computes: Intervals,
}

/// One stream inside the range.
struct StreamLane {
    device: (ProcessId, u32),
    row: StreamStats,
    work: Work,
    busy: Intervals,
    sums: Sums,
}

/// All streams inside the range.
pub(super) struct Lanes<'a> {
    trace: &'a Trace,
    streams: Vec<StreamLane>,
}

pub(super) const fn waits(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::EventWait | Cause::SignalWait | Cause::Callback | Cause::CollectivePeer
    )
}

impl<'a> Lanes<'a> {
    pub(super) fn of(trace: &'a Trace, stalls: &Stalls, range: Range) -> Self {
        let ids = (0..trace.streams().len() as u32).map(StreamId);
        Self {
            trace,
            streams: ids.map(|id| lane(trace, stalls, id, range)).collect(),
        }
    }

    pub(super) fn streams(&self) -> Vec<StreamStats> {
        let mut rows: Vec<_> = self.streams.iter().map(|lane| lane.row.clone()).collect();
        rows.sort_by_key(|row| (row.pid, row.process, row.device, row.stream_id));
        rows
    }

    fn by_device(&self) -> BTreeMap<(ProcessId, u32), Vec<&StreamLane>> {
        let mut devices: BTreeMap<_, Vec<&StreamLane>> = BTreeMap::new();
        for lane in self.streams.iter().filter(|it| it.row.begin_ns.is_some()) {
            devices.entry(lane.device).or_default().push(lane);
        }
        devices
    }

    pub(super) fn devices(&self) -> Vec<DeviceStats> {
        let devices = self.by_device().into_iter();
        let rows = devices.map(|((process, device), lanes)| {
            device_row(self.trace.process(process), device, &lanes)
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| (row.pid, row.process, row.device));
        rows
    }

    /// Devices are those of the machine: several processes can use the same one.
    pub(super) fn overlap(&self) -> Overlap {
        let numbers: BTreeSet<u32> = self.streams.iter().map(|lane| lane.device.1).collect();
        let busy = numbers.into_iter().map(|number| {
            let lanes = self.streams.iter().filter(|lane| lane.device.1 == number);
            united(lanes.map(|lane| &lane.busy))
        });
        let busy: Vec<Intervals> = busy.collect();
        Overlap {
            busy_ns: united(&busy).total(),
            shared_ns: Intervals::shared_by(&busy).total(),
        }
    }
}

pub(super) fn united<'a>(sets: impl IntoIterator<Item = &'a Intervals>) -> Intervals {
    let parts = sets.into_iter().flat_map(|set| set.parts().iter().copied());
    Intervals::union_of(parts)
}

fn device_row(process: &Process, device: u32, lanes: &[&StreamLane]) -> DeviceStats {
    let rows = || lanes.iter().map(|lane| &lane.row);
    let begin_ns = rows().filter_map(|row| row.begin_ns).min().unwrap_or(0);
    let end_ns = rows().filter_map(|row| row.end_ns).max().unwrap_or(0);
    let busy = united(lanes.iter().map(|lane| &lane.busy));
    let copies = united(lanes.iter().map(|lane| &lane.work.copies));
    let computes = united(lanes.iter().map(|lane| &lane.work.computes));
    let mut sums = Sums::default();
    lanes.iter().for_each(|lane| sums.join(&lane.sums));
    let work_ns = rows().map(|row| row.busy_ns).sum();
    DeviceStats {
        process: process.serial,
        pid: process.pid,
        device,
        streams: lanes.len() as u64,
        begin_ns,
        end_ns,
        busy_ns: busy.total(),
        idle_ns: end_ns - begin_ns - busy.total(),
        copy_ns: copies.total(),
        compute_ns: computes.total(),
        copy_compute_ns: copies.intersection(&computes).total(),
        shared_ns: Intervals::shared_by(lanes.iter().map(|lane| &lane.busy)).total(),
        stream_ns: work_ns + sums.total(|_| true),
        work_ns,
        causes: sums.rows(),
    }
}

fn lane(trace: &Trace, stalls: &Stalls, id: StreamId, range: Range) -> StreamLane {
    let stream = trace.stream(id);
    let inside = |task: &&Task| {
        let (begin, end) = extent(trace, task);
        overlaps(range, begin, end)
    };
    let all = trace.stream_tasks(id).iter().map(|id| trace.task(*id));
    let tasks: Vec<&Task> = all.filter(inside).collect();
    let clip = |life: (i64, i64)| {
        let range = range?;
        let (begin, end) = (life.0.max(range.0), life.1.min(range.1));
        (begin <= end).then_some((begin, end))
    };
    let life = stalls.life(id).and_then(clip);
    let (begin, end) = life.unwrap_or((0, 0));
    let mut sums = Sums::default();
    let stalled = stalls.in_window(Lane::Stream(id), begin, end);
    stalled
        .iter()
        .for_each(|stall| sums.add(stall, (begin, end)));
    let stalled = Intervals::union_of(stalled.iter().map(|it| (it.begin, it.end)));
    let work = work(trace, &tasks, (begin, end), &stalled);
    let busy = work.copies.union(&work.computes);
    let waiting_ns = sums.total(waits);
    let row = StreamStats {
        process: trace.process(stream.process).serial,
        pid: trace.process(stream.process).pid,
        device: stream.device,
        stream_id: stream.number(),
        is_default: stream.is_default,
        timing: trace.timing_of(id).to_owned(),
        tasks: tasks.len() as u64,
        untimed: tasks.iter().filter(|task| task.time.is_none()).count() as u64,
        begin_ns: life.map(|life| life.0),
        end_ns: life.map(|life| life.1),
        busy_ns: busy.total(),
        waiting_ns,
        idle_ns: end - begin - busy.total() - waiting_ns,
        busy_share: match end - begin {
            0 => 0.0,
            length => busy.total() as f64 / length as f64,
        },
        causes: sums.rows(),
    };
    StreamLane {
        device: (stream.process, stream.device),
        row,
        work,
        busy,
        sums,
    }
}

/// When a stream worked. Mapped times can make tasks overlap a little, and a collective waits in its
/// own time: no moment of a stream counts twice.
pub(super) fn work(trace: &Trace, tasks: &[&Task], span: (i64, i64), stalled: &Intervals) -> Work {
    let times = |wanted: fn(TaskKind) -> bool| {
        let tasks = tasks
            .iter()
            .filter(move |task| wanted(task.kind) && Class::of(trace, task) == Class::Work);
        let times = tasks.filter_map(|task| Some((task.time?.begin, task.time?.end)));
        Intervals::union_of(times)
            .clip(span.0, span.1)
            .difference(stalled)
    };
    let is_copy = |kind| matches!(kind, TaskKind::Memcpy | TaskKind::Memset);
    let copies = times(is_copy);
    let computes = times(|kind| !matches!(kind, TaskKind::Memcpy | TaskKind::Memset));
    Work {
        computes: computes.difference(&copies),
        copies,
    }
}

/// Whether a stream stalls because a thread had not submitted what came next.
pub(super) const fn is_late(cause: Cause) -> bool {
    cause.is_of_host() || matches!(cause, Cause::GraphLaunch)
}

pub(super) fn threads(trace: &Trace, stalls: &Stalls, range: Range) -> Vec<ThreadStats> {
    let Some(range) = range else {
        return Vec::new();
    };
    let mut late = vec![Sums::default(); trace.threads().len()];
    for stream in (0..trace.streams().len() as u32).map(StreamId) {
        for stall in stalls.in_window(Lane::Stream(stream), range.0, range.1) {
            if let (true, Node::Task(task)) = (is_late(stall.cause), stall.node) {
                let thread = trace.call(trace.task(task).call).thread;
                late[thread.index()].add(stall, range);
            }
        }
    }
    let ids = (0..trace.threads().len() as u32).map(ThreadId);
    let rows = ids
        .zip(&late)
        .filter_map(|(id, late)| thread(trace, stalls, id, range, late));
    let mut rows: Vec<ThreadStats> = rows.collect();
    rows.sort_by_key(|row| (row.pid, row.process, row.begin_ns, row.tid));
    rows
}

fn thread(
    trace: &Trace,
    stalls: &Stalls,
    id: ThreadId,
    range: (i64, i64),
    late: &Sums,
) -> Option<ThreadStats> {
    let calls = trace.thread_calls(id).iter().map(|id| trace.call(*id));
    let own = calls.filter(|call| call.depth == 0 && overlaps(Some(range), call.begin, call.end));
    let own: Vec<(i64, i64)> = own.map(|call| (call.begin, call.end)).collect();
    let begin_ns = own.iter().map(|call| call.0).min()?.max(range.0);
    let end_ns = own.iter().map(|call| call.1).max()?.min(range.1);
    let mut sums = Sums::default();
    let blocked = stalls.in_window(Lane::Thread(id), range.0, range.1);
    blocked.iter().for_each(|stall| sums.add(stall, range));
    let thread = trace.thread(id);
    Some(ThreadStats {
        process: trace.process(thread.process).serial,
        pid: trace.process(thread.process).pid,
        tid: thread.tid,
        name: thread.name.clone(),
        calls: own.len() as u64,
        begin_ns,
        end_ns,
        in_calls_ns: Intervals::union_of(own).clip(range.0, range.1).total(),
        blocked_ns: sums.total(|_| true),
        causes: sums.rows(),
        streams_late: late.rows(),
    })
}
