//! The tables of a trace in a database.

use std::io::{self, Write};

use ascend_trace_export::{CellValue, FunctionRow, RowBatch, RowStore, StoredTable};
use rusqlite::{Statement, params};

use crate::database::{Database, failed};
use crate::database_format::SqliteFormat;

/// Where facts about the recording are, and the functions that it knows.
const EXTRA_TABLES: &str = "
    CREATE TABLE {schema}recording (about TEXT NOT NULL);
    CREATE TABLE {schema}functions (name TEXT NOT NULL, role TEXT NOT NULL);
";

/// A database on its way to the file of an export.
pub(crate) struct DatabaseStore<'w> {
    /// Taken at the end.
    database: Option<Database>,
    format: SqliteFormat,
    tables: Vec<StoredTable>,
    output: Box<dyn Write + 'w>,
}

impl<'w> DatabaseStore<'w> {
    pub(crate) fn new(format: SqliteFormat, output: Box<dyn Write + 'w>) -> io::Result<Self> {
        let database = Database::new()?;
        let tables = StoredTable::all();
        for table in &tables {
            database.add_table(format.schema, table)?;
        }
        database.run(&EXTRA_TABLES.replace("{schema}", format.schema))?;
        Ok(Self {
            database: Some(database),
            format,
            tables,
            output,
        })
    }

    fn database(&self) -> io::Result<&Database> {
        let database = self.database.as_ref();
        database.ok_or_else(|| io::Error::other("the database has been written"))
    }
}

impl RowStore for DatabaseStore<'_> {
    fn rows<'b>(&'b mut self, table: &'static str) -> io::Result<Box<dyn RowBatch + 'b>> {
        let head = self.tables.iter().find(|it| it.name == table);
        let columns = head.map_or(0, |it| it.columns.len());
        let places = vec!["?"; columns].join(", ");
        let schema = self.format.schema;
        let insert = format!("INSERT INTO {schema}\"{table}\" VALUES ({places})");
        let statement = self.database()?.connection().prepare(&insert);
        Ok(Box::new(DatabaseRows {
            statement: statement.map_err(failed)?,
            place: 0,
        }))
    }

    fn end(&mut self, about: &str, functions: &[FunctionRow]) -> io::Result<()> {
        let database = self.database()?;
        let (connection, schema) = (database.connection(), self.format.schema);
        let insert = format!("INSERT INTO {schema}recording VALUES (?)");
        connection.execute(&insert, [about]).map_err(failed)?;
        let insert = format!("INSERT INTO {schema}functions VALUES (?, ?)");
        let mut insert = connection.prepare(&insert).map_err(failed)?;
        for function in functions {
            let row = params![function.name, function.role];
            insert.execute(row).map_err(failed)?;
        }
        drop(insert);
        database.run(self.format.ending)?;
        match self.database.take() {
            Some(database) => database.copy_to(&mut *self.output),
            None => Ok(()),
        }
    }
}

/// Rows for one table.
struct DatabaseRows<'d> {
    statement: Statement<'d>,
    /// Counts the cells of the row.
    place: usize,
}

impl RowBatch for DatabaseRows<'_> {
    fn cell(&mut self, value: CellValue<'_>) -> io::Result<()> {
        self.place += 1;
        let (statement, place) = (&mut self.statement, self.place);
        let bound = match value {
            CellValue::Nothing => statement.raw_bind_parameter(place, rusqlite::types::Null),
            CellValue::Signed(value) => statement.raw_bind_parameter(place, value),
            CellValue::Text(text) => statement.raw_bind_parameter(place, text),
            CellValue::Unsigned(value) => match i64::try_from(value) {
                Ok(value) => statement.raw_bind_parameter(place, value),
                Err(_) => statement.raw_bind_parameter(place, value.to_string()),
            },
        };
        bound.map_err(failed)
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.place = 0;
        self.statement.raw_execute().map_err(failed)?;
        Ok(())
    }
}
