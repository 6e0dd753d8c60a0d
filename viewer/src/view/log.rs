//! Output of the traced program.

use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};

use crate::layout::ScreenLayout;
use crate::text::fit;

use super::Scene;

pub(crate) fn draw(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let area = layout.log;
    let Some(log) = scene.world.log.filter(|_| area.height > 0) else {
        return;
    };
    let theme = scene.app.theme;
    let rule = "─".repeat(usize::from(area.width));
    buffer.set_stringn(area.x, area.y, rule, usize::from(area.width), theme.faint());
    let back = match scene.app.panels.log_back {
        0 => String::new(),
        back => format!(" {back} lines from the end (J)"),
    };
    let heading = Line::from(vec![
        Span::styled("─ ", theme.faint()),
        Span::styled("output", theme.strong()),
        Span::styled(format!("{back} "), theme.dim()),
    ]);
    buffer.set_line(area.x, area.y, &heading, area.width);
    let shown = usize::from(area.height - 1);
    let last = log.len().saturating_sub(scene.app.panels.log_back);
    let first = last.saturating_sub(shown);
    let room = usize::from(area.width).saturating_sub(2);
    for (index, y) in (first..last).zip(area.y + 1..area.bottom()) {
        if let Some(line) = log.line(index) {
            let line = fit(&line.replace('\t', "    "), room);
            buffer.set_stringn(area.x + 1, y, line, room, ratatui::style::Style::new());
        }
    }
}
