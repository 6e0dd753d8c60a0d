//! From rows to the payloads of chunks, without any output: a recorder packs and writes them on
//! another thread than it encodes them on.

use crate::counters::{Counters, raise};
use crate::rows::{CallRow, CounterRow, LossRow, Row, Tables, TablesRow, TaskTimeRow};

use super::chunk::{self, ChunkKind};
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
#[derive(Debug, Default)]
pub struct Encoder {
    tables: Vec<TablesRow>,
    rows: Tables,
    /// Running calls, if they differ from those in the file.
    open: Option<Vec<CallRow>>,
    times: Vec<TaskTimeRow>,
    counters: Counters,
    lost: LossRow,
}

/// Rows that are ready to be packed and written.
#[derive(Debug, Default)]
pub struct RowBatch {
    pub(super) chunks: Vec<SealedChunk>,
    calls: u64,
    others: u64,
    lost: LossRow,
}

/// The payload of a chunk before packing.
#[derive(Debug)]
pub(super) struct SealedChunk {
    pub(super) kind: ChunkKind,
    pub(super) payload: Payload,
}

impl RowBatch {
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

impl Encoder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row. Returns whether it is time to seal.
    pub fn push(&mut self, row: &Row) -> bool {
        match row {
            Row::TaskTime(row) => {
                self.times.push(*row);
                return self.times.len() >= SEAL_TIMES;
            }
            Row::Counter(row) => {
                raise(&mut self.counters, (row.process, row.what), row.value);
                return false;
            }
            Row::Loss(row) => self.lost.add(row),
            _ => {}
        }
        self.rows.push(row)
    }

    /// Takes functions and constants that later rows mention.
    pub fn push_tables(&mut self, tables: TablesRow) {
        match self.tables.last_mut() {
            Some(last) if last.reaches(&tables) => last.extend(tables),
            _ => self.tables.push(tables),
        }
    }

    /// Sets the running calls, which replace the previous ones. The end of each is the time at which it
    /// was still running.
    pub fn set_open(&mut self, open: Vec<CallRow>) {
        self.open = Some(open);
    }

    /// Seals all rows that were taken. Things come first, so that a file that is cut later does not
    /// hold calls on things it does not name.
    pub fn seal(&mut self) -> RowBatch {
        let calls = self.rows.Call.rows();
        let mut batch = RowBatch {
            calls: calls.into(),
            lost: std::mem::take(&mut self.lost),
            ..RowBatch::default()
        };
        for tables in self.tables.drain(..) {
            seal_tables(&tables, &mut batch);
        }
        self.put_counters();
        self.rows.seal_entities(&mut batch);
        // Before the calls: where a file is cut between the two, one that has returned is not in it
        // twice.
        self.seal_open(&mut batch);
        self.put_times();
        self.rows.seal_rest(&mut batch);
        batch.others -= batch.calls;
        batch
    }

    fn seal_open(&mut self, batch: &mut RowBatch) {
        let Some(open) = self.open.take() else {
            return;
        };
        let mut table = PendingRows::default();
        for row in &open {
            table.push(row);
        }
        batch.chunks.push(SealedChunk {
            kind: chunk::OPEN,
            payload: table.columns.take_parts(),
        });
    }

    /// Tasks of a stream resemble each other, so they are put together: they pack better.
    fn put_times(&mut self) {
        self.times.sort_by_key(|row| (row.process, row.stream));
        for row in self.times.drain(..) {
            self.rows.push(&Row::TaskTime(row));
        }
    }

    fn put_counters(&mut self) {
        for ((process, what), value) in std::mem::take(&mut self.counters) {
            self.rows.push(&Row::Counter(CounterRow {
                process,
                what,
                value,
            }));
        }
    }
}

fn seal_tables(tables: &TablesRow, batch: &mut RowBatch) {
    // Names and numbers in maps with plain keys: there is nothing in it that could fail.
    if let Ok(bytes) = serde_json::to_vec(tables) {
        batch.chunks.push(SealedChunk {
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
pub(crate) struct PendingRows<T: Table> {
    columns: Columns,
    memory: T::Memory,
}

impl<T: Table> Default for PendingRows<T> {
    fn default() -> Self {
        Self {
            columns: Columns::new(T::COLUMNS.len()),
            memory: T::Memory::default(),
        }
    }
}

impl<T: Table> PendingRows<T> {
    fn rows(&self) -> u32 {
        self.columns.rows()
    }

    /// Adds a row. Returns whether it is time to seal.
    #[inline]
    pub(crate) fn push(&mut self, row: &T) -> bool {
        self.columns.row();
        row.put(&mut self.columns, &mut self.memory);
        let rows = self.columns.rows();
        // Adding up the columns costs more than a row, so it is not done for each.
        rows.is_multiple_of(64) && (self.columns.bytes() >= SEAL_BYTES || rows >= SEAL_ROWS)
    }

    pub(crate) fn seal(&mut self, batch: &mut RowBatch) {
        let rows = self.columns.rows();
        if rows == 0 {
            return;
        }
        batch.others += u64::from(rows);
        batch.chunks.push(SealedChunk {
            kind: T::KIND,
            payload: self.columns.take_parts(),
        });
        self.memory = T::Memory::default();
    }
}
