//! The value of one cell.

use std::borrow::Cow;
use std::fmt::{Arguments, Write as _};

use super::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Signed(i64),
    Unsigned(u64),
}

/// A cell; empty until something is put into it. A text of no length is no value either.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    number: Option<Number>,
    text: String,
}

impl Cell {
    pub(super) fn clear(&mut self) {
        self.number = None;
        self.text.clear();
    }

    /// Sets a number; adds to a text.
    pub(super) fn put(&mut self, value: impl Put) {
        value.put(self);
    }

    pub(super) fn maybe(&mut self, value: Option<impl Put>) {
        if let Some(value) = value {
            value.put(self);
        }
    }

    pub(crate) fn number(&self) -> Option<Number> {
        self.number
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether a column of this kind can hold it.
    pub(super) fn fits(&self, kind: Kind) -> bool {
        match (kind, self.number) {
            (Kind::Text, number) => number.is_none(),
            (Kind::Number, Some(Number::Unsigned(_))) => false,
            (Kind::Unsigned, Some(Number::Signed(_))) => false,
            (Kind::Number | Kind::Unsigned, _) => self.text.is_empty(),
        }
    }
}

/// What a cell can hold.
pub(super) trait Put {
    fn put(self, cell: &mut Cell);
}

impl Put for u64 {
    fn put(self, cell: &mut Cell) {
        cell.number = Some(Number::Unsigned(self));
    }
}

impl Put for i64 {
    fn put(self, cell: &mut Cell) {
        cell.number = Some(Number::Signed(self));
    }
}

impl Put for u32 {
    fn put(self, cell: &mut Cell) {
        i64::from(self).put(cell);
    }
}

impl Put for u8 {
    fn put(self, cell: &mut Cell) {
        i64::from(self).put(cell);
    }
}

/// A count.
impl Put for usize {
    fn put(self, cell: &mut Cell) {
        i64::try_from(self).unwrap_or(i64::MAX).put(cell);
    }
}

impl Put for &str {
    fn put(self, cell: &mut Cell) {
        cell.text.push_str(self);
    }
}

impl Put for &String {
    fn put(self, cell: &mut Cell) {
        self.as_str().put(cell);
    }
}

impl Put for String {
    fn put(self, cell: &mut Cell) {
        self.as_str().put(cell);
    }
}

impl Put for Cow<'_, str> {
    fn put(self, cell: &mut Cell) {
        self.as_ref().put(cell);
    }
}

impl Put for Arguments<'_> {
    fn put(self, cell: &mut Cell) {
        // Writing to a String cannot fail.
        let _ = cell.text.write_fmt(self);
    }
}
