//! Lines that show a quantity: tracer overhead of a process, and its losses.

use ascend_trace_recording::{Cost, Loss, ProcessId, ThreadId, TimeRange};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::display_names;
use crate::item::TrackKey;
use crate::text::{count, duration};

use super::Scene;
use super::facts::{SpanGroup, flow};

pub(super) const BARS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// The share of time that fills a cell: the lines of all recordings have the same scale.
const FULL: f64 = 0.1;

pub(crate) fn draw(scene: &Scene<'_>, key: TrackKey, area: Rect, buffer: &mut Buffer) {
    let viewport = scene.app.camera.viewport;
    let theme = scene.app.theme;
    for column in 0..area.width {
        let range = viewport.cell_time(i64::from(column), area.width);
        let (level, style) = match key {
            TrackKey::Cost(id) => (cost_level(share(scene, id, range)), theme.dim()),
            TrackKey::Losses(id) => (
                loss_level(scene.app.document.meters.lost(id, range)),
                theme.bad(),
            ),
            _ => return,
        };
        if level > 0
            && let Some(cell) = buffer.cell_mut((area.x + column, area.y))
        {
            cell.set_symbol(BARS[level.min(8)]).set_style(style);
        }
    }
}

/// Any overhead is visible, even a very small one.
fn cost_level(share: f64) -> usize {
    match share {
        ..=0.0 => 0,
        _ => ((share / FULL * 8.0).round() as usize).clamp(1, 8),
    }
}

/// A step for each power of ten.
fn loss_level(lost: u64) -> usize {
    match lost {
        0 => 0,
        _ => 2 + lost.ilog10() as usize,
    }
}

fn cost(scene: &Scene<'_>, id: ProcessId, range: TimeRange) -> Cost {
    let span = scene.app.document.span.unwrap_or_default();
    let range = TimeRange::new(span.clamp(range.begin), span.clamp(range.end));
    scene.app.document.meters.cost(id, span, range)
}

/// The tool's part of a range, as one thread's time.
fn share(scene: &Scene<'_>, id: ProcessId, range: TimeRange) -> f64 {
    let length = range.duration().max(1) as f64;
    cost(scene, id, range).own_ns() as f64 / length
}

/// The recorded part of the range on screen.
fn window(scene: &Scene<'_>) -> TimeRange {
    let span = scene.app.document.span.unwrap_or_default();
    scene.app.camera.viewport.range().intersection(span)
}

/// With losses at its end, too.
const fn with_end(range: TimeRange) -> TimeRange {
    TimeRange::new(range.begin, range.end.saturating_add(1))
}

/// The sum over the range on screen.
pub(crate) fn label(scene: &Scene<'_>, key: TrackKey) -> String {
    let range = window(scene);
    match key {
        TrackKey::Cost(id) => match share(scene, id, range) * 100.0 {
            0.0 => "0%".to_owned(),
            share if share < 0.01 => "<0.01%".to_owned(),
            share => format!("{share:.2}%"),
        },
        TrackKey::Losses(id) => count(scene.app.document.meters.lost(id, with_end(range))),
        _ => String::new(),
    }
}

/// Details while the cursor is on such a line.
pub(super) fn of(scene: &Scene<'_>, key: TrackKey, room: usize) -> Vec<Line<'static>> {
    let theme = scene.app.theme;
    let name = display_names::lane(scene.world.trace, key);
    let range = window(scene);
    let length = duration(range.duration());
    let mut lines = vec![Line::from(vec![
        Span::styled(name, theme.strong()),
        Span::raw(format!(", in the {length} on screen")),
    ])];
    let groups = match key {
        TrackKey::Cost(id) => of_cost(scene, id, range),
        TrackKey::Losses(id) => of_losses(scene, id, range),
        _ => Vec::new(),
    };
    lines.extend(flow(groups, room));
    let scale = match key {
        TrackKey::Cost(_) => "a full bar is 10 % of one thread's time; threads add up",
        _ => "each step of a bar is ten times as much; a loss is drawn where it was noticed",
    };
    lines.push(Line::styled(scale, theme.faint()));
    lines
}

fn of_cost(scene: &Scene<'_>, id: ProcessId, range: TimeRange) -> Vec<SpanGroup> {
    let cost = cost(scene, id, range);
    let time = |nanoseconds: u64| duration(i64::try_from(nanoseconds).unwrap_or(i64::MAX));
    let each = |nanoseconds: u64, number: u64| match number {
        0 => String::new(),
        _ => format!(", {} each", time(nanoseconds / number)),
    };
    let plain = |text: String| vec![Span::raw(text)];
    let calls = format!(
        "recording {} calls {}{}",
        count(cost.calls),
        time(cost.recording_ns),
        each(cost.recording_ns, cost.calls)
    );
    let events = format!(
        "{} events around {} tasks {}{}",
        count(cost.events),
        count(cost.tasks),
        time(cost.timing_ns),
        each(cost.timing_ns, cost.events)
    );
    vec![
        vec![Span::styled(time(cost.own_ns()), scene.app.theme.strong())],
        plain(calls),
        plain(events),
        plain(format!("reading times {}", time(cost.reading_ns))),
    ]
}

fn of_losses(scene: &Scene<'_>, id: ProcessId, range: TimeRange) -> Vec<SpanGroup> {
    let lost = scene.app.document.meters.losses(id, with_end(range));
    if lost.is_empty() {
        return vec![vec![Span::raw("nothing was lost here")]];
    }
    let thread = |id: Option<ThreadId>| match id {
        Some(id) => display_names::thread(scene.world.trace, id),
        None => "threads without a channel".to_owned(),
    };
    let words = |loss: &Loss| {
        let kinds = [
            (loss.calls, "calls"),
            (loss.times, "times of tasks"),
            (loss.others, "other records"),
        ];
        let parts = kinds.into_iter().filter(|(number, _)| *number > 0);
        let parts: Vec<_> = parts
            .map(|(number, kind)| format!("{} {kind}", count(number)))
            .collect();
        parts.join(", ")
    };
    lost.iter()
        .map(|(id, loss)| vec![Span::raw(format!("{}: {}", thread(*id), words(loss)))])
        .collect()
}
