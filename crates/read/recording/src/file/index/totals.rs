//! Counts over a group or a whole file, available without a look at any row.

use std::collections::BTreeMap;

use crate::TimeRange;
use crate::counters::{Counters, raise};
use crate::rows::{CounterRow, LossRow};
use crate::trace::Losses;

/// Codes of task kinds and of reasons for having no time are smaller than this; others count as
/// the last.
pub(crate) const CODES: usize = 24;

/// Things of one kind (streams, threads, counters …) that are counted apart in one group. More
/// come only from files that are made to do harm.
pub(super) const MOST: usize = 1 << 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamTotals {
    /// From the calls on it; its row has priority.
    pub(crate) device: u32,
    pub(crate) tasks: u64,
    pub(crate) timed: u64,
}

/// Anchors of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeviceTotals {
    pub(crate) anchors: u64,
    /// Anchors with a reading of a whole microsecond.
    pub(crate) coarse: u64,
    /// Half widths: the number in each step of 1/8 of a power of two.
    pub(crate) widths: BTreeMap<u16, u64>,
    pub(crate) max_width: i64,
}

impl DeviceTotals {
    pub(super) fn anchor(&mut self, half_width: i64, is_coarse: bool) {
        let half_width = half_width.max(0);
        self.anchors += 1;
        self.coarse += u64::from(is_coarse);
        *self
            .widths
            .entry(step_of(half_width.unsigned_abs()))
            .or_default() += 1;
        self.max_width = self.max_width.max(half_width);
    }

    fn add(&mut self, other: &Self) {
        self.anchors = self.anchors.saturating_add(other.anchors);
        self.coarse = self.coarse.saturating_add(other.coarse);
        self.max_width = self.max_width.max(other.max_width);
        for (step, count) in &other.widths {
            let sum = self.widths.entry(*step).or_default();
            *sum = sum.saturating_add(*count);
        }
    }

    /// The half width that half of the anchors do not exceed, to within an eighth.
    pub(crate) fn median_width(&self) -> i64 {
        let mut left = self.anchors / 2;
        for (step, count) in &self.widths {
            if *count > left {
                return (value_of(*step) as i64).min(self.max_width);
            }
            left -= count;
        }
        self.max_width
    }
}

/// Steps of 1/8 of a power of two; values below 16 have separate steps.
fn step_of(value: u64) -> u16 {
    if value < 16 {
        return value as u16;
    }
    let power = value.ilog2();
    let eighth = (value >> (power - 3)) & 7;
    (16 + (power - 4) * 8 + eighth as u32) as u16
}

/// The middle of a step.
fn value_of(step: u16) -> u64 {
    if step < 16 {
        return u64::from(step);
    }
    let power = u32::from(step - 16) / 8 + 4;
    let eighth = u64::from((step - 16) % 8);
    if power > 62 {
        return i64::MAX.unsigned_abs();
    }
    ((8 + eighth) << (power - 3)) + (1 << (power - 4))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) calls: u64,
    pub(crate) nested: u64,
    /// By function: calls, and those that returned something other than 0.
    pub(crate) functions: Vec<(u64, u64)>,
    /// By thread.
    pub(crate) threads: BTreeMap<u32, u64>,
    /// By process and serial.
    pub(crate) streams: BTreeMap<(u32, u32), StreamTotals>,
    pub(crate) kinds: [u64; CODES],
    pub(crate) timed: u64,
    /// Tasks that will have no time, by reason.
    pub(crate) untimed: [u64; CODES],
    /// Those of them that got a time later.
    pub(crate) regained: [u64; CODES],
    /// Times that may belong to no task: by this number, the counts of times may be wrong.
    pub(crate) uncertain: u64,
    pub(crate) losses: Losses,
    pub(crate) counters: Counters,
    /// Replays of graphs, by process and serial.
    pub(crate) replays: BTreeMap<(u32, u32), u64>,
    /// By process and device.
    pub(crate) devices: BTreeMap<(u32, u32), DeviceTotals>,
    /// From the driver's readings.
    pub(crate) drivers: BTreeMap<(u32, u32), DeviceTotals>,
    /// First begin and last end of any call.
    pub(crate) call_span: Option<TimeRange>,
}

/// The place of a code among counts.
pub(super) fn code(code: u8) -> usize {
    usize::from(code).min(CODES - 1)
}

impl Totals {
    pub(super) fn lose(&mut self, row: &LossRow) {
        self.losses.calls = self.losses.calls.saturating_add(row.calls);
        self.losses.others = self.losses.others.saturating_add(row.others);
    }

    pub(super) fn raise(&mut self, row: &CounterRow) {
        let key = (row.process, row.what);
        if self.counters.len() < MOST || self.counters.contains_key(&key) {
            raise(&mut self.counters, key, row.value);
        }
    }

    pub(super) fn function(&mut self, number: u16) -> &mut (u64, u64) {
        let place = usize::from(number);
        if place >= self.functions.len() {
            self.functions.resize(place + 1, (0, 0));
        }
        &mut self.functions[place]
    }

    /// Tasks of any kind.
    pub(crate) fn tasks(&self) -> u64 {
        self.kinds
            .iter()
            .fold(0, |sum: u64, it| sum.saturating_add(*it))
    }

    /// Adds the counts of the following part.
    pub(crate) fn add(&mut self, other: &Self) {
        let plus = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        plus(&mut self.calls, other.calls);
        plus(&mut self.nested, other.nested);
        plus(&mut self.timed, other.timed);
        plus(&mut self.uncertain, other.uncertain);
        plus(&mut self.losses.calls, other.losses.calls);
        plus(&mut self.losses.others, other.losses.others);
        for (number, (calls, failed)) in other.functions.iter().enumerate() {
            let sum = self.function(number as u16);
            plus(&mut sum.0, *calls);
            plus(&mut sum.1, *failed);
        }
        for code in 0..CODES {
            plus(&mut self.kinds[code], other.kinds[code]);
            plus(&mut self.untimed[code], other.untimed[code]);
            plus(&mut self.regained[code], other.regained[code]);
        }
        for (thread, calls) in &other.threads {
            plus(self.threads.entry(*thread).or_default(), *calls);
        }
        for (key, stream) in &other.streams {
            let sum = self.streams.entry(*key).or_insert(StreamTotals {
                device: stream.device,
                ..StreamTotals::default()
            });
            plus(&mut sum.tasks, stream.tasks);
            plus(&mut sum.timed, stream.timed);
        }
        for (key, count) in &other.replays {
            plus(self.replays.entry(*key).or_default(), *count);
        }
        for (key, device) in &other.devices {
            self.devices.entry(*key).or_default().add(device);
        }
        for (key, device) in &other.drivers {
            self.drivers.entry(*key).or_default().add(device);
        }
        for (key, value) in &other.counters {
            raise(&mut self.counters, *key, *value);
        }
        self.call_span = TimeRange::around([self.call_span, other.call_span]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_right_to_an_eighth() {
        let mut device = DeviceTotals::default();
        for width in 1..=999 {
            device.anchor(width * 10, false);
        }
        let median = device.median_width();
        assert!((4_700..5_300).contains(&median), "{median}");
        assert_eq!(device.max_width, 9_990);
    }

    #[test]
    fn steps_hold_every_value() {
        for power in 0..63 {
            for value in [1_u64 << power, (1 << power) + 1, (2 << power) - 1] {
                let middle = value_of(step_of(value)) as f64;
                let off = (middle - value as f64).abs() / value as f64;
                assert!(off < 0.13, "{value}: {middle}");
            }
        }
        value_of(u16::MAX);
    }
}
