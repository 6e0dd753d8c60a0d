//! Apache Parquet tables in a directory; see [`crate::trace_tables`].
//!
//! Numbers are 64 bits wide and stored as differences, texts by dictionary, both compressed with
//! Snappy: every reader supports these. A row group is written when it is full, so one group limits the
//! memory. Each file's metadata describes the recording.

mod columns;
mod hybrid;
mod shared_buffer;
mod word_column;

use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{ColumnPath, SchemaDescriptor};

use crate::row_store::description;
use crate::trace_facts::ExportTotals;
use crate::trace_tables::{ColumnKind, TableColumn, TableExport, TableId, TableWriter};
use crate::{ExportError, ExportPass, ExportSink, ExportSource, Exporter, OutputLayout, open};

use columns::UnwrittenRows;
use shared_buffer::SharedBuffer;

/// Properties of the files for a use of this format.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ParquetOptions {
    /// A column that is left out.
    pub(crate) left_out: Option<&'static str>,
    /// Whether readers find pages of a row group by an index.
    pub(crate) has_page_index: bool,
}

/// Rows and bytes of text of a row group. Readers share work out by row groups.
const ROWS: usize = 120_000;
const TEXT: usize = 16 << 20;

/// The exporter for `--format parquet`.
#[derive(Clone, Copy, Debug)]
pub struct Parquet;

impl Exporter for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn layout(&self) -> OutputLayout {
        OutputLayout::Directory {
            files: &TableId::PARQUET,
        }
    }

    fn begin<'w>(
        &self,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError> {
        let mut names = TableId::PARQUET.into_iter();
        let tables = TableExport::new(|table| {
            let file = open(sink, names.next().unwrap_or_default())?;
            Ok::<_, ExportError>(ParquetWriter::new(file, table, ParquetOptions::default())?)
        });
        Ok(Box::new(tables?))
    }
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

pub(crate) struct ParquetWriter<'w> {
    file: Box<dyn Write + 'w>,
    columns: UnwrittenRows,
    schema: SchemaDescriptor,
    /// Encoded bytes that are not in the file yet.
    bytes: SharedBuffer,
    parquet: Option<SerializedFileWriter<SharedBuffer>>,
}

impl TableWriter for ParquetWriter<'_> {
    fn rows<R>(&mut self, columns: &[TableColumn<'_, R>], mut rows: &[R]) -> io::Result<()> {
        while !rows.is_empty() {
            let room = ROWS.saturating_sub(self.columns.rows());
            let now;
            (now, rows) = rows.split_at(room.min(rows.len()));
            self.columns.add(columns, now);
            if self.columns.rows() >= ROWS || self.columns.text_bytes() >= TEXT {
                self.write_group()?;
            }
        }
        Ok(())
    }

    fn end(&mut self, source: &ExportSource<'_>, facts: &ExportTotals) -> io::Result<()> {
        if let Some(parquet) = &mut self.parquet {
            let entry = KeyValue::new("ascend-trace".to_owned(), description(source, facts));
            parquet.append_key_value_metadata(entry);
        }
        self.close()
    }
}

impl<'w> ParquetWriter<'w> {
    pub(crate) fn new(
        file: Box<dyn Write + 'w>,
        table: TableId,
        manner: ParquetOptions,
    ) -> io::Result<Self> {
        Self::of(file, table.columns(), manner)
    }

    /// A writer of a table that is not one of a recording.
    pub(crate) fn of(
        file: Box<dyn Write + 'w>,
        columns: Vec<(&'static str, ColumnKind)>,
        manner: ParquetOptions,
    ) -> io::Result<Self> {
        let bytes = SharedBuffer::default();
        let columns = columns.into_iter();
        let columns: Vec<_> = columns
            .filter(|(name, _)| Some(*name) != manner.left_out)
            .collect();
        let schema = columns::schema(&columns).map_err(failed)?;
        let properties = Arc::new(properties(&columns, manner.has_page_index));
        let parquet = SerializedFileWriter::new(bytes.clone(), schema.clone(), properties);
        Ok(Self {
            file,
            columns: UnwrittenRows::new(&columns, manner.left_out),
            schema: SchemaDescriptor::new(schema),
            bytes,
            parquet: Some(parquet.map_err(failed)?),
        })
    }

    /// Writes the rest, after the last row.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        self.write_group()?;
        if let Some(parquet) = self.parquet.take() {
            parquet.close().map_err(failed)?;
        }
        self.bytes.hand_on(&mut *self.file)?;
        self.file.flush()
    }

    fn write_group(&mut self) -> io::Result<()> {
        if let Some(parquet) = self.parquet.as_mut().filter(|_| self.columns.rows() > 0) {
            let mut group = parquet.next_row_group().map_err(failed)?;
            self.columns
                .write(&self.schema, &mut group)
                .map_err(failed)?;
            group.close().map_err(failed)?;
        }
        self.bytes.hand_on(&mut *self.file)
    }
}

fn properties(columns: &[(&'static str, ColumnKind)], has_page_index: bool) -> WriterProperties {
    // Of words there is one page in a group.
    let statistics = match has_page_index {
        true => EnabledStatistics::Page,
        false => EnabledStatistics::Chunk,
    };
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("ascend-trace {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    for (name, kind) in columns {
        let column = ColumnPath::from(*name);
        // Numbers of neighbouring rows differ little; arguments are seldom the same twice.
        properties = match kind {
            ColumnKind::Number | ColumnKind::Unsigned => properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_statistics_enabled(column.clone(), statistics)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED),
            ColumnKind::Text if *name == "args" => {
                properties.set_column_dictionary_enabled(column, false)
            }
            ColumnKind::Word | ColumnKind::Text => properties,
        };
    }
    properties.build()
}
