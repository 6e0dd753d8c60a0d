//! `findings`: one row per finding of a check, the worst first.

use std::io;

use ascend_trace_analysis::checks::Finding;

use super::{TableColumn, TableWriter, declared, write_table};

pub(super) fn columns() -> Vec<TableColumn<'static, Finding>> {
    declared(|row| row)
}

pub(super) fn write(found: Vec<Finding>, writer: &mut impl TableWriter) -> io::Result<()> {
    write_table(writer, &columns(), found.into_iter())
}
