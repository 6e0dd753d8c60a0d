//! Memory in use by call site.

use ascend_trace_analysis::Fold;
use ascend_trace_analysis::memory::{Allocations, MemoryInUse, SiteMemory};
use ascend_trace_recording::TimeRange;
use ascend_trace_recording::units::bytes;

use crate::action::Action;
use crate::app::{App, ViewData};
use crate::background_query::FoundElsewhere;
use crate::cached_results::ResultKey;
use crate::item::TrackKey;
use crate::keymap::HelpEntry;
use crate::list::{JumpTarget, ListEntry, ListState, RowId, cells, columns};
use crate::stable_id::StableId;
use crate::update::background_query::{self, PanelAnalysis};
use crate::update::{nothing_more, remake, show_panel};

use super::{Panel, PanelContent, PanelKind, Staleness};

const PANEL: PanelKind = PanelKind::Memory(Memory);
pub(super) const COMMAND: (Action, &str) = (Action::Panel(PANEL), "memory in use by call site");
pub(super) const KEYS: HelpEntry = HelpEntry {
    help: "memory in use by call site",
    shown: "#",
    keys: &[("#", Action::Panel(PANEL))],
};

/// Memory in use at the end of the recording, or now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory;

/// The memory in use of all of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MemoryKey;

impl ResultKey for MemoryKey {
    type Value = MemoryInUse;
}

impl Panel for Memory {
    fn opener(&self) -> Action {
        Action::Panel(PANEL)
    }

    fn title(&self, _: &ListState) -> String {
        "memory in use by call site".to_owned()
    }

    fn hint(&self) -> &'static str {
        "enter: its largest allocation   /: filter   < > r: sort   esc: back"
    }

    fn content(&self, app: &mut App, world: ViewData<'_>, _: &str) -> PanelContent {
        content(app, world)
    }

    fn staleness(&self) -> Staleness {
        Staleness::Growth
    }

    fn empty_text(&self, app: &App, world: ViewData<'_>) -> Option<String> {
        Some(nothing_more(
            app,
            world,
            "no allocation is known to be in use",
        ))
    }

    fn query(&self, app: &mut App, world: ViewData<'_>) {
        if !world.overview.is_whole() {
            let wanted = PanelAnalysis {
                key: MemoryKey,
                what: "the memory in use",
                make: Allocations::default,
                rows: |found| found,
                show,
            };
            background_query::analyse(app, wanted);
        }
    }
}

/// Replaces the memory of the loaded part by that of the whole recording.
fn show(app: &mut App, world: ViewData<'_>) {
    let is_open = app.panels.list.as_ref().is_some_and(|it| it.kind == PANEL);
    match is_open {
        true => remake(app, world),
        false => show_panel(app, world, PANEL),
    }
}

fn content(app: &App, world: ViewData<'_>) -> PanelContent {
    let is_whole = world.overview.is_whole();
    let known = app.document.cache.get(app.document.counts, &MemoryKey);
    let known = known.filter(|_| !is_whole);
    let place = match known.is_some() || is_whole {
        true => "all of the recording",
        false => "the part that is loaded",
    };
    let near = || Allocations::default().of(&app.window(world.trace));
    let found = known.cloned().unwrap_or_else(near);
    let note = match found.is_known {
        true => format!("{} by the calls of {place}", sum(&found)),
        false => "not known: there are too many allocations".to_owned(),
    };
    PanelContent {
        columns: columns::<SiteMemory>(),
        entries: found.sites.iter().map(entry).collect(),
        note,
    }
}

/// At least that, where sizes are missing.
fn sum(found: &MemoryInUse) -> String {
    let least = found.sites.iter().any(|it| it.unsized_count > 0);
    format!("{}{}", if least { "≥ " } else { "" }, bytes(found.bytes()))
}

fn entry(site: &SiteMemory) -> ListEntry {
    let called_at = site.site.as_deref().unwrap_or_default();
    let name = format!("{} {called_at}", site.function);
    ListEntry {
        id: RowId::Share("memory", format!("{} {name}", site.process)),
        cells: cells(site, 0, |_| None),
        target: target(site).unwrap_or(JumpTarget::Nowhere),
    }
}

/// The call that made the largest allocation.
fn target(site: &SiteMemory) -> Option<JumpTarget> {
    let largest = site.largest?;
    let (thread, call) = (largest.thread, largest.call);
    Some(JumpTarget::Call(Box::new(FoundElsewhere {
        span: TimeRange::new(call.begin, call.end),
        lane: TrackKey::Thread(thread, call.depth),
        identity: StableId::Call {
            thread,
            begin: call.begin,
            depth: call.depth,
        },
    })))
}
