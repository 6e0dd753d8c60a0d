//! Marks in the lanes and on the ruler.

use ratatui::buffer::Buffer;

use crate::layout::Layout;
use crate::marks::Measure;
use crate::text::duration;

use super::Scene;

/// A mark's line passes through free cells only.
const LINE: &str = "┊";

pub(crate) fn draw(scene: &Scene<'_>, layout: &Layout, buffer: &mut Buffer) {
    let marks = scene.app.marks.all();
    let pair = scene.app.marks.pair();
    for (index, mark) in marks.iter().enumerate() {
        let name = ["A", "B"][index % 2];
        line(scene, layout, mark.begin, name, buffer);
        if mark.end > mark.begin && pair.is_some_and(|(early, _)| early == *mark) {
            line(scene, layout, mark.end, name, buffer);
        }
    }
}

fn line(scene: &Scene<'_>, layout: &Layout, time: i64, name: &str, buffer: &mut Buffer) {
    let area = layout.lanes;
    let cell = scene.app.viewport.cell(time, area.width);
    let Some(x) = u16::try_from(cell).ok().filter(|x| *x < area.width) else {
        return;
    };
    let theme = scene.app.theme;
    for y in area.top()..area.bottom() {
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

/// What lies between the marks, in words.
pub(crate) fn words(measure: Measure) -> String {
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
