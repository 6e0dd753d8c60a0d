//! Stalls summed up by who is to blame.

use ascend_trace_analysis::stats::StallGroup;

use crate::app::{App, World};
use crate::blamed::{self, is_grouped};
use crate::list::{Cell, Column, Entry, RowId, Target, left, right};
use crate::text::{count, duration};
use crate::update::hunt;

use super::{Content, stalls};

const COLUMNS: &[Column] = &[
    left("culprit"),
    left("cause"),
    left("of").from(100),
    right("stalls"),
    right("total"),
    right("share"),
    right("longest").from(70),
];

pub(super) fn content(app: &mut App, world: World<'_>) -> Content {
    let known = hunt::known_blamed(app).filter(|_| !world.overview.is_whole());
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
    Content {
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

fn entry(app: &mut App, world: World<'_>, group: &StallGroup) -> Entry {
    let id = app.blames.id(&group.blame);
    let of = match group.blame.is_of_threads {
        true => "threads",
        false => "streams",
    };
    Entry {
        id: RowId::Blame(id),
        cells: vec![
            blamed::words(world.trace, &group.blame).into(),
            group.blame.cause.name().into(),
            of.into(),
            Cell::count(group.count),
            Cell::duration(group.total_ns),
            Cell::percent(group.share),
            Cell::duration(group.max_ns),
        ],
        target: Target::Blame(id),
    }
}
