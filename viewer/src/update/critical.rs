//! The critical path of the range on screen, which follows the window.

use crate::app::{App, FollowMode, Selection, ViewData};
use crate::background_query::{CriticalPathQuery, QueryKind, QueryPosition};
use crate::critical::{CriticalPath, PathRequest};
use crate::job::JobKind;
use crate::panels::{PanelKind, PathListing};

use ascend_trace_recording::TimeRange;

use super::{background_query, lists};

/// Shows the path with its list, or puts both away.
pub(super) fn toggle(app: &mut App, world: ViewData<'_>) {
    if app.document.span.is_none() {
        app.message = Some("nothing has been recorded yet".to_owned());
        return;
    }
    let is_listed = matches!(
        app.panels.list.as_ref().map(|it| it.kind),
        Some(PanelKind::Critical(_))
    );
    if app.panels.path.is_some() && is_listed {
        return lists::leave(app);
    }
    app.panels.path.get_or_insert_with(CriticalPath::default);
    refresh(app, world);
    lists::show(app, world, PanelKind::Critical(PathListing::Pieces));
}

/// Shows no path any more.
pub(crate) fn put_away(app: &mut App) {
    let Some(path) = app.panels.path.take() else {
        return;
    };
    if is_running(app, &path) {
        app.jobs.cancel(JobKind::Query);
    }
}

/// Waits no longer for the path of this range.
pub(super) fn cancel(app: &mut App, number: u64) {
    if let Some(path) = &mut app.panels.path
        && let Some(asked) = path.asked.filter(|it| it.number == number)
    {
        path.given_up = Some(asked.range);
    }
}

fn is_running(app: &App, path: &CriticalPath) -> bool {
    let running = app.jobs.of(JobKind::Query).map(|it| it.number);
    running.is_some() && running == path.asked.map(|it| it.number)
}

/// Requests the path of the range on screen, if the known one is of another range.
pub(super) fn refresh(app: &mut App, world: ViewData<'_>) {
    let Some(mut path) = app.panels.path.take() else {
        return;
    };
    pin(app, world, &mut path);
    if let Some(range) = wanted(app, &path)
        && is_due(app, &path, range)
    {
        path.given_up = None;
        start_query(app, &mut path, range);
    }
    app.panels.path = Some(path);
}

/// Keeps the selected range in mind, until nothing or another range is selected.
fn pin(app: &App, world: ViewData<'_>, path: &mut CriticalPath) {
    match app.camera.selected {
        Some(Selection::Range(id, _)) => path.pinned = Some(id.span(world.trace)),
        None if app.camera.away.is_none() => path.pinned = None,
        _ => {}
    }
}

/// The range of the path to show.
fn wanted(app: &App, path: &CriticalPath) -> Option<TimeRange> {
    let range = path.pinned.unwrap_or_else(|| app.camera.viewport.range());
    let range = range.intersection(app.document.span?);
    (!range.is_empty()).then_some(range)
}

fn is_due(app: &App, path: &CriticalPath, range: TimeRange) -> bool {
    let known = path.known.as_ref().map(|it| (it.range, path.counts));
    if known == Some((range, app.document.counts)) || path.given_up == Some(range) {
        return false;
    }
    let is_moved = path.asked.is_none_or(|it| it.range != range);
    match app.jobs.of(JobKind::Query) {
        // A view that follows the newest timestamp has another range before that is done.
        Some(_) if is_running(app, path) => is_moved && app.camera.follow == FollowMode::Off,
        // Searches of the user have priority.
        Some(_) => false,
        None if app.is_running() => {
            let second = path.asked.map(|it| it.second);
            second != Some(app.clock.as_secs()) || is_moved && app.camera.follow == FollowMode::Off
        }
        None => true,
    }
}

fn start_query(app: &mut App, path: &mut CriticalPath, range: TimeRange) {
    let query = CriticalPathQuery { range, path: None };
    let course = QueryPosition::new(true, i64::MIN, false);
    let what = "the critical path".to_owned();
    let number = background_query::start(app, what, QueryKind::Critical(Box::new(query)), course);
    path.asked = Some(PathRequest {
        number,
        range,
        counts: app.document.counts,
        second: app.clock.as_secs(),
    });
}

/// Takes in the path that was looked for.
pub(super) fn done(app: &mut App, world: ViewData<'_>, query: CriticalPathQuery) {
    let Some(path) = &mut app.panels.path else {
        return;
    };
    let asked = path.asked.filter(|it| it.range == query.range);
    match (query.path, asked) {
        (Some(found), Some(asked)) => {
            path.known = Some(found);
            path.counts = asked.counts;
        }
        _ => path.given_up = Some(query.range),
    }
    lists::show_critical(app, world);
}
