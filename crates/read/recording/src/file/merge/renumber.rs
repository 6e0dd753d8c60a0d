//! The rows of an input with the numbers and the times of the merged file.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use crate::rows::{Row, TablesRow};

use super::{MergeError, MergeTarget};

/// The numbers that are free in the merged file.
#[derive(Debug)]
pub(super) struct FreeNumbers {
    process: u32,
    thread: u32,
    stack: u32,
}

impl FreeNumbers {
    /// Processes up to this number have theirs.
    pub(super) fn after(process: u32) -> Self {
        Self {
            process,
            thread: 0,
            stack: 0,
        }
    }
}

/// Numbers of things in one input, and in the merged file.
pub(super) struct NumberMap<'a> {
    processes: BTreeMap<u32, u32>,
    threads: HashMap<u32, u32>,
    stacks: HashMap<u32, u32>,
    /// The process of each thread, by the numbers of the input and of the merged file.
    process_of: HashMap<u32, u32>,
    functions: HashMap<u16, u16>,
    time: &'a dyn Fn(i64) -> i64,
}

impl<'a> NumberMap<'a> {
    pub(super) fn new(processes: BTreeMap<u32, u32>, time: &'a dyn Fn(i64) -> i64) -> Self {
        Self {
            processes,
            threads: HashMap::new(),
            stacks: HashMap::new(),
            process_of: HashMap::new(),
            functions: HashMap::new(),
            time,
        }
    }

    pub(super) fn time(&self, ns: i64) -> i64 {
        (self.time)(ns)
    }

    /// The process of a thread, if a row has said it.
    pub(super) fn process_of(&self, thread: u32) -> Option<u32> {
        self.process_of.get(&thread).copied()
    }

    pub(super) fn tables<W: Write>(
        &mut self,
        tables: TablesRow,
        shared: &mut MergeTarget<W>,
    ) -> Result<(), MergeError> {
        for (own, row) in (tables.first..=u16::MAX).zip(tables.functions) {
            let number = shared.function(row)?;
            self.functions.insert(own, number);
        }
        shared.writer.push_tables(TablesRow {
            // Numbers of functions that follow those before.
            first: shared.functions_end(),
            enumerations: tables.enumerations,
            ..TablesRow::default()
        });
        Ok(())
    }

    fn process(&mut self, own: u32, numbers: &mut FreeNumbers) -> u32 {
        *self.processes.entry(own).or_insert_with(|| {
            numbers.process = numbers.process.saturating_add(1);
            numbers.process
        })
    }

    fn thread(&mut self, own: u32, numbers: &mut FreeNumbers) -> u32 {
        *self.threads.entry(own).or_insert_with(|| {
            numbers.thread = numbers.thread.saturating_add(1);
            numbers.thread
        })
    }

    fn stack(&mut self, own: u32, numbers: &mut FreeNumbers) -> u32 {
        *self.stacks.entry(own).or_insert_with(|| {
            numbers.stack = numbers.stack.saturating_add(1);
            numbers.stack
        })
    }

    /// A row with the numbers and times of the merged file.
    pub(super) fn row(&mut self, mut row: Row, numbers: &mut FreeNumbers) -> Row {
        let time = self.time;
        match &mut row {
            Row::Process(it) => {
                it.process = self.process(it.process, numbers);
                it.begin_ns = time(it.begin_ns);
            }
            Row::Thread(it) => {
                let own = it.thread;
                it.thread = self.thread(own, numbers);
                it.process = self.process(it.process, numbers);
                self.process_of.insert(own, it.process);
            }
            Row::Name(it) => {
                it.process = self.process(it.process, numbers);
                it.since_ns = time(it.since_ns);
            }
            Row::Context(it) => it.process = self.process(it.process, numbers),
            Row::Stream(it) => it.process = self.process(it.process, numbers),
            Row::Event(it) => it.process = self.process(it.process, numbers),
            Row::Counter(it) => it.process = self.process(it.process, numbers),
            Row::Call(it) => {
                it.thread = self.thread(it.thread, numbers);
                // A function with a lost description keeps a number without one.
                let number = self.functions.get(&it.function);
                it.function = number.copied().unwrap_or(u16::MAX);
                it.begin_ns = time(it.begin_ns);
                it.end_ns = time(it.end_ns);
                it.stack = it.stack.map(|own| self.stack(own, numbers));
            }
            // Objects and codes are counted in each process.
            Row::Object(it) => it.process = self.process(it.process, numbers),
            Row::Code(it) => it.process = self.process(it.process, numbers),
            Row::Stack(it) => {
                it.process = self.process(it.process, numbers);
                it.stack = self.stack(it.stack, numbers);
            }
            Row::TaskTime(it) => {
                it.process = self.process(it.process, numbers);
                it.seen_ns = time(it.seen_ns);
            }
            Row::Anchor(it) => {
                it.process = self.process(it.process, numbers);
                it.before_ns = time(it.before_ns);
                it.after_ns = time(it.after_ns);
            }
            Row::Loss(it) => it.thread = it.thread.map(|own| self.thread(own, numbers)),
            Row::Range(it) => {
                it.process = self.process(it.process, numbers);
                it.thread = self.thread(it.thread, numbers);
                it.begin_ns = time(it.begin_ns);
                it.end_ns = time(it.end_ns);
            }
            Row::ProcessEnd(it) => {
                it.process = self.process(it.process, numbers);
                it.end_ns = time(it.end_ns);
            }
            Row::Cost(it) => {
                it.thread = self.thread(it.thread, numbers);
                it.at_ns = time(it.at_ns);
            }
            Row::OtherThread(it) => {
                it.process = self.process(it.process, numbers);
                it.first_ns = time(it.first_ns);
                it.at_ns = time(it.at_ns);
            }
            Row::Log(it) => it.process = self.process(it.process, numbers),
            // Its times are on the log's clock.
            Row::Activity(it) => it.process = self.process(it.process, numbers),
            Row::End(it) => it.end_ns = time(it.end_ns),
            Row::LongText(_) | Row::Coverage(_) | Row::Inner(_) => {}
        }
        row
    }
}
