//! The functions of all inputs: those that are the same have one number.

use std::collections::HashMap;
use std::io::Write;

use crate::rows::{FunctionRow, TablesRow};

use super::{MergeError, MergeTarget};

/// By description of a function.
#[derive(Debug, Default)]
pub(super) struct MergedFunctions {
    numbers: HashMap<String, u16>,
}

impl<W: Write> MergeTarget<W> {
    /// The number of the function that comes next.
    pub(super) fn functions_end(&self) -> u16 {
        u16::try_from(self.functions.numbers.len()).unwrap_or(u16::MAX)
    }

    /// The number of a function, which is described in the file from now on.
    pub(super) fn function(&mut self, row: FunctionRow) -> Result<u16, MergeError> {
        // Names and numbers: there is nothing in it that could fail.
        let key = serde_json::to_string(&row).unwrap_or_default();
        if let Some(number) = self.functions.numbers.get(&key) {
            return Ok(*number);
        }
        let number = u16::try_from(self.functions.numbers.len());
        let number = number.map_err(|_| MergeError::Functions)?;
        self.functions.numbers.insert(key, number);
        self.writer.push_tables(TablesRow {
            first: number,
            functions: vec![row],
            ..TablesRow::default()
        });
        Ok(number)
    }
}
