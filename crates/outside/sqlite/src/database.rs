//! A database in a temporary file.
//!
//! SQLite writes at any place of its file, but an export only appends to its writer. So the database is a temporary
//! file until it is complete. Then it is copied to the writer.

use std::fs::File;
use std::io::{self, Write};

use ascend_trace_export::{ColumnKind, StoredTable};
use rusqlite::{Connection, Error};
use tempfile::NamedTempFile;

/// A failed export leaves no database, so nothing has to be undone or to survive a crash of the host. Sorting needs
/// room: it takes place in files.
const SETTINGS: &str = "
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA temp_store = FILE;
    PRAGMA cache_size = -16384;
";

/// A database that is being written, in one transaction.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    file: NamedTempFile,
}

pub(crate) fn failed(error: Error) -> io::Error {
    io::Error::other(error)
}

impl Database {
    /// An empty database.
    pub(crate) fn new() -> io::Result<Self> {
        let file = NamedTempFile::with_prefix("ascend-trace-")?;
        let connection = Connection::open(file.path()).map_err(failed)?;
        let database = Self { connection, file };
        database.run(SETTINGS)?;
        database.run("BEGIN")?;
        Ok(database)
    }

    /// Runs statements that return no rows.
    pub(crate) fn run(&self, statements: &str) -> io::Result<()> {
        self.connection.execute_batch(statements).map_err(failed)
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Makes a table without rows. `schema` is empty, or `temp.` for one that is not part of the result.
    pub(crate) fn add_table(&self, schema: &str, table: &StoredTable) -> io::Result<()> {
        let columns = table.columns.iter();
        let columns: Vec<_> = columns
            .map(|(name, kind)| format!("\"{name}\" {}", stored_type(*kind)))
            .collect();
        let (name, columns) = (table.name, columns.join(", "));
        self.run(&format!("CREATE TABLE {schema}\"{name}\" ({columns})"))
    }

    /// Ends the transaction, and writes the whole file.
    pub(crate) fn copy_to(self, output: &mut dyn Write) -> io::Result<()> {
        self.run("COMMIT")?;
        self.connection
            .close()
            .map_err(|(_, error)| failed(error))?;
        let mut file = File::open(self.file.path())?;
        io::copy(&mut file, output)?;
        output.flush()
    }
}

/// SQLite has no unsigned numbers. A column without a type keeps a larger number as text, with all digits.
fn stored_type(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Number => "INTEGER",
        ColumnKind::Unsigned => "",
        ColumnKind::Word | ColumnKind::Text => "TEXT",
    }
}
