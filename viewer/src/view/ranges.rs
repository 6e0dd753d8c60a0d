//! A line of ranges that the program named.

use ascend_trace_model::ThreadId;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::Selected;
use crate::text::duration;

use super::Scene;
use super::line::{Boxed, Line};
use super::track::Texts;

pub(crate) fn draw(
    scene: &Scene<'_>,
    key: (ThreadId, u8),
    area: Rect,
    texts: &mut Texts,
    buffer: &mut Buffer,
) {
    let (app, trace) = (scene.app, scene.world.trace);
    let viewport = app.viewport;
    let window = (viewport.begin(), viewport.end());
    let mut line = Line {
        viewport,
        area,
        texts,
        buffer,
        drawn: 0,
    };
    for (id, range) in app.ranges.in_window(trace, key, window) {
        let domain = trace
            .domain(range)
            .map(|it| format!("{it}: "))
            .unwrap_or_default();
        let length = duration(range.end.saturating_sub(range.begin));
        let is_selected = matches!(app.selected, Some(Selected::Range(it, _)) if it == id);
        let (filled, mark) = match is_selected {
            true => (app.theme.chosen(), app.theme.chosen_shape()),
            false => (
                app.theme.range(&range.name),
                app.theme.range_shape(&range.name),
            ),
        };
        line.draw(Boxed {
            span: (range.begin, range.end),
            names: (format!("{domain}{} {length}", range.name), &range.name),
            filled,
            mark,
        });
    }
}
