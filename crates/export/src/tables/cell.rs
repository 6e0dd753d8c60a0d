//! The value of one cell.

use std::borrow::Cow;
use std::fmt::{Arguments, Write as _};

use super::Kind;
use crate::json::Json;

/// A cell; empty until a value is put into it. Borrowed values live for all rows of a table that are
/// written at once, `'t`.
#[derive(Debug, Default)]
pub(crate) struct Cell<'t> {
    held: Held<'t>,
    /// Room for an owned text.
    text: String,
}

#[derive(Clone, Copy, Debug, Default)]
enum Held<'t> {
    #[default]
    Nothing,
    Signed(i64),
    Unsigned(u64),
    Lent(&'t str),
    Own,
}

/// Value of a cell. An empty text is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'c> {
    Nothing,
    Signed(i64),
    Unsigned(u64),
    Text(&'c str),
}

impl<'c> Value<'c> {
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
    pub(super) fn fits(self, kind: Kind) -> bool {
        match self {
            Self::Nothing => true,
            Self::Signed(_) => kind == Kind::Number,
            Self::Unsigned(_) => kind == Kind::Unsigned,
            Self::Text(_) => matches!(kind, Kind::Word | Kind::Text),
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

impl<'t> Cell<'t> {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.held = Held::Nothing;
        self.text.clear();
    }

    /// Sets the value of the cell.
    #[inline]
    pub(super) fn put(&mut self, value: impl Put<'t>) {
        value.put(self);
    }

    #[inline]
    pub(super) fn maybe(&mut self, value: Option<impl Put<'t>>) {
        if let Some(value) = value {
            value.put(self);
        }
    }

    /// Appends to a text that lives as long as the row.
    pub(super) fn add(&mut self, text: Arguments<'_>) {
        self.held = Held::Own;
        // Writing to a String cannot fail.
        let _ = self.text.write_fmt(text);
    }

    /// Sets a text that lives as long as the row.
    pub(super) fn passing(&mut self, text: &str) {
        self.held = Held::Own;
        self.text.push_str(text);
    }

    /// Sets the text to a JSON object.
    pub(super) fn object(&mut self, write: impl FnOnce(&mut Json)) {
        let mut json = Json::on(std::mem::take(&mut self.text).into_bytes());
        json.open(b'{');
        write(&mut json);
        json.close(b'}');
        self.text = json.into_string();
        self.held = Held::Own;
    }

    #[inline]
    pub(super) fn value(&self) -> Value<'_> {
        match self.held {
            Held::Nothing => Value::Nothing,
            Held::Signed(value) => Value::Signed(value),
            Held::Unsigned(value) => Value::Unsigned(value),
            Held::Lent("") => Value::Nothing,
            Held::Lent(text) => Value::Text(text),
            Held::Own if self.text.is_empty() => Value::Nothing,
            Held::Own => Value::Text(&self.text),
        }
    }
}

/// A value for a cell.
pub(super) trait Put<'t> {
    fn put(self, cell: &mut Cell<'t>);
}

impl Put<'_> for u64 {
    #[inline]
    fn put(self, cell: &mut Cell<'_>) {
        cell.held = Held::Unsigned(self);
    }
}

impl Put<'_> for i64 {
    #[inline]
    fn put(self, cell: &mut Cell<'_>) {
        cell.held = Held::Signed(self);
    }
}

impl Put<'_> for u32 {
    #[inline]
    fn put(self, cell: &mut Cell<'_>) {
        i64::from(self).put(cell);
    }
}

impl Put<'_> for u8 {
    #[inline]
    fn put(self, cell: &mut Cell<'_>) {
        i64::from(self).put(cell);
    }
}

/// A count.
impl Put<'_> for usize {
    fn put(self, cell: &mut Cell<'_>) {
        i64::try_from(self).unwrap_or(i64::MAX).put(cell);
    }
}

impl<'t> Put<'t> for &'t str {
    #[inline]
    fn put(self, cell: &mut Cell<'t>) {
        cell.held = Held::Lent(self);
    }
}

impl<'t> Put<'t> for &'t String {
    #[inline]
    fn put(self, cell: &mut Cell<'t>) {
        self.as_str().put(cell);
    }
}

impl Put<'_> for String {
    fn put(self, cell: &mut Cell<'_>) {
        cell.passing(&self);
    }
}

impl<'t> Put<'t> for Cow<'t, str> {
    #[inline]
    fn put(self, cell: &mut Cell<'t>) {
        match self {
            Cow::Borrowed(text) => text.put(cell),
            Cow::Owned(text) => cell.passing(&text),
        }
    }
}
