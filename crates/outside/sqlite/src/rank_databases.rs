//! The databases in the folders of `--format ascend`.

use std::io::{self, Write};

use ascend_trace_export::{Ascend, RankDatabase, RankDatabases, RankTable, RankValue};
use rusqlite::types::Null;

use crate::database::{Database, failed};

/// The exporter for `--format ascend`, with databases.
pub static ASCEND: Ascend = Ascend::with_databases(&SqliteDatabases);

/// Makes SQLite databases.
#[derive(Clone, Copy, Debug)]
struct SqliteDatabases;

impl RankDatabases for SqliteDatabases {
    fn create<'w>(
        &self,
        tables: &[RankTable],
        output: Box<dyn Write + 'w>,
    ) -> io::Result<Box<dyn RankDatabase + 'w>> {
        let database = Database::new()?;
        for RankTable { name, columns } in tables {
            database.run(&format!("CREATE TABLE {name} ({columns})"))?;
        }
        Ok(Box::new(SqliteRank { database, output }))
    }
}

/// A database of a rank.
struct SqliteRank<'w> {
    database: Database,
    output: Box<dyn Write + 'w>,
}

impl RankDatabase for SqliteRank<'_> {
    fn insert(&mut self, table: RankTable, values: &[RankValue]) -> io::Result<()> {
        let width = table.width();
        let places = vec!["?"; width].join(", ");
        let insert = format!("INSERT INTO {} VALUES ({places})", table.name);
        let mut statement = self
            .database
            .connection()
            .prepare(&insert)
            .map_err(failed)?;
        for row in values.chunks_exact(width) {
            for (place, value) in (1..).zip(row) {
                match value {
                    RankValue::Nothing => statement.raw_bind_parameter(place, Null),
                    RankValue::Whole(value) => statement.raw_bind_parameter(place, value),
                    RankValue::Real(value) => statement.raw_bind_parameter(place, value),
                    RankValue::Text(text) => statement.raw_bind_parameter(place, text),
                }
                .map_err(failed)?;
            }
            statement.raw_execute().map_err(failed)?;
        }
        Ok(())
    }

    fn rename_column(&mut self, table: RankTable, from: &str, to: &str) -> io::Result<()> {
        let table = table.name;
        self.database
            .run(&format!("ALTER TABLE {table} RENAME COLUMN {from} TO {to}"))
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let Self {
            database,
            mut output,
        } = *self;
        database.copy_to(&mut *output)
    }
}
