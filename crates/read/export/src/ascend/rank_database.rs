//! The databases of a rank: tables and their rows, for a package that can write databases.

use std::fmt::Debug;
use std::io::{self, Write};

use rustc_hash::FxHashMap;

/// A table of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RankTable {
    pub name: &'static str,
    /// Names and types of the columns, as SQL has them.
    pub columns: &'static str,
}

impl RankTable {
    /// How many columns it has.
    pub fn width(&self) -> usize {
        self.columns.split(',').count()
    }
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum RankValue {
    Nothing,
    Whole(i64),
    Real(f64),
    Text(String),
}

impl From<i64> for RankValue {
    fn from(value: i64) -> Self {
        Self::Whole(value)
    }
}

impl From<u32> for RankValue {
    fn from(value: u32) -> Self {
        Self::Whole(value.into())
    }
}

impl From<u64> for RankValue {
    /// Numbers of databases have a sign.
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or_else(|_| Self::Text(value.to_string()), Self::Whole)
    }
}

impl From<f64> for RankValue {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<String> for RankValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for RankValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T: Into<RankValue>> From<Option<T>> for RankValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, T::into)
    }
}

/// Takes the rows of a database.
pub trait RankDatabase {
    /// Adds rows to a table: their values one after another.
    ///
    /// # Errors
    /// When the database cannot take them.
    fn insert(&mut self, table: RankTable, values: &[RankValue]) -> io::Result<()>;

    /// Gives a column of a table another name. Rows may have been added before.
    ///
    /// # Errors
    /// When the database cannot do it.
    fn rename_column(&mut self, table: RankTable, from: &str, to: &str) -> io::Result<()>;

    /// Completes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Makes databases.
pub trait RankDatabases: Debug + Sync {
    /// A database with these tables, which goes to `output`.
    ///
    /// # Errors
    /// When it cannot be made.
    fn create<'w>(
        &self,
        tables: &[RankTable],
        output: Box<dyn Write + 'w>,
    ) -> io::Result<Box<dyn RankDatabase + 'w>>;
}

/// Rows on their way to a database.
pub(super) struct RankRows<'w> {
    database: Box<dyn RankDatabase + 'w>,
    rows: FxHashMap<RankTable, Vec<RankValue>>,
}

impl<'w> RankRows<'w> {
    pub(super) fn new(database: Box<dyn RankDatabase + 'w>) -> Self {
        let rows = FxHashMap::default();
        Self { database, rows }
    }

    pub(super) fn add<const N: usize>(&mut self, table: RankTable, row: [RankValue; N]) {
        debug_assert_eq!(table.width(), N, "{}", table.name);
        self.rows.entry(table).or_default().extend(row);
    }

    /// Hands on the rows until now.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        for (table, values) in &mut self.rows {
            self.database.insert(*table, values)?;
            values.clear();
        }
        Ok(())
    }

    /// Gives a column of a table another name. No rows of the table may follow.
    pub(super) fn rename_column(
        &mut self,
        table: RankTable,
        from: &str,
        to: &str,
    ) -> io::Result<()> {
        self.flush()?;
        self.database.rename_column(table, from, to)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.database.finish()
    }
}
