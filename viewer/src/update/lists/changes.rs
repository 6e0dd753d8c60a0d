//! What changed from one recording to the other.

use ascend_trace_analysis::diff::{Amount, Row};

use crate::app::App;
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, RowId, left, right};
use crate::pair::RecordingChanges;
use crate::text::{count, signed_duration};

use super::ListContent;

const COLUMNS: &[ListColumn] = &[
    right("adds"),
    left("it is"),
    left("of"),
    left("what"),
    right("change"),
    right("A").from(70),
    right("B").from(70),
    right("count").from(100),
    right("p").from(110),
];

/// Rows that are listed.
const LISTED: usize = 200;

pub(super) fn content(app: &App) -> ListContent {
    let companion = app.companion.as_ref();
    let Some(changes) = companion.and_then(|it| it.changes.as_ref()) else {
        return ListContent {
            columns: COLUMNS,
            entries: Vec::new(),
            note: String::new(),
        };
    };
    let rows = changes.rows.iter().take(LISTED).enumerate();
    ListContent {
        columns: COLUMNS,
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

fn entry(place: usize, row: &Row) -> ListEntry {
    ListEntry {
        id: RowId::Share(row.kind.name(), row.name.clone()),
        cells: vec![
            ListCell::number(signed_duration(row.impact_ns), row.impact_ns),
            row.verdict.name().into(),
            row.kind.name().into(),
            row.name.clone().into(),
            percent(row),
            row.a
                .typical_ns
                .map_or_else(ListCell::unknown, ListCell::duration),
            row.b
                .typical_ns
                .map_or_else(ListCell::unknown, ListCell::duration),
            counts(&row.a, &row.b).into(),
            chance(row.p_corrected),
        ],
        target: JumpTarget::Change(place),
    }
}

fn percent(row: &Row) -> ListCell {
    match row.change {
        Some(part) => ListCell::number(format!("{:+.1}%", part * 100.0), (part * 1e6) as i64),
        None => ListCell::unknown(),
    }
}

fn chance(p: Option<f64>) -> ListCell {
    match p {
        Some(p) if p < 0.0001 => ListCell::number("< 0.0001".to_owned(), 0),
        Some(p) => ListCell::number(format!("{p:.4}"), (p * 1e6) as i64),
        None => ListCell::unknown(),
    }
}

fn counts(a: &Amount, b: &Amount) -> String {
    let one = |it: f64| match it.fract() == 0.0 {
        true => count(it as u64),
        false => format!("{it:.2}"),
    };
    match a.count == b.count {
        true => one(a.count),
        false => format!("{} / {}", one(a.count), one(b.count)),
    }
}
