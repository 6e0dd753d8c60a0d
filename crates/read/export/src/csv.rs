//! Comma-separated tables in a directory; see [`crate::trace_tables`].
//!
//! Each file begins with its column names; a column that has no value for a row is empty. Quoting
//! follows RFC 4180, lines end with a line feed. A text that a spreadsheet would compute has an apostrophe
//! before it.

use std::io::{self, Write};

use ascend_trace_recording::text::is_formula;

use crate::digits::{write_signed, write_unsigned};
use crate::trace_facts::ExportTotals;
use crate::trace_tables::{
    CellValue, ColumnKind, TableCell, TableColumn, TableExport, TableId, TableWriter,
};
use crate::{ExportError, ExportPass, ExportSink, ExportSource, Exporter, OutputLayout, open};

/// Bytes that are collected before they are handed on.
const CHUNK: usize = 256 * 1024;

/// The exporter for `--format csv`.
#[derive(Clone, Copy, Debug)]
pub struct Csv;

impl Exporter for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn layout(&self) -> OutputLayout {
        OutputLayout::Directory {
            files: &TableId::CSV,
        }
    }

    fn begin<'w>(
        &self,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError> {
        let mut names = TableId::CSV.into_iter();
        let tables = TableExport::new(|table| {
            let file = open(sink, names.next().unwrap_or_default())?;
            let mut writer = CsvWriter {
                file,
                chunk: Vec::with_capacity(CHUNK + CHUNK / 8),
                comma: false,
            };
            writer.heads(&table.columns());
            Ok::<_, ExportError>(writer)
        });
        Ok(Box::new(tables?))
    }
}

struct CsvWriter<'w> {
    file: Box<dyn Write + 'w>,
    chunk: Vec<u8>,
    /// A comma is due before the next cell.
    comma: bool,
}

impl CsvWriter<'_> {
    fn heads(&mut self, columns: &[(&'static str, ColumnKind)]) {
        for (name, _) in columns {
            self.separate();
            self.text(name.as_bytes());
        }
        self.chunk.push(b'\n');
        self.comma = false;
    }

    fn separate(&mut self) {
        if self.comma {
            self.chunk.push(b',');
        }
        self.comma = true;
    }

    /// A text that the program chose. A spreadsheet would take some for formulas: those get an
    /// apostrophe before them, and so do those that begin with one, so that it can be taken away again.
    fn guarded(&mut self, text: &str) {
        if is_formula(text) || text.starts_with('\'') {
            self.text(format!("'{text}").as_bytes());
        } else {
            self.text(text.as_bytes());
        }
    }

    fn text(&mut self, text: &[u8]) {
        let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
        if !text.iter().any(special) {
            self.chunk.extend_from_slice(text);
            return;
        }
        self.chunk.push(b'"');
        for (place, part) in text.split(|byte| *byte == b'"').enumerate() {
            if place > 0 {
                self.chunk.extend_from_slice(b"\"\"");
            }
            self.chunk.extend_from_slice(part);
        }
        self.chunk.push(b'"');
    }
}

impl TableWriter for CsvWriter<'_> {
    fn rows<R>(&mut self, columns: &[TableColumn<'_, R>], rows: &[R]) -> io::Result<()> {
        let mut cell = TableCell::default();
        for row in rows {
            for column in columns {
                self.separate();
                match column.fill(row, &mut cell) {
                    CellValue::Nothing => {}
                    CellValue::Signed(value) => write_signed(&mut self.chunk, value),
                    CellValue::Unsigned(value) => write_unsigned(&mut self.chunk, value),
                    CellValue::Text(text) => self.guarded(text),
                }
            }
            self.chunk.push(b'\n');
            self.comma = false;
        }
        if self.chunk.len() >= CHUNK {
            self.file.write_all(&self.chunk)?;
            self.chunk.clear();
        }
        Ok(())
    }

    fn end(&mut self, _source: &ExportSource<'_>, _facts: &ExportTotals) -> io::Result<()> {
        self.file.write_all(&self.chunk)?;
        self.chunk.clear();
        self.file.flush()
    }
}
