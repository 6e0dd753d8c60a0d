//! Steps of training loops, with what bounds them.

use ascend_trace_analysis::Stats;
use ascend_trace_analysis::stats::StepStats;
use ascend_trace_recording::{Range, Thread, ThreadId, TimeRange, Trace};

use crate::app::App;
use crate::background_query::FoundElsewhere;
use crate::display_names;
use crate::item::TrackKey;
use crate::list::{self, JumpTarget, ListCell, ListColumn, ListEntry, RowId, left};
use crate::ranges::RangeId;
use crate::stable_id::StableId;

pub(super) fn columns() -> Vec<ListColumn> {
    let mut columns = list::columns::<StepStats>();
    columns.push(left("in").from(160));
    columns
}

/// The steps of which all is known.
pub(super) fn entries(
    trace: &Trace,
    stats: &Stats,
    is_known: impl Fn(&StepStats) -> bool,
) -> Vec<ListEntry> {
    let steps = stats.steps.iter().filter(|step| is_known(step));
    steps.map(|step| entry(trace, step)).collect()
}

fn entry(trace: &Trace, step: &StepStats) -> ListEntry {
    let thread = thread_of(trace, step);
    let mut cells = list::cells(step, 0, |_| None);
    cells.push(thread.map_or_else(ListCell::unknown, |id| {
        display_names::thread(trace, id).into()
    }));
    ListEntry {
        id: RowId::Step(step.process, step.tid, step.begin_ns),
        cells,
        target: match thread {
            Some(thread) => JumpTarget::Step(thread, range(step), step.name.clone()),
            None => JumpTarget::Nowhere,
        },
    }
}

/// Threads are the same in all parts of a recording.
fn thread_of(trace: &Trace, step: &StepStats) -> Option<ThreadId> {
    let own = |thread: &Thread| {
        let process = trace.process(thread.process).serial;
        (process, thread.tid) == (step.process, step.tid)
    };
    let place = trace.threads().iter().position(own);
    place.map(|place| ThreadId(place as u32))
}

/// When a step was.
pub(super) const fn range(step: &StepStats) -> TimeRange {
    TimeRange::new(step.begin_ns, step.begin_ns + step.length_ns)
}

/// Where the range of a step is.
pub(crate) fn found(
    (app, trace): (&App, &Trace),
    thread: ThreadId,
    span: TimeRange,
    name: &str,
) -> FoundElsewhere {
    let is_it = |range: &Range| (range.thread, range.time()) == (thread, span);
    let mut loaded = (0..).map(RangeId).zip(trace.ranges());
    let loaded = loaded.find(|(_, range)| is_it(range) && range.name == name);
    let level = loaded.and_then(|(id, _)| app.document.ranges.level(trace, id));
    // Where it is not loaded now: steps have no ranges around them, as a rule.
    let level = level.unwrap_or(0);
    FoundElsewhere {
        span,
        lane: TrackKey::Ranges(thread, level),
        identity: StableId::Range {
            thread,
            level,
            begin: span.begin,
            end: span.end,
        },
    }
}
