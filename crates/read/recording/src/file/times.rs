//! Columns of the rows that hold device times.

use crate::rows::{AnchorRow, MOST_RUN_TASKS, TaskTimeRow};

use super::chunk::ChunkKind;
use super::column::{Columns, Cursors};
use super::declare::ColumnText;
use super::table::Table;

/// Columns of task times by content.
mod task {
    crate::file::declare::columns! {
        /// process
        PROCESS: "number",
        /// serial of the stream
        STREAM: "number",
        /// sequence − last sequence in slot *stream* of 256
        SEQUENCE: "signed",
        /// (reason for having no time) × 2 + (1 if columns 4 to 6 have an entry: they have none when all three
        /// times are 0)
        UNTIMED: "number",
        /// begin, device time − end of the last task in slot *stream* of 256
        BEGIN: "signed",
        /// end − begin, device time
        LENGTH: "signed",
        /// host time at which the task had certainly completed − that of the last row that had one
        SEEN: "signed",
        /// the event before the task was submitted no earlier than this × 32 ns before the begin of the call
        /// that submitted the task. 0 when unknown; has an entry where column 6 has one
        ARMING: "number",
        /// the event after the task was submitted no later than this × 32 ns after the begin of the call that
        /// submitted the task. 0 when unknown; has an entry where column 6 has one
        SUBMITTING: "number",
        /// nanoseconds that the event after the task took itself: the task ended so much before column 5's
        /// end; has an entry where column 6 has one. 2^31 + n: the task ran a function of the program on the host, which began
        /// n × 16 ns after the begin of the call that submitted it
        RECORD: "number",
        /// by how much column 9 may be off, in nanoseconds; of such a function, its duration in units of 16 ns; has an entry
        /// where column 6 has one
        RECORD_OPEN: "number",
        /// number of tasks that the two times enclose: this task and those after it on its stream. 0 or 1 for this task alone.
        /// Further tasks of such a run have no times. At most 1024; has an entry where column 6 has one. Older files lack it
        RUN_TASKS: "number",
    }
}

/// Columns of anchors by content.
mod anchor {
    crate::file::declare::columns! {
        /// process
        PROCESS: "number",
        /// device
        DEVICE: "number",
        /// p = earlier host time − that of the last anchor in slot *device* of 256
        BEFORE: "signed",
        /// later host time − earlier host time
        WIDTH: "signed",
        /// device time − (device time of the last anchor in slot *device* of 256 + p)
        DEVICE_TIME: "signed",
        /// source: 0 an event on an idle stream; 1 the driver, on no stream; 2 the hardware log. A reader leaves out a row with
        /// another number
        SOURCE: "number",
    }
}

/// Streams (or devices) with remembered last values. A slot serves every number that has the same
/// remainder: sharing one costs bytes, never correctness.
const SLOTS: usize = 256;

/// Steps in which the length of submissions is stored, rounded up: finer would only cost bytes.
const SUBMITTING_STEP: u32 = 32;

fn slot(number: u32) -> usize {
    number as usize % SLOTS
}

/// The last task of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastTask {
    sequence: u32,
    end: i64,
}

#[derive(Debug)]
pub(crate) struct TaskTimeMemory {
    tasks: [LastTask; SLOTS],
    seen: i64,
}

impl Default for TaskTimeMemory {
    fn default() -> Self {
        Self {
            tasks: [LastTask::default(); SLOTS],
            seen: 0,
        }
    }
}

impl Table for TaskTimeRow {
    const KIND: ChunkKind = *b"TIME";
    const COLUMNS: &'static [ColumnText] = task::ALL;
    const LEAST: usize = Self::COLUMNS.len() - 1;
    const IS_ENTITY: bool = false;
    const MEMORY: u64 = 160;
    type Memory = TaskTimeMemory;

    fn put(&self, columns: &mut Columns, memory: &mut TaskTimeMemory) {
        let has_times = (self.begin_device_ns, self.end_device_ns, self.seen_ns) != (0, 0, 0);
        let last = &mut memory.tasks[slot(self.stream)];
        columns.put(task::PROCESS, self.process.into());
        columns.put(task::STREAM, self.stream.into());
        columns.put_signed(
            task::SEQUENCE,
            i64::from(self.sequence) - i64::from(last.sequence),
        );
        columns.put(
            task::UNTIMED,
            u64::from(self.untimed) << 1 | u64::from(has_times),
        );
        last.sequence = self.sequence;
        if has_times {
            columns.put_signed(task::BEGIN, self.begin_device_ns.wrapping_sub(last.end));
            columns.put_signed(
                task::LENGTH,
                self.end_device_ns.wrapping_sub(self.begin_device_ns),
            );
            columns.put_signed(task::SEEN, self.seen_ns.wrapping_sub(memory.seen));
            columns.put(
                task::ARMING,
                u64::from(self.arming_ns.div_ceil(SUBMITTING_STEP)),
            );
            columns.put(
                task::SUBMITTING,
                u64::from(self.submitting_ns.div_ceil(SUBMITTING_STEP)),
            );
            columns.put(task::RECORD, self.record_ns.into());
            columns.put(task::RECORD_OPEN, self.record_open_ns.into());
            columns.put(task::RUN_TASKS, self.run_tasks.into());
            last.end = self.end_device_ns;
            memory.seen = self.seen_ns;
        }
    }

    fn take(cursors: &mut Cursors<'_>, memory: &mut TaskTimeMemory) -> Option<Self> {
        let process = cursors.take_as(task::PROCESS)?;
        let stream = cursors.take_as(task::STREAM)?;
        let last = &mut memory.tasks[slot(stream)];
        let sequence =
            i64::from(last.sequence).checked_add(cursors.take_signed(task::SEQUENCE)?)?;
        last.sequence = u32::try_from(sequence).ok()?;
        let what = cursors.take(task::UNTIMED)?;
        let mut row = Self {
            process,
            stream,
            sequence: last.sequence,
            untimed: u8::try_from(what >> 1).ok()?,
            begin_device_ns: 0,
            end_device_ns: 0,
            seen_ns: 0,
            arming_ns: 0,
            submitting_ns: 0,
            record_ns: 0,
            record_open_ns: 0,
            run_tasks: 0,
        };
        if what & 1 != 0 {
            row.begin_device_ns = last.end.wrapping_add(cursors.take_signed(task::BEGIN)?);
            row.end_device_ns = row
                .begin_device_ns
                .wrapping_add(cursors.take_signed(task::LENGTH)?);
            row.seen_ns = memory.seen.wrapping_add(cursors.take_signed(task::SEEN)?);
            row.arming_ns = submitting(cursors, task::ARMING)?;
            row.submitting_ns = submitting(cursors, task::SUBMITTING)?;
            row.record_ns = cursors.take_as(task::RECORD)?;
            row.record_open_ns = cursors.take_as(task::RECORD_OPEN)?;
            row.run_tasks = run_tasks(cursors)?;
            last.end = row.end_device_ns;
            memory.seen = row.seen_ns;
        }
        Some(row)
    }
}

/// The number of tasks that a row is of.
fn run_tasks(cursors: &mut Cursors<'_>) -> Option<u32> {
    if !cursors.has(task::RUN_TASKS) {
        return Some(0);
    }
    let tasks = cursors.take_as(task::RUN_TASKS)?;
    (tasks <= MOST_RUN_TASKS).then_some(tasks)
}

/// The length of a submission.
fn submitting(cursors: &mut Cursors<'_>, column: usize) -> Option<u32> {
    let steps: u32 = cursors.take_as(column)?;
    Some(steps.saturating_mul(SUBMITTING_STEP))
}

#[derive(Debug)]
pub(crate) struct AnchorMemory {
    /// By device.
    last: [LastAnchor; SLOTS],
}

/// The last anchor of a device.
#[derive(Clone, Copy, Debug, Default)]
struct LastAnchor {
    before_ns: i64,
    device_ns: i64,
}

impl Default for AnchorMemory {
    fn default() -> Self {
        Self {
            last: [LastAnchor::default(); SLOTS],
        }
    }
}

impl Table for AnchorRow {
    const KIND: ChunkKind = *b"ANCH";
    const COLUMNS: &'static [ColumnText] = anchor::ALL;
    const IS_ENTITY: bool = false;
    const MEMORY: u64 = 192;
    type Memory = AnchorMemory;

    fn put(&self, columns: &mut Columns, memory: &mut AnchorMemory) {
        let last = &mut memory.last[slot(self.device)];
        let passed = self.before_ns.wrapping_sub(last.before_ns);
        columns.put(anchor::PROCESS, self.process.into());
        columns.put(anchor::DEVICE, self.device.into());
        columns.put_signed(anchor::BEFORE, passed);
        columns.put_signed(anchor::WIDTH, self.after_ns.wrapping_sub(self.before_ns));
        let expected = last.device_ns.wrapping_add(passed);
        columns.put_signed(anchor::DEVICE_TIME, self.device_ns.wrapping_sub(expected));
        columns.put(anchor::SOURCE, self.source.into());
        *last = LastAnchor {
            before_ns: self.before_ns,
            device_ns: self.device_ns,
        };
    }

    fn take(cursors: &mut Cursors<'_>, memory: &mut AnchorMemory) -> Option<Self> {
        let process = cursors.take_as(anchor::PROCESS)?;
        let number = cursors.take_as(anchor::DEVICE)?;
        let last = &mut memory.last[slot(number)];
        let passed = cursors.take_signed(anchor::BEFORE)?;
        let before_ns = last.before_ns.wrapping_add(passed);
        let row = Self {
            process,
            device: number,
            before_ns,
            after_ns: before_ns.wrapping_add(cursors.take_signed(anchor::WIDTH)?),
            device_ns: last
                .device_ns
                .wrapping_add(passed)
                .wrapping_add(cursors.take_signed(anchor::DEVICE_TIME)?),
            source: cursors.take_as(anchor::SOURCE)?,
        };
        *last = LastAnchor {
            before_ns: row.before_ns,
            device_ns: row.device_ns,
        };
        Some(row)
    }
}
