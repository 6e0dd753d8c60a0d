//! Where a walk along dependencies came from.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::Selection;
use crate::item::CallOrTask;
use crate::text::{duration, fit, width};

use super::Scene;

/// Draws the steps on a rule, the last ones if there is no room for all.
pub(crate) fn draw(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let app = scene.app;
    let Some(walk) = app
        .camera
        .walk
        .as_ref()
        .filter(|walk| !walk.trail.is_empty())
    else {
        return;
    };
    let theme = app.theme;
    let room = usize::from(area.width).saturating_sub(6);
    let mut steps: Vec<(String, bool)> = Vec::new();
    for (selected, to_cause) in &walk.trail {
        steps.push((name(scene, *selected), *to_cause));
    }
    let here = app
        .camera
        .selected
        .map(|it| name(scene, it))
        .unwrap_or_default();
    let long = |steps: &[(String, bool)]| {
        steps.iter().map(|(step, _)| width(step) + 3).sum::<usize>() + width(&here)
    };
    let mut first = 0;
    while first < steps.len() && long(&steps[first..]) > room {
        first += 1;
    }
    let mut spans = vec![Span::styled("─ ", theme.faint())];
    if first > 0 {
        spans.push(Span::styled("… ", theme.dim()));
    }
    for (step, to_cause) in steps.drain(first..) {
        let arrow = if to_cause { " ← " } else { " → " };
        spans.push(Span::styled(step, theme.dim()));
        spans.push(Span::styled(arrow, theme.accent()));
    }
    spans.push(Span::styled(fit(&here, room), theme.strong()));
    spans.push(Span::raw(" "));
    buffer.set_line(area.x, area.y, &Line::from(spans), area.width);
}

/// A step in a word or two.
fn name(scene: &Scene<'_>, selected: Selection) -> String {
    let trace = scene.world.trace;
    match selected {
        Selection::Gap(stall) => format!("idle {}", duration(stall.length())),
        Selection::Range(id, _) => {
            let range = trace.ranges().get(id.index());
            range.map(|range| range.name.clone()).unwrap_or_default()
        }
        Selection::Open(open) => {
            let call = open.find(trace);
            let name = call.map_or("", |call| &trace.function(call.function).name);
            format!("{name}·{}", trace.thread(open.thread).tid)
        }
        Selection::Node(node) => {
            let name = CallOrTask::Task(node.task).name(trace);
            format!("node {} {name}", node.number)
        }
        Selection::Item(item) => {
            let label = item.label(trace);
            let name = &label;
            match item {
                CallOrTask::Task(id) => {
                    let stream = trace.stream(trace.task(id).stream).number();
                    format!("{name}·s{stream}")
                }
                CallOrTask::Call(id) => {
                    let thread = trace.thread(trace.call(id).thread).tid;
                    format!("{name}·{thread}")
                }
            }
        }
    }
}
