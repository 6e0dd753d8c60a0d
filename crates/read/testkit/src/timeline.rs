//! From the text of a timeline to a trace; the language is described at the crate's top.

pub(crate) mod functions;
mod parser;
mod rows;
mod schedule;
mod syntax;

use crate::whole::from_rows;
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{RangeRow, Row, SessionRow, TablesRow, TaskTimeRow};

/// A timeline as the rows that a recording of it would have left.
#[derive(Clone, Debug)]
pub struct Timeline {
    pub session: SessionRow,
    pub tables: TablesRow,
    pub rows: Vec<Row>,
}

/// A mistake in a timeline's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("timeline, line {line}, column {column}: {message}")]
pub struct TimelineError {
    /// Both count from 1.
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl Timeline {
    /// Reads the text of a timeline.
    pub fn parse(text: &str) -> Result<Self, TimelineError> {
        let locate = |mistake: SyntaxError| mistake.locate(text);
        let lanes = parser::parse(text).map_err(locate)?;
        let plan = schedule::schedule(&lanes).map_err(locate)?;
        Ok(rows::rows(&lanes, &plan))
    }

    /// The timeline of a text.
    ///
    /// # Panics
    /// When the text has a mistake.
    #[track_caller]
    pub fn of(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|error| {
            let line = text.lines().nth(error.line - 1).unwrap_or_default();
            let pointer = " ".repeat(error.column - 1);
            panic!("{error}\n{line}\n{pointer}^")
        })
    }

    /// The same without an end of the recording.
    pub fn broken_off(mut self) -> Self {
        self.rows.retain(|row| !matches!(row, Row::End(_)));
        self
    }

    /// The same with further rows, before the end of the recording.
    pub fn with_rows(mut self, rows: impl IntoIterator<Item = Row>) -> Self {
        let is_end = |row: &Row| matches!(row, Row::End(_));
        let place = self.rows.iter().position(is_end);
        let place = place.unwrap_or(self.rows.len());
        self.rows.splice(place..place, rows);
        self
    }

    /// The same with changes of its rows.
    pub fn changed(mut self, change: impl FnMut(&mut Row)) -> Self {
        self.rows.iter_mut().for_each(change);
        self
    }

    /// The same with ranges that the program named: the place of the thread among those of the timeline,
    /// begin and end in microseconds, and the name. A thread that is not there has none.
    pub fn with_ranges(self, ranges: &[(usize, i64, i64, &str)]) -> Self {
        let threads = self.rows.iter().filter_map(|row| match row {
            Row::Thread(row) => Some((row.process, row.thread)),
            _ => None,
        });
        let threads: Vec<_> = threads.collect();
        let rows = ranges.iter().filter_map(|(thread, begin, end, name)| {
            let (process, thread) = *threads.get(*thread)?;
            Some(Row::Range(RangeRow {
                process,
                thread,
                begin_ns: begin * 1_000,
                end_ns: end * 1_000,
                domain: 0,
                name: (*name).to_owned(),
            }))
        });
        let rows: Vec<Row> = rows.collect();
        self.with_rows(rows)
    }

    /// The same where another function made all events (`EventRow::creation`).
    pub fn with_events(self, creation: u8) -> Self {
        self.changed(|row| {
            if let Row::Event(event) = row {
                event.creation = creation;
            }
        })
    }

    /// The same with other facts about the times of tasks, such as when the event after a task was submitted.
    pub fn with_times(self, mut change: impl FnMut(&mut TaskTimeRow)) -> Self {
        self.changed(|row| {
            if let Row::TaskTime(time) = row {
                change(time);
            }
        })
    }

    /// The trace that the rows make.
    pub fn trace(&self) -> Trace {
        from_rows(
            self.session.clone(),
            self.tables.clone(),
            self.rows.iter().cloned(),
        )
    }
}

/// The trace that a timeline's text describes.
///
/// # Panics
/// When the text has a mistake.
#[track_caller]
pub fn timeline(text: &str) -> Trace {
    Timeline::of(text).trace()
}

/// A mistake at a byte offset of the text.
#[derive(Debug)]
struct SyntaxError {
    offset: usize,
    message: String,
}

impl SyntaxError {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        Self {
            offset,
            message: message.into(),
        }
    }

    fn locate(self, text: &str) -> TimelineError {
        let before = text.get(..self.offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        TimelineError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: self.message,
        }
    }
}
