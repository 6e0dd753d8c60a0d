//! A list in the place of the details.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::App;
use crate::layout::ScreenLayout;
use crate::list::{ColumnAlign, ListColumn, ListEntry, ListState};
use crate::text::{fit, width};

use super::Scene;

/// Cells between columns.
const GAP: usize = 2;
/// Above the entries: the title and the names of the columns.
const HEAD: u16 = 2;

/// The first entry on screen.
pub(crate) fn first_entry(app: &App) -> usize {
    let shown = usize::from(app.layout().detail.height.saturating_sub(HEAD));
    let list = app.panels.list.as_ref();
    list.map_or(0, |list| first(list, shown))
}

fn first(list: &ListState, shown: usize) -> usize {
    let last = list.len().saturating_sub(shown);
    // The cursor keeps a distance from the lower edge, so that the next rows are visible.
    let margin = shown / 4;
    (list.cursor + 1 + margin).saturating_sub(shown).min(last)
}

/// The column that is drawn at a cell of the screen's width.
pub(crate) fn column_at(app: &App, x: u16) -> Option<usize> {
    let list = app.panels.list.as_ref()?;
    let area = app.layout().detail;
    let mut right = usize::from(area.x) + 2;
    let all = columns(list, area.width, &on_screen(list, area));
    let found = all.into_iter().find(|(_, wide)| {
        right += wide + GAP;
        usize::from(x) < right
    });
    found.map(|(column, _)| column)
}

/// The entries that the screen has room for.
fn on_screen(list: &ListState, area: Rect) -> Vec<&ListEntry> {
    let shown = usize::from(area.height.saturating_sub(HEAD));
    list.shown().skip(first(list, shown)).take(shown).collect()
}

pub(crate) fn draw(
    scene: &Scene<'_>,
    list: &ListState,
    layout: &ScreenLayout,
    buffer: &mut Buffer,
) {
    let area = layout.detail;
    title(scene, list, area, buffer);
    let shown = usize::from(area.height.saturating_sub(HEAD));
    let entries = on_screen(list, area);
    let columns = columns(list, area.width, &entries);
    if area.height > 1 {
        head(scene, list, &columns, area, buffer);
    }
    for (entry, index) in entries.into_iter().zip(first(list, shown)..) {
        let y = area.y + HEAD + (index - first(list, shown)) as u16;
        draw_entry(
            scene,
            list,
            (entry, index),
            &columns,
            Rect {
                y,
                height: 1,
                ..area
            },
            buffer,
        );
    }
}

/// The names of the columns.
fn head(
    scene: &Scene<'_>,
    list: &ListState,
    columns: &[(usize, usize)],
    area: Rect,
    buffer: &mut Buffer,
) {
    let titles = columns
        .iter()
        .map(|(column, wide)| cell(&list.columns[*column], &heading(list, *column), *wide));
    let room = usize::from(area.width.saturating_sub(2));
    let style = scene.app.theme.dim();
    buffer.set_stringn(area.x + 2, area.y + 1, join(titles), room, style);
}

/// The name of a column, and whether the list is sorted by it.
fn heading(list: &ListState, column: usize) -> String {
    let title = list.columns[column].title;
    match list.sort {
        Some(sort) if sort.column == column => {
            let arrow = if sort.descending { "▼" } else { "▲" };
            format!("{title}{arrow}")
        }
        _ => title.to_owned(),
    }
}

fn title(scene: &Scene<'_>, list: &ListState, area: Rect, buffer: &mut Buffer) {
    let theme = scene.app.theme;
    let rule = "─".repeat(usize::from(area.width));
    buffer.set_stringn(area.x, area.y, rule, usize::from(area.width), theme.faint());
    let place = match list.len() {
        0 => "nothing".to_owned(),
        all => format!("{}/{all}", list.cursor + 1),
    };
    let mut spans = vec![
        Span::styled("─ ", theme.faint()),
        Span::styled(list.title(), theme.accent()),
        Span::styled(format!("  {place} "), theme.strong()),
    ];
    if let Some(filter) = filter(list) {
        spans.push(Span::styled(format!(" {filter} "), theme.accent()));
    }
    if !list.note.is_empty() {
        spans.push(Span::styled(format!(" {} ", list.note), theme.dim()));
    }
    buffer.set_line(area.x, area.y, &Line::from(spans), area.width);
}

/// What entries must have, and how many of them do.
fn filter(list: &ListState) -> Option<String> {
    let is_filtered = list.filters() && (list.typing || !list.filter.is_empty());
    let cursor = if list.typing { "▏" } else { "" };
    let (some, all) = (list.len(), list.entries.len());
    is_filtered.then(|| format!("/{}{cursor}  {some} of {all}", fit(&list.filter, 30)))
}

/// The columns for which the screen is wide enough, and their widths.
fn columns(list: &ListState, width_of_screen: u16, entries: &[&ListEntry]) -> Vec<(usize, usize)> {
    let wanted = list.columns.iter().enumerate();
    let wanted = wanted.filter(|(_, column)| column.is_on(width_of_screen));
    let mut columns: Vec<_> = wanted
        .map(|(index, _)| {
            let cells = entries.iter().filter_map(|entry| entry.cells.get(index));
            let widest = cells.map(|cell| width(&cell.text)).max().unwrap_or(0);
            (index, widest.max(width(&heading(list, index))))
        })
        .collect();
    shrink(
        &list.columns,
        &mut columns,
        usize::from(width_of_screen).saturating_sub(3),
    );
    columns
}

/// Makes the widest texts narrower until everything has room.
fn shrink(all: &[ListColumn], columns: &mut [(usize, usize)], room: usize) {
    loop {
        let used: usize = columns.iter().map(|(_, wide)| wide + GAP).sum();
        let Some(excess) = used
            .saturating_sub(GAP)
            .checked_sub(room)
            .filter(|it| *it > 0)
        else {
            return;
        };
        let texts = columns
            .iter_mut()
            .filter(|(index, _)| all[*index].align == ColumnAlign::Left);
        match texts
            .max_by_key(|(_, wide)| *wide)
            .filter(|(_, wide)| *wide > 8)
        {
            Some((_, wide)) => *wide = wide.saturating_sub(excess).max(8),
            None => return,
        }
    }
}

fn draw_entry(
    scene: &Scene<'_>,
    list: &ListState,
    (entry, index): (&ListEntry, usize),
    columns: &[(usize, usize)],
    line: Rect,
    buffer: &mut Buffer,
) {
    let theme = scene.app.theme;
    let cells = columns.iter().map(|(column, wide)| {
        let text = entry
            .cells
            .get(*column)
            .map_or("", |cell| cell.text.as_str());
        cell(&list.columns[*column], text, *wide)
    });
    let text = join(cells);
    let is_current = index == list.cursor;
    let style = match is_current {
        true => theme.chosen(),
        false => ratatui::style::Style::new(),
    };
    let marker = if is_current { "▶ " } else { "  " };
    let room = usize::from(line.width);
    let blank = room.saturating_sub(width(&text) + 2);
    let text = format!("{marker}{text}{}", " ".repeat(blank));
    buffer.set_stringn(line.x, line.y, text, room, style);
}

fn join(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(&" ".repeat(GAP))
}

/// A text at the left or right of its column.
fn cell(column: &ListColumn, text: &str, wide: usize) -> String {
    let text = fit(text, wide);
    let blank = " ".repeat(wide.saturating_sub(width(&text)));
    match column.align {
        ColumnAlign::Left => text + &blank,
        ColumnAlign::Right => blank + &text,
    }
}
