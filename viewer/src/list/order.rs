//! Which entries of a list are shown, and in what order.

use super::{ListState, RowId};

/// A column that a list is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SortOrder {
    pub(crate) column: usize,
    pub(crate) descending: bool,
}

impl ListState {
    /// The entry in a visible line.
    pub(crate) fn entry(&self, line: usize) -> Option<&super::ListEntry> {
        self.entries.get(*self.shown.get(line)?)
    }

    /// The entries that are shown, in their order.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &super::ListEntry> {
        self.shown
            .iter()
            .filter_map(|index| self.entries.get(*index))
    }

    /// How many are shown.
    pub(crate) fn len(&self) -> usize {
        self.shown.len()
    }

    /// Filters and sorts again. The cursor stays on its row, else at its place.
    pub(crate) fn arrange(&mut self) {
        let current = self.current().map(|entry| entry.id.clone());
        self.arrange_around(current.as_ref());
    }

    /// The same with the cursor on the row that is given, if it is shown.
    pub(crate) fn arrange_around(&mut self, current: Option<&RowId>) {
        let filter = match self.filters() {
            true => self.filter.to_lowercase(),
            false => String::new(),
        };
        let entries = &self.entries;
        let mut shown: Vec<usize> = (0..entries.len())
            .filter(|index| filter.is_empty() || entries[*index].has(&filter))
            .collect();
        if let Some(SortOrder { column, descending }) = self.sort {
            shown.sort_by(|own, its| {
                let cell = |index: usize| entries[index].cells.get(column);
                match (cell(*own), cell(*its)) {
                    (Some(own), Some(its)) => own.compare(its, descending),
                    (own, its) => own.is_some().cmp(&its.is_some()).reverse(),
                }
            });
        }
        self.shown = shown;
        let last = self.shown.len().saturating_sub(1);
        let place = current.and_then(|id| self.shown().position(|it| it.id.is_same(id)));
        self.cursor = place.unwrap_or(self.cursor.min(last));
    }

    /// Sorts by a column, or in the other direction if it is sorted by that already.
    pub(crate) fn sort_by(&mut self, column: usize) {
        let cells = self.entries.iter().filter_map(|it| it.cells.get(column));
        let is_number = cells.clone().any(super::ListCell::is_number);
        self.sort = Some(match self.sort {
            Some(sort) if sort.column == column => SortOrder {
                descending: !sort.descending,
                ..sort
            },
            _ => SortOrder {
                column,
                descending: is_number,
            },
        });
        self.arrange();
    }

    /// Sorts by the column before or after, of those that are on a screen of this width; past the last one
    /// the entries are in the order in which they were made.
    pub(crate) fn sort_by_next(&mut self, forward: bool, width: u16) {
        let columns = self.columns.iter().enumerate();
        let wide = columns.filter(|(_, it)| it.is_on(width));
        let wide: Vec<usize> = wide.map(|(index, _)| index).collect();
        let here = self
            .sort
            .and_then(|sort| wide.iter().position(|it| *it == sort.column));
        let next = match (here, forward) {
            (None, true) => wide.first(),
            (None, false) => wide.last(),
            (Some(place), true) => wide.get(place + 1),
            (Some(place), false) => place.checked_sub(1).and_then(|it| wide.get(it)),
        };
        match next {
            Some(column) => self.sort_by(*column),
            None => {
                self.sort = None;
                self.arrange();
            }
        }
    }

    /// Sorts in the other direction; an unsorted list by its first column.
    pub(crate) fn reverse(&mut self) {
        let column = self.sort.map_or(0, |sort| sort.column);
        self.sort_by(column);
    }
}
