//! Times and sizes in the units of the format.

use ascend_trace_recording::Trace;

use crate::ExportSource;
use crate::base_time::BaseTime;

/// Offsets of the recording's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClockOffsets {
    /// From the wall clock.
    wall: i64,
    /// From the time that texts count from.
    text: i64,
    /// That time, in nanoseconds since 1970.
    pub(super) base_ns: i64,
}

impl ClockOffsets {
    pub(super) fn of(source: &ExportSource<'_>) -> Self {
        let wall = wall_offset(source.trace);
        let base_ns = BaseTime::of(source).map_or(0, |it| it.at_ns);
        Self {
            wall,
            text: wall.saturating_add(base_ns),
            base_ns,
        }
    }

    /// The offset that is subtracted for times in texts.
    pub(super) fn text(&self) -> i64 {
        self.text
    }

    /// Nanoseconds since 1970.
    pub(super) fn wall(&self, time: i64) -> i64 {
        time.saturating_sub(self.wall)
    }

    /// Microseconds in texts.
    pub(super) fn micros(&self, time: i64) -> String {
        micros(time.saturating_sub(self.text))
    }
}

fn wall_offset(trace: &Trace) -> i64 {
    let session = trace.session();
    match session.start_realtime_ns {
        0 => 0,
        wall => session.start_ns - wall,
    }
}

/// Microseconds, with decimals for the rest.
pub(super) fn micros(ns: i64) -> String {
    format!("{}.{:03}", ns.div_euclid(1000), ns.rem_euclid(1000))
}

/// Milliseconds.
pub(super) fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

/// Megabytes of links, which readers divide by milliseconds for gigabytes in a second.
pub(super) fn mb(bytes: f64) -> f64 {
    bytes / 1e6
}
