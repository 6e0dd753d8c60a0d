//! Findings of checks: mistakes and costs of the program.

use ascend_trace_analysis::Fold;
use ascend_trace_analysis::checks::{self, Finding};
use ascend_trace_recording::{ThreadId, TimeRange, Trace};

use crate::action::Action;
use crate::app::{App, ViewData};
use crate::background_query::FoundElsewhere;
use crate::cached_results::FindingsKey;
use crate::display_names;
use crate::item::TrackKey;
use crate::list::{JumpTarget, ListCell, ListEntry, ListState, RowId, cells, columns, left};
use crate::stable_id::StableId;
use crate::update::background_query::{self, PanelAnalysis};
use crate::update::{nothing_more, remake, show_panel};

use super::{Panel, PanelContent, PanelKind, Staleness};

/// What checks found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Findings;

impl Panel for Findings {
    fn opener(&self) -> Action {
        Action::ListFindings
    }

    fn title(&self, _: &ListState) -> String {
        "what checks found".to_owned()
    }

    fn hint(&self) -> &'static str {
        "enter: its first call   /: filter   < > r: sort   esc: back"
    }

    fn content(&self, app: &mut App, world: ViewData<'_>, _: &str) -> PanelContent {
        content(app, world)
    }

    fn staleness(&self) -> Staleness {
        Staleness::Growth
    }

    fn empty_text(&self, app: &App, world: ViewData<'_>) -> Option<String> {
        Some(nothing_more(app, world, "the checks found nothing"))
    }

    fn query(&self, app: &mut App, world: ViewData<'_>) {
        if !world.overview.is_whole() {
            let wanted = PanelAnalysis {
                key: FindingsKey,
                what: "what checks find",
                make: checks::Findings::default,
                rows: |found| found,
                show,
            };
            background_query::analyse(app, wanted);
        }
    }
}

/// Replaces the findings of the loaded part by those of the whole recording.
fn show(app: &mut App, world: ViewData<'_>) {
    let panel = PanelKind::Findings(Findings);
    let is_open = app
        .panels
        .list
        .as_ref()
        .is_some_and(|list| list.kind == panel);
    match app.document.cache.get(app.document.counts, &FindingsKey) {
        _ if is_open => remake(app, world),
        Some(found) if !found.is_empty() => show_panel(app, world, panel),
        _ => app.message = Some("the checks found nothing in all of the recording".to_owned()),
    }
}

fn content(app: &App, world: ViewData<'_>) -> PanelContent {
    let known = app
        .document
        .cache
        .get(app.document.counts, &FindingsKey)
        .filter(|_| !world.overview.is_whole());
    let (findings, place) = match known {
        Some(findings) => (findings.clone(), "all of the recording"),
        None => {
            let found = checks::Findings::default().of(&app.window(world.trace));
            let place = match world.overview.is_whole() {
                true => "all of the recording",
                false => "the part that is loaded",
            };
            (found, place)
        }
    };
    let entries = findings.iter().map(|finding| entry(world.trace, finding));
    let mut columns = columns::<Finding>();
    columns.push(left("in").from(110));
    PanelContent {
        columns,
        entries: entries.collect(),
        note: format!("in {place}"),
    }
}

fn entry(trace: &Trace, finding: &Finding) -> ListEntry {
    let thread = thread_of(trace, finding);
    let mut cells = cells(finding, 0, |_| None);
    cells.push(thread.map_or_else(ListCell::unknown, |id| {
        display_names::thread(trace, id).into()
    }));
    ListEntry {
        id: RowId::Finding(finding.check, finding.tid, finding.begin_ns),
        cells,
        target: match thread {
            Some(thread) => JumpTarget::Call(Box::new(first_call(thread, finding))),
            None => JumpTarget::Nowhere,
        },
    }
}

/// The thread of a finding: threads are the same in all parts of a recording.
fn thread_of(trace: &Trace, finding: &Finding) -> Option<ThreadId> {
    let threads = (0..).map(ThreadId).zip(trace.threads());
    let mut own = threads.filter(|(_, thread)| {
        let process = trace.process(thread.process).serial;
        (process, thread.tid) == (finding.process, finding.tid)
    });
    own.next().map(|(id, _)| id)
}

fn first_call(thread: ThreadId, finding: &Finding) -> FoundElsewhere {
    let begin = finding.begin_ns;
    let end = match finding.count {
        1 => finding.end_ns,
        _ => begin,
    };
    FoundElsewhere {
        span: TimeRange::new(begin, end),
        lane: TrackKey::Thread(thread, finding.depth),
        identity: StableId::Call {
            thread,
            begin,
            depth: finding.depth,
        },
    }
}
