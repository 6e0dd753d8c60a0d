//! The clock of one host on that of another.
//!
//! Input are comparisons: at a reading of one clock, the other one was between two times. They bound a
//! mapping as readings of a device's clock do.

use ascend_trace_format::time::{DeviceNs, HostNs};

use super::{ClockBound, DeviceClockMap};

/// Times are whole nanoseconds.
const SLACK_NS: i64 = 1;

/// When the own clock read `at`, the other one read something between these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockComparison {
    pub at: i64,
    pub earliest: i64,
    pub latest: i64,
}

/// A time of one clock on another, and its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlignedTime {
    pub ns: i64,
    pub error_ns: i64,
}

/// Maps the clock of one host to that of another: all lines that agree with every comparison.
#[derive(Clone, Debug)]
pub struct HostClock(DeviceClockMap);

impl HostClock {
    /// The mapping that comparisons allow; `None` without any.
    pub fn fit(mut comparisons: Vec<ClockComparison>) -> Option<Self> {
        comparisons.sort_unstable();
        let bounds = comparisons.iter().map(|it| ClockBound {
            device: DeviceNs::new(it.at),
            earliest: HostNs::new(it.earliest),
            latest: HostNs::new(it.latest),
        });
        let bounds: Vec<ClockBound> = bounds.collect();
        let mut clock = DeviceClockMap::new(SLACK_NS);
        clock.extend(&bounds, &[]);
        clock.look_back();
        let first = bounds.first()?;
        clock.map(first.device)?;
        Some(Self(clock))
    }

    /// A time on the other clock.
    pub fn map(&self, ns: i64) -> AlignedTime {
        // A fit covers all times, some with a large error.
        let mapped = self.0.map(DeviceNs::new(ns));
        mapped.map_or(
            AlignedTime {
                ns,
                error_ns: i64::MAX,
            },
            |it| AlignedTime {
                ns: it.host.ns(),
                error_ns: it.error,
            },
        )
    }

    /// How often the comparisons say that a clock has stepped, and how many of them contradict all others.
    pub fn contradictions(&self) -> (u64, u64) {
        self.0.troubles()
    }
}
