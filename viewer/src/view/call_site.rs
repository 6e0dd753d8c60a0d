//! Where in the program a call was made.

use ascend_trace_recording::Call;
use ratatui::text::{Line, Span};

use crate::text::fit;

use super::Scene;

/// The frames of its stack, the one that it is shown by first, then all from the innermost on.
pub(super) fn of(scene: &Scene<'_>, call: &Call, room: usize) -> Vec<Line<'static>> {
    let Some(site) = scene.world.trace.call_site(call) else {
        return Vec::new();
    };
    let theme = scene.app.theme;
    let line = |title: &'static str, text: &str, style| {
        let text = fit(text, room.saturating_sub(title.len() + 1));
        Line::from(vec![
            Span::styled(title, theme.dim()),
            Span::raw(" "),
            Span::styled(text, style),
        ])
    };
    let mut lines = vec![line("called at", &site.text(), theme.strong())];
    let frames = site.lines();
    lines.extend(frames.iter().map(|it| line("       in", it, theme.dim())));
    lines
}
