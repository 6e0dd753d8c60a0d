//! What the tracer costs the program's threads. Events and readings of times are all measured; of
//! the calls, some are: the first ones that go into each new segment of a thread's channel, so that
//! the others need not look at the clock once more.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};

use ascend_trace_format::record::{COST_TOLD_EVERY_NS, told};

use crate::clock::ticks;
use crate::timing::counters;
use crate::{emit, quiet, thread};

/// Calls in a row that are measured.
pub(crate) const SAMPLES: u8 = 8;
/// Something else had the processor when recording a call took longer than this many nanoseconds.
const INTERRUPTED_NS: u64 = 20_000;

/// A piece of the tracer's work that takes at least so long is told of by itself, at its begin and at its
/// end: else nobody could say what the thread did at that moment.
const LONG_NS: u64 = 100_000;

/// The same in ticks; 0 until the clocks have come far enough to tell.
static LONG_TICKS: AtomicU64 = AtomicU64::new(0);

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

/// What one thread after another has cost. Meters are never freed, and never start again: what a
/// thread costs is what its meter shows less what it showed at first.
#[repr(align(128))]
pub(crate) struct Meter {
    /// Calls that were measured, and how long recording them took.
    samples: Sum,
    sampled: Sum,
    /// What took longer: the calls that needed a new segment.
    besides: Sum,
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
    told_at: AtomicU64,
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
    if !quiet::is_allowed() {
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
            told_at: AtomicU64::new(0),
            next: AtomicPtr::new(core::ptr::null_mut()),
            used: AtomicBool::new(true),
        }
    }

    /// All sums, each with what it showed when its thread began.
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

    /// What the meter's thread has cost, by sum.
    fn shown(&self) -> [u64; 7] {
        self.sums()
            .map(|(sum, first)| sum.get().wrapping_sub(first.load(Relaxed)))
    }

    /// The calling thread has the meter from now on.
    fn begin(&self) {
        for (sum, first) in self.sums() {
            first.store(sum.get(), Relaxed);
        }
        self.told_at.store(ticks(), Relaxed);
        self.tid.store(thread::tid(), Release);
    }

    /// A record of what the meter's thread has cost until `now`.
    fn record(&self, now: u64) -> told::Cost {
        let tid = self.tid.load(Acquire);
        let [samples, sampled, besides, tasks, events, timing, reading] = self.shown();
        told::Cost {
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

    /// Tells the trace what the meter's thread has cost so far, on the calling thread's channel.
    fn tell(&self, state: &thread::State) {
        if self.tid.load(Acquire) == 0 {
            return;
        }
        let now = ticks();
        self.told_at.store(now, Relaxed);
        if self.shown() != [0; 7] {
            emit::record(state, &self.record(now));
        }
    }

    /// The calling thread, which has the meter, has spent the time between two looks at the clock on
    /// `what`, a sum of the meter.
    #[inline]
    pub(crate) fn spend(&self, state: &thread::State, what: &Sum, (begin, end): (u64, u64)) {
        let spent = end.wrapping_sub(begin);
        let long = LONG_TICKS.load(Relaxed);
        // Until that is known: the slowest counters have a tick every 10 ns.
        if spent < long || long == 0 && spent < LONG_NS / 10 {
            what.add(spent);
        } else {
            self.spend_long(state, what, (begin, end));
        }
    }

    #[cold]
    fn spend_long(&self, state: &thread::State, what: &Sum, (begin, end): (u64, u64)) {
        let spent = end.wrapping_sub(begin);
        // The clocks of two processors may differ by a few ticks.
        let is_backwards = spent > u64::MAX / 2;
        let is_long = !is_backwards && spent >= long_ticks(spent);
        if is_long {
            emit::record(state, &self.record(begin));
        }
        what.add(spent);
        if is_long {
            emit::record(state, &self.record(end));
        }
    }

    /// Tells what is new, if it has not been told for a while.
    fn tell_if_due(&self, state: &thread::State) {
        let since = ticks().wrapping_sub(self.told_at.load(Relaxed));
        if counters::nanoseconds(since) >= COST_TOLD_EVERY_NS {
            self.tell(state);
        }
    }

    /// The thread ends: another one may have the meter.
    pub(crate) fn release(&self, state: &thread::State) {
        self.tell(state);
        self.in_runtime.store(false, Relaxed);
        self.tid.store(0, Relaxed);
        self.used.store(false, Release);
    }
}

/// How many ticks a long piece of work has, by one that had `ticks`.
fn long_ticks(ticks: u64) -> u64 {
    let known = LONG_TICKS.load(Relaxed);
    if known != 0 {
        return known;
    }
    let ns = counters::nanoseconds(ticks).max(1);
    let long = u128::from(ticks) * u128::from(LONG_NS) / u128::from(ns);
    let long = u64::try_from(long).unwrap_or(u64::MAX).max(1);
    LONG_TICKS.store(long, Relaxed);
    long
}

/// Tells what threads have cost that have not been told about for a while.
pub(crate) fn tell_due(state: &thread::State) {
    all().for_each(|meter| meter.tell_if_due(state));
}

/// The process ends: tells what all its threads have cost.
pub(crate) fn tell_all(state: &thread::State) {
    all().for_each(|meter| meter.tell(state));
}

/// The calling thread is a forked child's only one; what was measured belongs to the parent.
pub(crate) fn forget() {
    for meter in all() {
        for (sum, _) in meter.sums() {
            sum.0.store(0, Relaxed);
        }
        meter.in_runtime.store(false, Relaxed);
        meter.tid.store(0, Relaxed);
        meter.used.store(false, Relaxed);
    }
}

/// A call whose recording is measured.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    /// Calls around it.
    depth: u8,
    entered: u64,
    /// What the meter showed that is counted elsewhere.
    elsewhere: u64,
}

/// The wrapper of a call that may be measured has just been entered.
#[cold]
pub(crate) fn begin_sample(state: &thread::State) {
    let entered = ticks();
    let depth = state.depth();
    // A call around it is being measured: this one is not that call's cost.
    if state.sample().is_some_and(|sample| sample.depth < depth) {
        return;
    }
    state.set_sample(Some(Sample {
        depth,
        entered,
        elsewhere: elsewhere(state.meter()),
    }));
}

/// A call has been recorded that was the first to go into its segment, or may be measured. The real
/// function ran from `begin` to `end`.
#[cold]
pub(crate) fn recorded(state: &thread::State, depth: u8, is_first: bool, (begin, end): (u64, u64)) {
    let meter = state.meter();
    let sample = state.sample().filter(|sample| sample.depth == depth);
    if is_first {
        // The segment took longer than the call: that is counted apart.
        meter.spend(state, &meter.besides, (end, ticks()));
        state.set_sampling(SAMPLES);
        meter.tell_if_due(state);
    } else if let Some(sample) = sample {
        sample.end(meter, begin, end);
        state.count_sample();
    }
    if sample.is_some() {
        state.set_sample(None);
    }
}

impl Sample {
    fn end(self, meter: &Meter, begin: u64, end: u64) {
        let entering = begin.wrapping_sub(self.entered);
        let leaving = ticks().wrapping_sub(end);
        let elsewhere = elsewhere(meter).wrapping_sub(self.elsewhere);
        let spent = entering.wrapping_add(leaving).saturating_sub(elsewhere);
        if counters::nanoseconds(spent) < INTERRUPTED_NS {
            meter.samples.add(1);
            meter.sampled.add(spent);
        }
    }
}

fn elsewhere(meter: &Meter) -> u64 {
    meter.timing.get().wrapping_add(meter.reading.get())
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
        assert_eq!((record.tid, record.at), (thread::tid(), 50));
        assert_eq!(meter.shown(), [0, 0, 0, 3, 0, 0, 0]);
        meter.begin();
        meter.tasks.add(2);
        assert_eq!(meter.record(60).tasks, 2);
        assert_eq!(meter.tasks.get(), 5);
    }

    #[test]
    fn only_the_outermost_call_is_measured_and_what_is_counted_elsewhere_left_out() {
        thread::with(|state| {
            let meter = state.meter();
            state.set_sampling(2);
            begin_sample(state);
            let entered = state.sample().map(|sample| sample.entered);
            let inner = state.deepen(thread::stack());
            begin_sample(state);
            assert_eq!(state.sample().map(|sample| sample.entered), entered);
            recorded(state, inner + 1, false, (0, 0));
            assert_eq!(meter.samples.get(), 0);
            state.restore_depth(inner);
            let (begin, end) = (ticks(), ticks());
            meter.timing.add(1 << 40);
            recorded(state, inner, false, (begin, end));
            assert_eq!((meter.samples.get(), meter.sampled.get()), (1, 0));
            assert!(state.sample().is_none() && state.is_sampling());
            state.set_sampling(0);
        });
    }
}
