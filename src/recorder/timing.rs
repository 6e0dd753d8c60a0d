//! The texts of `--timing` and `--budget`, which `ctl` takes as well.

use ascend_trace_format::session::{Timing, WHOLE_BUDGET};

/// Largest N of `sample=N`.
const MOST_SAMPLED: u32 = 1_000_000;

/// The manner of timing with this text.
pub(crate) fn timing_of(text: &str) -> Result<Timing, String> {
    match text {
        "events" => Ok(Timing::Events),
        "chained" => Ok(Timing::Chained),
        "off" => Ok(Timing::Off),
        "auto" => Ok(Timing::Auto),
        "hardware" => Ok(Timing::Hardware),
        "both" => Ok(Timing::Both),
        _ => text
            .strip_prefix("sample=")
            .and_then(|number| number.parse().ok())
            .filter(|step| (1..=MOST_SAMPLED).contains(step))
            .map(Timing::Sample)
            .ok_or_else(|| {
                format!(
                    "it is events, chained, auto, hardware, both, off or sample=N with N from 1 to {MOST_SAMPLED}"
                )
            }),
    }
}

/// The text of a manner of timing.
pub(crate) fn text_of(timing: Timing) -> String {
    match timing {
        Timing::Events => "events".to_owned(),
        Timing::Off => "off".to_owned(),
        Timing::Chained => "chained".to_owned(),
        Timing::Auto => "auto".to_owned(),
        Timing::Hardware => "hardware".to_owned(),
        Timing::Both => "both".to_owned(),
        Timing::Sample(step) => format!("sample={step}"),
    }
}

/// The budget with this text, in parts of `WHOLE_BUDGET`; 0 for no limit.
pub(crate) fn budget_of(text: &str) -> Result<u32, String> {
    if text == "off" {
        return Ok(0);
    }
    let number = text.strip_suffix('%').unwrap_or(text);
    let percent = number.parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.01..=100.0).contains(percent));
    percent
        .map(|percent| (percent / 100.0 * f64::from(WHOLE_BUDGET)).round() as u32)
        .ok_or_else(|| "it is off, or a percentage from 0.01 to 100".to_owned())
}

/// Percent of a budget; none without a limit.
pub(crate) fn percent_of(budget: u32) -> Option<f64> {
    (budget > 0).then(|| f64::from(budget) / f64::from(WHOLE_BUDGET) * 100.0)
}

/// Checks that the timing of a recording that began with `first` can be changed to `wanted` while it is made.
pub(crate) fn check_change(first: Timing, wanted: Timing) -> Result<(), String> {
    let reads_log = |it| matches!(it, Timing::Hardware | Timing::Both);
    if first == Timing::Off {
        return Err(
            "the recording began with --timing off, and has not followed what timing needs to know"
                .to_owned(),
        );
    }
    if reads_log(first) || reads_log(wanted) {
        return Err(
            "the hardware log is read during a whole recording: choose it with --timing".to_owned(),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_manner_has_a_text() {
        for text in [
            "events", "chained", "off", "auto", "hardware", "both", "sample=8",
        ] {
            assert_eq!(timing_of(text).map(text_of), Ok(text.to_owned()));
        }
        for wrong in ["", "sometimes", "sample=0", "sample=1000001", "Events"] {
            assert!(timing_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_budget_is_a_percentage() {
        assert_eq!(budget_of("2"), Ok(200));
        assert_eq!(budget_of("0.5%").map(percent_of), Ok(Some(0.5)));
        assert_eq!(budget_of("off").map(percent_of), Ok(None));
        for wrong in ["", "0", "101", "two", "-1", "nan"] {
            assert!(budget_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn timing_changes_between_manners_that_record_events() {
        assert_eq!(check_change(Timing::Auto, Timing::Off), Ok(()));
        assert_eq!(check_change(Timing::Sample(2), Timing::Events), Ok(()));
        for (first, wanted) in [
            (Timing::Off, Timing::Events),
            (Timing::Hardware, Timing::Auto),
            (Timing::Auto, Timing::Both),
        ] {
            assert!(check_change(first, wanted).is_err(), "{first:?}");
        }
    }
}
