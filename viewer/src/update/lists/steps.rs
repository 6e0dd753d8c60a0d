//! Steps of training loops, with what bounds them.

use ascend_trace_analysis::Stats;
use ascend_trace_analysis::stats::{StepStats, Verdict};
use ascend_trace_recording::{Range, Thread, ThreadId, TimeRange, Trace};

use crate::app::App;
use crate::background_query::FoundElsewhere;
use crate::display_names;
use crate::item::TrackKey;
use crate::list::{JumpTarget, ListCell, ListColumn, ListEntry, RowId, left, right};
use crate::ranges::RangeId;
use crate::stable_id::StableId;

pub(super) const COLUMNS: &[ListColumn] = &[
    left("step"),
    left("bound by"),
    right("by %"),
    right("duration"),
    right("compute"),
    right("communication").from(100),
    right("copies").from(90),
    right("loading"),
    right("python").from(70),
    right("planning").from(120),
    right("queue").from(130),
    right("launch").from(110),
    right("tasks").from(140),
    left("in").from(160),
];

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
    let share = step.share_ns() as f64 / step.length_ns.max(1) as f64;
    ListEntry {
        id: RowId::Step(step.process, step.tid, step.begin_ns),
        cells: vec![
            step.name.clone().into(),
            step.verdict.map_or("too few times", Verdict::name).into(),
            step.verdict
                .map_or_else(ListCell::unknown, |_| ListCell::percent(share)),
            ListCell::duration(step.length_ns),
            ListCell::duration(step.compute_ns),
            // The time that is not hidden behind other work.
            ListCell::duration(step.exposed_communication_ns),
            ListCell::duration(step.exposed_copy_ns),
            ListCell::duration(step.loading_ns),
            ListCell::duration(step.python_ns),
            ListCell::duration(step.planning_ns),
            ListCell::duration(step.queue_ns),
            ListCell::duration(step.launch_ns),
            ListCell::count(step.tasks),
            thread.map_or_else(ListCell::unknown, |id| {
                display_names::thread(trace, id).into()
            }),
        ],
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
pub(super) fn found(
    (app, trace): (&App, &Trace),
    thread: ThreadId,
    span: TimeRange,
    name: &str,
) -> FoundElsewhere {
    let is_it = |range: &Range| (range.thread, range.time()) == (thread, span);
    let mut loaded = (0..).map(RangeId).zip(trace.ranges());
    let loaded = loaded.find(|(_, range)| is_it(range) && range.name == name);
    let level = loaded.and_then(|(id, _)| app.ranges.level(trace, id));
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
