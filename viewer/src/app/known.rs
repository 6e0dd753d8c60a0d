//! Facts derived from the selection, computed once for each selection.

use ascend_trace_recording::Trace;

use crate::inside::Inside;
use crate::rank::Rank;

use super::{App, Selected};

/// Updates the facts about the selected range.
pub(crate) fn refresh_inside(app: &mut App, trace: &Trace) {
    let Some(Selected::Range(id, _)) = app.selected else {
        app.inside = None;
        return;
    };
    let known = app.inside.as_ref().map(|(id, counts, _)| (*id, *counts));
    if known != Some((id, app.counts)) {
        let inside = Inside::of(trace, &app.tracks, id);
        app.inside = inside.map(|inside| (id, app.counts, inside));
    }
}

/// Updates the facts about the selection's rank.
pub(crate) fn refresh_rank(app: &mut App, trace: &Trace) {
    let item = app.selected.and_then(Selected::item);
    let key = item.map(|item| (item, app.counts));
    if app.rank.map(|(item, counts, _)| (item, counts)) == key {
        return;
    }
    app.rank = key.and_then(|(item, counts)| Some((item, counts, Rank::of(trace, item)?)));
}
