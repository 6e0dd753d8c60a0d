//! Opening lists, walking through them, jumping from them.

mod blames;
mod bookmarks;
mod changes;
mod commands;
mod critical;
mod findings;
mod stalls;
mod statistics;
mod steps;
mod table;

use ascend_trace_recording::TimeRange;

use crate::action::{Action, PairAction, ViewRequest};
use crate::app::{App, FollowMode, Selection, ViewData};
use crate::event::{KeyCode, KeyEvent};
use crate::item::{Item, TrackKey};
use crate::job;
use crate::list::{
    self, JumpTarget, ListColumn, ListEntry, ListInputs, ListKind, ListState, PathListing, RowId,
    StallFilter, StatsPage,
};
use crate::ranges::RangeId;
use crate::rank;
use crate::selection::of_stall;

use super::critical as path;
use super::{background_query, select, walk};

pub(super) use table::{paste, sort_at};

/// Content of a list.
struct ListContent {
    columns: &'static [ListColumn],
    entries: Vec<ListEntry>,
    note: String,
}

/// Opens a list, or closes it when it is the one on screen.
pub(super) fn toggle(app: &mut App, world: ViewData<'_>, kind: ListKind) {
    let same =
        |list: &ListState| std::mem::discriminant(&list.kind) == std::mem::discriminant(&kind);
    if app.list.as_ref().is_some_and(same) {
        return leave(app);
    }
    open(app, world, kind);
}

/// Opens a list.
pub(super) fn show(app: &mut App, world: ViewData<'_>, kind: ListKind) {
    open(app, world, kind);
}

fn open(app: &mut App, world: ViewData<'_>, kind: ListKind) {
    // For a long recording, the list begins with the loaded part, until everything has been read.
    ask_for_all(app, world, kind);
    if kind == ListKind::Commands {
        commands::begin(app, world);
    }
    if let ListKind::Statistics(_) = kind {
        background_query::statistics(app, world);
    }
    let content = content(app, world, kind, "");
    if content.entries.is_empty()
        && !matches!(kind, ListKind::Commands | ListKind::Critical(_))
        && app.jobs.of(job::JobKind::Query).is_none()
    {
        app.list = None;
        app.message = Some(match kind {
            ListKind::Stalls(_) | ListKind::Blames => {
                let nothing = format!("there is no stall{}", blames::least(app.least));
                select::nothing_more(app, world, &nothing)
            }
            ListKind::Findings => select::nothing_more(app, world, "the checks found nothing"),
            ListKind::Bookmarks => "there is no bookmark yet: b makes one".to_owned(),
            _ => select::nothing_more(app, world, "there is nothing to sum up"),
        });
        return;
    }
    let origin = match app.list.take() {
        Some(list) => list.origin,
        None => app.place(),
    };
    let mut list = ListState {
        kind,
        columns: content.columns,
        entries: content.entries,
        shown: Vec::new(),
        cursor: 0,
        sort: None,
        filter: String::new(),
        typing: false,
        note: content.note,
        basis: basis(app),
        origin,
    };
    list.arrange();
    app.list = Some(list);
    app.flame = None;
    select::reveal_lane(app);
    preview(app, world);
}

/// Requests the part of a long recording that is not loaded.
fn ask_for_all(app: &mut App, world: ViewData<'_>, kind: ListKind) {
    match kind {
        _ if world.overview.is_whole() => {}
        ListKind::Stalls(which) => background_query::longest(app, which),
        ListKind::Blames => background_query::blames(app),
        ListKind::Findings => background_query::findings(app),
        _ => {}
    }
}

fn content(app: &mut App, world: ViewData<'_>, kind: ListKind, filter: &str) -> ListContent {
    match kind {
        ListKind::Stalls(which) => stalls::content(app, world, which),
        ListKind::Blames => blames::content(app, world),
        ListKind::Findings => findings::content(app, world),
        ListKind::Critical(ways) => critical::content(app, world, ways),
        ListKind::Changes => changes::content(app),
        ListKind::Statistics(page) => statistics::content(app, world, page),
        ListKind::Bookmarks => bookmarks::content(app),
        ListKind::Commands => commands::content(app, filter),
    }
}

pub(super) fn basis(app: &App) -> ListInputs {
    ListInputs {
        range: app.viewport.range(),
        second: app.clock.as_secs(),
        content: list::RecordingContents {
            counts: app.counts,
            pending: app.tracks.pending(),
            is_over: !app.is_running(),
        },
    }
}

/// Makes the entries again when their inputs have changed.
pub(super) fn refresh(app: &mut App, world: ViewData<'_>) {
    let now = basis(app);
    let Some(list) = &app.list else { return };
    let is_later = now.second != list.basis.second;
    let grown = now.content != list.basis.content && is_later;
    let is_old = match list.kind {
        ListKind::Statistics(_) => {
            // A followed range changes with each poll.
            let is_moved =
                now.range != list.basis.range && (app.follow == FollowMode::Off || is_later);
            is_moved || grown
        }
        ListKind::Stalls(_) | ListKind::Blames | ListKind::Findings => app.stale || grown,
        ListKind::Critical(_) => app.stale,
        ListKind::Bookmarks | ListKind::Commands | ListKind::Changes => false,
    };
    app.stale = false;
    let is_moved = now.range != list.basis.range;
    if is_old && is_moved && matches!(list.kind, ListKind::Statistics(_)) {
        background_query::statistics(app, world);
    }
    if is_old {
        remake(app, world);
    }
}

fn remake(app: &mut App, world: ViewData<'_>) {
    let Some((kind, filter)) = app.list.as_ref().map(|it| (it.kind, it.filter.clone())) else {
        return;
    };
    let content = content(app, world, kind, &filter);
    let now = basis(app);
    if let Some(list) = &mut app.list {
        let current = list.current().map(|entry| entry.id.clone());
        list.columns = content.columns;
        list.entries = content.entries;
        list.note = content.note;
        list.basis = now;
        list.arrange_around(current.as_ref());
    }
}

/// Handles a key in the list. `None`: the key has its usual meaning.
pub(super) fn on_key(
    app: &mut App,
    world: ViewData<'_>,
    key: &KeyEvent,
) -> Option<Vec<ViewRequest>> {
    let kind = app.list.as_ref()?.kind;
    if table::on_typed(app, world, key) {
        return Some(Vec::new());
    }
    let page = isize::try_from(app.layout().detail.height.saturating_sub(2)).unwrap_or(1);
    match key.code {
        KeyCode::Esc if table::clear(app) => {}
        KeyCode::Esc => back_out(app, world),
        KeyCode::Enter => return Some(follow(app, world)),
        KeyCode::Down => step(app, world, 1),
        KeyCode::Up => step(app, world, -1),
        KeyCode::PageDown => step(app, world, page),
        KeyCode::PageUp => step(app, world, -page),
        KeyCode::Home => step(app, world, isize::MIN),
        KeyCode::End => step(app, world, isize::MAX),
        _ if kind == ListKind::Commands => commands::on_key(app, world, key),
        KeyCode::Tab | KeyCode::BackTab => turn(app, world, kind, key.code == KeyCode::Tab),
        KeyCode::Delete if kind == ListKind::Bookmarks => bookmarks::forget(app, world),
        KeyCode::Char('j') => step(app, world, 1),
        KeyCode::Char('k') => step(app, world, -1),
        KeyCode::Char('q') => back_out(app, world),
        _ if table::on_key(app, key) => preview(app, world),
        _ => return None,
    }
    Some(Vec::new())
}

/// Goes on to the next table, or the one before.
fn turn(app: &mut App, world: ViewData<'_>, kind: ListKind, forward: bool) {
    match kind {
        ListKind::Statistics(page) if forward => turn_to(app, world, page.next()),
        ListKind::Statistics(page) => turn_to(app, world, page.previous()),
        ListKind::Stalls(_) => open(app, world, ListKind::Blames),
        ListKind::Blames => open(app, world, ListKind::Stalls(StallFilter::All)),
        ListKind::Critical(PathListing::Pieces) => {
            open(app, world, ListKind::Critical(PathListing::Names))
        }
        ListKind::Critical(PathListing::Names) => {
            open(app, world, ListKind::Critical(PathListing::Pieces))
        }
        ListKind::Findings | ListKind::Bookmarks | ListKind::Commands | ListKind::Changes => {}
    }
}

/// Another table; also an empty one, so that one gets past it.
fn turn_to(app: &mut App, world: ViewData<'_>, page: StatsPage) {
    let content = content(app, world, ListKind::Statistics(page), "");
    if let Some(list) = &mut app.list {
        list.kind = ListKind::Statistics(page);
        list.columns = content.columns;
        list.entries = content.entries;
        list.note = content.note;
        list.sort = None;
        list.filter.clear();
        list.cursor = 0;
        list.arrange_around(None);
    }
}

pub(super) fn step(app: &mut App, world: ViewData<'_>, lines: isize) {
    if let Some(list) = &mut app.list {
        list.step(lines);
    }
    preview(app, world);
}

/// Puts the cursor on an entry, as a click does.
pub(super) fn choose(app: &mut App, world: ViewData<'_>, entry: usize) {
    if let Some(list) = &mut app.list {
        list.cursor = entry.min(list.len().saturating_sub(1));
    }
    preview(app, world);
}

/// Shows the stall that the cursor is on.
fn preview(app: &mut App, world: ViewData<'_>) {
    let target = app.list.as_ref().and_then(ListState::current);
    match target.map(|entry| entry.target.clone()) {
        Some(JumpTarget::Stall(stall)) => select::select(app, world, of_stall(stall)),
        Some(JumpTarget::Found(stall)) => background_query::show(app, world, &stall.found()),
        _ => {}
    }
}

/// Shows tables of a range that was not loaded.
pub(super) fn show_statistics(app: &mut App, world: ViewData<'_>) {
    let kind = app.list.as_ref().map(|list| list.kind);
    if matches!(kind, Some(ListKind::Statistics(_))) {
        remake(app, world);
    }
}

/// Shows the longest stalls of all of the recording, in the place of those that were loaded.
pub(super) fn show_longest(app: &mut App, world: ViewData<'_>) {
    let is_first = app.list.as_ref().is_some_and(|list| list.cursor == 0);
    remake(app, world);
    if let Some(list) = app.list.as_mut().filter(|_| is_first) {
        list.cursor = 0;
    }
    preview(app, world);
}

/// Closes the list and stays.
pub(super) fn leave(app: &mut App) {
    let list = app.list.take();
    if matches!(list.map(|it| it.kind), Some(ListKind::Critical(_))) {
        path::put_away(app);
    }
    select::reveal_lane(app);
}

/// Closes the list and goes back to where it was opened: from the stalls of a group to the groups.
fn back_out(app: &mut App, world: ViewData<'_>) {
    let Some(list) = app.list.take() else { return };
    if let ListKind::Critical(_) = list.kind {
        path::put_away(app);
    }
    let ListKind::Stalls(which) = list.kind else {
        return select::reveal_lane(app);
    };
    app.restore(list.origin);
    if let StallFilter::Blame(id) = which {
        open(app, world, ListKind::Blames);
        if let Some(list) = &mut app.list {
            list.arrange_around(Some(&RowId::Blame(id)));
        }
    }
    select::reveal_lane(app);
}

/// Makes the list of stalls again, with other conditions.
pub(super) fn want_others(app: &mut App, world: ViewData<'_>) {
    let kind = app.list.as_ref().map(|list| list.kind);
    if let Some(kind @ (ListKind::Stalls(_) | ListKind::Blames)) = kind {
        ask_for_all(app, world, kind);
        remake(app, world);
        preview(app, world);
    }
}

/// Replaces the sums of the loaded part by the sums of the whole recording.
pub(super) fn show_blames(app: &mut App, world: ViewData<'_>) {
    match app.list.as_ref().map(|list| list.kind) {
        Some(ListKind::Blames) => remake(app, world),
        _ => app.message = Some("the culprits of stalls are known: I lists them".to_owned()),
    }
}

/// Shows another critical path in the place of the one before.
pub(super) fn show_critical(app: &mut App, world: ViewData<'_>) {
    let kind = app.list.as_ref().map(|list| list.kind);
    if matches!(kind, Some(ListKind::Critical(_))) {
        remake(app, world);
    }
}

/// Replaces the findings of the loaded part by those of the whole recording.
pub(super) fn show_findings(app: &mut App, world: ViewData<'_>) {
    let is_open = app.list.as_ref().map(|list| list.kind) == Some(ListKind::Findings);
    match background_query::known_findings(app).map_or(0, <[_]>::len) {
        _ if is_open => remake(app, world),
        0 => app.message = Some("the checks found nothing in all of the recording".to_owned()),
        _ => open(app, world, ListKind::Findings),
    }
}

/// Goes where the entry leads.
fn follow(app: &mut App, world: ViewData<'_>) -> Vec<ViewRequest> {
    let range = app.viewport.range();
    let Some(list) = app.list.take() else {
        return Vec::new();
    };
    let target = list.current().map(|entry| entry.target.clone());
    let origin = list.origin;
    match target {
        Some(JumpTarget::Action(action)) => return super::perform(app, world, action),
        Some(JumpTarget::Change(place)) => {
            return vec![ViewRequest::Pair(PairAction::ToChange(place))];
        }
        Some(JumpTarget::Cause(cause)) => {
            app.list = Some(list);
            open(app, world, ListKind::Stalls(StallFilter::Cause(cause)));
            return Vec::new();
        }
        Some(JumpTarget::Fill(text)) => {
            app.list = Some(list);
            commands::fill(app, world, text);
            return Vec::new();
        }
        Some(JumpTarget::Verb(verb, text)) => commands::perform(app, world, verb, &text),
        Some(JumpTarget::Range(name)) => to_range(app, world, &name),
        Some(JumpTarget::Blame(id)) => {
            app.list = Some(list);
            open(app, world, ListKind::Stalls(StallFilter::Blame(id)));
            return Vec::new();
        }
        Some(JumpTarget::Stall(_) | JumpTarget::Found(_)) => walk::remember_place(app, origin),
        Some(JumpTarget::Call(found)) => {
            walk::remember(app);
            background_query::show(app, world, &found);
        }
        Some(JumpTarget::Step(thread, span, name)) => {
            walk::remember(app);
            let found = steps::found((app, world.trace), thread, span, &name);
            background_query::show(app, world, &found);
        }
        Some(JumpTarget::Slowest { name, task }) => {
            if !world.overview.is_loaded(range) {
                background_query::slowest(app, &name, task, range);
            } else {
                walk::remember(app);
                to_slowest(app, world, &name, task, range);
            }
        }
        Some(JumpTarget::Stream(id)) => to_lane(app, world, TrackKey::Stream(id)),
        Some(JumpTarget::Thread(id)) => to_lane(app, world, TrackKey::Thread(id, 0)),
        Some(JumpTarget::Bookmark(index)) => {
            walk::remember(app);
            bookmarks::go(app, index);
        }
        None if list.kind == ListKind::Commands => {
            app.message = Some(commands::unknown(&list.filter))
        }
        Some(JumpTarget::Nowhere) | None => {}
    }
    select::reveal_lane(app);
    Vec::new()
}

fn to_lane(app: &mut App, world: ViewData<'_>, key: TrackKey) {
    walk::remember(app);
    app.reveal_track(world, key);
    app.lane = Some(key);
}

/// Selects the longest range of a name.
fn to_range(app: &mut App, world: ViewData<'_>, name: &str) {
    let trace = world.trace;
    let own = (0..).map(RangeId).zip(trace.ranges());
    let own = own.filter(|(_, range)| range.name == name);
    let longest = own.max_by_key(|(_, range)| range.end.saturating_sub(range.begin));
    let found = longest.and_then(|(id, _)| Some((id, app.ranges.level(trace, id)?)));
    match found {
        Some((id, level)) => {
            walk::remember(app);
            select::select(app, world, Selection::Range(id, level));
            app.message = Some(format!("the longest {}", crate::text::fit(name, 40)));
        }
        None => app.message = Some("it is not loaded now".to_owned()),
    }
}

fn to_slowest(app: &mut App, world: ViewData<'_>, name: &str, task: bool, range: TimeRange) {
    let trace = world.trace;
    let is_wanted = |item: Item| matches!(item, Item::Task(_)) == task && item.name(trace) == name;
    match rank::slowest(trace, is_wanted, range) {
        Some(item) => {
            select::select(app, world, Selection::Item(item));
            app.message = Some(format!("the slowest {name} in view"));
        }
        None => app.message = Some("no match has a time".to_owned()),
    }
}

/// The action that opens a list closes it too.
pub(super) fn is_toggle(app: &App, kind: ListKind, key: &KeyEvent) -> bool {
    let opener = match kind {
        ListKind::Stalls(_) => Action::ListStalls,
        ListKind::Blames => Action::ListBlames,
        ListKind::Findings => Action::ListFindings,
        ListKind::Critical(_) => Action::CriticalPath,
        ListKind::Changes => Action::ListChanges,
        ListKind::Statistics(_) => Action::ListStatistics,
        ListKind::Bookmarks => Action::ListBookmarks,
        ListKind::Commands => Action::Palette,
    };
    app.config.keys.action(key) == Some(opener)
}
