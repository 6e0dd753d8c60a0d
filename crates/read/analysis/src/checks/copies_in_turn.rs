//! Copies to the device and copies to the host were made in turn on one stream, although they use different memory. A device
//! has a separate engine for each direction, so the copies of two streams can run at the same time.
//!
//! Make the copies of the two directions on two streams. If one of them needs work of the other stream, let its stream wait
//! for an event.
//!
//! The time of a finding is the most that this can save: of each two copies, the time of the shorter one. Copies without a time take the mean
//! of the others.
//!
//! Nothing is reported of these copies:
//!
//! - One writes memory that the other one uses.
//! - A task is between them, or the stream waits: the second copy may need it.
//! - The second copy was submitted when the first one had ended, or it began later for another reason.

use std::collections::HashMap;

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::units::count;
use ascend_trace_recording::{CallId, Direction, StreamId, TaskId, ThreadId, TimeRange, Trace};

use super::super::happens_before::{NotedCall, Touched, conflict, touched};
use super::super::{Check, Finding, Remedy};
use crate::dependencies::runs;
use crate::{TaskRole, Window};

/// Fewer pairs are not worth a word.
const LEAST: u64 = 16;
/// A pair that saves less than this part of the time from the first copy to the last is not either, as a divisor.
const LEAST_PART: i64 = 50;
/// A copy takes longer. Nanoseconds.
const SOON_NS: i64 = 10_000;
/// Threads and streams that are followed.
const MOST: usize = 1 << 12;

/// The last copy on a stream, if no task came after it.
#[derive(Debug)]
struct Copied {
    direction: Direction,
    /// `None` without a time.
    time: Option<TimeRange>,
    /// The begin and the end of its call.
    submitted: TimeRange,
    uses: Vec<Touched>,
}

/// The pairs of a thread on a stream.
#[derive(Debug)]
struct Pairs {
    span: TimeRange,
    found: Finding,
    /// Further pairs of which a copy has no time.
    untimed: u64,
}

impl Pairs {
    /// The finding for all pairs. Those without times save as much as the others.
    fn finding(self) -> Finding {
        let (found, untimed) = (self.found, self.untimed);
        let more = i128::from(found.total_ns) * i128::from(untimed) / i128::from(found.count.max(1));
        let all = count(found.count + untimed);
        let what = match untimed {
            0 => format!("{}, {all} times", found.what),
            _ => {
                let timed = count(found.count);
                format!("{}, {all} times ({timed} have times)", found.what)
            }
        };
        Finding {
            what,
            count: found.count + untimed,
            total_ns: found.total_ns.saturating_add(more as i64),
            ..found
        }
    }
}

/// Two copies after each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    /// The time for which both can run.
    Saves(i64),
    /// One has no time.
    Untimed,
}

#[derive(Debug, Default)]
pub(super) struct CopiesInTurn {
    last: HashMap<StreamId, Copied>,
    pairs: HashMap<(ThreadId, StreamId), Pairs>,
}

impl Check for CopiesInTurn {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in window.stream_tasks(stream) {
                self.task(trace, id, wanted(trace.task(id).call));
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let pairs = std::mem::take(&mut self.pairs).into_values();
        let found = pairs.filter(|it| {
            let least = it.span.duration() / LEAST_PART;
            it.found.count >= LEAST && it.found.total_ns >= least
        });
        found.map(Pairs::finding).collect()
    }
}

impl CopiesInTurn {
    fn task(&mut self, trace: &Trace, id: TaskId, is_wanted: bool) {
        let task = trace.task(id);
        if !runs(trace, id) || TaskRole::of(trace, task) == TaskRole::Mark {
            return;
        }
        let before = self.last.remove(&task.stream);
        let Some(copied) = copied(trace, id) else {
            return;
        };
        let pair = before.as_ref().and_then(|it| it.pair(&copied));
        let Some(pair) = pair else {
            if self.last.len() < MOST {
                self.last.insert(task.stream, copied);
            }
            return;
        };
        // The next copy may run together with one after it.
        if is_wanted {
            match pair {
                Pair::Saves(shorter) => self.add(trace, id, shorter, copied),
                Pair::Untimed => self.add_untimed(trace, id),
            }
        }
    }

    /// Counts a pair where others were found.
    fn add_untimed(&mut self, trace: &Trace, id: TaskId) {
        let task = trace.task(id);
        let key = (trace.call(task.call).thread, task.stream);
        if let Some(pairs) = self.pairs.get_mut(&key) {
            pairs.untimed += 1;
        }
    }

    fn add(&mut self, trace: &Trace, id: TaskId, shorter: i64, copied: Copied) {
        let task = trace.task(id);
        let note = NotedCall::of(trace, task.call, true);
        let key = (note.thread, task.stream);
        if self.pairs.len() >= MOST && !self.pairs.contains_key(&key) {
            return;
        }
        let this = Finding {
            total_ns: shorter,
            what: format!(
                "{} {} ran after a copy of the other direction that uses other memory",
                note.on_stream(trace),
                copied.direction.name(),
            ),
            advice: "make the copies of the two directions on two streams".to_owned(),
            remedy: Some(Remedy::NotSimulated),
            ..Finding::of_note(trace, &note)
        };
        let Some(time) = copied.time else { return };
        match self.pairs.get_mut(&key) {
            Some(pairs) => {
                pairs.span = TimeRange::new(pairs.span.begin, time.end);
                pairs.found.join(&this);
            }
            None => {
                let first = Pairs {
                    span: time,
                    found: this,
                    untimed: 0,
                };
                self.pairs.insert(key, first);
            }
        }
    }
}

impl Copied {
    /// What both can save at the same time, if the other one follows it and nothing else puts them in order.
    fn pair(&self, other: &Self) -> Option<Pair> {
        let is_other_way = self.direction != other.direction;
        if !is_other_way || conflict(&self.uses, &other.uses) {
            return None;
        }
        let Some((own, others)) = self.time.zip(other.time) else {
            // The first copy had hardly begun when the second one was submitted.
            let is_soon = other.submitted.begin - self.submitted.end <= SOON_NS;
            return is_soon.then_some(Pair::Untimed);
        };
        let shorter = own.duration().min(others.duration());
        let is_held = other.submitted.end <= own.end - shorter / 2
            && others.begin - own.end <= shorter / 2;
        (shorter > 0 && is_held).then_some(Pair::Saves(shorter))
    }
}

/// A copy between host and device with known memory.
fn copied(trace: &Trace, id: TaskId) -> Option<Copied> {
    let task = trace.task(id);
    if task.kind != TaskKind::Memcpy {
        return None;
    }
    let direction = trace.direction(trace.call(task.call))?;
    let is_between = matches!(direction, Direction::HostToDevice | Direction::DeviceToHost);
    let uses = touched(trace, task.call);
    (is_between && !uses.is_empty()).then_some(Copied {
        direction,
        time: task.time.map(|it| it.range()),
        submitted: trace.call(task.call).range(),
        uses,
    })
}
