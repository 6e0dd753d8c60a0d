//! Calls of a thread and tasks of a stream as records of a tape: each says how it differs from the one before it.

use std::hash::Hash;

use ascend_trace_recording::Direction;
use rustc_hash::FxHashMap;

use super::event_log::{Reader, Tape};
use crate::TaskRole;

/// Stands for no name and no call.
pub(super) const NONE: u32 = u32::MAX;

/// What calls have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallShape {
    pub(super) function: u32,
    /// It submits a task itself.
    pub(super) submits: bool,
    /// It copies by itself, on the host.
    pub(super) copies: bool,
    /// It is a loop of queries.
    pub(super) polls: bool,
    /// It makes or ends a stream, an event or a context.
    pub(super) bounds_life: bool,
    /// Tasks that it submitted, and calls in it did.
    pub(super) tasks: u32,
    /// The operation of the last of them that is work.
    pub(super) operation: u32,
    /// Of a call that waits: where in the program it was made, by place in [`Facts::sites`](super::compact_recording::Facts).
    pub(super) site: u32,
}

/// A call of a host thread that no other call is around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) shape: u32,
    pub(super) begin: i64,
    pub(super) end: i64,
}

/// What tasks have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TaskShape {
    pub(super) operation: u32,
    pub(super) class: TaskRole,
    pub(super) is_copy: bool,
    /// It copies from or to the host.
    pub(super) is_of_host: bool,
    /// Of a copy: its direction. Tasks of one operation that move other amounts take other times.
    pub(super) direction: Option<Direction>,
    /// The number of bits of the number of bytes that it moves; 0 where it is not known.
    pub(super) bits: u32,
    /// It records an event.
    pub(super) is_record: bool,
    pub(super) is_timed: bool,
}

impl TaskShape {
    pub(super) fn is_wait(&self) -> bool {
        matches!(self.class, TaskRole::EventWait | TaskRole::SignalWait)
    }
}

/// A task of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) shape: u32,
    pub(super) begin: i64,
    pub(super) end: i64,
    /// By how much its times may be off on the host's clock.
    pub(super) error: i64,
    /// The outermost call that it was submitted in, by thread and place.
    pub(super) thread: u32,
    pub(super) call: u32,
    /// From the begin of that call to the begin of the one that submitted it.
    pub(super) inside: i64,
    /// From there to its own begin.
    pub(super) since: i64,
}

impl Task {
    const FIRST: Self = Self {
        shape: 0,
        begin: 0,
        end: 0,
        error: 0,
        thread: 0,
        call: 0,
        inside: 0,
        since: 0,
    };

    /// When the call that submitted it began.
    pub(super) fn call_begin(&self) -> i64 {
        self.begin.wrapping_sub(self.since)
    }
}

/// Gives each of a few things a number.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    numbers: FxHashMap<T, u32>,
    pub(super) all: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            numbers: FxHashMap::default(),
            all: Vec::new(),
        }
    }
}

impl<T: Copy + Eq + Hash> Numbered<T> {
    pub(super) fn number(&mut self, entity: T) -> u32 {
        let all = &mut self.all;
        *self.numbers.entry(entity).or_insert_with(|| {
            all.push(entity);
            all.len() as u32 - 1
        })
    }
}

/// The calls of a thread, in order.
#[derive(Debug, Default)]
pub(super) struct Calls {
    tape: Tape,
    end: i64,
}

impl Calls {
    pub(super) fn push(&mut self, call: &Call) {
        let tape = &mut self.tape;
        tape.begin();
        tape.put(u64::from(call.shape));
        tape.put_signed(call.begin.wrapping_sub(self.end));
        tape.put_signed(call.end.wrapping_sub(call.begin));
        self.end = call.end;
    }

    pub(super) fn iter(&self) -> CallReader<'_> {
        CallReader {
            reader: self.tape.reader(),
            end: 0,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct CallReader<'t> {
    reader: Reader<'t>,
    end: i64,
}

impl Iterator for CallReader<'_> {
    type Item = Call;

    fn next(&mut self) -> Option<Call> {
        if !self.reader.next_record() {
            return None;
        }
        let shape = self.reader.number() as u32;
        let begin = self.end.wrapping_add(self.reader.signed());
        self.end = begin.wrapping_add(self.reader.signed());
        let end = self.end;
        Some(Call { shape, begin, end })
    }
}

/// Flags of a task in its first number, in addition to its shape.
const HAS_INSIDE: u64 = 1;
const HAS_ERROR: u64 = 2;
const HAS_THREAD: u64 = 4;

/// The tasks of a stream, in order.
#[derive(Debug)]
pub(super) struct Tasks {
    tape: Tape,
    pub(super) last: Task,
    pub(super) count: u32,
}

impl Default for Tasks {
    fn default() -> Self {
        let (tape, last, count) = (Tape::default(), Task::FIRST, 0);
        Self { tape, last, count }
    }
}

impl Tasks {
    pub(super) fn push(&mut self, task: &Task) {
        let (tape, last) = (&mut self.tape, &self.last);
        let flag = |is_there, flag| if is_there { flag } else { 0 };
        let head = flag(task.inside != 0, HAS_INSIDE)
            | flag(task.error != last.error, HAS_ERROR)
            | flag(task.thread != last.thread, HAS_THREAD);
        tape.begin();
        tape.put(u64::from(task.shape) << 3 | head);
        tape.put_signed(task.begin.wrapping_sub(last.end));
        tape.put_signed(task.end.wrapping_sub(task.begin));
        tape.put_signed(i64::from(task.call) - i64::from(last.call));
        tape.put_signed(task.since);
        if head & HAS_INSIDE != 0 {
            tape.put_signed(task.inside);
        }
        if head & HAS_ERROR != 0 {
            tape.put_signed(task.error.wrapping_sub(last.error));
        }
        if head & HAS_THREAD != 0 {
            tape.put(u64::from(task.thread));
        }
        self.last = *task;
        self.count += 1;
    }

    pub(super) fn iter(&self) -> TaskReader<'_> {
        TaskReader {
            reader: self.tape.reader(),
            last: Task::FIRST,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct TaskReader<'t> {
    reader: Reader<'t>,
    last: Task,
}

impl Iterator for TaskReader<'_> {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        let (reader, task) = (&mut self.reader, &mut self.last);
        if !reader.next_record() {
            return None;
        }
        let head = reader.number();
        task.shape = (head >> 3) as u32;
        task.begin = task.end.wrapping_add(reader.signed());
        task.end = task.begin.wrapping_add(reader.signed());
        task.call = (i64::from(task.call) + reader.signed()) as u32;
        task.since = reader.signed();
        task.inside = match head & HAS_INSIDE {
            0 => 0,
            _ => reader.signed(),
        };
        if head & HAS_ERROR != 0 {
            task.error = task.error.wrapping_add(reader.signed());
        }
        if head & HAS_THREAD != 0 {
            task.thread = reader.number() as u32;
        }
        Some(*task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all sizes, small ones more often.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self) -> i64 {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            match self.0 >> 61 {
                0 => self.0 as i64,
                1 => i64::from(self.0 as u32),
                2 => 0,
                _ => (self.0 >> 8) as i64 & 0x3ff,
            }
        }
    }

    #[test]
    fn calls_and_tasks_are_read_as_they_were_written() {
        let mut dice = Dice(1);
        let (mut calls, mut tasks) = (Calls::default(), Tasks::default());
        let (mut some_calls, mut some_tasks) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            some_calls.push(Call {
                shape: dice.roll() as u32,
                begin: dice.roll(),
                end: dice.roll(),
            });
            some_tasks.push(Task {
                shape: dice.roll() as u32,
                begin: dice.roll(),
                end: dice.roll(),
                error: dice.roll(),
                thread: dice.roll() as u32 & 3,
                call: dice.roll() as u32,
                inside: dice.roll(),
                since: dice.roll(),
            });
        }
        some_calls.iter().for_each(|it| calls.push(it));
        some_tasks.iter().for_each(|it| tasks.push(it));
        assert!(calls.iter().eq(some_calls));
        assert!(tasks.iter().eq(some_tasks));
    }

    #[test]
    fn equal_things_have_one_number() {
        let mut numbered = Numbered::default();
        let numbers = [7, 9, 7, 8].map(|it| numbered.number(it));
        assert_eq!((numbers, numbered.all), ([0, 1, 0, 2], vec![7_u64, 9, 8]));
    }
}
