//! Findings of checks: mistakes and costs of the program.

use ascend_trace_analysis::Fold;
use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_recording::{ThreadId, TimeRange, Trace};

use crate::app::{App, World};
use crate::identity::Identity;
use crate::item::TrackKey;
use crate::list::{Cell, Column, Entry, RowId, Target, left, right};
use crate::names;
use crate::quest::Found;
use crate::update::hunt;

use super::Content;

const COLUMNS: &[Column] = &[
    left("severity"),
    left("check").from(100),
    left("what happened"),
    right("calls"),
    right("total"),
    left("in").from(110),
    left("what to do").from(150),
];

pub(super) fn content(app: &App, world: World<'_>) -> Content {
    let known = hunt::known_findings(app).filter(|_| !world.overview.is_whole());
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
    Content {
        columns: COLUMNS,
        entries: entries.collect(),
        note: format!("in {place}"),
    }
}

fn entry(trace: &Trace, finding: &Finding) -> Entry {
    let thread = thread_of(trace, finding);
    Entry {
        id: RowId::Finding(finding.check, finding.tid, finding.begin_ns),
        cells: vec![
            finding.severity.name().into(),
            finding.check.into(),
            finding.what.clone().into(),
            Cell::count(finding.count),
            Cell::duration(finding.total_ns),
            thread.map_or_else(Cell::unknown, |id| names::thread(trace, id).into()),
            finding.advice.clone().into(),
        ],
        target: match thread {
            Some(thread) => Target::Call(Box::new(first_call(thread, finding))),
            None => Target::Nowhere,
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

fn first_call(thread: ThreadId, finding: &Finding) -> Found {
    let begin = finding.begin_ns;
    let end = match finding.count {
        1 => finding.end_ns,
        _ => begin,
    };
    Found {
        span: TimeRange::new(begin, end),
        lane: TrackKey::Thread(thread, finding.depth),
        identity: Identity::Call {
            thread,
            begin,
            depth: finding.depth,
        },
    }
}
