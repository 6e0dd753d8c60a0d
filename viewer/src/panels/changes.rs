//! What changed from one recording to the other.

use ascend_trace_analysis::diff::DiffRow;

use crate::action::Action;
use crate::app::{App, ViewData};
use crate::list::{JumpTarget, ListEntry, ListState, RowId, cells, columns};
use crate::pair::RecordingChanges;
use crate::text::count;
use crate::update::nothing_more;

use super::{Panel, PanelContent, Staleness};

/// Rows that are listed.
const LISTED: usize = 200;

/// What changed from one recording to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Changes;

impl Panel for Changes {
    fn opener(&self) -> Action {
        Action::ListChanges
    }

    fn title(&self, _: &ListState) -> String {
        "changes".to_owned()
    }

    fn hint(&self) -> &'static str {
        "enter: go there in both   /: filter   < > r: sort   esc: back"
    }

    fn content(&self, app: &mut App, _: ViewData<'_>, _: &str) -> PanelContent {
        content(app)
    }

    fn staleness(&self) -> Staleness {
        Staleness::Never
    }

    fn empty_text(&self, app: &App, world: ViewData<'_>) -> Option<String> {
        Some(nothing_more(app, world, "there is nothing to sum up"))
    }
}

fn content(app: &App) -> PanelContent {
    let companion = app.document.companion.as_ref();
    let Some(changes) = companion.and_then(|it| it.changes.as_ref()) else {
        return PanelContent {
            columns: columns::<DiffRow>(),
            entries: Vec::new(),
            note: String::new(),
        };
    };
    let rows = changes.rows.iter().take(LISTED).enumerate();
    PanelContent {
        columns: columns::<DiffRow>(),
        entries: rows.map(|(place, row)| entry(place, row)).collect(),
        note: note(changes),
    }
}

fn note(changes: &RecordingChanges) -> String {
    let of = match changes.by_steps {
        true => "a step",
        false => "all of the recording",
    };
    let tests = count(changes.tests);
    format!("from A to B, by what they add to {of}; {tests} tests")
}

fn entry(place: usize, row: &DiffRow) -> ListEntry {
    ListEntry {
        id: RowId::Share(row.kind.name(), row.name.clone()),
        cells: cells(row, 0, |_| None),
        target: JumpTarget::Change(place),
    }
}
