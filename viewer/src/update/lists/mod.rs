//! Opening lists, walking through them, jumping from them.

mod bookmarks;
mod commands;
mod stalls;
mod statistics;

use crate::action::{Action, Effect};
use crate::app::{App, Follow, Selected, World};
use crate::event::{KeyCode, KeyEvent};
use crate::item::{Item, TrackKey};
use crate::list::{Basis, Column, Entry, Kind, List, Page, Target};
use crate::prompt::edit;
use crate::rank;

use super::{hunt, select, walk};

/// What a list is made of.
struct Content {
    columns: &'static [Column],
    entries: Vec<Entry>,
    note: String,
}

/// Opens a list, or closes it when it is the one on screen.
pub(super) fn toggle(app: &mut App, world: World<'_>, kind: Kind) {
    let same = |list: &List| std::mem::discriminant(&list.kind) == std::mem::discriminant(&kind);
    if app.list.as_ref().is_some_and(same) {
        return leave(app);
    }
    open(app, world, kind);
}

fn open(app: &mut App, world: World<'_>, kind: Kind) {
    // Of a long recording the list begins with what is loaded, until all of it has been read.
    if let (Kind::Stalls(cause), Some(_)) = (kind, world.overview) {
        hunt::longest(app, cause);
    }
    if let Kind::Statistics(_) = kind {
        hunt::statistics(app, world);
    }
    let content = content(app, world, kind, "");
    if content.entries.is_empty() && kind != Kind::Commands && app.hunt.is_none() {
        app.list = None;
        app.message = Some(match kind {
            Kind::Stalls(_) => select::nothing_more(app, world, "there is no stall"),
            Kind::Bookmarks => "there is no bookmark yet: b makes one".to_owned(),
            _ => select::nothing_more(app, world, "there is nothing to sum up"),
        });
        return;
    }
    let origin = match app.list.take() {
        Some(list) => list.origin,
        None => app.place(),
    };
    app.list = Some(List {
        kind,
        columns: content.columns,
        entries: content.entries,
        cursor: 0,
        filter: String::new(),
        note: content.note,
        basis: basis(app),
        origin,
    });
    select::reveal_lane(app);
    preview(app, world);
}

fn content(app: &App, world: World<'_>, kind: Kind, filter: &str) -> Content {
    match kind {
        Kind::Stalls(cause) => stalls::content(app, world, cause),
        Kind::Statistics(page) => statistics::content(app, world, page),
        Kind::Bookmarks => bookmarks::content(app),
        Kind::Commands => commands::content(app, filter),
    }
}

fn basis(app: &App) -> Basis {
    Basis {
        range: (app.viewport.begin(), app.viewport.end()),
        second: app.clock.as_secs(),
        counts: app.counts,
    }
}

/// Makes the entries anew when what they were made of has changed.
pub(super) fn refresh(app: &mut App, world: World<'_>) {
    let now = basis(app);
    let Some(list) = &app.list else { return };
    let is_old = match list.kind {
        Kind::Statistics(_) => {
            let is_later = now.second != list.basis.second;
            let grown = now.counts != list.basis.counts && is_later;
            // What is followed moves with each look.
            let is_moved = now.range != list.basis.range && (app.follow == Follow::Off || is_later);
            is_moved || grown
        }
        Kind::Stalls(_) => app.stale,
        Kind::Bookmarks | Kind::Commands => false,
    };
    app.stale = false;
    let is_moved = now.range != list.basis.range;
    if is_old && is_moved && matches!(list.kind, Kind::Statistics(_)) {
        hunt::statistics(app, world);
    }
    if is_old {
        remake(app, world);
    }
}

fn remake(app: &mut App, world: World<'_>) {
    let Some((kind, filter)) = app.list.as_ref().map(|it| (it.kind, it.filter.clone())) else {
        return;
    };
    let content = content(app, world, kind, &filter);
    let now = basis(app);
    if let Some(list) = &mut app.list {
        let current = list.current().map(|entry| entry.cells.clone());
        let same = |entry: &Entry| Some(&entry.cells) == current.as_ref();
        list.cursor = content.entries.iter().position(same).unwrap_or(0);
        list.entries = content.entries;
        list.note = content.note;
        list.basis = now;
    }
}

/// Lets the list answer to a key. `None`: the key means what it means elsewhere.
pub(super) fn on_key(app: &mut App, world: World<'_>, key: &KeyEvent) -> Option<Vec<Effect>> {
    let kind = app.list.as_ref()?.kind;
    let page = isize::try_from(app.layout().detail.height.saturating_sub(2)).unwrap_or(1);
    match key.code {
        KeyCode::Esc => back_out(app),
        KeyCode::Enter => return Some(follow(app, world)),
        KeyCode::Down => step(app, world, 1),
        KeyCode::Up => step(app, world, -1),
        KeyCode::PageDown => step(app, world, page),
        KeyCode::PageUp => step(app, world, -page),
        KeyCode::Home => step(app, world, isize::MIN),
        KeyCode::End => step(app, world, isize::MAX),
        _ if kind == Kind::Commands => filter(app, world, key),
        KeyCode::Tab => {
            if let Kind::Statistics(page) = kind {
                turn_to(app, world, page.next());
            }
        }
        KeyCode::BackTab => {
            if let Kind::Statistics(page) = kind {
                turn_to(app, world, page.previous());
            }
        }
        KeyCode::Delete if kind == Kind::Bookmarks => bookmarks::forget(app, world),
        KeyCode::Char('j') => step(app, world, 1),
        KeyCode::Char('k') => step(app, world, -1),
        KeyCode::Char('q') => back_out(app),
        _ => return None,
    }
    Some(Vec::new())
}

fn filter(app: &mut App, world: World<'_>, key: &KeyEvent) {
    if let Some(list) = &mut app.list
        && edit(&mut list.filter, key)
    {
        remake(app, world);
        if let Some(list) = &mut app.list {
            list.cursor = 0;
        }
    }
}

/// Another table; also an empty one, so that one gets past it.
fn turn_to(app: &mut App, world: World<'_>, page: Page) {
    let content = content(app, world, Kind::Statistics(page), "");
    if let Some(list) = &mut app.list {
        list.kind = Kind::Statistics(page);
        list.columns = content.columns;
        list.entries = content.entries;
        list.note = content.note;
        list.cursor = 0;
    }
}

pub(super) fn step(app: &mut App, world: World<'_>, lines: isize) {
    if let Some(list) = &mut app.list {
        list.step(lines);
    }
    preview(app, world);
}

/// Puts the cursor on an entry, as a click does.
pub(super) fn choose(app: &mut App, world: World<'_>, entry: usize) {
    if let Some(list) = &mut app.list {
        list.cursor = entry.min(list.entries.len().saturating_sub(1));
    }
    preview(app, world);
}

/// Shows the stall that the cursor is on.
fn preview(app: &mut App, world: World<'_>) {
    let target = app.list.as_ref().and_then(List::current);
    match target.map(|entry| entry.target.clone()) {
        Some(Target::Stall(stall)) => select::select(app, world, select::of_stall(stall)),
        Some(Target::Told(told)) => hunt::show(app, world, &told.found()),
        _ => {}
    }
}

/// Shows tables that have been made of what is not loaded.
pub(super) fn show_statistics(app: &mut App, world: World<'_>) {
    let kind = app.list.as_ref().map(|list| list.kind);
    if matches!(kind, Some(Kind::Statistics(_))) {
        remake(app, world);
    }
}

/// Shows the longest stalls of all of the recording, in the place of those that were loaded.
pub(super) fn show_longest(app: &mut App, world: World<'_>) {
    remake(app, world);
    if let Some(list) = &mut app.list {
        list.cursor = 0;
    }
    preview(app, world);
}

/// Closes the list and stays.
pub(super) fn leave(app: &mut App) {
    app.list = None;
    select::reveal_lane(app);
}

/// Closes the list and goes back to where it was opened.
pub(super) fn back_out(app: &mut App) {
    if let Some(list) = app.list.take()
        && matches!(list.kind, Kind::Stalls(_))
    {
        app.restore(list.origin);
    }
    select::reveal_lane(app);
}

/// Goes where the entry leads.
fn follow(app: &mut App, world: World<'_>) -> Vec<Effect> {
    let range = (app.viewport.begin(), app.viewport.end());
    let Some(list) = app.list.take() else {
        return Vec::new();
    };
    let target = list.current().map(|entry| entry.target.clone());
    let origin = list.origin;
    match target {
        Some(Target::Action(action)) => return super::perform(app, world, action),
        Some(Target::Cause(cause)) => {
            app.list = Some(list);
            open(app, world, Kind::Stalls(Some(cause)));
            return Vec::new();
        }
        Some(Target::Stall(_) | Target::Told(_)) => walk::remember_place(app, origin),
        Some(Target::Slowest { name, task }) => {
            if world.overview.is_some_and(|it| !it.is_loaded(range)) {
                hunt::slowest(app, &name, task, range);
            } else {
                walk::remember(app);
                to_slowest(app, world, &name, task, range);
            }
        }
        Some(Target::Stream(id)) => to_lane(app, world, TrackKey::Stream(id)),
        Some(Target::Thread(id)) => to_lane(app, world, TrackKey::Thread(id, 0)),
        Some(Target::Bookmark(index)) => {
            walk::remember(app);
            bookmarks::go(app, index);
        }
        Some(Target::Nowhere) | None => {}
    }
    select::reveal_lane(app);
    Vec::new()
}

fn to_lane(app: &mut App, world: World<'_>, key: TrackKey) {
    walk::remember(app);
    app.reveal_track(world, key);
    app.lane = Some(key);
}

fn to_slowest(app: &mut App, world: World<'_>, name: &str, task: bool, range: (i64, i64)) {
    let trace = world.trace;
    let is_wanted = |item: Item| matches!(item, Item::Task(_)) == task && item.name(trace) == name;
    match rank::slowest(trace, is_wanted, range) {
        Some(item) => {
            select::select(app, world, Selected::Item(item));
            app.message = Some(format!(
                "the slowest {} in view",
                crate::text::short_name(name)
            ));
        }
        None => app.message = Some("none of them has a time".to_owned()),
    }
}

/// The action that opens a list closes it too.
pub(super) fn is_toggle(app: &App, kind: Kind, key: &KeyEvent) -> bool {
    let opener = match kind {
        Kind::Stalls(_) => Action::ListStalls,
        Kind::Statistics(_) => Action::ListStatistics,
        Kind::Bookmarks => Action::ListBookmarks,
        Kind::Commands => Action::Palette,
    };
    app.config.keys.action(key) == Some(opener)
}
