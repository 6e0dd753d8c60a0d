//! Tables that sum a trace up: per operation, per stream, per API function, and the stalls.
//!
//! [`Stats`] serialises to the content of the document that `ascend-trace stats --json` prints; rows by their columns.
//! Fields are only added within a version of it. All times are nanoseconds; `*_ns` fields of timestamps are `CLOCK_MONOTONIC` of
//! the recording host. An unknown field is `null`.

mod call_sites;
mod columns;
mod durations;
mod event_cost;
mod graphs;
mod histogram;
mod lane_rows;
mod open_calls;
mod other_threads;
mod shared_time;
mod stall;
mod stall_words;
mod stalls_by_cause;
mod stalls_by_culprit;
mod streams;
mod tables;
mod task_parts;
mod threads;
pub(crate) mod training;
mod work;

use ascend_trace_format::record::Counter;
use ascend_trace_recording::{OpenError, Recording, TimeRange, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::columns::rows;
use crate::range_window::{Streams, part_of};
use crate::{Fold, Window, WindowSize};

pub use call_sites::{CallSite, Site};
pub use columns::{ApiStats, GraphStats, OperationStats, PartStats};
pub use durations::{Durations, TaskDurations};
pub use event_cost::EventCost;
pub(crate) use lane_rows::process_order;
pub use lane_rows::{DeviceStats, Overlap, StreamStats, ThreadStats};
pub use open_calls::OpenCallStats;
pub use other_threads::OtherThreadStats;
pub use stall::{MeanwhileStats, StallStats};
pub use stalls_by_cause::{CauseStats, CauseTime};
pub use stalls_by_culprit::{Grouping, StallGroup, StallGroups};
pub(crate) use tables::{operation, replayed};
pub use training::{HOST, ModuleStats, RangeStats, StepStats, Steps, Verdict};

/// Stalls that [`Stats::worst_stalls`] lists.
pub const WORST_STALLS: usize = 20;

/// Rows of a range and its surroundings that are read by the index alone.
const NARROW: u64 = 400_000;

/// The tables of a trace, or of a part of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stats {
    /// Begin and end of the covered time; `null` for an empty trace.
    pub begin_ns: Option<i64>,
    pub end_ns: Option<i64>,
    /// By total time, longest first.
    #[serde(serialize_with = "rows")]
    pub operations: Vec<OperationStats>,
    /// What ran inside of operations by the hardware's log, longest first: the kernels of those with several, and the nodes
    /// of graphs.
    #[serde(serialize_with = "rows")]
    pub parts: Vec<PartStats>,
    /// In the order of process, device and stream number.
    #[serde(serialize_with = "rows")]
    pub streams: Vec<StreamStats>,
    /// In the order of process and device number.
    #[serde(serialize_with = "rows")]
    pub devices: Vec<DeviceStats>,
    /// In the order in which they made their first calls.
    #[serde(serialize_with = "rows")]
    pub threads: Vec<ThreadStats>,
    /// Threads without recorded calls, the busiest first.
    #[serde(serialize_with = "rows")]
    pub other_threads: Vec<OtherThreadStats>,
    /// Of all devices together.
    pub overlap: Overlap,
    /// By total time, longest first.
    #[serde(serialize_with = "rows")]
    pub apis: Vec<ApiStats>,
    /// One row per cause that occurs, for streams and for threads, by total time.
    #[serde(serialize_with = "rows")]
    pub stall_causes: Vec<CauseStats>,
    /// The longest stalls, longest first.
    #[serde(serialize_with = "rows")]
    pub worst_stalls: Vec<StallStats>,
    /// In the order in which they were made.
    #[serde(serialize_with = "rows")]
    pub graphs: Vec<GraphStats>,
    /// Calls that had not returned, longest first.
    #[serde(serialize_with = "rows")]
    pub open_calls: Vec<OpenCallStats>,
    /// Steps of training loops, by begin.
    #[serde(serialize_with = "rows")]
    pub steps: Vec<StepStats>,
    /// Ranges of the program or of the hook inside Python, longest first.
    #[serde(serialize_with = "rows")]
    pub ranges: Vec<RangeStats>,
    /// Operations by phase and module, longest first.
    #[serde(serialize_with = "rows")]
    pub module_operations: Vec<ModuleStats>,
    pub tracing: Tracing,
    /// Documents have it in their head.
    #[serde(skip)]
    pub lost: LostRecords,
}

/// What timing did to the device, in the whole recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Tracing {
    /// Event records that a timed task brought with it, on average.
    pub events_per_task: f64,
    /// Timed tasks that took less time than an event record does.
    pub short_tasks: u64,
    /// Tasks of runs that have one time together.
    pub run_tasks: u64,
    #[serde(flatten)]
    pub cost: EventCost,
    /// The part of a stream's time that events may take, in percent; `null` without a limit.
    pub budget_percent: Option<f64>,
}

impl Tracing {
    fn of(trace: &Trace) -> Self {
        let counter = |counter: Counter| trace.counter(counter as u16);
        let (events, tasks) = (
            counter(Counter::InjectedEvents),
            counter(Counter::TimedTasks),
        );
        Self {
            events_per_task: match tasks {
                0 => 0.0,
                _ => events as f64 / tasks as f64,
            },
            short_tasks: counter(Counter::ShortTasks),
            run_tasks: counter(Counter::RunTasks),
            cost: EventCost::of(trace),
            budget_percent: trace.session().budget.map(|part| f64::from(part) / 100.0),
        }
    }
}

/// Records that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostRecords {
    pub calls: u64,
    pub others: u64,
}

impl Stats {
    /// The tables of a whole trace.
    pub fn of(trace: &Trace) -> Self {
        Self::within(&Window::whole(trace), trace.span())
    }

    /// The tables of what overlaps a range of time in a trace that is one window. Durations are those of whole
    /// tasks, calls and stalls; times of streams, devices and threads are those inside the range.
    pub fn within(window: &Window<'_>, range: Option<TimeRange>) -> Self {
        Tables::within(range).of(window)
    }

    /// The same of a recording in a file: read by the index where the range is narrow, with the
    /// necessary surroundings, else in windows from begin to end. `keep_on` gets the progress, and ends
    /// it by returning false; the result then has no tables.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_recording(
        recording: &mut Recording,
        range: Option<TimeRange>,
        keep_on: impl FnMut(i64) -> bool,
    ) -> Result<Option<Self>, OpenError> {
        let part = range.filter(|_| range != recording.span());
        let narrow = match part {
            Some(part) => part_of(recording, part, Streams::All, NARROW)?,
            None => None,
        };
        match narrow {
            Some(trace) => Ok(Some(Self::within(&Window::whole(&trace), range))),
            None => Tables::within(range).of_recording(recording, WindowSize::default(), keep_on),
        }
    }
}

/// The tables of what overlaps a range of time, summed up window by window.
///
/// Memory follows the number of different functions, operations, streams and threads, and how much work
/// streams have ahead of them. Percentiles of more than 4096 durations are right to a 128th.
#[derive(Debug)]
pub struct Tables {
    range: Option<TimeRange>,
    operations: tables::Operations,
    parts: task_parts::TaskPartSums,
    apis: tables::Apis,
    streams: streams::Streams,
    threads: threads::Threads,
    causes: stalls_by_cause::CauseTable,
    worst: stall::Worst,
    replays: graphs::Replays,
    open: Vec<OpenCallStats>,
    training: training::Training,
    /// Facts of the last window about everything before it.
    closing: Closing,
}

#[derive(Debug, Default)]
struct Closing {
    streams: Vec<StreamStats>,
    devices: Vec<DeviceStats>,
    threads: Vec<ThreadStats>,
    other_threads: Vec<OtherThreadStats>,
    apis: Vec<ApiStats>,
    graphs: Vec<GraphStats>,
    tracing: Tracing,
    lost: LostRecords,
}

impl Tables {
    pub fn within(range: Option<TimeRange>) -> Self {
        Self {
            range,
            operations: tables::Operations::default(),
            parts: task_parts::TaskPartSums::default(),
            apis: tables::Apis::default(),
            streams: streams::Streams::default(),
            threads: threads::Threads::default(),
            causes: stalls_by_cause::CauseTable::default(),
            worst: stall::Worst::default(),
            replays: graphs::Replays::default(),
            open: Vec::new(),
            training: training::Training::default(),
            closing: Closing::default(),
        }
    }

    fn close(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let losses = trace.losses();
        self.operations.close();
        let (streams, devices) = self.streams.rows(trace, self.range, &self.operations);
        self.closing = Closing {
            streams,
            devices,
            threads: self.threads.rows(trace),
            other_threads: other_threads::rows(trace, self.range),
            apis: self.apis.rows(trace.functions()),
            graphs: self.replays.rows(window, self.range, &self.operations),
            tracing: Tracing::of(trace),
            lost: LostRecords {
                calls: losses.calls,
                others: losses.others,
            },
        };
    }
}

impl Fold for Tables {
    type Answer = Stats;

    fn take(&mut self, window: &Window<'_>) {
        let range = self.range;
        self.parts.take(window, range);
        self.apis.take(window, range);
        self.streams.take(window, range, &mut self.operations);
        self.threads.take(window, range);
        let stalls = window.stalls();
        let inside = stalls.filter(|it| tables::overlaps(range, it.range()));
        inside.for_each(|stall| self.causes.add(stall));
        self.worst.take(window, range);
        self.replays.take(window, range);
        self.open.extend(open_calls::of_window(window, range));
        self.training.take(window, range);
        if window.part.is_last {
            self.close(window);
        }
    }

    fn finish(self) -> Stats {
        let closing = self.closing;
        let (steps, ranges, module_operations) = self.training.rows(self.range);
        Stats {
            begin_ns: self.range.map(|range| range.begin),
            end_ns: self.range.map(|range| range.end),
            operations: self.operations.rows(),
            parts: self.parts.rows(),
            streams: closing.streams,
            devices: closing.devices,
            threads: closing.threads,
            other_threads: closing.other_threads,
            overlap: self.streams.overlap(),
            apis: closing.apis,
            stall_causes: self.causes.rows(),
            worst_stalls: self.worst.rows(),
            graphs: closing.graphs,
            open_calls: open_calls::sorted(self.open),
            steps,
            ranges,
            module_operations,
            tracing: closing.tracing,
            lost: closing.lost,
        }
    }
}
