//! Pieces of C text: comments, literals, prototypes.

use crate::ctype::CType;
use crate::layout::Struct;
use crate::model::{Macro, Param};

/// Longest line that a declaration may fill before it is wrapped.
const WIDTH: usize = 100;

/// Each item once, in the order of its first appearance.
pub(crate) fn in_first_order<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut order = Vec::new();
    for item in items {
        if !order.contains(&item) {
            order.push(item);
        }
    }
    order
}

pub(crate) fn comment(text: Option<&str>) -> String {
    text.map(|text| format!("/* {text} */\n"))
        .unwrap_or_default()
}

pub(crate) fn section(title: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.collect();
    if lines.is_empty() {
        lines
    } else {
        format!("/* {title} */\n{lines}\n")
    }
}

pub(crate) fn keyword(item: &Struct) -> &'static str {
    if item.is_union { "union" } else { "struct" }
}

/// A macro's value as a C literal: flags are unsigned, codes are plain integers.
pub(crate) fn literal(item: &Macro) -> String {
    match (item.is_hex, item.value) {
        (true, value) if value > i128::from(u32::MAX) => format!("{value:#x}ULL"),
        (true, value) => format!("{value:#x}U"),
        (false, value) if value < 0 => format!("({value})"),
        (false, value) => value.to_string(),
    }
}

/// `RET name(params);`, wrapped at the line width.
pub(crate) fn prototype(
    prefix: &str,
    ret: &CType,
    name: &str,
    params: &[Param],
    is_variadic: bool,
) -> String {
    let mut words: Vec<String> = params.iter().map(|p| p.ctype.declare(&p.name)).collect();
    if is_variadic {
        words.push("...".to_owned());
    }
    if words.is_empty() {
        words.push("void".to_owned());
    }
    let mut text = format!("{prefix}{}(", ret.declare(name));
    let mut column = text.len();
    let last = words.len() - 1;
    for (index, word) in words.iter().enumerate() {
        let word = format!("{word}{}", if index == last { ");\n" } else { "," });
        if column + word.trim_end().len() + 1 > WIDTH {
            text.push_str("\n    ");
            column = 4;
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        column += word.len();
        text.push_str(&word);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn macro_of(value: i128, is_hex: bool) -> Macro {
        Macro {
            name: String::new(),
            header: String::new(),
            group: String::new(),
            value,
            is_hex,
        }
    }

    #[test]
    fn flags_are_unsigned_and_codes_are_not() {
        assert_eq!(literal(&macro_of(8, true)), "0x8U");
        assert_eq!(
            literal(&macro_of(0xffff_ffff_ffff_fffe, true)),
            "0xfffffffffffffffeULL"
        );
        assert_eq!(literal(&macro_of(507_000, false)), "507000");
        assert_eq!(literal(&macro_of(-1, false)), "(-1)");
    }

    #[test]
    fn a_long_prototype_is_wrapped_between_parameters() {
        let ctype = CType::parse("const unsigned long *").unwrap();
        let params: Vec<Param> = (0..5)
            .map(|i| Param {
                ctype: ctype.clone(),
                name: format!("parameter{i}"),
            })
            .collect();
        let text = prototype("", &CType::parse("int").unwrap(), "name", &params, true);
        assert!(
            text.lines().count() == 3 && text.lines().all(|line| line.len() <= WIDTH),
            "{text}"
        );
        assert_eq!(
            prototype("", &ctype, "none", &[], false),
            "const unsigned long *none(void);\n"
        );
    }
}
