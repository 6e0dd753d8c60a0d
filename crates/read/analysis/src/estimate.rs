//! Estimates the durations of work from the recorded bounds, with an error.
//!
//! The measured duration of a task is a bound more than a value: on an idle stream its begin is only known to lie between
//! its submission and its end. So sums of work use the usual duration of each operation. Tasks of a *class* do the same: they
//! have the kind, the name, the bytes and the shapes of one operation. A [`Tally`] sums up the tasks of a class by how
//! exactly they were measured. At the end a [`Location`] is the usual duration of such a task. [`Tally::total`] puts it in the
//! place of tasks that were measured worse, and of tasks without a time.
//!
//! An [`Estimate`] is a value between two limits. An error of one measurement is an error of all of its class in the same
//! direction, so limits are added, and not their squares.

mod classes;
mod learner;
mod location;
mod placement;
mod runs;
mod sample;
mod shapes;
mod tally;
mod untimed_row;
mod weighted;

pub(crate) use classes::{ClassKey, Classes, Tallies, Totals};
pub use learner::{EstimateMaker, EstimatedTime, Estimates, Learner};
pub(crate) use location::Location;
pub use placement::{PlacedTasks, UntimedPlacer, place_untimed};
pub(crate) use runs::RunClasses;
pub(crate) use tally::{Comparability, Tally};
pub(crate) use untimed_row::{RowRoom, RowTask, scaled};

use ascend_trace_recording::TaskTime;

/// A time, and the limits between which it lies. Nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Estimate {
    /// A task by its own measurement.
    fn of(measured: &Measured) -> Self {
        let (low, high) = (measured.least as f64, measured.most as f64);
        match measured.is_unclear() {
            true => Self::below(measured.length as f64, low, high),
            false => Self {
                value: measured.length as f64,
                low,
                high,
            },
        }
    }

    /// Limits alone.
    pub(crate) fn between(low: f64, high: f64) -> Self {
        Self {
            value: f64::midpoint(low, high),
            low,
            high,
        }
    }

    /// The middle of the limits, but no more than the measurement, which is often too long and seldom too short.
    fn below(measured: f64, low: f64, high: f64) -> Self {
        let middle = Self::between(low, high);
        Self {
            value: middle.value.min(measured),
            ..middle
        }
    }

    pub(crate) fn value_ns(&self) -> i64 {
        self.value.round() as i64
    }

    pub(crate) fn error_ns(&self) -> i64 {
        let error = (self.high - self.value).max(self.value - self.low);
        error.ceil().max(0.0) as i64
    }

    pub(crate) fn width(&self) -> f64 {
        self.high - self.low
    }

    /// In whole nanoseconds: then sums do not depend on the order in which they are made.
    fn rounded(self) -> Self {
        Self {
            value: self.value.round(),
            low: self.low.floor(),
            high: self.high.ceil(),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.value += other.value;
        self.low += other.low;
        self.high += other.high;
    }

    /// The part of it that is within other limits. `None` if these limits do not contain its value: tasks of one name that
    /// take different times are not alike, and one end of the limits would be no better than the measurement.
    fn agreed(self, low: f64, high: f64) -> Option<Self> {
        (low..=high).contains(&self.value).then(|| Self {
            value: self.value,
            low: self.low.max(low),
            high: self.high.min(high),
        })
    }
}

/// A measured duration, and its limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) length: i64,
    least: i64,
    most: i64,
    /// Limits for the mean of many tasks, and the further error of a single one.
    mean: (i64, i64),
    noise: u32,
}

/// Nanoseconds.
const FEW_TICKS: i64 = 64;

impl Measured {
    pub(crate) fn of(time: &TaskTime) -> Self {
        let (least, most) = time.durations();
        Self {
            length: time.duration(),
            least,
            most,
            mean: time.durations_in_mean(),
            noise: time.noise,
        }
    }

    /// By how much it may be off.
    pub(crate) fn open(&self) -> i64 {
        (self.length - self.least).max(self.most - self.length)
    }

    /// Whether more than half of it is open. A few ticks of the clock are nothing that a reader would miss.
    pub(crate) fn is_unclear(&self) -> bool {
        self.open() > FEW_TICKS.max(self.length / 2)
    }
}
