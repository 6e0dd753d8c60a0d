//! Tables that sum a trace up: per operation, per stream, per API function, and the stalls.
//!
//! [`Stats`] serialises to the document that `ascend-trace stats --json` prints. Its `schema` is
//! `ascend_trace_format::version::JSON_SCHEMA_VERSION`; fields are only added within a version.
//! All times are nanoseconds; `*_ns` fields of moments are `CLOCK_MONOTONIC` of the recording host.
//! A field that cannot be known is `null`.

mod blamed;
mod durations;
mod graphs;
mod histogram;
mod idle;
mod lane_sums;
mod lanes;
mod long;
mod open;
mod running;
mod stall;
mod tables;

use ascend_trace_format::record::Counter;
use ascend_trace_format::version::JSON_SCHEMA_VERSION;
use ascend_trace_model::Trace;
use serde::Serialize;

use crate::{Dependencies, Stalls};

pub use blamed::{StallGroup, StallGroups};
pub use durations::Durations;
pub use idle::{CauseStats, Spent};
pub use lanes::{DeviceStats, Overlap, StreamStats, ThreadStats};
pub use open::OpenCallStats;
pub use stall::{MeanwhileStats, Site, StallStats};

/// Stalls that [`Stats::worst_stalls`] lists.
pub const WORST_STALLS: usize = 20;

/// The tables of a trace, or of a part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// Version of this document.
    pub schema: u32,
    /// First and last moment that the tables cover; `null` for an empty trace.
    pub begin_ns: Option<i64>,
    pub end_ns: Option<i64>,
    /// By total time, longest first.
    pub operations: Vec<OperationStats>,
    /// In the order of process, device and stream number.
    pub streams: Vec<StreamStats>,
    /// In the order of process and device number.
    pub devices: Vec<DeviceStats>,
    /// In the order in which they made their first calls.
    pub threads: Vec<ThreadStats>,
    /// Of all devices together.
    pub overlap: Overlap,
    /// By total time, longest first.
    pub apis: Vec<ApiStats>,
    /// One row per cause that occurs, for streams and for threads, by total time.
    pub stall_causes: Vec<CauseStats>,
    /// The longest stalls, longest first.
    pub worst_stalls: Vec<StallStats>,
    /// In the order in which they were made.
    pub graphs: Vec<GraphStats>,
    /// Calls that had not returned, longest first.
    pub open_calls: Vec<OpenCallStats>,
    pub tracing: Tracing,
    pub lost: Lost,
}

/// The tasks of one name and kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationStats {
    pub name: String,
    /// Kind of task, as in `tasks.csv`.
    pub kind: &'static str,
    /// All tasks of this name; `time.count` of them could be timed.
    pub count: u64,
    pub time: Durations,
    /// Part of the time of all operations, 0 to 1. `null` for waits and records, which are no work.
    pub share: Option<f64>,
}

/// The calls of one function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApiStats {
    pub name: String,
    pub category: String,
    pub count: u64,
    /// Calls that returned an error code.
    pub errors: u64,
    /// Calls that a library of the runtime made inside another call; their time is part of that.
    pub nested: u64,
    pub time: Durations,
}

/// One graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphStats {
    /// Number of the process in the recording: pids do not tell processes apart.
    pub process: u32,
    pub pid: u32,
    /// Counts the graphs of the process from 1.
    pub graph: u32,
    /// `captured`, or `built` by hand.
    pub making: &'static str,
    /// `ready`, `failed`, or `open`: not ended.
    pub outcome: &'static str,
    /// What the end of its capture returned, if that failed.
    pub code: Option<i64>,
    /// Why, in words; and the function that is to blame.
    pub reason: Option<String>,
    pub reason_call: Option<String>,
    /// Calls that were refused because of its capture.
    pub refused: u64,
    /// Numbers of its streams, in the order in which they joined.
    pub streams: Vec<i64>,
    pub nodes: u64,
    /// All replays; `time.count` of them could be timed.
    pub replays: u64,
    pub time: Durations,
}

/// What timing did to the device, in the whole recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Tracing {
    /// Event records that a timed task brought with it, on average.
    pub events_per_task: f64,
    /// Timed tasks that took less time than an event record does.
    pub short_tasks: u64,
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
        }
    }
}

/// What could not be recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lost {
    pub calls: u64,
    pub others: u64,
}

impl Stats {
    /// The tables of the whole trace.
    pub fn of(trace: &Trace, dependencies: &Dependencies, stalls: &Stalls) -> Self {
        Self::within(trace, dependencies, stalls, trace.span())
    }

    /// The tables of what overlaps a range of time. Durations are those of whole tasks, calls and
    /// stalls; times of streams, devices and threads are those inside the range.
    pub fn within(
        trace: &Trace,
        dependencies: &Dependencies,
        stalls: &Stalls,
        range: Option<(i64, i64)>,
    ) -> Self {
        let losses = trace.losses();
        let lanes = lanes::Lanes::of(trace, stalls, range);
        Self {
            schema: JSON_SCHEMA_VERSION,
            begin_ns: range.map(|range| range.0),
            end_ns: range.map(|range| range.1),
            operations: tables::operations(trace, range),
            streams: lanes.streams(),
            devices: lanes.devices(),
            threads: lanes::threads(trace, stalls, range),
            overlap: lanes.overlap(),
            apis: tables::apis(trace, range),
            stall_causes: idle::causes(stalls, range),
            worst_stalls: stall::worst(trace, dependencies, stalls, range),
            graphs: graphs::rows(trace, range),
            open_calls: open::rows(trace, range),
            tracing: Tracing::of(trace),
            lost: Lost {
                calls: losses.calls,
                others: losses.others,
            },
        }
    }
}
