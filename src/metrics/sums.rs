//! Sums of a recording, range by range.
//!
//! Every stream is accounted for up to some time, so a stall without an end yet waits without holding
//! up others. Calls, the stalls of threads and steps count when they end.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_analysis::stats::Steps;
use ascend_trace_analysis::{Cause, Fold, Lane, Learner, Window};
use ascend_trace_format::api::{Role, TaskKind};
use ascend_trace_recording::{Card, ProcessId, StreamId, ThreadId, TimeRange, Trace};

use super::device::{BusyInterval, DeviceUsage, DeviceUse, EstimateSums, work};
use super::families::MetricId;
use super::steps::StepDurations;
use super::text::{LabelValues, MetricSamples, MetricValue};

/// Processes with separate series; the others are summed up as one.
const MOST_PROCESSES: usize = 256;
/// The same for streams: programs can make them without end.
const MOST_STREAMS: usize = 256;
/// Name of the sum of all others.
const OTHER: &str = "other";

/// Nanoseconds by cause.
#[derive(Clone, Debug, Default)]
struct ByCause([i64; Cause::ALL.len()]);

impl ByCause {
    fn add(&mut self, cause: Cause, ns: i64) {
        self.0[cause as usize] += ns.max(0);
    }

    fn show(&self, samples: &mut MetricSamples, metric: MetricId, labels: &LabelValues) {
        // A stream without further tasks is no stall, and tasks without a time are work.
        let is_stall = |cause| !matches!(cause, Cause::Drained | Cause::Untimed);
        let causes = Cause::ALL.into_iter().zip(self.0);
        for (cause, ns) in causes.filter(|it| it.1 > 0 && is_stall(it.0)) {
            let labels = with(labels, "cause", cause.name());
            samples.add(metric, &labels, MetricValue::time(ns));
        }
    }
}

/// Sums of a process on one device.
#[derive(Clone, Debug, Default)]
struct DeviceSums {
    tasks: BTreeMap<TaskKind, u64>,
    used: DeviceUsage,
    stalls: ByCause,
    /// Tasks without a time, and those of them of which nothing is known.
    untimed: u64,
    unestimated: u64,
}

#[derive(Clone, Copy, Debug)]
struct StreamSums {
    /// Up to here it is accounted for.
    reached: i64,
    busy: i64,
    estimated: EstimateSums,
    /// Nothing of it was summed up yet.
    is_new: bool,
    /// It has tasks before the common point that may still get times.
    lags: bool,
}

impl StreamSums {
    const fn at(reached: i64) -> Self {
        Self {
            reached,
            busy: 0,
            estimated: EstimateSums {
                busy: 0,
                error: 0,
                untimed: 0,
                unestimated: 0,
            },
            is_new: true,
            lags: false,
        }
    }
}

/// The sums.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordingSums {
    devices: BTreeMap<(ProcessId, u32), DeviceSums>,
    streams: BTreeMap<StreamId, StreamSums>,
    threads: BTreeMap<ProcessId, ByCause>,
    /// By the number of the process.
    steps: BTreeMap<u32, StepDurations>,
    learner: Learner,
}

impl RecordingSums {
    /// Adds the events after `range.begin`, up to its end. `limits`: the known ends of streams with
    /// tasks that have no times yet.
    pub(super) fn take(
        &mut self,
        window: &Window<'_>,
        range: TimeRange,
        limits: &BTreeMap<StreamId, i64>,
    ) {
        let mut work: BTreeMap<(ProcessId, u32), Vec<BusyInterval>> = BTreeMap::new();
        for id in (0..window.trace.streams().len() as u32).map(StreamId) {
            let limit = limits.get(&id).copied().unwrap_or(i64::MAX);
            let own = self.stream(window, id, range.end.min(limit));
            if let Some(stream) = self.streams.get_mut(&id) {
                stream.lags = limit < range.end;
            }
            let stream = window.trace.stream(id);
            let device = work.entry((stream.process, stream.device));
            device.or_default().extend(own);
        }
        let lagging = limits.iter().filter(|it| *it.1 < range.end);
        let lagging: BTreeSet<(ProcessId, u32)> = lagging
            .map(|(id, _)| window.trace.stream(*id))
            .map(|stream| (stream.process, stream.device))
            .collect();
        for (device, pieces) in work {
            let lags = lagging.contains(&device);
            let used = &mut self.devices.entry(device).or_default().used;
            used.add(&pieces, range, lags);
        }
        self.threads(window, range);
        self.calls(window.trace, range);
        self.steps(window, range);
    }

    /// Accounts for a stream up to a time, and returns its work.
    fn stream(&mut self, window: &Window<'_>, id: StreamId, until: i64) -> Vec<BusyInterval> {
        let Some(life) = window.stalls.life(id) else {
            return Vec::new();
        };
        let trace = window.trace;
        let stream = self.streams.entry(id).or_insert(StreamSums::at(life.begin));
        let rest = TimeRange::new(stream.reached, until.min(life.end));
        if rest.begin >= rest.end {
            return Vec::new();
        }
        let key = (trace.stream(id).process, trace.stream(id).device);
        let device = self.devices.entry(key).or_default();
        // Its last work is too far back.
        let unknown = life.begin.min(rest.end) - rest.begin;
        device.stalls.add(Cause::Unknown, unknown);
        for stall in window.stalls.lane(Lane::Stream(id)) {
            let inside = stall.range().intersection(rest);
            device.stalls.add(stall.cause, inside.duration());
        }
        let work = work(window, id, (rest, stream.is_new), &mut self.learner);
        let lengths = work.pieces.iter().map(|it| it.range.duration());
        stream.busy += lengths.sum::<i64>();
        stream.estimated.add(work.estimated);
        device.untimed += work.estimated.untimed;
        device.unestimated += work.estimated.unestimated;
        stream.is_new = false;
        stream.reached = rest.end;
        work.pieces
    }

    fn threads(&mut self, window: &Window<'_>, range: TimeRange) {
        for id in (0..window.trace.threads().len() as u32).map(ThreadId) {
            let stalls = window.stalls.lane(Lane::Thread(id)).iter();
            for stall in stalls.filter(|it| ends_in(range, it.end)) {
                let process = window.trace.thread(id).process;
                let causes = self.threads.entry(process).or_default();
                causes.add(stall.cause, stall.length());
            }
        }
    }

    fn calls(&mut self, trace: &Trace, range: TimeRange) {
        for call in trace.calls().iter().filter(|it| ends_in(range, it.end)) {
            if let Some(task) = call.task.map(|id| trace.task(id)) {
                let stream = trace.stream(task.stream);
                let device = self.devices.entry((stream.process, stream.device));
                *device.or_default().tasks.entry(task.kind).or_default() += 1;
            }
            let is_made = trace.function(call.function).role == Role::CreateStream;
            if let (Some(id), true) = (call.stream, is_made) {
                // Until its first task it waits for one.
                self.streams.entry(id).or_insert(StreamSums::at(call.end));
            }
        }
    }

    fn steps(&mut self, window: &Window<'_>, range: TimeRange) {
        if window.trace.ranges().is_empty() {
            return;
        }
        let mut steps = Steps::default();
        steps.take(window);
        for row in steps.rows() {
            if ends_in(range, row.begin_ns.saturating_add(row.length_ns)) {
                let durations = self.steps.entry(row.process).or_default();
                durations.add(row.length_ns);
            }
        }
    }

    /// Up to where the stream is known that lags behind most.
    pub(super) fn lagging(&self) -> Option<i64> {
        let lagging = self.streams.values().filter(|it| it.lags);
        lagging.map(|it| it.reached).min()
    }

    /// From when on a trace must be known for what these streams did in it, if it begins too late for that.
    pub(super) fn missing(&self, trace: &Trace, range: TimeRange) -> Option<i64> {
        let streams = self.streams.iter();
        let unrooted = streams.filter(|(id, stream)| {
            let tasks = trace.stream_tasks(**id);
            let times = tasks.iter().filter_map(|id| trace.task(*id).time);
            let mut times = times.map(|time| time.range());
            times.next().is_some_and(|first| {
                let is_active = first.overlaps(range) || times.any(|it| it.overlaps(range));
                is_active && first.begin >= stream.reached
            })
        });
        unrooted.map(|(_, stream)| stream.reached).min()
    }

    /// Adds everything to samples; `entities` knows the names.
    pub(super) fn show(&self, samples: &mut MetricSamples, entities: &Trace) {
        for ((process, number), device) in &self.devices {
            let labels = process_labels(entities, *process);
            let labels = with(&labels, "device", &number.to_string());
            device.show(samples, &labels);
            show_card(samples, &labels, entities.card(*process, *number));
        }
        // Streams that had a number one after another have the same labels.
        let mut lanes: BTreeMap<StreamId, usize> = BTreeMap::new();
        for (id, stream) in &self.streams {
            let (lane, next) = (entities.lane_of(*id), lanes.len());
            let place = *lanes.entry(lane).or_insert(next);
            let labels = stream_labels(entities, lane, place);
            for (metric, ns) in [
                (MetricId::StreamBusy, stream.busy),
                (MetricId::StreamEstimated, stream.estimated.busy),
                (MetricId::StreamError, stream.estimated.error),
            ] {
                samples.add(metric, &labels, MetricValue::time(ns));
            }
        }
        for (process, causes) in &self.threads {
            let labels = process_labels(entities, *process);
            causes.show(samples, MetricId::ThreadStalls, &labels);
        }
        for (number, durations) in &self.steps {
            if let Some(process) = entities.process_numbered(*number) {
                durations.show(samples, &process_labels(entities, process));
            }
        }
    }
}

impl DeviceSums {
    fn show(&self, samples: &mut MetricSamples, labels: &LabelValues) {
        for (kind, count) in &self.tasks {
            let labels = with(labels, "kind", kind.name());
            samples.add(MetricId::Tasks, &labels, MetricValue::Count(*count));
        }
        for (metric, count) in [
            (MetricId::Untimed, self.untimed),
            (MetricId::Unestimated, self.unestimated),
        ] {
            samples.add(metric, labels, MetricValue::Count(count));
        }
        samples.add(
            MetricId::Busy,
            labels,
            MetricValue::time(self.used.totals.busy),
        );
        for (used, ns) in DeviceUse::ALL.into_iter().zip(self.used.totals.by_use) {
            let labels = with(labels, "kind", used.name());
            samples.add(MetricId::Used, &labels, MetricValue::time(ns));
        }
        samples.add(
            MetricId::Exposed,
            labels,
            MetricValue::time(self.used.totals.exposed),
        );
        self.stalls.show(samples, MetricId::StreamStalls, labels);
    }
}

/// Whether a time is after the begin of a range, and not after its end: of consecutive ranges, exactly
/// one owns each time.
const fn ends_in(range: TimeRange, moment: i64) -> bool {
    range.begin < moment && moment <= range.end
}

fn with(labels: &LabelValues, name: &'static str, value: &str) -> LabelValues {
    let mut labels = labels.clone();
    labels.push((name, value.to_owned()));
    labels
}

/// What names a process.
pub(super) fn process_labels(entities: &Trace, id: ProcessId) -> LabelValues {
    if id.index() >= MOST_PROCESSES {
        return vec![("process", OTHER.to_owned())];
    }
    let process = entities.process(id);
    let rank = process.rank_number().map(|it| it.to_string());
    vec![
        ("process", process.serial.to_string()),
        ("pid", process.pid.to_string()),
        ("rank", rank.unwrap_or_default()),
    ]
}

/// The card is no label of other metrics: it becomes known after the first samples of its device.
fn show_card(samples: &mut MetricSamples, labels: &LabelValues, card: Card) {
    if let Some(number) = card.number {
        let address = card.address.map_or_else(String::new, |it| it.to_string());
        let labels = with(labels, "card", &number.to_string());
        let labels = with(&labels, "pci_address", &address);
        samples.add(MetricId::DeviceInfo, &labels, MetricValue::Count(1));
    }
}

fn stream_labels(entities: &Trace, id: StreamId, place: usize) -> LabelValues {
    let stream = entities.stream(id);
    let labels = process_labels(entities, stream.process);
    let labels = with(&labels, "device", &stream.device.to_string());
    match place < MOST_STREAMS {
        true => with(&labels, "stream", &stream.number().to_string()),
        false => with(&labels, "stream", OTHER),
    }
}
