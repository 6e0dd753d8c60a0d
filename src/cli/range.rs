//! A range of time on the command line: `BEGIN..END`, counted from the begin of the trace.

use anyhow::bail;

use ascend_trace_recording::TimeRange;
use ascend_trace_recording::units::{NoDuration, duration, parse_duration};

/// A range of time as it is typed: nanoseconds since the begin of a trace. A missing end is the
/// trace's. [`RelativeRange::of`] makes it a range on the host's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RelativeRange {
    begin_ns: Option<i64>,
    end_ns: Option<i64>,
}

impl RelativeRange {
    /// The part of a trace's span that the range means; the whole of an empty trace.
    ///
    /// # Errors
    /// When the range begins after the end of the recording.
    pub(crate) fn of(self, span: Option<TimeRange>) -> anyhow::Result<Option<TimeRange>> {
        let Some(span) = span else {
            return Ok(None);
        };
        if self.begin_ns.is_some_and(|begin| begin > span.duration()) {
            bail!(
                "--range begins after the end of the recording, which is {} long",
                duration(span.duration())
            );
        }
        let moment = |since: i64| span.clamp(span.begin.saturating_add(since));
        let begin = self.begin_ns.map_or(span.begin, moment);
        let end = self.end_ns.map_or(span.end, moment);
        Ok(Some(TimeRange::new(begin, end.max(begin))))
    }
}

/// Reads `1.5ms..20ms`, `0..3s`, `250us..` or `5min..1h`.
pub(crate) fn parse(text: &str) -> Result<RelativeRange, String> {
    let form = || "a range is BEGIN..END, such as 1.5ms..20ms; either may be left out".to_owned();
    let (begin, end) = text.split_once("..").ok_or_else(form)?;
    let moment = |text: &str| match text.trim() {
        "" => Ok(None),
        text => time(text).map(Some),
    };
    let (begin, end) = (moment(begin), moment(end));
    // A time without a unit is the smaller mistake: `1..2parsec` has a unit for both.
    let is_unitless = |it: &Result<_, RangeError>| matches!(it, Err((NoDuration::Unitless, _)));
    let is_worse = is_unitless(&begin) && end.is_err() && !is_unitless(&end);
    let (begin, end) = match is_worse {
        true => (Ok(None), end),
        false => (begin, end),
    };
    let (begin, end) = (begin.map_err(|it| it.1)?, end.map_err(|it| it.1)?);
    let range = RelativeRange {
        begin_ns: begin,
        end_ns: end,
    };
    match (range.begin_ns, range.end_ns) {
        (Some(begin), Some(end)) if begin > end => {
            Err("the range ends before it begins".to_owned())
        }
        _ => Ok(range),
    }
}

/// Why a text is no time of a range, and the same in words.
type RangeError = (NoDuration, String);

fn time(text: &str) -> Result<i64, RangeError> {
    let ns = parse_duration(text).map_err(|why| {
        let text = format!("`{text}` {why}");
        (why, text)
    })?;
    match ns {
        0.. => Ok(ns),
        _ => {
            let text =
                format!("`{text}` is before the begin of the recording: write a time from 0 on");
            Err((NoDuration::OutOfRange, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Option<TimeRange> = Some(TimeRange::new(1_000, 9_000));

    fn of(text: &str) -> Option<TimeRange> {
        parse(text).unwrap().of(SPAN).unwrap()
    }

    #[test]
    fn a_range_counts_from_the_first_moment_and_stays_inside() {
        assert_eq!(of("1us..2us"), Some(TimeRange::new(2_000, 3_000)));
        assert_eq!(of("0.5us..2.5µs"), Some(TimeRange::new(1_500, 3_500)));
        assert_eq!(of("..100ns"), Some(TimeRange::new(1_000, 1_100)));
        assert_eq!(of("3us.."), Some(TimeRange::new(4_000, 9_000)));
        assert_eq!(of("8us..1s"), Some(TimeRange::new(9_000, 9_000)));
        assert_eq!(of("0..1us"), Some(TimeRange::new(1_000, 2_000)));
        assert_eq!(parse("1.5min..2h"), parse("90s..7200s"));
        assert_eq!(parse("0..1m"), parse("0ns..60s"));
        assert_eq!(parse("1us..2us").unwrap().of(None).unwrap(), None);
    }

    #[test]
    fn a_range_outside_of_the_recording_is_reported() {
        let error = parse("9us..1s").unwrap().of(SPAN);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("which is 8.00 µs long"), "{error}");
    }

    #[test]
    fn the_worse_of_two_mistakes_is_named() {
        for (text, named) in [
            ("1..2parsec", "`2parsec`"),
            ("1parsec..2", "`1parsec`"),
            ("1..x", "`x`"),
            ("1..2", "`1` has no unit"),
            ("1..2ms", "`1` has no unit"),
            ("1ms..2", "`2` has no unit"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }

    #[test]
    fn invalid_ranges_are_refused() {
        for text in [
            "",
            "5ms",
            "2ms..1ms",
            "1..2",
            "1ms..x",
            "1ms..2days",
            "-1ms..2ms",
            "1ms..9e30s",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
