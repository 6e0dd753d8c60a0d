//! Findings of checks: mistakes and costs of the program.

use ascend_trace_analysis::Fold;
use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_recording::{ThreadId, TimeRange, Trace};

use crate::app::{App, ViewData};
use crate::background_query::FoundElsewhere;
use crate::display_names;
use crate::item::TrackKey;
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, RowId, left, right};
use crate::stable_id::StableId;
use crate::update::background_query;

use super::ListContent;

const COLUMNS: &[ListColumn] = &[
    left("severity"),
    left("check").from(100),
    left("what happened"),
    right("calls"),
    right("total"),
    left("in").from(110),
    left("what to do").from(150),
];

pub(super) fn content(app: &App, world: ViewData<'_>) -> ListContent {
    let known = background_query::known_findings(app).filter(|_| !world.overview.is_whole());
    let (findings, place) = match known {
        Some(findings) => (findings.to_vec(), "all of the recording"),
        None => {
            let found = Findings::default().of(&app.window(world.trace));
            let place = match world.overview.is_whole() {
                true => "all of the recording",
                false => "the part that is loaded",
            };
            (found, place)
        }
    };
    let entries = findings.iter().map(|finding| entry(world.trace, finding));
    ListContent {
        columns: COLUMNS,
        entries: entries.collect(),
        note: format!("in {place}"),
    }
}

fn entry(trace: &Trace, finding: &Finding) -> ListEntry {
    let thread = thread_of(trace, finding);
    ListEntry {
        id: RowId::Finding(finding.check, finding.tid, finding.begin_ns),
        cells: vec![
            finding.severity.name().into(),
            finding.check.into(),
            finding.what.clone().into(),
            ListCell::count(finding.count),
            ListCell::duration(finding.total_ns),
            thread.map_or_else(ListCell::unknown, |id| {
                display_names::thread(trace, id).into()
            }),
            finding.advice.clone().into(),
        ],
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
