//! The cost of the events around timed tasks.

use schemars::JsonSchema;
use serde::Serialize;

use ascend_trace_format::record::Counter;
use ascend_trace_recording::Trace;

/// Shares of less time than this say nothing: the first measurements are in it.
const LEAST_NS: u64 = 1_000_000;

/// The cost of the events around tasks, of the whole recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct EventCost {
    /// The time that they took on devices, by the measured cost of a pair.
    #[serde(rename = "events_device_ns")]
    pub device_ns: u64,
    /// This as a part of the time of streams: from the end of a timed task to that of the next one. `null` where that is
    /// too short.
    #[serde(rename = "events_device_share")]
    pub device: Option<f64>,
    /// The time of the program's threads for events and for their times, as a part of the same time.
    #[serde(rename = "events_host_share")]
    pub host: Option<f64>,
}

impl EventCost {
    pub fn of(trace: &Trace) -> Self {
        let counter = |counter: Counter| trace.counter(counter as u16);
        let device_ns = counter(Counter::EventsDeviceNs);
        let host_ns = counter(Counter::TimingNs).saturating_add(counter(Counter::HarvestNs));
        let whole = counter(Counter::StreamNs);
        let share = |part: u64| (whole >= LEAST_NS).then(|| part as f64 / whole as f64);
        Self {
            device_ns,
            device: share(device_ns),
            host: share(host_ns),
        }
    }
}
