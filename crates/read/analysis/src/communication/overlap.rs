//! How long the device of a rank computed during its collectives.

use std::collections::BTreeMap;

use ascend_trace_recording::{TaskTime, TimeRange};

use super::part_times::ComputedMeanwhile;
use super::sums::PartOf;
use crate::Intervals;
use crate::estimate::Estimate;

/// Errors of single tasks count up to this.
const MOST_ERROR_NS: i64 = 1_000_000;

/// The computing and the collectives of each device, by process, as far as they are still looked at.
#[derive(Debug, Default)]
pub(super) struct Overlaps {
    devices: BTreeMap<(u32, u32), DeviceTimes>,
}

#[derive(Debug, Default)]
struct DeviceTimes {
    computing: Vec<TaskTime>,
    communicating: Vec<(PartOf, TaskTime)>,
    /// Some of the computing has no time.
    has_untimed: bool,
}

impl Overlaps {
    pub(super) fn compute(&mut self, device: (u32, u32), time: Option<TaskTime>) {
        let device = self.devices.entry(device).or_default();
        match time {
            Some(time) => device.computing.push(time),
            None => device.has_untimed = true,
        }
    }

    pub(super) fn communicate(&mut self, device: (u32, u32), part: PartOf, time: TaskTime) {
        let device = self.devices.entry(device).or_default();
        device.communicating.push((part, time));
    }

    /// Gives `take` the computing during each collective that is complete: no task that begins before `until` will be added.
    pub(super) fn settle(&mut self, until: i64, mut take: impl FnMut(PartOf, ComputedMeanwhile)) {
        for device in self.devices.values_mut() {
            device.settle(until.saturating_sub(2 * MOST_ERROR_NS), &mut take);
        }
    }
}

impl DeviceTimes {
    fn settle(&mut self, until: i64, take: &mut impl FnMut(PartOf, ComputedMeanwhile)) {
        let is_known = |(_, time): &(PartOf, TaskTime)| time.end < until || until == i64::MAX;
        let (known, open): (Vec<_>, Vec<_>) = self.communicating.drain(..).partition(is_known);
        if !known.is_empty() {
            let [value, low, high] = [0, -1, 1].map(|sign| self.computed(sign));
            for (part, time) in known {
                let covered = |by: &Intervals, sign| by.covered(widened(&time, sign)) as f64;
                let value = covered(&value, 0);
                let time = Estimate {
                    value,
                    low: covered(&low, -1).min(value),
                    high: covered(&high, 1).max(value),
                };
                let is_least = self.has_untimed;
                take(part, ComputedMeanwhile { time, is_least });
            }
        }
        self.communicating = open;
        let begins = self.communicating.iter().map(|(_, it)| it.begin);
        let needed = begins.min().unwrap_or(i64::MAX).min(until);
        let needed = needed.saturating_sub(2 * MOST_ERROR_NS);
        self.computing.retain(|it| it.end >= needed);
    }

    /// When it computed; with sign 1 possibly, with -1 certainly.
    fn computed(&self, sign: i64) -> Intervals {
        Intervals::union_of(self.computing.iter().map(|it| widened(it, sign)))
    }
}

/// A time that is longer by its errors, or shorter.
fn widened(time: &TaskTime, sign: i64) -> TimeRange {
    let error = sign * time.local_error.min(MOST_ERROR_NS);
    TimeRange::new(
        time.begin.saturating_sub(error),
        time.end.saturating_add(error),
    )
}
