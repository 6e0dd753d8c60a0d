//! Text tables for terminals: aligned columns, two spaces apart.

use std::collections::BTreeMap;

use ascend_trace_analysis::columns::{Column, Style, TableRow};
use ascend_trace_recording::Trace;
use ascend_trace_recording::text::plain;
pub(crate) use ascend_trace_recording::units::thousands as count;
use unicode_width::UnicodeWidthStr;

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextAlign {
    Left,
    Right,
}

/// Rows of a table, column by column: title, and cell of a row.
pub(crate) struct TableRows<T> {
    rows: Vec<T>,
    table: TextTable,
}

impl<T> TableRows<T> {
    pub(crate) fn of(rows: impl IntoIterator<Item = T>) -> Self {
        let rows: Vec<T> = rows.into_iter().collect();
        let table = TextTable {
            columns: Vec::new(),
            rows: rows.iter().map(|_| Vec::new()).collect(),
        };
        Self { rows, table }
    }

    /// A column of texts.
    pub(crate) fn left<S: ToString>(self, title: &'static str, cell: impl Fn(&T) -> S) -> Self {
        self.column(title, TextAlign::Left, &|row| cell(row).to_string())
    }

    /// A column of numbers.
    pub(crate) fn right<S: ToString>(self, title: &'static str, cell: impl Fn(&T) -> S) -> Self {
        self.column(title, TextAlign::Right, &|row| cell(row).to_string())
    }

    /// One function for all columns of a type of rows: there are hundreds of columns.
    fn column(
        mut self,
        title: &'static str,
        align: TextAlign,
        cell: &dyn Fn(&T) -> String,
    ) -> Self {
        self.table.columns.push((title, align));
        for (row, cells) in self.rows.iter().zip(&mut self.table.rows) {
            // Names come from the traced program.
            cells.push(plain(&cell(row)).into_owned());
        }
        self
    }

    pub(crate) fn table(self) -> TextTable {
        self.table
    }
}

/// The table of rows with declared columns. Timestamps are counted from `begin`.
pub(crate) fn declared<'r, R: TableRow>(
    rows: impl IntoIterator<Item = &'r R>,
    begin: i64,
) -> TextTable {
    let mut table = TableRows::of(rows);
    for column in R::columns().filter(|it| it.is_in_text) {
        let is_of_use = column.is_of_use;
        if is_of_use.is_some_and(|is_of_use| !table.rows.iter().any(|it| is_of_use(it))) {
            continue;
        }
        let align = match column.kind.is_left() {
            true => TextAlign::Left,
            false => TextAlign::Right,
        };
        table = table.column(column.title, align, &|row| cell(column, row, begin));
    }
    table.table()
}

/// The text of a declared column in a row. The title has the sign of percent, or the cell.
fn cell<R: TableRow>(column: &Column<R>, row: &R, begin: i64) -> String {
    let style = Style {
        count,
        unknown: "–",
        percent: if column.title.ends_with('%') {
            ""
        } else {
            " %"
        },
    };
    column.write(&(column.value)(row), begin, &style)
}

/// The ranks of processes in a distributed run, by number in the recording.
#[derive(Debug, Default)]
pub(crate) struct ProcessRanks(BTreeMap<u32, u64>);

impl ProcessRanks {
    pub(crate) fn of(ranks: impl IntoIterator<Item = (u32, Option<u64>)>) -> Self {
        let ranks = ranks.into_iter();
        Self(
            ranks
                .filter_map(|(process, rank)| Some((process, rank?)))
                .collect(),
        )
    }

    pub(crate) fn of_trace(trace: &Trace) -> Self {
        let processes = trace.processes().iter();
        Self::of(processes.map(|process| (process.serial, process.rank_number())))
    }
}

/// A table, ready to be written.
pub(crate) struct TextTable {
    columns: Vec<(&'static str, TextAlign)>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// The same without the column of this title, unless it is `kept`.
    pub(crate) fn with_only_if(mut self, title: &str, kept: bool) -> Self {
        let place = self.columns.iter().position(|column| column.0 == title);
        if let Some(place) = place.filter(|_| !kept) {
            self.columns.remove(place);
            for row in &mut self.rows {
                row.remove(place);
            }
        }
        self
    }

    /// The same with another title for the column of this one.
    pub(crate) fn retitled(mut self, title: &str, other: &'static str) -> Self {
        let titles = self.columns.iter_mut().filter(|it| it.0 == title);
        titles.for_each(|it| it.0 = other);
        self
    }

    /// The same with the rank of each process next to its number. Nothing changes where no process has a rank.
    pub(crate) fn with_ranks(mut self, ranks: &ProcessRanks) -> Self {
        let place = self.columns.iter().position(|column| column.0 == "process");
        let has_ranks = self.columns.iter().any(|column| column.0 == "rank");
        if let Some(place) = place.filter(|_| !has_ranks && !ranks.0.is_empty()) {
            self.columns.insert(place + 1, ("rank", TextAlign::Right));
            for row in &mut self.rows {
                let process = row.get(place).and_then(|cell| cell.parse().ok());
                let rank = process.and_then(|process: u32| ranks.0.get(&process));
                let cell = rank.map_or_else(|| "–".to_owned(), u64::to_string);
                row.insert(place + 1, cell);
            }
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text, one line per row, indented by `indent` spaces.
    pub(crate) fn render(&self, indent: usize) -> String {
        let widths = self.widths();
        let titles: Vec<String> = self.columns.iter().map(|it| it.0.to_owned()).collect();
        let mut text = String::new();
        for row in std::iter::once(&titles).chain(&self.rows) {
            let mut line = " ".repeat(indent);
            for ((cell, width), (_, align)) in row.iter().zip(&widths).zip(&self.columns) {
                let gap = " ".repeat(width - cell.width());
                match align {
                    TextAlign::Left => line.extend([cell.as_str(), &gap]),
                    TextAlign::Right => line.extend([gap.as_str(), cell]),
                }
                line.push_str("  ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let width = |index: usize, title: &str| {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            cells
                .map(|cell| cell.width())
                .chain([title.width()])
                .max()
                .unwrap_or(0)
        };
        let columns = self.columns.iter().enumerate();
        columns
            .map(|(index, (title, _))| width(index, title))
            .collect()
    }
}

/// A share of a whole, in percent.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    format!("{:.1} %", part as f64 * 100.0 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_space() {
        let table = TableRows::of([("aclInit", 1, ""), ("aclrtMemcpyAsync", 250, "x")])
            .left("name", |it| it.0)
            .right("n", |it| it.1)
            .left("", |it| it.2)
            .table();
        assert_eq!(
            table.render(1),
            " name                n\n aclInit             1\n aclrtMemcpyAsync  250  x\n"
        );
    }

    #[test]
    fn wide_characters_take_two_cells() {
        let rows = TableRows::of([("矩阵乘法", 1), ("matmul", 2)]);
        let table = rows.left("name", |it| it.0).right("n", |it| it.1).table();
        assert_eq!(table.render(0), "name      n\n矩阵乘法  1\nmatmul    2\n");
    }

    #[test]
    fn a_column_appears_only_in_tables_that_want_it() {
        let table = |kept| {
            let rows = TableRows::of([(1, 77)]).right("process", |it| it.0);
            rows.right("pid", |it| it.1)
                .table()
                .with_only_if("process", kept)
        };
        assert_eq!(table(true).render(0), "process  pid\n      1   77\n");
        assert_eq!(table(false).render(0), "pid\n 77\n");
    }

    #[test]
    fn names_cannot_command_the_terminal() {
        let rows = TableRows::of(["a\x1b]0;x\x07b\nc"]);
        let table = rows.left("name", |it| *it).table();
        assert_eq!(table.render(0), "name\na\\u{1b}]0;x\\u{7}b\\nc\n");
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(0, 0), "-");
    }

    #[test]
    fn ranks_stand_next_to_processes() {
        let table = || {
            let rows = TableRows::of([(1, 77), (2, 78)]);
            rows.right("process", |it| it.0).right("pid", |it| it.1)
        };
        let ranks = ProcessRanks::of([(1, Some(5)), (2, None)]);
        let expected = "process  rank  pid\n      1     5   77\n      2     –   78\n";
        assert_eq!(table().table().with_ranks(&ranks).render(0), expected);
        let none = ProcessRanks::of([(1, None)]);
        let plain = table().table().render(0);
        assert_eq!(table().table().with_ranks(&none).render(0), plain);
    }
}
