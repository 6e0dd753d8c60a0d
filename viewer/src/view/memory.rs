//! Lines of the memory in use on a device.

use ascend_trace_analysis::memory::{MemoryBounds, MemoryCurve, MemoryPlace};
use ascend_trace_recording::{ProcessId, TimeRange};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::display_names;
use crate::item::TrackKey;
use crate::text::{bytes, duration};

use super::Scene;
use super::facts::{SpanGroup, flow, since_start};
use super::meters::BARS;

/// The mark of the peak.
const PEAK: &str = "▲";
/// No memory is known of this time.
const UNREAD: &str = "·";

/// A line of a process.
type MemoryLine = (ProcessId, MemoryPlace);

fn curve<'s>(scene: &Scene<'s>, (process, place): MemoryLine) -> Option<&'s MemoryCurve> {
    scene.world.overview.memory.as_ref()?.get(process, place)
}

/// The part of a range of which the memory is known.
fn known(scene: &Scene<'_>, range: TimeRange) -> TimeRange {
    let memory = scene.world.overview.memory.as_ref();
    let until = memory.map_or(i64::MIN, |it| it.until);
    let span = scene.app.document.span.unwrap_or_default();
    // With a change at the end.
    let end = span.end.saturating_add(1).min(until);
    range.intersection(TimeRange::new(span.begin, end))
}

pub(crate) fn draw(scene: &Scene<'_>, line: MemoryLine, area: Rect, buffer: &mut Buffer) {
    let Some(curve) = curve(scene, line) else {
        return;
    };
    let theme = scene.app.theme;
    let viewport = scene.app.camera.viewport;
    let span = scene.app.document.span.unwrap_or_default();
    for column in 0..area.width {
        let cell_time = viewport.cell_time(i64::from(column), area.width);
        if !cell_time.overlaps(span) {
            continue;
        }
        let range = known(scene, cell_time);
        let is_peak = cell_time.owns(curve.peak_at_ns);
        let (symbol, style) = match curve.bounds(range).most {
            _ if range.end < range.begin => (UNREAD, theme.faint()),
            _ if is_peak => (PEAK, theme.strong()),
            0 => continue,
            most => (BARS[level(most, curve.peak_bytes)], theme.dim()),
        };
        if let Some(cell) = buffer.cell_mut((area.x + column, area.y)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }
}

/// Any memory is visible. The peak of the recording fills the line.
fn level(bytes: u64, peak: u64) -> usize {
    let eighths = u128::from(bytes) * 8 / u128::from(peak.max(1));
    usize::try_from(eighths).unwrap_or(8).clamp(1, 8)
}

/// The range on screen, as far as the memory in it is known.
fn on_screen(scene: &Scene<'_>) -> TimeRange {
    known(scene, scene.app.camera.viewport.range())
}

/// The most on screen.
pub(crate) fn label(scene: &Scene<'_>, line: MemoryLine) -> String {
    let range = on_screen(scene);
    let found = curve(scene, line).filter(|_| range.begin <= range.end);
    found.map_or_else(String::new, |it| bytes(it.bounds(range).most))
}

/// Memory in use at a time, or in a range.
pub(super) fn within(scene: &Scene<'_>, line: MemoryLine, range: TimeRange) -> Option<String> {
    let range = known(scene, range);
    let curve = curve(scene, line).filter(|_| range.begin <= range.end)?;
    Some(words(curve.bounds(range)))
}

fn words(MemoryBounds { least, most }: MemoryBounds) -> String {
    match least == most {
        true => bytes(most),
        false => format!("{} to {}", bytes(least), bytes(most)),
    }
}

/// Details while the cursor is on such a line.
pub(super) fn of(scene: &Scene<'_>, line: MemoryLine, room: usize) -> Vec<Line<'static>> {
    let theme = scene.app.theme;
    let (process, place) = line;
    let name = display_names::lane(scene.world.trace, TrackKey::Memory(process, place));
    let range = on_screen(scene);
    let length = duration(range.duration().max(0));
    let heading = Line::from(vec![
        Span::styled(name, theme.strong()),
        Span::raw(format!(", in the {length} on screen")),
    ]);
    let Some(curve) = curve(scene, line).filter(|_| range.begin <= range.end) else {
        return vec![heading, Line::styled("not known yet", theme.dim())];
    };
    let mut lines = vec![heading];
    lines.extend(flow(groups(scene, line, (curve, range)), room));
    let scale = "a full bar is the peak of the recording; # lists the call sites";
    lines.push(Line::styled(scale, theme.faint()));
    lines
}

fn groups(
    scene: &Scene<'_>,
    line: MemoryLine,
    (curve, range): (&MemoryCurve, TimeRange),
) -> Vec<SpanGroup> {
    let strong = |text: String| Span::styled(text, scene.app.theme.strong());
    let MemoryBounds { least, most } = curve.bounds(range);
    let mut groups = vec![
        vec![strong(bytes(most)), Span::raw(" at most")],
        vec![Span::raw(format!("{} at least", bytes(least)))],
    ];
    let mut add = |at: &str, time: i64| {
        if let Some(words) = within(scene, line, TimeRange::at(time)) {
            groups.push(vec![strong(words), Span::raw(format!(" {at}"))]);
        }
    };
    add("at the left edge", range.begin);
    add("at the right edge", range.end);
    if let Some(selected) = scene.app.camera.selected {
        add(
            "where the selection begins",
            selected.span(scene.world.trace).begin,
        );
    }
    for mark in scene.app.camera.marks.all() {
        add(
            &format!("at the mark {}", since_start(scene, mark.begin)),
            mark.begin,
        );
    }
    let peak = bytes(curve.peak_bytes);
    let when = since_start(scene, curve.peak_at_ns);
    groups.push(vec![Span::raw(format!(
        "peak of the recording {peak} at {when}"
    ))]);
    groups.push(vec![Span::raw(format!(
        "{} at the end",
        bytes(curve.end_bytes())
    ))]);
    groups
}
