//! Stalls summed up by who is to blame.

use ascend_trace_analysis::Stall;
use ascend_trace_analysis::stats::{Grouping, StallGroup, StallGroups};
use ascend_trace_recording::Trace;

use crate::action::Action;
use crate::app::{App, ViewData};
use crate::blamed_stalls::{self, is_grouped};
use crate::cached_results::StallGroupsKey;
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, ListState, RowId, left, right};
use crate::text::{count, duration};
use crate::update::background_query::{self, PanelAnalysis};
use crate::update::{nothing_more, remake};

use super::{Panel, PanelContent, PanelKind, Staleness, StallPanel, TabTarget, stalls};

const COLUMNS: &[ListColumn] = &[
    left("culprit"),
    left("cause"),
    left("of").from(100),
    right("stalls"),
    right("total"),
    right("share"),
    right("longest").from(70),
];

/// Stalls summed up by who is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blames;

impl Panel for Blames {
    fn opener(&self) -> Action {
        Action::ListBlames
    }

    fn title(&self, _: &ListState) -> String {
        "stalls by culprit".to_owned()
    }

    fn hint(&self) -> &'static str {
        "enter: its stalls   tab: longest   /: filter   < > r: sort   esc: back"
    }

    fn content(&self, app: &mut App, world: ViewData<'_>, _: &str) -> PanelContent {
        content(app, world)
    }

    fn staleness(&self) -> Staleness {
        Staleness::Growth
    }

    fn empty_text(&self, app: &App, world: ViewData<'_>) -> Option<String> {
        Some(no_stall(app, world))
    }

    fn query(&self, app: &mut App, world: ViewData<'_>) {
        if !world.overview.is_whole() {
            let (arrangement, least) = (app.camera.arrangement.clone(), app.camera.least);
            let make = move || {
                let arrangement = arrangement.clone();
                Grouping::of_those(move |trace: &Trace, stall: &Stall| {
                    let lane = stalls::track(stall);
                    is_grouped(stall, least) && arrangement.wants(trace, lane)
                })
            };
            let wanted = PanelAnalysis {
                key: key(app),
                what: "the culprits of stalls",
                make,
                rows: StallGroups::rows,
                show,
            };
            background_query::analyse(app, wanted);
        }
    }

    fn on_tab(&self, _: bool) -> TabTarget {
        TabTarget::Open(PanelKind::Stalls(StallPanel::All))
    }

    fn has_stalls(&self) -> bool {
        true
    }
}

/// The message where there is no stall that is long enough.
pub(super) fn no_stall(app: &App, world: ViewData<'_>) -> String {
    let nothing = format!("there is no stall{}", least(app.camera.least));
    nothing_more(app, world, &nothing)
}

fn key(app: &App) -> StallGroupsKey {
    StallGroupsKey {
        least: app.camera.least,
        hidden: app.camera.arrangement.hidden_lanes(),
    }
}

/// Replaces the sums of the loaded part by the sums of the whole recording.
fn show(app: &mut App, world: ViewData<'_>) {
    match app.panels.list.as_ref().map(|list| list.kind) {
        Some(PanelKind::Blames(_)) => remake(app, world),
        _ => app.message = Some("the culprits of stalls are known: I lists them".to_owned()),
    }
}

fn content(app: &mut App, world: ViewData<'_>) -> PanelContent {
    let known = app
        .document
        .cache
        .get(app.document.counts, &key(app))
        .filter(|_| !world.overview.is_whole());
    let (groups, place) = match known {
        Some(groups) => (groups.clone(), " of all of the recording"),
        None => {
            let wanted = |stall: &_| {
                let lane = stalls::track(stall);
                is_grouped(stall, app.camera.least)
                    && app.camera.arrangement.wants(world.trace, lane)
            };
            let place = match world.overview.is_whole() {
                true => "",
                false => " of the part that is loaded",
            };
            (app.document.blamed.groups(wanted), place)
        }
    };
    let stalls: u64 = groups.iter().map(|it| it.count).sum();
    let total: i64 = groups.iter().map(|it| it.total_ns).sum();
    let least = least(app.camera.least);
    let note = format!(
        "{} in {} stalls{least}{place}",
        duration(total),
        count(stalls)
    );
    let entries = groups.iter().map(|group| entry(app, world, group));
    PanelContent {
        columns: COLUMNS.to_vec(),
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
    let id = app.document.blames.id(&group.blame);
    let of = match group.blame.is_of_threads {
        true => "threads",
        false => "streams",
    };
    ListEntry {
        id: RowId::Blame(id),
        cells: vec![
            blamed_stalls::text_of_blame(world.trace, &group.blame).into(),
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
