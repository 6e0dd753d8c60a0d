//! Bookmarks: made, listed, gone to, forgotten.

use crate::app::{App, FollowMode, ViewData};
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, RowId, left, right};
use crate::marks::Bookmark;
use crate::text::moment;
use crate::update::navigate;
use crate::viewport::Viewport;

use super::{ListContent, remake};

const COLUMNS: &[ListColumn] = &[left("name"), right("from"), right("duration")];

pub(super) fn content(app: &App) -> ListContent {
    let start = app.span.map_or(0, |span| span.begin);
    let entry = |(index, bookmark): (usize, &Bookmark)| ListEntry {
        id: RowId::Bookmark(bookmark.name.clone(), bookmark.begin, bookmark.end),
        cells: vec![
            bookmark.name.clone().into(),
            ListCell::number(moment(bookmark.begin.saturating_sub(start)), bookmark.begin),
            ListCell::duration(bookmark.end.saturating_sub(bookmark.begin)),
        ],
        target: JumpTarget::Bookmark(index),
    };
    ListContent {
        columns: COLUMNS,
        entries: app.bookmarks.iter().enumerate().map(entry).collect(),
        note: "kept next to the trace".to_owned(),
    }
}

pub(super) fn go(app: &mut App, index: usize) {
    if let Some(bookmark) = app.bookmarks.get(index) {
        let viewport = Viewport::new(bookmark.begin, bookmark.end);
        app.message = Some(bookmark.name.clone());
        app.follow = FollowMode::Off;
        navigate::show(app, viewport);
    }
}

/// Forgets the bookmark that the cursor is on.
pub(super) fn forget(app: &mut App, world: ViewData<'_>) {
    let Some(list) = &app.list else { return };
    let target = list.current().map(|entry| entry.target.clone());
    if let Some(JumpTarget::Bookmark(index)) = target
        && index < app.bookmarks.len()
    {
        app.bookmarks.remove(index);
        app.unsaved = true;
        remake(app, world);
    }
    if app.bookmarks.is_empty() {
        app.list = None;
    }
}
