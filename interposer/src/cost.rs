//! Tracer overhead of the program's threads. Events and readings of times are all measured; of the
//! calls, only the first ones in each new segment of a thread's channel, so that the others need no
//! further look at the clock.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::COST_REPORT_INTERVAL_NS;

use crate::clock::{nanoseconds, ticks};
use crate::emit;
use crate::meter::{self, Meter, SAMPLES, Sample, Sum};
use crate::thread::ThreadState;

/// Something else had the processor when recording a call took longer than this many nanoseconds.
const INTERRUPTED_NS: u64 = 20_000;

/// Work of the tracer that takes at least this time is reported separately, at its begin and at its
/// end: otherwise the activity of the thread at that time would be unknown.
const LONG_NS: u64 = 100_000;

/// The same in ticks; 0 until the clocks have run long enough to convert.
static LONG_TICKS: AtomicU64 = AtomicU64::new(0);

impl Meter {
    /// Writes the overhead of the meter's thread to the calling thread's channel.
    fn tell(&self, state: &ThreadState) {
        if let Some(news) = self.news() {
            emit::record(state, &news);
        }
    }

    /// The calling thread, which has the meter, has spent the time between two looks at the clock on
    /// `what`, a sum of the meter.
    #[inline]
    pub(crate) fn spend(&self, state: &ThreadState, what: &Sum, (begin, end): (u64, u64)) {
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
    fn spend_long(&self, state: &ThreadState, what: &Sum, (begin, end): (u64, u64)) {
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

    /// Reports new overhead if the last report is old enough.
    fn tell_if_due(&self, state: &ThreadState) {
        if nanoseconds(self.since_reported()) >= COST_REPORT_INTERVAL_NS {
            self.tell(state);
        }
    }

    /// The thread ends: another thread may use the meter.
    pub(crate) fn release(&self, state: &ThreadState) {
        self.tell(state);
        self.in_runtime.store(false, Relaxed);
        self.give_back();
    }
}

/// How many ticks a long piece of work has, by one that had `ticks`.
fn long_ticks(ticks: u64) -> u64 {
    let known = LONG_TICKS.load(Relaxed);
    if known != 0 {
        return known;
    }
    let ns = nanoseconds(ticks).max(1);
    let long = u128::from(ticks) * u128::from(LONG_NS) / u128::from(ns);
    let long = u64::try_from(long).unwrap_or(u64::MAX).max(1);
    LONG_TICKS.store(long, Relaxed);
    long
}

/// Reports the overhead of threads with an old last report.
pub(crate) fn tell_due(state: &ThreadState) {
    meter::all().for_each(|meter| meter.tell_if_due(state));
}

/// The process ends: reports the overhead of all its threads.
pub(crate) fn tell_all(state: &ThreadState) {
    meter::all().for_each(|meter| meter.tell(state));
}

/// The wrapper of a call that may be measured has just been entered.
#[cold]
pub(crate) fn begin_sample(state: &ThreadState) {
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
pub(crate) fn recorded(state: &ThreadState, depth: u8, is_first: bool, (begin, end): (u64, u64)) {
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
        if nanoseconds(spent) < INTERRUPTED_NS {
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
    use crate::thread;

    use super::*;

    #[test]
    fn only_the_outermost_call_is_measured_without_separately_counted_time() {
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
