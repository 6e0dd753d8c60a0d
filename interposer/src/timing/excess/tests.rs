use super::stretches::{ENOUGH, FEW};
use super::values::ZERO;
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

/// A run of tasks shows the same as a stretch between two timed ones, if all of it waited in the queue.
#[test]
fn a_run_of_tasks_is_a_stretch() {
    let mut stream = Stream::new(1_800, 2_000);
    let kernel = (Work::Kernel, KERNEL, 9_000);
    (0..8).for_each(|_| stream.timed(kernel));
    let mut run = |operation, closed| {
        let begin = stream.at;
        stream.at += 2 * 2_000 + 20 * 9_000 + 19 * 1_800 + 1_000;
        let single = Single {
            work: Work::Kernel,
            sequence: stream.sequence,
            operation,
            skipped: SkippedTasks::NONE,
            begin: DeviceNs::new(begin),
            end: DeviceNs::new(stream.at),
            closed: HostNs::new(closed),
        };
        stream.excess.read_run(single, 20, &stream.record);
    };
    // The host submitted it while the stream came to it.
    (0..8).for_each(|_| run(KERNEL, 1_000_000_000));
    (0..8).for_each(|_| run(COPY, 500));
    (0..8).for_each(|_| run(KERNEL, 500));
    let values = &stream.excess.works[Work::Kernel as usize].pure;
    assert_eq!(values.beyond.samples(), 8);
    assert_eq!(median(values).map(|it| it.0), Some(1_000 + 4_000 - 1_800));
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
