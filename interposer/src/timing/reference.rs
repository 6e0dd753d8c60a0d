//! Reading the device clock finely: `ElapsedTime` resolves ticks but only between two events, and
//! as a `float` of milliseconds it grows coarse with distance; `GetTimestamp` is absolute but whole
//! microseconds. So times are elapsed times from a recent reference event, whose own place on the
//! clock was read once. What is left of that reading's microsecond is a constant, and goes into
//! the clock's offset like any other.

use crate::timing::api::Api;

/// A reference is replaced after this long: the float step is then still about 20 ns.
const FRESH_NS: f64 = 200e6;
/// Beyond this distance whole microseconds are finer than the elapsed time's float.
const FLOAT_IS_COARSE_NS: f64 = 8e9;

/// A completed event whose device time is known.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reference {
    /// The event, 0 while there is none.
    event: u64,
    microseconds: u64,
    nanoseconds: i64,
}

impl Reference {
    pub(crate) const fn new() -> Self {
        Self {
            event: 0,
            microseconds: 0,
            nanoseconds: 0,
        }
    }

    /// Device time of a completed event in nanoseconds.
    pub(crate) fn read(&self, api: &Api, event: u64) -> Option<i64> {
        if self.event == 0 {
            let microseconds = api.timestamp_us(event)?;
            // The middle of the microsecond that the runtime cut off.
            return Some(microseconds as i64 * 1000 + 500);
        }
        let distance = api.elapsed_ns(self.event, event)?;
        if distance.abs() < FLOAT_IS_COARSE_NS {
            return Some(self.nanoseconds.wrapping_add(distance.round() as i64));
        }
        let microseconds = api.timestamp_us(event)?;
        let distance = (microseconds as i64).wrapping_sub(self.microseconds as i64);
        Some(self.nanoseconds.wrapping_add(distance.wrapping_mul(1000)))
    }

    /// Offers an event whose time was read as `nanoseconds`. Answers the event that is now free:
    /// the offered one, or the old reference that it replaced, or 0.
    pub(crate) fn offer(&mut self, api: &Api, event: u64, nanoseconds: i64) -> u64 {
        let age = nanoseconds.wrapping_sub(self.nanoseconds);
        if self.event != 0 && (age as f64) < FRESH_NS {
            return event;
        }
        let Some(microseconds) = api.timestamp_us(event) else {
            return event;
        };
        let old = self.event;
        *self = Self {
            event,
            microseconds,
            nanoseconds,
        };
        old
    }

    /// Gives the reference event up, for its context's end.
    pub(crate) fn take(&mut self) -> u64 {
        core::mem::take(self).event
    }
}
