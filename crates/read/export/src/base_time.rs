//! The time of day that the times in a file count from.
//!
//! Readers compare the times of several files as they are. So files of recordings that began at different times count from
//! the same time, which each file names.

use crate::ExportSource;

/// Base times are multiples of this: four weeks. Files of one run have the same base then, and microseconds as 64-bit
/// floating-point numbers still distinguish every nanosecond.
const PERIOD_NS: i64 = 4 * 7 * 24 * 3600 * 1_000_000_000;

/// Where times count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BaseTime {
    /// In nanoseconds of Unix time.
    pub(crate) at_ns: i64,
    /// The begin of the recording, counted from there.
    pub(crate) first_ns: i64,
}

impl BaseTime {
    /// That of a recording, if it knows the time of day.
    pub(crate) fn of(source: &ExportSource<'_>) -> Option<Self> {
        let session = source.trace.session();
        if session.start_realtime_ns == 0 {
            return None;
        }
        let passed = source.part.begin.saturating_sub(session.start_ns);
        Self::at(session.start_realtime_ns.saturating_add(passed))
    }

    fn at(begin_ns: i64) -> Option<Self> {
        let first_ns = begin_ns.rem_euclid(PERIOD_NS);
        let at_ns = begin_ns.checked_sub(first_ns)?;
        Some(Self { at_ns, first_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_of_one_day_have_one_base() {
        let begin = 1_764_300_000_000_000_000;
        let (one, other) = (
            BaseTime::at(begin).unwrap(),
            BaseTime::at(begin + 2_429_000_001).unwrap(),
        );
        assert_eq!(one.at_ns, other.at_ns);
        assert_eq!(other.first_ns - one.first_ns, 2_429_000_001);
        assert_eq!(one.at_ns + one.first_ns, begin);
    }

    #[test]
    fn a_float_of_microseconds_distinguishes_every_nanosecond() {
        let last = PERIOD_NS - 1;
        for ns in [last, last - 1, last - 999] {
            let text = format!("{}.{:03}", ns / 1000, ns % 1000);
            let read: f64 = text.parse().unwrap();
            assert_eq!((read * 1000.0).round() as i64, ns);
        }
    }
}
