//! By how much longer tasks look when each has events around it, for each sort of work. Between two tasks that follow each
//! other the device takes some time, and between a record and a task as well. The first time is unknown, but a stretch of
//! tasks without events shows by how much the second is longer: their time as a whole, next to that of the same operations,
//! each with its own events ([`crate::timing::operations`]).

mod stretches;
mod values;

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use ascend_trace_format::record::figure::{PairFigures, Work};
use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::timing::operations::{Operation, Operations, SkippedTasks};
use crate::timing::record_time::RecordTime;
use values::Values;

pub(crate) use stretches::Stretches;

/// Tasks of one stretch.
const STRETCH: core::ops::RangeInclusive<i64> = 2..=64;
/// No device takes longer between a record and a task.
const LONGEST_NS: i64 = 100_000;
/// Fewer stretches give no estimate.
const LEAST: u32 = 4;
/// From this number on, the longest and the shortest are not guessed.
const SURE: u32 = 8;
/// Stretches with several sorts of work say less of each of them.
const LEAST_MIXED: u32 = 16;

/// Results of one device: of all tasks, and of each sort of work.
pub(crate) struct Excess {
    /// The durations of operations, each with its events.
    pub(crate) operations: &'static Operations,
    all: Values,
    works: [OfWork; Work::ALL.len()],
}

/// Results of one sort of work.
struct OfWork {
    /// By stretches of this sort alone, and by those that contain it.
    pure: Values,
    mixed: Values,
}

impl OfWork {
    const fn new() -> Self {
        Self {
            pure: Values::new(),
            mixed: Values::new(),
        }
    }

    /// A few stretches of this sort alone may leave more open than many that contain it.
    fn is_pure_better(&self) -> bool {
        let open = |values: &Values| values.beyond.known().map_or(u32::MAX, |it| it.open);
        self.pure.has(SURE) || !self.mixed.has(LEAST_MIXED) || open(&self.pure) <= open(&self.mixed)
    }

    fn tell(&self, device: u32, figures: PairFigures) {
        self.mixed.tell_shortest(device, figures);
        let added = |values: &Values| values.added.load(Relaxed);
        if self.pure.has(LEAST) && self.is_pure_better() {
            self.pure.tell(device, figures, added(&self.mixed));
        } else if self.mixed.has(LEAST_MIXED) {
            self.mixed.tell(device, figures, added(&self.pure));
        }
    }
}

impl Excess {
    pub(crate) const fn new(operations: &'static Operations) -> Self {
        Self {
            operations,
            all: Values::new(),
            works: [const { OfWork::new() }; Work::ALL.len()],
        }
    }

    /// Forgets everything after a fork.
    pub(crate) fn forget(&self) {
        self.operations.forget();
        self.all.forget();
        for work in &self.works {
            work.pure.forget();
            work.mixed.forget();
        }
    }

    /// The stretches of a sort of work that were measured.
    pub(crate) fn samples(&self, work: Work) -> u32 {
        let own = self.works.get(work as usize);
        own.map_or(0, |it| it.pure.beyond.samples())
    }

    /// Nanoseconds that a pair around this work adds to it, less the time of the device between two tasks, as last
    /// recorded. `None` before enough stretches were measured.
    pub(crate) fn beyond(&self, work: Work) -> Option<i32> {
        let own = self.works.get(work as usize);
        let known = own.and_then(|own| {
            own.pure
                .reported_median()
                .or_else(|| own.mixed.reported_median())
        });
        known.or_else(|| self.all.reported_median())
    }

    /// A task with its events took this long.
    fn note_pair(&self, work: Work, length: u32) {
        // Threads that submit look at these values: they are written only where they change.
        let fall = |shortest: &AtomicU32| {
            if length < shortest.load(Relaxed) {
                shortest.fetch_min(length, Relaxed);
            }
        };
        fall(&self.all.shortest);
        if let Some(own) = self.works.get(work as usize) {
            fall(&own.mixed.shortest);
        }
    }

    /// A stretch with these sorts of work showed this, with tasks of about `length`.
    fn add(&self, sorts: u32, length: u32, beyond: i32) {
        self.all.add(length, beyond);
        for (work, own) in Work::ALL.into_iter().zip(&self.works) {
            match sorts & 1 << work as u32 {
                0 => {}
                only if only == sorts => own.pure.add(length, beyond),
                _ => own.mixed.add(length, beyond),
            }
        }
    }

    /// Another session has none of the results.
    pub(crate) fn tell_again(&self) {
        self.all.tell_again();
        for own in &self.works {
            own.pure.tell_again();
            own.mixed.tell_again();
        }
    }

    /// Records new results of a device: they apply to all tasks. The thread must be marked busy.
    pub(crate) fn tell(&self, device: u32) {
        let figures = PairFigures::of(None);
        self.all.tell_shortest(device, figures);
        if self.all.has(LEAST) {
            self.all.tell(device, figures, 0);
        }
        for (own, work) in self.works.iter().zip(Work::ALL) {
            own.tell(device, PairFigures::of(Some(work)));
        }
    }
}

/// A task that was read with events around it, on the device's clock.
#[derive(Clone, Copy)]
pub(crate) struct Single {
    pub(crate) work: Work,
    pub(crate) sequence: u32,
    pub(crate) operation: Operation,
    /// The tasks without events before it.
    pub(crate) skipped: SkippedTasks,
    pub(crate) begin: DeviceNs,
    pub(crate) end: DeviceNs,
    /// The event behind it had been submitted by then.
    pub(crate) closed: HostNs,
}

/// The task of a stream that was read last: for who reads them.
pub(crate) struct LastReadTask {
    sequence: AtomicU64,
}

const NONE: u64 = u64::MAX;

impl LastReadTask {
    pub(crate) const fn new() -> Self {
        Self {
            sequence: AtomicU64::new(NONE),
        }
    }

    pub(crate) fn forget(&self) {
        self.sequence.store(NONE, Relaxed);
    }

    /// A task was read. Returns the number of the one before it.
    pub(crate) fn follow(&self, sequence: Option<u32>) -> Option<u32> {
        let before = self.sequence.load(Relaxed);
        self.sequence
            .store(sequence.map_or(NONE, u64::from), Relaxed);
        u32::try_from(before).ok()
    }
}

impl Excess {
    /// Learns from a run of tasks of one operation: a stretch between two records, as long as single ones are known. All of it must
    /// have been in the queue when the stream came to it.
    pub(crate) fn read_run(&self, single: Single, tasks: u32, record: &RecordTime) {
        let known = self.operations.known_in_row(single.operation);
        let (Some(known), 2..) = (known, tasks) else {
            return;
        };
        if !record.was_waiting(single.closed, single.begin) {
            return;
        }
        let whole = single.end.ns().wrapping_sub(single.begin.ns());
        let singly = i64::from(known).saturating_mul(tasks.into());
        let beyond = singly.saturating_sub(whole) / i64::from(tasks).saturating_sub(1).max(1);
        if (-LONGEST_NS..=LONGEST_NS).contains(&beyond) {
            self.add(1 << single.work as u32, known.max(1), beyond as i32);
        }
    }

    /// Learns from a task. `before` is the task of its stream that was read before it, and `last_end` the device time of the
    /// record behind that.
    pub(crate) fn read(
        &self,
        single: Single,
        (before, last_end): (Option<u32>, i64),
        record: &RecordTime,
    ) {
        let length = single.end.ns().wrapping_sub(single.begin.ns());
        let Ok(short) = u32::try_from(length) else {
            return;
        };
        self.note_pair(single.work, short);
        if !record.was_waiting(single.closed, single.begin) {
            return;
        }
        self.operations.note(single.operation, short);
        let skipped = single.skipped;
        let tasks = i64::from(skipped.count);
        let passed = before.map(|before| single.sequence.wrapping_sub(before).wrapping_sub(1));
        // All of the stretch was in the queue when the stream came to it.
        let was_waiting = || record.was_waiting(single.closed, DeviceNs::new(last_end));
        if passed != Some(skipped.count)
            || !STRETCH.contains(&tasks)
            || !skipped.is_known()
            || !was_waiting()
        {
            return;
        }
        let whole = single.begin.ns().wrapping_sub(last_end);
        let singly = i64::from(skipped.singly);
        let beyond = singly.saturating_sub(whole) / tasks.saturating_sub(1).max(1);
        if (-LONGEST_NS..=LONGEST_NS).contains(&beyond) {
            let each = (skipped.singly / skipped.count.max(1)).max(1);
            self.add(skipped.sorts, each, beyond as i32);
        }
    }
}

#[cfg(test)]
mod tests;
