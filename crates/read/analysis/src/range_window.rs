//! A narrow range of a long recording, found by the index, with as much around it as it takes to say
//! what happened there.
//!
//! Why a stream was idle at first depends on the work before the range, and the time of the last
//! submitted task may be recorded long after it. So the range is read with its surroundings, wider and
//! wider, until each stream with work in it has work before and after. Steps of a training loop that
//! overlap the range are read as a whole, since they are summed up as such.

use std::collections::HashSet;

use ascend_trace_format::api::{Role, WaitTarget};
use ascend_trace_recording::recording::WindowError;
use ascend_trace_recording::{OpenError, Recording, StreamId, TaskId, TimeRange, Trace};

use crate::dependencies::runs;
use crate::planned_ranges::is_step;
use crate::stalls::TaskRole;

/// Surroundings that are looked at first, on either side, of a range that is shorter.
const FIRST_NS: i64 = 100_000;
/// Growth factor of the margin per attempt.
const WIDER: i64 = 4;

/// Streams to account for in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// Those that have something to do in it.
    Active,
    /// Also those without work: their next work shows the reason.
    All,
}

/// Whether enough is known of the time before a range, and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KnownSurroundings {
    before: bool,
    after: bool,
}

/// Reads a range of a recording and its surroundings, about `most` calls and task times at most.
///
/// `None` where the range contains more than that or more than a quarter of the recording, or where
/// many streams do not show how its tasks ended: then the recording is read from its begin. The last
/// work before the range, and the next work of a stream without any in the range, are not searched
/// further than that.
///
/// # Errors
/// When the file cannot be read.
pub fn part_of(
    recording: &mut Recording,
    asked: impl Into<TimeRange>,
    streams: Streams,
    most: u64,
) -> Result<Option<Trace>, OpenError> {
    let Some(span) = recording.span() else {
        return Ok(None);
    };
    let asked = asked.into();
    let counts = recording.counts();
    let used: Vec<StreamId> = counts
        .streams
        .iter()
        .filter(|it| it.1.0 > 0)
        .map(|it| *it.0)
        .collect();
    let mut range = with_steps(recording.entities(), asked);
    let mut wide = range;
    let mut step = range.duration().max(FIRST_NS);
    let mut enough = None;
    loop {
        if recording.rows_in(range) > recording.rows() / 4 {
            return Ok(None);
        }
        if recording.rows_in(wide) > most {
            return Ok(enough);
        }
        let mut part = match recording.window_with_graphs(wide, most) {
            Ok(part) => part,
            // It is fuller than in the index.
            Err(WindowError::TooMany(_)) => return Ok(enough),
            Err(WindowError::Open(error)) => return Err(error),
        };
        let whole = with_steps(&part, asked);
        if whole != range {
            // Ranges that are not known from the start are known with their windows.
            range = whole;
            wide = wide.hull(range);
            continue;
        }
        part.mind_past();
        let active = surroundings(&part, &used, (range, wide, span), Streams::Active);
        let known = match streams {
            Streams::Active => active,
            Streams::All => surroundings(&part, &used, (range, wide, span), streams),
        };
        let before = known.before || wide.begin <= span.begin;
        let after = known.after || wide.end >= span.end;
        if active.after || wide.end >= span.end {
            enough = Some(part);
        }
        if before && after {
            return Ok(enough);
        }
        if !before {
            wide.begin = wide.begin.saturating_sub(step);
        }
        if !after {
            wide.end = wide.end.saturating_add(step);
        }
        step = step.saturating_mul(WIDER);
    }
}

/// The facts of a trace with all of `wide` about the surroundings of a range, for streams that have any
/// tasks.
fn surroundings(
    trace: &Trace,
    used: &[StreamId],
    (range, wide, span): (TimeRange, TimeRange, TimeRange),
    streams: Streams,
) -> KnownSurroundings {
    let named = Named::in_range(trace, range);
    let mut known = KnownSurroundings {
        before: true,
        // The target of a call's wait may end with it.
        after: named.until <= wide.end,
    };
    for stream in used.iter().copied() {
        let tasks = trace.stream_tasks(stream);
        let inside = |id: &TaskId| trace.extent(trace.task(*id)).overlaps(range);
        let first = tasks.iter().position(inside);
        let last = tasks.iter().rposition(inside);
        if let (Some(first), Some(last)) = (first, last) {
            let before = tasks[..first].iter().rposition(|id| is_place(trace, *id));
            let is_whole = |from: usize| follows(trace, &tasks[from..=first]);
            let reaches_back = trace.extent(trace.task(tasks[first])).begin >= wide.begin;
            let is_rooted = before.is_some_and(is_whole) || ends(trace, stream, Role::CreateStream);
            known.before &= is_rooted && reaches_back;
            known.after &= tasks[last + 1..].iter().any(|id| is_place(trace, *id))
                || ends(trace, stream, Role::DestroyStream);
        } else if named.is_about(stream) || wide.end >= span.end {
            // The last task shows the target of the wait, and the rest of the work at the end.
            known.before &= tasks.iter().any(|id| is_place(trace, *id))
                || ends(trace, stream, Role::CreateStream);
        } else if streams == Streams::All {
            let is_after = |id: &TaskId| trace.extent(trace.task(*id)).begin > range.end;
            let next = tasks.partition_point(|id| !is_after(id));
            let (before, after) = tasks.split_at(next);
            known.before &= before.iter().any(|id| is_place(trace, *id))
                || ends(trace, stream, Role::CreateStream);
            known.after &= after.iter().any(|id| is_place(trace, *id))
                || ends(trace, stream, Role::DestroyStream);
        }
    }
    known
}

/// The range with all steps that overlap it. Steps that only overlap these steps are left out.
fn with_steps(trace: &Trace, range: TimeRange) -> TimeRange {
    let steps = trace.ranges().iter().filter(|it| is_step(it));
    let steps = steps.map(|it| it.time());
    let steps = steps.filter(|it| it.overlaps(range));
    steps.fold(range, TimeRange::hull)
}

/// Streams that calls in a range work on.
struct Named {
    streams: HashSet<StreamId>,
    /// Some work on all of them.
    all: bool,
    /// Until when calls last that wait for something.
    until: i64,
}

impl Named {
    fn in_range(trace: &Trace, range: TimeRange) -> Self {
        let calls = trace.calls().iter();
        let inside = calls.filter(|call| call.range().overlaps(range));
        let mut named = Self {
            streams: HashSet::new(),
            all: false,
            until: i64::MIN,
        };
        for call in inside {
            named.streams.extend(call.stream);
            let meaning = trace.function(call.function).role.meaning();
            if meaning.waits.is_sync() || meaning.waits == WaitTarget::Transfer {
                named.until = named.until.max(call.end);
            }
            named.all |= meaning.on_all_streams;
        }
        named
    }

    fn is_about(&self, stream: StreamId) -> bool {
        self.all || self.streams.contains(&stream)
    }
}

/// Whether it is known when the task ran, and that its stream did nothing else then.
fn is_place(trace: &Trace, id: TaskId) -> bool {
    let task = trace.task(id);
    let class = TaskRole::of(trace, task);
    task.time.is_some() && matches!(class, TaskRole::Work | TaskRole::Callback)
}

/// Whether no task is missing between the first and the last of these.
fn follows(trace: &Trace, tasks: &[TaskId]) -> bool {
    let ran = tasks.iter().filter(|id| runs(trace, **id));
    let sequences: Vec<u32> = ran.map(|id| trace.task(*id).sequence).collect();
    let mut pairs = sequences.windows(2);
    pairs.all(|pair| pair[1] == pair[0].saturating_add(1))
}

/// Whether a stream was made, or destroyed, by a call of the trace.
fn ends(trace: &Trace, stream: StreamId, role: Role) -> bool {
    let mut calls = trace.calls().iter();
    calls.any(|call| call.stream == Some(stream) && trace.function(call.function).role == role)
}
