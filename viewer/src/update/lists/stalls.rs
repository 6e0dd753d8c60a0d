//! The longest stalls.

use ascend_trace_analysis::{Blame, Lane, Stall};

use crate::app::{App, ViewData};
use crate::blame;
use crate::blamed_stalls;
use crate::display_names;
use crate::item::TrackKey;
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, RowId, StallFilter, left, right};
use crate::text::moment;

use crate::background_query::FoundStall;
use crate::cached_results::CachedStalls;
use crate::update::background_query::{self, LISTED};

use super::ListContent;
use super::blames::least;

const COLUMNS: &[ListColumn] = &[
    right("duration"),
    left("lane").from(60),
    left("cause"),
    right("at").from(100),
];

pub(super) fn content(app: &App, world: ViewData<'_>, which: StallFilter) -> ListContent {
    let trace = world.trace;
    let longest =
        background_query::known_longest(app, which).filter(|_| !world.overview.is_whole());
    if let Some(longest) = longest {
        return of_all(app, world, longest, whom(app, world, which));
    }
    let is_long = |stall: &Stall| stall.length() >= app.least;
    let is_shown = |stall: &Stall| !app.arrangement.is_hidden(track(stall)) && is_long(stall);
    let worst = match which {
        StallFilter::All => {
            let wanted = |stall: &Stall| stall.is_notable() && is_shown(stall);
            app.stalls.worst_where(LISTED, wanted)
        }
        StallFilter::Cause(cause) => {
            let wanted =
                |stall: &Stall| stall.is_notable() && stall.cause == cause && is_shown(stall);
            app.stalls.worst_where(LISTED, wanted)
        }
        StallFilter::Blame(id) => {
            let wanted =
                |stall: &Stall| app.arrangement.wants(trace, track(stall)) && is_long(stall);
            let blame = app.blames.get(id);
            blame.map_or_else(Vec::new, |blame| app.blamed.worst(blame, LISTED, wanted))
        }
    };
    let start = app.span.map_or(0, |span| span.begin);
    let entry = |stall: &Stall| ListEntry {
        id: RowId::Stall(stall.lane, stall.begin, stall.end),
        cells: vec![
            ListCell::duration(stall.length()),
            display_names::lane(trace, track(stall)).into(),
            blame::sentence(app.known(), trace, stall).into(),
            ListCell::number(moment(stall.begin.saturating_sub(start)), stall.begin),
        ],
        target: JumpTarget::Stall(*stall),
    };
    let entries: Vec<_> = worst.into_iter().map(entry).collect();
    let number = match entries.len() {
        LISTED => format!("the first {LISTED}"),
        _ => String::new(),
    };
    let whom = whom(app, world, which);
    let number = format!("{whom}{number}{}", least(app.least));
    let place = match world.overview.is_whole() {
        true => "",
        false => " of the part that is loaded",
    };
    let note = format!("{number}{place}").trim_start().to_owned();
    ListContent {
        columns: COLUMNS,
        entries,
        note,
    }
}

/// Who is to blame for all that is listed.
fn whom(app: &App, world: ViewData<'_>, which: StallFilter) -> String {
    let blame = match which {
        StallFilter::Blame(id) => app.blames.get(id),
        StallFilter::All | StallFilter::Cause(_) => None,
    };
    let words = |blame: &Blame| {
        let whom = blamed_stalls::words(world.trace, blame);
        format!("{} ← {whom}  ", blame.cause.name())
    };
    blame.map(words).unwrap_or_default()
}

/// Those of all of a long recording.
fn of_all(app: &App, world: ViewData<'_>, longest: &CachedStalls, whom: String) -> ListContent {
    let start = app.span.map_or(0, |span| span.begin);
    let entry = |stall: &FoundStall| ListEntry {
        id: RowId::Stall(stall.lane, stall.begin, stall.end),
        cells: vec![
            ListCell::duration(stall.length()),
            display_names::lane(world.trace, stall.track()).into(),
            stall.words.clone().into(),
            ListCell::number(moment(stall.begin.saturating_sub(start)), stall.begin),
        ],
        target: JumpTarget::Found(Box::new(stall.clone())),
    };
    let entries: Vec<_> = longest.stalls.iter().map(entry).collect();
    let note = match entries.len() {
        LISTED => format!("the first {LISTED}"),
        _ => String::new(),
    };
    let note = format!(
        "{whom}{note}{} of all of the recording",
        least(longest.least)
    );
    let note = note.trim_start().to_owned();
    ListContent {
        columns: COLUMNS,
        entries,
        note,
    }
}

pub(super) fn track(stall: &Stall) -> TrackKey {
    match stall.lane {
        Lane::Stream(stream) => TrackKey::Stream(stream),
        Lane::Thread(thread) => TrackKey::Thread(thread, 0),
    }
}
