//! A range of time on the command line: `BEGIN..END`, counted from the begin of the trace or back from its end, or
//! `step FIRST..LAST`.

use anyhow::{Context, bail};

use ascend_trace_analysis::steps::{Finder, RecordingSteps, StepDefinition};
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_format::range::step_number;
use ascend_trace_recording::units::{NoDuration, duration, parse_duration};
use ascend_trace_recording::{Recording, TimeRange};

/// One end of a range of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Nanoseconds since the begin of the trace.
    FromBegin(i64),
    /// Nanoseconds before its end.
    BeforeEnd(i64),
}

/// A range as it is typed. [`RelativeRange::of`] makes it a range on the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelativeRange {
    /// A missing end is the trace's.
    Times {
        begin: Option<Bound>,
        end: Option<Bound>,
    },
    /// The steps with these numbers, both included.
    Steps {
        first: Option<u64>,
        last: Option<u64>,
    },
}

impl Default for RelativeRange {
    fn default() -> Self {
        Self::Times {
            begin: None,
            end: None,
        }
    }
}

impl RelativeRange {
    /// The part of a recording that the range means; the whole of an empty one.
    ///
    /// # Errors
    /// When the range begins after the end of the recording, or no step has such a number.
    pub(crate) fn of(self, recording: &mut Recording) -> anyhow::Result<Option<TimeRange>> {
        let Self::Steps { first, last } = self else {
            return self.within(recording.span());
        };
        let plan =
            Finder::new(StepDefinition::Any)
                .of_recording(recording, WindowSize::default(), |_| true);
        let plan = plan.context("cannot find the steps")?.unwrap_or_default();
        steps(&plan, first, last).map(Some)
    }

    /// The part of a trace's span that a range of times means.
    fn within(self, span: Option<TimeRange>) -> anyhow::Result<Option<TimeRange>> {
        let (Some(span), Self::Times { begin, end }) = (span, self) else {
            return Ok(None);
        };
        let place = |bound| match bound {
            Bound::FromBegin(since) => span.begin.saturating_add(since),
            Bound::BeforeEnd(before) => span.end.saturating_sub(before),
        };
        if begin.is_some_and(|begin| place(begin) > span.end) {
            bail!(
                "--range begins after the end of the recording, which is {} long",
                duration(span.duration())
            );
        }
        let begin = begin.map_or(span.begin, |it| span.clamp(place(it)));
        let end = end.map_or(span.end, |it| span.clamp(place(it)));
        Ok(Some(TimeRange::new(begin, end.max(begin))))
    }
}

/// From the begin of the first of these steps to the end of the last one. A step has the number in its name, or else its
/// number in its process, from 1.
fn steps(
    plan: &RecordingSteps,
    first: Option<u64>,
    last: Option<u64>,
) -> anyhow::Result<TimeRange> {
    let cuts = plan
        .laps
        .values()
        .flat_map(|lap| lap.cuts.iter().zip(1_u64..));
    let numbered =
        cuts.map(|(cut, place)| (step_number(cut.name.as_bytes()).unwrap_or(place), cut));
    let wanted = first.unwrap_or(0)..=last.unwrap_or(u64::MAX);
    let found = numbered.filter(|(number, _)| wanted.contains(number));
    let range = found
        .map(|(_, cut)| cut.range())
        .reduce(|one, other| TimeRange::new(one.begin.min(other.begin), one.end.max(other.end)));
    range.context("no step has a number in --range: steps lists them")
}

/// Reads `1.5ms..20ms`, `0..3s`, `250us..`, `-30s..`, `step 10..12` or `step 10`.
pub(crate) fn parse(text: &str) -> Result<RelativeRange, String> {
    if let Some(numbers) = text.trim().strip_prefix("step ") {
        return parse_steps(numbers);
    }
    let form = || {
        "a range is BEGIN..END, such as 1.5ms..20ms or -30s.., or step FIRST..LAST; either end may be left out".to_owned()
    };
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
    let is_reversed = match (begin, end) {
        (Some(Bound::FromBegin(begin)), Some(Bound::FromBegin(end))) => begin > end,
        (Some(Bound::BeforeEnd(begin)), Some(Bound::BeforeEnd(end))) => begin < end,
        _ => false,
    };
    match is_reversed {
        true => Err("the range ends before it begins".to_owned()),
        false => Ok(RelativeRange::Times { begin, end }),
    }
}

fn parse_steps(text: &str) -> Result<RelativeRange, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            format!("`{text}` is no number of a step: write step FIRST..LAST, such as step 10..12")
        }),
    };
    let (first, last) = (number(first)?, number(last)?);
    match (first, last) {
        (Some(first), Some(last)) if first > last => {
            Err("the range ends before it begins".to_owned())
        }
        (None, None) => {
            Err("step needs a number: step FIRST..LAST, such as step 10..12".to_owned())
        }
        _ => Ok(RelativeRange::Steps { first, last }),
    }
}

/// Why a text is no time of a range, and the same in words.
type RangeError = (NoDuration, String);

/// A time; with a minus, one before the end.
fn time(text: &str) -> Result<Bound, RangeError> {
    let ns = parse_duration(text).map_err(|why| (why, format!("`{text}` {why}")))?;
    Ok(match text.starts_with('-') {
        true => Bound::BeforeEnd(ns.saturating_neg()),
        false => Bound::FromBegin(ns),
    })
}

#[cfg(test)]
mod tests {
    use ascend_trace_analysis::steps::{FoundStep, LoopId, LoopSteps, Origin, StepClock};
    use ascend_trace_recording::ThreadId;

    use super::*;

    const SPAN: Option<TimeRange> = Some(TimeRange::new(1_000, 9_000));

    fn of(text: &str) -> Option<TimeRange> {
        parse(text).unwrap().within(SPAN).unwrap()
    }

    #[test]
    fn a_range_counts_from_the_first_timestamp_and_stays_inside() {
        assert_eq!(of("1us..2us"), Some(TimeRange::new(2_000, 3_000)));
        assert_eq!(of("0.5us..2.5µs"), Some(TimeRange::new(1_500, 3_500)));
        assert_eq!(of("..100ns"), Some(TimeRange::new(1_000, 1_100)));
        assert_eq!(of("3us.."), Some(TimeRange::new(4_000, 9_000)));
        assert_eq!(of("8us..1s"), Some(TimeRange::new(9_000, 9_000)));
        assert_eq!(of("0..1us"), Some(TimeRange::new(1_000, 2_000)));
        assert_eq!(parse("1.5min..2h"), parse("90s..7200s"));
        assert_eq!(parse("0..1m"), parse("0ns..60s"));
        assert_eq!(parse("1us..2us").unwrap().within(None).unwrap(), None);
    }

    #[test]
    fn a_time_with_a_minus_counts_back_from_the_end() {
        assert_eq!(of("-3us.."), Some(TimeRange::new(6_000, 9_000)));
        assert_eq!(of("-3us..-1us"), Some(TimeRange::new(6_000, 8_000)));
        assert_eq!(of("1us..-1us"), Some(TimeRange::new(2_000, 8_000)));
        assert_eq!(of("-1h.."), SPAN);
        assert_eq!(of("..-1us"), Some(TimeRange::new(1_000, 8_000)));
        // Ends that turn out to be before the begin leave nothing.
        assert_eq!(of("7us..-7us"), Some(TimeRange::new(8_000, 8_000)));
    }

    #[test]
    fn steps_are_named_by_the_numbers_in_their_names_or_by_their_places() {
        let lap = |names: &[&str]| {
            let cuts = names.iter().zip(1_i64..);
            let cuts = cuts.map(|(name, place)| FoundStep {
                begin: place * 100,
                end: place * 100 + 50,
                asked: TimeRange::new(place * 100, place * 100 + 50),
                name: (*name).to_owned(),
            });
            let cuts = cuts.collect();
            let mut plan = RecordingSteps::default();
            let id = LoopId {
                process: 0,
                number: 0,
            };
            plan.laps.insert(
                id,
                LoopSteps {
                    origin: Origin::Named,
                    clock: StepClock::Host,
                    left_out: 0,
                    thread: ThreadId(0),
                    cuts,
                },
            );
            plan
        };
        let named = lap(&["step 48200", "step 48201", "step 48202"]);
        let of = |plan: &RecordingSteps, text: &str| match parse(text).unwrap() {
            RelativeRange::Steps { first, last } => steps(plan, first, last).ok(),
            other => panic!("{other:?}"),
        };
        let range = |begin, end| Some(TimeRange::new(begin, end));
        assert_eq!(of(&named, "step 48200..48201"), range(100, 250));
        assert_eq!(of(&named, "step 48201"), range(200, 250));
        assert_eq!(of(&named, "step 48202.."), range(300, 350));
        assert_eq!(of(&named, "step 1..3"), None);
        assert_eq!(of(&lap(&["a", "b"]), "step ..1"), range(100, 150));
    }

    #[test]
    fn a_range_outside_of_the_recording_is_reported() {
        let error = parse("9us..1s").unwrap().within(SPAN);
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
            ("step x..3", "`x` is no number"),
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
            "-1ms..-2ms",
            "1ms..9e30s",
            "step ..",
            "step 3..2",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
