//! Texts of a file, for display: names come from the traced program, or from the author of the file,
//! and may contain anything.

use std::borrow::Cow;

/// The text without characters that a terminal or a document would obey: controls (escape sequences, line
/// ends) and those that change the direction of writing. They are shown as `\n` or `\u{1b}`.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match is_obeyed(character) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

fn is_obeyed(character: char) -> bool {
    let turns = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    character.is_control() || turns || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Whether a spreadsheet would take the text for a formula.
pub fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_a_terminal_are_shown() {
        assert_eq!(plain("a\x1b[31mb\nc\u{9b}"), "a\\u{1b}[31mb\\nc\\u{9b}");
        assert_eq!(plain("a\u{202e}b\u{2028}"), "a\\u{202e}b\\u{2028}");
        assert!(matches!(plain("MatMul 步骤 \\n µ"), Cow::Borrowed(_)));
    }

    #[test]
    fn formulas_of_a_spreadsheet_are_recognised() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert!(is_formula(text), "{text:?}");
        }
        assert!(!is_formula("a=1") && !is_formula("") && !is_formula("'=1"));
    }
}
