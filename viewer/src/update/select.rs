//! Choosing items, lanes, stalls and matches.

use ascend_trace_analysis::Stall;
use ascend_trace_recording::TimeRange;

use crate::app::{App, Selection, ViewData};
use crate::item::TrackKey;
use crate::lanes::ViewRow;
use crate::overview::RecordingOverview;
use crate::search::{Search, SearchMatch};
use crate::selection::of_stall;
use crate::stable_id::StableId;
use crate::text;

use super::{background_query, lane_neighbours, navigate, walk};

/// The question for what failed.
const FAILED: &str = "!";

/// Selects, and moves the view as little as is needed to show it.
pub(super) fn select(app: &mut App, world: ViewData<'_>, selected: Selection) {
    app.camera.selected = Some(selected);
    app.camera.away = None;
    // What two lanes show is looked at in the one that the cursor is on.
    let here = app
        .camera
        .lane
        .filter(|lane| selected.is_on(world.trace, *lane));
    let lane = here.unwrap_or_else(|| selected.track(world.trace));
    app.reveal_track(world, lane);
    app.camera.lane = Some(lane);
    app.camera.group = None;
    app.camera.walk = None;
    navigate::reveal(app, selected.span(world.trace));
    reveal_lane(app);
}

/// The timestamp of the selection, or of the view without a selection.
fn moment(app: &App, world: ViewData<'_>) -> i64 {
    let span = app.camera.selected.map(|it| it.span(world.trace));
    match span {
        Some(span) => span.middle(),
        None => app.camera.viewport.middle(),
    }
}

/// Selects the item before or after in the lane.
pub(super) fn neighbour(app: &mut App, world: ViewData<'_>, forward: bool) {
    let Some(lane) = app.camera.lane else { return };
    if lane.is_meter() {
        app.message =
            Some("nothing can be selected here: the details describe this lane".to_owned());
        return;
    }
    let trace = world.trace;
    let here = app.camera.selected.filter(|it| it.is_on(trace, lane));
    let found = match here {
        Some(selected) => lane_neighbours::neighbour(app, trace, lane, selected, forward),
        None => lane_neighbours::nearest(app, trace, lane, moment(app, world)),
    };
    match found {
        Some(selected) => select(app, world, selected),
        None => {
            app.message = Some(nothing_more(
                app,
                world,
                "there is nothing more in this lane",
            ))
        }
    }
}

/// What to say when there is nothing more, and where that is so.
pub(crate) fn nothing_more(app: &App, world: ViewData<'_>, nothing: &str) -> String {
    let range = app.camera.viewport.range();
    match world.overview {
        overview if overview.is_whole() => nothing.to_owned(),
        overview if overview.is_loaded(range) => {
            format!("{nothing} near here: move on to look further")
        }
        _ => "too much is on screen to show single calls: zoom in (w)".to_owned(),
    }
}

/// Goes to the lane above or below; a selection comes along to the nearest item there.
pub(super) fn lane(app: &mut App, world: ViewData<'_>, down: bool) {
    let stops = |row: &&ViewRow| row.track().is_some() || row.folded().is_some();
    let rows: Vec<ViewRow> = app.camera.rows.iter().filter(stops).copied().collect();
    let here = rows.iter().position(|row| is_current(app, *row));
    let next = match (here, down) {
        (Some(index), true) => index + 1,
        (Some(index), false) => index.wrapping_sub(1),
        (None, _) => 0,
    };
    let Some(&row) = rows.get(next) else {
        return;
    };
    let ViewRow::Track(key) = row else {
        app.camera.group = row.folded();
        return reveal_lane(app);
    };
    let time = moment(app, world);
    app.camera.lane = Some(key);
    app.camera.group = None;
    reveal_lane(app);
    if app.camera.selected.is_some()
        && let Some(selected) = lane_neighbours::nearest(app, world.trace, key, time)
    {
        select(app, world, selected);
    }
}

/// Whether the cursor is on a row.
pub(crate) fn is_current(app: &App, row: ViewRow) -> bool {
    match row {
        ViewRow::Track(key) => app.camera.group.is_none() && app.camera.lane == Some(key),
        ViewRow::Folded(group) => app.camera.group == Some(group),
        _ => false,
    }
}

/// Scrolls the lanes by rows, leaving the last ones on screen.
pub(super) fn scroll(app: &mut App, rows: i32) {
    let most = last_scroll(app);
    app.camera.scroll = app
        .camera
        .scroll
        .saturating_add_signed(rows as isize)
        .min(most);
}

/// The furthest scroll that still fills the screen.
fn last_scroll(app: &App) -> usize {
    let layout = app.layout();
    let heights = layout.heights(&app.camera.rows);
    let pinned = layout.pinned.min(app.camera.rows.len());
    let lines = |index: usize| heights.of(&app.camera.rows, index);
    let mut used: u16 = (0..pinned).map(lines).sum();
    let fitting = (pinned..app.camera.rows.len()).rev().take_while(|index| {
        used = used.saturating_add(lines(*index));
        used <= layout.lanes.height
    });
    app.camera.rows.len() - pinned - fitting.count()
}

/// Scrolls just far enough to show the current lane.
pub(super) fn reveal_lane(app: &mut App) {
    app.camera.scroll = app.camera.scroll.min(last_scroll(app));
    let pinned = app.layout().pinned;
    let current = app.camera.rows.iter().position(|row| is_current(app, *row));
    let Some(place) = current.filter(|index| *index >= pinned) else {
        return;
    };
    // Rows are scrolled by their places among those that are not pinned.
    let index = place - pinned;
    if index < app.camera.scroll {
        // The header above belongs to the lane.
        let header = index
            .checked_sub(1)
            .filter(|it| app.camera.rows[pinned + *it].track().is_none());
        app.camera.scroll = header.unwrap_or(index);
    }
    let layout = app.layout();
    let is_visible = |scroll: usize| {
        layout
            .visible(&app.camera.rows, scroll)
            .any(|it| it.0 == place)
    };
    while app.camera.scroll < index && !is_visible(app.camera.scroll) {
        app.camera.scroll += 1;
    }
}

/// Selects the next or previous stall on any lane, in the order in which they begin.
pub(super) fn next_stall(app: &mut App, world: ViewData<'_>, forward: bool) {
    let trace = world.trace;
    let lanes = app.document.tracks.originals().filter_map(|key| {
        let is_nested = matches!(key, TrackKey::Thread(_, depth) if depth > 0);
        let is_wanted = !is_nested && app.camera.arrangement.wants(trace, key);
        key.lane().filter(|_| is_wanted)
    });
    let key = |stall: &Stall| (stall.begin, Some(stall.lane));
    let from = match (app.selected_stall(trace), app.camera.selected) {
        (Some(stall), _) => key(&stall),
        (None, Some(selected)) => (selected.span(trace).begin, selected.track(trace).lane()),
        (None, None) => match app.camera.away {
            // One that is too long to be loaded is passed like any other.
            Some(StableId::Stall { lane, begin, .. }) => (begin, Some(lane)),
            _ => (start(app, forward), None),
        },
    };
    let found = lanes.filter_map(|lane| {
        let stalls = app.document.stalls.lane(lane);
        let is_notable = |stall: &&Stall| {
            stall.is_notable()
                && stall.length() >= app.camera.least
                && !app.document.stalls.continues(stall)
        };
        match forward {
            true => {
                let first = stalls.partition_point(|it| key(it) <= from);
                stalls[first..].iter().find(is_notable)
            }
            false => {
                let end = stalls.partition_point(|it| key(it) < from);
                stalls[..end].iter().rfind(is_notable)
            }
        }
    });
    let found = match forward {
        true => found.min_by_key(|stall| key(stall)),
        false => found.max_by_key(|stall| key(stall)),
    };
    let found = found.filter(|stall| {
        is_known(world, from.0, stall.begin) && !is_open(app, world, from.0, stall.begin)
    });
    if found.is_none() && !world.overview.is_whole() {
        return background_query::next_stall(app, world.overview, from, forward);
    }
    let Some(stall) = found.copied() else {
        let least = match app.camera.least {
            0 => String::new(),
            least => format!(" ≥ {}", text::duration(least)),
        };
        let place = if forward { "after" } else { "before" };
        let nothing = format!("no stall{least} {place} this");
        app.message = Some(nothing_more(app, world, &nothing));
        return;
    };
    walk::remember(app);
    select(app, world, of_stall(stall));
}

/// Where to begin to look when nothing is selected: at what will be as soon as it is loaded, else at
/// the edge of the screen.
fn start(app: &App, forward: bool) -> i64 {
    match (app.camera.away, forward) {
        (Some(away), _) => away.begin(),
        (None, true) => app.camera.viewport.begin(),
        (None, false) => app.camera.viewport.end(),
    }
}

/// Whether everything between a timestamp and the match from there on is loaded.
fn is_known(world: ViewData<'_>, from: i64, found: i64) -> bool {
    world.overview.is_loaded(TimeRange::between(from, found))
}

/// Whether a stream may have become idle between two timestamps and have continued only after the
/// loaded part, so that this is not known to be a stall.
fn is_open(app: &App, world: ViewData<'_>, one: i64, other: i64) -> bool {
    let Some(TimeRange { end, .. }) = world.overview.loaded else {
        return false;
    };
    let trace = world.trace;
    let between = TimeRange::between(one, other);
    let goes_on = |key| {
        let rest = TimeRange::new(end, app.document.span.map_or(end, |span| span.end));
        !rest.is_empty() && world.overview.sums(key, rest).count > 0
    };
    app.document.tracks.originals().any(|key| {
        let track = app.document.tracks.get(key).filter(|_| key.is_stream());
        let last = track.and_then(|track| track.before(trace, end, None));
        let last = last.map(|item| item.span(trace).end);
        last.is_some_and(|last| between.begin < last && last < between.end) && goes_on(key)
    })
}

/// Whether a timestamp is loaded, and where the unloaded part begins after it.
fn behind(overview: &RecordingOverview, from: i64, forward: bool) -> (bool, i64) {
    match overview.loaded.filter(|it| it.contains(from)) {
        Some(loaded) if forward => (true, loaded.end.saturating_add(1)),
        Some(loaded) => (true, loaded.begin.saturating_sub(1)),
        None => (false, from),
    }
}

/// Selects the next call that failed.
pub(super) fn next_failure(app: &mut App, world: ViewData<'_>) {
    if app.document.failed == 0 {
        app.message = Some("no call has failed".to_owned());
        return;
    }
    let is_asked = app
        .camera
        .search
        .as_ref()
        .is_some_and(|it| it.text == FAILED);
    if !is_asked {
        app.camera.search = Search::new(FAILED, world.trace).ok();
    }
    next_match(app, world, true);
}

/// Selects the next or previous item that the search finds.
pub(super) fn next_match(app: &mut App, world: ViewData<'_>, forward: bool) {
    let Some(search) = &app.camera.search else {
        app.message = Some("nothing to find yet: press / and type a part of a name".to_owned());
        return;
    };
    let from = match app.camera.selected {
        Some(selected) => (selected.span(world.trace).begin, SearchMatch::of(selected)),
        None => (start(app, forward), None),
    };
    let found = search.from(world.trace, &app.document.tracks, from, forward);
    if !world.overview.is_whole() {
        let found = found.filter(|it| is_known(world, from.0, it.begin(world.trace)));
        let (is_here, begin) = behind(world.overview, from.0, forward);
        match found {
            Some(found) => {
                let selected = found.selected(world.trace, &app.document.ranges);
                walk::remember(app);
                select(app, world, selected);
            }
            None => {
                // It continues after the selection.
                let is_at = from.1.is_some() || app.camera.away.is_some();
                let step = i64::from(is_at && !is_here) * if forward { 1 } else { -1 };
                background_query::next_match(app, begin.saturating_add(step), forward);
            }
        }
        return;
    }
    let wrapped = || {
        let end = if forward { i64::MIN } else { i64::MAX };
        search.from(world.trace, &app.document.tracks, (end, None), forward)
    };
    match (found, found.or_else(wrapped)) {
        (None, None) => {
            let nothing = format!("nothing here is “{}”", text::fit(&search.text, 40));
            app.message = Some(nothing_more(app, world, &nothing));
        }
        (found, Some(item)) => {
            let selected = item.selected(world.trace, &app.document.ranges);
            let (place, all) = search.place(world.trace, item);
            let wrapped = match (found, forward) {
                (Some(_), _) => "",
                (None, true) => ", went on from the beginning",
                (None, false) => ", went on from the end",
            };
            let message = Some(format!("{place} of {all}{wrapped}"));
            walk::remember(app);
            select(app, world, selected);
            app.message = message;
        }
        (Some(_), None) => {}
    }
}
