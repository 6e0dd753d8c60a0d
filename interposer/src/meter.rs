//! What each thread of the program has cost, as sums that only it writes.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};

use ascend_trace_format::record::kinds;

use crate::clock::ticks;
use crate::syscall_policy;

/// Calls in a row that are measured.
pub(crate) const SAMPLES: u8 = 8;

/// Something that adds up. Only its thread writes it, so that adding needs no locked instruction.
pub(crate) struct Sum(AtomicU64);

impl Sum {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.get().wrapping_add(more), Relaxed);
    }
}

/// Overhead of one thread after another. Meters are never freed, and never start again: the overhead of
/// a thread is its meter's value minus the initial value.
#[repr(align(128))]
pub(crate) struct Meter {
    /// Calls that were measured, and how long recording them took.
    pub(crate) samples: Sum,
    pub(crate) sampled: Sum,
    /// What took longer: the calls that needed a new segment, and readings of the processor time.
    pub(crate) besides: Sum,
    /// Tasks with events around them.
    pub(crate) tasks: Sum,
    /// Events recorded on the program's streams, and how long that took for those of tasks.
    pub(crate) events: Sum,
    pub(crate) timing: Sum,
    /// How long reading times took.
    pub(crate) reading: Sum,
    /// The tracer calls the runtime in its thread.
    pub(crate) in_runtime: AtomicBool,
    tid: AtomicU32,
    first: [AtomicU64; 7],
    reported_at: AtomicU64,
    next: AtomicPtr<Meter>,
    used: AtomicBool,
}

static FIRST: AtomicPtr<Meter> = AtomicPtr::new(core::ptr::null_mut());

fn deref(meter: *mut Meter) -> Option<&'static Meter> {
    // SAFETY: pointers in the list come from `Box::leak`.
    unsafe { meter.as_ref() }
}

/// Every meter there is.
pub(crate) fn all() -> impl Iterator<Item = &'static Meter> {
    let mut next = deref(FIRST.load(Acquire));
    core::iter::from_fn(move || {
        let meter = next?;
        next = deref(meter.next.load(Acquire));
        Some(meter)
    })
}

/// A meter for the calling thread.
#[cold]
pub(crate) fn claim() -> &'static Meter {
    let free = all().find(|meter| {
        !meter.used.load(Relaxed)
            && meter
                .used
                .compare_exchange(false, true, Acquire, Relaxed)
                .is_ok()
    });
    let meter = free.unwrap_or_else(make);
    meter.begin();
    meter
}

/// The first one takes no memory of the program's.
static FIRST_METER: Meter = Meter::new();
static IS_FIRST_TAKEN: AtomicBool = AtomicBool::new(false);

fn make() -> &'static Meter {
    // With system calls given up, asking for memory is a risk: then several threads have one meter.
    if !IS_FIRST_TAKEN.swap(true, AcqRel) {
        return link(&FIRST_METER);
    }
    if !syscall_policy::is_allowed() {
        return &FIRST_METER;
    }
    link(Box::leak(Box::new(Meter::new())))
}

/// Puts a meter that is in use into the list.
fn link(meter: &'static Meter) -> &'static Meter {
    let raw = core::ptr::from_ref(meter).cast_mut();
    let mut first = FIRST.load(Acquire);
    loop {
        meter.next.store(first, Relaxed);
        match FIRST.compare_exchange(first, raw, AcqRel, Acquire) {
            Ok(_) => return meter,
            Err(current) => first = current,
        }
    }
}

impl Meter {
    /// One that is in use.
    const fn new() -> Self {
        Self {
            samples: Sum::new(),
            sampled: Sum::new(),
            besides: Sum::new(),
            tasks: Sum::new(),
            events: Sum::new(),
            timing: Sum::new(),
            reading: Sum::new(),
            in_runtime: AtomicBool::new(false),
            tid: AtomicU32::new(0),
            first: [const { AtomicU64::new(0) }; 7],
            reported_at: AtomicU64::new(0),
            next: AtomicPtr::new(core::ptr::null_mut()),
            used: AtomicBool::new(true),
        }
    }

    /// All sums, each with its value when the thread began.
    fn sums(&self) -> [(&Sum, &AtomicU64); 7] {
        let [a, b, c, d, e, f, g] = &self.first;
        [
            (&self.samples, a),
            (&self.sampled, b),
            (&self.besides, c),
            (&self.tasks, d),
            (&self.events, e),
            (&self.timing, f),
            (&self.reading, g),
        ]
    }

    /// Overhead of the meter's thread, by sum.
    fn shown(&self) -> [u64; 7] {
        self.sums()
            .map(|(sum, first)| sum.get().wrapping_sub(first.load(Relaxed)))
    }

    /// The calling thread has the meter from now on, or begins to count again.
    pub(crate) fn begin(&self) {
        for (sum, first) in self.sums() {
            first.store(sum.get(), Relaxed);
        }
        self.reported_at.store(ticks(), Relaxed);
        self.tid.store(syscall_policy::tid(), Release);
    }

    /// A record of the overhead of the meter's thread until `now`.
    pub(crate) fn record(&self, now: u64) -> kinds::Cost {
        let tid = self.tid.load(Acquire);
        let [samples, sampled, besides, tasks, events, timing, reading] = self.shown();
        kinds::Cost {
            tid,
            at: now,
            samples,
            sampled,
            besides,
            tasks,
            events,
            timing,
            reading,
        }
    }

    /// A record of the overhead of the meter's thread until now, which counts as reported; `None`
    /// without any.
    pub(crate) fn news(&self) -> Option<kinds::Cost> {
        if self.tid.load(Acquire) == 0 {
            return None;
        }
        let now = ticks();
        self.reported_at.store(now, Relaxed);
        (self.shown() != [0; 7]).then(|| self.record(now))
    }

    /// Ticks since the last report.
    pub(crate) fn since_reported(&self) -> u64 {
        ticks().wrapping_sub(self.reported_at.load(Relaxed))
    }

    /// Another thread may have the meter.
    pub(crate) fn give_back(&self) {
        self.tid.store(0, Relaxed);
        self.used.store(false, Release);
    }
}

/// The calling thread is a forked child's only one; the measured overhead belongs to the parent.
pub(crate) fn forget() {
    for meter in all() {
        for (sum, _) in meter.sums() {
            sum.0.store(0, Relaxed);
        }
        meter.in_runtime.store(false, Relaxed);
        meter.give_back();
    }
}

/// A call with a measured recording.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    /// Calls around it.
    pub(crate) depth: u8,
    pub(crate) entered: u64,
    /// Part of the meter's value that is counted elsewhere.
    pub(crate) elsewhere: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_does_not_start_again_with_its_next_thread() {
        let meter = make();
        meter.begin();
        meter.tasks.add(3);
        let record = meter.record(50);
        assert_eq!((record.tid, record.at), (syscall_policy::tid(), 50));
        assert_eq!(meter.shown(), [0, 0, 0, 3, 0, 0, 0]);
        meter.begin();
        meter.tasks.add(2);
        assert_eq!(meter.record(60).tasks, 2);
        assert_eq!(meter.tasks.get(), 5);
    }
}
