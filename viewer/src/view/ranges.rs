//! A line of ranges that the program named.

use ascend_trace_model::ThreadId;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::text::{duration, fit, width};

use super::Scene;
use super::track::Texts;

/// A range that takes no time.
const MARK: &str = "▪";

pub(crate) fn draw(
    scene: &Scene<'_>,
    key: (ThreadId, u8),
    line: Rect,
    texts: &mut Texts,
    buffer: &mut Buffer,
) {
    let (app, trace) = (scene.app, scene.world.trace);
    let viewport = app.viewport;
    let window = (viewport.begin(), viewport.end());
    let mut drawn = 0;
    for range in app.ranges.in_window(trace, key, window) {
        let column = |time| {
            viewport
                .cell(time, line.width)
                .clamp(0, i64::from(line.width)) as u16
        };
        let (first, end) = (column(range.begin), column(range.end));
        // What lies in cells that are drawn already would not be seen.
        if end < drawn || first >= line.width {
            continue;
        }
        let style = app.theme.range(&range.name);
        if end <= first + 1 {
            if first >= drawn {
                let mark = app.theme.range_shape(&range.name);
                buffer.set_stringn(line.x + first, line.y, MARK, 1, mark);
            }
            drawn = first + 1;
            continue;
        }
        let first = first.max(drawn);
        let room = usize::from(end - first);
        let domain = trace
            .domain(range)
            .map(|it| format!("{it}: "))
            .unwrap_or_default();
        let long = format!(
            "{domain}{} {}",
            range.name,
            duration(range.end - range.begin)
        );
        let text = match width(&long) + 2 <= room {
            true => long,
            false => fit(&range.name, room.saturating_sub(2)),
        };
        let blank = " ".repeat(room.saturating_sub(width(&text) + 1));
        let text = format!("▏{text}{blank}");
        buffer.set_stringn(line.x + first, line.y, text, room, style);
        texts.push((line.y, first..end));
        drawn = end;
    }
}
