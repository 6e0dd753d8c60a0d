//! The critical path: its longest pieces, and its time by name.

use ascend_trace_analysis::critical::Segment;

use crate::app::{App, ViewData};
use crate::critical::{NamedPieces, PathLines, found, line};
use crate::display_names;
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, PathListing, RowId, left, right};
use crate::text::{count, duration, moment};

use super::ListContent;

const PIECES: &[ListColumn] = &[
    right("share"),
    right("duration"),
    left("what"),
    left("name"),
    left("tie"),
    left("lane").from(100),
    right("at").from(120),
];

const NAMES: &[ListColumn] = &[
    right("share"),
    right("duration"),
    left("what"),
    left("name"),
    right("pieces"),
    right("ties"),
];

pub(super) fn content(app: &App, world: ViewData<'_>, ways: PathListing) -> ListContent {
    let known = app.path.as_ref().and_then(|it| it.known.as_ref());
    let entries = match (known, ways) {
        (None, _) => Vec::new(),
        (Some(known), PathListing::Pieces) => pieces(app, world, known),
        (Some(known), PathListing::Names) => names(known),
    };
    ListContent {
        columns: match ways {
            PathListing::Pieces => PIECES,
            PathListing::Names => NAMES,
        },
        entries,
        note: known.map_or_else(String::new, |known| note(app, known)),
    }
}

/// Of which range it is, and how certain.
fn note(app: &App, known: &PathLines) -> String {
    let start = app.span.map_or(0, |span| span.begin);
    let ties = match known.ties {
        0 => String::new(),
        1 => ", 1 tie within the error bars".to_owned(),
        ties => format!(", {} ties within the error bars", count(ties)),
    };
    format!(
        "{} from {}: {} pieces{ties}",
        duration(known.range.duration()),
        moment(known.range.begin.saturating_sub(start)),
        count(known.pieces),
    )
}

fn pieces(app: &App, world: ViewData<'_>, known: &PathLines) -> Vec<ListEntry> {
    let start = app.span.map_or(0, |span| span.begin);
    let length = known.range.duration().max(1) as f64;
    let entry = |it: &Segment| ListEntry {
        id: RowId::Piece(line(it), it.begin_ns),
        cells: vec![
            ListCell::percent(it.length() as f64 / length),
            ListCell::estimate(it.length(), it.error_ns),
            it.kind.name().into(),
            it.name.to_string().into(),
            if it.tie { "tie" } else { "" }.into(),
            display_names::lane(world.trace, line(it)).into(),
            ListCell::number(moment(it.begin_ns.saturating_sub(start)), it.begin_ns),
        ],
        target: JumpTarget::Call(Box::new(found(it))),
    };
    known.longest.iter().map(entry).collect()
}

/// The time by name; each row leads to the longest of its pieces.
fn names(known: &PathLines) -> Vec<ListEntry> {
    let entry = |it: &NamedPieces| {
        let name = it.share.name.clone().unwrap_or_default();
        ListEntry {
            id: RowId::Share(it.share.kind.name(), name.clone()),
            cells: vec![
                ListCell::percent(it.share.share),
                ListCell::estimate(it.share.total_ns, it.share.error_ns),
                it.share.kind.name().into(),
                name.into(),
                ListCell::count(it.share.count),
                ListCell::count(it.ties),
            ],
            target: JumpTarget::Call(Box::new(found(&it.longest))),
        }
    };
    known.names.iter().map(entry).collect()
}
