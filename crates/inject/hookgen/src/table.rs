//! Tab-separated tables with a title row.

use crate::error::Error;

/// The cells of one row that the caller asked for, in the order asked.
pub(crate) struct TableRow<'a, const N: usize> {
    table: &'static str,
    line: usize,
    pub(crate) cells: [&'a str; N],
}

impl<const N: usize> TableRow<'_, N> {
    /// An error about this row.
    pub(crate) fn error(&self, problem: impl Into<String>) -> Error {
        Error::Table {
            table: self.table,
            line: self.line,
            problem: problem.into(),
        }
    }
}

/// Reads the named columns of a table. Further columns are ignored, so tables may grow.
pub(crate) fn parse<'a, const N: usize>(
    table: &'static str,
    text: &'a str,
    columns: [&str; N],
) -> Result<Vec<TableRow<'a, N>>, Error> {
    let mut lines = text.lines().enumerate();
    let titles: Vec<&str> = lines
        .next()
        .map(|(_, line)| line.split('\t').collect())
        .unwrap_or_default();
    let mut indices = [0; N];
    for (index, column) in indices.iter_mut().zip(columns) {
        *index = titles
            .iter()
            .position(|title| *title == column)
            .ok_or_else(|| Error::Table {
                table,
                line: 1,
                problem: format!("no column `{column}`"),
            })?;
    }
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| {
            let cells: Vec<&str> = line.split('\t').collect();
            if cells.len() != titles.len() {
                let problem = format!("{} cells, expected {}", cells.len(), titles.len());
                return Err(Error::Table {
                    table,
                    line: number + 1,
                    problem,
                });
            }
            Ok(TableRow {
                table,
                line: number + 1,
                cells: indices.map(|index| cells[index].trim()),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_title_in_any_order() {
        let rows = parse("t", "a\tb\tc\n1\t2\t3\n4\t5\t6\n", ["c", "a"]).unwrap();
        assert_eq!(rows[0].cells, ["3", "1"]);
        assert_eq!(rows[1].cells, ["6", "4"]);
    }

    #[test]
    fn a_missing_column_and_a_short_row_are_named() {
        let missing = parse("t", "a\tb\n", ["x"]).err().unwrap();
        assert_eq!(missing.to_string(), "t, line 1: no column `x`");
        let short = parse("t", "a\tb\n1\t2\n3\n", ["a"]).err().unwrap();
        assert_eq!(short.to_string(), "t, line 3: 1 cells, expected 2");
    }
}
