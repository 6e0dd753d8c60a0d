//! Comma-separated tables in a directory; see [`crate::tables`].
//!
//! Each file begins with its column names; a column that has no value for a row is empty. Quoting
//! follows RFC 4180, lines end with a line feed.

use std::io::{self, Write};

use crate::digits::{write_signed, write_unsigned};
use crate::tables::{Cell, Kind, Number, Table, TableWriter};
use crate::{ExportError, Exporter, Layout, Sink, Source, open};

/// Bytes that are collected before they are handed on.
const CHUNK: usize = 64 * 1024;

/// The exporter for `--format csv`.
#[derive(Clone, Copy, Debug)]
pub struct Csv;

const FILES: [&str; Table::ALL.len()] = [
    "calls.csv",
    "tasks.csv",
    "dependencies.csv",
    "stalls.csv",
    "graphs.csv",
];

impl Exporter for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn layout(&self) -> Layout {
        Layout::Directory { files: &FILES }
    }

    fn export(&self, source: &Source<'_>, sink: &mut dyn Sink) -> Result<(), ExportError> {
        for (table, name) in Table::ALL.into_iter().zip(FILES) {
            let mut file = open(sink, name)?;
            let mut writer = Writer::new(&mut *file);
            table.write(source, &mut writer)?;
            writer.finish()?;
        }
        Ok(())
    }
}

struct Writer<'f> {
    file: &'f mut dyn Write,
    chunk: Vec<u8>,
    /// A comma is due before the next cell.
    comma: bool,
}

impl<'f> Writer<'f> {
    fn new(file: &'f mut dyn Write) -> Self {
        Self {
            file,
            chunk: Vec::with_capacity(CHUNK + CHUNK / 8),
            comma: false,
        }
    }

    fn separate(&mut self) {
        if self.comma {
            self.chunk.push(b',');
        }
        self.comma = true;
    }

    fn text(&mut self, text: &str) {
        let special = |byte: u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
        if !text.bytes().any(special) {
            self.chunk.extend_from_slice(text.as_bytes());
            return;
        }
        self.chunk.push(b'"');
        for (place, part) in text.split('"').enumerate() {
            if place > 0 {
                self.chunk.extend_from_slice(b"\"\"");
            }
            self.chunk.extend_from_slice(part.as_bytes());
        }
        self.chunk.push(b'"');
    }

    fn finish(mut self) -> io::Result<()> {
        self.file.write_all(&self.chunk)?;
        self.chunk.clear();
        self.file.flush()
    }
}

impl TableWriter for Writer<'_> {
    fn begin(&mut self, columns: &[(&'static str, Kind)]) -> io::Result<()> {
        for (name, _) in columns {
            self.separate();
            self.text(name);
        }
        self.end_row()
    }

    fn cell(&mut self, cell: &Cell) -> io::Result<()> {
        self.separate();
        match cell.number() {
            Some(Number::Signed(value)) => write_signed(&mut self.chunk, value),
            Some(Number::Unsigned(value)) => write_unsigned(&mut self.chunk, value, 1),
            None => self.text(cell.text()),
        }
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.chunk.push(b'\n');
        self.comma = false;
        if self.chunk.len() >= CHUNK {
            self.file.write_all(&self.chunk)?;
            self.chunk.clear();
        }
        Ok(())
    }
}
