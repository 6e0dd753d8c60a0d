//! The critical path: its longest pieces, and its time by name.

use ascend_trace_analysis::critical::Segment;

use crate::app::{App, World};
use crate::critical::{Known, Named, found, line};
use crate::list::{Cell, Column, Entry, RowId, Target, Ways, left, right};
use crate::names;
use crate::text::{count, duration, moment};

use super::Content;

const PIECES: &[Column] = &[
    right("share"),
    right("duration"),
    left("what"),
    left("name"),
    left("tie"),
    left("lane").from(100),
    right("at").from(120),
];

const NAMES: &[Column] = &[
    right("share"),
    right("duration"),
    left("what"),
    left("name"),
    right("pieces"),
    right("ties"),
];

pub(super) fn content(app: &App, world: World<'_>, ways: Ways) -> Content {
    let known = app.path.as_ref().and_then(|it| it.known.as_ref());
    let entries = match (known, ways) {
        (None, _) => Vec::new(),
        (Some(known), Ways::Pieces) => pieces(app, world, known),
        (Some(known), Ways::Names) => names(known),
    };
    Content {
        columns: match ways {
            Ways::Pieces => PIECES,
            Ways::Names => NAMES,
        },
        entries,
        note: known.map_or_else(String::new, |known| note(app, known)),
    }
}

/// Of which range it is, and how certain.
fn note(app: &App, known: &Known) -> String {
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

fn pieces(app: &App, world: World<'_>, known: &Known) -> Vec<Entry> {
    let start = app.span.map_or(0, |span| span.begin);
    let length = known.range.duration().max(1) as f64;
    let entry = |it: &Segment| Entry {
        id: RowId::Piece(line(it), it.begin_ns),
        cells: vec![
            Cell::percent(it.length() as f64 / length),
            Cell::estimate(it.length(), it.error_ns),
            it.kind.name().into(),
            it.name.to_string().into(),
            if it.tie { "tie" } else { "" }.into(),
            names::lane(world.trace, line(it)).into(),
            Cell::number(moment(it.begin_ns.saturating_sub(start)), it.begin_ns),
        ],
        target: Target::Call(Box::new(found(it))),
    };
    known.longest.iter().map(entry).collect()
}

/// The time by name; each row leads to the longest of its pieces.
fn names(known: &Known) -> Vec<Entry> {
    let entry = |it: &Named| {
        let name = it.share.name.clone().unwrap_or_default();
        Entry {
            id: RowId::Share(it.share.kind.name(), name.clone()),
            cells: vec![
                Cell::percent(it.share.share),
                Cell::estimate(it.share.total_ns, it.share.error_ns),
                it.share.kind.name().into(),
                name.into(),
                Cell::count(it.share.count),
                Cell::count(it.ties),
            ],
            target: Target::Call(Box::new(found(&it.longest))),
        }
    };
    known.names.iter().map(entry).collect()
}
