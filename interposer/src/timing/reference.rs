//! Reading a device's clock finely: `ElapsedTime` resolves ticks but only between two events, and
//! as a `float` of milliseconds it grows coarse with distance; `GetTimestamp` is absolute but whole
//! microseconds. So times are elapsed times from a recent reference event, whose own place on the
//! clock was told by the reference before it. Where the first one lies within its microsecond is
//! not known, but it is the same for all times of the device, so it goes into the clock's offset.
//!
//! It is half a microsecond at most, however many references there have been: what the driver tells of the
//! clock is compared with these times.
//!
//! A device has one reference for all its contexts, so that their times can be compared.

use core::sync::atomic::Ordering::{Acquire, Relaxed};
use core::sync::atomic::{AtomicI64, AtomicU32};

use crate::objects::ContextEntry;
use crate::quiet;
use crate::spin::PlainLock;
use crate::timing::api::{Api, Refusal};
use crate::timing::record_time::RecordTime;

/// A reference is replaced after this long. The float's step is then below a nanosecond, so that
/// rounding finds the very tick and no error is handed on.
const FRESH_NS: i64 = 8_000_000;
/// Beyond this distance whole microseconds are finer than the elapsed time's float.
const FLOAT_IS_COARSE_NS: f64 = 8e9;
/// Devices that have a reference; others are told in whole microseconds.
const DEVICES: usize = 64;
/// Replaced references that may wait to be used again.
const MOST_RETIRED: usize = 8;

/// A completed event whose device time is known.
#[derive(Clone, Copy)]
struct Reference {
    /// The event, 0 while there is none.
    event: u64,
    context: Option<&'static ContextEntry>,
    microseconds: u64,
    nanoseconds: i64,
    /// By how much times may be too large: what the microseconds of all references allow. It is the
    /// same for all of them, however many there have been.
    shift: (i64, i64),
}

const NONE: Reference = Reference {
    event: 0,
    context: None,
    microseconds: 0,
    nanoseconds: 0,
    shift: (i64::MIN, i64::MAX),
};

struct ClockState {
    now: Reference,
    /// References that were replaced; somebody may still be reading by one.
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
            retired: [(0, None); MOST_RETIRED],
        }),
    }
}; DEVICES];

/// A device time that was read.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) nanoseconds: i64,
    /// The event is the device's reference from now on, and not the reader's any more.
    pub(crate) adopted: bool,
}

/// Counts a reader for as long as it lives.
struct Reader<'a>(&'a Clock);

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.0
            .readers
            .fetch_sub(1, core::sync::atomic::Ordering::AcqRel);
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
        None => Ok(Reading {
            nanoseconds: middle_of(some_time(api.timestamp_us(event)?)?),
            adopted: false,
        }),
    }
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

/// The same for a context that has failed: its events are left alone.
pub(crate) fn abandon(context: &ContextEntry) {
    if let Some(clock) = CLOCKS.get(context.device.load(Relaxed) as usize) {
        let is_own = |owner: Option<&'static ContextEntry>| {
            owner.is_some_and(|owner| core::ptr::eq(owner, context))
        };
        let mut state = clock.state.lock_patiently();
        if is_own(state.now.context) {
            state.now.event = 0;
        }
        for place in state.retired.iter_mut().filter(|(_, owner)| is_own(*owner)) {
            *place = (0, None);
        }
    }
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
        state.retired = [(0, None); MOST_RETIRED];
    }
}

/// The middle of the microsecond that the runtime cut off.
fn middle_of(microseconds: u64) -> i64 {
    (microseconds as i64).wrapping_mul(1000).wrapping_add(500)
}

impl Clock {
    fn enter(&self) -> Reader<'_> {
        self.readers
            .fetch_add(1, core::sync::atomic::Ordering::AcqRel);
        Reader(self)
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
        &self,
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
        let nanoseconds = reference.time_of(api, event)?;
        drop(reader);
        self.admits(nanoseconds, floor)?;
        let age = nanoseconds.wrapping_sub(reference.nanoseconds);
        let adopted = age > FRESH_NS && self.replace(api, reference, context, event, nanoseconds);
        Ok(Reading {
            nanoseconds,
            adopted,
        })
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
            let nanoseconds = old.time_of(api, event)?;
            self.admits(nanoseconds, floor)?;
            return Ok(Reading {
                nanoseconds,
                adopted: false,
            });
        }
        let nanoseconds = middle_of(microseconds);
        // Whole microseconds do not tell it better than that.
        self.admits(nanoseconds, floor.saturating_sub(2_000))?;
        state.now = Reference {
            event,
            context: Some(context),
            microseconds,
            nanoseconds,
            shift: NONE.shift,
        };
        Ok(Reading {
            nanoseconds,
            adopted: true,
        })
    }

    /// Puts a later event in the place of `old`, unless somebody else has done so.
    fn replace(
        &self,
        api: &Api,
        old: Reference,
        context: &'static ContextEntry,
        event: u64,
        nanoseconds: i64,
    ) -> bool {
        let Ok(microseconds) = api.timestamp_us(event) else {
            return false;
        };
        let Some(mut state) = self.state.try_lock() else {
            return false;
        };
        if state.now.event != old.event {
            return false;
        }
        if self.readers.load(Acquire) == 0 {
            give_back(api, &mut state.retired, |_| true);
        }
        let Some(place) = state.retired.iter_mut().find(|(event, _)| *event == 0) else {
            return false;
        };
        *place = (old.event, old.context);
        let mut new = Reference {
            event,
            context: Some(context),
            microseconds,
            nanoseconds,
            shift: old.shift,
        };
        new.correct();
        state.now = new;
        true
    }

    fn release(&self, api: &Api, context: &'static ContextEntry) {
        let is_own = |owner: Option<&'static ContextEntry>| {
            owner.is_some_and(|owner| core::ptr::eq(owner, context))
        };
        let mut state = self.state.lock_patiently();
        let Reference { event, context, .. } = state.now;
        let mut last = 0;
        if is_own(context) {
            last = event;
            state.now.event = 0;
        }
        drop(state);
        // Whoever still reads by one of these does so for the length of one call.
        while self.readers.load(Acquire) != 0 {
            quiet::pause();
        }
        if let Some(context) = context.filter(|_| last != 0) {
            context.timing.give_event(api, last);
        }
        let mut state = self.state.lock_patiently();
        give_back(api, &mut state.retired, is_own);
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
    fn time_of(&self, api: &Api, event: u64) -> Result<i64, Refusal> {
        let distance = api.elapsed_ns(self.event, event)?;
        if distance.abs() < FLOAT_IS_COARSE_NS {
            return Ok(self.nanoseconds.wrapping_add(distance.round() as i64));
        }
        Ok(middle_of(some_time(api.timestamp_us(event)?)?))
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
