//! From rows to the payloads of chunks, without any output: a recorder packs and writes them on
//! another thread than it encodes them on.

use crate::counters::{Counters, raise};
use crate::rows::{
    AnchorRow, CallRow, ContextRow, CostRow, CounterRow, CoverageRow, EndRow, EventRow, LossRow,
    NameRow, ProcessRow, RangeRow, Row, StreamRow, TablesRow, TaskTimeRow, ThreadRow,
};

use super::chunk::{self, Kind};
use super::column::{Columns, Payload};
use super::table::Table;

/// A table is sealed into a chunk when it has grown to this many bytes before packing: large
/// enough to pack well, small enough that damage costs little.
const SEAL_BYTES: usize = 256 * 1024;
/// Rows of a table after which it is sealed, however short they are.
const SEAL_ROWS: u32 = 64 * 1024;
/// Task times are kept as rows until they are sealed, and become about as many bytes.
const SEAL_TIMES: usize = 16 * 1024;

/// Collects rows and seals them into batches.
///
/// Rows of one kind keep their order, but task times only that of their stream; rows of different
/// kinds may change places between two [`Encoder::seal`]s, things before the calls that use them.
#[derive(Debug)]
pub struct Encoder {
    tables: Vec<TablesRow>,
    processes: Pending<ProcessRow>,
    threads: Pending<ThreadRow>,
    contexts: Pending<ContextRow>,
    streams: Pending<StreamRow>,
    events: Pending<EventRow>,
    calls: Pending<CallRow>,
    /// Those that are under way, if there are other ones than the file tells by now.
    open: Option<Vec<CallRow>>,
    times: Vec<TaskTimeRow>,
    anchors: Pending<AnchorRow>,
    losses: Pending<LossRow>,
    counters: Counters,
    names: Pending<NameRow>,
    ranges: Pending<RangeRow>,
    coverage: Pending<CoverageRow>,
    costs: Pending<CostRow>,
    end: Pending<EndRow>,
    lost: LossRow,
}

/// Rows that are ready to be packed and written.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) chunks: Vec<Sealed>,
    calls: u64,
    others: u64,
    lost: LossRow,
}

/// The payload of a chunk before packing.
#[derive(Debug)]
pub(super) struct Sealed {
    pub(super) kind: Kind,
    pub(super) payload: Payload,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Calls among its rows.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Rows that are not calls.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// What its rows say was lost, of all threads together.
    pub fn lost(&self) -> LossRow {
        self.lost
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    pub fn new() -> Self {
        Self {
            tables: Vec::new(),
            processes: Pending::new(),
            threads: Pending::new(),
            contexts: Pending::new(),
            streams: Pending::new(),
            events: Pending::new(),
            calls: Pending::new(),
            open: None,
            times: Vec::new(),
            anchors: Pending::new(),
            losses: Pending::new(),
            counters: Counters::new(),
            names: Pending::new(),
            ranges: Pending::new(),
            coverage: Pending::new(),
            costs: Pending::new(),
            end: Pending::new(),
            lost: LossRow::default(),
        }
    }

    /// Takes a row and tells whether it is time to seal.
    pub fn push(&mut self, row: &Row) -> bool {
        match row {
            Row::Process(row) => self.processes.push(row),
            Row::Thread(row) => self.threads.push(row),
            Row::Context(row) => self.contexts.push(row),
            Row::Stream(row) => self.streams.push(row),
            Row::Event(row) => self.events.push(row),
            Row::Call(row) => self.calls.push(row),
            Row::TaskTime(row) => {
                self.times.push(*row);
                self.times.len() >= SEAL_TIMES
            }
            Row::Anchor(row) => self.anchors.push(row),
            Row::Loss(row) => {
                self.lost.add(row);
                self.losses.push(row)
            }
            Row::Counter(row) => {
                raise(&mut self.counters, (row.process, row.what), row.value);
                false
            }
            Row::Name(row) => self.names.push(row),
            Row::Range(row) => self.ranges.push(row),
            Row::Coverage(row) => self.coverage.push(row),
            Row::Cost(row) => self.costs.push(row),
            Row::End(row) => self.end.push(row),
        }
    }

    /// Takes functions and constants that later rows mention.
    pub fn push_tables(&mut self, tables: TablesRow) {
        match self.tables.last_mut() {
            Some(last) if last.reaches(&tables) => last.extend(tables),
            _ => self.tables.push(tables),
        }
    }

    /// As [`Encoder::push`], for a call that is not wrapped in a row.
    #[inline]
    pub fn push_call(&mut self, call: &CallRow) -> bool {
        self.calls.push(call)
    }

    /// Takes the calls that are under way, instead of those that it was told before. The end of each is
    /// the moment in which it was still under way.
    pub fn set_open(&mut self, open: Vec<CallRow>) {
        self.open = Some(open);
    }

    /// Seals all rows that were taken. Things come first, so that a file that is cut later does not
    /// hold calls on things it does not name.
    pub fn seal(&mut self) -> Batch {
        let mut batch = Batch {
            calls: self.calls.columns.rows().into(),
            lost: std::mem::take(&mut self.lost),
            ..Batch::default()
        };
        for tables in self.tables.drain(..) {
            seal_tables(&tables, &mut batch);
        }
        self.processes.seal(&mut batch);
        self.threads.seal(&mut batch);
        self.contexts.seal(&mut batch);
        self.streams.seal(&mut batch);
        self.events.seal(&mut batch);
        self.names.seal(&mut batch);
        // Before the calls: where a file is cut between the two, one that has returned is not in it
        // twice.
        self.seal_open(&mut batch);
        self.calls.seal(&mut batch);
        self.seal_times(&mut batch);
        self.anchors.seal(&mut batch);
        self.losses.seal(&mut batch);
        self.seal_counters(&mut batch);
        self.ranges.seal(&mut batch);
        self.coverage.seal(&mut batch);
        self.costs.seal(&mut batch);
        self.end.seal(&mut batch);
        batch.others -= batch.calls;
        batch
    }

    fn seal_open(&mut self, batch: &mut Batch) {
        let Some(open) = self.open.take() else {
            return;
        };
        let mut table = Pending::new();
        for row in &open {
            table.push(row);
        }
        batch.chunks.push(Sealed {
            kind: chunk::OPEN,
            payload: table.columns.take_parts(),
        });
    }

    /// Tasks of a stream resemble each other, so they are put together: they pack better.
    fn seal_times(&mut self, batch: &mut Batch) {
        let mut times = std::mem::take(&mut self.times);
        times.sort_by_key(|row| (row.process, row.stream));
        let mut table = Pending::new();
        for row in times.drain(..) {
            table.push(&row);
        }
        table.seal(batch);
        self.times = times;
    }

    fn seal_counters(&mut self, batch: &mut Batch) {
        let mut table = Pending::new();
        for ((process, what), value) in std::mem::take(&mut self.counters) {
            table.push(&CounterRow {
                process,
                what,
                value,
            });
        }
        table.seal(batch);
    }
}

fn seal_tables(tables: &TablesRow, batch: &mut Batch) {
    // Names and numbers in maps with plain keys: there is nothing in it that could fail.
    if let Ok(bytes) = serde_json::to_vec(tables) {
        batch.chunks.push(Sealed {
            kind: chunk::TABLES,
            payload: Payload {
                bytes,
                cuts: Vec::new(),
            },
        });
    }
}

/// Rows of one kind that are not sealed yet.
#[derive(Debug)]
struct Pending<T: Table> {
    columns: Columns,
    memory: T::Memory,
}

impl<T: Table> Pending<T> {
    fn new() -> Self {
        Self {
            columns: Columns::new(T::COLUMNS),
            memory: T::Memory::default(),
        }
    }

    #[inline]
    fn push(&mut self, row: &T) -> bool {
        self.columns.row();
        row.put(&mut self.columns, &mut self.memory);
        let rows = self.columns.rows();
        // Adding up the columns costs more than a row, so it is not done for each.
        rows.is_multiple_of(64) && (self.columns.bytes() >= SEAL_BYTES || rows >= SEAL_ROWS)
    }

    fn seal(&mut self, batch: &mut Batch) {
        let rows = self.columns.rows();
        if rows == 0 {
            return;
        }
        batch.others += u64::from(rows);
        batch.chunks.push(Sealed {
            kind: T::KIND,
            payload: self.columns.take_parts(),
        });
        self.memory = T::Memory::default();
    }
}
