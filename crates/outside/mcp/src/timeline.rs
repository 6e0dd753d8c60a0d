//! The tasks and stalls of a short range as lines of text.

use std::collections::HashMap;
use std::path::Path;

use ascend_trace_recording::units::duration;

/// Lines of a result: by default, and at most.
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 500;

/// The range of lines to return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineRange {
    pub(crate) skip: usize,
    pub(crate) limit: usize,
}

impl LineRange {
    pub(crate) fn new(skip: Option<usize>, limit: Option<usize>) -> Self {
        Self {
            skip: skip.unwrap_or(0),
            limit: limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT),
        }
    }
}

/// A row of a table, by the names of its columns.
type CsvRow = HashMap<String, String>;

fn text<'r>(row: &'r CsvRow, name: &str) -> &'r str {
    row.get(name).map_or("", String::as_str)
}

fn number(row: &CsvRow, name: &str) -> Option<i64> {
    text(row, name).parse().ok()
}

/// The length of a slice in ns, and its line of text.
type TimedLine = (i64, String);

/// The timeline in a folder of CSV tables.
pub(crate) fn of_tables(folder: &Path, wanted: LineRange) -> Result<String, String> {
    let tasks = rows(&folder.join("tasks.csv"))?;
    let stalls = rows(&folder.join("stalls.csv"))?;
    let untimed = tasks.iter().filter(|it| number(it, "begin_ns").is_none());
    let untimed = untimed.count();
    let timed = tasks
        .iter()
        .filter_map(task)
        .chain(stalls.iter().filter_map(stall));
    let mut timed: Vec<(i64, TimedLine)> = timed.collect();
    timed.sort();
    Ok(page(&timed, untimed, wanted))
}

/// The wanted lines, with times from the begin of the first one, and how to ask for the next lines.
fn page(timed: &[(i64, TimedLine)], untimed: usize, wanted: LineRange) -> String {
    let Some((first, _)) = timed.first() else {
        return format!(
            "no task and no stall has a time in this range ({untimed} tasks have none)"
        );
    };
    let shown = timed.iter().skip(wanted.skip).take(wanted.limit);
    let lines = shown.map(|(begin, (length, line))| {
        let since = duration(begin.saturating_sub(*first));
        let length = duration(*length);
        format!("+{since}  {length}  {line}\n")
    });
    let lines: String = lines.collect();
    let end = wanted.skip.saturating_add(wanted.limit);
    let left = timed.len().saturating_sub(end);
    let mut text = format!(
        "begin (from the first line of the range), length, lane, what. Host time of the first line: {first} ns\n{lines}"
    );
    if left > 0 {
        text.push_str(&format!(
            "({left} more lines: ask again with skip = {end})\n"
        ));
    }
    if untimed > 0 {
        text.push_str(&format!("({untimed} tasks of this range have no time)\n"));
    }
    text
}

/// The begin, length and text of a task.
fn task(row: &CsvRow) -> Option<(i64, TimedLine)> {
    let (begin, end) = (number(row, "begin_ns")?, number(row, "end_ns")?);
    let error = number(row, "err_ns").filter(|it| *it > 0);
    let error = error.map_or_else(String::new, |it| format!(", ± {}", duration(it)));
    let line = format!(
        "{} {} {} (task {}, call {}{error})",
        lane(row),
        text(row, "kind"),
        text(row, "name"),
        text(row, "task"),
        text(row, "call"),
    );
    Some((begin, (end.saturating_sub(begin), line)))
}

fn stall(row: &CsvRow) -> Option<(i64, TimedLine)> {
    let (begin, length) = (number(row, "begin_ns")?, number(row, "length_ns")?);
    let error = number(row, "error_ns").filter(|it| *it > 0);
    let error = error.map_or_else(String::new, |it| format!(", ± {}", duration(it)));
    let words = ["cause", "name", "chain"].map(|column| text(row, column));
    let words = words.into_iter().filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let line = format!("{} IDLE {}{error}", lane(row), words.join(" "));
    Some((begin, (length, line)))
}

/// The stream or the thread of a row.
fn lane(row: &CsvRow) -> String {
    let rank = match text(row, "rank") {
        "" => format!("pid {}", text(row, "pid")),
        rank => format!("rank {rank}"),
    };
    match (text(row, "device"), text(row, "tid")) {
        ("", tid) => format!("[{rank} thread {tid}]"),
        (device, _) => format!("[{rank} device {device} stream {}]", text(row, "stream_id")),
    }
}

fn rows(path: &Path) -> Result<Vec<CsvRow>, String> {
    let failed = |error: csv::Error| format!("cannot read {}: {error}", path.display());
    let mut reader = csv::Reader::from_path(path).map_err(failed)?;
    let rows = reader.deserialize::<CsvRow>();
    rows.collect::<Result<_, _>>().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: &str = "task,pid,rank,device,stream_id,kind,name,begin_ns,end_ns,err_ns,call\n\
        0,7,,0,2,kernel,MatMul,1000,5000,10,3\n\
        1,7,,0,2,kernel,Add,9000,9500,0,4\n\
        2,7,,0,2,kernel,Late,,,,5\n";
    const STALLS: &str = "cause,pid,rank,tid,device,stream_id,begin_ns,length_ns,name,chain,error_ns\n\
        host-late,7,,,0,2,5000,4000,,,20\n";

    fn timeline(skip: usize, limit: usize) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tasks.csv"), TASKS).unwrap();
        std::fs::write(folder.path().join("stalls.csv"), STALLS).unwrap();
        of_tables(folder.path(), LineRange { skip, limit }).unwrap()
    }

    #[test]
    fn tasks_and_stalls_are_in_the_order_of_their_begins() {
        let text = timeline(0, 10);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(
            lines[0].contains("MatMul (task 0, call 3, ± 10 ns)"),
            "{text}"
        );
        assert!(
            lines[1].starts_with("+4.00 µs  4.00 µs")
                && lines[1].ends_with("IDLE host-late, ± 20 ns"),
            "{text}"
        );
        assert!(
            lines[2].contains("stream 2] kernel Add (task 1, call 4)"),
            "{text}"
        );
        assert!(lines[3].contains("1 tasks of this range have no time"));
    }

    #[test]
    fn the_rest_is_asked_for_by_its_place() {
        let text = timeline(1, 1);
        assert!(text.contains("IDLE") && !text.contains("MatMul"), "{text}");
        assert!(
            text.contains("(1 more lines: ask again with skip = 2)"),
            "{text}"
        );
    }
}
