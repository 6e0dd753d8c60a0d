//! Text tables for terminals: aligned columns, two spaces apart.

use ascend_trace_recording::text::plain;
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

    /// As [`TextTable::with_only_if`].
    pub(crate) fn with_only_if(mut self, title: &str, kept: bool) -> Self {
        self.table = self.table.with_only_if(title, kept);
        self
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.iter()
    }

    pub(crate) fn table(self) -> TextTable {
        self.table
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

/// A number with its thousands apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
    fn a_column_is_there_where_it_is_wanted() {
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
        assert_eq!(count(1), "1");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(0, 0), "-");
    }
}
