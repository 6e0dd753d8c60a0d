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
    let groups = groups(scene);
    let lines: Vec<&Line<'_>> = groups.iter().flatten().collect();
    let column = lines.iter().map(|it| it.width()).max().unwrap_or(0) as u16 + 2;
    // Where they have no room one below the other, they may side by side.
    let is_long = lines.len() + 2 > usize::from(rows);
    let parts = match is_long && 2 * column + 2 <= columns {
        true => lines.split_at(half(&groups)),
        false => lines.split_at(lines.len()),
    };
    let count = if parts.1.is_empty() { 1 } else { 2 };
    let longest = parts.0.len().max(parts.1.len());
    let wide = (count * column + 2).min(columns);
    let high = (longest as u16 + 2).min(rows);
    let area = Rect::new((columns - wide) / 2, (rows - high) / 2, wide, high);
    frame(scene, area, buffer);
    let shown = usize::from(high.saturating_sub(2));
    let first = usize::from(first).min(longest.saturating_sub(shown));
    let room = column.min(wide.saturating_sub(2)).saturating_sub(2);
    for (place, part) in (0..).zip([parts.0, parts.1]) {
        for (y, line) in (0..).zip(part.iter().skip(first).take(shown)) {
            buffer.set_line(area.x + 2 + place * column, area.y + 1 + y, line, room);
        }
    }
    let text = scene.app.theme.keys(match longest > shown {
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

/// Lines of the first groups, which are about half of all.
fn half(groups: &[Vec<Line<'_>>]) -> usize {
    let all: usize = groups.iter().map(Vec::len).sum();
    let ends = groups.iter().scan(0, |end, group| {
        *end += group.len();
        Some(*end)
    });
    let nearest = ends.min_by_key(|end| end.abs_diff(all - end));
    nearest.unwrap_or(all)
}

/// A title with its lines, for each group of keys.
fn groups(scene: &Scene<'_>) -> Vec<Vec<Line<'static>>> {
    let theme = scene.app.theme;
    let line = |keys: &str, help: &'static str| {
        let gap = " ".repeat(KEY_COLUMN.saturating_sub(width(keys)).max(1));
        Line::from(vec![
            Span::styled(format!(" {keys}{gap}"), theme.accent()),
            Span::raw(help),
        ])
    };
    let mut groups = vec![changed(scene)];
    let full = KEYS.iter().filter(|group| !group.entries.is_empty());
    groups.extend(full.map(|group| {
        let title = Line::styled(group.title, theme.strong());
        let entries = group.entries.iter();
        let entries = entries.map(|it| line(&theme.keys(it.shown), it.help));
        std::iter::once(title).chain(entries).collect()
    }));
    let mouse = [
        ("click", "select; twice: fit; in the top line: go there"),
        ("drag", "move; in the ruler: zoom to a range"),
        ("wheel", "zoom (shift: move); on labels: scroll"),
    ];
    let title = Line::styled("Mouse", theme.strong());
    let mouse = mouse.map(|(what, help)| line(what, help));
    groups.push(std::iter::once(title).chain(mouse).collect());
    groups
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
