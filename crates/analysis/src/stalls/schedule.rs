//! The most likely order of events in a gap with untimed work and untimed waits.
//!
//! The work has its usual duration, and a wait for a record with a known time ends then. The other waits share the rest of the
//! gap: their sum is known, and each of them has a bound.

use ascend_trace_recording::{TaskId, TimeRange};

use super::derived::{IN_FLIGHT_NS, Part, Reached};
use super::{Bound, Cause};

/// An untimed task in the gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) id: TaskId,
    /// Begin of the call that submitted it.
    pub(super) submitted: i64,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Usual duration, and its error.
    Work(i64, i64),
    Wait(Cause, Reached),
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
    /// The error of its end, where the end is known.
    known: Option<i64>,
}

/// The gap, if each wait without a known end took the same time.
#[derive(Debug, Default)]
struct Run {
    holds: Vec<Hold>,
    /// End of the last task.
    end: i64,
    /// Time in which the next task may not have been submitted, although waits were over.
    late: i64,
}

impl Step {
    const fn work(&self) -> (i64, i64) {
        match self.kind {
            Kind::Work(length, error) => (length, error),
            Kind::Wait(..) => (0, 0),
        }
    }

    /// Whether it is a wait without a known end.
    const fn is_open(&self) -> bool {
        matches!(
            self.kind,
            Kind::Wait(_, Reached::Unknown | Reached::Missing)
        )
    }
}

impl Schedule {
    /// The parts of the gap. `None` where the waits are shorter than the error, so that they may have held nothing.
    pub(super) fn parts(&self, next: TaskId) -> Option<Vec<Part>> {
        let work = self.sum(|(_, error)| error);
        let open = self.steps.iter().filter(|step| step.is_open()).count() as i64;
        let least = self.run(0);
        let rest = self.range.end.saturating_sub(least.end);
        let (run, error) = match work.saturating_add(least.late) {
            error if open > 0 && rest > error => {
                let share = self.share(rest);
                // Each of several waits may have had nothing, or the part of all others.
                let others = share.saturating_mul(open - 1);
                (self.run(share), error.saturating_add(others))
            }
            _ => (least, work),
        };
        let error_of = |hold: &Hold| error.max(hold.known.unwrap_or(0));
        let is_certain =
            |hold: &&Hold| hold.known.is_none() || hold.range.duration() > error_of(hold);
        let mut parts = Vec::new();
        let mut at = self.range.begin;
        for hold in run.holds.iter().filter(is_certain) {
            let error = error_of(hold);
            parts.push(Part::Unknown(TimeRange::new(at, hold.range.begin)));
            let bound = Bound { next, error };
            parts.push(Part::Held(hold.range, hold.cause, hold.id, bound));
            at = hold.range.end;
        }
        let Some(Part::Held(last, ..)) = parts.last_mut() else {
            return None;
        };
        // The equal parts leave up to a nanosecond each.
        if self.range.end.saturating_sub(at) < open {
            *last = TimeRange::new(last.begin, self.range.end);
        } else {
            parts.push(Part::Unknown(TimeRange::new(at, self.range.end)));
        }
        Some(parts)
    }

    /// The time of each wait without a known end with which the gap ends when it did; less than `most`.
    fn share(&self, most: i64) -> i64 {
        let (mut fits, mut exceeds) = (0, most.saturating_add(1));
        while exceeds - fits > 1 {
            let middle = fits + (exceeds - fits) / 2;
            match self.run(middle).end <= self.range.end {
                true => fits = middle,
                false => exceeds = middle,
            }
        }
        fits
    }

    fn sum(&self, part: impl Fn((i64, i64)) -> i64) -> i64 {
        let parts = self.steps.iter().map(|step| part(step.work()));
        parts.fold(0, i64::saturating_add)
    }

    fn run(&self, share: i64) -> Run {
        let mut run = Run::default();
        let mut at = self.range.begin;
        let mut left = self.sum(|(length, _)| length);
        let mut is_open = false;
        for step in &self.steps {
            match is_open {
                // Nothing else can have held the stream until then.
                false => at = at.max(step.submitted),
                true => run.late = run.late.max(behind(step.submitted, at)),
            }
            left = left.saturating_sub(step.work().0);
            let begin = at;
            match step.kind {
                Kind::Work(length, _) => at = at.saturating_add(length),
                Kind::Wait(cause, reached) => {
                    let known = match reached {
                        Reached::At(end, error) => {
                            at = at.max(end.min(self.range.end.saturating_sub(left)));
                            Some(error)
                        }
                        Reached::Unknown | Reached::Missing => {
                            is_open = true;
                            at = at.saturating_add(share);
                            None
                        }
                    };
                    let range = TimeRange::new(begin, at);
                    let id = step.id;
                    if !range.is_empty() {
                        run.holds.push(Hold {
                            range,
                            cause,
                            id,
                            known,
                        });
                    }
                }
            }
        }
        run.late = run.late.max(behind(self.came, at));
        run.end = at;
        run
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
        step(id, Kind::Work(length * US, US))
    }

    fn wait(id: u32, reached: Reached) -> Step {
        step(id, Kind::Wait(Cause::EventWait, reached))
    }

    fn step(id: u32, kind: Kind) -> Step {
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
                Part::Held(range, _, id, bound) => {
                    found.push((id.0, range.begin / US, range.end / US, bound.error / US));
                    range
                }
                Part::Unknown(range) | Part::Idle(range, _) => range,
            };
            assert_eq!(range.begin, at);
            at = range.end;
        }
        assert_eq!(at, 100 * US);
        Some(found)
    }

    #[test]
    fn one_wait_has_the_time_that_the_work_leaves() {
        let steps = [work(0, 20), wait(1, Reached::Unknown), work(2, 30)];
        assert_eq!(holds(&steps), Some(vec![(1, 20, 70, 2)]));
    }

    #[test]
    fn several_waits_share_that_time_and_each_has_a_bound() {
        let steps = [
            wait(0, Reached::Unknown),
            work(1, 20),
            wait(2, Reached::Unknown),
            work(3, 40),
        ];
        assert_eq!(holds(&steps), Some(vec![(0, 0, 20, 22), (2, 40, 60, 22)]));
    }

    #[test]
    fn a_known_end_leaves_the_rest_to_the_other_wait() {
        let steps = [
            wait(0, Reached::At(30 * US, US)),
            work(1, 20),
            wait(2, Reached::Unknown),
            work(3, 40),
        ];
        assert_eq!(holds(&steps), Some(vec![(0, 0, 30, 2), (2, 50, 60, 2)]));
    }

    #[test]
    fn a_wait_that_may_have_held_nothing_is_none() {
        let steps = [wait(0, Reached::Unknown), work(1, 99)];
        assert_eq!(holds(&steps), None);
        let over = [wait(0, Reached::At(-5 * US, US)), work(1, 50)];
        assert_eq!(holds(&over), None);
    }

    #[test]
    fn a_late_submission_may_have_held_the_stream_instead() {
        let mut late = [wait(0, Reached::Unknown), work(1, 40)];
        late[1].submitted = 20 * US;
        // 30 µs of it may be the host's.
        assert_eq!(holds(&late), Some(vec![(0, 0, 60, 31)]));
        late[1].submitted = 50 * US;
        assert_eq!(holds(&late), None);
    }
}
