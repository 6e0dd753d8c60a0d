//! Columns that the types of rows declare.

use ascend_trace_analysis::columns::{Column, Style, TableRow};

use super::{ColumnAlign, ListCell, ListColumn};
use crate::text::count;

const STYLE: Style = Style {
    count,
    unknown: "-",
    percent: "%",
};

/// The columns that the view shows of such rows.
pub(crate) fn columns<R: TableRow>() -> Vec<ListColumn> {
    let shown = R::columns().filter_map(|it| {
        Some(ListColumn {
            title: it.title.trim_end_matches(" %"),
            align: match it.kind.is_left() {
                true => ColumnAlign::Left,
                false => ColumnAlign::Right,
            },
            from_width: it.view_from?,
        })
    });
    shown.collect()
}

/// Their cells. Timestamps are counted from `begin`. `own` has the cells that the view writes in its own words, by title.
pub(crate) fn cells<R: TableRow>(
    row: &R,
    begin: i64,
    own: impl Fn(&str) -> Option<ListCell>,
) -> Vec<ListCell> {
    let shown = R::columns().filter(|it| it.view_from.is_some());
    let cell = |it: &Column<R>| {
        let value = (it.value)(row);
        let text = it.write(&value, begin, &STYLE);
        own(it.title).unwrap_or_else(|| ListCell::declared(text, &value))
    };
    shown.map(cell).collect()
}
