//! How long the streams of a device worked together, by the estimates of each.

use super::work::UnionTime;
use crate::estimate::Estimate;

/// The work of one stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamWork {
    /// By the bars of its tasks.
    pub(super) bars: i64,
    pub(super) estimate: Estimate,
    /// All of its tasks have a time.
    pub(super) is_timed: bool,
    /// How long those without a time worked at most.
    pub(super) untimed: f64,
    /// Tasks of which nothing is known.
    pub(super) unestimated: u64,
}

/// Sums of the streams of a device.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceSums {
    streams: u64,
    bars: i64,
    sum: Estimate,
    /// The most that one of them worked at least.
    lowest: f64,
    has_untimed: bool,
    untimed: f64,
    pub(super) unestimated: u64,
}

impl DeviceSums {
    pub(super) fn add(&mut self, worked: &StreamWork) {
        self.streams += u64::from(worked.estimate.high > 0.0);
        self.bars += worked.bars;
        self.sum.add(worked.estimate);
        self.lowest = self.lowest.max(worked.estimate.low);
        self.has_untimed |= !worked.is_timed;
        self.untimed += worked.untimed;
        self.unestimated += worked.unestimated;
    }

    /// How long at least one of them worked. `united` is the same of those of their tasks that have times, in a time of this
    /// length.
    pub(super) fn estimate(&self, united: UnionTime, length: i64) -> Estimate {
        // Tasks run within their bars, so they share no more time than bars do; of tasks without a time nothing is known.
        let shared = match self.has_untimed && self.streams > 1 {
            true => self.sum.low,
            false => (self.bars - united.bars) as f64,
        };
        let low = self.lowest.max(self.sum.low - shared);
        let low = low.max(united.least as f64);
        let most = united.most as f64 + self.untimed;
        let high = self.sum.high.min(most).min((length as f64).max(low));
        let part = united.bars as f64 / self.bars.max(1) as f64;
        Estimate {
            value: (self.sum.value * part).clamp(low, high.max(low)),
            low,
            high: high.max(low),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worked(value: f64, error: f64, is_timed: bool) -> StreamWork {
        StreamWork {
            bars: value as i64 + 10,
            estimate: Estimate {
                value,
                low: value - error,
                high: value + error,
            },
            is_timed,
            untimed: if is_timed { 0.0 } else { 1000.0 },
            unestimated: 0,
        }
    }

    fn together(all: &[StreamWork], united: UnionTime, length: i64) -> (i64, i64) {
        let mut together = DeviceSums::default();
        all.iter().for_each(|it| together.add(it));
        let estimate = together.estimate(united, length);
        (estimate.value_ns(), estimate.error_ns())
    }

    /// Of bars alone.
    fn bars(bars: i64) -> UnionTime {
        UnionTime {
            bars,
            least: 0,
            most: 1000,
        }
    }

    #[test]
    fn one_stream_is_the_device() {
        let one = [worked(100.0, 5.0, false)];
        assert_eq!(together(&one, bars(110), 1000), (100, 5));
    }

    #[test]
    fn streams_share_no_more_time_than_their_bars() {
        let both = [worked(100.0, 5.0, true), worked(200.0, 5.0, true)];
        assert_eq!(together(&both, bars(320), 1000), (300, 10));
        let (busy, error) = together(&both, bars(280), 1000);
        assert!(busy - error <= 250 && busy + error >= 300);
    }

    #[test]
    fn limits_of_the_union_are_limits_of_its_estimate() {
        let both = [worked(100.0, 5.0, true), worked(200.0, 5.0, true)];
        let united = UnionTime {
            bars: 280,
            least: 262,
            most: 282,
        };
        let (busy, error) = together(&both, united, 1000);
        assert!(busy - error <= 262 && busy + error >= 282);
        assert!(error <= 20, "{busy} ± {error}");
    }

    #[test]
    fn untimed_work_may_have_run_at_any_time() {
        let both = [worked(100.0, 5.0, false), worked(200.0, 5.0, true)];
        let (busy, error) = together(&both, bars(320), 1000);
        assert!(busy - error <= 195 && busy + error >= 310);
        assert!(together(&both, bars(320), 250).0 <= 250);
    }
}
