//! Running calls: their appearance in their line, and their details.

use ascend_trace_recording::Call;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::app::{OpenCall, Selection};
use crate::display_names;
use crate::item::{Category, TrackKey};
use crate::text::{duration, short_name, width};

use super::cells::TrackCell;
use super::drawn_content::DrawnContent;
use super::facts::{arguments, device_of, flow, nested, since_start};
use super::{Scene, call_site, describe};

/// The ground of a call that has not returned yet.
pub(crate) const OPEN: &str = "▒";

/// Draws the running calls of a line, up to the last known timestamp. Names are in a lane's first line.
/// `cells` are the other content of the line.
pub(super) fn draw(
    scene: &Scene<'_>,
    key: TrackKey,
    (line, is_first): (Rect, bool),
    cells: &[TrackCell],
    drawn: &mut DrawnContent,
    buffer: &mut Buffer,
) {
    for call in scene.app.document.tracks.open_calls(key) {
        let column = |time| {
            let column = scene.app.camera.viewport.cell(time, line.width);
            column.clamp(-1, i64::from(line.width))
        };
        let end = column(call.end).saturating_add(1);
        let first = u16::try_from(column(call.begin)).unwrap_or(0);
        let end = u16::try_from(end).unwrap_or(0).min(line.width);
        let is_selected = scene.app.camera.selected == Some(Selection::Open(OpenCall::of(call)));
        let style = match is_selected {
            true => scene.app.theme.chosen_shape(),
            false => scene.app.theme.stall(),
        };
        for column in first..end {
            // Earlier content of its first cell stays visible.
            let is_free = matches!(cells.get(usize::from(column)), None | Some(TrackCell::Idle));
            if (column > first || is_free)
                && let Some(cell) = buffer.cell_mut((line.x + column, line.y))
            {
                cell.set_symbol(OPEN).set_style(style);
            }
        }
        let room = usize::from(end.saturating_sub(first)).saturating_sub(4);
        if is_first
            && let Some(text) = names_of(scene, call)
                .iter()
                .find(|text| width(text) <= room)
        {
            let style = match is_selected {
                true => scene.app.theme.chosen(),
                false => style.add_modifier(Modifier::BOLD),
            };
            let text = format!(" {text} ");
            let column = first + 1;
            drawn.text(line.y, column..column + width(&text) as u16);
            buffer.set_stringn(line.x + column, line.y, &text, width(&text), style);
        }
    }
}

/// Its label, the longest form first.
fn names_of(scene: &Scene<'_>, call: &Call) -> [String; 6] {
    let name = &scene.world.trace.function(call.function).name;
    let short = short_name(name);
    let length = duration(call.end.saturating_sub(call.begin));
    [
        format!("{name} {length}, under way"),
        format!("{name} {length}…"),
        format!("{short} {length}…"),
        format!("{name}…"),
        format!("{short}…"),
        "…".to_owned(),
    ]
}

/// Everything that is known about one.
pub(super) fn of(scene: &Scene<'_>, open: OpenCall, room: usize) -> Vec<Line<'static>> {
    let (trace, theme) = (scene.world.trace, scene.app.theme);
    let Some(call) = open.find(trace) else {
        return Vec::new();
    };
    let function = trace.function(call.function);
    let category = Category::of_call(function, false);
    let thread = display_names::thread(trace, call.thread);
    let place = format!("call by {thread}{}{}", device_of(call), nested(call));
    let heading = Line::from(vec![
        Span::styled("■ ", theme.shape(category, &function.name)),
        Span::styled(function.name.clone(), theme.strong()),
        Span::raw(format!("  {place}  → ")),
        Span::styled("has not returned", theme.stall()),
    ]);
    let length = duration(call.end.saturating_sub(call.begin));
    let mut times = vec![
        vec![Span::styled(length, theme.strong()), Span::raw(" so far")],
        vec![Span::raw(format!(
            "since {}",
            since_start(scene, call.begin)
        ))],
    ];
    let stream = call.stream.map(|id| describe::stream(trace, id));
    times.extend(stream.map(|stream| vec![Span::raw(format!("on {stream}"))]));
    let mut lines = vec![heading];
    lines.extend(flow(times, room));
    lines.extend(arguments(scene, call, room));
    lines.extend(call_site::of(scene, call, room));
    lines
}
