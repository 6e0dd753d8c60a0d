//! Numbers with their units, as people read and write them: the one grammar of the command line and the view.
//!
//! Durations are written in ns, µs, ms, s and min, and read in those and h; `us` is read as µs. Byte counts are
//! written in powers of 1024 with their names (KiB), rates in powers of ten as data sheets give them (kB/s).

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;

/// A unit of time and its length in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    pub name: &'static str,
    pub nanoseconds: i64,
}

/// The largest unit of which there is at least one in a time.
pub fn unit_for(nanoseconds: i64) -> Unit {
    let (name, nanoseconds) = match nanoseconds.unsigned_abs() {
        0..1_000 => ("ns", 1),
        1_000..1_000_000 => ("µs", MICROSECOND),
        1_000_000..1_000_000_000 => ("ms", MILLISECOND),
        _ => ("s", SECOND),
    };
    Unit { name, nanoseconds }
}

/// A difference of two lengths of time.
pub fn signed_duration(nanoseconds: i64) -> String {
    match nanoseconds {
        0 => duration(0),
        1.. => format!("+{}", duration(nanoseconds)),
        _ => format!("-{}", duration(nanoseconds.saturating_neg())),
    }
}

/// A length of time with three digits that count.
pub fn duration(nanoseconds: i64) -> String {
    if nanoseconds.unsigned_abs() >= 10 * MINUTE.unsigned_abs() {
        let minutes = nanoseconds / MINUTE;
        return format!("{minutes} min {} s", (nanoseconds % MINUTE / SECOND).abs());
    }
    let unit = unit_for(nanoseconds);
    if unit.nanoseconds == 1 {
        return format!("{nanoseconds} ns");
    }
    let value = nanoseconds as f64 / unit.nanoseconds as f64;
    let decimals = match value.abs() {
        0.0..9.995 => 2,
        9.995..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {}", unit.name)
}

/// A duration and by how much it may be off, such as `5.06 ms ± 0.12`. An error that would not be seen is left out. One that is
/// much larger than the duration has its own unit: `0 ns ± 13.6 µs`.
pub fn duration_with_error(nanoseconds: i64, error: i64) -> String {
    let text = duration(nanoseconds);
    if unit_for(error).nanoseconds > unit_for(nanoseconds).nanoseconds {
        return format!("{text} ± {}", duration(error));
    }
    let minutes = nanoseconds.unsigned_abs() >= 10 * MINUTE.unsigned_abs();
    let unit = match minutes {
        true => unit_for(SECOND),
        false => unit_for(nanoseconds),
    };
    let value = error as f64 / unit.nanoseconds as f64;
    let decimals = match nanoseconds as f64 / unit.nanoseconds as f64 {
        _ if unit.nanoseconds == 1 || minutes => 0,
        0.0..9.995 => 2,
        9.995..99.95 => 1,
        _ => 0,
    };
    let error = format!("{value:.decimals$}");
    match error.parse() == Ok(0.0) {
        true => text,
        false if minutes => format!("{text} ± {error} s"),
        false => format!("{text} ± {error}"),
    }
}

/// The unit for timestamps up to this one.
pub fn moment_unit(nanoseconds: i64) -> Unit {
    let (name, nanoseconds) = match nanoseconds.unsigned_abs() {
        0..1_000_000 => ("µs", MICROSECOND),
        1_000_000..10_000_000_000 => ("ms", MILLISECOND),
        _ => ("s", SECOND),
    };
    Unit { name, nanoseconds }
}

/// A timestamp, counted from the start of the trace, exact to the nanosecond.
pub fn moment(nanoseconds: i64) -> String {
    let unit = moment_unit(nanoseconds);
    let decimals = unit.nanoseconds.ilog10();
    format!(
        "{} {}",
        fixed(nanoseconds, unit.nanoseconds, decimals),
        unit.name
    )
}

/// `value / unit` with a fixed number of decimals, computed without rounding errors.
pub fn fixed(value: i64, unit: i64, decimals: u32) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let (value, unit) = (value.unsigned_abs(), unit.unsigned_abs().max(1));
    let whole = value / unit;
    if decimals == 0 {
        return format!("{sign}{whole}");
    }
    let digits = unit.ilog10();
    let part = value % unit / 10_u64.pow(digits.saturating_sub(decimals));
    format!("{sign}{whole}.{part:0width$}", width = decimals as usize)
}

/// A number of bytes.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match value.fract() == 0.0 || value >= 99.95 {
        true => format!("{value:.0} {}", UNITS[unit]),
        false => format!("{value:.1} {}", UNITS[unit]),
    }
}

/// A speed, in powers of ten as data sheets give it.
pub fn rate(bytes_per_second: f64) -> String {
    rate_with_error(bytes_per_second, 0.0)
}

/// A speed and by how much it may be off, such as `12.3 ± 0.4 GB/s`. An error that would not be seen is left out.
pub fn rate_with_error(bytes_per_second: f64, error: f64) -> String {
    let (scale, unit) = match bytes_per_second {
        ..1e6 => (1e3, "kB/s"),
        1e6..1e9 => (1e6, "MB/s"),
        _ => (1e9, "GB/s"),
    };
    let value = bytes_per_second / scale;
    let decimals = if value < 9.95 { 2 } else { 1 };
    let error = format!("{:.decimals$}", error / scale);
    match error.parse() == Ok(0.0) {
        true => format!("{value:.decimals$} {unit}"),
        false => format!("{value:.decimals$} ± {error} {unit}"),
    }
}

/// A part, from 0 to 1, in whole percent; more than nothing is never 0 %.
pub fn share(part: f64) -> String {
    match part * 100.0 {
        0.0 => "0%".to_owned(),
        0.0..1.0 => "<1%".to_owned(),
        percent => format!("{:.0}%", percent.min(100.0)),
    }
}

/// A number with its thousands apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count, shortened from ten thousand on.
pub fn count(value: u64) -> String {
    match value {
        0..10_000 => value.to_string(),
        10_000..1_000_000 => format!("{:.1}k", value as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2}M", value as f64 / 1e6),
        _ => format!("{:.2}G", value as f64 / 1e9),
    }
}

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDuration {
    #[error("has no unit: write ns, us, ms, s, min or h")]
    Unitless,
    #[error("has an unknown unit: write ns, us, ms, s, min or h")]
    UnknownUnit,
    #[error("is not a time: write a number and its unit, such as 1.5ms")]
    NoNumber,
    #[error("is out of range: write less than 290 years")]
    OutOfRange,
}

/// Reads a duration with its unit, in nanoseconds: `20ns`, `1.5us`, `3 ms`, `2s`, `1min`, `-2h`. A zero needs no
/// unit.
///
/// # Errors
/// When the text is no number with a unit of time, or more than 64 bits of nanoseconds.
pub fn parse_duration(text: &str) -> Result<i64, NoDuration> {
    let text = text.trim();
    let unit = text.trim_start_matches(|it: char| !it.is_alphabetic() && it != 'µ');
    let number = text[..text.len() - unit.len()].trim();
    let value: f64 = number.parse().map_err(|_| NoDuration::NoNumber)?;
    let factor = match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => MICROSECOND as f64,
        "ms" => MILLISECOND as f64,
        "s" => SECOND as f64,
        "min" | "m" => MINUTE as f64,
        "h" => 60.0 * MINUTE as f64,
        "" if value == 0.0 => 1.0,
        "" => return Err(NoDuration::Unitless),
        _ => return Err(NoDuration::UnknownUnit),
    };
    let nanoseconds = (value * factor).round();
    // Every i64 below this is an f64 too, near enough.
    match nanoseconds.abs() < 9e18 {
        true => Ok(nanoseconds as i64),
        false => Err(NoDuration::OutOfRange),
    }
}

/// The shortest text that [`parse_duration`] reads as this.
pub fn exact_duration(nanoseconds: i64) -> String {
    let units = [(SECOND, "s"), (MILLISECOND, "ms"), (MICROSECOND, "us")];
    let exact = units.into_iter().find(|(unit, _)| nanoseconds % unit == 0);
    let (unit, name) = exact.unwrap_or((1, "ns"));
    format!("{}{name}", nanoseconds / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_three_digits() {
        let shown: Vec<_> = [
            0,
            999,
            1_840,
            18_400,
            999_600,
            1_840_000,
            65 * SECOND,
            754 * SECOND,
        ]
        .map(duration)
        .to_vec();
        let expected = [
            "0 ns",
            "999 ns",
            "1.84 µs",
            "18.4 µs",
            "1000 µs",
            "1.84 ms",
            "65.0 s",
            "12 min 34 s",
        ];
        assert_eq!(shown, expected);
        assert_eq!(duration(-2_500), "-2.50 µs");
        assert!(!duration(i64::MIN).is_empty());
    }

    #[test]
    fn errors_have_the_unit_of_the_duration_or_a_larger_one() {
        let shown = [
            ((5_060_000, 120_000), "5.06 ms ± 0.12"),
            ((18_400, 1_234), "18.4 µs ± 1.2"),
            ((120, 35), "120 ns ± 35"),
            ((5_060_000, 400), "5.06 ms"),
            ((0, 13_600), "0 ns ± 13.6 µs"),
            ((136_000, 2_372_000), "136 µs ± 2.37 ms"),
            ((754 * SECOND, 3 * SECOND), "12 min 34 s ± 3 s"),
        ];
        for ((nanoseconds, error), expected) in shown {
            assert_eq!(duration_with_error(nanoseconds, error), expected);
        }
    }

    #[test]
    fn timestamps_are_exact() {
        assert_eq!(moment(234_567), "234.567 µs");
        assert_eq!(moment(1_234_567), "1.234567 ms");
        assert_eq!(moment(12_345_678), "12.345678 ms");
        assert_eq!(moment(-20), "-0.020 µs");
        assert_eq!(moment(12 * SECOND + 7), "12.000000007 s");
    }

    #[test]
    fn bytes_and_counts_are_short() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(4 << 20), "4 MiB");
        assert_eq!(bytes(1_536), "1.5 KiB");
        assert_eq!(rate(21.5e9), "21.5 GB/s");
        assert_eq!(rate(16e6), "16.0 MB/s");
        assert_eq!(rate(512.0), "0.51 kB/s");
        assert_eq!(count(9_999), "9999");
        assert_eq!(count(1_234_567), "1.23M");
    }

    #[test]
    fn durations_are_read_with_their_units() {
        let read = [
            "20ns", "1.5us", "3 ms", "2s", "1min", "0.1µs", "-1us", "0", "2h",
        ];
        let expected = [
            20,
            1_500,
            3_000_000,
            2 * SECOND,
            MINUTE,
            100,
            -1_000,
            0,
            120 * MINUTE,
        ];
        assert_eq!(read.map(parse_duration), expected.map(Ok));
        for (wrong, why) in [
            ("", NoDuration::NoNumber),
            ("5", NoDuration::Unitless),
            ("ms", NoDuration::NoNumber),
            ("1.2.3ms", NoDuration::NoNumber),
            ("1 day", NoDuration::UnknownUnit),
            ("99999999999999s", NoDuration::OutOfRange),
        ] {
            assert_eq!(parse_duration(wrong), Err(why), "{wrong}");
        }
    }

    #[test]
    fn exact_durations_are_read_back() {
        for nanoseconds in [0, 1, 999, 50_000, 1_500_000, 2 * SECOND] {
            assert_eq!(
                parse_duration(&exact_duration(nanoseconds)),
                Ok(nanoseconds)
            );
        }
        assert_eq!(exact_duration(50_000), "50us");
    }
}
