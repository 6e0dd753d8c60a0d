//! The item at a position of the screen.

use ratatui::layout::Position;

use crate::app::{App, Selection, ViewData, is_gap};
use crate::item::{CallOrTask, TrackKey};
use crate::lanes::ViewRow;

use super::lane_neighbours;

/// The row that is drawn in a line.
pub(crate) fn row_at(app: &App, at: Position) -> Option<ViewRow> {
    let layout = app.layout();
    let rows = layout.visible(&app.camera.rows, app.camera.scroll);
    let row = rows.take_while(|(_, _, line)| *line <= at.y).last()?;
    Some(row.1)
}

/// The item in a cell of a track: the longest one, else the idle stretch.
pub(crate) fn pick(app: &App, world: ViewData<'_>, key: TrackKey, cell: u16) -> Option<Selection> {
    let trace = world.trace;
    if let TrackKey::Nodes(_) | TrackKey::Ranges(..) = key {
        return pick_line(app, world, key, cell);
    }
    if key.is_meter() {
        return app.camera.selected;
    }
    let track = app.document.tracks.get(key)?;
    let width = app.layout().lanes.width;
    let window = |cell: u16| app.camera.viewport.cell_time(i64::from(cell), width);
    let in_cell = |cell: u16| {
        let window = window(cell);
        let (first, last) = track.range(trace, 0, window.begin, window.end);
        let few = first..last.min(first + 1_000);
        let timed = few.filter_map(|index| track.item(index));
        let all = timed.chain(track.launches(trace, window).take(1_000));
        all.max_by_key(|item| item.length(trace))
    };
    let window = window(cell);
    let gap = || {
        let stalls = app
            .document
            .stalls
            .in_window(key.lane()?, window.begin, window.end);
        stalls
            .iter()
            .find(|stall| is_gap(stall))
            .map(|stall| Selection::Gap(*stall))
    };
    let beside = || {
        let near = [cell.checked_sub(1), cell.checked_add(1)];
        near.into_iter().flatten().find_map(in_cell)
    };
    let item = |item: CallOrTask| Selection::Item(item);
    let open = || lane_neighbours::open_at(app, key, window.middle(), false);
    in_cell(cell)
        .map(item)
        .or_else(open)
        .or_else(gap)
        .or_else(|| beside().map(item))
}

/// The item in a cell of a line without tasks or calls.
fn pick_line(app: &App, world: ViewData<'_>, key: TrackKey, cell: u16) -> Option<Selection> {
    let width = app.layout().lanes.width;
    let window = app.camera.viewport.cell_time(i64::from(cell), width);
    let found = lane_neighbours::nearest(app, world.trace, key, window.middle())?;
    let span = found.span(world.trace);
    (span.begin < window.end && span.end >= window.begin).then_some(found)
}
