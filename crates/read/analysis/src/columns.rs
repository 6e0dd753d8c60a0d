//! Columns of tables. The type of a row declares each column in one line: its key in JSON and exports, its title on
//! screen, its kind, its value and its meaning. Commands, documents, exports and the view only differ in how they write a
//! value of a kind.

mod row_schema;

use std::borrow::Cow;

use ascend_trace_recording::units::{
    bytes, duration, duration_with_error, moment, rate, rate_with_error, signed_duration,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

pub use row_schema::row_schema;

/// The value of a column in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'r> {
    /// The row has no such field: JSON leaves it out.
    Absent,
    /// Not known or missing: `null` in JSON.
    Unknown,
    Flag(bool),
    Whole(i64),
    Unsigned(u64),
    Part(f64),
    Text(Cow<'r, str>),
    /// A number that may be off by an error. It may be larger, too, if it `is_least`.
    Estimate {
        value: i64,
        error: i64,
        is_least: bool,
    },
    List(Vec<Value<'r>>),
    Fields(Vec<(&'static str, Value<'r>)>),
}

/// How values of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A word, or a name: one of a few texts.
    Word,
    Text,
    /// A text that is mostly numbers.
    Figures,
    Flag,
    /// A number that identifies something.
    Id,
    /// The same for numbers from 0 to 2^64.
    Unsigned,
    Count,
    /// Nanoseconds.
    Duration,
    /// A change of nanoseconds, with its sign.
    Change,
    /// A timestamp in nanoseconds.
    Moment,
    /// A part from 0 to 1.
    Share,
    /// A change as a part, with its sign.
    ShareChange,
    /// The chance of an observation, from 0 to 1.
    Chance,
    Bytes,
    /// Bytes in a second.
    Rate,
    /// An object or a list: only in JSON.
    Nested,
}

impl ColumnKind {
    /// Whether its texts begin at the left edge of the column.
    pub const fn is_left(self) -> bool {
        matches!(self, Self::Word | Self::Text)
    }
}

/// A column of rows of one type.
#[derive(Debug)]
pub struct Column<R: 'static> {
    /// Its key in JSON. `a.b` is the key `b` in the object `a`. Empty for a column that is only on screen.
    pub key: &'static str,
    pub kind: ColumnKind,
    pub value: fn(&R) -> Value<'_>,
    pub meaning: &'static str,
    /// Its title on screen.
    pub title: &'static str,
    /// Whether the text of the command has it.
    pub is_in_text: bool,
    /// Whether the view has it, on screens of at least this width.
    pub view_from: Option<u16>,
    /// Its name in exported tables.
    pub exported: Option<&'static str>,
    /// The text has it if this holds for a row.
    pub is_of_use: Option<fn(&R) -> bool>,
    /// The type of its values in JSON.
    pub schema: Option<fn(&mut SchemaGenerator) -> Schema>,
    /// JSON may have no such field in a row.
    pub may_be_absent: bool,
}

impl<R> Clone for Column<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Column<R> {}

/// A column that is only in JSON, until it has a title or is exported.
pub const fn column<R>(
    key: &'static str,
    kind: ColumnKind,
    value: fn(&R) -> Value<'_>,
    meaning: &'static str,
) -> Column<R> {
    Column {
        key,
        kind,
        value,
        meaning,
        title: "",
        is_in_text: false,
        view_from: None,
        exported: None,
        is_of_use: None,
        schema: None,
        may_be_absent: false,
    }
}

impl<R> Column<R> {
    /// The text of the command has it.
    #[must_use]
    pub const fn text(mut self, title: &'static str) -> Self {
        (self.title, self.is_in_text) = (title, true);
        self
    }

    /// The view has it, on screens of at least this width.
    #[must_use]
    pub const fn view(mut self, title: &'static str, from: u16) -> Self {
        (self.title, self.view_from) = (title, Some(from));
        self
    }

    /// Both have it.
    #[must_use]
    pub const fn shown(self, title: &'static str, from: u16) -> Self {
        self.text(title).view(title, from)
    }

    /// Exports have it under this name.
    #[must_use]
    pub const fn exported(mut self, name: &'static str) -> Self {
        self.exported = Some(name);
        self
    }

    /// Its values in JSON have this type. A column of a field has the type of the field, if nothing else is declared.
    #[must_use]
    pub const fn json<T: JsonSchema + ?Sized>(mut self) -> Self {
        self.schema = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// The same for a field of this type.
    #[must_use]
    pub const fn of_field<T: JsonSchema + ?Sized>(self) -> Self {
        match self.schema {
            Some(_) => self,
            None => self.json::<T>(),
        }
    }

    /// A row may have no such field.
    #[must_use]
    pub const fn may_be_absent(mut self) -> Self {
        self.may_be_absent = true;
        self
    }

    /// The text leaves it out if this holds for no row.
    #[must_use]
    pub const fn if_any(mut self, is_of_use: fn(&R) -> bool) -> Self {
        self.is_of_use = Some(is_of_use);
        self
    }
}

/// The columns of a type of rows, in order, in parts that several types may have in common.
pub type Columns<R> = &'static [&'static [Column<R>]];

/// A row of a table.
pub trait TableRow: Sized + 'static {
    const COLUMNS: Columns<Self>;

    fn columns() -> impl Iterator<Item = &'static Column<Self>> + Clone {
        Self::COLUMNS.iter().copied().flatten()
    }
}

/// Declares a type of rows with its columns. A field is stored, `=> column` is a column, and both together are a field with
/// its column. `..columns` are several columns.
macro_rules! table_row {
    (@ [$($head:tt)*] [$($field:tt)*] [$($part:expr),*] $(#[$about:meta])* $vis:vis $name:ident: $kind:ty => $column:expr; $($rest:tt)*) => {
        table_row! { @ [$($head)*] [$($field)* $(#[$about])* $vis $name: $kind,] [$($part,)* [$column.of_field::<$kind>()]] $($rest)* }
    };
    (@ [$($head:tt)*] [$($field:tt)*] [$($part:expr),*] $(#[$about:meta])* $vis:vis $name:ident: $kind:ty; $($rest:tt)*) => {
        table_row! { @ [$($head)*] [$($field)* $(#[$about])* $vis $name: $kind,] [$($part),*] $($rest)* }
    };
    (@ [$($head:tt)*] [$($field:tt)*] [$($part:expr),*] => $column:expr; $($rest:tt)*) => {
        table_row! { @ [$($head)*] [$($field)*] [$($part,)* [$column]] $($rest)* }
    };
    (@ [$($head:tt)*] [$($field:tt)*] [$($part:expr),*] ..$columns:expr; $($rest:tt)*) => {
        table_row! { @ [$($head)*] [$($field)*] [$($part,)* $columns] $($rest)* }
    };
    (@ [$(#[$about:meta])* $row:ident] [$($field:tt)*] [$($part:expr),*]) => {
        $(#[$about])*
        pub struct $row {
            $($field)*
        }

        impl $crate::columns::TableRow for $row {
            const COLUMNS: $crate::columns::Columns<Self> = &[$(&$part),*];
        }

        impl schemars::JsonSchema for $row {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($row).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($row)).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::columns::row_schema::<Self>(generator)
            }
        }
    };
    ($(#[$about:meta])* pub struct $row:ident { $($body:tt)* }) => {
        table_row! { @ [$(#[$about])* $row] [] [] $($body)* }
    };
}

/// What declarations need.
pub(crate) mod declare {
    pub(crate) use super::ColumnKind::*;
    pub(crate) use super::{ColumnKind, Value, column, rows, table_row};
}

pub(crate) use table_row;

/// Writes rows as a list of objects.
///
/// # Errors
/// Those of the serializer.
pub fn rows<R: TableRow, S: Serializer>(rows: &[R], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(rows.iter().map(Value::row))
}

/// Writes a row as an object.
///
/// # Errors
/// Those of the serializer.
pub fn row<R: TableRow, S: Serializer>(row: &R, to: S) -> Result<S::Ok, S::Error> {
    Value::row(row).serialize(to)
}

impl<'r> Value<'r> {
    /// The object of a row.
    pub fn row<R: TableRow>(row: &'r R) -> Self {
        let mut fields = Vec::new();
        for column in R::columns().filter(|it| !it.key.is_empty()) {
            insert(&mut fields, column.key, (column.value)(row));
        }
        Self::Fields(fields)
    }

    pub(crate) fn maybe_row<R: TableRow>(row: Option<&'r R>) -> Self {
        row.map_or(Self::Unknown, Self::row)
    }

    pub(crate) fn list<T: 'r>(values: &'r [T], value: impl Fn(&'r T) -> Self) -> Self {
        Self::List(values.iter().map(value).collect())
    }

    /// An estimate; `unestimated` is the number of things that are not in it.
    pub(crate) fn estimate((value, error): (i64, i64), unestimated: u64) -> Self {
        let is_least = unestimated > 0;
        Self::Estimate {
            value,
            error,
            is_least,
        }
    }

    /// `part` as a part of `whole`.
    pub(crate) fn share(part: i64, whole: i64) -> Self {
        match whole {
            0 => Self::Unknown,
            _ => Self::Part(part as f64 / whole as f64),
        }
    }
}

/// How a place writes values.
pub struct Style {
    pub count: fn(u64) -> String,
    pub unknown: &'static str,
    /// After a part in percent.
    pub percent: &'static str,
}

impl<R> Column<R> {
    /// The value of a row as a text. Timestamps are counted from `begin`.
    pub fn write(&self, value: &Value<'_>, begin: i64, style: &Style) -> String {
        use ColumnKind::{
            Bytes, Chance, Change, Count, Duration, Moment, Rate, Share, ShareChange, Text,
        };
        match (self.kind, value) {
            (Text, Value::Unknown) => String::new(),
            (_, Value::Text(text)) => text.clone().into_owned(),
            (_, Value::Flag(value)) => value.to_string(),
            (
                kind,
                Value::Estimate {
                    value,
                    error,
                    is_least,
                },
            ) => {
                let least = if *is_least { "≥ " } else { "" };
                match kind {
                    Bytes => format!("{least}{}", bytes(value.unsigned_abs())),
                    Rate => format!("{least}{}", rate_with_error(*value as f64, *error as f64)),
                    _ => format!("{least}{}", duration_with_error(*value, *error)),
                }
            }
            (Share, Value::Part(part)) => format!("{:.1}{}", part * 100.0, style.percent),
            (ShareChange, Value::Part(part)) => format!("{:+.1}{}", part * 100.0, style.percent),
            (Chance, Value::Part(part)) if *part < 0.0001 => "< 0.0001".to_owned(),
            (Rate, Value::Part(value)) => rate(*value),
            (_, Value::Part(part)) => format!("{part:.4}"),
            (Duration, Value::Whole(value)) => duration(*value),
            (Change, Value::Whole(value)) => signed_duration(*value),
            (Moment, Value::Whole(value)) => moment(value.saturating_sub(begin)),
            (_, Value::Whole(value)) => value.to_string(),
            (Count, Value::Unsigned(value)) => (style.count)(*value),
            (Bytes, Value::Unsigned(value)) => bytes(*value),
            (_, Value::Unsigned(value)) => value.to_string(),
            (_, Value::Unknown | Value::Absent | Value::List(_) | Value::Fields(_)) => {
                style.unknown.to_owned()
            }
        }
    }
}

/// Adds a field; those of one inner object come one after the other.
fn insert<'r>(fields: &mut Vec<(&'static str, Value<'r>)>, key: &'static str, value: Value<'r>) {
    match (key.split_once('.'), fields.last_mut()) {
        (None, _) if matches!(value, Value::Absent) => {}
        (None, _) => fields.push((key, value)),
        (Some((outer, inner)), Some((last, Value::Fields(inside)))) if *last == outer => {
            insert(inside, inner, value);
        }
        (Some((outer, inner)), _) => {
            let mut inside = Vec::new();
            insert(&mut inside, inner, value);
            fields.push((outer, Value::Fields(inside)));
        }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent | Self::Unknown => to.serialize_none(),
            Self::Flag(value) => to.serialize_bool(*value),
            Self::Whole(value) | Self::Estimate { value, .. } => to.serialize_i64(*value),
            Self::Unsigned(value) => to.serialize_u64(*value),
            Self::Part(value) => to.serialize_f64(*value),
            Self::Text(value) => to.serialize_str(value),
            Self::List(values) => to.collect_seq(values),
            Self::Fields(fields) => to.collect_map(fields.iter().map(|(key, value)| (key, value))),
        }
    }
}

/// Types of fields that are values.
macro_rules! values {
    ($($from:ty, $value:ident => $made:expr;)+) => {
        $(impl<'r> From<$from> for Value<'r> {
            fn from($value: $from) -> Self {
                $made
            }
        })+
    };
}

values! {
    bool, value => Self::Flag(value);
    u8, value => Self::Whole(value.into());
    u32, value => Self::Whole(value.into());
    i64, value => Self::Whole(value);
    u64, value => Self::Unsigned(value);
    f64, value => Self::Part(value);
    &'r str, value => Self::Text(value.into());
    &'r String, value => Self::Text(value.into());
    String, value => Self::Text(value.into());
}

impl<'r, T: Into<Value<'r>>> From<Option<T>> for Value<'r> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Unknown, T::into)
    }
}
