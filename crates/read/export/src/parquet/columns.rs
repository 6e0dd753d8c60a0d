//! The rows of one group, column by column.

use std::io::Write;
use std::sync::Arc;

use ::bytes::Bytes;
use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use ::parquet::errors::Result;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::word_column::WordColumn;
use crate::trace_tables::{CellValue, ColumnKind, TableCell, TableColumn as Source};

/// The schema of a table; every cell may be null.
pub(super) fn schema(columns: &[(&'static str, ColumnKind)]) -> Result<TypePtr> {
    let field = |(name, kind): &(&'static str, ColumnKind)| -> Result<TypePtr> {
        let (physical, logical) = match kind {
            ColumnKind::Number => (Physical::INT64, integer(true)),
            ColumnKind::Unsigned => (Physical::INT64, integer(false)),
            ColumnKind::Word | ColumnKind::Text => (Physical::BYTE_ARRAY, LogicalType::String),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(Some(logical));
        Ok(Arc::new(field.build()?))
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>>>()?;
    let schema = Type::group_type_builder("table").with_fields(fields);
    Ok(Arc::new(schema.build()?))
}

fn integer(is_signed: bool) -> LogicalType {
    LogicalType::integer(64, is_signed)
}

/// The cells of a column that are not in the file yet.
#[derive(Debug)]
enum UnwrittenColumn {
    Numbers(NumberCells),
    Texts(TextCells),
    Words(WordColumn),
}

/// All columns of a table, as far as they are not in the file yet.
#[derive(Debug)]
pub(super) struct UnwrittenRows {
    columns: Vec<UnwrittenColumn>,
    /// The column of the table that is not among them.
    left_out: Option<&'static str>,
    rows: usize,
}

impl UnwrittenRows {
    pub(super) fn new(
        columns: &[(&'static str, ColumnKind)],
        left_out: Option<&'static str>,
    ) -> Self {
        let column = |(_, kind): &(&'static str, ColumnKind)| match kind {
            ColumnKind::Number | ColumnKind::Unsigned => {
                UnwrittenColumn::Numbers(NumberCells::default())
            }
            ColumnKind::Text => UnwrittenColumn::Texts(TextCells::default()),
            ColumnKind::Word => UnwrittenColumn::Words(WordColumn::new()),
        };
        Self {
            columns: columns.iter().map(column).collect(),
            left_out,
            rows: 0,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn text_bytes(&self) -> usize {
        let bytes = self.columns.iter().map(|column| match column {
            UnwrittenColumn::Numbers(_) => 0,
            UnwrittenColumn::Texts(texts) => texts.bytes.len(),
            UnwrittenColumn::Words(words) => words.bytes(),
        });
        bytes.sum()
    }

    /// Adds rows, a column at a time. `columns` are all those of the table.
    pub(super) fn add<'t, R>(&mut self, columns: &[Source<'t, R>], rows: &[R]) {
        let mut cell = TableCell::default();
        let kept = columns.iter().filter(|it| Some(it.name()) != self.left_out);
        for (column, source) in self.columns.iter_mut().zip(kept) {
            match column {
                UnwrittenColumn::Numbers(numbers) => {
                    for row in rows {
                        numbers.push(source.fill(row, &mut cell).number());
                    }
                }
                UnwrittenColumn::Texts(texts) => {
                    for row in rows {
                        texts.push(source.fill(row, &mut cell).text());
                    }
                }
                UnwrittenColumn::Words(words) => {
                    for row in rows {
                        match source.fill(row, &mut cell) {
                            CellValue::Text(text) => words.push(text),
                            _ => words.push_none(),
                        }
                    }
                }
            }
        }
        self.rows += rows.len();
    }

    /// Writes all columns and forgets their cells.
    pub(super) fn write<W: Write + Send>(
        &mut self,
        schema: &SchemaDescriptor,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        for (place, column) in self.columns.iter_mut().enumerate() {
            if let UnwrittenColumn::Words(words) = column {
                let (bytes, close) = words.encode(schema.column(place))?;
                group.append_column(&bytes, close)?;
            } else if let Some(mut writer) = group.next_column()? {
                match column {
                    UnwrittenColumn::Numbers(numbers) => numbers.write(&mut writer)?,
                    UnwrittenColumn::Texts(texts) => texts.write(&mut writer)?,
                    UnwrittenColumn::Words(_) => {}
                }
                writer.close()?;
            }
        }
        self.rows = 0;
        Ok(())
    }
}

#[derive(Debug, Default)]
struct NumberCells {
    numbers: Vec<i64>,
    /// 1 for a value, 0 for none.
    levels: Vec<i16>,
}

impl NumberCells {
    #[inline]
    fn push(&mut self, number: Option<i64>) {
        if let Some(number) = number {
            self.numbers.push(number);
        }
        self.levels.push(i16::from(number.is_some()));
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let levels = Some(self.levels.as_slice());
        let writer = writer.typed::<Int64Type>();
        writer.write_batch(&self.numbers, levels, None)?;
        self.numbers.clear();
        self.levels.clear();
        Ok(())
    }
}

#[derive(Debug, Default)]
struct TextCells {
    /// All texts in one, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    levels: Vec<i16>,
}

impl TextCells {
    #[inline]
    fn push(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.bytes.extend_from_slice(text.as_bytes());
            self.ends.push(self.bytes.len());
        }
        self.levels.push(i16::from(text.is_some()));
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let all = Bytes::from(std::mem::take(&mut self.bytes));
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let places = begins.zip(self.ends.iter().copied());
        let texts = places.map(|(begin, end)| ByteArray::from(all.slice(begin..end)));
        let texts: Vec<_> = texts.collect();
        let levels = Some(self.levels.as_slice());
        let writer = writer.typed::<ByteArrayType>();
        writer.write_batch(&texts, levels, None)?;
        self.ends.clear();
        self.levels.clear();
        Ok(())
    }
}
