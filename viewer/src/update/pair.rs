//! Actions of a view that is one of two.

use ascend_trace_recording::TimeRange;

use crate::action::{PairAction, ViewRequest};
use crate::app::{App, Selection, ViewData};
use crate::item::CallOrTask;
use crate::panels::{Changes, PanelKind};
use crate::rank;

use super::{background_query, lists, select, walk};

/// What to say where there is one recording.
const ALONE: &str = "this needs two recordings: ascend-trace view A B";

/// Passes a request on to both halves.
pub(super) fn request(app: &mut App, action: PairAction) -> Vec<ViewRequest> {
    match app.document.companion {
        Some(_) => vec![ViewRequest::Pair(action)],
        None => {
            app.message = Some(ALONE.to_owned());
            Vec::new()
        }
    }
}

/// Lists what changed from one recording to the other.
pub(super) fn list_changes(app: &mut App, world: ViewData<'_>) {
    let Some(companion) = &app.document.companion else {
        app.message = Some(ALONE.to_owned());
        return;
    };
    match &companion.changes {
        None => app.message = Some("the recordings are still being compared".to_owned()),
        Some(changes) if changes.rows.is_empty() => {
            let tests = crate::text::count(changes.tests);
            app.message = Some(format!("no significant change, by {tests} tests"));
        }
        Some(_) => lists::toggle(app, world, PanelKind::Changes(Changes)),
    }
}

/// The changes are known: a view that shows something else says so.
pub(crate) fn show_changes(app: &mut App) {
    let changes = app
        .document
        .companion
        .as_ref()
        .and_then(|it| it.changes.as_ref());
    let count = changes.map_or(0, |it| it.rows.len());
    if app.message.is_none() {
        app.message = Some(match count {
            0 => "the recordings have been compared: no significant change".to_owned(),
            1 => "the recordings have been compared: G lists 1 change".to_owned(),
            _ => format!("the recordings have been compared: G lists {count} changes"),
        });
    }
}

/// Notes the present place as one to come back to.
pub(crate) fn remember(app: &mut App) {
    walk::remember(app);
}

/// Selects the slowest task or call of a name in a range, or requests it where the range is not loaded.
/// False if none exists.
pub(crate) fn to_slowest(
    app: &mut App,
    world: ViewData<'_>,
    (name, task): (&str, bool),
    range: TimeRange,
) -> bool {
    if !world.overview.is_loaded(range) {
        background_query::slowest(app, name, task, range);
        return true;
    }
    let trace = world.trace;
    let is_wanted =
        |item: CallOrTask| matches!(item, CallOrTask::Task(_)) == task && item.name(trace) == name;
    match rank::slowest(trace, is_wanted, range) {
        Some(item) => {
            select::select(app, world, Selection::Item(item));
            true
        }
        None => {
            app.camera.selected = None;
            false
        }
    }
}
