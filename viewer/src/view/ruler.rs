//! The time axis.

use ascend_trace_recording::TimeRange;
use ratatui::buffer::Buffer;

use crate::layout::ScreenLayout;
use crate::text::{fixed, moment, unit_for, width};

use super::{Scene, marks};

/// Cells that a label and the space after it need.
const LABEL: u16 = 11;

/// The distance between labels: 1, 2 or 5 times a power of ten, at least `least`.
fn step(least: i64) -> i64 {
    let mut power: i64 = 1;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if step >= least || step == i64::MAX {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// A round timestamp that labels count from, when counting from the start would make them too long.
fn base(begin: i64, step: i64) -> i64 {
    let coarse = step.saturating_mul(1_000);
    begin.div_euclid(coarse).saturating_mul(coarse)
}

pub(crate) fn draw(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let area = layout.ruler;
    let app = scene.app;
    let Some(TimeRange { begin: start, .. }) = app.document.span else {
        return;
    };
    let theme = app.theme;
    let from = app.camera.viewport.begin().saturating_sub(start);
    let labels = i64::from((area.width / LABEL).max(1));
    let step = step(app.camera.viewport.length() / labels);
    let base = base(from.max(0), step);
    if base > 0 {
        let text = format!("{} +", moment(base));
        let room = usize::from(layout.gutter.width.saturating_sub(2));
        let left = room.saturating_sub(width(&text)) as u16;
        buffer.set_stringn(left, area.y, text, room, theme.dim());
    }
    let marks = marks::columns(scene, area.width);
    // Before the start there is nothing: a live view begins with room there.
    let mut tick = from.div_euclid(step).saturating_mul(step).max(0);
    let end = app.camera.viewport.end().saturating_sub(start);
    while tick <= end {
        let cell = app
            .camera
            .viewport
            .cell(start.saturating_add(tick), area.width);
        if let Some(x) = u16::try_from(cell).ok().filter(|x| *x < area.width) {
            let text = format!("╷{}", label(tick - base, step));
            let end = x.saturating_add(width(&text) as u16);
            // A mark's name in the middle of a number would make another number of it.
            let is_free = marks.iter().all(|(mark, _)| !(x..end).contains(mark));
            if end <= area.width && is_free {
                let x = area.x + x;
                buffer.set_stringn(x, area.y, text, usize::from(LABEL), theme.dim());
            }
        }
        let Some(next) = tick.checked_add(step) else {
            break;
        };
        tick = next;
    }
    mark_selection(scene, layout, buffer);
    mark_chosen(scene, layout, buffer);
}

/// A tick's time in the unit that suits it, with as many digits as the step needs.
fn label(time: i64, step: i64) -> String {
    let unit = unit_for(time.abs().max(step));
    let decimals = unit.nanoseconds.ilog10().saturating_sub(step.ilog10());
    format!("{} {}", fixed(time, unit.nanoseconds, decimals), unit.name)
}

/// Underlines the selected span.
fn mark_selection(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let Some(selected) = scene.app.camera.selected else {
        return;
    };
    let span = selected.span(scene.world.trace);
    if !scene.app.camera.viewport.overlaps(span) {
        return;
    }
    underline(span, scene, layout, buffer);
}

/// Shows the range that is being chosen with the mouse.
fn mark_chosen(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let Some(span) = scene.app.pointer.chosen() else {
        return;
    };
    underline(span, scene, layout, buffer);
}

fn underline(span: TimeRange, scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let area = layout.ruler;
    let last = i64::from(area.width) - 1;
    let cell = |time| {
        scene
            .app
            .camera
            .viewport
            .cell(time, area.width)
            .clamp(0, last) as u16
    };
    for x in cell(span.begin)..=cell(span.end) {
        if let Some(cell) = buffer.cell_mut((area.x + x, area.y)) {
            cell.set_style(scene.app.theme.chosen());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        let steps: Vec<_> = [1, 3, 7, 11, 450, 2_001].map(step).to_vec();
        assert_eq!(steps, [1, 5, 10, 20, 500, 5_000]);
        assert_eq!(step(i64::MAX), i64::MAX);
    }

    #[test]
    fn labels_have_the_digits_of_the_step() {
        assert_eq!(label(0, 500), "0 ns");
        assert_eq!(label(12_500, 500), "12.5 µs");
        assert_eq!(label(2_000_000, 1_000_000), "2 ms");
        assert_eq!(label(-500, 500), "-500 ns");
    }

    #[test]
    fn far_from_the_start_labels_count_from_a_round_time() {
        assert_eq!(base(7_123_456, 1_000), 7_000_000);
        assert_eq!(base(900_000, 1_000), 0);
    }
}
