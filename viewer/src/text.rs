//! Numbers and names as people read them.

use ascend_trace_model::text::plain;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;

/// A unit of time and its length in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) nanoseconds: i64,
}

/// The largest unit of which there is at least one in a time.
pub(crate) fn unit_for(nanoseconds: i64) -> Unit {
    let (name, nanoseconds) = match nanoseconds.unsigned_abs() {
        0..1_000 => ("ns", 1),
        1_000..1_000_000 => ("µs", MICROSECOND),
        1_000_000..1_000_000_000 => ("ms", MILLISECOND),
        _ => ("s", SECOND),
    };
    Unit { name, nanoseconds }
}

/// A length of time with three digits that count.
pub(crate) fn duration(nanoseconds: i64) -> String {
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

/// The unit in which moments up to this one are shown.
pub(crate) fn moment_unit(nanoseconds: i64) -> Unit {
    let (name, nanoseconds) = match nanoseconds.unsigned_abs() {
        0..1_000_000 => ("µs", MICROSECOND),
        1_000_000..10_000_000_000 => ("ms", MILLISECOND),
        _ => ("s", SECOND),
    };
    Unit { name, nanoseconds }
}

/// A moment, counted from the start of the trace, exact to the nanosecond.
pub(crate) fn moment(nanoseconds: i64) -> String {
    let unit = moment_unit(nanoseconds);
    let decimals = unit.nanoseconds.ilog10();
    format!(
        "{} {}",
        fixed(nanoseconds, unit.nanoseconds, decimals),
        unit.name
    )
}

/// `value / unit` with a fixed number of decimals, computed without rounding errors.
pub(crate) fn fixed(value: i64, unit: i64, decimals: u32) -> String {
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
pub(crate) fn bytes(count: u64) -> String {
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
pub(crate) fn rate(bytes_per_second: f64) -> String {
    let (value, unit) = match bytes_per_second {
        ..1e6 => (bytes_per_second / 1e3, "kB/s"),
        1e6..1e9 => (bytes_per_second / 1e6, "MB/s"),
        _ => (bytes_per_second / 1e9, "GB/s"),
    };
    let decimals = if value < 9.95 { 2 } else { 1 };
    format!("{value:.decimals$} {unit}")
}

/// A part, from 0 to 1, in whole percent; more than nothing is never 0 %.
pub(crate) fn share(part: f64) -> String {
    match part * 100.0 {
        0.0 => "0%".to_owned(),
        0.0..1.0 => "<1%".to_owned(),
        percent => format!("{:.0}%", percent.min(100.0)),
    }
}

/// A count, shortened from ten thousand on.
pub(crate) fn count(value: u64) -> String {
    match value {
        0..10_000 => value.to_string(),
        10_000..1_000_000 => format!("{:.1}k", value as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2}M", value as f64 / 1e6),
        _ => format!("{:.2}G", value as f64 / 1e9),
    }
}

/// A function's name without the prefix that all of them share.
pub(crate) fn short_name(name: &str) -> &str {
    let rest = ["aclrt", "aclnn", "aclmdl", "acl", "Hccl"]
        .iter()
        .find_map(|prefix| {
            name.strip_prefix(prefix)
                .filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        });
    rest.unwrap_or(name)
}

/// The cells that a text fills.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text, with what a terminal would obey made visible, cut to `cells` cells with an ellipsis if it is longer.
pub(crate) fn fit(text: &str, cells: usize) -> String {
    let text = plain(text);
    if text.width() <= cells {
        return text.into_owned();
    }
    let mut cut = String::new();
    let mut used = 0;
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if used + wide >= cells {
            break;
        }
        used += wide;
        cut.push(character);
    }
    if cells > 0 {
        cut.push('…');
    }
    cut
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
    fn moments_are_exact() {
        assert_eq!(moment(234_567), "234.567 µs");
        assert_eq!(moment(1_234_567), "1.234567 ms");
        assert_eq!(moment(12_345_678), "12.345678 ms");
        assert_eq!(moment(-20), "-0.020 µs");
        assert_eq!(moment(12 * SECOND + 7), "12.000000007 s");
    }

    #[test]
    fn texts_are_cut_by_cells_not_by_bytes() {
        assert_eq!(fit("MatMul", 6), "MatMul");
        assert_eq!(fit("MatMulV2", 6), "MatMu…");
        assert_eq!(fit("矩阵乘法", 5), "矩阵…");
        assert_eq!(width(&fit("矩阵乘法", 6)), 5);
        assert_eq!(fit("a\tb\x1b[31m", 20), "a\\tb\\u{1b}[31m");
        assert_eq!(fit("x", 0), "");
    }

    #[test]
    fn names_lose_the_prefix_of_the_library() {
        assert_eq!(short_name("aclrtMemcpyAsync"), "MemcpyAsync");
        assert_eq!(short_name("aclnnMatmul"), "Matmul");
        assert_eq!(short_name("aclInit"), "Init");
        assert_eq!(short_name("aclrt"), "aclrt");
        assert_eq!(short_name("aclopExecute"), "aclopExecute");
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
}
