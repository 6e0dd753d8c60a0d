//! The longest stalls.

use ascend_trace_analysis::{Cause, Lane, Stall};

use crate::app::{App, World};
use crate::blame;
use crate::item::TrackKey;
use crate::list::{Cell, Column, Entry, RowId, Target, left, right};
use crate::names;
use crate::text::moment;

use crate::hunt::Longest;
use crate::quest::Told;
use crate::update::hunt::{self, LISTED};

use super::Content;

const COLUMNS: &[Column] = &[
    right("length"),
    left("lane").from(60),
    left("cause"),
    right("at").from(100),
];

pub(super) fn content(app: &App, world: World<'_>, cause: Option<Cause>) -> Content {
    let trace = world.trace;
    if let Some(longest) = world.overview.and_then(|_| hunt::known_longest(app, cause)) {
        return of_all(app, world, longest);
    }
    let wanted = |stall: &Stall| {
        stall.is_notable()
            && cause.is_none_or(|cause| stall.cause == cause)
            && !app.arrangement.is_hidden(track(stall))
    };
    let start = app.span.map_or(0, |span| span.0);
    let entry = |stall: &Stall| Entry {
        id: RowId::Stall(stall.lane, stall.begin, stall.end),
        cells: vec![
            Cell::duration(stall.length()),
            names::lane(trace, track(stall)).into(),
            blame::sentence(app.known(), trace, stall).into(),
            Cell::number(moment(stall.begin.saturating_sub(start)), stall.begin),
        ],
        target: Target::Stall(*stall),
    };
    let worst = app.stalls.worst_where(LISTED, wanted);
    let entries: Vec<_> = worst.into_iter().map(entry).collect();
    let number = match entries.len() {
        LISTED => format!("the first {LISTED}"),
        _ => String::new(),
    };
    let note = match world.overview {
        None => number,
        Some(_) => format!("{number} of the part that is loaded")
            .trim_start()
            .to_owned(),
    };
    Content {
        columns: COLUMNS,
        entries,
        note,
    }
}

/// Those of all of a long recording.
fn of_all(app: &App, world: World<'_>, longest: &Longest) -> Content {
    let start = app.span.map_or(0, |span| span.0);
    let entry = |told: &Told| Entry {
        id: RowId::Stall(told.lane, told.begin, told.end),
        cells: vec![
            Cell::duration(told.length()),
            names::lane(world.trace, told.track()).into(),
            told.words.clone().into(),
            Cell::number(moment(told.begin.saturating_sub(start)), told.begin),
        ],
        target: Target::Told(Box::new(told.clone())),
    };
    let entries: Vec<_> = longest.stalls.iter().map(entry).collect();
    let note = match entries.len() {
        LISTED => format!("the first {LISTED} of all of the recording"),
        _ => "of all of the recording".to_owned(),
    };
    Content {
        columns: COLUMNS,
        entries,
        note,
    }
}

fn track(stall: &Stall) -> TrackKey {
    match stall.lane {
        Lane::Stream(stream) => TrackKey::Stream(stream),
        Lane::Thread(thread) => TrackKey::Thread(thread, 0),
    }
}
