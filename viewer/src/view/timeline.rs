//! The lanes with their labels.

mod label;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::item::TrackKey;
use crate::lanes::ViewRow;
use crate::layout::ScreenLayout;
use crate::text::{duration, fit, width};

use super::drawn_content::DrawnContent;
use super::{Scene, critical, folded, memory, meters, nodes, ranges, track};

/// Draws all rows on screen. Returns their content.
pub(crate) fn draw(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) -> DrawnContent {
    let mut drawn = DrawnContent::default();
    let heights = layout.heights(&scene.app.camera.rows);
    for (index, row, line) in layout.visible(&scene.app.camera.rows, scene.app.camera.scroll) {
        let at = |area: Rect| Rect {
            y: line,
            height: heights.bar_of(row).min(area.bottom() - line),
            ..area
        };
        let pinned = index < layout.pinned;
        label::draw(scene, row, pinned, at(layout.gutter), buffer);
        match row {
            ViewRow::Track(TrackKey::Ranges(thread, level)) => {
                let key = (thread, level);
                ranges::draw(scene, key, at(layout.lanes), &mut drawn, buffer);
            }
            ViewRow::Track(TrackKey::Nodes(stream)) => {
                nodes::draw(scene, stream, at(layout.lanes), &mut drawn, buffer);
            }
            ViewRow::Track(TrackKey::Memory(process, place)) => {
                memory::draw(scene, (process, place), at(layout.lanes), buffer);
            }
            ViewRow::Track(key) if key.is_meter() => {
                meters::draw(scene, key, at(layout.lanes), buffer)
            }
            ViewRow::Track(key) => {
                track::draw(scene, key, at(layout.lanes), &mut drawn, buffer);
                critical::draw(scene, &[key], at(layout.lanes), &drawn, buffer);
            }
            ViewRow::Folded(group) => {
                let lanes = folded::tracks(scene, group);
                folded::draw(scene, group, &lanes, at(layout.lanes), buffer);
                if folded::shows_work(group) {
                    critical::draw(scene, &lanes, at(layout.lanes), &drawn, buffer);
                }
            }
            _ => {}
        }
    }
    border(scene, layout, buffer);
    drawn.look_at(buffer, layout.lanes);
    if scene.app.camera.rows.is_empty() {
        let opening = scene.world.overview.opening;
        let text = match (opening, scene.app.is_running()) {
            (Some(percent), _) => opening_words(scene, percent),
            (None, true) => "waiting for the first AscendCL call…".to_owned(),
            (None, false) => "there is no AscendCL call in this trace".to_owned(),
        };
        let area = layout.lanes;
        let middle = area.y + area.height / 2;
        let room = usize::from(area.width.saturating_sub(1));
        buffer.set_stringn(
            area.x + 1,
            middle,
            fit(&text, room),
            room,
            scene.app.theme.dim(),
        );
    }
    drawn
}

/// How far a long file has been read, and when that will be done.
fn opening_words(scene: &Scene<'_>, percent: u8) -> String {
    const BAR: usize = 16;
    let full = usize::from(percent) * BAR / 100;
    let bar = "█".repeat(full) + &"·".repeat(BAR - full);
    let since = scene.app.document.opening_since.unwrap_or(scene.app.clock);
    let elapsed = scene.app.clock.saturating_sub(since);
    let left = match percent {
        // It is too early to know.
        0..3 => String::new(),
        _ => {
            let rest = elapsed.as_nanos() * u128::from(100 - percent) / u128::from(percent);
            let rest = i64::try_from(rest).unwrap_or(i64::MAX);
            format!(", {} left", duration(rest))
        }
    };
    format!("reading the file: {percent} %{left}  {bar}")
}

fn border(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let style = scene.app.theme.faint();
    for y in layout.gutter.top()..layout.gutter.bottom() {
        if let Some(cell) = buffer.cell_mut((layout.gutter.right() - 1, y)) {
            cell.set_symbol("│").set_style(style);
        }
    }
}

/// Says in the rule under the lanes how many are above and below.
pub(crate) fn off_screen(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let rule = match layout.log.height {
        0 => layout.detail,
        _ => layout.log,
    };
    let (above, below) = layout.off_screen(&scene.app.camera.rows, scene.app.camera.scroll);
    if rule.height <= 2 || above + below == 0 {
        return;
    }
    let words = |count: usize, arrow| match count {
        0 => String::new(),
        1 => format!(" 1 more lane {arrow} "),
        count => format!(" {count} more lanes {arrow} "),
    };
    let text = words(above, "↑") + &words(below, "↓");
    let x = rule.right().saturating_sub(width(&text) as u16 + 1);
    let style = scene.app.theme.dim();
    buffer.set_stringn(x, rule.y, &text, width(&text), style);
}
