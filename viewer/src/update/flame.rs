//! The calls of a thread by nesting: opened, walked through, jumped from.

use ascend_trace_analysis::calls::{CallTree, Frame, Instance};
use ascend_trace_recording::{ThreadId, TimeRange, Trace};

use crate::app::{App, FollowMode, Selection, ViewData};
use crate::background_query::FoundElsewhere;
use crate::event::{KeyCode, KeyEvent};
use crate::flame::FlameGraph;
use crate::item::TrackKey;
use crate::stable_id::StableId;

use super::{background_query, lists, select, walk};

/// Opens it on the thread that the cursor is on, or closes it.
pub(super) fn toggle(app: &mut App, world: ViewData<'_>) {
    if app.panels.flame.take().is_some() {
        return select::reveal_lane(app);
    }
    let Some(thread) = here(app, world.trace) else {
        app.message = Some("there is no host thread with calls".to_owned());
        return;
    };
    app.panels.list = None;
    app.panels.flame = Some(FlameGraph {
        thread,
        tree: CallTree::default(),
        cursor: 0,
        is_whole: false,
        basis: lists::basis(app),
    });
    make(app, world);
    select::reveal_lane(app);
}

/// The thread of the current lane, of the selection's call, or the first one.
fn here(app: &App, trace: &Trace) -> Option<ThreadId> {
    let of_lane = app.camera.lane.and_then(|key| match key {
        TrackKey::Thread(id, _) | TrackKey::Ranges(id, _) => Some(id),
        _ => None,
    });
    let item = app.camera.selected.and_then(Selection::item);
    let of_selection = || item.map(|item| trace.call(item.call(trace)).thread);
    of_lane
        .or_else(of_selection)
        .or_else(|| threads(app).first().copied())
}

fn threads(app: &App) -> Vec<ThreadId> {
    let keys = app.camera.rows.iter().filter_map(|row| row.track());
    let threads = keys.filter_map(|key| match key {
        TrackKey::Thread(id, 0) => Some(id),
        _ => None,
    });
    threads.collect()
}

/// Sums up the range on screen.
fn make(app: &mut App, world: ViewData<'_>) {
    let range = app.camera.viewport.range();
    let basis = lists::basis(app);
    let Some(thread) = app.panels.flame.as_ref().map(|flame| flame.thread) else {
        return;
    };
    let is_loaded = world.overview.is_loaded(range);
    let known = background_query::known_calls(app, thread, range).cloned();
    let (tree, is_whole) = match (is_loaded, known) {
        (true, _) => (CallTree::of(world.trace, thread, range), true),
        (false, Some(tree)) => (tree, true),
        (false, None) => {
            // A view that follows the newest timestamp has another range before that is done.
            if app.camera.follow == FollowMode::Off {
                background_query::calls(app, thread, range);
            }
            (CallTree::of(world.trace, thread, range), false)
        }
    };
    if let Some(flame) = &mut app.panels.flame {
        flame.renew(tree, is_whole);
        flame.basis = basis;
    }
}

/// Makes it again when the range on screen or the recording has changed.
pub(super) fn refresh(app: &mut App, world: ViewData<'_>) {
    let now = lists::basis(app);
    let Some(flame) = &app.panels.flame else {
        return;
    };
    let is_later = now.second != flame.basis.second;
    let is_moved =
        now.range != flame.basis.range && (app.camera.follow == FollowMode::Off || is_later);
    let is_grown = now.content != flame.basis.content && is_later;
    let was_loaded = !flame.is_whole && world.overview.is_loaded(now.range);
    if is_moved || is_grown || was_loaded {
        make(app, world);
    }
}

/// Shows the sums of a window that is not loaded.
pub(super) fn show(app: &mut App, world: ViewData<'_>) {
    if app.panels.flame.is_some() {
        make(app, world);
    }
}

/// Handles a key; false when the key has its usual meaning.
pub(super) fn on_key(app: &mut App, world: ViewData<'_>, key: &KeyEvent) -> bool {
    let Some(flame) = &mut app.panels.flame else {
        return false;
    };
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => flame.descend(),
        KeyCode::Up | KeyCode::Char('k') => flame.ascend(),
        KeyCode::Left | KeyCode::Char('h') => flame.move_to_sibling(false),
        KeyCode::Right | KeyCode::Char('l') => flame.move_to_sibling(true),
        KeyCode::Home => flame.cursor = 0,
        KeyCode::Tab => turn(app, world, true),
        KeyCode::BackTab => turn(app, world, false),
        KeyCode::Enter => to_longest(app, world),
        KeyCode::Esc | KeyCode::Char('q') => {
            app.panels.flame = None;
            select::reveal_lane(app);
        }
        _ => return false,
    }
    true
}

/// The next thread, or the one before.
fn turn(app: &mut App, world: ViewData<'_>, forward: bool) {
    let threads = threads(app);
    let Some(flame) = &mut app.panels.flame else {
        return;
    };
    let here = threads.iter().position(|it| *it == flame.thread);
    let step = if forward {
        1
    } else {
        threads.len().saturating_sub(1)
    };
    let next = here.map_or(0, |it| (it + step) % threads.len().max(1));
    if let Some(thread) = threads.get(next) {
        flame.thread = *thread;
        make(app, world);
    }
}

/// Puts the cursor on a box, as a click does.
pub(super) fn choose(app: &mut App, at: ratatui::layout::Position) {
    let area = app.layout().detail;
    if let Some(node) = crate::view::node_at(app, area, at)
        && let Some(flame) = &mut app.panels.flame
    {
        flame.cursor = node;
    }
}

/// Goes to the longest instance of the node under the cursor.
fn to_longest(app: &mut App, world: ViewData<'_>) {
    let Some(flame) = &app.panels.flame else {
        return;
    };
    let node = &flame.tree.nodes()[flame.cursor];
    let name = flame.name(world.trace, flame.cursor).to_owned();
    let Some(found) = node.longest.map(|it| found(flame, &node.frame, it)) else {
        app.message = Some("this is all of the thread: go down first".to_owned());
        return;
    };
    app.panels.flame = None;
    walk::remember(app);
    background_query::show(app, world, &found);
    // The line of a range is known once it is loaded.
    if let Some(Selection::Range(id, _)) = app.camera.selected
        && let Some(level) = app.document.ranges.level(world.trace, id)
    {
        select::select(app, world, Selection::Range(id, level));
    }
    app.message = Some(format!("the longest {name} in view"));
}

fn found(flame: &FlameGraph, frame: &Frame, longest: Instance) -> FoundElsewhere {
    let Instance { begin, end, depth } = longest;
    let thread = flame.thread;
    let (lane, identity) = match frame {
        Frame::Range(_) => {
            let level = 0;
            let range = StableId::Range {
                thread,
                level,
                begin,
                end,
            };
            (TrackKey::Ranges(thread, level), range)
        }
        Frame::Thread | Frame::Call(_) => {
            let call = StableId::Call {
                thread,
                begin,
                depth,
            };
            (TrackKey::of_depth(thread, depth), call)
        }
    };
    FoundElsewhere {
        span: TimeRange::new(begin, end),
        lane,
        identity,
    }
}
