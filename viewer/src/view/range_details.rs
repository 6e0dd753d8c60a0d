//! Details of a range that the program named.

use ascend_trace_recording::Range;
use ascend_trace_recording::text::plain;
use ratatui::text::{Line, Span};

use crate::display_names;
use crate::range_contents::RangeContents;
use crate::ranges::RangeId;
use crate::text::{count, duration, fit};

use super::Scene;
use super::facts::{SpanGroup, flow, span};

pub(super) fn of(scene: &Scene<'_>, id: RangeId, room: usize) -> Vec<Line<'static>> {
    let trace = scene.world.trace;
    let theme = scene.app.theme;
    let Some(range) = trace.ranges().get(id.index()) else {
        return Vec::new();
    };
    let domain = match trace.domain(range) {
        Some(domain) => format!("domain {domain}"),
        None => "default domain".to_owned(),
    };
    let kind = if range.begin == range.end {
        "mark"
    } else {
        "range"
    };
    let thread = display_names::thread(trace, range.thread);
    let place = format!("  {kind} of {thread}, {domain}");
    let name = fit(&range.name, room.saturating_sub(place.len() + 2).max(16));
    let mut lines = vec![Line::from(vec![
        Span::styled("■ ", theme.range_shape(&range.name)),
        Span::styled(name, theme.strong()),
        Span::raw(place),
    ])];
    let length = range.end.saturating_sub(range.begin);
    let mut groups = vec![
        vec![Span::styled(duration(length), theme.strong())],
        vec![Span::raw(span(scene, range.begin, range.end))],
    ];
    let known = scene
        .app
        .camera
        .inside
        .as_ref()
        .filter(|(it, _, _)| *it == id);
    if let Some((_, _, inside)) = known {
        groups.extend(counts(inside, length));
        let part = inside.more || !scene.world.overview.is_loaded(range.time());
        if part {
            groups.push(vec![Span::styled("only of the loaded part", theme.stall())]);
        }
    }
    lines.extend(flow(groups, room));
    lines.extend(arguments(scene, range, room));
    if let Some((_, _, inside)) = known {
        lines.extend(flow(most(scene, inside), room));
    }
    lines
}

/// The arguments of its message.
fn arguments(scene: &Scene<'_>, range: &Range, room: usize) -> Vec<Line<'static>> {
    let dim = scene.app.theme.dim();
    let groups = range.arguments().into_iter().map(|(name, value)| {
        let name = format!("{}=", plain(&name));
        let value = fit(&plain(&value), room.saturating_sub(name.len()).max(8));
        vec![Span::styled(name, dim), Span::raw(value)]
    });
    flow(groups.collect(), room)
}

/// Calls and submissions inside, and the work meanwhile.
fn counts(inside: &RangeContents, length: i64) -> Vec<SpanGroup> {
    let plain = |text: String| vec![Span::raw(text)];
    let untimed = match inside.untimed {
        0 => String::new(),
        number => format!(" ({number} without a time)"),
    };
    let mut groups = vec![
        plain(format!("calls inside {}", count(inside.calls as u64))),
        plain(format!(
            "tasks submitted inside {}{untimed}, busy {}",
            count(inside.tasks as u64),
            duration(inside.busy)
        )),
    ];
    let (busy, streams) = inside.meanwhile;
    if streams > 0 && length > 0 {
        let busy = i64::try_from(busy).unwrap_or(i64::MAX);
        groups.push(plain(format!(
            "streams at work during it {streams}, busy {} in sum",
            duration(busy)
        )));
    }
    groups
}

fn most(scene: &Scene<'_>, inside: &RangeContents) -> Vec<SpanGroup> {
    if inside.most.is_empty() {
        return Vec::new();
    }
    let label = Span::styled("mostly", scene.app.theme.dim());
    let mut groups = vec![vec![label]];
    groups.extend(inside.most.iter().map(|(name, number, total)| {
        vec![Span::raw(format!("{name} ×{number} {}", duration(*total)))]
    }));
    groups
}
