//! The rows of one group, column by column.

use std::io::Write;
use std::sync::Arc;

use ::bytes::Bytes;
use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use ::parquet::errors::Result;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};

use crate::tables::{Cell, Kind, Number};

/// The schema of a table; every cell may be null.
pub(super) fn schema(columns: &[(&'static str, Kind)]) -> Result<TypePtr> {
    let field = |(name, kind): &(&'static str, Kind)| -> Result<TypePtr> {
        let (physical, logical) = match kind {
            Kind::Number => (Physical::INT64, integer(true)),
            Kind::Unsigned => (Physical::INT64, integer(false)),
            Kind::Text => (Physical::BYTE_ARRAY, LogicalType::String),
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

/// The cells of a column.
#[derive(Debug)]
enum Values {
    Numbers(Vec<i64>),
    /// All texts in one, and where each ends.
    Texts(Vec<u8>, Vec<usize>),
}

#[derive(Debug)]
struct Column {
    values: Values,
    /// 1 for a value, 0 for none.
    levels: Vec<i16>,
}

/// All columns of a table, as far as they are not in the file yet.
#[derive(Debug, Default)]
pub(super) struct Columns {
    columns: Vec<Column>,
    /// The column that the next cell belongs to.
    next: usize,
    rows: usize,
    text: usize,
}

impl Columns {
    pub(super) fn new(columns: &[(&'static str, Kind)]) -> Self {
        let column = |(_, kind): &(&'static str, Kind)| Column {
            values: match kind {
                Kind::Number | Kind::Unsigned => Values::Numbers(Vec::new()),
                Kind::Text => Values::Texts(Vec::new(), Vec::new()),
            },
            levels: Vec::new(),
        };
        Self {
            columns: columns.iter().map(column).collect(),
            ..Self::default()
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn text_bytes(&self) -> usize {
        self.text
    }

    pub(super) fn cell(&mut self, cell: &Cell) {
        let Some(column) = self.columns.get_mut(self.next) else {
            return;
        };
        self.next += 1;
        let is_set = match &mut column.values {
            Values::Numbers(numbers) => {
                // Unsigned numbers keep their bits.
                let number = cell.number().map(|number| match number {
                    Number::Signed(value) => value,
                    Number::Unsigned(value) => value as i64,
                });
                numbers.extend(number);
                number.is_some()
            }
            Values::Texts(bytes, ends) => {
                let text = cell.text();
                if !text.is_empty() {
                    bytes.extend_from_slice(text);
                    ends.push(bytes.len());
                    self.text += text.len();
                }
                !text.is_empty()
            }
        };
        column.levels.push(i16::from(is_set));
    }

    pub(super) fn end_row(&mut self) {
        self.next = 0;
        self.rows += 1;
    }

    /// Writes all columns and forgets their cells.
    pub(super) fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        for column in &mut self.columns {
            if let Some(mut writer) = group.next_column()? {
                column.write(&mut writer)?;
                writer.close()?;
            }
        }
        (self.rows, self.text) = (0, 0);
        Ok(())
    }
}

impl Column {
    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let levels = Some(self.levels.as_slice());
        match &mut self.values {
            Values::Numbers(numbers) => {
                writer
                    .typed::<Int64Type>()
                    .write_batch(numbers, levels, None)?;
                numbers.clear();
            }
            Values::Texts(bytes, ends) => {
                let all = Bytes::from(std::mem::take(bytes));
                let begins = std::iter::once(0).chain(ends.iter().copied());
                let places = begins.zip(ends.iter().copied());
                let texts = places.map(|(begin, end)| ByteArray::from(all.slice(begin..end)));
                let texts: Vec<_> = texts.collect();
                writer
                    .typed::<ByteArrayType>()
                    .write_batch(&texts, levels, None)?;
                ends.clear();
            }
        }
        self.levels.clear();
        Ok(())
    }
}
