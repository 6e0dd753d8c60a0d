//! The most likely order of events in a gap with untimed work and untimed waits.
//!
//! The work has its usual duration, and a wait for a record with a known time ends then. The other waits share the rest of the
//! gap: their sum is known, and each of them has a bound.

use std::ops::RangeInclusive;

use ascend_trace_recording::{TaskId, TimeRange};

use super::untimed_gap::{GapPart, IN_FLIGHT_NS, RecordReached};
use super::{Cause, IDLE_FLOOR_NS, StallBound};

/// An untimed task in the gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) id: TaskId,
    /// Begin of the call that submitted it.
    pub(super) submitted: i64,
    pub(super) kind: StepKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum StepKind {
    /// Usual duration, and its error.
    Work(i64, i64),
    Wait(Cause, RecordReached),
}

/// A gap and its untimed tasks, in order.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    pub(super) range: TimeRange,
    /// When the task after the gap was submitted.
    pub(super) came: i64,
    pub(super) steps: Vec<Step>,
}

/// A time for which a wait held the stream.
#[derive(Clone, Copy, Debug)]
struct Hold {
    range: TimeRange,
    cause: Cause,
    id: TaskId,
    /// By how much its begin and end may be off.
    error: i64,
}

/// Steps up to a wait with a known end, or to the end of the gap.
#[derive(Debug, Default)]
struct Stretch {
    /// Places of the waits without a known end, in order.
    open: Vec<usize>,
    /// Time in which a task may not have been submitted, although waits were over.
    late: i64,
}

impl Step {
    const fn work(&self) -> (i64, i64) {
        match self.kind {
            StepKind::Work(length, error) => (length, error),
            StepKind::Wait(..) => (0, 0),
        }
    }
}

impl Schedule {
    /// The parts of the gap. `None` where the waits are shorter than the error, so that they may have held nothing.
    pub(super) fn parts(&self, next: TaskId) -> Option<Vec<GapPart>> {
        let holds = self.holds();
        holds.first()?;
        let mut parts = Vec::new();
        let (mut at, mut steps) = (self.range.begin, &self.steps[..]);
        for hold in holds {
            let (range, error) = (hold.range, hold.error);
            let bound = StallBound { next, error };
            let place = steps.iter().position(|it| it.id == hold.id);
            let (before, after) = steps.split_at(place.unwrap_or(0));
            steps = after;
            parts.push(worked(TimeRange::new(at, range.begin), before));
            parts.push(GapPart::Held(range, hold.cause, hold.id, bound));
            at = range.end;
        }
        parts.push(worked(TimeRange::new(at, self.range.end), steps));
        Some(parts)
    }

    /// The waits that held the stream. Each known end begins another stretch.
    fn holds(&self) -> Vec<Hold> {
        let mut holds = Vec::new();
        let mut left = self.sum(|(length, _)| length);
        let work = self.sum(|(_, error)| error);
        // The stretch from `begin` on, and the time now if its open waits took none.
        let (mut first, mut begin, mut at) = (0, self.range.begin, self.range.begin);
        let mut stretch = Stretch::default();
        for (place, step) in self.steps.iter().enumerate() {
            match stretch.open.is_empty() {
                // Nothing else can have held the stream until then.
                true => at = at.max(step.submitted),
                false => stretch.late = stretch.late.max(behind(step.submitted, at)),
            }
            left = left.saturating_sub(step.work().0);
            match step.kind {
                StepKind::Work(length, _) => at = at.saturating_add(length),
                StepKind::Wait(_, RecordReached::At(end, error)) => {
                    let end = end.min(self.range.end.saturating_sub(left));
                    if end > at {
                        stretch.open.push(place);
                        let rest = (end.saturating_sub(at), work.max(error));
                        self.share(first..=place, begin, &stretch, rest, &mut holds);
                        (first, begin, at) = (place + 1, end, end);
                        stretch = Stretch::default();
                    }
                }
                StepKind::Wait(..) => stretch.open.push(place),
            }
        }
        stretch.late = stretch.late.max(behind(self.came, at));
        let rest = (self.range.end.saturating_sub(at), work);
        if let Some(last) = self.steps.len().checked_sub(1).filter(|it| first <= *it) {
            self.share(first..=last, begin, &stretch, rest, &mut holds);
        }
        holds
    }

    /// Gives each wait of a stretch an equal part of the time that its work leaves, if that is longer than its error.
    fn share(
        &self,
        steps: RangeInclusive<usize>,
        begin: i64,
        stretch: &Stretch,
        (rest, error): (i64, i64),
        holds: &mut Vec<Hold>,
    ) {
        let number = stretch.open.len() as i64;
        let error = error.saturating_add(stretch.late);
        if number == 0 || rest <= error {
            return;
        }
        // Each of several waits may have had nothing, or the part of all others.
        let part = rest / number;
        let error = error.saturating_add(part.saturating_mul(number - 1));
        let mut at = begin;
        for place in steps {
            let step = &self.steps[place];
            if stretch.open.first().is_some_and(|it| place <= *it) {
                at = at.max(step.submitted);
            }
            match step.kind {
                StepKind::Work(length, _) => at = at.saturating_add(length),
                StepKind::Wait(cause, _) if stretch.open.binary_search(&place).is_ok() => {
                    // The last one also gets the remainder of the division.
                    let is_last = stretch.open.last() == Some(&place);
                    let more = if is_last { rest % number } else { 0 };
                    let end = at.saturating_add(part).saturating_add(more);
                    holds.push(Hold {
                        range: TimeRange::new(at, end),
                        cause,
                        id: step.id,
                        error,
                    });
                    at = end;
                }
                StepKind::Wait(..) => {}
            }
        }
    }

    /// The number of tasks that are work, how long they usually take in sum, and the error of that.
    pub(super) fn work(&self) -> (i64, i64, i64) {
        let is_work = |step: &&Step| matches!(step.kind, StepKind::Work(..));
        let count = self.steps.iter().filter(is_work).count();
        (
            count as i64,
            self.sum(|(length, _)| length),
            self.sum(|(_, error)| error),
        )
    }

    fn sum(&self, part: impl Fn((i64, i64)) -> i64) -> i64 {
        let parts = self.steps.iter().map(|step| part(step.work()));
        parts.fold(0, i64::saturating_add)
    }
}

/// A time in which no wait held the stream.
fn worked(range: TimeRange, steps: &[Step]) -> GapPart {
    let add = |(sum, open): (i64, i64), step: &Step| {
        let (length, error) = step.work();
        (sum.saturating_add(length), open.saturating_add(error))
    };
    let (length, error) = steps.iter().fold((0, 0), add);
    let most = length.saturating_add(error.max(IDLE_FLOOR_NS));
    match length > 0 && range.duration() <= most {
        true => GapPart::Worked(range),
        false => GapPart::Unknown(range),
    }
}

/// For how long a stream that came here at this time may have waited for a submission.
fn behind(submitted: i64, at: i64) -> i64 {
    submitted
        .saturating_add(IN_FLIGHT_NS)
        .saturating_sub(at)
        .max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: i64 = 1_000;

    fn work(id: u32, length: i64) -> Step {
        step(id, StepKind::Work(length * US, US))
    }

    fn wait(id: u32, reached: RecordReached) -> Step {
        step(id, StepKind::Wait(Cause::EventWait, reached))
    }

    fn step(id: u32, kind: StepKind) -> Step {
        Step {
            id: TaskId(id),
            submitted: -100 * US,
            kind,
        }
    }

    /// The waits of a gap of 100 µs: task, begin, end and error in µs.
    fn holds(steps: &[Step]) -> Option<Vec<(u32, i64, i64, i64)>> {
        let schedule = Schedule {
            range: TimeRange::new(0, 100 * US),
            came: -100 * US,
            steps: steps.to_vec(),
        };
        let parts = schedule.parts(TaskId(99))?;
        let mut at = 0;
        let mut found = Vec::new();
        for part in parts {
            let range = match part {
                GapPart::Held(range, _, id, bound) => {
                    found.push((id.0, range.begin / US, range.end / US, bound.error / US));
                    range
                }
                GapPart::Unknown(range) | GapPart::Worked(range) | GapPart::Idle(range, _) => range,
            };
            assert_eq!(range.begin, at);
            at = range.end;
        }
        assert_eq!(at, 100 * US);
        Some(found)
    }

    #[test]
    fn one_wait_has_the_time_that_the_work_leaves() {
        let steps = [work(0, 20), wait(1, RecordReached::Unknown), work(2, 30)];
        assert_eq!(holds(&steps), Some(vec![(1, 20, 70, 2)]));
    }

    #[test]
    fn several_waits_share_that_time_and_each_has_a_bound() {
        let steps = [
            wait(0, RecordReached::Unknown),
            work(1, 20),
            wait(2, RecordReached::Unknown),
            work(3, 40),
        ];
        assert_eq!(holds(&steps), Some(vec![(0, 0, 20, 22), (2, 40, 60, 22)]));
    }

    #[test]
    fn a_known_end_leaves_the_rest_to_the_other_wait() {
        let steps = [
            wait(0, RecordReached::At(30 * US, US)),
            work(1, 20),
            wait(2, RecordReached::Unknown),
            work(3, 40),
        ];
        assert_eq!(holds(&steps), Some(vec![(0, 0, 30, 2), (2, 50, 60, 2)]));
    }

    #[test]
    fn a_known_end_says_how_long_the_waits_up_to_it_were_together() {
        let steps = [
            wait(0, RecordReached::Unknown),
            work(1, 20),
            wait(2, RecordReached::At(80 * US, US)),
            work(3, 20),
        ];
        assert_eq!(holds(&steps), Some(vec![(0, 0, 30, 32), (2, 50, 80, 32)]));
    }

    #[test]
    fn a_wait_that_may_have_held_nothing_is_left_out() {
        let steps = [wait(0, RecordReached::Unknown), work(1, 99)];
        assert_eq!(holds(&steps), None);
        let over = [wait(0, RecordReached::At(-5 * US, US)), work(1, 50)];
        assert_eq!(holds(&over), None);
    }

    #[test]
    fn a_late_submission_may_have_held_the_stream_instead() {
        let mut late = [wait(0, RecordReached::Unknown), work(1, 40)];
        late[1].submitted = 20 * US;
        // 30 µs of it may be the host's.
        assert_eq!(holds(&late), Some(vec![(0, 0, 60, 31)]));
        late[1].submitted = 50 * US;
        assert_eq!(holds(&late), None);
    }
}
