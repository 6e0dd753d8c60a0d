//! Sorting and filtering a list.

use crate::app::{App, ViewData};
use crate::event::{KeyCode, KeyEvent};
use crate::prompt::edit;

use super::preview;

/// Handles a key while the user types a filter; false when the key has another meaning.
pub(super) fn on_typed(app: &mut App, world: ViewData<'_>, key: &KeyEvent) -> bool {
    let Some(list) = app.panels.list.as_mut().filter(|list| list.typing) else {
        return false;
    };
    match key.code {
        KeyCode::Enter => list.typing = false,
        KeyCode::Esc => return clear(app),
        _ if edit(&mut list.filter, key) => {
            list.arrange();
            preview(app, world);
        }
        KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown => return false,
        _ => {}
    }
    true
}

/// Appends pasted text to the filter.
pub(in crate::update) fn paste(app: &mut App, world: ViewData<'_>, pasted: &str) {
    crate::panels::paste(app, world, pasted);
    if let Some(list) = app.panels.list.as_mut().filter(|list| list.typing) {
        list.filter
            .extend(pasted.chars().filter(|it| !it.is_control()));
        list.arrange();
        preview(app, world);
    }
}

/// Shows all entries again; false when they are.
pub(super) fn clear(app: &mut App) -> bool {
    let Some(list) = app.panels.list.as_mut().filter(|list| list.filters()) else {
        return false;
    };
    let was_filtered = list.typing || !list.filter.is_empty();
    list.typing = false;
    list.filter.clear();
    list.arrange();
    was_filtered
}

/// Handles the keys that sort and filter a table.
pub(super) fn on_key(app: &mut App, key: &KeyEvent) -> bool {
    let width = app.size.0;
    let Some(list) = &mut app.panels.list else {
        return false;
    };
    match key.code {
        KeyCode::Char('/') => list.typing = true,
        KeyCode::Char('>') => list.sort_by_next(true, width),
        KeyCode::Char('<') => list.sort_by_next(false, width),
        KeyCode::Char('r') => list.reverse(),
        _ => return false,
    }
    true
}

/// Sorts by the clicked column.
pub(in crate::update) fn sort_at(app: &mut App, column_of_screen: u16) {
    let Some(column) = crate::view::column_at(app, column_of_screen) else {
        return;
    };
    if let Some(list) = app.panels.list.as_mut().filter(|list| list.filters()) {
        list.sort_by(column);
    }
}
