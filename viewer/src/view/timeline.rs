//! The lanes with their labels.

use ascend_trace_model::{ProcessId, StreamId, ThreadId};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::item::TrackKey;
use crate::lanes::Row;
use crate::layout::Layout;
use crate::part::working;
use crate::text::{fit, width};

use super::track::Texts;
use super::{Scene, describe, track};

/// Draws all rows that are on screen. Answers where texts stand in them.
pub(crate) fn draw(scene: &Scene<'_>, layout: &Layout, buffer: &mut Buffer) -> Texts {
    let mut texts = Texts::new();
    for (_, row, line) in layout.visible(&scene.app.rows, scene.app.scroll) {
        let at = |area: Rect| Rect {
            y: line,
            height: 1,
            ..area
        };
        label(scene, row, at(layout.gutter), buffer);
        if let Row::Track(key) = row {
            track::draw(scene, key, at(layout.lanes), &mut texts, buffer);
        }
    }
    border(scene, layout, buffer);
    if scene.app.rows.is_empty() {
        let opening = scene.world.overview.and_then(|it| it.opening);
        let text = match (opening, scene.app.is_running()) {
            (Some(percent), _) => format!("reading the file: {percent} %"),
            (None, true) => "waiting for the first AscendCL call…".to_owned(),
            (None, false) => "there is no AscendCL call in this trace".to_owned(),
        };
        let area = layout.lanes;
        let middle = area.y + area.height / 2;
        let room = usize::from(area.width.saturating_sub(1));
        buffer.set_stringn(
            area.x + 1,
            middle,
            fit(&text, room),
            room,
            scene.app.theme.dim(),
        );
    }
    texts
}

fn border(scene: &Scene<'_>, layout: &Layout, buffer: &mut Buffer) {
    let style = scene.app.theme.faint();
    for y in layout.gutter.top()..layout.gutter.bottom() {
        if let Some(cell) = buffer.cell_mut((layout.gutter.right() - 1, y)) {
            cell.set_symbol("│").set_style(style);
        }
    }
}

fn label(scene: &Scene<'_>, row: Row, area: Rect, buffer: &mut Buffer) {
    let theme = scene.app.theme;
    let (indent, text, value) = match row {
        Row::Process(process) => (0, process_name(scene, process), String::new()),
        Row::Device(_, device) => (1, format!("device {device}"), String::new()),
        Row::Track(key) => {
            let (text, value) = track_label(scene, key);
            (2, text, value)
        }
    };
    let is_current = row.track().is_some() && row.track() == scene.app.lane;
    let style = match row {
        Row::Process(_) => theme.accent(),
        Row::Device(..) => theme.strong(),
        Row::Track(_) if is_current => theme.strong(),
        Row::Track(_) => theme.shape(crate::item::Category::Other, ""),
    };
    let room = usize::from(area.width).saturating_sub(2);
    let text_room = room.saturating_sub(indent + value.len() + usize::from(!value.is_empty()));
    let left = area.x + indent as u16;
    buffer.set_stringn(left, area.y, fit(&text, text_room), text_room, style);
    let right = area.x + (room - width(&value).min(room)) as u16;
    buffer.set_stringn(right, area.y, &value, value.len(), theme.dim());
    if is_current {
        buffer.set_stringn(area.x, area.y, "▶", 1, theme.strong());
    }
}

fn process_name(scene: &Scene<'_>, id: ProcessId) -> String {
    let process = scene.world.trace.process(id);
    let rank = match process.rank.as_str() {
        "" => String::new(),
        rank => format!(" rank {rank}"),
    };
    let name = match process.name.as_str() {
        "" => "process",
        name => name,
    };
    format!("{name} {}{rank}", process.pid)
}

/// What a track is called, and its share of busy time in view.
fn track_label(scene: &Scene<'_>, key: TrackKey) -> (String, String) {
    match key {
        TrackKey::Stream(id) => (stream_name(scene, id), busy(scene, key)),
        TrackKey::Thread(id, 0) => (thread_name(scene, id), String::new()),
        TrackKey::Thread(_, depth) => (format!("└ nested {depth}"), String::new()),
    }
}

fn stream_name(scene: &Scene<'_>, id: StreamId) -> String {
    let default = match scene.world.trace.stream(id).is_default {
        true => " default",
        false => "",
    };
    format!("{}{default}", describe::stream(scene.world.trace, id))
}

fn thread_name(scene: &Scene<'_>, id: ThreadId) -> String {
    let thread = scene.world.trace.thread(id);
    match thread.name.as_str() {
        "" => format!("thread {}", thread.tid),
        name => format!("thread {} {name}", thread.tid),
    }
}

fn busy(scene: &Scene<'_>, key: TrackKey) -> String {
    let viewport = scene.app.viewport;
    // The share of what has been recorded, not of the empty margin beside it.
    let (first, last) = scene.app.span.unwrap_or_default();
    let begin = viewport.begin().max(first);
    let end = viewport.end().min(last);
    if end <= begin {
        return String::new();
    }
    let Some(busy) = busy_in(scene, key, (begin, end)) else {
        return String::new();
    };
    let percent = busy as f64 * 100.0 / (end - begin) as f64;
    match percent {
        0.0 => "0%".to_owned(),
        0.0..1.0 => "<1%".to_owned(),
        _ => format!("{:.0}%", percent.min(100.0)),
    }
}

/// Nanoseconds of work of a track in a range.
fn busy_in(scene: &Scene<'_>, key: TrackKey, range: (i64, i64)) -> Option<u64> {
    let trace = scene.world.trace;
    if let Some(overview) = scene.world.overview
        && !overview.is_loaded(range)
    {
        return Some(working(key, &overview.sums(key, range)));
    }
    let track = scene.app.tracks.get(key)?;
    let places = track.range(trace, 0, range.0, range.1);
    Some(track.totals(trace, places, range).busy())
}
