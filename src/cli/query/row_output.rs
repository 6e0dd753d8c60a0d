//! The rows of a result as text, as comma-separated values, or as JSON: written while they arrive.

use std::io::{self, BufWriter, Stdout, Write};

use anyhow::Context;
use serde_json::Value as Json;
use unicode_width::UnicodeWidthStr;

use ascend_trace_format::version::JSON_SCHEMA_VERSION;
use ascend_trace_query::{Column, Value};
use ascend_trace_recording::text::{is_formula, plain};

use super::QueryArgs;

/// Rows by which the widths of columns are decided.
const SAMPLE: usize = 2_000;

/// Nobody reads the rows any more, such as after `head`.
#[derive(Debug, thiserror::Error)]
#[error("the output has no reader")]
pub(super) struct ReaderGone;

/// One of the forms.
pub(super) struct RowFormat {
    columns: Vec<Column>,
    shape: FormatKind,
    to: BufWriter<Stdout>,
    rows: u64,
}

enum FormatKind {
    /// The rows until the widths are decided, and then the widths.
    Text(Vec<Vec<String>>, Option<Vec<usize>>),
    Csv,
    Json,
}

impl RowFormat {
    pub(super) fn new(args: &QueryArgs, columns: Vec<Column>) -> Self {
        Self {
            columns,
            shape: match () {
                () if args.json => FormatKind::Json,
                () if args.csv => FormatKind::Csv,
                () => FormatKind::Text(Vec::new(), None),
            },
            to: BufWriter::new(io::stdout()),
            rows: 0,
        }
    }

    pub(super) fn row(&mut self, cells: &[Value]) -> anyhow::Result<()> {
        let written = self.write(cells);
        self.rows += 1;
        settled(written)
    }

    /// The text after the last row.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        let ended = self.end().and_then(|()| self.to.flush());
        match settled(ended) {
            Err(error) if error.is::<ReaderGone>() => Ok(()),
            ended => ended,
        }
    }

    fn write(&mut self, cells: &[Value]) -> io::Result<()> {
        match &mut self.shape {
            FormatKind::Json => {
                self.begin_json()?;
                let row = self.columns.iter().zip(cells);
                let row: serde_json::Map<String, Json> = row
                    .map(|(column, cell)| (column.name.clone(), json(cell)))
                    .collect();
                serde_json::to_writer(&mut self.to, &row)?;
                Ok(())
            }
            FormatKind::Csv => {
                self.begin_csv()?;
                let cells: Vec<String> = cells.iter().map(csv).collect();
                writeln!(self.to, "{}", cells.join(","))
            }
            FormatKind::Text(waiting, None) => {
                waiting.push(cells.iter().map(text).collect());
                match waiting.len() < SAMPLE {
                    true => Ok(()),
                    false => self.begin_text(),
                }
            }
            FormatKind::Text(_, Some(widths)) => {
                let cells: Vec<String> = cells.iter().map(text).collect();
                line(&mut self.to, &self.columns, widths, &cells)
            }
        }
    }

    fn end(&mut self) -> io::Result<()> {
        match &self.shape {
            FormatKind::Text(_, None) => self.begin_text(),
            FormatKind::Text(..) => Ok(()),
            FormatKind::Csv => self.begin_csv(),
            FormatKind::Json => {
                if self.rows == 0 {
                    self.head_of_json()?;
                }
                self.to.write_all(b"\n]}\n")
            }
        }
    }

    fn begin_json(&mut self) -> io::Result<()> {
        match self.rows {
            0 => {
                self.head_of_json()?;
                self.to.write_all(b"\n")
            }
            _ => self.to.write_all(b",\n"),
        }
    }

    fn head_of_json(&mut self) -> io::Result<()> {
        let columns: Vec<&str> = self.columns.iter().map(|it| it.name.as_str()).collect();
        write!(
            self.to,
            "{{\"schema\":\"ascend-trace/query\",\"version\":{JSON_SCHEMA_VERSION},\"columns\":{},\"rows\":[",
            Json::from(columns)
        )
    }

    fn begin_csv(&mut self) -> io::Result<()> {
        if self.rows > 0 {
            return Ok(());
        }
        let names: Vec<String> = self.columns.iter().map(|it| quoted(&it.name)).collect();
        writeln!(self.to, "{}", names.join(","))
    }

    /// Decides the widths, and writes the rows that have waited for that.
    fn begin_text(&mut self) -> io::Result<()> {
        let FormatKind::Text(waiting, widths) = &mut self.shape else {
            return Ok(());
        };
        let names: Vec<String> = self.columns.iter().map(|it| it.name.clone()).collect();
        let rows = std::mem::take(waiting);
        let width = |place: usize| {
            let cells = rows.iter().filter_map(|row| row.get(place));
            let widest = cells.map(|cell| cell.width()).max().unwrap_or(0);
            widest.max(names[place].width())
        };
        let widths = widths.insert((0..names.len()).map(width).collect());
        for row in std::iter::once(&names).chain(&rows) {
            line(&mut self.to, &self.columns, widths, row)?;
        }
        Ok(())
    }
}

/// A write that failed because the reader has closed the pipe is no error.
fn settled(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(ReaderGone.into()),
        written => written.context("cannot write to standard output"),
    }
}

fn line(
    to: &mut impl Write,
    columns: &[Column],
    widths: &[usize],
    cells: &[String],
) -> io::Result<()> {
    let mut text = String::new();
    for ((cell, width), column) in cells.iter().zip(widths).zip(columns) {
        let gap = " ".repeat(width.saturating_sub(cell.width()));
        match column.is_number {
            true => text.extend([gap.as_str(), cell]),
            false => text.extend([cell.as_str(), &gap]),
        }
        text.push_str("  ");
    }
    writeln!(to, "{}", text.trim_end())
}

/// A cell for people: texts come from the traced program, and must not command the terminal.
fn text(cell: &Value) -> String {
    match cell {
        Value::Null => "-".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Unsigned(value) => value.to_string(),
        Value::Float(value) if *value != 0.0 && value.abs() < 0.01 => format!("{value:.6}"),
        Value::Float(value) => format!("{value:.3}"),
        Value::Text(value) => plain(value).into_owned(),
    }
}

/// A cell for programs. A text that a spreadsheet would compute has an apostrophe before it, as in exports.
fn csv(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::Text(value) if is_formula(value) || value.starts_with('\'') => {
            quoted(&format!("'{value}"))
        }
        Value::Text(value) => quoted(value),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Unsigned(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn json(cell: &Value) -> Json {
    match cell {
        Value::Null => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Integer(value) => (*value).into(),
        Value::Unsigned(value) => (*value).into(),
        // A value that is no number in JSON is null.
        Value::Float(value) => (*value).into(),
        Value::Text(value) => value.as_str().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_for_people_and_for_programs() {
        assert_eq!(text(&Value::Float(0.123_456)), "0.123");
        assert_eq!(text(&Value::Float(0.000_123)), "0.000123");
        assert_eq!(text(&Value::Text("a\x1b[0m".to_owned())), "a\\u{1b}[0m");
        assert_eq!(csv(&Value::Text("a,\"b\"".to_owned())), "\"a,\"\"b\"\"\"");
        assert_eq!(csv(&Value::Text("=1+1".to_owned())), "'=1+1");
        assert_eq!(csv(&Value::Integer(-3)), "-3");
        assert_eq!(json(&Value::Float(f64::NAN)), Json::Null);
        assert_eq!(json(&Value::Unsigned(u64::MAX)), Json::from(u64::MAX));
    }
}
