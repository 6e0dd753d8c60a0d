//! The mouse: a click selects, a double click fits, a drag moves or chooses a range, the wheel zooms.

use ascend_trace_recording::TimeRange;
use ratatui::layout::Position;

use crate::app::{App, FollowMode, ViewData};
use crate::arrangement::LaneGroup;
use crate::event::{KeyModifiers, MouseButton, MouseEventKind};
use crate::lanes::ViewRow;
use crate::layout::ScreenLayout;
use crate::pointer::DragTarget;
use crate::text::duration;
use crate::viewport::Viewport;

use super::hit_test::{pick, row_at};
use super::{flame, lanes, lists, marks, navigate, select, walk};

pub(super) fn on_mouse(app: &mut App, world: ViewData<'_>, mouse: crossterm::event::MouseEvent) {
    let at = Position::new(mouse.column, mouse.row);
    let layout = app.layout();
    let in_time = layout.lanes.contains(at) || layout.ruler.contains(at);
    app.pointer.hover = None;
    if app.panels.list.is_some() && app.pointer.drag.is_none() && layout.detail.contains(at) {
        return on_list(app, world, mouse.kind, at);
    }
    if app.panels.flame.is_some() && layout.detail.contains(at) {
        if let MouseEventKind::Down(MouseButton::Left) = mouse.kind {
            flame::choose(app, at);
        }
        return;
    }
    match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            app.message = None;
            match app.pointer.press(app.clock, at) {
                true => press_again(app, world, at),
                false => press(app, world, at),
            }
        }
        MouseEventKind::Drag(MouseButton::Left) => drag(app, at),
        MouseEventKind::Down(MouseButton::Right) if in_time => {
            marks::begin(app, moment_at(app, at.x));
        }
        MouseEventKind::Drag(MouseButton::Right) if at.x >= layout.lanes.x => {
            marks::extend(app, moment_at(app, at.x));
        }
        MouseEventKind::Up(_) => release(app),
        MouseEventKind::Moved => {
            // The button was let go where the terminal did not see it.
            give_up(app);
            app.pointer.hover = Some(at);
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
fn on_list(app: &mut App, world: ViewData<'_>, kind: MouseEventKind, at: Position) {
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

/// The timestamp of a column of the screen.
pub(crate) fn moment_at(app: &App, column: u16) -> i64 {
    let lanes = app.layout().lanes;
    let cell = i64::from(column) - i64::from(lanes.x);
    app.camera.viewport.time(cell, lanes.width)
}

fn press(app: &mut App, world: ViewData<'_>, at: Position) {
    let layout = app.layout();
    app.pointer.drag = hold(app, &layout, at);
    if let Some(DragTarget::Window {
        held,
        has_moved: true,
        ..
    }) = app.pointer.drag
    {
        return put_window(app, &layout, at, held);
    }
    if !layout.lanes.contains(at) && !layout.gutter.contains(at) {
        return;
    }
    let key = match row_at(app, at) {
        Some(ViewRow::Track(key)) => key,
        Some(ViewRow::Folded(group)) => return lanes::unfold(app, world, group),
        Some(ViewRow::Device(process, device) | ViewRow::DeviceOfCard(process, device))
            if layout.gutter.contains(at) =>
        {
            return lanes::fold_group(app, world, LaneGroup::Device(process, device));
        }
        _ => return,
    };
    app.camera.lane = Some(key);
    app.camera.group = None;
    if layout.lanes.contains(at) {
        app.camera.selected = pick(app, world, key, at.x - layout.lanes.x);
        app.camera.walk = None;
    }
}

/// Target of a button that is pressed at a position.
fn hold(app: &App, layout: &ScreenLayout, at: Position) -> Option<DragTarget> {
    if layout.lanes.contains(at) {
        return Some(DragTarget::Lanes {
            from: at.x,
            range: app.camera.viewport,
        });
    }
    if layout.ruler.contains(at) {
        let from = moment_at(app, at.x);
        return Some(DragTarget::Range { from, to: from });
    }
    let moment = whole_at(app, layout, at).filter(|_| layout.minimap.contains(at))?;
    let is_inside = (app.camera.viewport.begin()..=app.camera.viewport.end()).contains(&moment);
    let held = match is_inside {
        true => moment - app.camera.viewport.begin(),
        false => app.camera.viewport.length() / 2,
    };
    Some(DragTarget::Window {
        from: at.x,
        held,
        // A press outside the range moves there at once.
        has_moved: !is_inside,
    })
}

/// A double click: on a slice it fits the range to that, on the ruler and the second line to everything.
fn press_again(app: &mut App, world: ViewData<'_>, at: Position) {
    let layout = app.layout();
    app.pointer.drag = None;
    if layout.ruler.contains(at) || layout.minimap.contains(at) {
        begin_move(app);
        navigate::fit_all(app);
        app.camera.moving = false;
        return;
    }
    if !layout.lanes.contains(at) {
        return press(app, world, at);
    }
    // The first click has selected it.
    if let Some(ViewRow::Track(key)) = row_at(app, at)
        && app.camera.lane == Some(key)
        && app
            .camera
            .selected
            .is_some_and(|it| it.is_on(world.trace, key))
    {
        begin_move(app);
        navigate::fit_selection(app, world);
        app.camera.moving = false;
    }
}

/// Notes the place that a row of moves begins at, as one to come back to.
fn begin_move(app: &mut App) {
    if !app.camera.moving {
        walk::remember(app);
        app.camera.moving = true;
    }
}

fn drag(app: &mut App, at: Position) {
    let layout = app.layout();
    match app.pointer.drag {
        Some(DragTarget::Lanes { from, range }) => {
            let cells = i64::from(from) - i64::from(at.x);
            let begin = range.time(cells, layout.lanes.width);
            begin_move(app);
            app.camera.follow = FollowMode::Off;
            let end = begin.saturating_add(range.length());
            navigate::show(app, Viewport::new(begin, end));
        }
        Some(DragTarget::Range { from, .. }) => {
            let to =
                moment_at(app, at.x).clamp(app.camera.viewport.begin(), app.camera.viewport.end());
            app.pointer.drag = Some(DragTarget::Range { from, to });
            let length = duration(to.saturating_sub(from).saturating_abs());
            let zooms = "release to zoom to it, press a key to cancel";
            app.message = Some(format!("{length}: {zooms}"));
        }
        Some(DragTarget::Window {
            from,
            held,
            has_moved,
        }) => {
            let has_moved = has_moved || at.x != from;
            app.pointer.drag = Some(DragTarget::Window {
                from,
                held,
                has_moved,
            });
            if has_moved {
                put_window(app, &layout, at, held);
            }
        }
        None => {}
    }
}

/// The button was let go.
fn release(app: &mut App) {
    match app.pointer.drag.take() {
        Some(DragTarget::Range { from, to }) => zoom_to(app, TimeRange::between(from, to)),
        Some(DragTarget::Window {
            from,
            has_moved: false,
            ..
        }) => {
            let layout = app.layout();
            let at = Position::new(from, layout.minimap.y);
            put_window(app, &layout, at, app.camera.viewport.length() / 2);
        }
        Some(_) => {}
        None => return,
    }
    app.camera.moving = false;
}

/// Dragged things stay in place; an unfinished range is dropped.
fn give_up(app: &mut App) {
    if let Some(drag) = app.pointer.drag.take() {
        app.camera.moving = false;
        if matches!(drag, DragTarget::Range { .. }) {
            app.message = None;
        }
    }
}

/// Shows a range that was chosen in the ruler, if it is more than a column.
fn zoom_to(app: &mut App, TimeRange { begin, end }: TimeRange) {
    app.message = None;
    let width = app.layout().lanes.width;
    if app.camera.viewport.cell(begin, width) == app.camera.viewport.cell(end, width) {
        return;
    }
    begin_move(app);
    app.camera.follow = FollowMode::Off;
    navigate::show(app, Viewport::new(begin, end));
}

/// The timestamp of a column of the second line.
pub(crate) fn whole_at(app: &App, layout: &ScreenLayout, at: Position) -> Option<i64> {
    let minimap = layout.minimap;
    let cell = i64::from(at.x) - i64::from(minimap.x);
    Some(Viewport::fitting(app.document.span?).time(cell, minimap.width))
}

/// Moves the range so that the timestamp under the pointer is `held` after its begin.
fn put_window(app: &mut App, layout: &ScreenLayout, at: Position, held: i64) {
    let Some(moment) = whole_at(app, layout, at) else {
        return;
    };
    begin_move(app);
    app.camera.follow = FollowMode::Off;
    navigate::show(
        app,
        app.camera.viewport.beginning(moment.saturating_sub(held)),
    );
}

fn wheel(app: &mut App, world: ViewData<'_>, at: Position, up: bool, modifiers: KeyModifiers) {
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
        let about = app.camera.viewport.time(cell, layout.lanes.width);
        app.camera.follow = FollowMode::Off;
        navigate::zoom_about(app, about, if up { (4, 5) } else { (5, 4) });
    }
}
