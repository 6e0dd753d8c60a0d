//! Sums of the times of ranks in collectives, and bandwidth.

use ascend_trace_recording::TaskTime;

use crate::columns::Value;
use crate::estimate::Estimate;

/// A time of a rank in a collective, split at the begin of the last rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SplitTime {
    pub(super) wait: Estimate,
    pub(super) transfer: Estimate,
}

impl SplitTime {
    /// A whole time after which the wait is known.
    pub(super) fn of(wait: Estimate, whole: Estimate) -> Self {
        let wait = Estimate {
            value: wait.value.min(whole.value),
            low: wait.low.min(whole.value),
            high: wait.high.min(whole.high),
        };
        let transfer = Estimate {
            value: whole.value - wait.value,
            low: (whole.low - wait.high).max(0.0),
            high: whole.high - wait.low,
        };
        Self { wait, transfer }
    }
}

/// How long a device computed during collectives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ComputedMeanwhile {
    pub(super) time: Estimate,
    /// Some of the computing has no time.
    pub(super) is_least: bool,
}

/// Bytes, and the time in which they were moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Transfer {
    bytes: f64,
    /// The same, times the factor of bus bandwidth.
    bus_bytes: f64,
    in_time: Estimate,
}

/// Which of the two bandwidths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bandwidth {
    /// Size by time.
    Algorithm,
    /// Bytes over the links of a rank by time.
    Bus,
}

/// Sums over calls of collectives by ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PartTimes {
    pub(super) calls: u64,
    pub(super) timed: u64,
    /// Of the calls with a known size.
    pub(super) bytes: u64,
    pub(super) without_size: u64,
    pub(super) time: Estimate,
    /// Calls with a known wait.
    pub(super) split: u64,
    pub(super) wait: Estimate,
    pub(super) transfer: Estimate,
    pub(super) meanwhile: ComputedMeanwhile,
    /// In transfers, and in whole times.
    transferred: Transfer,
    communicated: Transfer,
}

impl Transfer {
    fn add(&mut self, (size, factor): (u64, f64), in_time: Estimate) {
        self.bytes += size as f64;
        self.bus_bytes += size as f64 * factor;
        self.in_time.add(in_time);
    }
}

/// The measured length of a task and its limits.
pub(super) fn measured(time: &TaskTime) -> Estimate {
    let (low, high) = time.durations();
    Estimate {
        value: time.duration() as f64,
        low: low as f64,
        high: high as f64,
    }
}

impl PartTimes {
    pub(super) fn call(
        &mut self,
        (size, factor): (Option<u64>, Option<f64>),
        time: Option<TaskTime>,
    ) {
        self.calls += 1;
        match size {
            Some(size) => self.bytes = self.bytes.saturating_add(size),
            None => self.without_size += 1,
        }
        let Some(time) = time else { return };
        self.timed += 1;
        self.time.add(measured(&time));
        if let (Some(size), Some(factor)) = (size, factor) {
            self.communicated.add((size, factor), measured(&time));
        }
    }

    /// The size of a call that was counted without one.
    pub(super) fn sized(&mut self, size: u64) {
        self.without_size = self.without_size.saturating_sub(1);
        self.bytes = self.bytes.saturating_add(size);
    }

    pub(super) fn split(&mut self, (size, factor): (Option<u64>, Option<f64>), split: &SplitTime) {
        self.split += 1;
        self.wait.add(split.wait);
        self.transfer.add(split.transfer);
        if let (Some(size), Some(factor)) = (size, factor) {
            self.transferred.add((size, factor), split.transfer);
        }
    }

    pub(super) fn overlap(&mut self, more: &ComputedMeanwhile) {
        self.meanwhile.time.add(more.time);
        self.meanwhile.is_least |= more.is_least;
    }

    /// The same without the waits, which cannot be relied on.
    pub(super) fn without_waits(self) -> Self {
        Self {
            split: 0,
            wait: Estimate::default(),
            transfer: Estimate::default(),
            transferred: Transfer::default(),
            ..self
        }
    }

    /// Bytes in a second, the error, and whether it is only the least. `None` where the size or the time is not known.
    pub(super) fn bandwidth(&self, of: Bandwidth) -> Option<(i64, i64, bool)> {
        let is_split = self.transferred.in_time.high > 0.0;
        let moved = match is_split {
            true => &self.transferred,
            false => &self.communicated,
        };
        let bytes = match of {
            Bandwidth::Algorithm => moved.bytes,
            Bandwidth::Bus => moved.bus_bytes,
        };
        let Estimate { value, low, high } = moved.in_time;
        if bytes <= 0.0 || high <= 0.0 {
            return None;
        }
        let rate = |time: f64| bytes * 1e9 / time;
        // A time of which more than half may be error says little of the highest bandwidth.
        if !is_split || value <= 0.0 || low < value / 2.0 {
            return Some((rate(high) as i64, 0, true));
        }
        let error = (rate(low) - rate(value)).max(rate(value) - rate(high));
        Some((rate(value).round() as i64, error.ceil() as i64, false))
    }

    pub(super) fn bandwidth_value(&self, of: Bandwidth) -> Value<'static> {
        self.bandwidth(of)
            .map_or(Value::Unknown, |(value, error, is_least)| Value::Estimate {
                value,
                error,
                is_least,
            })
    }

    /// Only where it is not the least.
    pub(super) fn bandwidth_error(&self, of: Bandwidth) -> Value<'static> {
        let known = self.bandwidth(of).filter(|it| !it.2);
        known.map_or(Value::Unknown, |it| Value::Whole(it.1))
    }
}

/// A sum, if there is any; it is the least if it is only of a part of all.
pub(super) fn estimate(sum: Estimate, parts: u64, all: u64) -> Value<'static> {
    match parts {
        0 => Value::Unknown,
        parts => Value::estimate((sum.value_ns(), sum.error_ns()), all.saturating_sub(parts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, error: f64) -> Estimate {
        Estimate {
            value,
            low: value - error,
            high: value + error,
        }
    }

    #[test]
    fn bandwidth_is_by_transfer_and_has_the_error_of_its_time() {
        let mut times = PartTimes::default();
        let split = SplitTime {
            wait: estimate(500.0, 1.0),
            transfer: estimate(1000.0, 100.0),
        };
        times.split((Some(2000), Some(1.5)), &split);
        assert_eq!(
            times.bandwidth(Bandwidth::Algorithm),
            Some((2_000_000_000, 222_222_223, false))
        );
        let (bus, ..) = times.bandwidth(Bandwidth::Bus).expect("it is known");
        assert_eq!(bus, 3_000_000_000);
        // A transfer that may have taken no time limits bandwidth on one side only.
        let unclear = SplitTime {
            transfer: estimate(1000.0, 1000.0),
            ..split
        };
        let mut times = PartTimes::default();
        times.split((Some(2000), Some(1.5)), &unclear);
        assert_eq!(
            times.bandwidth(Bandwidth::Algorithm),
            Some((1_000_000_000, 0, true))
        );
        let mut times = PartTimes::default();
        times.split((None, None), &split);
        assert_eq!(times.bandwidth(Bandwidth::Algorithm), None);
    }
}
