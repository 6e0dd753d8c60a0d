//! Facts derived from the selection, computed once for each selection.

use ascend_trace_recording::Trace;

use crate::range_contents::RangeContents;
use crate::rank::DurationRank;

use super::{App, Selection};

/// Updates the facts about the selected range.
pub(crate) fn refresh_inside(app: &mut App, trace: &Trace) {
    let Some(Selection::Range(id, _)) = app.camera.selected else {
        app.camera.inside = None;
        return;
    };
    let known = app
        .camera
        .inside
        .as_ref()
        .map(|(id, counts, _)| (*id, *counts));
    if known != Some((id, app.document.counts)) {
        let inside = RangeContents::of(trace, &app.document.tracks, id);
        app.camera.inside = inside.map(|inside| (id, app.document.counts, inside));
    }
}

/// Updates the facts about the selection's rank.
pub(crate) fn refresh_rank(app: &mut App, trace: &Trace) {
    let item = app.camera.selected.and_then(Selection::item);
    let key = item.map(|item| (item, app.document.counts));
    if app.camera.rank.map(|(item, counts, _)| (item, counts)) == key {
        return;
    }
    app.camera.rank =
        key.and_then(|(item, counts)| Some((item, counts, DurationRank::of(trace, item)?)));
}
