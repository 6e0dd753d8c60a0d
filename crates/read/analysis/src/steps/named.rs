//! Steps that the program names.

use std::cmp::Reverse;
use std::fmt;

use ascend_trace_recording::{ProcessId, Range, ThreadId, TimeRange, Trace};

use super::process_steps::{FoundStep, LoopId, LoopSteps, Origin, RecordingSteps, StepClock};
use crate::PlannedRanges;
use crate::planned_ranges::{is_named_step, is_step_of_framework};

/// Definition of steps.
#[derive(Clone, Copy, Default)]
pub enum StepDefinition<'w> {
    /// Ranges of the program, else repeated work.
    #[default]
    Any,
    /// Repeated work, regardless of ranges.
    Repeated,
    /// These ranges and marks.
    Those(&'w dyn Fn(&Range) -> bool),
}

/// The steps that are named in a recording, of which all ranges are known.
pub(crate) fn named(
    trace: &Trace,
    places: &PlannedRanges,
    wanted: StepDefinition<'_>,
) -> RecordingSteps {
    let mut plan = RecordingSteps::default();
    for id in (0..trace.processes().len() as u32).map(ProcessId) {
        let lap = match wanted {
            StepDefinition::Those(wanted) => picked(trace, id, wanted),
            StepDefinition::Any => usual(trace, places, id),
            StepDefinition::Repeated => None,
        };
        if let Some(lap) = lap {
            plan.laps
                .insert(LoopId::first(trace.process(id).serial), lap);
        }
    }
    plan
}

/// Ranges of the hook, else ranges with names like steps.
fn usual(trace: &Trace, places: &PlannedRanges, process: ProcessId) -> Option<LoopSteps> {
    let thread = places.leader(process)?;
    let own = || trace.ranges().iter().filter(move |it| it.thread == thread);
    let reported = own().filter(|it| is_step_of_framework(it));
    let named = own().filter(|it| is_named_step(it));
    let (origin, cuts) = match disjoint(reported.map(cut).collect()) {
        none if none.is_empty() => (Origin::Named, disjoint(named.map(cut).collect())),
        cuts => (Origin::Framework, cuts),
    };
    let lap = LoopSteps {
        origin,
        clock: StepClock::Host,
        left_out: 0,
        thread,
        cuts,
    };
    (!lap.cuts.is_empty()).then_some(lap)
}

/// The ranges that are wanted, of the thread that has the most of them; of marks, each lasts until the next.
fn picked(trace: &Trace, process: ProcessId, wanted: &dyn Fn(&Range) -> bool) -> Option<LoopSteps> {
    let own = trace.ranges().iter();
    let own = own.filter(|it| trace.thread(it.thread).process == process && wanted(it));
    let own: Vec<&Range> = own.collect();
    let thread = most(own.iter().map(|it| it.thread))?;
    let mut own: Vec<&Range> = own.into_iter().filter(|it| it.thread == thread).collect();
    own.sort_by_key(|it| it.begin);
    let is_marks = own.iter().all(|it| it.begin == it.end);
    let cuts = match is_marks {
        true => between(&own),
        false => disjoint(own.into_iter().map(cut).collect()),
    };
    let lap = LoopSteps {
        origin: Origin::Pattern,
        clock: StepClock::Host,
        left_out: 0,
        thread,
        cuts,
    };
    (!lap.cuts.is_empty()).then_some(lap)
}

/// From each mark to the next, and from the last one to the end of the recorded time, which is not
/// known yet.
fn between(marks: &[&Range]) -> Vec<FoundStep> {
    let ends = marks.iter().skip(1).map(|it| it.begin).chain([i64::MAX]);
    let cuts = marks.iter().zip(ends).map(|(mark, end)| FoundStep {
        begin: mark.begin,
        end,
        asked: TimeRange::new(mark.begin, end),
        name: mark.name.clone(),
    });
    cuts.filter(|it| it.begin < it.end).collect()
}

/// The one that comes most often, the least of several.
fn most(threads: impl Iterator<Item = ThreadId>) -> Option<ThreadId> {
    let mut counts = std::collections::BTreeMap::<ThreadId, usize>::new();
    threads.for_each(|it| *counts.entry(it).or_default() += 1);
    let most = counts.into_iter().max_by_key(|it| (it.1, Reverse(it.0)));
    most.map(|it| it.0)
}

fn cut(range: &Range) -> FoundStep {
    FoundStep {
        begin: range.begin,
        end: range.end,
        asked: range.time(),
        name: range.name.clone(),
    }
}

/// By begin; a range that begins inside of a step is no step.
fn disjoint(mut cuts: Vec<FoundStep>) -> Vec<FoundStep> {
    cuts.sort_by_key(|it| (it.begin, Reverse(it.end)));
    let mut found: Vec<FoundStep> = Vec::new();
    for cut in cuts {
        if found.last().is_none_or(|last| last.end <= cut.begin) && cut.begin < cut.end {
            found.push(cut);
        }
    }
    found
}

impl fmt::Debug for StepDefinition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "Any",
            Self::Repeated => "Repeated",
            Self::Those(_) => "Those",
        })
    }
}
