//! Columns of the rows that hold device times.

use crate::rows::{AnchorRow, Row, TaskTimeRow};

use super::chunk::{self, Kind};
use super::column::{Columns, Cursors};
use super::table::Table;

/// Streams (or devices) whose last values are remembered. A slot serves every number that has
/// the same remainder: sharing one costs bytes, never correctness.
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
pub(super) struct TaskTimeMemory {
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
    const KIND: Kind = chunk::TASK_TIME;
    const COLUMNS: usize = 11;
    const MEMORY: u64 = 160;
    type Memory = TaskTimeMemory;

    fn put(&self, columns: &mut Columns, memory: &mut TaskTimeMemory) {
        let has_times = (self.begin_device_ns, self.end_device_ns, self.seen_ns) != (0, 0, 0);
        let last = &mut memory.tasks[slot(self.stream)];
        columns.put(0, self.process.into());
        columns.put(1, self.stream.into());
        columns.put_signed(2, i64::from(self.sequence) - i64::from(last.sequence));
        columns.put(3, u64::from(self.untimed) << 1 | u64::from(has_times));
        last.sequence = self.sequence;
        if has_times {
            columns.put_signed(4, self.begin_device_ns.wrapping_sub(last.end));
            columns.put_signed(5, self.end_device_ns.wrapping_sub(self.begin_device_ns));
            columns.put_signed(6, self.seen_ns.wrapping_sub(memory.seen));
            columns.put(7, u64::from(self.arming_ns.div_ceil(SUBMITTING_STEP)));
            columns.put(8, u64::from(self.submitting_ns.div_ceil(SUBMITTING_STEP)));
            columns.put(9, self.record_ns.into());
            columns.put(10, self.record_open_ns.into());
            last.end = self.end_device_ns;
            memory.seen = self.seen_ns;
        }
    }

    fn take(cursors: &mut Cursors<'_>, memory: &mut TaskTimeMemory) -> Option<Self> {
        let process = cursors.take_as(0)?;
        let stream = cursors.take_as(1)?;
        let last = &mut memory.tasks[slot(stream)];
        let sequence = i64::from(last.sequence).checked_add(cursors.take_signed(2)?)?;
        last.sequence = u32::try_from(sequence).ok()?;
        let what = cursors.take(3)?;
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
        };
        if what & 1 != 0 {
            row.begin_device_ns = last.end.wrapping_add(cursors.take_signed(4)?);
            row.end_device_ns = row.begin_device_ns.wrapping_add(cursors.take_signed(5)?);
            row.seen_ns = memory.seen.wrapping_add(cursors.take_signed(6)?);
            row.arming_ns = submitting(cursors, 7)?;
            row.submitting_ns = submitting(cursors, 8)?;
            row.record_ns = cursors.take_as(9)?;
            row.record_open_ns = cursors.take_as(10)?;
            last.end = row.end_device_ns;
            memory.seen = row.seen_ns;
        }
        Some(row)
    }

    fn into_row(self) -> Row {
        Row::TaskTime(self)
    }
}

/// The length of a submission.
fn submitting(cursors: &mut Cursors<'_>, column: usize) -> Option<u32> {
    let steps: u32 = cursors.take_as(column)?;
    Some(steps.saturating_mul(SUBMITTING_STEP))
}

#[derive(Debug)]
pub(super) struct AnchorMemory {
    /// By device: host and device time of its last anchor.
    last: [(i64, i64); SLOTS],
}

impl Default for AnchorMemory {
    fn default() -> Self {
        Self {
            last: [(0, 0); SLOTS],
        }
    }
}

impl Table for AnchorRow {
    const KIND: Kind = chunk::ANCHOR;
    const COLUMNS: usize = 6;
    type Memory = AnchorMemory;

    fn put(&self, columns: &mut Columns, memory: &mut AnchorMemory) {
        let (before, device) = &mut memory.last[slot(self.device)];
        let passed = self.before_ns.wrapping_sub(*before);
        columns.put(0, self.process.into());
        columns.put(1, self.device.into());
        columns.put_signed(2, passed);
        columns.put_signed(3, self.after_ns.wrapping_sub(self.before_ns));
        let expected = device.wrapping_add(passed);
        columns.put_signed(4, self.device_ns.wrapping_sub(expected));
        columns.put(5, self.source.into());
        (*before, *device) = (self.before_ns, self.device_ns);
    }

    fn take(cursors: &mut Cursors<'_>, memory: &mut AnchorMemory) -> Option<Self> {
        let process = cursors.take_as(0)?;
        let number = cursors.take_as(1)?;
        let (before, device) = &mut memory.last[slot(number)];
        let passed = cursors.take_signed(2)?;
        let before_ns = before.wrapping_add(passed);
        let row = Self {
            process,
            device: number,
            before_ns,
            after_ns: before_ns.wrapping_add(cursors.take_signed(3)?),
            device_ns: device
                .wrapping_add(passed)
                .wrapping_add(cursors.take_signed(4)?),
            source: cursors.take_as(5)?,
        };
        (*before, *device) = (row.before_ns, row.device_ns);
        Some(row)
    }

    fn into_row(self) -> Row {
        Row::Anchor(self)
    }
}
