//! The references of one device: the present one, earlier ones that are kept, and the events of others
//! that may still have readers.

use crate::objects::ContextEntry;
use crate::timing::api::{Api, Refusal};

/// Beyond this distance whole microseconds are finer than the elapsed time's float.
pub(super) const FLOAT_IS_COARSE_NS: f64 = 8e9;
/// Replaced references that times older than the present one are read by: an eighth of a second of a busy device.
pub(super) const KEPT: usize = 15;
/// References not kept any more, with events that wait for their reuse.
pub(super) const MOST_RETIRED: usize = 8;
/// Possible difference between a time in whole microseconds and times of references: their error is
/// known to a microsecond itself.
pub(super) const MICROSECOND_OPEN_NS: i64 = 1000;

/// A completed event with a known device time.
#[derive(Clone, Copy)]
pub(super) struct Reference {
    /// The event, 0 without one.
    pub(super) event: u64,
    pub(super) context: Option<&'static ContextEntry>,
    pub(super) microseconds: u64,
    pub(super) nanoseconds: i64,
    /// By how much its own time may be off from those of the references that follow each other.
    pub(super) open: i64,
    /// How much times may be too large: the range that the microseconds of all references allow. It is
    /// the same for all of them.
    pub(super) shift: (i64, i64),
}

pub(super) const NONE: Reference = Reference {
    event: 0,
    context: None,
    microseconds: 0,
    nanoseconds: 0,
    open: 0,
    shift: (i64::MIN, i64::MAX),
};

pub(super) struct ClockState {
    pub(super) now: Reference,
    /// The ones before it, and which of them is the oldest.
    pub(super) before: [Reference; KEPT],
    pub(super) oldest: usize,
    /// Events of references that are not kept any more; they may still have readers.
    pub(super) retired: [(u64, Option<&'static ContextEntry>); MOST_RETIRED],
}

/// A device time that was read.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) nanoseconds: i64,
    /// By how much the reading itself may be off, beyond the tick.
    pub(crate) open: i64,
    /// The event is the device's reference from now on, and not the reader's any more.
    pub(crate) adopted: bool,
}

/// A time that only `GetTimestamp` returns.
pub(super) fn whole_microseconds(api: &Api, event: u64) -> Result<Reading, Refusal> {
    Ok(Reading {
        nanoseconds: middle_of(some_time(api.timestamp_us(event)?)?),
        open: MICROSECOND_OPEN_NS,
        adopted: false,
    })
}

/// By how much an elapsed time may be off: half the step of its `float` of milliseconds.
pub(crate) fn elapsed_open(nanoseconds: f64) -> i64 {
    let milliseconds = (nanoseconds.abs() / 1e6) as f32;
    let step = milliseconds.next_up() - milliseconds;
    nearest(f64::from(step) / 2.0 * 1e6)
}

/// The nearest whole number. Without instructions for it, the compiler's function takes several times as long.
pub(crate) fn nearest(number: f64) -> i64 {
    (number + 0.5_f64.copysign(number)) as i64
}

/// A device's clock is never at 0.
pub(super) fn some_time(microseconds: u64) -> Result<u64, Refusal> {
    match microseconds {
        0 => Err(Refusal::Never),
        some => Ok(some),
    }
}

/// The middle of the microsecond that the runtime cut off.
pub(super) fn middle_of(microseconds: u64) -> i64 {
    (microseconds as i64).wrapping_mul(1000).wrapping_add(500)
}

impl ClockState {
    pub(super) const NEW: Self = Self {
        now: NONE,
        before: [NONE; KEPT],
        oldest: 0,
        retired: [(0, None); MOST_RETIRED],
    };

    /// What references there are of the contexts that are meant.
    pub(super) fn own(
        &mut self,
        is_own: impl Fn(Option<&'static ContextEntry>) -> bool,
    ) -> impl Iterator<Item = &mut Reference> {
        let all = core::iter::once(&mut self.now).chain(&mut self.before);
        all.filter(move |reference| reference.event != 0 && is_own(reference.context))
    }

    pub(super) fn forget_retired(
        &mut self,
        chosen: impl Fn(Option<&'static ContextEntry>) -> bool,
    ) {
        for place in self.retired.iter_mut().filter(|(_, owner)| chosen(*owner)) {
            *place = (0, None);
        }
    }

    /// The last one that is kept, of another context, follows an ended one: so times continue without a
    /// jump.
    pub(super) fn succeed(&mut self) {
        if self.now.event != 0 {
            return;
        }
        let kept = self.before.iter_mut().filter(|kept| kept.event != 0);
        let rank = |kept: &&mut Reference| (core::cmp::Reverse(kept.open), kept.nanoseconds);
        if let Some(last) = kept.max_by_key(rank) {
            self.now = core::mem::replace(last, NONE);
        }
    }

    /// The best reference for a time; `None` when another thread has just released the last one.
    pub(super) fn best(&self, nanoseconds: i64) -> Option<Reference> {
        let rank = |reference: &Reference| {
            let distance = reference.nanoseconds.abs_diff(nanoseconds);
            (
                reference.open.saturating_add(elapsed_open(distance as f64)),
                distance,
            )
        };
        let all = core::iter::once(&self.now).chain(&self.before);
        let there = all.filter(|reference| reference.event != 0);
        there.copied().min_by_key(rank)
    }

    /// Replaces the oldest kept reference. Its event waits until it has no readers.
    pub(super) fn keep(&mut self, reference: Reference) -> bool {
        let Some(oldest) = self.before.get_mut(self.oldest) else {
            return false;
        };
        if oldest.event != 0 {
            let mut places = self.retired.iter_mut();
            let Some(place) = places.find(|(event, _)| *event == 0) else {
                return false;
            };
            *place = (oldest.event, oldest.context);
        }
        *oldest = reference;
        self.oldest = (self.oldest + 1) % KEPT;
        true
    }
}

/// Gives events without readers back.
pub(super) fn give_back(
    api: &Api,
    retired: &mut [(u64, Option<&'static ContextEntry>)],
    chosen: impl Fn(Option<&'static ContextEntry>) -> bool,
) {
    for (event, context) in retired.iter_mut().filter(|(_, context)| chosen(*context)) {
        let event = core::mem::take(event);
        if let Some(context) = context.take() {
            context.timing.give_event(api, event);
        }
    }
}

impl Reference {
    pub(super) fn time_of(&self, api: &Api, event: u64) -> Result<Reading, Refusal> {
        let distance = api.elapsed_ns(self.event, event)?;
        if distance.abs() >= FLOAT_IS_COARSE_NS {
            return whole_microseconds(api, event);
        }
        Ok(Reading {
            nanoseconds: self.nanoseconds.wrapping_add(nearest(distance)),
            open: self.open.saturating_add(elapsed_open(distance)),
            adopted: false,
        })
    }

    /// It was read by one that is far away: how far its times are off is known as much less.
    pub(super) fn loosen(&mut self, open: i64) {
        self.shift = match open {
            // Times in whole microseconds.
            MICROSECOND_OPEN_NS.. => NONE.shift,
            _ => (
                self.shift.0.saturating_sub(open),
                self.shift.1.saturating_add(open),
            ),
        };
    }

    /// Compares the time with the microsecond of the runtime. Distant references pass a small error on;
    /// here it is kept from adding up.
    pub(super) fn correct(&mut self) {
        let begin = (self.microseconds as i64).wrapping_mul(1000);
        let most = self.nanoseconds.wrapping_sub(begin);
        let least = most.wrapping_sub(999);
        if most < self.shift.0 {
            self.nanoseconds = self
                .nanoseconds
                .wrapping_add(self.shift.0.wrapping_sub(most));
        } else if least > self.shift.1 {
            self.nanoseconds = self
                .nanoseconds
                .wrapping_sub(least.wrapping_sub(self.shift.1));
        } else {
            self.shift = (self.shift.0.max(least), self.shift.1.min(most));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let rounded = [0.0, 0.4, 0.5, -0.5, -0.4, 1e9 + 0.5, -7.51].map(nearest);
        assert_eq!(rounded, [0, 0, 1, -1, 0, 1_000_000_001, -8]);
    }

    #[test]
    fn elapsed_times_are_as_open_as_their_float_is_coarse() {
        let opens = [8e6, 20e6, -100e6, 200e6, 5e9].map(elapsed_open);
        assert_eq!(opens, [0, 1, 4, 8, 244]);
    }

    fn at(nanoseconds: i64, open: i64) -> Reference {
        Reference {
            event: nanoseconds as u64,
            nanoseconds,
            open,
            ..NONE
        }
    }

    fn state(now: Reference) -> ClockState {
        ClockState {
            now,
            ..ClockState::NEW
        }
    }

    #[test]
    fn a_time_is_read_by_the_narrowest_reference() {
        const S: i64 = 1_000_000_000;
        let mut state = state(at(10 * S, 0));
        let reported =
            |state: &ClockState, time| state.best(time).map_or(0, |best| best.nanoseconds);
        assert_eq!(reported(&state, S), 10 * S, "nothing is kept");
        assert!(state.keep(at(9 * S, 0)) && state.keep(at(S, 122)));
        assert_eq!(reported(&state, S + 1), S, "next to it");
        assert_eq!(
            reported(&state, 8 * S),
            9 * S,
            "one that is coarse itself is no better"
        );
        assert_eq!(reported(&state, 10 * S - 1), 10 * S);
        state.now.event = 0;
        assert_eq!(reported(&state, 10 * S - 1), 9 * S, "it has been released");
        assert!(ClockState::NEW.best(S).is_none());
    }

    #[test]
    fn the_last_reference_of_another_context_follows_a_destroyed_one() {
        let mut state = state(at(1_000, 0));
        assert!([(100, 0), (900, 4), (500, 0)].map(|it| state.keep(at(it.0, it.1))) == [true; 3]);
        let mut reported = || {
            state.now.event = 0;
            state.succeed();
            (state.now.event, state.now.nanoseconds)
        };
        assert_eq!(
            [reported(), reported(), reported()],
            [(500, 500), (100, 100), (900, 900)]
        );
        assert_eq!(reported().0, 0);
    }

    #[test]
    fn events_of_references_that_leave_wait_for_readers() {
        let mut state = state(at(1_000, 0));
        let room = KEPT + MOST_RETIRED;
        assert!((1..=room as i64).all(|time| state.keep(at(time, 0))));
        assert!(!state.keep(at(100, 0)), "nobody has given any back");
        let retired = state.retired.map(|(event, _)| event as usize);
        assert!(retired.into_iter().eq(1..=MOST_RETIRED));
    }

    #[test]
    fn a_reference_far_from_the_last_one_is_not_dragged_to_where_that_was() {
        let mut reference = Reference {
            shift: (-5, 5),
            microseconds: 9_000,
            nanoseconds: 9_000_400,
            ..NONE
        };
        reference.loosen(122);
        assert_eq!(reference.shift, (-127, 127));
        reference.loosen(MICROSECOND_OPEN_NS);
        reference.correct();
        assert_eq!(reference.nanoseconds, 9_000_400);
        assert_eq!(reference.shift, (-599, 400));
    }

    #[test]
    fn small_errors_do_not_add_up() {
        let mut reference = NONE;
        let (mut truth, mut reported) = (5_000_123_i64, 5_000_500_i64);
        for step in 0..10_000 {
            truth += 9_000_001;
            // Each is 3 ns more than it should be.
            reported += 9_000_004;
            reference.nanoseconds = reported;
            reference.microseconds = truth as u64 / 1000;
            reference.correct();
            reported = reference.nanoseconds;
            let shift = reported - truth;
            assert!((377 - shift).abs() <= 1_000, "{shift} after {step}");
        }
    }
}
