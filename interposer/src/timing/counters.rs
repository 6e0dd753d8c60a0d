//! Effects of measuring on the program, for the trace.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::{Counter, kinds};

use crate::clock::nanoseconds;
use crate::emit;
use crate::meter::{self, Meter, Sum};
use crate::timing::reference;

/// A number that only grows, and how much of it the trace knows.
#[repr(align(64))]
pub(crate) struct Tally {
    what: Counter,
    /// It counts ticks and is recorded in nanoseconds.
    in_ticks: bool,
    value: AtomicU64,
    reported: AtomicU64,
}

/// Pairs that were given up unread.
pub(crate) static LOST: Tally = Tally::new(Counter::LostPairs);
/// Events recorded on the program's streams.
static INJECTED: Tally = Tally::new(Counter::InjectedEvents);
/// Tasks that were submitted with events around them.
static TIMED: Tally = Tally::new(Counter::TimedTasks);
/// Time that the program's threads spent on these events.
static TIMING: Tally = Tally::in_ticks(Counter::TimingNs);
/// Time that the program's threads spent on reading times after a synchronisation.
static HARVEST: Tally = Tally::in_ticks(Counter::HarvestNs);
/// The most pairs that one stream had in its queue or unread.
pub(crate) static MOST_PENDING: Tally = Tally::new(Counter::MostPendingPairs);
/// For how long the host was suspended.
pub(crate) static SUSPENDED: Tally = Tally::new(Counter::SuspendedNs);
/// How often the wall clock was set.
pub(crate) static CLOCK_STEPS: Tally = Tally::new(Counter::ClockSteps);

/// Streams with short tasks.
pub(crate) static CHAINED_STREAMS: Tally = Tally::new(Counter::ChainedStreams);
/// Streams with tasks that are shorter than their events.
pub(crate) static SAMPLED_STREAMS: Tally = Tally::new(Counter::SampledStreams);

/// Timed tasks that took less time than an event record does.
pub(crate) static SHORT_TASKS: Tally = Tally::new(Counter::ShortTasks);

/// Tasks of runs that have one time together.
pub(crate) static RUN_TASKS: Tally = Tally::new(Counter::RunTasks);

/// Entries of the hardware's log, those without times, and how often there was no memory for more.
pub(crate) static LOG_ENTRIES: Tally = Tally::new(Counter::LogEntries);
pub(crate) static TIMELESS_ENTRIES: Tally = Tally::new(Counter::TimelessEntries);
pub(crate) static LOG_BUFFERS_SHORT: Tally = Tally::new(Counter::LogBuffersShort);

/// Time that these events took on devices.
pub(crate) static DEVICE: Tally = Tally::new(Counter::EventsDeviceNs);

/// Time of streams from the end of one such task to the end of the next.
pub(crate) static STREAMS: Tally = Tally::new(Counter::StreamNs);

static ALL: [&Tally; 17] = [
    &DEVICE,
    &STREAMS,
    &INJECTED,
    &LOST,
    &TIMED,
    &TIMING,
    &HARVEST,
    &MOST_PENDING,
    &SUSPENDED,
    &CLOCK_STEPS,
    &CHAINED_STREAMS,
    &SAMPLED_STREAMS,
    &SHORT_TASKS,
    &RUN_TASKS,
    &LOG_ENTRIES,
    &TIMELESS_ENTRIES,
    &LOG_BUFFERS_SHORT,
];

impl Tally {
    const fn new(what: Counter) -> Self {
        Self {
            what,
            in_ticks: false,
            value: AtomicU64::new(0),
            reported: AtomicU64::new(0),
        }
    }

    const fn in_ticks(what: Counter) -> Self {
        Self {
            in_ticks: true,
            ..Self::new(what)
        }
    }

    pub(crate) fn add(&self, count: u64) {
        self.value.fetch_add(count, Relaxed);
    }

    /// Makes it at least `value`.
    pub(crate) fn raise(&self, value: u64) {
        if self.value.load(Relaxed) < value {
            self.value.fetch_max(value, Relaxed);
        }
    }

    /// Two threads may record the same value, or the older value last: readers take the largest. A
    /// thread that marked it before could end with its process before it has recorded it.
    fn tell(&self) {
        let value = self.value.load(Relaxed);
        if self.reported.load(Relaxed) == value {
            return;
        }
        let shown = if self.in_ticks {
            nanoseconds(value)
        } else {
            value
        };
        emit::from_inside(&kinds::Counter {
            what: self.what.code().into(),
            value: shown,
        });
        self.reported.store(value, Relaxed);
    }
}

/// Events, timed tasks, and the ticks for timing and for reading, of all threads.
fn sums() -> [u64; 4] {
    let sum = |of: fn(&Meter) -> &Sum| {
        let all = meter::all().map(|meter| of(meter).get());
        all.fold(0, u64::wrapping_add)
    };
    [
        sum(|meter| &meter.events),
        sum(|meter| &meter.tasks),
        sum(|meter| &meter.timing),
        sum(|meter| &meter.reading),
    ]
}

/// Records new values. The thread must be marked busy.
pub(crate) fn tell() {
    let tallies = [&INJECTED, &TIMED, &TIMING, &HARVEST];
    for (tally, (sum, before)) in tallies.into_iter().zip(sums().into_iter().zip(&BEFORE)) {
        // A forked child has other meters than its parent.
        tally.raise(sum.saturating_sub(before.load(Relaxed)));
    }
    ALL.iter().for_each(|tally| tally.tell());
    reference::tell();
}

/// The sums of all meters when the session began.
static BEFORE: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// Another session begins at nothing.
pub(crate) fn begin_again() {
    forget();
    for (before, sum) in BEFORE.iter().zip(sums()) {
        before.store(sum, Relaxed);
    }
}

/// A forked child begins at nothing.
pub(crate) fn forget() {
    for tally in ALL {
        tally.value.store(0, Relaxed);
        tally.reported.store(0, Relaxed);
    }
    BEFORE.iter().for_each(|before| before.store(0, Relaxed));
}
