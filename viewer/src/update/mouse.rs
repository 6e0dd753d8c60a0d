//! The mouse: click selects, drag moves, wheel zooms.

use ratatui::layout::{Position, Rect};

use crate::app::{App, Follow, Selected, World, is_gap};
use crate::arrangement::Group;
use crate::event::{KeyModifiers, MouseButton, MouseEventKind};
use crate::item::{Item, TrackKey};
use crate::lanes::Row;
use crate::viewport::Viewport;

use super::{along, flame, lanes, lists, marks, navigate, select, walk};

pub(super) fn on_mouse(app: &mut App, world: World<'_>, mouse: crossterm::event::MouseEvent) {
    let at = Position::new(mouse.column, mouse.row);
    let layout = app.layout();
    let in_time = layout.lanes.contains(at) || layout.ruler.contains(at);
    if app.list.is_some() && layout.detail.contains(at) {
        return on_list(app, world, mouse.kind, at);
    }
    if app.flame.is_some() && layout.detail.contains(at) {
        if let MouseEventKind::Down(MouseButton::Left) = mouse.kind {
            flame::choose(app, at);
        }
        return;
    }
    match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            app.message = None;
            app.drag = in_time.then_some((at.x, app.viewport));
            press(app, world, at);
        }
        MouseEventKind::Drag(MouseButton::Left) => drag(app, at),
        MouseEventKind::Down(MouseButton::Right) if in_time => {
            marks::begin(app, moment_at(app, at.x));
        }
        MouseEventKind::Drag(MouseButton::Right) if at.x >= layout.lanes.x => {
            marks::extend(app, moment_at(app, at.x));
        }
        MouseEventKind::Up(_) => {
            app.moving &= app.drag.is_none();
            app.drag = None;
        }
        MouseEventKind::ScrollUp | MouseEventKind::ScrollDown => {
            let up = mouse.kind == MouseEventKind::ScrollUp;
            wheel(app, world, at, up, mouse.modifiers);
        }
        MouseEventKind::ScrollLeft => navigate::pan(app, -10),
        MouseEventKind::ScrollRight => navigate::pan(app, 10),
        _ => {}
    }
}

/// The wheel and clicks in a list.
fn on_list(app: &mut App, world: World<'_>, kind: MouseEventKind, at: Position) {
    let first = crate::view::first_entry(app);
    // The title and the names of the columns stand above the entries.
    let down = at.y - app.layout().detail.y;
    let line = usize::from(down).checked_sub(2);
    match (kind, line) {
        (MouseEventKind::Down(MouseButton::Left), _) if down == 1 => lists::sort_at(app, at.x),
        (MouseEventKind::ScrollUp, _) => lists::step(app, world, -1),
        (MouseEventKind::ScrollDown, _) => lists::step(app, world, 1),
        (MouseEventKind::Down(MouseButton::Left), Some(line)) => {
            lists::choose(app, world, first + line);
        }
        _ => {}
    }
}

/// The moment that a column of the screen stands for.
fn moment_at(app: &App, column: u16) -> i64 {
    let lanes = app.layout().lanes;
    let cell = i64::from(column) - i64::from(lanes.x);
    app.viewport.time(cell, lanes.width)
}

fn press(app: &mut App, world: World<'_>, at: Position) {
    let layout = app.layout();
    if layout.minimap.contains(at) {
        return centre(app, layout.minimap, at);
    }
    if !layout.lanes.contains(at) && !layout.gutter.contains(at) {
        return;
    }
    let key = match row_at(app, at) {
        Some(Row::Track(key)) => key,
        Some(Row::Folded(group)) => return lanes::unfold(app, world, group),
        Some(Row::Device(process, device)) if layout.gutter.contains(at) => {
            return lanes::fold_group(app, world, Group::Device(process, device));
        }
        _ => return,
    };
    app.lane = Some(key);
    app.group = None;
    if layout.lanes.contains(at) {
        app.selected = pick(app, world, key, at.x - layout.lanes.x);
        app.walk = None;
    }
}

/// The row that is drawn in a line.
fn row_at(app: &App, at: Position) -> Option<Row> {
    let layout = app.layout();
    let rows = layout.visible(&app.rows, app.scroll);
    let row = rows.take_while(|(_, _, line)| *line <= at.y).last()?;
    Some(row.1)
}

/// What is drawn in a cell of a track: the longest item there, else the idle stretch.
fn pick(app: &App, world: World<'_>, key: TrackKey, cell: u16) -> Option<Selected> {
    let trace = world.trace;
    if let TrackKey::Nodes(_) | TrackKey::Ranges(..) = key {
        return pick_line(app, world, key, cell);
    }
    if key.is_meter() {
        return app.selected;
    }
    let track = app.tracks.get(key)?;
    let width = app.layout().lanes.width;
    let window = |cell: u16| {
        let cell = i64::from(cell);
        (
            app.viewport.time(cell, width),
            app.viewport.time(cell + 1, width),
        )
    };
    let in_cell = |cell: u16| {
        let (begin, end) = window(cell);
        let (first, last) = track.range(trace, 0, begin, end);
        let few = first..last.min(first + 1_000);
        let timed = few.filter_map(|index| track.item(index));
        let all = timed.chain(track.launches(trace, (begin, end)).take(1_000));
        all.max_by_key(|item| item.length(trace))
    };
    let (begin, end) = window(cell);
    let gap = || {
        let stalls = app.stalls.in_window(key.lane()?, begin, end);
        stalls
            .iter()
            .find(|stall| is_gap(stall))
            .map(|stall| Selected::Gap(*stall))
    };
    let beside = || {
        let near = [cell.checked_sub(1), cell.checked_add(1)];
        near.into_iter().flatten().find_map(in_cell)
    };
    let item = |item: Item| Selected::Item(item);
    let open = || along::open_at(app, key, begin + (end - begin) / 2, false);
    in_cell(cell)
        .map(item)
        .or_else(open)
        .or_else(gap)
        .or_else(|| beside().map(item))
}

/// What is drawn in a cell of a line that holds no tasks or calls.
fn pick_line(app: &App, world: World<'_>, key: TrackKey, cell: u16) -> Option<Selected> {
    let width = app.layout().lanes.width;
    let begin = app.viewport.time(i64::from(cell), width);
    let end = app.viewport.time(i64::from(cell) + 1, width);
    let found = along::nearest(app, world.trace, key, begin + (end - begin) / 2)?;
    let span = found.span(world.trace);
    (span.0 < end && span.1 >= begin).then_some(found)
}

fn drag(app: &mut App, at: Position) {
    let layout = app.layout();
    match app.drag {
        Some((from, range)) => {
            let cells = i64::from(from) - i64::from(at.x);
            let begin = range.time(cells, layout.lanes.width);
            if !app.moving {
                walk::remember(app);
                app.moving = true;
            }
            app.follow = Follow::Off;
            navigate::show(app, Viewport::new(begin, begin + range.length()));
        }
        None if layout.minimap.contains(at) => centre(app, layout.minimap, at),
        None => {}
    }
}

/// Shows the moment that a cell of the minimap stands for.
fn centre(app: &mut App, minimap: Rect, at: Position) {
    let Some(span) = app.span else {
        return;
    };
    let whole = Viewport::fitting(span);
    let time = whole.time(i64::from(at.x - minimap.x), minimap.width);
    app.follow = Follow::Off;
    navigate::show(app, app.viewport.centred(time));
}

fn wheel(app: &mut App, world: World<'_>, at: Position, up: bool, modifiers: KeyModifiers) {
    let layout = app.layout();
    if layout.log.contains(at) {
        return super::scroll_log(app, world, if up { 3 } else { -3 });
    }
    if layout.gutter.contains(at) {
        return select::scroll(app, if up { -2 } else { 2 });
    }
    if modifiers.contains(KeyModifiers::SHIFT) {
        return navigate::pan(app, if up { -10 } else { 10 });
    }
    if layout.lanes.contains(at) || layout.ruler.contains(at) {
        let cell = i64::from(at.x - layout.lanes.x);
        let about = app.viewport.time(cell, layout.lanes.width);
        app.follow = Follow::Off;
        navigate::zoom_about(app, about, if up { (4, 5) } else { (5, 4) });
    }
}
