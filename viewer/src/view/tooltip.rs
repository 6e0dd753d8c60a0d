//! A short description of the item under the mouse.

use ascend_trace_recording::TimeRange;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;

use crate::app::{InputMode, Selection};
use crate::blame;
use crate::display_names;
use crate::item::{CallOrTask, TrackKey};
use crate::lanes::ViewRow;
use crate::layout::ScreenLayout;
use crate::text::{duration, fit, width};
use crate::update::{moment_at, pick, row_at, whole_at};

use super::facts::since_start;
use super::{Scene, memory};

/// Columns of a tip; names may be longer than any screen.
const ROOM: usize = 60;

pub(super) fn draw(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let Some(at) = scene.app.pointer.hover else {
        return;
    };
    if scene.app.mode != InputMode::Timeline {
        return;
    }
    let Some(text) = text(scene, layout, at) else {
        return;
    };
    let area = buffer.area;
    let room = ROOM.min(usize::from(area.width).saturating_sub(2));
    let text = format!(" {} ", fit(&text, room));
    let wide = width(&text) as u16;
    // It must not hide its subject.
    let y = match at.y > layout.ruler.y {
        true => at.y - 1,
        false => at.y + 1,
    };
    let x = at.x.min(area.right().saturating_sub(wide));
    let style = scene.app.theme.tip();
    buffer.set_stringn(x, y, &text, usize::from(wide), style);
}

fn text(scene: &Scene<'_>, layout: &ScreenLayout, at: Position) -> Option<String> {
    let app = scene.app;
    if layout.ruler.contains(at) {
        app.document.span?;
        return Some(since_start(scene, moment_at(app, at.x)));
    }
    if layout.minimap.contains(at) {
        return Some(since_start(scene, whole_at(app, layout, at)?));
    }
    let in_lanes = layout.lanes.contains(at);
    if !in_lanes && !layout.gutter.contains(at) {
        return None;
    }
    let Some(ViewRow::Track(key)) = row_at(app, at) else {
        return None;
    };
    match in_lanes {
        true => slice(scene, key, at.x - layout.lanes.x),
        false => Some(display_names::lane(scene.world.trace, key)),
    }
}

/// The name and the duration of the item in a cell.
fn slice(scene: &Scene<'_>, key: TrackKey, cell: u16) -> Option<String> {
    let trace = scene.world.trace;
    if let TrackKey::Memory(process, place) = key {
        let wide = scene.app.layout().lanes.width;
        let range = scene.app.camera.viewport.cell_time(i64::from(cell), wide);
        let bytes = memory::within(scene, (process, place), range)?;
        return Some(format!("{} {bytes}", display_names::lane(trace, key)));
    }
    if key.is_meter() {
        return None;
    }
    let found = pick(scene.app, scene.world, key, cell)?;
    let TimeRange { begin, end } = found.span(trace);
    let length = duration(end.saturating_sub(begin));
    Some(match found {
        Selection::Item(item) => {
            let more = match slices_in(scene, key, cell) {
                0 | 1 => String::new(),
                number => format!(", the longest of {number} here"),
            };
            format!("{}{}{more}", name(scene, item), time(scene, item, &length))
        }
        Selection::Gap(stall) => {
            let words = blame::words(scene.app.known(), trace, &stall);
            format!("idle: {}", words.first()?)
        }
        Selection::Range(id, _) => {
            let range = trace.ranges().get(id.index())?;
            format!("{} {length}", range.name)
        }
        Selection::Node(node) => {
            let label = CallOrTask::Task(node.task).label(trace);
            format!("node {} {label}", node.number)
        }
        Selection::Open(open) => {
            let call = open.find(trace)?;
            let name = &trace.function(call.function).name;
            format!("{name} {length}, under way")
        }
    })
}

fn name(scene: &Scene<'_>, item: CallOrTask) -> String {
    let trace = scene.world.trace;
    let label = item.label(trace);
    let name = &label;
    let failed = if item.failed(trace) { "! " } else { "" };
    match item.direction(trace) {
        Some(way) => format!("{failed}{name} {way}"),
        None => format!("{failed}{name}"),
    }
}

fn time(scene: &Scene<'_>, item: CallOrTask, length: &str) -> String {
    match item {
        CallOrTask::Task(id) if scene.world.trace.task(id).time.is_none() => ", no time".to_owned(),
        // A record takes none.
        _ if item.length(scene.world.trace) == 0 => String::new(),
        _ => format!(" {length}"),
    }
}

/// How many slices have a part in a cell.
fn slices_in(scene: &Scene<'_>, key: TrackKey, cell: u16) -> usize {
    let app = scene.app;
    let wide = app.layout().lanes.width;
    let time = |cell: u16| app.camera.viewport.time(i64::from(cell), wide);
    let range = (time(cell), time(cell.saturating_add(1)));
    let track = app.document.tracks.get(key);
    let places = track.map(|it| it.range(scene.world.trace, 0, range.0, range.1));
    places.map_or(0, |(first, last)| last - first)
}
