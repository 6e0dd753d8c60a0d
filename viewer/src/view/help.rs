//! The list of keys, made from the key map.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::keymap::KEYS;
use crate::text::width;

use super::Scene;

/// Cells for the names of keys.
const KEY_COLUMN: usize = 11;

pub(crate) fn draw(scene: &Scene<'_>, first: u16, buffer: &mut Buffer) {
    let (columns, rows) = scene.app.size;
    let lines = lines(scene);
    let wanted = lines.iter().map(Line::width).max().unwrap_or(0) as u16 + 4;
    let (wide, high) = (wanted.min(columns), (lines.len() as u16 + 2).min(rows));
    let area = Rect::new((columns - wide) / 2, (rows - high) / 2, wide, high);
    frame(scene, area, buffer);
    let shown = usize::from(high.saturating_sub(2));
    let first = usize::from(first).min(lines.len().saturating_sub(shown));
    for (y, line) in lines.iter().skip(first).take(shown).enumerate() {
        let (x, y) = (area.x + 2, area.y + 1 + y as u16);
        buffer.set_line(x, y, line, wide.saturating_sub(4));
    }
    let more = lines.len() > shown;
    let text = scene.app.theme.keys(match more {
        true => " ↑↓ more, any other key: back ",
        false => " any key: back ",
    });
    let text = text.as_ref();
    let x = area.right().saturating_sub(width(text) as u16 + 2);
    buffer.set_stringn(
        x,
        area.bottom() - 1,
        text,
        usize::from(wide),
        scene.app.theme.dim(),
    );
}

fn lines(scene: &Scene<'_>) -> Vec<Line<'static>> {
    let theme = scene.app.theme;
    let mut lines = changed(scene);
    for group in KEYS {
        lines.push(Line::styled(group.title, theme.strong()));
        for entry in group.entries {
            let shown = theme.keys(entry.shown);
            let gap = " ".repeat(KEY_COLUMN.saturating_sub(width(&shown)).max(1));
            lines.push(Line::from(vec![
                Span::styled(format!(" {shown}{gap}"), theme.accent()),
                Span::raw(entry.help),
            ]));
        }
    }
    lines.push(Line::styled("Mouse", theme.strong()));
    for (what, help) in [
        ("click", "select; twice: fit; in the top line: go there"),
        ("drag", "move; in the ruler: zoom to a range"),
        ("wheel", "zoom (shift: move); on labels: scroll"),
    ] {
        let gap = " ".repeat(KEY_COLUMN.saturating_sub(what.len()));
        lines.push(Line::from(vec![
            Span::styled(format!(" {what}{gap}"), theme.accent()),
            Span::raw(help),
        ]));
    }
    lines
}

/// The keys that the configuration has changed.
fn changed(scene: &Scene<'_>) -> Vec<Line<'static>> {
    let theme = scene.app.theme;
    let changed = scene.app.config.keys.changed().map(|(key, action)| {
        let gap = " ".repeat(KEY_COLUMN.saturating_sub(width(key)).max(1));
        Line::from(vec![
            Span::styled(format!(" {key}{gap}"), theme.accent()),
            Span::raw(action.to_owned()),
        ])
    });
    let mut lines: Vec<_> = changed.collect();
    if !lines.is_empty() {
        let title = "Changed by the configuration; these win over the keys below";
        lines.insert(0, Line::styled(title, theme.strong()));
    }
    lines
}

/// Empties an area and draws a border around it.
fn frame(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let style = scene.app.theme.dim();
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            let side = x == area.left() || x == area.right() - 1;
            let end = y == area.top() || y == area.bottom() - 1;
            let symbol = match (side, end) {
                (true, true) => corner(x == area.left(), y == area.top()),
                (true, false) => "│",
                (false, true) => "─",
                (false, false) => " ",
            };
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
                cell.set_symbol(symbol)
                    .set_style(Style::reset().patch(style));
            }
        }
    }
    let title = " Keys ";
    buffer.set_stringn(
        area.x + 2,
        area.y,
        title,
        title.len(),
        scene.app.theme.accent(),
    );
}

fn corner(left: bool, top: bool) -> &'static str {
    match (left, top) {
        (true, true) => "╭",
        (false, true) => "╮",
        (true, false) => "╰",
        (false, false) => "╯",
    }
}
