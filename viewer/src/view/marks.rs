//! Marks in the lanes and on the ruler.

use ratatui::buffer::Buffer;

use crate::layout::ScreenLayout;
use crate::marks::MarkDistance;
use crate::text::duration;

use super::Scene;

/// A mark's line passes through free cells only.
const LINE: &str = "┊";

pub(crate) fn draw(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    for (x, name) in columns(scene, layout.lanes.width) {
        line(scene, layout, x, name, buffer);
    }
}

/// The columns of the lanes that have a mark's line, with the mark's name.
pub(super) fn columns(scene: &Scene<'_>, width: u16) -> Vec<(u16, &'static str)> {
    let marks = scene.app.camera.marks.all();
    let pair = scene.app.camera.marks.pair();
    let mut columns = Vec::new();
    for (mark, name) in marks.iter().zip(["A", "B"].into_iter().cycle()) {
        let has_end = mark.end > mark.begin && pair.is_some_and(|(early, _)| early == *mark);
        let times = [Some(mark.begin), has_end.then_some(mark.end)];
        let cells = times.into_iter().flatten().map(|time| {
            let cell = scene.app.camera.viewport.cell(time, width);
            u16::try_from(cell).ok().filter(|x| *x < width)
        });
        columns.extend(cells.flatten().map(|x| (x, name)));
    }
    columns
}

fn line(scene: &Scene<'_>, layout: &ScreenLayout, x: u16, name: &str, buffer: &mut Buffer) {
    let area = layout.lanes;
    let theme = scene.app.theme;
    for y in area.top()..area.bottom() {
        if is_inside_text(buffer, area.x + x, y) {
            continue;
        }
        if let Some(cell) = buffer.cell_mut((area.x + x, y))
            && cell.symbol() == " "
            && cell.bg == ratatui::style::Color::Reset
            && !cell.modifier.contains(ratatui::style::Modifier::REVERSED)
        {
            cell.set_symbol(LINE).set_style(theme.accent());
        }
    }
    if let Some(cell) = buffer.cell_mut((area.x + x, layout.ruler.y)) {
        cell.set_symbol(name).set_style(theme.chosen());
    }
}

/// Whether a free cell is the space between two words.
fn is_inside_text(buffer: &Buffer, x: u16, y: u16) -> bool {
    let is_letter = |x: Option<u16>| {
        let cell = x.and_then(|x| buffer.cell((x, y)));
        let first = cell.and_then(|cell| cell.symbol().chars().next());
        first.is_some_and(|it| it.is_alphanumeric() || it.is_ascii_punctuation() || it == '←')
    };
    is_letter(x.checked_sub(1)) && is_letter(x.checked_add(1))
}

/// The range between the marks, in words.
pub(crate) fn words(measure: MarkDistance) -> String {
    let gap = match measure.gap {
        overlap if overlap < 0 => format!("overlap {}", duration(-overlap)),
        gap => format!("gap {}", duration(gap)),
    };
    let (begins, ends) = (measure.between_begins, measure.between_ends);
    match begins == ends && begins == measure.gap {
        true => format!("marks: {}", duration(measure.gap)),
        false => format!(
            "marks: {gap}   begin to begin {}   end to end {}",
            duration(begins),
            duration(ends)
        ),
    }
}
