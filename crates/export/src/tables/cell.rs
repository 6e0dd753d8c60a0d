//! The value of one cell.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::Write as _;

use super::Kind;
use crate::json::Json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Signed(i64),
    Unsigned(u64),
}

/// A cell; empty until something is put into it. A text of no length is no value either.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    number: Option<Number>,
    text: Vec<u8>,
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

    /// The bytes of a text, in UTF-8.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Sets the text to a JSON object.
    pub(super) fn object(&mut self, write: impl FnOnce(&mut Json)) {
        let mut json = Json::on(std::mem::take(&mut self.text));
        json.open(b'{');
        write(&mut json);
        json.close(b'}');
        self.text = json.into_bytes();
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
        cell.text.extend_from_slice(self.as_bytes());
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
        // Writing to a Vec cannot fail.
        let _ = cell.text.write_fmt(self);
    }
}
