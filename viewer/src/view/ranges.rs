//! A line of ranges that the program named.

use ascend_trace_recording::ThreadId;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::app::Selection;
use crate::search::{Search, SearchMatch};
use crate::text::duration;

use super::Scene;
use super::drawn_content::DrawnContent;
use super::line::{BoxLine, NamedBox};
use super::track::UNKNOWN;

pub(crate) fn draw(
    scene: &Scene<'_>,
    key: (ThreadId, u8),
    area: Rect,
    drawn: &mut DrawnContent,
    buffer: &mut Buffer,
) {
    let (app, trace) = (scene.app, scene.world.trace);
    let viewport = app.camera.viewport;
    let mut line = BoxLine {
        viewport,
        area,
        drawn,
        buffer,
        filled: 0,
    };
    // The cost follows the columns: ranges inside columns that are drawn are skipped.
    let (mut place, mut from) = (0, viewport.begin());
    while let Some((found, id, range)) = app.document.ranges.next(trace, key, place, from) {
        if range.begin > viewport.end() {
            break;
        }
        let domain = trace
            .domain(range)
            .map(|it| format!("{it}: "))
            .unwrap_or_default();
        let length = duration(range.end.saturating_sub(range.begin));
        let is_selected = matches!(app.camera.selected, Some(Selection::Range(it, _)) if it == id);
        let (filled, mark) = match is_selected {
            true => (app.theme.chosen(), app.theme.chosen_shape()),
            false => (
                app.theme.range(&range.name),
                app.theme.range_shape(&range.name),
            ),
        };
        let mut filled = filled;
        let is_found = |it: &Search| it.is_match(trace, SearchMatch::Range(id));
        if app.camera.search.as_ref().is_some_and(is_found) {
            filled = filled.add_modifier(Modifier::UNDERLINED);
        }
        line.draw(NamedBox {
            span: range.time(),
            names: (format!("{domain}{} {length}", range.name), &range.name),
            filled,
            mark,
        });
        place = found + 1;
        from = viewport.time(i64::from(line.filled), area.width);
    }
    unknown(scene, area, buffer);
}

/// Parts that have not been read cannot be drawn.
fn unknown(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let viewport = scene.app.camera.viewport;
    let overview = scene.world.overview;
    let Some(since) = overview.ranges_until else {
        return;
    };
    for column in 0..area.width {
        let range = viewport.cell_time(i64::from(column), area.width);
        if range.begin >= since
            && range.begin <= overview.span.map_or(i64::MAX, |span| span.end)
            && !overview.is_loaded(range)
            && let Some(cell) = buffer.cell_mut((area.x + column, area.y))
            && cell.symbol() == " "
        {
            cell.set_symbol(UNKNOWN).set_style(scene.app.theme.faint());
        }
    }
}
