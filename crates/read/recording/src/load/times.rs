//! Puts device times on tasks: finds the task, maps its times to the host's clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use ascend_trace_format::api::Untimed;
use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::TimeRange;
use crate::clock::{self, DeviceClockMap, LaunchTimes, PairReading};
use crate::rows::TaskTimeRow;
use crate::trace::{ProcessId, StreamId, Task, TaskId, TaskTime, Trace};

/// One device as seen by one process.
#[derive(Clone, Debug)]
struct TimedDevice {
    clock: Arc<DeviceClockMap>,
    /// Where in the clock the last time was mapped.
    near: usize,
}

/// Device times that have arrived, and the clocks that map them.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceTimes {
    /// By stream: times without a matched task.
    waiting: Vec<Vec<TaskTimeRow>>,
    devices: BTreeMap<(ProcessId, u32), TimedDevice>,
    span: Option<TimeRange>,
}

impl DeviceTimes {
    pub(super) fn push_time(&mut self, stream: StreamId, row: TaskTimeRow) {
        let place = stream.index();
        if self.waiting.len() <= place {
            self.waiting.resize_with(place + 1, Vec::new);
        }
        self.waiting[place].push(row);
    }

    /// About the number of bytes of kept times.
    pub(super) fn memory(&self) -> u64 {
        let waiting: usize = self.waiting.iter().map(Vec::len).sum();
        let rows = waiting * size_of::<TaskTimeRow>();
        let lanes = self.waiting.len() * size_of::<Vec<TaskTimeRow>>();
        (rows + lanes) as u64
    }

    /// Moves waiting times to their tasks, and maps them; those without one keep waiting.
    pub(super) fn settle(&mut self, trace: &mut Trace) {
        for place in 0..self.waiting.len() {
            let stream = StreamId(place as u32);
            let mut rows = std::mem::take(&mut self.waiting[place]);
            let mut near = 0;
            // The room of those that leave is kept for those that come.
            rows.retain(|row| {
                let task = task_at(trace, stream, row.sequence, &mut near);
                if let Some(task) = task {
                    self.accept(trace, task, row);
                }
                task.is_none()
            });
            self.waiting[place] = rows;
        }
        if trace.session.timing == "hardware" {
            let clocks = self.devices.iter();
            trace.log_clocks = clocks
                .map(|(key, device)| (*key, Arc::clone(&device.clock)))
                .collect();
        }
    }

    /// Maps times by these clocks from now on.
    pub(super) fn set_clocks(
        &mut self,
        clocks: impl Iterator<Item = ((ProcessId, u32), Arc<DeviceClockMap>)>,
    ) {
        let devices = clocks.map(|(key, clock)| (key, TimedDevice { clock, near: 0 }));
        self.devices = devices.collect();
    }

    /// Takes a row of a task. Of several rows the first counts, as in an index.
    pub(super) fn accept(&mut self, trace: &mut Trace, id: TaskId, row: &TaskTimeRow) {
        let known = trace.task(id);
        let untimed = Untimed::from_code(row.untimed).unwrap_or(Untimed::Unreadable);
        let has_reason = !matches!(known.untimed, Untimed::Timed | Untimed::Lost);
        let says_more = untimed == Untimed::Timed || !has_reason;
        let is_known = known.time.is_some() || trace.runs.contains_key(&id);
        if is_known || !says_more || !may_be_timed(trace, known) {
            return;
        }
        if let Some(tasks) = row.run() {
            self.accept_run(trace, id, row, tasks);
            return;
        }
        let time = match untimed {
            Untimed::Timed => self.map(trace, id, row),
            _ => None,
        };
        let task = &mut trace.tasks[id.index()];
        (task.time, task.untimed) = match (untimed, time) {
            (Untimed::Timed, None) => (None, Untimed::Unreadable),
            (Untimed::Timed, Some(time)) => {
                self.span = TimeRange::grown(self.span, time.range());
                (Some(time), untimed)
            }
            _ => (task.time, untimed),
        };
    }

    /// Takes the time of a run, of which this is the first task.
    fn accept_run(&mut self, trace: &mut Trace, id: TaskId, row: &TaskTimeRow, tasks: u32) {
        let run = self.reading(trace, id, row).and_then(|read| {
            let (device, reading, launch) = read;
            clock::place_run(&device.clock, &mut device.near, (reading, tasks), launch)
        });
        trace.tasks[id.index()].untimed = Untimed::InRun;
        if let Some(run) = run {
            self.span = TimeRange::grown(self.span, run.time.range());
            trace.runs.insert(id, run);
        }
    }

    /// Begin of the first and end of the last task.
    pub(super) fn span(&self) -> Option<TimeRange> {
        self.span
    }

    fn map(&mut self, trace: &Trace, id: TaskId, row: &TaskTimeRow) -> Option<TaskTime> {
        let (device, reading, launch) = self.reading(trace, id, row)?;
        let time = clock::place(&device.clock, &mut device.near, reading, launch)?;
        Some(on_host(time, launch.begin, row).unwrap_or(time))
    }

    /// The events of a row, the submission of its task, and the clock of its device.
    fn reading(
        &mut self,
        trace: &Trace,
        id: TaskId,
        row: &TaskTimeRow,
    ) -> Option<(&mut TimedDevice, PairReading, LaunchTimes)> {
        let task = trace.task(id);
        let stream = trace.stream(task.stream);
        let device = self.devices.get_mut(&(stream.process, stream.device))?;
        let call = trace.call(task.call);
        let known = Some(i64::from(row.submitting_ns)).filter(|passed| *passed > 0);
        let begin = HostNs::new(call.begin);
        let launch = LaunchTimes {
            begin,
            end: HostNs::new(call.end),
            closed: known.map(|passed| begin.plus(passed)),
        };
        let (record, record_open) = row.record();
        let reading = PairReading {
            begin: DeviceNs::new(row.begin_device_ns),
            end: DeviceNs::new(row.end_device_ns.max(row.begin_device_ns)),
            kind: task.kind,
            record,
            record_open,
            turn: 0,
            shorter: 0,
            longer: 0,
            noise: 0,
            // The hardware's log says nothing of submissions.
            is_of_events: row.submitting_ns > 0,
        };
        Some((device, reading, launch))
    }
}

/// By how much the host's clock may be off over the time from a submission to the end of a function, as a part of it, and how long a
/// call by the tool may take in addition.
const HOST_RATE: i64 = 100_000;
const HOST_OPEN_NS: i64 = 900;

/// When a function of the program ran on the host. Its stream came to it before, and went on after it. `None` if it was not
/// timed, or if that contradicts the events.
fn on_host(time: TaskTime, launch: HostNs, row: &TaskTimeRow) -> Option<TaskTime> {
    let (after, lasted) = row.hosted()?;
    let begin = launch.plus(after).ns();
    let end = begin.saturating_add(lasted);
    let error = HOST_OPEN_NS + (after.saturating_add(lasted)) / HOST_RATE;
    let within = |bound: i64| bound.saturating_add(time.error).saturating_add(error);
    let is_inside = within(begin) >= time.begin && within(time.end) >= end;
    // Other tasks are on the device's clock.
    let open = u32::try_from(error).unwrap_or(u32::MAX);
    is_inside.then(|| TaskTime {
        begin,
        end,
        error,
        local_error: time
            .error
            .saturating_sub(time.local_error)
            .max(0)
            .saturating_add(error),
        shorter: open,
        longer: open,
        noise: 0,
    })
}

/// Whether a row with a time of this task counts.
pub(crate) fn may_be_timed(trace: &Trace, task: &Task) -> bool {
    trace.runs(task) && may_come(task.untimed)
}

/// Whether a row with a time counts after a call that said this, if the task runs: the hardware's log knows more than
/// the call did.
pub(crate) fn may_come(untimed: Untimed) -> bool {
    matches!(
        untimed,
        Untimed::Timed | Untimed::Lost | Untimed::Bound | Untimed::InCallback | Untimed::Unknown
    )
}

fn task_at(trace: &Trace, stream: StreamId, sequence: u32, near: &mut usize) -> Option<TaskId> {
    let lane = trace.stream_tasks(stream);
    let place = clock::place_near(lane, near, |id| {
        let task = trace.task(*id);
        (task.sequence, trace.runs(task)) < (sequence, true)
    });
    let id = *lane.get(place)?;
    (trace.task(id).sequence == sequence).then_some(id)
}
