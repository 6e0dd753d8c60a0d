//! Bookmarks: made, listed, gone to, forgotten.

use crate::action::{Action, SourceRequest};
use crate::app::{App, FollowMode, ViewData};
use crate::event::{KeyCode, KeyEvent};
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, ListState, RowId, left, right};
use crate::marks::Bookmark;
use crate::text::moment;
use crate::update::{navigate, remake};
use crate::viewport::Viewport;

use super::{KeyOutcome, Panel, PanelContent, Staleness};

const COLUMNS: &[ListColumn] = &[left("name"), right("from"), right("duration")];

/// The bookmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bookmarks;

impl Panel for Bookmarks {
    fn opener(&self) -> Action {
        Action::ListBookmarks
    }

    fn title(&self, _: &ListState) -> String {
        "bookmarks".to_owned()
    }

    fn hint(&self) -> &'static str {
        "enter: go there   delete: forget it   /: filter   < > r: sort   esc: back"
    }

    fn content(&self, app: &mut App, _: ViewData<'_>, _: &str) -> PanelContent {
        content(app)
    }

    fn staleness(&self) -> Staleness {
        Staleness::Never
    }

    fn empty_text(&self, _: &App, _: ViewData<'_>) -> Option<String> {
        Some("there is no bookmark yet: b makes one".to_owned())
    }

    fn on_key(&self, app: &mut App, world: ViewData<'_>, key: &KeyEvent) -> KeyOutcome {
        if key.code != KeyCode::Delete {
            return KeyOutcome::Unknown;
        }
        match forget(app, world) {
            true => KeyOutcome::Request(SourceRequest::SaveBookmarks),
            false => KeyOutcome::Handled,
        }
    }
}

fn content(app: &App) -> PanelContent {
    let start = app.document.span.map_or(0, |span| span.begin);
    let entry = |(index, bookmark): (usize, &Bookmark)| ListEntry {
        id: RowId::Bookmark(bookmark.name.clone(), bookmark.begin, bookmark.end),
        cells: vec![
            bookmark.name.clone().into(),
            ListCell::number(moment(bookmark.begin.saturating_sub(start)), bookmark.begin),
            ListCell::duration(bookmark.end.saturating_sub(bookmark.begin)),
        ],
        target: JumpTarget::Bookmark(index),
    };
    PanelContent {
        columns: COLUMNS.to_vec(),
        entries: app
            .document
            .bookmarks
            .iter()
            .enumerate()
            .map(entry)
            .collect(),
        note: "kept next to the trace".to_owned(),
    }
}

pub(crate) fn go(app: &mut App, index: usize) {
    if let Some(bookmark) = app.document.bookmarks.get(index) {
        let viewport = Viewport::new(bookmark.begin, bookmark.end);
        app.message = Some(bookmark.name.clone());
        app.camera.follow = FollowMode::Off;
        navigate::show(app, viewport);
    }
}

/// Forgets the bookmark that the cursor is on. Returns whether there was one.
fn forget(app: &mut App, world: ViewData<'_>) -> bool {
    let current = app.panels.list.as_ref().and_then(ListState::current);
    let Some(JumpTarget::Bookmark(index)) = current.map(|entry| &entry.target) else {
        return false;
    };
    let index = *index;
    let is_known = index < app.document.bookmarks.len();
    if is_known {
        app.document.bookmarks.remove(index);
        remake(app, world);
    }
    if app.document.bookmarks.is_empty() {
        app.panels.list = None;
    }
    is_known
}
