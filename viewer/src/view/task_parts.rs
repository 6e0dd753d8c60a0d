//! What ran inside of a task, in its details.

use ascend_trace_analysis::graphs::{part_kind, part_label};
use ascend_trace_recording::TaskId;
use ratatui::text::{Line, Span};

use crate::text::duration;

use super::Scene;
use super::facts::{SpanGroup, flow};

/// Parts that are named.
const NAMED: usize = 12;

pub(super) fn of(scene: &Scene<'_>, task: TaskId, room: usize) -> Vec<Line<'static>> {
    let (trace, theme) = (scene.world.trace, scene.app.theme);
    let parts = trace.parts(task);
    if parts.is_empty() {
        return Vec::new();
    }
    let mut groups: Vec<SpanGroup> = vec![vec![Span::styled(
        format!("{} parts from the hardware log:", parts.len()),
        theme.accent(),
    )]];
    for part in parts.iter().take(NAMED) {
        let label = part_label(trace, &scene.app.document.graphs, task, part);
        let number = part.node.filter(|node| *node > 0);
        let number = number.map_or_else(String::new, |node| format!("{node} "));
        let length = duration(part.end.saturating_sub(part.begin));
        groups.push(vec![
            Span::raw(format!("{number}{label} {length}")),
            Span::styled(
                format!(" ({} on stream {})", part_kind(part), part.acl_id),
                theme.faint(),
            ),
        ]);
    }
    if parts.len() > NAMED {
        groups.push(vec![Span::raw(format!("and {} more", parts.len() - NAMED))]);
    }
    flow(groups, room)
}
