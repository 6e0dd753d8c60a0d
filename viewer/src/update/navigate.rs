//! Moving the visible range.

use ascend_trace_recording::TimeRange;

use crate::app::{App, FOLLOWED_NS, FollowMode, ViewData};
use crate::viewport::Viewport;

/// Sets the range and keeps it near the trace.
pub(crate) fn show(app: &mut App, viewport: Viewport) {
    if let Some(span) = app.document.span {
        app.camera.viewport = viewport.within(span);
    }
}

pub(super) fn pan(app: &mut App, hundredths: i64) {
    app.camera.follow = FollowMode::Off;
    show(app, app.camera.viewport.panned(hundredths));
}

pub(super) fn zoom(app: &mut App, world: ViewData<'_>, (numerator, denominator): (i64, i64)) {
    let selected = app.camera.selected.map(|it| it.span(world.trace));
    let about = match (app.camera.follow, selected) {
        (FollowMode::Off, Some(span)) if app.camera.viewport.overlaps(span) => {
            app.camera.viewport.range().intersection(span).middle()
        }
        (FollowMode::Off, _) => app.camera.viewport.middle(),
        _ => app.camera.viewport.end(),
    };
    if app.camera.follow == FollowMode::Off {
        return zoom_about(app, about, (numerator, denominator));
    }
    // The followed range may be longer than the recording is yet.
    let zoomed = app.camera.viewport.zoomed(about, numerator, denominator);
    let most = app.document.span.map_or(FOLLOWED_NS, |span| {
        Viewport::fitting(span).length().max(FOLLOWED_NS)
    });
    app.camera.viewport = Viewport::new(
        zoomed.end().saturating_sub(most.min(zoomed.length())),
        zoomed.end(),
    );
    app.camera.follow = FollowMode::Head;
    keep_following(app);
}

/// Multiplies the duration of the range; the timestamp `about` keeps its column.
pub(super) fn zoom_about(app: &mut App, about: i64, (numerator, denominator): (i64, i64)) {
    show(
        app,
        app.camera.viewport.zoomed(about, numerator, denominator),
    );
}

pub(super) fn fit_all(app: &mut App) {
    if let Some(span) = app.document.span {
        app.camera.viewport = Viewport::fitting(span);
    }
    app.camera.follow = match app.is_running() {
        true => FollowMode::Everything,
        false => FollowMode::Off,
    };
}

pub(super) fn fit_selection(app: &mut App, world: ViewData<'_>) {
    let Some(selected) = app.camera.selected else {
        app.message = Some("nothing is selected: select with the arrow keys or a click".to_owned());
        return;
    };
    app.camera.follow = FollowMode::Off;
    show(app, Viewport::with_room(selected.span(world.trace), 4));
}

pub(super) fn to_begin(app: &mut App) {
    if let Some(TimeRange { begin, .. }) = app.document.span {
        app.camera.follow = FollowMode::Off;
        let margin = app.camera.viewport.length() / 50;
        show(
            app,
            app.camera.viewport.beginning(begin.saturating_sub(margin)),
        );
    }
}

pub(super) fn to_end(app: &mut App) {
    if let Some(TimeRange { end, .. }) = app.document.span {
        if app.is_running() {
            app.camera.follow = FollowMode::Head;
            return keep_following(app);
        }
        show(app, at_end(app.camera.viewport, end));
    }
}

/// With the newest timestamp near the right edge.
fn at_end(viewport: Viewport, end: i64) -> Viewport {
    let margin = viewport.length() / 50;
    viewport.ending(end.saturating_add(margin))
}

/// Moves the range along with the growing trace, by whole columns: slices of one column stay together.
/// At the end of the recording it stays in place, and a short recording fills it.
pub(super) fn keep_following(app: &mut App) {
    let Some(span) = app.document.span else {
        return;
    };
    let followed = match app.is_running() {
        true => app.camera.follow,
        false => std::mem::replace(&mut app.camera.follow, FollowMode::Off),
    };
    match followed {
        FollowMode::Off => {}
        FollowMode::Everything => app.camera.viewport = Viewport::fitting(span),
        FollowMode::Head if app.is_running() => {
            let columns = app.layout().lanes.width;
            app.camera.viewport = at_end(app.camera.viewport, span.end).by_columns(columns);
        }
        FollowMode::Head => show(app, at_end(app.camera.viewport, span.end)),
    }
}

/// Moves the range only if a span is not well in it.
pub(super) fn reveal(app: &mut App, span: TimeRange) {
    let range = app.camera.viewport;
    if range.range().covers(span) {
        return;
    }
    app.camera.follow = FollowMode::Off;
    let viewport = match span.duration() > range.length() / 10 * 9 {
        true => Viewport::with_room(span, 8),
        false => range.around(span),
    };
    show(app, viewport);
}
