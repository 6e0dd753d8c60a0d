//! The longest stalls.

use ascend_trace_analysis::{Cause, Lane, Stall};

use crate::app::{App, World};
use crate::blame;
use crate::item::TrackKey;
use crate::list::{Column, Entry, Target, left, right};
use crate::names;
use crate::text::{duration, moment};

use super::Content;

/// Stalls that are listed.
const LISTED: usize = 200;

const COLUMNS: &[Column] = &[
    right("length"),
    left("lane").from(60),
    left("cause"),
    right("at").from(100),
];

pub(super) fn content(app: &App, world: World<'_>, cause: Option<Cause>) -> Content {
    let trace = world.trace;
    let wanted = |stall: &Stall| {
        stall.is_notable()
            && cause.is_none_or(|cause| stall.cause == cause)
            && !app.arrangement.is_hidden(track(stall))
    };
    let start = app.span.map_or(0, |span| span.0);
    let entry = |stall: &Stall| Entry {
        cells: vec![
            duration(stall.length()),
            names::lane(trace, track(stall)),
            blame::sentence(app, trace, stall),
            moment(stall.begin.saturating_sub(start)),
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

fn track(stall: &Stall) -> TrackKey {
    match stall.lane {
        Lane::Stream(stream) => TrackKey::Stream(stream),
        Lane::Thread(thread) => TrackKey::Thread(thread, 0),
    }
}
