//! Collectives, the ranks in them, and messages between ranks.

use ascend_trace_analysis::Fold;
use ascend_trace_analysis::columns::TableRow;
use ascend_trace_analysis::communication::{Communication as Found, CommunicationFold};

use crate::action::Action;
use crate::app::{App, ViewData};
use crate::cached_results::ResultKey;
use crate::keymap::HelpEntry;
use crate::list::{JumpTarget, ListEntry, ListState, RowId, cells, columns};
use crate::text::count;
use crate::update::background_query::{self, PanelAnalysis};
use crate::update::{nothing_more, remake, show_panel};

use super::{Panel, PanelContent, PanelKind, Staleness, TabTarget};

const FIRST: PanelKind = PanelKind::Communication(Communication::Collectives);
pub(super) const COMMAND: (Action, &str) = (Action::Panel(FIRST), "collectives and ranks");
pub(super) const KEYS: HelpEntry = HelpEntry {
    help: "collectives, ranks and messages",
    shown: "&",
    keys: &[("&", Action::Panel(FIRST))],
};

/// A table of communication between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Communication {
    Collectives,
    Ranks,
    Messages,
    Stages,
}

const PAGES: [Communication; 4] = [
    Communication::Collectives,
    Communication::Ranks,
    Communication::Messages,
    Communication::Stages,
];

/// The communication of all of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CommunicationKey;

impl ResultKey for CommunicationKey {
    type Value = Found;
}

impl Panel for Communication {
    fn opener(&self) -> Action {
        Action::Panel(FIRST)
    }

    fn title(&self, _: &ListState) -> String {
        let title = match self {
            Self::Collectives => "collectives",
            Self::Ranks => "ranks in collectives",
            Self::Messages => "messages between ranks",
            Self::Stages => "pipeline stages",
        };
        title.to_owned()
    }

    fn hint(&self) -> &'static str {
        "tab: ranks, messages, stages   /: filter   < > r: sort   esc: back"
    }

    fn content(&self, app: &mut App, world: ViewData<'_>, _: &str) -> PanelContent {
        content(*self, app, world)
    }

    fn staleness(&self) -> Staleness {
        Staleness::Growth
    }

    fn empty_text(&self, app: &App, world: ViewData<'_>) -> Option<String> {
        // Another page may have rows.
        let is_first = *self == Self::Collectives;
        is_first.then(|| nothing_more(app, world, "no collective ran"))
    }

    fn query(&self, app: &mut App, world: ViewData<'_>) {
        if !world.overview.is_whole() {
            let wanted = PanelAnalysis {
                key: CommunicationKey,
                what: "the communication",
                make: || CommunicationFold::within(None),
                rows: |found| found,
                show,
            };
            background_query::analyse(app, wanted);
        }
    }

    fn on_tab(&self, forward: bool) -> TabTarget {
        let at = PAGES.iter().position(|it| it == self).unwrap_or(0);
        let step = if forward { 1 } else { PAGES.len() - 1 };
        let next = PAGES[(at + step) % PAGES.len()];
        TabTarget::Turn(PanelKind::Communication(next))
    }
}

/// Replaces the sums of the loaded part by those of the whole recording.
fn show(app: &mut App, world: ViewData<'_>) {
    match app.panels.list.as_ref().map(|it| it.kind) {
        Some(PanelKind::Communication(_)) => remake(app, world),
        _ => show_panel(app, world, FIRST),
    }
}

fn content(page: Communication, app: &App, world: ViewData<'_>) -> PanelContent {
    let is_whole = world.overview.is_whole();
    let known = app
        .document
        .cache
        .get(app.document.counts, &CommunicationKey);
    let known = known.filter(|_| !is_whole);
    let place = match known.is_some() || is_whole {
        true => "all of the recording",
        false => "the part that is loaded",
    };
    let near = || CommunicationFold::within(None).of(&app.window(world.trace));
    let found = known.cloned().unwrap_or_else(near);
    let groups = count(found.groups.len() as u64);
    let note = format!("groups: {groups}, in {place}");
    match page {
        Communication::Collectives => rows(&found.collectives, note, |it| {
            format!("{} {}", it.group, it.name)
        }),
        Communication::Ranks => rows(&found.ranks, note, |it| {
            format!("{} {}", it.group, it.process)
        }),
        Communication::Messages => rows(&found.links, note, |it| {
            format!("{} {} {}", it.group, it.from, it.to)
        }),
        Communication::Stages => rows(&found.stages, note, |it| {
            format!("{} {}", it.group, it.process)
        }),
    }
}

fn rows<R: TableRow>(rows: &[R], note: String, identity: impl Fn(&R) -> String) -> PanelContent {
    let entries = rows.iter().map(|row| ListEntry {
        id: RowId::Share("communication", identity(row)),
        cells: cells(row, 0, |_| None),
        target: JumpTarget::Nowhere,
    });
    PanelContent {
        columns: columns::<R>(),
        entries: entries.collect(),
        note,
    }
}
