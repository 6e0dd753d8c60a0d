//! Puts device times on tasks: finds the task, maps its times to the host's clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use ascend_trace_format::api::{AnchorSource, TaskKind, Untimed};
use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::TimeRange;
use crate::clock::{self, Bound, Clock, Launch, Reading};
use crate::rows::{AnchorRow, TaskTimeRow};
use crate::trace::{DeviceClock, ProcessId, StreamId, TaskId, Trace};

/// A task's time as the device told it.
#[derive(Clone, Copy, Debug)]
struct DeviceTime {
    begin: DeviceNs,
    end: DeviceNs,
    /// By then the task had certainly completed, if that is known.
    seen: Option<HostNs>,
    /// See [`TaskTimeRow`].
    arming_ns: u32,
    submitting_ns: u32,
    record_ns: u32,
    record_open_ns: u32,
}

/// One device as seen by one process.
#[derive(Clone, Debug, Default)]
struct Device {
    anchors: Vec<AnchorRow>,
    /// Bounds that the clock has not taken in yet.
    fresh: Vec<Bound>,
    /// What the driver told of the clock, and what of it the clock has not taken in yet.
    driver: Vec<AnchorRow>,
    fresh_driver: Vec<Bound>,
    clock: Option<Arc<Clock>>,
    /// Where in the clock the last time was mapped.
    near: usize,
}

/// Device times that have arrived, and the clocks that map them.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// By stream: times whose task has not been matched yet.
    waiting: Vec<Vec<TaskTimeRow>>,
    /// By task.
    raw: Vec<Option<DeviceTime>>,
    devices: BTreeMap<(ProcessId, u32), Device>,
    timed: usize,
    timed_at_full_pass: usize,
    /// The clocks are known; nothing more is learnt about them.
    fixed: bool,
    span: Option<TimeRange>,
}

impl Times {
    pub(super) fn push_time(&mut self, stream: StreamId, row: TaskTimeRow) {
        let place = stream.index();
        if self.waiting.len() <= place {
            self.waiting.resize_with(place + 1, Vec::new);
        }
        self.waiting[place].push(row);
    }

    pub(super) fn push_anchor(&mut self, process: ProcessId, row: AnchorRow) {
        let device = self.device(process, row.device);
        match AnchorSource::from_code(row.source) {
            Some(AnchorSource::Event) => {
                device.anchors.push(row);
                device.fresh.push(bound_of(&row));
            }
            Some(AnchorSource::Driver) => {
                device.driver.push(row);
                device.fresh_driver.push(bound_of(&row));
            }
            Some(AnchorSource::Log) => device.fresh.push(bound_of(&row)),
            // Nobody knows what it tells.
            None => {}
        }
    }

    fn device(&mut self, process: ProcessId, device: u32) -> &mut Device {
        self.devices.entry((process, device)).or_default()
    }

    /// About so many bytes are kept of times.
    pub(super) fn memory(&self) -> u64 {
        let waiting: usize = self.waiting.iter().map(Vec::len).sum();
        let rows = waiting * size_of::<TaskTimeRow>();
        let lanes = self.waiting.len() * size_of::<Vec<TaskTimeRow>>();
        (rows + lanes + self.raw.len() * size_of::<Option<DeviceTime>>()) as u64
    }

    /// Maps what is new. Now and then everything is mapped anew, since later anchors sharpen what
    /// is known about earlier times: each time the number of timed tasks has grown by a quarter,
    /// so that the cost per task stays bounded, and with `last` once more from the beginning.
    pub(super) fn settle(&mut self, trace: &mut Trace, last: bool) {
        self.raw.resize(trace.tasks.len(), None);
        let fresh = self.match_tasks(trace);
        if last && !self.fixed {
            self.start_over(trace);
        }
        for device in self.devices.values_mut().filter(|_| !self.fixed) {
            device.fit(last);
        }
        // Clocks that are fixed map what was mapped before to what it is already.
        if !self.fixed && (last || self.timed * 4 > self.timed_at_full_pass * 5) {
            self.timed_at_full_pass = self.timed;
            self.span = None;
            for index in 0..trace.tasks.len() {
                self.map(trace, TaskId(index as u32));
            }
        } else {
            for task in fresh {
                self.map(trace, task);
            }
        }
        if !self.fixed {
            trace.clocks = self.devices.iter().map(summary).collect();
        }
        if trace.session.timing == "hardware" {
            let clocks = self.devices.iter();
            trace.log_clocks = clocks
                .filter_map(|(key, device)| Some((*key, Arc::clone(device.clock.as_ref()?))))
                .collect();
        }
    }

    /// Takes clocks that were fitted elsewhere.
    pub(super) fn fix(&mut self, clocks: impl Iterator<Item = ((ProcessId, u32), Arc<Clock>)>) {
        self.fixed = true;
        self.devices = clocks
            .map(|(key, clock)| {
                let device = Device {
                    clock: Some(clock),
                    ..Device::default()
                };
                (key, device)
            })
            .collect();
    }

    /// Moves waiting times to their tasks; those without one keep waiting.
    fn match_tasks(&mut self, trace: &mut Trace) -> Vec<TaskId> {
        let mut fresh = Vec::new();
        for place in 0..self.waiting.len() {
            let stream = StreamId(place as u32);
            let mut rows = std::mem::take(&mut self.waiting[place]);
            let mut near = 0;
            // The room of those that leave is kept for those that come.
            rows.retain(|row| {
                let task = task_at(trace, stream, row.sequence, &mut near);
                if let Some(task) = task {
                    self.accept(trace, task, row);
                    fresh.push(task);
                }
                task.is_none()
            });
            self.waiting[place] = rows;
        }
        fresh
    }

    fn accept(&mut self, trace: &mut Trace, id: TaskId, row: &TaskTimeRow) {
        let task = &mut trace.tasks[id.index()];
        task.untimed = Untimed::from_code(row.untimed).unwrap_or(Untimed::Unreadable);
        if task.untimed != Untimed::Timed {
            return;
        }
        let time = DeviceTime {
            begin: DeviceNs::new(row.begin_device_ns),
            end: DeviceNs::new(row.end_device_ns.max(row.begin_device_ns)),
            seen: (row.seen_ns > 0).then_some(HostNs::new(row.seen_ns)),
            arming_ns: row.arming_ns,
            submitting_ns: row.submitting_ns,
            record_ns: row.record_ns,
            record_open_ns: row.record_open_ns,
        };
        if self.raw[id.index()].replace(time).is_none() {
            self.timed += 1;
        }
        self.bind(trace, id, time);
    }

    /// The events around a task were reached after they had been submitted, and before the task was
    /// seen complete.
    fn bind(&mut self, trace: &Trace, id: TaskId, time: DeviceTime) {
        let task = trace.task(id);
        let stream = trace.stream(task.stream);
        let Some(latest) = time.seen.filter(|_| !self.fixed) else {
            return;
        };
        let submitted = HostNs::new(trace.call(task.call).begin);
        let fresh = &mut self.device(stream.process, stream.device).fresh;
        fresh.push(Bound {
            device: time.end,
            earliest: submitted,
            latest,
        });
        if time.arming_ns > 0 {
            fresh.push(Bound {
                device: time.begin,
                earliest: submitted.minus(time.arming_ns.into()),
                latest,
            });
        }
    }

    /// Forgets the fits and queues every bound again.
    fn start_over(&mut self, trace: &Trace) {
        for device in self.devices.values_mut() {
            device.clock = None;
            device.fresh = device.anchors.iter().map(bound_of).collect();
            device.fresh_driver = device.driver.iter().map(bound_of).collect();
        }
        for index in 0..self.raw.len() {
            if let Some(time) = self.raw[index] {
                self.bind(trace, TaskId(index as u32), time);
            }
        }
    }

    /// Keeps the device times of these tasks only, in the order of their ids.
    pub(super) fn retain(&mut self, keep: impl Fn(TaskId) -> bool) {
        let mut ids = (0..).map(TaskId);
        self.raw.retain(|_| ids.next().is_some_and(&keep));
        self.timed = self.raw.iter().flatten().count();
    }

    /// First and last moment of any task.
    pub(super) fn span(&self) -> Option<TimeRange> {
        self.span
    }

    fn map(&mut self, trace: &mut Trace, id: TaskId) {
        let Some(raw) = self.raw[id.index()] else {
            return;
        };
        let stream = trace.stream(trace.task(id).stream);
        let device = self.devices.get_mut(&(stream.process, stream.device));
        let call = trace.call(trace.task(id).call);
        let known = Some(i64::from(raw.submitting_ns)).filter(|passed| *passed > 0);
        let begin = HostNs::new(call.begin);
        let launch = Launch {
            begin,
            end: HostNs::new(call.end),
            closed: known.map(|passed| begin.plus(passed)),
        };
        let reading = Reading {
            begin: raw.begin,
            end: raw.end,
            is_moment: trace.task(id).kind == TaskKind::Record,
            record: raw.record_ns.into(),
            record_open: raw.record_open_ns.into(),
        };
        let time = device.and_then(|device| {
            let clock = device.clock.as_deref()?;
            clock::place(clock, &mut device.near, reading, launch)
        });
        let task = &mut trace.tasks[id.index()];
        task.time = time;
        task.untimed = match time {
            None => Untimed::Unreadable,
            Some(time) => {
                self.span = TimeRange::around([self.span, Some(time.range())]);
                Untimed::Timed
            }
        };
    }
}

impl Device {
    fn fit(&mut self, last: bool) {
        if self.fresh.is_empty() && self.fresh_driver.is_empty() {
            return;
        }
        let sorted = |bounds: &mut Vec<Bound>| {
            let mut bounds = std::mem::take(bounds);
            bounds.sort_by_key(|bound| bound.device);
            bounds
        };
        let fresh = sorted(&mut self.fresh);
        let driver = sorted(&mut self.fresh_driver);
        let anchors = &self.anchors;
        let tick = || clock::tick_of(anchors.iter().map(|row| row.device_ns));
        let clock = self
            .clock
            .get_or_insert_with(|| Arc::new(Clock::new(tick())));
        let clock = Arc::make_mut(clock);
        clock.extend(&fresh, &driver);
        if last {
            clock.look_back();
        }
    }
}

fn bound_of(row: &AnchorRow) -> Bound {
    Bound {
        device: DeviceNs::new(row.device_ns),
        earliest: HostNs::new(row.before_ns),
        latest: HostNs::new(row.after_ns),
    }
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

fn summary((&(process, number), device): (&(ProcessId, u32), &Device)) -> DeviceClock {
    let (median_error_ns, max_error_ns) = widths(&device.anchors);
    let (driver_median_error_ns, _) = widths(&device.driver);
    let clock = device.clock.as_deref();
    let (steps, mistakes) = clock.map_or((0, 0), Clock::troubles);
    DeviceClock {
        process: process.0,
        device: number,
        anchors: device.anchors.len() as u32,
        median_error_ns,
        max_error_ns,
        driver_anchors: device.driver.len() as u32,
        driver_median_error_ns,
        driver_disagrees: clock.is_some_and(Clock::driver_disagrees),
        drift_ppm: clock.and_then(Clock::drift_ppm),
        is_unusual: clock.is_some_and(Clock::is_unusual),
        steps,
        mistakes,
    }
}

/// Median and largest half width.
fn widths(anchors: &[AnchorRow]) -> (i64, i64) {
    let halves = anchors.iter();
    let mut halves: Vec<i64> = halves
        .map(|row| row.after_ns.saturating_sub(row.before_ns) / 2)
        .collect();
    halves.sort_unstable();
    let median = halves.get(halves.len() / 2).copied().unwrap_or(0);
    (median, halves.last().copied().unwrap_or(0))
}
