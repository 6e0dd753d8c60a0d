//! The formats of databases.

use ascend_trace_export::{
    ExportError, ExportPass, ExportSink, Exporter, OutputLayout, begin_rows,
};

use crate::store::DatabaseStore;

/// A format: the tables of a trace, and statements that finish the database.
#[derive(Clone, Copy, Debug)]
pub struct SqliteFormat {
    name: &'static str,
    extension: &'static str,
    /// Where the tables of a trace are: in the result, or only until it is finished.
    pub(crate) schema: &'static str,
    pub(crate) ending: &'static str,
}

/// The exporter for `--format sqlite`.
pub static SQLITE: SqliteFormat = SqliteFormat {
    name: "sqlite",
    extension: "sqlite",
    schema: "",
    ending: include_str!("views.sql"),
};

/// The exporter for `--format nsys-sqlite`.
pub static NSYS: SqliteFormat = SqliteFormat {
    name: "nsys-sqlite",
    extension: "nsys.sqlite",
    schema: "temp.",
    ending: include_str!("nsys.sql"),
};

impl Exporter for SqliteFormat {
    fn name(&self) -> &'static str {
        self.name
    }

    fn layout(&self) -> OutputLayout {
        OutputLayout::File {
            extension: self.extension,
        }
    }

    fn has_slices(&self) -> bool {
        false
    }

    fn begin<'w>(
        &self,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError> {
        let output = sink.open("").map_err(|error| ExportError::Open {
            name: String::new(),
            error,
        })?;
        Ok(begin_rows(DatabaseStore::new(*self, output)?))
    }
}
