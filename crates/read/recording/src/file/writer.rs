//! Writes a trace file, chunk by chunk.

use std::borrow::Borrow;
use std::io::{self, Write};

use ascend_trace_format::version::FILE_VERSION;

use crate::rows::{CallRow, EndRow, Row, SessionRow, TablesRow};

use super::chunk::{self, ChunkKind, Packer};
use super::column::Payload;
use super::encoder::{Encoder, RowBatch};
use super::index::IndexSink;
use super::table::Table;

/// Packs batches and writes them to a trace file.
#[derive(Debug)]
pub struct ChunkWriter<W: Write> {
    out: W,
    packer: Packer,
    /// The chunks of a batch, so that a batch is one write.
    bytes: Vec<u8>,
    /// Bytes of the file until now.
    written: u64,
    index: IndexSink,
}

impl<W: Write> ChunkWriter<W> {
    /// Begins a file with its header and the two leading chunks.
    pub fn create(mut out: W, session: &SessionRow, tables: &TablesRow) -> io::Result<Self> {
        let mut packer = Packer::new()?;
        let mut bytes = chunk::file_header(FILE_VERSION).to_vec();
        let session = serde_json::to_vec(session)?;
        let packed = serde_json::to_vec(tables)?;
        if session.len().max(packed.len()) > chunk::MAX_PAYLOAD {
            return Err(too_large());
        }
        chunk::append(&mut bytes, chunk::SESSION, &session);
        chunk::append(&mut bytes, chunk::TABLES, packer.pack(&packed)?);
        out.write_all(&bytes)?;
        let written = bytes.len() as u64;
        Ok(Self {
            out,
            packer,
            bytes,
            written,
            index: IndexSink::new(written, tables),
        })
    }

    /// Writes a batch with one call of `write_all`, and hands it to the output's own output.
    pub fn write(&mut self, batch: &RowBatch) -> io::Result<()> {
        self.bytes.clear();
        for sealed in &batch.chunks {
            let Payload { bytes, cuts } = &sealed.payload;
            if sealed.kind == EndRow::KIND {
                let index = self.index.last(self.place(), &mut self.packer)?;
                self.bytes.extend_from_slice(&index);
            }
            let begin = self.place();
            let packed = self.packer.pack_parts(bytes, cuts)?;
            chunk::append(&mut self.bytes, sealed.kind, packed);
            let length = self.place() - begin;
            self.index.chunk(sealed.kind, begin, length, bytes);
        }
        let index = self.index.between(self.place(), &mut self.packer)?;
        self.bytes.extend_from_slice(&index);
        self.written = self.place();
        if let Err(error) = self.out.write_all(&self.bytes) {
            // Where later chunks would be in the file is not known any more.
            self.index.give_up();
            return Err(error);
        }
        self.out.flush()
    }

    /// Appends a chunk with a payload that is packed already.
    pub(super) fn append(&mut self, kind: ChunkKind, packed: &[u8]) -> io::Result<()> {
        let payload = chunk::unpack(packed).ok_or(io::ErrorKind::InvalidData)?;
        self.bytes.clear();
        let begin = self.place();
        chunk::append(&mut self.bytes, kind, packed);
        let length = self.place() - begin;
        self.index.chunk(kind, begin, length, &payload);
        let index = self.index.between(self.place(), &mut self.packer)?;
        self.bytes.extend_from_slice(&index);
        self.written = self.place();
        self.out.write_all(&self.bytes)
    }

    /// Ends the rows of the time before the file.
    pub(super) fn mark_part(&mut self) -> io::Result<()> {
        self.bytes.clear();
        chunk::append(&mut self.bytes, chunk::PART, &[]);
        self.written = self.place();
        self.out.write_all(&self.bytes)
    }

    /// Bytes that it has written.
    pub fn length(&self) -> u64 {
        self.written
    }

    /// Where it writes to.
    pub fn output(&self) -> &W {
        &self.out
    }

    /// The same, to change how it writes.
    pub fn output_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Tasks in the file that have a time; nothing is known of it once the output has failed.
    pub fn timed(&self) -> Option<u64> {
        self.index.timed()
    }

    /// Has chunks at the end of the output taken out: the file gets no index.
    pub fn shorten<T>(&mut self, by: impl FnOnce(&mut W) -> T) -> T {
        self.index.give_up();
        by(&mut self.out)
    }

    /// Where in the file the next chunk of the batch begins.
    fn place(&self) -> u64 {
        self.written + self.bytes.len() as u64
    }

    /// Indexes groups of `rows` rows, and even the shortest file: for tests of the index.
    #[must_use]
    pub fn with_index_every(mut self, rows: u64) -> Self {
        self.index.set_rows(rows);
        self
    }

    pub(super) fn with_packer(mut self, packer: Packer) -> Self {
        self.packer = packer;
        self
    }

    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Writes rows to a trace file.
///
/// Rows of one kind keep their order, but task times only that of their stream; rows of different
/// kinds may change places between two [`Writer::flush`]es, things before the calls that use them.
#[derive(Debug)]
pub struct Writer<W: Write> {
    encoder: Encoder,
    chunks: ChunkWriter<W>,
}

impl<W: Write> Writer<W> {
    /// Begins a file with its header and the two leading chunks.
    pub fn create(out: W, session: &SessionRow, tables: &TablesRow) -> io::Result<Self> {
        Ok(Self {
            encoder: Encoder::new(),
            chunks: ChunkWriter::create(out, session, tables)?,
        })
    }

    /// As [`ChunkWriter::with_index_every`].
    #[must_use]
    pub fn with_index_every(mut self, rows: u64) -> Self {
        self.chunks = self.chunks.with_index_every(rows);
        self
    }

    pub(super) fn with_packer(mut self, packer: Packer) -> Self {
        self.chunks = self.chunks.with_packer(packer);
        self
    }

    /// The output, with everything that was flushed.
    pub fn into_inner(self) -> W {
        self.chunks.into_inner()
    }

    /// Takes a row; it reaches the file with the next seal or [`Writer::flush`].
    pub fn push(&mut self, row: impl Borrow<Row>) -> io::Result<()> {
        let row = row.borrow();
        let full = self.encoder.push(row);
        if full || matches!(row, Row::End(_)) {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Takes functions and constants that later rows mention.
    pub fn push_tables(&mut self, tables: TablesRow) {
        self.encoder.push_tables(tables);
    }

    /// As [`Encoder::set_open`].
    pub fn set_open(&mut self, open: Vec<CallRow>) {
        self.encoder.set_open(open);
    }

    /// Hands everything that was pushed to the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.chunks.write(&self.encoder.seal())
    }

    /// Ends the rows of the time before the file, as in the second and later files of a recording.
    pub fn mark_part(&mut self) -> io::Result<()> {
        self.flush()?;
        self.chunks.mark_part()
    }

    /// Ends the file properly and hands the output back.
    pub fn finish(mut self, end: EndRow) -> io::Result<W> {
        self.push(Row::End(end))?;
        Ok(self.chunks.into_inner())
    }
}

fn too_large() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "the session's description is too large for a trace file",
    )
}
