//! Writes a trace file, chunk by chunk.

use std::borrow::Borrow;
use std::io::{self, Write};

use ascend_trace_format::version::FILE_VERSION;

use crate::rows::{
    AnchorRow, CallRow, ContextRow, CounterRow, EndRow, EventRow, LossRow, ProcessRow, Row,
    SessionRow, StreamRow, TablesRow, TaskTimeRow, ThreadRow,
};

use super::chunk::{self, Kind};
use super::column::Columns;
use super::table::Table;

/// A table is sealed into a chunk when it has grown to this many bytes before packing: large
/// enough to pack well, small enough that damage costs little.
const SEAL_BYTES: usize = 256 * 1024;

/// Writes rows to a trace file.
///
/// Rows of one kind keep their order; rows of different kinds may change places between two
/// [`Writer::flush`]es, things before the calls that use them.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    processes: Pending<ProcessRow>,
    threads: Pending<ThreadRow>,
    contexts: Pending<ContextRow>,
    streams: Pending<StreamRow>,
    events: Pending<EventRow>,
    calls: Pending<CallRow>,
    times: Pending<TaskTimeRow>,
    anchors: Pending<AnchorRow>,
    losses: Pending<LossRow>,
    counters: Pending<CounterRow>,
}

impl<W: Write> Writer<W> {
    /// Begins a file with its header and the two leading chunks.
    pub fn create(mut out: W, session: &SessionRow, tables: &TablesRow) -> io::Result<Self> {
        let mut head = chunk::file_header(FILE_VERSION).to_vec();
        append_sound(&mut head, chunk::SESSION, &serde_json::to_vec(session)?)?;
        let tables = serde_json::to_vec(tables)?;
        if tables.len() > chunk::MAX_PAYLOAD {
            return Err(too_large());
        }
        append_sound(&mut head, chunk::TABLES, &chunk::pack(&tables))?;
        out.write_all(&head)?;
        Ok(Self {
            out,
            processes: Pending::new(),
            threads: Pending::new(),
            contexts: Pending::new(),
            streams: Pending::new(),
            events: Pending::new(),
            calls: Pending::new(),
            times: Pending::new(),
            anchors: Pending::new(),
            losses: Pending::new(),
            counters: Pending::new(),
        })
    }

    /// Takes a row; it reaches the file with the next seal or [`Writer::flush`].
    pub fn push(&mut self, row: impl Borrow<Row>) -> io::Result<()> {
        let full = match row.borrow() {
            Row::Process(row) => self.processes.push(row),
            Row::Thread(row) => self.threads.push(row),
            Row::Context(row) => self.contexts.push(row),
            Row::Stream(row) => self.streams.push(row),
            Row::Event(row) => self.events.push(row),
            Row::Call(row) => self.calls.push(row),
            Row::TaskTime(row) => self.times.push(row),
            Row::Anchor(row) => self.anchors.push(row),
            Row::Loss(row) => self.losses.push(row),
            Row::Counter(row) => self.counters.push(row),
            Row::End(row) => return self.end(row),
        };
        if full { self.seal() } else { Ok(()) }
    }

    /// Hands everything that was pushed to the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.seal()?;
        self.out.flush()
    }

    /// Ends the file properly and hands the output back.
    pub fn finish(mut self, end: EndRow) -> io::Result<W> {
        self.end(&end)?;
        Ok(self.out)
    }

    fn end(&mut self, row: &EndRow) -> io::Result<()> {
        self.seal()?;
        let mut end = Pending::new();
        end.push(row);
        let mut bytes = Vec::new();
        end.seal(&mut bytes);
        self.out.write_all(&bytes)?;
        self.out.flush()
    }

    /// Writes all pending rows. Things come first, so that a file that is cut later does not hold
    /// calls on things it does not name.
    fn seal(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.processes.seal(&mut bytes);
        self.threads.seal(&mut bytes);
        self.contexts.seal(&mut bytes);
        self.streams.seal(&mut bytes);
        self.events.seal(&mut bytes);
        self.calls.seal(&mut bytes);
        self.times.seal(&mut bytes);
        self.anchors.seal(&mut bytes);
        self.losses.seal(&mut bytes);
        self.counters.seal(&mut bytes);
        self.out.write_all(&bytes)
    }
}

/// Rows of one kind that are not in the file yet.
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

    /// Takes a row and tells whether it is time to seal.
    fn push(&mut self, row: &T) -> bool {
        self.columns.row();
        row.put(&mut self.columns, &mut self.memory);
        self.columns.bytes() >= SEAL_BYTES
    }

    fn seal(&mut self, out: &mut Vec<u8>) {
        if self.columns.rows() == 0 {
            return;
        }
        let payload = self.columns.take_payload();
        chunk::append(out, T::KIND, &chunk::pack(&payload));
        self.memory = T::Memory::default();
    }
}

fn append_sound(out: &mut Vec<u8>, kind: Kind, payload: &[u8]) -> io::Result<()> {
    if payload.len() > chunk::MAX_PAYLOAD {
        return Err(too_large());
    }
    chunk::append(out, kind, payload);
    Ok(())
}

fn too_large() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "the session's description is too large for a trace file",
    )
}
