//! The critical path: its longest pieces, and its time by name.

use ascend_trace_analysis::critical::{PathShare, Segment};

use crate::action::Action;
use crate::app::{App, ViewData};
use crate::critical::{NamedPieces, PathLines, found, line};
use crate::display_names;
use crate::list::{JumpTarget, ListCell, ListEntry, ListState, RowId, cells, columns, right};
use crate::text::{count, duration, moment};
use crate::update::put_path_away;

use super::{Panel, PanelContent, PanelKind, Staleness, TabTarget};

/// How the critical path is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathListing {
    /// The longest pieces.
    Pieces,
    /// The time by name.
    Names,
}

impl Panel for PathListing {
    fn opener(&self) -> Action {
        Action::CriticalPath
    }

    fn title(&self, _: &ListState) -> String {
        match self {
            Self::Pieces => "critical path: longest pieces",
            Self::Names => "critical path by name",
        }
        .to_owned()
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::Pieces => "enter: go there   tab: by name   /: filter   < > r: sort   esc: back",
            Self::Names => {
                "enter: longest piece   tab: pieces   /: filter   < > r: sort   esc: back"
            }
        }
    }

    fn content(&self, app: &mut App, world: ViewData<'_>, _: &str) -> PanelContent {
        content(app, world, *self)
    }

    fn staleness(&self) -> Staleness {
        Staleness::OtherPart
    }

    fn empty_text(&self, _: &App, _: ViewData<'_>) -> Option<String> {
        None
    }

    fn on_tab(&self, _: bool) -> TabTarget {
        TabTarget::Open(PanelKind::Critical(match self {
            Self::Pieces => Self::Names,
            Self::Names => Self::Pieces,
        }))
    }

    fn on_close(&self, app: &mut App) {
        put_path_away(app);
    }
}

fn content(app: &App, world: ViewData<'_>, ways: PathListing) -> PanelContent {
    let known = app.panels.path.as_ref().and_then(|it| it.known.as_ref());
    let entries = match (known, ways) {
        (None, _) => Vec::new(),
        (Some(known), PathListing::Pieces) => pieces(app, world, known),
        (Some(known), PathListing::Names) => names(known),
    };
    let mut columns = match ways {
        PathListing::Pieces => columns::<Segment>(),
        PathListing::Names => columns::<PathShare>(),
    };
    match ways {
        PathListing::Pieces => columns.insert(0, right("share")),
        PathListing::Names => columns.push(right("ties")),
    }
    PanelContent {
        columns,
        entries,
        note: known.map_or_else(String::new, |known| note(app, known)),
    }
}

/// Of which range it is, and how certain.
fn note(app: &App, known: &PathLines) -> String {
    let start = app.document.span.map_or(0, |span| span.begin);
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
    let start = app.document.span.map_or(0, |span| span.begin);
    let length = known.range.duration().max(1) as f64;
    let entry = |it: &Segment| {
        let share = ListCell::percent(it.length() as f64 / length);
        let lane = || display_names::lane(world.trace, line(it)).into();
        let cells = cells(it, start, |title| (title == "where").then(lane));
        ListEntry {
            id: RowId::Piece(line(it), it.begin_ns),
            cells: [share].into_iter().chain(cells).collect(),
            target: JumpTarget::Call(Box::new(found(it))),
        }
    };
    known.longest.iter().map(entry).collect()
}

/// The time by name; each row leads to the longest of its pieces.
fn names(known: &PathLines) -> Vec<ListEntry> {
    let entry = |it: &NamedPieces| {
        let name = it.share.name.clone().unwrap_or_default();
        let mut cells = cells(&it.share, 0, |_| None);
        cells.push(ListCell::count(it.ties));
        ListEntry {
            id: RowId::Share(it.share.kind.name(), name),
            cells,
            target: JumpTarget::Call(Box::new(found(&it.longest))),
        }
    };
    known.names.iter().map(entry).collect()
}
