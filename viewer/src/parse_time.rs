//! Moments as users type them.

use ascend_trace_recording::TimeRange;
use ascend_trace_recording::units::parse_duration;

use crate::viewport::Viewport;

/// A timestamp: relative to the start (`1.5ms`), relative to the middle of the screen (`+20us`,
/// `-3ms`), or a part of the whole (`50%`).
pub(crate) fn moment(text: &str, span: TimeRange, viewport: Viewport) -> Option<i64> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        let part: f64 = percent.trim().parse().ok()?;
        let length = span.duration() as f64;
        return (0.0..=100.0)
            .contains(&part)
            .then(|| span.begin.saturating_add((length * part / 100.0) as i64));
    }
    let time = parse_duration(text).ok()?;
    let from = match text.starts_with(['+', '-']) {
        true => viewport.middle(),
        false => span.begin,
    };
    Some(from.saturating_add(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_the_start_or_from_here() {
        let span = TimeRange::new(1_000, 11_000);
        let viewport = Viewport::new(4_000, 8_000);
        let at = |text| moment(text, span, viewport);
        assert_eq!(at("2us"), Some(3_000));
        assert_eq!(at("+2us"), Some(8_000));
        assert_eq!(at("-1us"), Some(5_000));
        assert_eq!(at("50 %"), Some(6_000));
        assert_eq!(at("150%"), None);
        assert_eq!(at("here"), None);
    }
}
