//! Stalls summed up by who is to blame.

use ascend_trace_analysis::stats::StallGroup;

use crate::app::{App, ViewData};
use crate::blamed_stalls::{self, is_grouped};
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, RowId, left, right};
use crate::text::{count, duration};
use crate::update::background_query;

use super::{ListContent, stalls};

const COLUMNS: &[ListColumn] = &[
    left("culprit"),
    left("cause"),
    left("of").from(100),
    right("stalls"),
    right("total"),
    right("share"),
    right("longest").from(70),
];

pub(super) fn content(app: &mut App, world: ViewData<'_>) -> ListContent {
    let known = background_query::known_blamed(app).filter(|_| !world.overview.is_whole());
    let (groups, place) = match known {
        Some(groups) => (groups.to_vec(), " of all of the recording"),
        None => {
            let wanted = |stall: &_| {
                let lane = stalls::track(stall);
                is_grouped(stall, app.least) && app.arrangement.wants(world.trace, lane)
            };
            let place = match world.overview.is_whole() {
                true => "",
                false => " of the part that is loaded",
            };
            (app.blamed.groups(wanted), place)
        }
    };
    let stalls: u64 = groups.iter().map(|it| it.count).sum();
    let total: i64 = groups.iter().map(|it| it.total_ns).sum();
    let least = least(app.least);
    let note = format!(
        "{} in {} stalls{least}{place}",
        duration(total),
        count(stalls)
    );
    let entries = groups.iter().map(|group| entry(app, world, group));
    ListContent {
        columns: COLUMNS,
        entries: entries.collect(),
        note,
    }
}

/// Note for a list without short stalls.
pub(super) fn least(least: i64) -> String {
    match least {
        0 => String::new(),
        least => format!(" ≥ {}", duration(least)),
    }
}

fn entry(app: &mut App, world: ViewData<'_>, group: &StallGroup) -> ListEntry {
    let id = app.blames.id(&group.blame);
    let of = match group.blame.is_of_threads {
        true => "threads",
        false => "streams",
    };
    ListEntry {
        id: RowId::Blame(id),
        cells: vec![
            blamed_stalls::words(world.trace, &group.blame).into(),
            group.blame.cause.name().into(),
            of.into(),
            ListCell::count(group.count),
            ListCell::duration(group.total_ns),
            ListCell::percent(group.share),
            ListCell::duration(group.max_ns),
        ],
        target: JumpTarget::Blame(id),
    }
}
