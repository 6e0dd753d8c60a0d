//! Calls and tasks of a whole recording by number, in four bytes.

use ascend_trace_recording::Trace;

use crate::Node;
use crate::released::NumberedNode;

/// A call or a task by its number in the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Code(u32);

const TASK: u32 = 1 << 31;

impl Code {
    /// Stands for nothing.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// Of a node; a task that has no time is its call.
    pub(super) fn of(trace: &Trace, node: Node) -> Self {
        match node {
            Node::Task(id) if trace.task(id).time.is_some() => Self(trace.task_number(id) | TASK),
            Node::Task(id) => Self(trace.call_number(trace.task(id).call)),
            Node::Call(id) => Self(trace.call_number(id)),
        }
    }

    pub(super) fn of_number(item: NumberedNode) -> Self {
        match item {
            NumberedNode::Call(number) => Self(number),
            NumberedNode::Task(number) => Self(number | TASK),
        }
    }

    /// The number of the call or task.
    pub(super) fn number(self) -> u32 {
        self.0 & !TASK
    }

    pub(super) fn is_task(self) -> bool {
        self.0 & TASK != 0
    }

    /// Of items that end at the same time, calls come after the tasks that they waited for.
    pub(super) fn rank(self) -> u32 {
        self.0 ^ TASK
    }

    fn place(self) -> (usize, usize) {
        (usize::from(self.0 & TASK != 0), (self.0 & !TASK) as usize)
    }
}

/// Some of the calls and tasks, each with its place among them.
#[derive(Debug, Default)]
pub(super) struct Marked {
    words: [Vec<Word>; 2],
}

/// Of 64 calls or tasks in a row, those that are marked.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    bits: u64,
    /// Number of marked ones before them.
    before: u32,
}

impl Marked {
    /// Marks one, and returns whether it was unmarked.
    pub(super) fn mark(&mut self, code: Code) -> bool {
        let (kind, place) = code.place();
        let words = &mut self.words[kind];
        if words.len() <= place / 64 {
            words.resize(place / 64 + 1, Word::default());
        }
        let (bits, bit) = (&mut words[place / 64].bits, 1 << (place % 64));
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new
    }

    /// Gives those that are marked their places.
    pub(super) fn settle(&mut self) {
        let mut before = 0;
        for word in self.words.iter_mut().flatten() {
            word.before = before;
            before += word.bits.count_ones();
        }
    }

    /// The place of one that is marked.
    pub(super) fn place(&self, code: Code) -> Option<usize> {
        let (kind, place) = code.place();
        let word = self.words[kind].get(place / 64)?;
        let bit = 1 << (place % 64);
        let before = word.before + (word.bits & (bit - 1)).count_ones();
        (word.bits & bit != 0).then_some(before as usize)
    }
}

/// A value for each call and each task.
#[derive(Debug)]
pub(super) struct Table<T> {
    rows: [Vec<T>; 2],
    none: T,
}

impl<T: Copy> Table<T> {
    pub(super) fn of(none: T) -> Self {
        let rows = [Vec::new(), Vec::new()];
        Self { rows, none }
    }

    pub(super) fn get(&self, code: Code) -> T {
        let (kind, place) = code.place();
        self.rows[kind].get(place).copied().unwrap_or(self.none)
    }

    pub(super) fn set(&mut self, code: Code, value: T) {
        let (kind, place) = code.place();
        let rows = &mut self.rows[kind];
        if rows.len() <= place {
            rows.resize(place + 1, self.none);
        }
        rows[place] = value;
    }
}
