//! How fast a recording grows.

use std::collections::VecDeque;
use std::time::Duration;

/// Rates are means over this time.
const WINDOW: Duration = Duration::from_secs(2);

/// Counts at some points of the last seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct GrowthRate(VecDeque<(Duration, u64)>);

impl GrowthRate {
    pub(crate) fn note(&mut self, now: Duration, calls: u64) {
        self.0.push_back((now, calls));
        while self.0.len() > 2
            && self
                .0
                .get(1)
                .is_some_and(|(time, _)| now.saturating_sub(*time) >= WINDOW)
        {
            self.0.pop_front();
        }
    }

    /// Calls per second; `None` until enough time has passed.
    pub(crate) fn per_second(&self) -> Option<u64> {
        let ((begin, first), (end, last)) = (*self.0.front()?, *self.0.back()?);
        let time = end.saturating_sub(begin).as_secs_f64();
        (time >= 0.2).then(|| (last.saturating_sub(first) as f64 / time).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_the_mean_of_the_last_seconds() {
        let mut rates = GrowthRate::default();
        let at = Duration::from_millis;
        rates.note(at(0), 0);
        assert_eq!(rates.per_second(), None);
        rates.note(at(500), 1_000);
        assert_eq!(rates.per_second(), Some(2_000));
        for tick in 1..=40 {
            rates.note(at(500 + tick * 100), 1_000);
        }
        assert_eq!(rates.per_second(), Some(0));
    }
}
