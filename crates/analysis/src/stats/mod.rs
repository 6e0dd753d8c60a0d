//! Tables that sum a trace up: per operation, per stream, per API function, and the stalls.
//!
//! [`Stats`] serialises to the document that `ascend-trace stats --json` prints. Its `schema` is
//! `ascend_trace_format::version::JSON_SCHEMA_VERSION`; fields are only added within a version.
//! All times are nanoseconds; `*_ns` fields of moments are `CLOCK_MONOTONIC` of the recording host.
//! A field that cannot be known is `null`.

mod durations;
mod graphs;
mod tables;

use ascend_trace_format::version::JSON_SCHEMA_VERSION;
use ascend_trace_model::Trace;
use serde::Serialize;

use crate::{Dependencies, Stalls};

pub use durations::Durations;

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
    /// By total time, longest first.
    pub apis: Vec<ApiStats>,
    /// One row per cause that occurs, by total time.
    pub stall_causes: Vec<CauseStats>,
    /// The longest stalls, longest first.
    pub worst_stalls: Vec<StallStats>,
    /// In the order in which they were made.
    pub graphs: Vec<GraphStats>,
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

/// What one stream did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamStats {
    pub pid: u32,
    pub device: u32,
    pub stream_id: i64,
    pub is_default: bool,
    pub tasks: u64,
    /// Tasks among them that have no device time.
    pub untimed: u64,
    /// From the first task's submission to the last task's end, within the range.
    pub begin_ns: Option<i64>,
    pub end_ns: Option<i64>,
    /// Time in which at least one task ran; waits for events are not work.
    pub busy_ns: i64,
    /// Time in which only a wait for an event was at the head of the stream.
    pub waiting_ns: i64,
    /// The rest of the time between `begin_ns` and `end_ns`.
    pub idle_ns: i64,
    /// `busy_ns` as a part of the time between `begin_ns` and `end_ns`, 0 to 1.
    pub busy_share: f64,
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

/// All stalls of one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseStats {
    pub cause: &'static str,
    pub count: u64,
    /// Summed over the lanes; the stalls of one lane never overlap.
    pub total_ns: i64,
    pub max_ns: i64,
}

/// One stall.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StallStats {
    pub cause: &'static str,
    pub pid: u32,
    /// The stalled thread, for a stall of the host.
    pub tid: Option<u32>,
    /// The stalled stream, for a stall on a device.
    pub device: Option<u32>,
    pub stream_id: Option<i64>,
    pub begin_ns: i64,
    pub end_ns: i64,
    pub length_ns: i64,
    /// Name of what could not go on: a task or a call.
    pub name: String,
    /// The stream that was waited for, and the last work on it.
    pub culprit_device: Option<u32>,
    pub culprit_stream_id: Option<i64>,
    pub culprit_task: Option<String>,
    /// Serial number of the event that was waited for, within its process.
    pub event: Option<u32>,
    /// Name of the call that came late.
    pub culprit_call: Option<String>,
}

/// One graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphStats {
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
    /// stalls; times of streams are those inside the range.
    pub fn within(
        trace: &Trace,
        dependencies: &Dependencies,
        stalls: &Stalls,
        range: Option<(i64, i64)>,
    ) -> Self {
        let losses = trace.losses();
        Self {
            schema: JSON_SCHEMA_VERSION,
            begin_ns: range.map(|range| range.0),
            end_ns: range.map(|range| range.1),
            operations: tables::operations(trace, range),
            streams: tables::streams(trace, range),
            apis: tables::apis(trace, range),
            stall_causes: tables::causes(stalls, range),
            worst_stalls: tables::worst(trace, dependencies, stalls, range),
            graphs: graphs::rows(trace, range),
            lost: Lost {
                calls: losses.calls,
                others: losses.others,
            },
        }
    }
}
