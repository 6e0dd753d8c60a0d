//! The value of one cell.

use std::borrow::Cow;

use ascend_trace_analysis::columns::Value;

use super::ColumnKind;
use crate::json::JsonText;

/// A cell; empty until a value is put into it. Borrowed values live for all rows of a table that are
/// written at once, `'t`.
#[derive(Debug, Default)]
pub(crate) struct TableCell<'t> {
    held: CellContent<'t>,
    /// Room for an owned text.
    text: String,
}

#[derive(Clone, Copy, Debug, Default)]
enum CellContent<'t> {
    #[default]
    Nothing,
    Signed(i64),
    Unsigned(u64),
    Lent(&'t str),
    Own,
}

/// Value of a cell. An empty text is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellValue<'c> {
    Nothing,
    Signed(i64),
    Unsigned(u64),
    Text(&'c str),
}

impl<'c> CellValue<'c> {
    /// The bits of a number.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only there"))]
    #[inline]
    pub(crate) fn number(self) -> Option<i64> {
        match self {
            Self::Signed(value) => Some(value),
            Self::Unsigned(value) => Some(value as i64),
            _ => None,
        }
    }

    /// Whether a column of this kind can hold it.
    pub(super) fn fits(self, kind: ColumnKind) -> bool {
        match self {
            Self::Nothing => true,
            Self::Signed(_) => kind == ColumnKind::Number,
            Self::Unsigned(_) => kind == ColumnKind::Unsigned,
            Self::Text(_) => matches!(kind, ColumnKind::Word | ColumnKind::Text),
        }
    }

    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only there"))]
    #[inline]
    pub(crate) fn text(self) -> Option<&'c str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<'t> TableCell<'t> {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.held = CellContent::Nothing;
        self.text.clear();
    }

    /// Sets the value of the cell.
    #[inline]
    pub(super) fn put(&mut self, value: impl IntoCell<'t>) {
        value.put(self);
    }

    #[inline]
    pub(super) fn maybe(&mut self, value: Option<impl IntoCell<'t>>) {
        if let Some(value) = value {
            value.put(self);
        }
    }

    /// Sets the value of a declared column.
    pub(super) fn declared(&mut self, value: Value<'_>, kind: ColumnKind) {
        match value {
            Value::Flag(value) => self.put(u32::from(value)),
            Value::Whole(value) => self.put(value),
            Value::Unsigned(value) if kind == ColumnKind::Unsigned => self.put(value),
            Value::Unsigned(value) => self.put(i64::try_from(value).unwrap_or(i64::MAX)),
            Value::Text(text) => self.passing(&text),
            _ => {}
        }
    }

    /// Sets a text that lives as long as the row.
    pub(super) fn passing(&mut self, text: &str) {
        self.held = CellContent::Own;
        self.text.push_str(text);
    }

    /// Sets the text to a JSON object.
    pub(super) fn object(&mut self, write: impl FnOnce(&mut JsonText)) {
        let mut json = JsonText::on(std::mem::take(&mut self.text).into_bytes());
        json.open(b'{');
        write(&mut json);
        json.close(b'}');
        self.text = json.into_string();
        self.held = CellContent::Own;
    }

    #[inline]
    pub(super) fn value(&self) -> CellValue<'_> {
        match self.held {
            CellContent::Nothing => CellValue::Nothing,
            CellContent::Signed(value) => CellValue::Signed(value),
            CellContent::Unsigned(value) => CellValue::Unsigned(value),
            CellContent::Lent("") => CellValue::Nothing,
            CellContent::Lent(text) => CellValue::Text(text),
            CellContent::Own if self.text.is_empty() => CellValue::Nothing,
            CellContent::Own => CellValue::Text(&self.text),
        }
    }
}

/// A value for a cell.
pub(super) trait IntoCell<'t> {
    fn put(self, cell: &mut TableCell<'t>);
}

impl IntoCell<'_> for u64 {
    #[inline]
    fn put(self, cell: &mut TableCell<'_>) {
        cell.held = CellContent::Unsigned(self);
    }
}

impl IntoCell<'_> for i64 {
    #[inline]
    fn put(self, cell: &mut TableCell<'_>) {
        cell.held = CellContent::Signed(self);
    }
}

impl IntoCell<'_> for u32 {
    #[inline]
    fn put(self, cell: &mut TableCell<'_>) {
        i64::from(self).put(cell);
    }
}

impl IntoCell<'_> for u8 {
    #[inline]
    fn put(self, cell: &mut TableCell<'_>) {
        i64::from(self).put(cell);
    }
}

/// A count.
impl IntoCell<'_> for usize {
    fn put(self, cell: &mut TableCell<'_>) {
        i64::try_from(self).unwrap_or(i64::MAX).put(cell);
    }
}

impl<'t> IntoCell<'t> for &'t str {
    #[inline]
    fn put(self, cell: &mut TableCell<'t>) {
        cell.held = CellContent::Lent(self);
    }
}

impl<'t> IntoCell<'t> for &'t String {
    #[inline]
    fn put(self, cell: &mut TableCell<'t>) {
        self.as_str().put(cell);
    }
}

impl IntoCell<'_> for String {
    fn put(self, cell: &mut TableCell<'_>) {
        cell.passing(&self);
    }
}

impl<'t> IntoCell<'t> for Cow<'t, str> {
    #[inline]
    fn put(self, cell: &mut TableCell<'t>) {
        match self {
            Cow::Borrowed(text) => text.put(cell),
            Cow::Owned(text) => cell.passing(&text),
        }
    }
}
