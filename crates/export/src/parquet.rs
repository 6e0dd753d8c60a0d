//! Apache Parquet tables in a directory; see [`crate::tables`].
//!
//! Numbers are 64 bits wide and stored as differences, texts by dictionary, both compressed with
//! Snappy: what every reader knows. A row group is written when it is full, so memory is bounded by
//! one group. What is known about the recording is in each file's metadata.

mod columns;
mod shared;

use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::ColumnPath;

use crate::fields::write_recording;
use crate::json::Json;
use crate::tables::{Cell, Kind, Table, TableWriter};
use crate::{ExportError, Exporter, Layout, Sink, Source, open};

use columns::Columns;
use shared::Shared;

/// Rows and bytes of text of a row group. Readers share work out by row groups.
const ROWS: usize = 120_000;
const TEXT: usize = 16 << 20;

/// The exporter for `--format parquet`.
#[derive(Clone, Copy, Debug)]
pub struct Parquet;

const FILES: [&str; Table::ALL.len()] = [
    "calls.parquet",
    "tasks.parquet",
    "dependencies.parquet",
    "stalls.parquet",
    "graphs.parquet",
];

impl Exporter for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn layout(&self) -> Layout {
        Layout::Directory { files: &FILES }
    }

    fn export(&self, source: &Source<'_>, sink: &mut dyn Sink) -> Result<(), ExportError> {
        for (table, name) in Table::ALL.into_iter().zip(FILES) {
            let mut file = open(sink, name)?;
            let mut writer = Writer {
                file: &mut *file,
                about: about(source),
                columns: Columns::default(),
                bytes: Shared::default(),
                parquet: None,
            };
            table.write(source, &mut writer)?;
            writer.finish()?;
        }
        Ok(())
    }
}

/// The recording as a whole, as the other formats tell it.
fn about(source: &Source<'_>) -> String {
    let mut json = Json::default();
    json.open(b'{');
    let begin = source.trace.span().map_or(0, |span| span.0);
    write_recording(&mut json, source, begin, 0);
    json.close(b'}');
    json.into_string()
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

struct Writer<'f> {
    file: &'f mut dyn Write,
    about: String,
    columns: Columns,
    /// What is encoded but not in the file yet.
    bytes: Shared,
    parquet: Option<SerializedFileWriter<Shared>>,
}

impl TableWriter for Writer<'_> {
    fn begin(&mut self, columns: &[(&'static str, Kind)]) -> io::Result<()> {
        self.columns = Columns::new(columns);
        let schema = columns::schema(columns).map_err(failed)?;
        let properties = Arc::new(properties(columns, &self.about));
        let parquet = SerializedFileWriter::new(self.bytes.clone(), schema, properties);
        self.parquet = Some(parquet.map_err(failed)?);
        Ok(())
    }

    fn cell(&mut self, cell: &Cell) -> io::Result<()> {
        self.columns.cell(cell);
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.columns.end_row();
        if self.columns.rows() >= ROWS || self.columns.text_bytes() >= TEXT {
            self.write_group()?;
        }
        Ok(())
    }
}

impl Writer<'_> {
    fn write_group(&mut self) -> io::Result<()> {
        if let Some(parquet) = self.parquet.as_mut().filter(|_| self.columns.rows() > 0) {
            let mut group = parquet.next_row_group().map_err(failed)?;
            self.columns.write(&mut group).map_err(failed)?;
            group.close().map_err(failed)?;
        }
        self.bytes.hand_on(self.file)
    }

    fn finish(mut self) -> io::Result<()> {
        self.write_group()?;
        if let Some(parquet) = self.parquet.take() {
            parquet.close().map_err(failed)?;
        }
        self.bytes.hand_on(self.file)?;
        self.file.flush()
    }
}

fn properties(columns: &[(&'static str, Kind)], about: &str) -> WriterProperties {
    let entry = KeyValue::new("ascend-trace".to_owned(), about.to_owned());
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("ascend-trace {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![entry]));
    for (name, kind) in columns {
        let column = ColumnPath::from(*name);
        // Numbers of neighbouring rows differ little; arguments are seldom the same twice.
        properties = match kind {
            Kind::Number | Kind::Unsigned => properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED),
            Kind::Text if *name == "args" => {
                properties.set_column_dictionary_enabled(column, false)
            }
            Kind::Text => properties,
        };
    }
    properties.build()
}
