//! Reads a device's clock with a fine resolution: `ElapsedTime` resolves ticks but only between two
//! events, and as a `float` of milliseconds it gets coarse with distance; `GetTimestamp` is absolute
//! but whole microseconds. So times are elapsed times from a recent reference event. The reference
//! before it gives its place on the clock. The place of the first one within its microsecond is not
//! known, but it is the same for all times of the device, so it is part of the clock's offset.
//!
//! It is half a microsecond at most, for any number of references: the driver's readings of the clock
//! are compared with these times.
//!
//! A device has one reference for all its contexts, so that their times can be compared. Some of those
//! that it replaced are kept: where much waited to be read, each stream begins with times that are older
//! than the last one's.

mod history;

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicI64, AtomicU32};

use crate::apart::CacheLinePadded;
use crate::objects::ContextEntry;
use crate::spin::PlainLock;
use crate::syscall_policy;
use crate::thread;
use crate::timing::api::{Api, Refusal};
use crate::timing::excess::Excess;
use crate::timing::operations::Operations;
use crate::timing::record_time::RecordTime;

use history::{
    ClockState, KEPT, NONE, Reference, give_back, middle_of, some_time, whole_microseconds,
};
pub(crate) use history::{Reading, elapsed_open, nearest};

/// A reference is replaced after this long. The float's step is then below a nanosecond, so that
/// rounding finds the very tick and no error is handed on.
const FRESH_NS: u64 = 8_000_000;
/// Devices that have a reference; times of others are whole microseconds.
const DEVICES: usize = 64;
/// How long one who ends a context waits for those who read by one of its references, in half milliseconds.
const READER_ROUNDS: u32 = 200;

/// The reference of one device.
pub(crate) struct Clock {
    /// Threads that may be using a reference, present or replaced.
    readers: CacheLinePadded<AtomicU32>,
    /// The latest time that was read. Each submission looks at it.
    latest: CacheLinePadded<AtomicI64>,
    /// Times in a row that were older than they can be.
    refused: AtomicU32,
    record_time: CacheLinePadded<RecordTime>,
    state: CacheLinePadded<PlainLock<ClockState>>,
}

/// After this number of consecutive times that are too old, the device's clock has restarted.
const BEGUN_AGAIN: u32 = 16;

static CLOCKS: [Clock; DEVICES] = [const {
    Clock {
        readers: CacheLinePadded(AtomicU32::new(0)),
        latest: CacheLinePadded(AtomicI64::new(i64::MIN)),
        refused: AtomicU32::new(0),
        record_time: CacheLinePadded(RecordTime::new()),
        state: CacheLinePadded(PlainLock::new(ClockState::NEW)),
    }
}; DEVICES];
/// Separate, because they begin as zeros, which take no room in the library.
static OPERATIONS: [Operations; DEVICES] = [const { Operations::new() }; DEVICES];
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static EXCESS: [Excess; DEVICES] = {
    let mut all = [const { Excess::new(&OPERATIONS[0]) }; DEVICES];
    let mut device = 1;
    while device < DEVICES {
        all[device].operations = &OPERATIONS[device];
        device += 1;
    }
    all
};

/// Counts a reader while it lives. Its thread reports one that a jump leaves.
struct Reader(&'static Clock);

impl Drop for Reader {
    fn drop(&mut self) {
        thread::with(|state| state.held.set_reader(None));
        self.0.readers.fetch_sub(1, AcqRel);
    }
}

/// The learnt duration of records on a context's device.
pub(crate) fn record_time(context: &ContextEntry) -> Option<&'static RecordTime> {
    let clock = CLOCKS.get(context.device.load(Relaxed) as usize)?;
    Some(&clock.record_time)
}

/// What event pairs add on a context's device, as far as is known.
pub(crate) fn excess(context: &ContextEntry) -> Option<&'static Excess> {
    EXCESS.get(context.device.load(Relaxed) as usize)
}

/// Records new results of all devices. The thread must be marked busy.
pub(crate) fn tell() {
    for (device, (clock, excess)) in (0..).zip(CLOCKS.iter().zip(&EXCESS)) {
        clock.record_time.tell(device);
        excess.tell(device);
    }
}

/// Another session has none of the results.
pub(crate) fn tell_again() {
    for (clock, excess) in CLOCKS.iter().zip(&EXCESS) {
        clock.record_time.tell_again();
        excess.tell_again();
    }
}

/// The latest time that was read of a context's device: later submissions are done later.
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
    let mut series = Series::of(context);
    let reading = series.read(api, event, floor);
    series.end();
    reading
}

/// Releases references of a context that is about to end.
pub(crate) fn release(api: &Api, context: &'static ContextEntry) {
    if let Some(clock) = CLOCKS.get(context.device.load(Relaxed) as usize) {
        clock.release(api, context);
    }
}

/// The same for a context that has failed, or has ended: its events are left alone.
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

/// Waits a while for those who may be reading by a reference of a context that is about to end. Returns whether they
/// are done.
pub(crate) fn wait_for_readers(context: &ContextEntry) -> bool {
    let clock = CLOCKS.get(context.device.load(Relaxed) as usize);
    clock.is_none_or(Clock::wait_for_readers)
}

/// Times of one context's events that a thread reads one after another, by the same references as far as possible.
pub(crate) struct Series {
    /// `None` where times are whole microseconds.
    clock: Option<&'static Clock>,
    context: &'static ContextEntry,
    /// Lasts as long as `now` is used.
    reader: Option<Reader>,
    now: Reference,
    /// The latest time that was read.
    latest: i64,
}

impl Series {
    pub(crate) fn of(context: &'static ContextEntry) -> Self {
        Self {
            clock: CLOCKS.get(context.device.load(Relaxed) as usize),
            context,
            reader: None,
            now: NONE,
            latest: i64::MIN,
        }
    }

    /// As [`read`].
    pub(crate) fn read(&mut self, api: &Api, event: u64, floor: i64) -> Result<Reading, Refusal> {
        let Some(clock) = self.clock else {
            return whole_microseconds(api, event);
        };
        if self.reader.is_none() {
            self.reader = Some(clock.enter());
            self.now = clock.state.lock_patiently().now;
        }
        if self.now.event == 0 {
            let reading = clock.begin(api, self.context, event, floor);
            self.reader = None;
            if let Ok(reading) = reading {
                self.latest = self.latest.max(reading.nanoseconds);
            }
            return reading;
        }
        let (reading, by) = clock.read(api, event, self.now)?;
        clock.admits(reading.nanoseconds, floor)?;
        self.latest = self.latest.max(reading.nanoseconds);
        if reading.nanoseconds.abs_diff(by.nanoseconds) > FRESH_NS {
            return Ok(self.adopt(clock, api, event, (reading, by)));
        }
        Ok(reading)
    }

    /// Keeps an event as a reference, if no other thread has done something meanwhile.
    fn adopt(
        &mut self,
        clock: &'static Clock,
        api: &Api,
        event: u64,
        (mut reading, by): (Reading, Reference),
    ) -> Reading {
        let present = self.now;
        // Events of replaced references are used again only without readers.
        self.reader = None;
        let new = Reference {
            event,
            context: Some(self.context),
            nanoseconds: reading.nanoseconds,
            ..by
        };
        match reading.nanoseconds > present.nanoseconds {
            true => {
                if let Some(nanoseconds) = clock.replace(api, present, new, reading.open) {
                    reading.nanoseconds = nanoseconds;
                    reading.adopted = true;
                }
            }
            false => reading.adopted = clock.keep_beside(api, present, new, reading.open),
        }
        reading
    }

    /// Lets other threads know the latest time. The next time is read by the present references again.
    pub(crate) fn end(&mut self) {
        self.reader = None;
        if let Some(clock) = self.clock {
            clock.has_read(self.latest);
        }
    }
}

fn owned_by(context: &ContextEntry) -> impl Fn(Option<&'static ContextEntry>) -> bool + Copy {
    move |owner| owner.is_some_and(|owner| core::ptr::eq(owner, context))
}

/// Forgets everything after a fork.
pub(crate) fn forget() {
    EXCESS.iter().for_each(Excess::forget);
    for clock in &CLOCKS {
        clock.readers.store(0, Relaxed);
        clock.latest.store(i64::MIN, Relaxed);
        clock.refused.store(0, Relaxed);
        clock.record_time.forget();
        clock.state.break_after_fork();
        let mut state = clock.state.lock_patiently();
        *state = ClockState::NEW;
    }
}

impl Clock {
    fn enter(&'static self) -> Reader {
        self.readers.fetch_add(1, AcqRel);
        thread::with(|state| state.held.set_reader(Some(&*self.readers)));
        Reader(self)
    }

    /// Whoever reads does so for the length of a few calls; one that a signal holds up is left.
    fn wait_for_readers(&self) -> bool {
        for _ in 0..READER_ROUNDS {
            if self.readers.load(Acquire) == 0 {
                return true;
            }
            syscall_policy::pause();
        }
        false
    }

    /// This time has been read.
    fn has_read(&self, latest: i64) {
        if latest > self.latest.load(Relaxed) {
            self.latest.fetch_max(latest, Relaxed);
        }
    }

    /// Whether a time can be that of a record which was submitted when `floor` was the latest.
    fn admits(&self, nanoseconds: i64, floor: i64) -> Result<(), Refusal> {
        if nanoseconds > floor {
            if self.refused.load(Relaxed) != 0 {
                self.refused.store(0, Relaxed);
            }
            return Ok(());
        }
        if self.refused.fetch_add(1, Relaxed) >= BEGUN_AGAIN {
            self.refused.store(0, Relaxed);
            self.latest.store(i64::MIN, Relaxed);
        }
        Err(Refusal::Never)
    }

    /// The time of an event by the present reference, or by the one that is best for it. Returns that as well. The caller is a reader.
    fn read(
        &self,
        api: &Api,
        event: u64,
        present: Reference,
    ) -> Result<(Reading, Reference), Refusal> {
        let reading = present.time_of(api, event)?;
        if reading.open > present.open {
            let best = self.state.lock_patiently().best(reading.nanoseconds);
            if let Some(best) = best
                && best.event != present.event
                && let Ok(again) = best.time_of(api, event)
            {
                return Ok((again, best));
            }
        }
        Ok((reading, present))
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
        // Whole microseconds give no better time.
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

    /// Replaces `old` by a later one, unless another thread has done so. Returns its time as it counts
    /// from now on.
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

    /// Changes the references while `present` is the present one and no other thread does.
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
