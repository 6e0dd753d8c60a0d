//! The durations of operations, each with its events: two calls with the same arguments take about the same time.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::figure::Work;

/// Operations of a device with a known duration. Others replace them.
const PLACES: usize = 256;
/// The same by name and sizes.
const ROWS: usize = 64;
/// A duration is known after this number of tasks in a row that differ by no more than this, and this part of it.
const LEAST: u32 = 4;
const ALIKE_NS: u32 = 200;
const ALIKE_PART: u32 = 32;
/// The mean follows the last tasks, of about this number.
const MOST: u32 = 16;

/// The work of a task: a number for its function with all arguments, and one for the function with sizes and the like, without
/// addresses and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    exact: u32,
    rough: u32,
    in_row: u32,
}

impl Operation {
    pub(crate) const NONE: Self = Self::of(0, 0);

    pub(crate) const fn of(exact: u32, rough: u32) -> Self {
        Self {
            exact,
            rough,
            in_row: rough,
        }
    }

    /// The same with a number for its function with sizes and its name: tasks of a run have the same.
    pub(crate) const fn named(self, in_row: u32) -> Self {
        Self { in_row, ..self }
    }

    pub(crate) fn in_row(self) -> u32 {
        self.in_row
    }

    /// Distinguishes kinds of work.
    pub(crate) fn kind(self) -> u32 {
        self.rough
    }
}

/// The duration of one operation.
struct OperationSlot {
    operation: AtomicU32,
    count: AtomicU32,
    mean: AtomicU32,
}

/// The durations of a device's operations.
pub(crate) struct Operations {
    slots: [OperationSlot; PLACES],
    /// By the numbers that tasks of a run have in common.
    in_rows: [OperationSlot; ROWS],
}

impl Operations {
    pub(crate) const fn new() -> Self {
        Self {
            slots: [const { OperationSlot::new() }; PLACES],
            in_rows: [const { OperationSlot::new() }; ROWS],
        }
    }

    pub(crate) fn forget(&self) {
        let all = self.slots.iter().chain(&self.in_rows);
        for place in all.filter(|it| it.count.load(Relaxed) > 0) {
            place.count.store(0, Relaxed);
        }
    }

    /// A task that had waited in its queue took this long.
    pub(crate) fn note(&self, operation: Operation, length: u32) {
        for number in [operation.exact, operation.rough] {
            if let Some(place) = self.slots.get(number as usize % PLACES) {
                place.note(number, length);
            }
        }
        if let Some(place) = self.in_rows.get(operation.in_row as usize % ROWS) {
            place.note(operation.in_row, length);
        }
    }

    /// How long a task takes that has the name and the sizes of one, if that is known.
    pub(crate) fn known_in_row(&self, operation: Operation) -> Option<u32> {
        let place = self.in_rows.get(operation.in_row as usize % ROWS)?;
        place.known(operation.in_row)
    }

    /// How long such a task takes, if that is known.
    pub(crate) fn known(&self, operation: Operation) -> Option<u32> {
        let known = |number: u32| {
            let place = self.slots.get(number as usize % PLACES)?;
            place.known(number)
        };
        known(operation.exact).or_else(|| known(operation.rough))
    }
}

impl OperationSlot {
    const fn new() -> Self {
        Self {
            operation: AtomicU32::new(0),
            count: AtomicU32::new(0),
            mean: AtomicU32::new(0),
        }
    }

    fn known(&self, number: u32) -> Option<u32> {
        let is_own = number != 0 && self.operation.load(Relaxed) == number;
        let is_known = is_own && self.count.load(Relaxed) >= LEAST;
        is_known.then(|| self.mean.load(Relaxed))
    }

    fn note(&self, operation: u32, length: u32) {
        let count = self.count.load(Relaxed);
        let mean = self.mean.load(Relaxed);
        let is_own = self.operation.load(Relaxed) == operation && count > 0;
        let is_alike = length.abs_diff(mean) <= (mean / ALIKE_PART).saturating_add(ALIKE_NS);
        if !is_own || !is_alike {
            self.operation.store(operation, Relaxed);
            self.mean.store(length, Relaxed);
            self.count.store(1, Relaxed);
            return;
        }
        let count = count.saturating_add(1).min(MOST);
        let step = (i64::from(length) - i64::from(mean)) / i64::from(count);
        // Threads that submit look here.
        if step != 0 {
            self.mean.store((i64::from(mean) + step) as u32, Relaxed);
        }
        if self.count.load(Relaxed) != count {
            self.count.store(count, Relaxed);
        }
    }
}

/// Tasks of a stream without events in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SkippedTasks {
    pub(crate) count: u32,
    /// How long they would have taken with events, in sum; the largest number if that is not known.
    pub(crate) singly: u32,
    /// A bit for each sort of work.
    pub(crate) sorts: u32,
}

impl SkippedTasks {
    pub(crate) const NONE: Self = Self {
        count: 0,
        singly: 0,
        sorts: 0,
    };

    pub(crate) fn is_known(self) -> bool {
        self.singly != u32::MAX
    }
}

/// The tasks without events since the last one with events: for who submits to the stream.
pub(crate) struct Lane {
    count: AtomicU32,
    singly: AtomicU32,
    sorts: AtomicU32,
}

impl Lane {
    pub(crate) const fn new() -> Self {
        Self {
            count: AtomicU32::new(0),
            singly: AtomicU32::new(0),
            sorts: AtomicU32::new(0),
        }
    }

    /// A task gets no events. `known` is how long it would take with them.
    pub(crate) fn skip(&self, work: Work, known: Option<u32>) {
        let add = |to: &AtomicU32, more: u32| {
            to.store(to.load(Relaxed).saturating_add(more), Relaxed);
        };
        add(&self.count, 1);
        add(&self.singly, known.unwrap_or(u32::MAX));
        self.sorts
            .store(self.sorts.load(Relaxed) | 1 << work as u32, Relaxed);
    }

    /// A task gets events: the tasks before it, from which the next ones are separate.
    pub(crate) fn take(&self) -> SkippedTasks {
        if self.count.load(Relaxed) == 0 {
            return SkippedTasks::NONE;
        }
        SkippedTasks {
            count: self.count.swap(0, Relaxed),
            singly: self.singly.swap(0, Relaxed),
            sorts: self.sorts.swap(0, Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_known_when_some_tasks_in_a_row_took_it() {
        let operations = Operations::new();
        let copy = Operation::of(300, 2);
        for length in [9_000, 5_000, 5_020, 4_990] {
            operations.note(copy, length);
        }
        assert_eq!(operations.known(copy), None);
        operations.note(copy, 5_000);
        assert!(operations.known(copy).unwrap().abs_diff(5_000) <= 20);
        // Other addresses.
        assert!(operations.known(Operation::of(301, 2)).is_some());
        // Another operation in the same place.
        (0..9).for_each(|_| operations.note(Operation::of(300 + PLACES as u32, 3), 80_000));
        assert_eq!(operations.known(Operation::of(300, 4)), None);
        operations.note(copy, 70_000);
        assert_eq!(operations.known(copy), None);
        assert_eq!(operations.known(Operation::NONE), None);
    }

    #[test]
    fn tasks_of_one_name_are_known_by_it() {
        let operations = Operations::new();
        // Each with other addresses, and with the sizes of another name.
        for exact in 0..8 {
            operations.note(Operation::of(300 + exact, 2).named(5), 4_000);
            operations.note(Operation::of(400 + exact, 2).named(6), 90_000);
        }
        let known = |name| operations.known_in_row(Operation::of(1, 2).named(name));
        assert_eq!(
            [known(5), known(6), known(7)],
            [Some(4_000), Some(90_000), None]
        );
    }

    #[test]
    fn a_stretch_with_an_unknown_task_is_unknown() {
        let lane = Lane::new();
        lane.skip(Work::Kernel, Some(3_000));
        lane.skip(Work::Fill, Some(4_000));
        let known = lane.take();
        assert_eq!((known.count, known.singly, known.sorts), (2, 7_000, 0b101));
        assert_eq!(lane.take(), SkippedTasks::NONE);
        lane.skip(Work::Kernel, Some(3_000));
        lane.skip(Work::Copy, None);
        lane.skip(Work::Copy, Some(1));
        assert!(!lane.take().is_known());
    }
}
