//! What each kind of row looks like in columns. Fields of other types become numbers here; most
//! times are stored as the difference to one seen before, which makes them short.

use crate::rows::{
    ContextRow, CounterRow, EndRow, EventRow, LossRow, ProcessRow, Row, StreamRow, ThreadRow,
};

use super::chunk::{self, Kind};
use super::column::{Columns, Cursors};

/// A row type that is stored in columns.
pub(super) trait Table: Sized {
    const KIND: Kind;
    const COLUMNS: usize;
    /// About how many bytes a row takes in memory, with what leads to it, but without its texts.
    const MEMORY: u64 = 192;
    /// What earlier rows of the same chunk tell about the next one.
    type Memory: Default;

    fn put(&self, columns: &mut Columns, memory: &mut Self::Memory);
    /// `None` when the columns end too early or hold what the fields cannot.
    fn take(cursors: &mut Cursors<'_>, memory: &mut Self::Memory) -> Option<Self>;
    fn into_row(self) -> Row;
}

impl Table for ProcessRow {
    const KIND: Kind = chunk::PROCESS;
    const COLUMNS: usize = 7;
    /// A process has tables of its things.
    const MEMORY: u64 = 640;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put(0, self.process.into());
        columns.put(1, self.pid.into());
        columns.put(2, self.parent_pid.into());
        columns.put_signed(3, self.begin_ns);
        columns.put_text(4, &self.name);
        columns.put_text(5, &self.rank);
        columns.put_text(6, &self.command);
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        Some(Self {
            process: cursors.take_as(0)?,
            pid: cursors.take_as(1)?,
            parent_pid: cursors.take_as(2)?,
            begin_ns: cursors.take_signed(3)?,
            name: cursors.take_text(4)?,
            rank: cursors.take_text(5)?,
            command: cursors.take_text(6)?,
        })
    }

    fn into_row(self) -> Row {
        Row::Process(self)
    }
}

impl Table for ThreadRow {
    const KIND: Kind = chunk::THREAD;
    const COLUMNS: usize = 4;
    const MEMORY: u64 = 160;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put(0, self.thread.into());
        columns.put(1, self.process.into());
        columns.put(2, self.tid.into());
        columns.put_text(3, &self.name);
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        Some(Self {
            thread: cursors.take_as(0)?,
            process: cursors.take_process(1)?,
            tid: cursors.take_as(2)?,
            name: cursors.take_text(3)?,
        })
    }

    fn into_row(self) -> Row {
        Row::Thread(self)
    }
}

impl Table for ContextRow {
    const KIND: Kind = chunk::CONTEXT;
    const COLUMNS: usize = 5;
    const MEMORY: u64 = 96;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put(0, self.process.into());
        columns.put(1, self.serial.into());
        columns.put(2, self.device.into());
        columns.put(3, self.handle);
        columns.put(4, self.is_default.into());
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        Some(Self {
            process: cursors.take_process(0)?,
            serial: cursors.take_as(1)?,
            device: cursors.take_as(2)?,
            handle: cursors.take(3)?,
            is_default: cursors.take(4)? != 0,
        })
    }

    fn into_row(self) -> Row {
        Row::Context(self)
    }
}

impl Table for StreamRow {
    const KIND: Kind = chunk::STREAM;
    const COLUMNS: usize = 10;
    const MEMORY: u64 = 256;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put(0, self.process.into());
        columns.put(1, self.serial.into());
        columns.put(2, self.context.into());
        columns.put(3, self.device.into());
        columns.put(4, self.handle);
        columns.put_option(5, self.acl_id.map(i32::cast_unsigned));
        columns.put(6, self.flags.into());
        columns.put(7, self.priority.into());
        columns.put(8, self.is_default.into());
        columns.put(9, self.manner.into());
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        Some(Self {
            process: cursors.take_process(0)?,
            serial: cursors.take_as(1)?,
            context: cursors.take_as(2)?,
            device: cursors.take_as(3)?,
            handle: cursors.take(4)?,
            acl_id: cursors.take_option(5)?.map(u32::cast_signed),
            flags: cursors.take_as(6)?,
            priority: cursors.take_as(7)?,
            is_default: cursors.take(8)? != 0,
            manner: cursors.take_as(9)?,
        })
    }

    fn into_row(self) -> Row {
        Row::Stream(self)
    }
}

impl Table for EventRow {
    const KIND: Kind = chunk::EVENT;
    const COLUMNS: usize = 6;
    const MEMORY: u64 = 64;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put(0, self.process.into());
        columns.put(1, self.serial.into());
        columns.put(2, self.context.into());
        columns.put(3, self.handle);
        columns.put(4, self.flags.into());
        columns.put(5, self.creation.into());
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        Some(Self {
            process: cursors.take_process(0)?,
            serial: cursors.take_as(1)?,
            context: cursors.take_as(2)?,
            handle: cursors.take(3)?,
            flags: cursors.take_as(4)?,
            creation: cursors.take_as(5)?,
        })
    }

    fn into_row(self) -> Row {
        Row::Event(self)
    }
}

impl Table for LossRow {
    const KIND: Kind = chunk::LOSS;
    const COLUMNS: usize = 4;
    const MEMORY: u64 = 96;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put_option(0, self.thread);
        columns.put(1, self.calls);
        columns.put(2, self.others);
        columns.put(3, self.times);
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        Some(Self {
            thread: cursors.take_option(0)?,
            calls: cursors.take(1)?,
            others: cursors.take(2)?,
            times: cursors.take(3)?,
        })
    }

    fn into_row(self) -> Row {
        Row::Loss(self)
    }
}

impl Table for CounterRow {
    const KIND: Kind = chunk::COUNTER;
    const COLUMNS: usize = 3;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put(0, self.process.into());
        columns.put(1, self.what.into());
        columns.put(2, self.value);
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        Some(Self {
            process: cursors.take_process(0)?,
            what: cursors.take_as(1)?,
            value: cursors.take(2)?,
        })
    }

    fn into_row(self) -> Row {
        Row::Counter(self)
    }
}

impl Table for EndRow {
    const KIND: Kind = chunk::END;
    const COLUMNS: usize = 2;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put_signed(0, self.end_ns);
        columns.put_signed(1, self.exit_status.into());
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        Some(Self {
            end_ns: cursors.take_signed(0)?,
            exit_status: i32::try_from(cursors.take_signed(1)?).ok()?,
        })
    }

    fn into_row(self) -> Row {
        Row::End(self)
    }
}
