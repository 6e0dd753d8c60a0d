//! Opening lists, walking through them, jumping from them.

mod table;

use ascend_trace_recording::TimeRange;

use crate::action::{PairAction, ViewRequest};
use crate::app::{App, FollowMode, Selection, ViewData};
use crate::event::{KeyCode, KeyEvent};
use crate::item::{CallOrTask, TrackKey};
use crate::job;
use crate::list::{self, JumpTarget, ListInputs, ListState, RowId};
use crate::panels::{self, KeyOutcome, PanelKind, Staleness, StallPanel, TabTarget};
use crate::ranges::RangeId;
use crate::rank;
use crate::selection::of_stall;

use super::{background_query, select, walk};

pub(super) use table::{paste, sort_at};

/// Opens a list, or closes it when it is the one on screen.
pub(super) fn toggle(app: &mut App, world: ViewData<'_>, kind: PanelKind) {
    let same = |list: &ListState| list.kind.is_same_panel(&kind);
    if app.panels.list.as_ref().is_some_and(same) {
        return leave(app);
    }
    open(app, world, kind);
}

/// Opens a list.
pub(crate) fn show(app: &mut App, world: ViewData<'_>, kind: PanelKind) {
    open(app, world, kind);
}

fn open(app: &mut App, world: ViewData<'_>, kind: PanelKind) {
    let panel = kind.panel();
    // For a long recording, the list begins with the loaded part, until everything has been read.
    panel.query(app, world);
    panel.begin(app, world);
    let content = panel.content(app, world, "");
    if content.entries.is_empty()
        && app.jobs.of(job::JobKind::Query).is_none()
        && let Some(text) = panel.empty_text(app, world)
    {
        app.panels.list = None;
        app.message = Some(text);
        return;
    }
    let origin = match app.panels.list.take() {
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
    app.panels.list = Some(list);
    app.panels.flame = None;
    select::reveal_lane(app);
    preview(app, world);
}

pub(super) fn basis(app: &App) -> ListInputs {
    ListInputs {
        range: app.camera.viewport.range(),
        second: app.clock.as_secs(),
        content: list::RecordingContents {
            counts: app.document.counts,
            pending: app.document.tracks.pending(),
            is_over: !app.is_running(),
        },
    }
}

/// Makes the entries again when their inputs have changed.
pub(super) fn refresh(app: &mut App, world: ViewData<'_>) {
    let now = basis(app);
    let Some(list) = &app.panels.list else { return };
    let is_later = now.second != list.basis.second;
    let grown = now.content != list.basis.content && is_later;
    let is_moved = now.range != list.basis.range;
    let panel = list.kind;
    let is_old = match panel.panel().staleness() {
        Staleness::Never => false,
        Staleness::OtherPart => app.panels.stale,
        Staleness::Growth => app.panels.stale || grown,
        // A followed range changes with each poll.
        Staleness::Range => {
            (is_moved && (app.camera.follow == FollowMode::Off || is_later)) || grown
        }
    };
    app.panels.stale = false;
    if is_old && is_moved && panel.panel().staleness() == Staleness::Range {
        panel.panel().query(app, world);
    }
    if is_old {
        remake(app, world);
    }
}

/// Makes the rows of the panel on screen again.
pub(crate) fn remake(app: &mut App, world: ViewData<'_>) {
    let Some((kind, filter)) = app
        .panels
        .list
        .as_ref()
        .map(|it| (it.kind, it.filter.clone()))
    else {
        return;
    };
    let content = kind.panel().content(app, world, &filter);
    let now = basis(app);
    if let Some(list) = &mut app.panels.list {
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
    let kind = app.panels.list.as_ref()?.kind;
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
        _ => return on_key_of_panel(app, world, kind, key),
    }
    Some(Vec::new())
}

/// Handles a key of the panel alone, or else one that every panel has after its own.
fn on_key_of_panel(
    app: &mut App,
    world: ViewData<'_>,
    kind: PanelKind,
    key: &KeyEvent,
) -> Option<Vec<ViewRequest>> {
    match kind.panel().on_key(app, world, key) {
        KeyOutcome::Unknown => {}
        KeyOutcome::Handled => return Some(Vec::new()),
        KeyOutcome::Request(request) => return Some(vec![ViewRequest::Source(request)]),
    }
    match key.code {
        KeyCode::Tab | KeyCode::BackTab => turn(app, world, kind, key.code == KeyCode::Tab),
        KeyCode::Char('j') => step(app, world, 1),
        KeyCode::Char('k') => step(app, world, -1),
        KeyCode::Char('q') => back_out(app, world),
        _ if table::on_key(app, key) => preview(app, world),
        _ => return None,
    }
    Some(Vec::new())
}

/// Goes on to the next table, or the one before.
fn turn(app: &mut App, world: ViewData<'_>, kind: PanelKind, forward: bool) {
    match kind.panel().on_tab(forward) {
        TabTarget::Nothing => {}
        TabTarget::Open(kind) => open(app, world, kind),
        TabTarget::Turn(kind) => turn_to(app, world, kind),
    }
}

/// Another table; also an empty one, so that one gets past it.
fn turn_to(app: &mut App, world: ViewData<'_>, kind: PanelKind) {
    let content = kind.panel().content(app, world, "");
    if let Some(list) = &mut app.panels.list {
        list.kind = kind;
        list.columns = content.columns;
        list.entries = content.entries;
        list.note = content.note;
        list.sort = None;
        list.filter.clear();
        list.cursor = 0;
        list.arrange_around(None);
    }
}

pub(crate) fn step(app: &mut App, world: ViewData<'_>, lines: isize) {
    if let Some(list) = &mut app.panels.list {
        list.step(lines);
    }
    preview(app, world);
}

/// Puts the cursor on an entry, as a click does.
pub(super) fn choose(app: &mut App, world: ViewData<'_>, entry: usize) {
    if let Some(list) = &mut app.panels.list {
        list.cursor = entry.min(list.len().saturating_sub(1));
    }
    preview(app, world);
}

/// Shows the stall that the cursor is on.
fn preview(app: &mut App, world: ViewData<'_>) {
    let target = app.panels.list.as_ref().and_then(ListState::current);
    match target.map(|entry| entry.target.clone()) {
        Some(JumpTarget::Stall(stall)) => select::select(app, world, of_stall(stall)),
        Some(JumpTarget::Found(stall)) => background_query::show(app, world, &stall.found()),
        _ => {}
    }
}

/// Shows tables of a range that was not loaded.
pub(super) fn show_statistics(app: &mut App, world: ViewData<'_>) {
    let kind = app.panels.list.as_ref().map(|list| list.kind);
    if matches!(kind, Some(PanelKind::Statistics(_))) {
        remake(app, world);
    }
}

/// Shows the longest stalls of all of the recording, in the place of those that were loaded.
pub(super) fn show_longest(app: &mut App, world: ViewData<'_>) {
    let is_first = app
        .panels
        .list
        .as_ref()
        .is_some_and(|list| list.cursor == 0);
    remake(app, world);
    if let Some(list) = app.panels.list.as_mut().filter(|_| is_first) {
        list.cursor = 0;
    }
    preview(app, world);
}

/// Closes the list and stays.
pub(super) fn leave(app: &mut App) {
    if let Some(list) = app.panels.list.take() {
        list.kind.panel().on_close(app);
    }
    select::reveal_lane(app);
}

/// Closes the list and goes back to where it was opened.
fn back_out(app: &mut App, world: ViewData<'_>) {
    let Some(list) = app.panels.list.take() else {
        return;
    };
    list.kind.panel().on_close(app);
    list.kind.panel().on_escape(app, world, list.origin);
    select::reveal_lane(app);
}

/// Opens a panel with the cursor on a row.
pub(crate) fn reopen_on(app: &mut App, world: ViewData<'_>, kind: PanelKind, row: &RowId) {
    open(app, world, kind);
    if let Some(list) = &mut app.panels.list {
        list.arrange_around(Some(row));
    }
}

/// Makes the list of stalls again, with other conditions.
pub(super) fn want_others(app: &mut App, world: ViewData<'_>) {
    let kind = app.panels.list.as_ref().map(|list| list.kind);
    if let Some(kind) = kind.filter(|kind| kind.panel().has_stalls()) {
        kind.panel().query(app, world);
        remake(app, world);
        preview(app, world);
    }
}

/// Shows another critical path in the place of the one before.
pub(super) fn show_critical(app: &mut App, world: ViewData<'_>) {
    let kind = app.panels.list.as_ref().map(|list| list.kind);
    if matches!(kind, Some(PanelKind::Critical(_))) {
        remake(app, world);
    }
}

/// Goes where the entry leads.
fn follow(app: &mut App, world: ViewData<'_>) -> Vec<ViewRequest> {
    let range = app.camera.viewport.range();
    let Some(list) = app.panels.list.take() else {
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
            app.panels.list = Some(list);
            open(app, world, PanelKind::Stalls(StallPanel::Cause(cause)));
            return Vec::new();
        }
        Some(JumpTarget::Fill(text)) => {
            app.panels.list = Some(list);
            panels::fill(app, world, text);
            return Vec::new();
        }
        Some(JumpTarget::Verb(verb, text)) => panels::perform(app, world, verb, &text),
        Some(JumpTarget::Range(name)) => to_range(app, world, &name),
        Some(JumpTarget::Blame(id)) => {
            app.panels.list = Some(list);
            open(app, world, PanelKind::Stalls(StallPanel::Blame(id)));
            return Vec::new();
        }
        Some(JumpTarget::Stall(_) | JumpTarget::Found(_)) => walk::remember_place(app, origin),
        Some(JumpTarget::Call(found)) => {
            walk::remember(app);
            background_query::show(app, world, &found);
        }
        Some(JumpTarget::Step(thread, span, name)) => {
            walk::remember(app);
            let found = panels::found_step((app, world.trace), thread, span, &name);
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
        Some(JumpTarget::Stream(id)) => to_lane(app, world, TrackKey::of_stream(world.trace, id)),
        Some(JumpTarget::Thread(id)) => to_lane(app, world, TrackKey::Thread(id, 0)),
        Some(JumpTarget::Bookmark(index)) => {
            walk::remember(app);
            panels::go_to_bookmark(app, index);
        }
        Some(JumpTarget::Nowhere) => {}
        None => {
            if let Some(text) = list.kind.panel().no_row_text(&list.filter) {
                app.message = Some(text);
            }
        }
    }
    select::reveal_lane(app);
    Vec::new()
}

fn to_lane(app: &mut App, world: ViewData<'_>, key: TrackKey) {
    walk::remember(app);
    app.reveal_track(world, key);
    app.camera.lane = Some(key);
}

/// Selects the longest range of a name.
fn to_range(app: &mut App, world: ViewData<'_>, name: &str) {
    let trace = world.trace;
    let own = (0..).map(RangeId).zip(trace.ranges());
    let own = own.filter(|(_, range)| range.name == name);
    let longest = own.max_by_key(|(_, range)| range.end.saturating_sub(range.begin));
    let found = longest.and_then(|(id, _)| Some((id, app.document.ranges.level(trace, id)?)));
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
    let is_wanted =
        |item: CallOrTask| matches!(item, CallOrTask::Task(_)) == task && item.name(trace) == name;
    match rank::slowest(trace, is_wanted, range) {
        Some(item) => {
            select::select(app, world, Selection::Item(item));
            app.message = Some(format!("the slowest {name} in view"));
        }
        None => app.message = Some("no match has a time".to_owned()),
    }
}
