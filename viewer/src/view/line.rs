//! Boxes with names in one line, for things other than tasks and calls.

use ascend_trace_recording::TimeRange;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::text::{fit, short_name, width};
use crate::viewport::Viewport;

use super::drawn_content::DrawnContent;

/// Symbol of something too short for a box.
const MARK: &str = "▪";

/// Something with a begin, an end and a name.
pub(super) struct NamedBox<'a> {
    pub(super) span: TimeRange,
    /// The longest form of its name, and the one that loses its prefix and is cut where there is no room.
    pub(super) names: (String, &'a str),
    pub(super) filled: Style,
    pub(super) mark: Style,
}

/// Draws one after another from the left.
pub(super) struct BoxLine<'b> {
    pub(super) viewport: Viewport,
    pub(super) area: Rect,
    pub(super) drawn: &'b mut DrawnContent,
    pub(super) buffer: &'b mut Buffer,
    /// The first column that nothing is drawn in.
    pub(super) filled: u16,
}

impl BoxLine<'_> {
    /// The columns of a span on screen.
    pub(super) fn columns(&self, span: TimeRange) -> (u16, u16) {
        let width = self.area.width;
        let column = |time| self.viewport.cell(time, width).clamp(0, i64::from(width)) as u16;
        (column(span.begin), column(span.end))
    }

    pub(super) fn draw(&mut self, boxed: NamedBox<'_>) {
        let (first, end) = self.columns(boxed.span);
        // Content of cells that are drawn already would not be visible.
        if end < self.filled || first >= self.area.width {
            return;
        }
        let (x, y) = (self.area.x, self.area.y);
        if end <= first + 1 {
            if first >= self.filled {
                self.buffer.set_stringn(x + first, y, MARK, 1, boxed.mark);
            }
            self.filled = first + 1;
            return;
        }
        let first = first.max(self.filled);
        let room = usize::from(end - first);
        let text = match width(&boxed.names.0) + 2 <= room {
            true => boxed.names.0,
            false => fit(short_name(boxed.names.1), room.saturating_sub(2)),
        };
        let blank = " ".repeat(room.saturating_sub(width(&text) + 1));
        let text = format!("▏{text}{blank}");
        self.buffer
            .set_stringn(x + first, y, text, room, boxed.filled);
        self.drawn.text(y, first..end);
        self.filled = end;
    }
}
