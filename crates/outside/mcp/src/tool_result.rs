//! Results of limited length.

use rmcp::model::{CallToolResult, ContentBlock};

use crate::command::CommandOutput;

/// Bytes of a result without the messages.
const MOST_BYTES: usize = 24_000;
/// Bytes of the messages.
const MOST_NOTES: usize = 2_000;

/// The result of a command: its text up to a length, and its messages.
pub(crate) fn of_command(output: CommandOutput, how_to_ask: &str) -> CallToolResult {
    let notes = shortened(output.notes.trim(), MOST_NOTES, "");
    if !output.has_result {
        let text = match notes.is_empty() {
            true => "the command failed without a message".to_owned(),
            false => notes,
        };
        return refusal(text);
    }
    let mut text = shortened(output.text.trim_end(), MOST_BYTES, how_to_ask);
    if !notes.is_empty() {
        text.push_str("\n\nMessages:\n");
        text.push_str(&notes);
    }
    of_text(text)
}

pub(crate) fn of_text(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// An error, with this reason.
pub(crate) fn refusal(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// The whole lines of a text that fit, and how to ask for the rest.
pub(crate) fn shortened(text: &str, most: usize, how_to_ask: &str) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let cut = text
        .get(..text.floor_char_boundary(most))
        .unwrap_or_default();
    let cut = cut.rsplit_once('\n').map_or(cut, |(lines, _)| lines);
    let left = text.get(cut.len()..).unwrap_or_default().lines().count();
    format!("{cut}\n({left} more lines are left out. {how_to_ask})").replace(" )", ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_with_a_whole_line_and_a_count() {
        let text: String = (0..100).map(|it| format!("line {it} µ\n")).collect();
        let short = shortened(&text, 40, "Ask for a range.");
        let lines: Vec<&str> = short.lines().collect();
        assert_eq!(lines.first(), Some(&"line 0 µ"));
        assert!(short.len() < 120, "{short}");
        assert!(
            short.ends_with("more lines are left out. Ask for a range.)"),
            "{short}"
        );
        assert_eq!(shortened("short", 40, ""), "short");
    }
}
