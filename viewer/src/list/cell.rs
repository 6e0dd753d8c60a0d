//! A cell of a list: its text, and its sort key.

use std::cmp::Ordering;

use ascend_trace_analysis::columns::Value;

use crate::text;

/// A cell of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListCell {
    pub(crate) text: String,
    value: SortKey,
}

/// Sort key of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SortKey {
    /// Its text, in any case.
    Text,
    Whole(i64),
    Part(f64),
    /// Not known: sorted last in both directions.
    Unknown,
}

impl From<String> for ListCell {
    fn from(text: String) -> Self {
        let value = SortKey::Text;
        Self { text, value }
    }
}

impl From<&str> for ListCell {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl ListCell {
    /// A text with a number as its sort key.
    pub(crate) fn number(text: String, value: i64) -> Self {
        let value = SortKey::Whole(value);
        Self { text, value }
    }

    pub(crate) fn count(value: u64) -> Self {
        Self::number(text::count(value), i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// Nanoseconds.
    pub(crate) fn duration(value: i64) -> Self {
        Self::number(text::duration(value), value)
    }

    /// The text of a value, which is its sort key.
    pub(crate) fn declared(text: String, value: &Value<'_>) -> Self {
        let value = match value {
            Value::Whole(value) | Value::Estimate { value, .. } => SortKey::Whole(*value),
            Value::Unsigned(value) => SortKey::Whole(i64::try_from(*value).unwrap_or(i64::MAX)),
            Value::Part(part) => SortKey::Part(*part),
            Value::Unknown | Value::Absent if !text.is_empty() => SortKey::Unknown,
            _ => SortKey::Text,
        };
        Self { text, value }
    }

    /// A part from 0 to 1, in percent.
    pub(crate) fn percent(value: f64) -> Self {
        let text = format!("{:.1}%", value * 100.0);
        let value = SortKey::Part(value);
        Self { text, value }
    }

    pub(crate) fn unknown() -> Self {
        Self {
            text: "-".to_owned(),
            value: SortKey::Unknown,
        }
    }

    /// Whether large values are of interest first, rather than the begin of the alphabet.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.value, SortKey::Whole(_) | SortKey::Part(_))
    }

    /// The order of two cells of one column.
    pub(crate) fn compare(&self, other: &Self, descending: bool) -> Ordering {
        let turned = |order: Ordering| match descending {
            true => order.reverse(),
            false => order,
        };
        match (self.value, other.value) {
            (SortKey::Unknown, SortKey::Unknown) => Ordering::Equal,
            (SortKey::Unknown, _) => Ordering::Greater,
            (_, SortKey::Unknown) => Ordering::Less,
            (SortKey::Whole(own), SortKey::Whole(its)) => turned(own.cmp(&its)),
            (SortKey::Part(own), SortKey::Part(its)) => turned(own.total_cmp(&its)),
            _ => turned(self.text.to_lowercase().cmp(&other.text.to_lowercase())),
        }
    }
}
