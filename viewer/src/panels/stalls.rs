//! The panel that lists the longest stalls.

use ascend_trace_analysis::{Blame, Cause, Lane, Stall};

use crate::action::Action;
use crate::app::{App, ViewData};
use crate::blame;
use crate::blamed_stalls::{self, BlameId};
use crate::display_names;
use crate::item::TrackKey;
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, ListState, RowId, left, right};
use crate::text::moment;
use crate::view_position::ViewPosition;

use crate::background_query::FoundStall;
use crate::update::{
    background_query::{self, LISTED},
    reopen_on,
};

use super::blames::{Blames, least, no_stall};
use super::{Panel, PanelContent, PanelKind, Staleness, TabTarget};

const COLUMNS: &[ListColumn] = &[
    right("duration"),
    left("lane").from(60),
    left("cause"),
    right("at").from(100),
];

/// Which stalls are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StallPanel {
    All,
    Cause(Cause),
    /// Stalls with one culprit.
    Blame(BlameId),
}

impl Panel for StallPanel {
    fn opener(&self) -> Action {
        Action::ListStalls
    }

    fn title(&self, _: &ListState) -> String {
        match self {
            Self::All => "longest stalls".to_owned(),
            Self::Cause(cause) => format!("longest stalls: {}", cause.name()),
            Self::Blame(_) => "stalls of one group".to_owned(),
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::Blame(_) => "enter: stay there   /: filter   < > r: sort   esc: all groups",
            _ => "enter: stay there   tab: by culprit   /: filter   < > r: sort   esc: back",
        }
    }

    fn content(&self, app: &mut App, world: ViewData<'_>, _: &str) -> PanelContent {
        content(app, world, *self)
    }

    fn staleness(&self) -> Staleness {
        Staleness::Growth
    }

    fn empty_text(&self, app: &App, world: ViewData<'_>) -> Option<String> {
        Some(no_stall(app, world))
    }

    fn query(&self, app: &mut App, world: ViewData<'_>) {
        if !world.overview.is_whole() {
            background_query::longest(app, *self);
        }
    }

    fn on_tab(&self, _: bool) -> TabTarget {
        TabTarget::Open(PanelKind::Blames(Blames))
    }

    fn has_stalls(&self) -> bool {
        true
    }

    /// Returns from the stalls of a group to the list of groups.
    fn on_escape(&self, app: &mut App, world: ViewData<'_>, origin: ViewPosition) {
        app.restore(origin);
        if let Self::Blame(id) = *self {
            reopen_on(app, world, PanelKind::Blames(Blames), &RowId::Blame(id));
        }
    }
}

fn content(app: &App, world: ViewData<'_>, which: StallPanel) -> PanelContent {
    let trace = world.trace;
    let longest =
        background_query::known_longest(app, which).filter(|_| !world.overview.is_whole());
    if let Some(longest) = longest {
        return whole_recording_content(app, world, longest, culprit_text(app, world, which));
    }
    let is_long = |stall: &Stall| stall.length() >= app.camera.least;
    let is_shown = |stall: &Stall| {
        !app.camera.arrangement.is_hidden(track(stall).shown(trace)) && is_long(stall)
    };
    let worst = match which {
        StallPanel::All => {
            let wanted = |stall: &Stall| stall.is_notable() && is_shown(stall);
            app.document.stalls.worst_where(LISTED, wanted)
        }
        StallPanel::Cause(cause) => {
            let wanted =
                |stall: &Stall| stall.is_notable() && stall.cause == cause && is_shown(stall);
            app.document.stalls.worst_where(LISTED, wanted)
        }
        StallPanel::Blame(id) => {
            let wanted =
                |stall: &Stall| app.camera.arrangement.wants(trace, track(stall)) && is_long(stall);
            let blame = app.document.blames.get(id);
            blame.map_or_else(Vec::new, |blame| {
                app.document.blamed.longest(blame, LISTED, wanted)
            })
        }
    };
    let start = app.document.span.map_or(0, |span| span.begin);
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
    let whom = culprit_text(app, world, which);
    let number = format!("{whom}{number}{}", least(app.camera.least));
    let place = match world.overview.is_whole() {
        true => "",
        false => " of the part that is loaded",
    };
    let note = format!("{number}{place}").trim_start().to_owned();
    PanelContent {
        columns: COLUMNS.to_vec(),
        entries,
        note,
    }
}

/// The common culprit of the listed stalls.
fn culprit_text(app: &App, world: ViewData<'_>, which: StallPanel) -> String {
    let blame = match which {
        StallPanel::Blame(id) => app.document.blames.get(id),
        StallPanel::All | StallPanel::Cause(_) => None,
    };
    let words = |blame: &Blame| {
        let whom = blamed_stalls::text_of_blame(world.trace, blame);
        format!("{} ← {whom}  ", blame.cause.name())
    };
    blame.map(words).unwrap_or_default()
}

/// The longest stalls of a whole recording that is loaded in parts.
fn whole_recording_content(
    app: &App,
    world: ViewData<'_>,
    longest: &[FoundStall],
    whom: String,
) -> PanelContent {
    let start = app.document.span.map_or(0, |span| span.begin);
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
    let entries: Vec<_> = longest.iter().map(entry).collect();
    let note = match entries.len() {
        LISTED => format!("the first {LISTED}"),
        _ => String::new(),
    };
    let note = format!(
        "{whom}{note}{} of all of the recording",
        least(app.camera.least)
    );
    let note = note.trim_start().to_owned();
    PanelContent {
        columns: COLUMNS.to_vec(),
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
