//! Names as people read them, in the cells of a terminal.

use ascend_trace_recording::text::plain;
pub(crate) use ascend_trace_recording::units::{
    bytes, count, duration, duration_with_error, fixed, moment, moment_unit, rate, share, unit_for,
};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

/// The text with visible control characters, cut to `cells` cells with an ellipsis if it is longer.
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
}
