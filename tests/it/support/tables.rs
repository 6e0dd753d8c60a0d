//! The CSV tables of a trace, read without the exporter's help.

use std::path::Path;
use std::sync::Arc;

use super::place::is_emulated;
use super::process::{run, tool};
use super::run::{Recording, has_few_places};

/// A line of a table, by the names of its columns. Some tables have millions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CsvRow {
    columns: Arc<[String]>,
    /// All cells, one after another, and where each ends.
    text: Box<str>,
    ends: Box<[u32]>,
}

impl CsvRow {
    #[track_caller]
    pub(crate) fn text(&self, column: &str) -> &str {
        let place = self.columns.iter().position(|name| name == column);
        let place = place.unwrap_or_else(|| panic!("there is no column {column}"));
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin as usize..self.ends[place] as usize]
    }

    fn new(columns: &Arc<[String]>, cells: &[String]) -> Self {
        let ends = cells.iter().scan(0, |end, cell| {
            *end += cell.len() as u32;
            Some(*end)
        });
        Self {
            columns: Arc::clone(columns),
            ends: ends.collect(),
            text: cells.concat().into(),
        }
    }

    /// The rows of a table.
    pub(crate) fn all(table: &str) -> Table {
        parse(table)
    }

    /// A number; every row must have one.
    #[track_caller]
    pub(crate) fn number(&self, column: &str) -> i64 {
        let text = self.text(column);
        let number = text.parse();
        number.unwrap_or_else(|_| panic!("{column} is no number: {text:?} in {self:?}"))
    }

    /// A number, if the cell is not empty.
    #[track_caller]
    pub(crate) fn maybe(&self, column: &str) -> Option<i64> {
        (!self.text(column).is_empty()).then(|| self.number(column))
    }
}

pub(crate) type Table = Vec<CsvRow>;

/// All tables of one trace.
pub(crate) struct Tables {
    pub(crate) calls: Table,
    pub(crate) tasks: Table,
    pub(crate) dependencies: Table,
    pub(crate) stalls: Table,
}

/// The reason of tasks that the tool did not choose to time.
const NOT_SAMPLED: &str = "not-sampled";

impl Tables {
    #[track_caller]
    pub(crate) fn of(recording: &Recording) -> Self {
        Self::of_file(&recording.trace(), &recording.beside("csv"))
    }

    #[track_caller]
    pub(crate) fn of_file(trace: &Path, folder: &Path) -> Self {
        Self::with_status(trace, folder, &[0])
    }

    /// The same of a file that may have no end, since its recorder was killed.
    #[track_caller]
    pub(crate) fn of_lost_file(trace: &Path, folder: &Path) -> Self {
        Self::with_status(trace, folder, &[0, 3])
    }

    #[track_caller]
    fn with_status(trace: &Path, folder: &Path, statuses: &[i32]) -> Self {
        let mut command = tool();
        command.arg("export").arg(trace);
        command
            .args(["--format", "csv", "--force", "-o"])
            .arg(folder);
        let outcome = run(&mut command);
        assert!(statuses.contains(&outcome.status), "{outcome}");
        let table = |name: &str| parse(&std::fs::read_to_string(folder.join(name)).unwrap());
        // Rows of long recordings come in the order in which all is known of them.
        let numbered = |name: &str, column: &str| {
            let mut rows = table(name);
            rows.sort_by_key(|row| row.number(column));
            rows
        };
        Self {
            calls: numbered("calls.csv", "call"),
            tasks: numbered("tasks.csv", "task"),
            dependencies: table("dependencies.csv"),
            stalls: table("stalls.csv"),
        }
    }

    /// The program's own calls, not those that the runtime made inside them.
    pub(crate) fn outer_calls(&self) -> impl Iterator<Item = &CsvRow> {
        self.calls.iter().filter(|call| call.text("depth") == "0")
    }

    pub(crate) fn count_calls(&self, name: &str) -> usize {
        self.outer_calls()
            .filter(|call| call.text("name") == name)
            .count()
    }

    /// The tasks in the order in which they were submitted: that of the table is the order in which what threads
    /// have recorded came in.
    pub(crate) fn as_submitted(&self) -> Table {
        let mut tasks = self.tasks.clone();
        tasks.sort_by_key(|task| self.calls[task.number("call") as usize].number("begin_ns"));
        tasks
    }

    /// Why tasks have no times, for those that have none. Tasks of a busy stream that `auto` times as a whole do not count.
    pub(crate) fn untimed(&self) -> Vec<&str> {
        let reasons = self.tasks.iter().map(|task| task.text("untimed"));
        let reasons = reasons.filter(|reason| !reason.is_empty());
        reasons.filter(|reason| *reason != NOT_SAMPLED).collect()
    }

    /// Reasons for tasks without times, except those of a card with few places for events: there only
    /// the program's synchronisations bring times.
    pub(crate) fn untimed_but_for_the_card(&self) -> Vec<&str> {
        let mut untimed = self.untimed();
        if has_few_places() {
            untimed
                .retain(|reason| !["queue-full", "not-harvested", "unreadable"].contains(reason));
        }
        untimed
    }

    /// The program never waits for the tracer: where a thread of the tool lost its processor while it
    /// had a lock, a task is left alone, with that reason. Every other task has times, except where a
    /// card cannot give them.
    #[track_caller]
    pub(crate) fn all_timed(&self) {
        let untimed = self.untimed_but_for_the_card();
        let is_contended = |reason: &&str| ["contended", "no-event"].contains(reason);
        assert!(untimed.iter().all(is_contended), "{untimed:?}");
        // In an emulator a thread has a lock in its hands for many times as long.
        let of = if is_emulated() { 10 } else { 50 };
        assert!(untimed.len() <= 2 + self.tasks.len() / of, "{untimed:?}");
        let reasons = self.tasks.iter().map(|task| task.text("untimed"));
        let as_a_whole = reasons.filter(|reason| *reason == NOT_SAMPLED).count();
        assert!(as_a_whole <= self.tasks.len() / 8, "{as_a_whole} tasks");
    }

    /// Every process in the trace.
    pub(crate) fn processes(&self) -> Vec<i64> {
        let mut pids: Vec<i64> = self.calls.iter().map(|call| call.number("pid")).collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }
}

/// Reads RFC 4180 text with a header.
#[track_caller]
pub(crate) fn parse(text: &str) -> Table {
    let mut header: Option<Arc<[String]>> = None;
    let mut table = Table::new();
    cells(text, |cells| match &header {
        None => header = Some(cells.into()),
        Some(header) => {
            assert_eq!(cells.len(), header.len(), "{cells:?}");
            table.push(CsvRow::new(header, &cells));
        }
    });
    assert!(header.is_some(), "a header");
    table
}

/// Hands on the cells of one line after another.
fn cells(text: &str, mut take: impl FnMut(Vec<String>)) {
    let (mut line, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        match (next, quoted) {
            ('"', true) if rest.peek() == Some(&'"') => cell.extend(rest.next()),
            ('"', _) => quoted = !quoted,
            (',', false) => line.push(std::mem::take(&mut cell)),
            ('\n', false) => {
                line.push(std::mem::take(&mut cell));
                take(std::mem::take(&mut line));
            }
            (other, _) => cell.push(other),
        }
    }
    assert!(
        cell.is_empty() && line.is_empty(),
        "the last line has no end"
    );
}

#[test]
fn quoted_cells_are_read() {
    let table = parse("a,b\n\"x, \"\"y\"\"\nz\",2\n,\n");
    assert_eq!(table[0].text("a"), "x, \"y\"\nz");
    assert_eq!(table[0].number("b"), 2);
    assert_eq!(table[1].maybe("b"), None);
}
