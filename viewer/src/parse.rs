//! What users type: lengths of time and moments.

use crate::viewport::Viewport;

/// A length of time with its unit: `20ns`, `1.5us`, `3 ms`, `2s`, `1min`.
pub(crate) fn duration(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text
        .find(|it: char| !it.is_ascii_digit() && it != '.' && it != '-' && it != '+')
        .filter(|digits| *digits > 0)?;
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        _ => return None,
    };
    let value = number.parse::<f64>().ok()? * factor;
    // Every i64 below this is an f64 too, near enough.
    (value.abs() < 9e18).then_some(value.round() as i64)
}

/// The text that [`duration`] reads as this.
pub(crate) fn written(nanoseconds: i64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let exact = units.into_iter().find(|(unit, _)| nanoseconds % unit == 0);
    let (unit, name) = exact.unwrap_or((1, "ns"));
    format!("{}{name}", nanoseconds / unit)
}

/// A moment: counted from the start (`1.5ms`), from what is in the middle of the screen (`+20us`,
/// `-3ms`), or as a part of the whole (`50%`).
pub(crate) fn moment(text: &str, span: (i64, i64), viewport: Viewport) -> Option<i64> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        let part: f64 = percent.trim().parse().ok()?;
        let length = span.1.saturating_sub(span.0) as f64;
        return (0.0..=100.0)
            .contains(&part)
            .then(|| span.0.saturating_add((length * part / 100.0) as i64));
    }
    let time = duration(text)?;
    let from = match text.starts_with(['+', '-']) {
        true => viewport.middle(),
        false => span.0,
    };
    Some(from.saturating_add(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_a_unit() {
        let read = ["20ns", "1.5us", "3 ms", "2s", "1min", "0.1µs"].map(duration);
        let expected = [20, 1_500, 3_000_000, 2_000_000_000, 60_000_000_000, 100];
        assert_eq!(read, expected.map(Some));
        for wrong in ["", "5", "ms", "1.2.3ms", "1 day", "99999999999999s"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for nanoseconds in [0, 1, 999, 50_000, 1_500_000, 2_000_000_000] {
            assert_eq!(duration(&written(nanoseconds)), Some(nanoseconds));
        }
        assert_eq!(written(50_000), "50us");
    }

    #[test]
    fn moments_count_from_the_start_or_from_here() {
        let (span, viewport) = ((1_000, 11_000), Viewport::new(4_000, 8_000));
        let at = |text| moment(text, span, viewport);
        assert_eq!(at("2us"), Some(3_000));
        assert_eq!(at("+2us"), Some(8_000));
        assert_eq!(at("-1us"), Some(5_000));
        assert_eq!(at("50 %"), Some(6_000));
        assert_eq!(at("150%"), None);
        assert_eq!(at("here"), None);
    }
}
