//! The critical path in the lanes.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::item::TrackKey;

use super::Scene;
use super::drawn_content::DrawnContent;
use super::track::{CAPTURING, IDLE, RETURNING, STALL, UNKNOWN};

/// The path, where nothing else has to be read.
pub(super) const PATH: &str = "═";
/// The same where another way may be as long.
pub(super) const TIE: &str = "≈";

/// Marks where the path runs along lanes that are drawn in one place, in the last line of that. Texts stay.
pub(super) fn draw(
    scene: &Scene<'_>,
    lanes: &[TrackKey],
    area: Rect,
    drawn: &DrawnContent,
    buffer: &mut Buffer,
) {
    let known = scene
        .app
        .panels
        .path
        .as_ref()
        .and_then(|it| it.known.as_ref());
    let Some(known) = known.filter(|_| area.height > 0) else {
        return;
    };
    let lanes = known.along(lanes);
    let y = area.bottom() - 1;
    for column in 0..area.width {
        let range = scene
            .app
            .camera
            .viewport
            .cell_time(i64::from(column), area.width);
        let Some(tie) = lanes.on(range) else {
            continue;
        };
        let is_text = drawn.is_text(y, column);
        if let Some(cell) = buffer.cell_mut((area.x + column, y)) {
            mark(scene, cell, is_text, tie);
        }
    }
}

/// Marks one cell. A part of a slice is seen only by its symbol, and so keeps that.
fn mark(scene: &Scene<'_>, cell: &mut Cell, is_text: bool, tie: bool) {
    let is_free = [" ", IDLE, STALL, RETURNING, CAPTURING, UNKNOWN].contains(&cell.symbol());
    if is_text || !is_free {
        let marked = Modifier::BOLD | Modifier::UNDERLINED;
        cell.set_style(Style::new().add_modifier(marked));
        return;
    }
    let is_inside = cell.bg != Color::Reset || cell.modifier.contains(Modifier::REVERSED);
    cell.set_symbol(if tie { TIE } else { PATH });
    match is_inside {
        true => cell.set_style(Style::new().add_modifier(Modifier::BOLD)),
        false => cell.set_style(scene.app.theme.path()),
    };
}
