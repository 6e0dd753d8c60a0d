//! Marks, and the range between them.

use crate::app::{App, FollowMode, ViewData};
use crate::marks::Mark;
use crate::viewport::Viewport;
use ascend_trace_recording::TimeRange;

use super::{navigate, walk};

/// Marks the selection, or the middle of the screen when nothing is selected.
pub(super) fn set(app: &mut App, world: ViewData<'_>) {
    let middle = app.camera.viewport.middle();
    let span = app.camera.selected.map(|it| it.span(world.trace));
    let TimeRange { begin, end } = span.unwrap_or(TimeRange::at(middle));
    app.camera.marks.set(Mark { begin, end });
    if app.camera.marks.measure().is_none() {
        app.message = Some("marked: m at another place measures the time between".to_owned());
    }
}

pub(super) fn clear(app: &mut App) {
    app.camera.marks.clear();
}

/// A new pair of marks that both begin here.
pub(super) fn begin(app: &mut App, time: i64) {
    app.camera.marks.clear();
    let mark = Mark {
        begin: time,
        end: time,
    };
    app.camera.marks.set(mark);
}

/// Moves the second mark of a pair that is being drawn.
pub(super) fn extend(app: &mut App, time: i64) {
    let Some(first) = app.camera.marks.all().first().copied() else {
        return;
    };
    app.camera.marks.clear();
    app.camera.marks.set(first);
    app.camera.marks.set(Mark {
        begin: time,
        end: time,
    });
}

/// Shows the range between the marks.
pub(super) fn fit(app: &mut App) {
    let Some((early, late)) = app.camera.marks.pair() else {
        app.message = Some("set two marks first: m".to_owned());
        return;
    };
    walk::remember(app);
    app.camera.follow = FollowMode::Off;
    let measured = TimeRange::new(early.begin, early.end.max(late.end));
    navigate::show(app, Viewport::with_room(measured, 8));
}
