//! By how much longer tasks look when each has events around it, for each sort of work. Between two tasks that follow each
//! other the device takes some time, and between a record and a task as well. The first time is unknown, but a stretch of
//! tasks without events shows by how much the second is longer: their time as a whole, next to that of the same operations,
//! each with its own events ([`crate::timing::operations`]).

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use ascend_trace_format::record::figure::{PairFigures, Work};
use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::timing::operations::{Operation, Operations, SkippedTasks};
use crate::timing::record_time::RecordTime;
use crate::timing::spread::{Spread, emit_learnt};

/// Tasks of one stretch.
const STRETCH: core::ops::RangeInclusive<i64> = 2..=64;
/// No device takes longer between a record and a task.
const LONGEST_NS: i64 = 100_000;
/// Fewer stretches give no estimate.
const LEAST: u32 = 4;
/// From this number on, the longest and the shortest are not guessed.
const SURE: u32 = 8;
const UNREPORTED: u64 = u64::MAX;
/// Tasks that are this number of times as long as those of the samples show less: their own durations differ by more.
const FAR_LONGER: u32 = 4;

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

/// The device may take longer between two tasks than a pair adds, but not by more than this.
const ZERO: u32 = 4_096;

/// Results of one sort of tasks.
struct Values {
    /// The excess of a pair, less the time of the device between two tasks; more by [`ZERO`].
    beyond: Spread,
    /// Samples that were added. It never falls.
    added: AtomicU32,
    /// About the duration of the tasks of the samples.
    length: AtomicU32,
    /// The shortest task with its events: they take no longer.
    shortest: AtomicU32,
    reported_added: AtomicU32,
    reported: AtomicU64,
    /// The present session has the results.
    is_reported: AtomicBool,
    reported_shortest: AtomicU32,
}

impl Values {
    const fn new() -> Self {
        Self {
            beyond: Spread::with_zero(ZERO),
            added: AtomicU32::new(0),
            length: AtomicU32::new(u32::MAX),
            shortest: AtomicU32::new(u32::MAX),
            reported_added: AtomicU32::new(0),
            reported: AtomicU64::new(UNREPORTED),
            is_reported: AtomicBool::new(false),
            reported_shortest: AtomicU32::new(u32::MAX),
        }
    }

    fn forget(&self) {
        if self.beyond.samples() > 0 {
            self.beyond.forget();
        }
        self.added.store(0, Relaxed);
        self.length.store(u32::MAX, Relaxed);
        self.shortest.store(u32::MAX, Relaxed);
        self.reported_added.store(0, Relaxed);
        self.reported.store(UNREPORTED, Relaxed);
        self.reported_shortest.store(u32::MAX, Relaxed);
    }

    /// Another session has none of the results.
    fn tell_again(&self) {
        self.reported_added.store(0, Relaxed);
        self.is_reported.store(false, Relaxed);
        self.reported_shortest.store(u32::MAX, Relaxed);
    }

    /// A stretch of tasks of about `length` showed this.
    fn add(&self, length: u32, beyond: i32) {
        let known = self.length.load(Relaxed);
        if length / FAR_LONGER > known {
            return;
        }
        if known == u32::MAX {
            self.length.store(length, Relaxed);
        } else if length < known / FAR_LONGER {
            self.length.store(length, Relaxed);
            self.beyond.forget();
        }
        self.beyond.add(ZERO.saturating_add_signed(beyond));
        self.added.fetch_add(1, Relaxed);
    }

    /// The median that was recorded last.
    fn reported_median(&self) -> Option<i32> {
        let reported = self.reported.load(Relaxed);
        let median = (reported >> 32) as u32;
        (reported != UNREPORTED).then(|| median.wrapping_sub(ZERO) as i32)
    }

    /// Whether there are samples enough, if that takes this number.
    fn has(&self, least: u32) -> bool {
        self.beyond.samples() >= least
    }

    fn tell_shortest(&self, device: u32, figures: PairFigures) {
        let shortest = self.shortest.load(Relaxed);
        if self.reported_shortest.swap(shortest, Relaxed) != shortest {
            // It falls, and counters grow.
            let grows = u32::MAX.wrapping_sub(shortest);
            emit_learnt(figures.shortest, device, grows, shortest);
        }
    }

    /// `before` is the number of samples that were recorded in another place.
    fn tell(&self, device: u32, figures: PairFigures, before: u32) {
        let added = self.added.load(Relaxed);
        // The summary takes a look at all steps of the spread.
        if self.reported_added.swap(added, Relaxed) == added {
            return;
        }
        let Some(known) = self.beyond.known() else {
            return;
        };
        let both = u64::from(known.median) << 32 | u64::from(known.open);
        let is_new = self.reported.swap(both, Relaxed) != both;
        if is_new | !self.is_reported.swap(true, Relaxed) {
            let beyond = known.median.wrapping_sub(ZERO);
            // Counters grow.
            let samples = added.saturating_add(before);
            emit_learnt(figures.beyond, device, samples, beyond);
            emit_learnt(figures.open, device, samples, known.open);
            emit_learnt(figures.mean, device, samples, known.mean_open);
        }
    }
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

/// Whether the next tasks of a stream are timed as a whole: for who submits to it.
#[derive(Clone, Copy)]
pub(crate) struct Stretches {
    since: u32,
    left: u32,
    /// The sort of work that it began with.
    work: Option<Work>,
}

/// Tasks of a stretch that is made for this, and one stretch in this number of tasks of a stream.
const TASKS: u32 = 3;
const AT_ONCE: u32 = 16;
const SOON: u32 = 32;
const RARELY: u32 = 1024;
/// Number of stretches that are made at once, and soon.
const FEW: u32 = 16;
const ENOUGH: u32 = 40;
/// Number of tasks in the queue.
const LEAST_PENDING: usize = 32;

impl Stretches {
    pub(crate) const fn new() -> Self {
        Self {
            since: 0,
            left: 0,
            work: None,
        }
    }

    /// Whether the next task is one of a stretch; `is_known` if its duration with events is known.
    pub(crate) fn takes(
        &mut self,
        work: Work,
        pending: usize,
        is_known: bool,
        samples: u32,
    ) -> bool {
        if self.left > 0 {
            // A stretch of one sort of work shows more than a longer one.
            let is_long_enough = self.left < TASKS.wrapping_sub(1);
            let goes_on = self.work.is_none_or(|it| it == work) || !is_long_enough;
            self.left = if goes_on {
                self.left.wrapping_sub(1)
            } else {
                0
            };
            if goes_on {
                self.work = self.work.filter(|it| *it == work);
            }
            return goes_on;
        }
        self.since = self.since.saturating_add(1);
        let step = match samples {
            0..FEW => AT_ONCE,
            FEW..ENOUGH => SOON,
            _ => RARELY,
        };
        if self.since < step || !is_known || pending < LEAST_PENDING {
            return false;
        }
        *self = Self {
            since: 0,
            left: TASKS.wrapping_sub(1),
            work: Some(work),
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::operations::Lane;

    const KERNEL: Operation = Operation::of(11, 7);
    const COPY: Operation = Operation::of(12, 8);

    /// The device reads tasks of a stream that has a queue.
    struct Stream {
        record: RecordTime,
        excess: Excess,
        before: LastReadTask,
        lane: Lane,
        at: i64,
        /// The end of the record behind the last timed task.
        last_end: i64,
        sequence: u32,
        switch: i64,
        turn: i64,
    }

    impl Stream {
        fn new(switch: i64, turn: i64) -> Self {
            let record = RecordTime::new();
            record.reached(HostNs::new(0), DeviceNs::new(3_000));
            Self {
                record,
                excess: Excess::new(Box::leak(Box::new(Operations::new()))),
                before: LastReadTask::new(),
                lane: Lane::new(),
                at: 1_000_000,
                last_end: 1_000_000,
                sequence: 0,
                switch,
                turn,
            }
        }

        fn timed(&mut self, (work, operation, length): (Work, Operation, i64)) {
            let last = self.last_end;
            let stretch = self.lane.take();
            if stretch.count == 0 {
                // The record of the begin.
                self.at += 1_000;
            }
            let begin = self.at;
            self.at += 2 * self.turn + length + 1_000;
            let single = Single {
                work,
                sequence: self.sequence,
                operation,
                skipped: stretch,
                begin: DeviceNs::new(begin),
                end: DeviceNs::new(self.at),
                closed: HostNs::new(500),
            };
            let before = self.before.follow(Some(self.sequence));
            self.sequence += 1;
            self.last_end = self.at;
            self.excess.read(single, (before, last), &self.record);
        }

        fn stretch(&mut self, tasks: &[(Work, Operation, i64)]) {
            self.at += 2 * self.turn + self.switch * (tasks.len() as i64 - 1) + 1_000;
            for (work, operation, length) in tasks {
                let known = self.excess.operations.known(*operation);
                self.lane.skip(*work, known);
                self.at += length;
                self.sequence += 1;
            }
        }
    }

    fn median(values: &Values) -> Option<(i64, u32)> {
        let known = values.beyond.known()?;
        Some((i64::from(known.median) - i64::from(ZERO), known.open))
    }

    #[test]
    fn a_stretch_as_a_whole_shows_what_pairs_add() {
        let kernel = (Work::Kernel, KERNEL, 2_000);
        for (switch, turn) in [(1_800, 2_000), (0, 0), (900, 0)] {
            let mut stream = Stream::new(switch, turn);
            for _ in 0..20 {
                (0..6).for_each(|_| stream.timed(kernel));
                stream.stretch(&[kernel; 3]);
            }
            let expected = Some((2 * turn + 1_000 - switch, 0));
            let excess = stream.excess;
            assert_eq!(median(&excess.all), expected);
            assert_eq!(median(&excess.works[0].pure), expected);
            let shortest = excess.all.shortest.load(Relaxed);
            assert_eq!(i64::from(shortest), 2_000 + 2 * turn + 1_000);
            assert_eq!(excess.samples(Work::Copy), 0, "of another sort");
        }
    }

    #[test]
    fn a_stretch_of_different_operations_counts_for_all_sorts_that_it_contains() {
        let (kernel, copy) = ((Work::Kernel, KERNEL, 9_000), (Work::Copy, COPY, 4_000));
        let mut stream = Stream::new(1_800, 2_000);
        for _ in 0..20 {
            (0..6).for_each(|_| {
                stream.timed(kernel);
                stream.timed(copy);
            });
            stream.stretch(&[copy, kernel, copy]);
        }
        let excess = stream.excess;
        let expected = Some((3_200, 0));
        assert_eq!(median(&excess.all), expected);
        assert_eq!(median(&excess.works[Work::Copy as usize].mixed), expected);
        assert_eq!(excess.samples(Work::Copy), 0);
        assert_eq!(median(&excess.works[Work::Fill as usize].mixed), None);
    }

    #[test]
    fn operations_that_differ_say_nothing() {
        let mut stream = Stream::new(1_800, 2_000);
        for round in 0..40 {
            let kernel = (Work::Kernel, KERNEL, 2_000 + round * 900);
            stream.timed(kernel);
            stream.stretch(&[kernel; 3]);
        }
        assert_eq!(median(&stream.excess.all), None);
    }

    #[test]
    fn a_task_that_is_missing_between_them_makes_a_stretch_unknown() {
        let kernel = (Work::Kernel, KERNEL, 2_000);
        let mut stream = Stream::new(1_800, 2_000);
        for _ in 0..20 {
            (0..6).for_each(|_| stream.timed(kernel));
            stream.stretch(&[kernel; 3]);
            stream.sequence += 1;
        }
        assert_eq!(median(&stream.excess.all), None);
    }

    #[test]
    fn short_tasks_show_more_than_long_ones() {
        let values = Values::new();
        (0..8).for_each(|i| values.add(90_000, 2_000 + i * 300));
        values.add(500_000, 90_000);
        let long = median(&values).unwrap();
        (0..8).for_each(|_| values.add(9_000, 2_200));
        values.add(90_000, 4_000);
        assert!(long.1 >= 1_000, "{long:?}");
        assert_eq!(median(&values).unwrap().0, 2_200);
        assert_eq!(values.added.load(Relaxed), 16);
        assert_eq!(values.beyond.samples(), 8);
    }

    #[test]
    fn stretches_are_made_where_known_tasks_wait_and_seldom() {
        let mut stretches = Stretches::new();
        let mut takes =
            |pending, is_known, samples| stretches.takes(Work::Kernel, pending, is_known, samples);
        assert!(!(0..200).any(|_| takes(2, true, 0)));
        assert!(!(0..200).any(|_| takes(100, false, 0)));
        let at_once = (0..320).filter(|_| takes(100, true, 0)).count();
        assert!((51..=60).contains(&at_once), "{at_once}");
        let soon = (0..320).filter(|_| takes(100, true, FEW)).count();
        assert!((27..=33).contains(&soon), "{soon}");
        let later = (0..10_000).filter(|_| takes(100, true, ENOUGH)).count();
        assert!((24..=30).contains(&later), "{later}");
    }

    #[test]
    fn a_stretch_ends_where_another_sort_of_work_follows_two_tasks_of_one_sort() {
        use Work::{Copy, Fill, Kernel};
        let length = |works: &[Work]| {
            let mut stretches = Stretches::new();
            while !stretches.takes(Kernel, 100, true, 0) {}
            let taken = works
                .iter()
                .filter(|it| stretches.takes(**it, 100, true, 0));
            1 + taken.count()
        };
        assert_eq!(length(&[Kernel, Kernel, Kernel]), 3);
        assert_eq!(length(&[Kernel, Copy, Kernel]), 2, "two tasks of one sort");
        assert_eq!(length(&[Copy, Fill, Kernel]), 3, "no single task");
        assert_eq!(length(&[Copy, Copy, Kernel]), 3);
    }
}
