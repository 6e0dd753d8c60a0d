//! Cells of a result.

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use datafusion::arrow::util::display::array_value_to_string;

/// Value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    /// A text, or the engine's text for any other type, such as a list or a date.
    Text(String),
}

impl Value {
    /// The cell of a row.
    pub(crate) fn of(column: &dyn Array, row: usize) -> Self {
        // A column without a type has nothing but nulls, and no bits that say so.
        if column.is_null(row) || *column.data_type() == DataType::Null {
            return Self::Null;
        }
        match column.data_type() {
            DataType::Boolean => Self::Bool(column.as_boolean().value(row)),
            DataType::Int8 => Self::Integer(column.as_primitive::<Int8Type>().value(row).into()),
            DataType::Int16 => Self::Integer(column.as_primitive::<Int16Type>().value(row).into()),
            DataType::Int32 => Self::Integer(column.as_primitive::<Int32Type>().value(row).into()),
            DataType::Int64 => Self::Integer(column.as_primitive::<Int64Type>().value(row)),
            DataType::UInt8 => Self::Unsigned(column.as_primitive::<UInt8Type>().value(row).into()),
            DataType::UInt16 => {
                Self::Unsigned(column.as_primitive::<UInt16Type>().value(row).into())
            }
            DataType::UInt32 => {
                Self::Unsigned(column.as_primitive::<UInt32Type>().value(row).into())
            }
            DataType::UInt64 => Self::Unsigned(column.as_primitive::<UInt64Type>().value(row)),
            DataType::Float32 => {
                Self::Float(column.as_primitive::<Float32Type>().value(row).into())
            }
            DataType::Float64 => Self::Float(column.as_primitive::<Float64Type>().value(row)),
            DataType::Utf8 => Self::Text(column.as_string::<i32>().value(row).to_owned()),
            DataType::LargeUtf8 => Self::Text(column.as_string::<i64>().value(row).to_owned()),
            DataType::Utf8View => Self::Text(column.as_string_view().value(row).to_owned()),
            // A text that cannot be made still has a place in the table.
            _ => Self::Text(
                array_value_to_string(column, row).unwrap_or_else(|error| error.to_string()),
            ),
        }
    }

    /// Whether cells of a type are numbers, which tables put to the right.
    pub(crate) fn is_number(kind: &DataType) -> bool {
        kind.is_numeric()
    }
}
