//! Reading a device's clock finely: `ElapsedTime` resolves ticks but only between two events, and
//! as a `float` of milliseconds it grows coarse with distance; `GetTimestamp` is absolute but whole
//! microseconds. So times are elapsed times from a recent reference event, whose own place on the
//! clock was told by the reference before it. Where the first one lies within its microsecond is
//! not known, but it is the same for all times of the device, so it goes into the clock's offset.
//!
//! It is half a microsecond at most, however many references there have been: what the driver tells of the
//! clock is compared with these times.
//!
//! A device has one reference for all its contexts, so that their times can be compared. Some of those
//! that it replaced are kept: where much waited to be read, each stream begins with times that are older
//! than the last one's.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicI64, AtomicU32};

use crate::objects::ContextEntry;
use crate::quiet;
use crate::spin::PlainLock;
use crate::thread;
use crate::timing::api::{Api, Refusal};
use crate::timing::record_time::RecordTime;

/// A reference is replaced after this long. The float's step is then below a nanosecond, so that
/// rounding finds the very tick and no error is handed on.
const FRESH_NS: u64 = 8_000_000;
/// Beyond this distance whole microseconds are finer than the elapsed time's float.
const FLOAT_IS_COARSE_NS: f64 = 8e9;
/// Devices that have a reference; others are told in whole microseconds.
const DEVICES: usize = 64;
/// Replaced references that times older than the present one are read by: an eighth of a second of a busy device.
const KEPT: usize = 15;
/// References not kept any more whose events may wait to be used again.
const MOST_RETIRED: usize = 8;
/// What a time in whole microseconds may be off by from times of references: how far these are off is known to a
/// microsecond itself.
const MICROSECOND_OPEN_NS: i64 = 1000;
/// How long one who ends a context waits for those who read by one of its references, in half milliseconds.
const READER_ROUNDS: u32 = 200;

/// A completed event whose device time is known.
#[derive(Clone, Copy)]
struct Reference {
    /// The event, 0 while there is none.
    event: u64,
    context: Option<&'static ContextEntry>,
    microseconds: u64,
    nanoseconds: i64,
    /// By how much its own time may be off from those of the references that follow each other.
    open: i64,
    /// By how much times may be too large: what the microseconds of all references allow. It is the
    /// same for all of them, however many there have been.
    shift: (i64, i64),
}

const NONE: Reference = Reference {
    event: 0,
    context: None,
    microseconds: 0,
    nanoseconds: 0,
    open: 0,
    shift: (i64::MIN, i64::MAX),
};

struct ClockState {
    now: Reference,
    /// The ones before it, and which of them is the oldest.
    before: [Reference; KEPT],
    oldest: usize,
    /// Events of references that are not kept any more; somebody may still be reading by one.
    retired: [(u64, Option<&'static ContextEntry>); MOST_RETIRED],
}

/// The reference of one device.
pub(crate) struct Clock {
    /// Threads that may be using a reference, present or replaced.
    readers: AtomicU32,
    /// The latest time that was read.
    latest: AtomicI64,
    /// Times in a row that were older than they can be.
    refused: AtomicU32,
    record_time: RecordTime,
    state: PlainLock<ClockState>,
}

/// So many times in a row that are too old: the device's clock has begun anew.
const BEGUN_ANEW: u32 = 16;

static CLOCKS: [Clock; DEVICES] = [const {
    Clock {
        readers: AtomicU32::new(0),
        latest: AtomicI64::new(i64::MIN),
        refused: AtomicU32::new(0),
        record_time: RecordTime::new(),
        state: PlainLock::new(ClockState {
            now: NONE,
            before: [NONE; KEPT],
            oldest: 0,
            retired: [(0, None); MOST_RETIRED],
        }),
    }
}; DEVICES];

/// A device time that was read.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) nanoseconds: i64,
    /// By how much the reading itself may be off, beyond the tick.
    pub(crate) open: i64,
    /// The event is the device's reference from now on, and not the reader's any more.
    pub(crate) adopted: bool,
}

/// Counts a reader for as long as it lives. One that a jump leaves is told by its thread.
struct Reader(&'static Clock);

impl Drop for Reader {
    fn drop(&mut self) {
        thread::with(|state| state.held.set_reader(None));
        self.0.readers.fetch_sub(1, AcqRel);
    }
}

/// What is known of how long records take on a context's device.
pub(crate) fn record_time(context: &ContextEntry) -> Option<&'static RecordTime> {
    let clock = CLOCKS.get(context.device.load(Relaxed) as usize)?;
    Some(&clock.record_time)
}

/// The latest time that was read of a context's device: what is submitted from now on is done later.
pub(crate) fn latest(context: &ContextEntry) -> i64 {
    let clock = CLOCKS.get(context.device.load(Relaxed) as usize);
    clock.map_or(i64::MIN, |clock| clock.latest.load(Relaxed))
}

/// Device time, in nanoseconds, of a completed event of a context that was recorded when `floor` was
/// the [`latest`] time. An event that was not reached after all, since its stream was aborted or its record
/// went into a capture, has a time of 0 or the one of its record before.
pub(crate) fn read(
    api: &Api,
    context: &'static ContextEntry,
    event: u64,
    floor: i64,
) -> Result<Reading, Refusal> {
    match CLOCKS.get(context.device.load(Relaxed) as usize) {
        Some(clock) => clock.read(api, context, event, floor),
        None => whole_microseconds(api, event),
    }
}

/// A time that only `GetTimestamp` tells.
fn whole_microseconds(api: &Api, event: u64) -> Result<Reading, Refusal> {
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
    (f64::from(step) / 2.0 * 1e6).round() as i64
}

/// A device's clock is never at 0.
fn some_time(microseconds: u64) -> Result<u64, Refusal> {
    match microseconds {
        0 => Err(Refusal::Never),
        some => Ok(some),
    }
}

/// Gives up what belongs to a context that is about to end.
pub(crate) fn release(api: &Api, context: &'static ContextEntry) {
    if let Some(clock) = CLOCKS.get(context.device.load(Relaxed) as usize) {
        clock.release(api, context);
    }
}

/// The same for a context that has failed, or is gone: its events are left alone.
pub(crate) fn abandon(context: &ContextEntry) {
    if let Some(clock) = CLOCKS.get(context.device.load(Relaxed) as usize) {
        let mut state = clock.state.lock_patiently();
        context.timing.refer_no_more();
        for reference in state.own(owned_by(context)) {
            reference.event = 0;
        }
        state.succeed();
        state.forget_retired(owned_by(context));
    }
}

/// Waits a while for those who may be reading by a reference of a context that is about to end. Answers whether they
/// are done.
pub(crate) fn wait_for_readers(context: &ContextEntry) -> bool {
    let clock = CLOCKS.get(context.device.load(Relaxed) as usize);
    clock.is_none_or(Clock::wait_for_readers)
}

fn owned_by(context: &ContextEntry) -> impl Fn(Option<&'static ContextEntry>) -> bool + Copy {
    move |owner| owner.is_some_and(|owner| core::ptr::eq(owner, context))
}

/// Forgets everything after a fork.
pub(crate) fn forget() {
    for clock in &CLOCKS {
        clock.readers.store(0, Relaxed);
        clock.latest.store(i64::MIN, Relaxed);
        clock.refused.store(0, Relaxed);
        clock.record_time.forget();
        clock.state.break_after_fork();
        let mut state = clock.state.lock_patiently();
        state.now = NONE;
        state.before = [NONE; KEPT];
        state.retired = [(0, None); MOST_RETIRED];
    }
}

/// The middle of the microsecond that the runtime cut off.
fn middle_of(microseconds: u64) -> i64 {
    (microseconds as i64).wrapping_mul(1000).wrapping_add(500)
}

impl ClockState {
    /// What references there are of the contexts that are meant.
    fn own(
        &mut self,
        is_own: impl Fn(Option<&'static ContextEntry>) -> bool,
    ) -> impl Iterator<Item = &mut Reference> {
        let all = core::iter::once(&mut self.now).chain(&mut self.before);
        all.filter(move |reference| reference.event != 0 && is_own(reference.context))
    }

    fn forget_retired(&mut self, chosen: impl Fn(Option<&'static ContextEntry>) -> bool) {
        for place in self.retired.iter_mut().filter(|(_, owner)| chosen(*owner)) {
            *place = (0, None);
        }
    }

    /// The last one that is kept, of another context, follows one that is gone: so times go on as they were.
    fn succeed(&mut self) {
        if self.now.event != 0 {
            return;
        }
        let kept = self.before.iter_mut().filter(|kept| kept.event != 0);
        let rank = |kept: &&mut Reference| (core::cmp::Reverse(kept.open), kept.nanoseconds);
        if let Some(last) = kept.max_by_key(rank) {
            self.now = core::mem::replace(last, NONE);
        }
    }

    /// The reference that tells a time best.
    fn best(&self, nanoseconds: i64) -> Reference {
        let rank = |reference: &Reference| {
            let distance = reference.nanoseconds.abs_diff(nanoseconds);
            (
                reference.open.saturating_add(elapsed_open(distance as f64)),
                distance,
            )
        };
        let kept = self.before.iter().filter(|kept| kept.event != 0);
        let all = core::iter::once(&self.now).chain(kept);
        all.copied().min_by_key(rank).unwrap_or(self.now)
    }

    /// Puts a reference in the place of the one that has been kept longest, whose event waits until nobody reads by it.
    fn keep(&mut self, reference: Reference) -> bool {
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

impl Clock {
    fn enter(&'static self) -> Reader {
        self.readers.fetch_add(1, AcqRel);
        thread::with(|state| state.held.set_reader(Some(&self.readers)));
        Reader(self)
    }

    /// Whoever reads does so for the length of a few calls; one that a signal holds up is left.
    fn wait_for_readers(&self) -> bool {
        for _ in 0..READER_ROUNDS {
            if self.readers.load(Acquire) == 0 {
                return true;
            }
            quiet::pause();
        }
        false
    }

    /// Whether a time can be that of a record which was submitted when `floor` was the latest.
    fn admits(&self, nanoseconds: i64, floor: i64) -> Result<(), Refusal> {
        if nanoseconds > floor {
            self.refused.store(0, Relaxed);
            self.latest.fetch_max(nanoseconds, Relaxed);
            return Ok(());
        }
        if self.refused.fetch_add(1, Relaxed) >= BEGUN_ANEW {
            self.refused.store(0, Relaxed);
            self.latest.store(i64::MIN, Relaxed);
        }
        Err(Refusal::Never)
    }

    fn read(
        &'static self,
        api: &Api,
        context: &'static ContextEntry,
        event: u64,
        floor: i64,
    ) -> Result<Reading, Refusal> {
        let reader = self.enter();
        let reference = self.state.lock_patiently().now;
        if reference.event == 0 {
            return self.begin(api, context, event, floor);
        }
        let mut by = reference;
        let mut reading = by.time_of(api, event)?;
        if reading.open > by.open {
            let best = self.state.lock_patiently().best(reading.nanoseconds);
            if best.event != by.event
                && let Ok(again) = best.time_of(api, event)
            {
                (by, reading) = (best, again);
            }
        }
        drop(reader);
        let nanoseconds = reading.nanoseconds;
        self.admits(nanoseconds, floor)?;
        if nanoseconds.abs_diff(by.nanoseconds) > FRESH_NS {
            let new = Reference {
                event,
                context: Some(context),
                nanoseconds,
                ..by
            };
            match nanoseconds > reference.nanoseconds {
                true => {
                    if let Some(nanoseconds) = self.replace(api, reference, new, reading.open) {
                        reading.nanoseconds = nanoseconds;
                        reading.adopted = true;
                    }
                }
                false => {
                    reading.adopted = self.keep_beside(api, reference, new, reading.open);
                }
            }
        }
        Ok(reading)
    }

    /// Makes an event the reference of a device that has none.
    fn begin(
        &self,
        api: &Api,
        context: &'static ContextEntry,
        event: u64,
        floor: i64,
    ) -> Result<Reading, Refusal> {
        let microseconds = some_time(api.timestamp_us(event)?)?;
        let mut state = self.state.lock_patiently();
        let old = state.now;
        if old.event != 0 {
            // Another thread was first.
            drop(state);
            let reading = old.time_of(api, event)?;
            self.admits(reading.nanoseconds, floor)?;
            return Ok(reading);
        }
        if !context.timing.may_refer() {
            drop(state);
            return whole_microseconds(api, event);
        }
        let nanoseconds = middle_of(microseconds);
        // Whole microseconds do not tell it better than that.
        self.admits(nanoseconds, floor.saturating_sub(2_000))?;
        state.now = Reference {
            event,
            context: Some(context),
            microseconds,
            nanoseconds,
            open: 0,
            shift: NONE.shift,
        };
        Ok(Reading {
            nanoseconds,
            open: 0,
            adopted: true,
        })
    }

    /// Puts a later one in the place of `old`, unless somebody else has done so. Answers its time as it counts from
    /// now on.
    fn replace(&self, api: &Api, old: Reference, new: Reference, open: i64) -> Option<i64> {
        let mut new = Reference {
            microseconds: api.timestamp_us(new.event).ok()?,
            open: 0,
            shift: old.shift,
            ..new
        };
        new.loosen(open);
        new.correct();
        let changed = self.change(api, old, new.context, |state| {
            let is_kept = state.keep(state.now);
            if is_kept {
                state.now = new;
            }
            is_kept
        });
        changed.then_some(new.nanoseconds)
    }

    /// Keeps one that is older than the present one: a stream that had much to read goes on from there, so its
    /// times are as exact among each other as those of a stream that was read at once.
    fn keep_beside(&self, api: &Api, present: Reference, new: Reference, open: i64) -> bool {
        self.change(api, present, new.context, |state| {
            state.keep(Reference { open, ..new })
        })
    }

    /// Changes the references while `present` is the present one and nobody else does.
    fn change(
        &self,
        api: &Api,
        present: Reference,
        context: Option<&'static ContextEntry>,
        change: impl FnOnce(&mut ClockState) -> bool,
    ) -> bool {
        let Some(mut state) = self.state.try_lock() else {
            return false;
        };
        let may_refer = context.is_some_and(|context| context.timing.may_refer());
        if state.now.event != present.event || !may_refer {
            return false;
        }
        if self.readers.load(Acquire) == 0 {
            give_back(api, &mut state.retired, |_| true);
        }
        change(&mut state)
    }

    fn release(&self, api: &Api, context: &'static ContextEntry) {
        let mut state = self.state.lock_patiently();
        context.timing.refer_no_more();
        let mut own = [0; KEPT + 1];
        for (place, reference) in own.iter_mut().zip(state.own(owned_by(context))) {
            *place = core::mem::take(&mut reference.event);
        }
        state.succeed();
        drop(state);
        let are_done = self.wait_for_readers();
        for event in own.into_iter().filter(|event| *event != 0) {
            match are_done {
                true => context.timing.give_event(api, event),
                false => context.timing.give_up_event(),
            }
        }
        let mut state = self.state.lock_patiently();
        match are_done {
            true => give_back(api, &mut state.retired, owned_by(context)),
            false => state.forget_retired(owned_by(context)),
        }
    }
}

/// Gives events back that nobody reads by any more.
fn give_back(
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
    fn time_of(&self, api: &Api, event: u64) -> Result<Reading, Refusal> {
        let distance = api.elapsed_ns(self.event, event)?;
        if distance.abs() >= FLOAT_IS_COARSE_NS {
            return whole_microseconds(api, event);
        }
        Ok(Reading {
            nanoseconds: self.nanoseconds.wrapping_add(distance.round() as i64),
            open: self.open.saturating_add(elapsed_open(distance)),
            adopted: false,
        })
    }

    /// It was read by one that is far away: how far its times are off is known as much less.
    fn loosen(&mut self, open: i64) {
        self.shift = match open {
            // A microsecond of its own.
            MICROSECOND_OPEN_NS.. => NONE.shift,
            _ => (
                self.shift.0.saturating_sub(open),
                self.shift.1.saturating_add(open),
            ),
        };
    }

    /// Holds the time against the microsecond that the runtime tells. References far from each
    /// other hand a little error on; here it is kept from adding up.
    fn correct(&mut self) {
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
            before: [NONE; KEPT],
            oldest: 0,
            retired: [(0, None); MOST_RETIRED],
        }
    }

    #[test]
    fn the_reference_that_is_least_open_tells_a_time() {
        const S: i64 = 1_000_000_000;
        let mut state = state(at(10 * S, 0));
        let told = |state: &ClockState, time| state.best(time).nanoseconds;
        assert_eq!(told(&state, S), 10 * S, "nothing is kept");
        assert!(state.keep(at(9 * S, 0)) && state.keep(at(S, 122)));
        assert_eq!(told(&state, S + 1), S, "next to it");
        assert_eq!(
            told(&state, 8 * S),
            9 * S,
            "one that is coarse itself is no better"
        );
        assert_eq!(told(&state, 10 * S - 1), 10 * S);
    }

    #[test]
    fn the_last_one_of_another_context_follows_one_that_is_gone() {
        let mut state = state(at(1_000, 0));
        assert!([(100, 0), (900, 4), (500, 0)].map(|it| state.keep(at(it.0, it.1))) == [true; 3]);
        let mut told = || {
            state.now.event = 0;
            state.succeed();
            (state.now.event, state.now.nanoseconds)
        };
        assert_eq!(
            [told(), told(), told()],
            [(500, 500), (100, 100), (900, 900)]
        );
        assert_eq!(told().0, 0);
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
        let (mut truth, mut told) = (5_000_123_i64, 5_000_500_i64);
        for step in 0..10_000 {
            truth += 9_000_001;
            // Each is 3 ns more than it should be.
            told += 9_000_004;
            reference.nanoseconds = told;
            reference.microseconds = truth as u64 / 1000;
            reference.correct();
            told = reference.nanoseconds;
            let shift = told - truth;
            assert!((377 - shift).abs() <= 1_000, "{shift} after {step}");
        }
    }
}
