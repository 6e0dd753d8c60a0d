//! The tables of a trace for stores of rows in other packages, such as databases.
//!
//! A store gets the heads of all tables first, then rows of any table in any order, and facts about the recording at the
//! end. The columns and their values are those of [`crate::trace_tables`].

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use ascend_trace_recording::Trace;

use crate::fields::write_recording;
use crate::json::JsonText;
use crate::trace_facts::ExportTotals;
use crate::trace_tables::{
    CellValue, ColumnKind, TableCell, TableColumn, TableExport, TableId, TableWriter,
};
use crate::{ExportPass, ExportSource};

/// A table that a store holds.
#[derive(Clone, Debug)]
pub struct StoredTable {
    pub name: &'static str,
    pub columns: Vec<(&'static str, ColumnKind)>,
}

impl StoredTable {
    /// All tables, in the order of the document.
    pub fn all() -> Vec<Self> {
        let tables = TableId::ALL.into_iter().zip(TableId::NAMES);
        let tables = tables.map(|(table, name)| Self {
            name,
            columns: table.columns(),
        });
        tables.collect()
    }
}

/// A function that a recording knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    pub name: String,
    /// What calls of it mean for streams, events and the host.
    pub role: &'static str,
}

/// Takes the rows of all tables.
pub trait RowStore {
    /// Begins to add rows to the table of this name.
    ///
    /// # Errors
    /// When the store cannot take them.
    fn rows<'b>(&'b mut self, table: &'static str) -> io::Result<Box<dyn RowBatch + 'b>>;

    /// There are no more rows. `about` is a JSON object with facts about the recording.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn end(&mut self, about: &str, functions: &[FunctionRow]) -> io::Result<()>;
}

/// Takes rows of one table, cell by cell in the order of the columns.
pub trait RowBatch {
    /// # Errors
    /// When the store cannot take the value.
    fn cell(&mut self, value: CellValue<'_>) -> io::Result<()>;

    /// # Errors
    /// When the store cannot take the row.
    fn end_row(&mut self) -> io::Result<()>;
}

/// Begins an export of all tables to a store.
pub fn begin_rows<'w>(store: impl RowStore + 'w) -> Box<dyn ExportPass<'w> + 'w> {
    let store = Rc::new(RefCell::new(store));
    let tables = TableExport::of(TableId::ALL, |table| {
        let store = Rc::clone(&store);
        Ok::<_, std::convert::Infallible>(StoredRows { table, store })
    });
    match tables {
        Ok(tables) => Box::new(tables),
        Err(never) => match never {},
    }
}

/// Facts about the recording as a whole, as in the other formats: a JSON object.
pub(crate) fn description(source: &ExportSource<'_>, facts: &ExportTotals) -> String {
    let mut json = JsonText::default();
    json.open(b'{');
    write_recording(&mut json, source, facts);
    json.close(b'}');
    json.into_string()
}

/// The rows of one table on their way to the store.
struct StoredRows<S> {
    table: TableId,
    store: Rc<RefCell<S>>,
}

impl<S: RowStore> TableWriter for StoredRows<S> {
    fn rows<R>(&mut self, columns: &[TableColumn<'_, R>], rows: &[R]) -> io::Result<()> {
        let mut store = self.store.borrow_mut();
        let mut batch = store.rows(self.table.name())?;
        let mut cell = TableCell::default();
        for row in rows {
            for column in columns {
                batch.cell(column.fill(row, &mut cell))?;
            }
            batch.end_row()?;
        }
        Ok(())
    }

    fn end(&mut self, source: &ExportSource<'_>, facts: &ExportTotals) -> io::Result<()> {
        if TableId::ALL.last() == Some(&self.table) {
            let about = description(source, facts);
            let functions = functions(source.trace);
            self.store.borrow_mut().end(&about, &functions)?;
        }
        Ok(())
    }
}

fn functions(trace: &Trace) -> Vec<FunctionRow> {
    let functions = trace.functions().iter();
    let functions = functions.map(|it| FunctionRow {
        name: it.name.clone(),
        role: it.role.name(),
    });
    functions.collect()
}
