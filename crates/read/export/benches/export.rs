//! How fast each format is written, against a plain write of the same bytes.
//!
//! `cargo bench -p ascend-trace-export --bench export [-- FORMAT... RECORDING...]` exports made-up
//! recordings of a training loop to a file, each format several times in turn with the plain write, and
//! prints the best of each: the bytes written in a second, the bytes of one slice, the time of the
//! plain write, the ratio of the export to it, and the bytes formed in a second without writing.
//!
//! There are three recordings: `calls`, in which nothing is submitted, so that the timelines hold
//! slices and nothing else; `tasks`, the same with tasks and their launches; and `waits`, with events
//! and waits as well. Slices are the calls and the timed tasks; events are these, two for each arrow,
//! and the values of counters; rows are those of all tables.
//!
//! Times are processor times of this thread, so other load hardly changes them.
//! `ASCEND_TRACE_BENCH_STEPS` sets the number of steps, `ASCEND_TRACE_BENCH_FOLDER` the folder of the
//! files.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::cell::Cell;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use ascend_trace_export::{Chrome, Csv, ExportSink, ExportSource, Exporter, FORMATS, OutputLayout};
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{CallRow, Row};
use ascend_trace_testkit::whole::from_rows;
use ascend_trace_testkit::workload::{Workload, leading, run};

const TURNS: usize = 5;

/// Processor time of this thread: other load on the machine does not count.
struct ProcessorWatch(Duration);

impl ProcessorWatch {
    fn now() -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    fn start() -> Self {
        Self(Self::now())
    }

    fn elapsed(&self) -> Duration {
        Self::now() - self.0
    }
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Files in a folder.
struct FolderSink<'a>(&'a Path);

impl<'w> ExportSink<'w> for FolderSink<'_> {
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + 'w>> {
        let name = if name.is_empty() { "export" } else { name };
        let path = self.0.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        Ok(Box::new(File::create(path)?))
    }
}

/// Takes everything and keeps nothing.
struct NullSink;

impl<'w> ExportSink<'w> for NullSink {
    fn open(&mut self, _name: &str) -> io::Result<Box<dyn Write + 'w>> {
        Ok(Box::new(io::sink()))
    }
}

/// Counts lines.
#[derive(Clone, Default)]
struct LineCounter(Rc<Cell<u64>>);

impl Write for LineCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.0.set(self.0.get() + lines as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> ExportSink<'w> for LineCounter {
    fn open(&mut self, _name: &str) -> io::Result<Box<dyn Write + 'w>> {
        Ok(Box::new(self.clone()))
    }
}

/// Lines of an export: Chrome's JSON has one for each event, CSV one for each row.
fn lines(format: &dyn Exporter, source: &ExportSource<'_>) -> Result<u64> {
    let mut lines = LineCounter::default();
    format.export(source, &mut lines)?;
    Ok(lines.0.get())
}

/// What there is to write.
struct WrittenAmount {
    slices: u64,
    events: u64,
    rows: u64,
}

/// Rows of a made-up recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowContent {
    Calls,
    Tasks,
    Waits,
}

impl RowContent {
    const ALL: [Self; 3] = [Self::Calls, Self::Tasks, Self::Waits];

    fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Tasks => "tasks",
            Self::Waits => "waits",
        }
    }

    /// Reduces a row to the wanted kind.
    fn keep(self, row: Row) -> Option<Row> {
        match row {
            Row::TaskTime(_) if self == Self::Calls => None,
            Row::Call(call) => Some(Row::Call(CallRow {
                task: call.task.filter(|_| self != Self::Calls),
                event: call.event.filter(|_| self == Self::Waits),
                ..call
            })),
            row => Some(row),
        }
    }
}

fn trace(steps: u32, content: RowContent) -> Trace {
    let mut rows = Vec::new();
    let workload = Workload {
        steps,
        ..Workload::default()
    };
    run(workload, |row| rows.extend(content.keep(row)));
    let (session, tables) = leading();
    from_rows(session, tables, rows)
}

fn main() -> Result<()> {
    let number = |name: &str, otherwise: u32| {
        let text = std::env::var(name).ok();
        text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    // `cargo test` runs benches too: then a short one is enough.
    let is_bench = std::env::args().any(|word| word == "--bench");
    let words = std::env::args().skip(1);
    let wanted: Vec<String> = words.filter(|word| !word.starts_with('-')).collect();
    let names = |name: &str| wanted.iter().any(|word| word == name);
    let steps = number(
        "ASCEND_TRACE_BENCH_STEPS",
        if is_bench { 20_000 } else { 20 },
    );
    let folder = match std::env::var_os("ASCEND_TRACE_BENCH_FOLDER") {
        Some(folder) => PathBuf::from(folder),
        None => std::env::temp_dir(),
    };
    let folder = folder.join(format!("ascend-trace-bench-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let all_formats = !FORMATS.iter().any(|it| names(it.name()));
    let formats = FORMATS.iter().filter(|it| all_formats || names(it.name()));
    let formats: Vec<_> = formats.collect();
    let all_contents = !RowContent::ALL.iter().any(|it| names(it.name()));
    let mut contents = RowContent::ALL
        .into_iter()
        .filter(|it| all_contents || names(it.name()));
    let measured = contents.try_for_each(|content| measure_all(content, steps, &formats, &folder));
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure_all(
    content: RowContent,
    steps: u32,
    formats: &[&&dyn Exporter],
    folder: &Path,
) -> Result<()> {
    let trace = trace(steps, content);
    let begin = ProcessorWatch::start();
    let source = ExportSource::new(&trace);
    let analysis = begin.elapsed();
    let timed = trace.tasks().iter().filter(|it| it.time.is_some()).count();
    let slices = trace.calls().len() + timed;
    let amount = WrittenAmount {
        slices: slices as u64,
        events: lines(&Chrome, &source)?,
        rows: lines(&Csv, &source)?,
    };
    println!(
        "{}: {} calls, {timed} timed tasks; analysis {:.0} ns a slice",
        content.name(),
        trace.calls().len(),
        analysis.as_nanos() as f64 / slices as f64
    );
    for format in formats {
        measure(**format, &source, folder, &amount)?;
    }
    Ok(())
}

fn measure(
    format: &dyn Exporter,
    source: &ExportSource<'_>,
    folder: &Path,
    amount: &WrittenAmount,
) -> Result<()> {
    let [mut best, mut plain, mut nowhere] = [Duration::MAX; 3];
    let mut bytes = 0;
    for _ in 0..TURNS {
        let begin = ProcessorWatch::start();
        format.export(source, &mut FolderSink(folder))?;
        best = best.min(begin.elapsed());
        bytes = folder_bytes(folder)?;
        clear(folder)?;
        plain = plain.min(write(&folder.join("plain"), bytes)?);
        clear(folder)?;
        let begin = ProcessorWatch::start();
        format.export(source, &mut NullSink)?;
        nowhere = nowhere.min(begin.elapsed());
    }
    let (count, what, counted) = match format.layout() {
        OutputLayout::File { .. } => (amount.slices, "slices", (amount.events, "events")),
        OutputLayout::Ranks { .. } | OutputLayout::Folders { .. } => {
            (amount.slices, "slices", (amount.slices, "slices"))
        }
        OutputLayout::Directory { .. } => (amount.rows, "rows", (amount.slices, "slices")),
    };
    let rate = |count: u64, time: Duration| count as f64 / time.as_secs_f64() / 1e6;
    println!(
        "  {:9} {:5.2} M {what}/s ({:5.2} M {}/s), {:3.0} bytes each; plain write {:6.1} ms, export \
         {:5.1} times that; to nowhere {:5.2} M {what}/s",
        format.name(),
        rate(count, best),
        rate(counted.0, best),
        counted.1,
        bytes as f64 / count as f64,
        plain.as_secs_f64() * 1e3,
        best.as_secs_f64() / plain.as_secs_f64(),
        rate(count, nowhere),
    );
    Ok(())
}

fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += match entry.file_type()?.is_dir() {
            true => folder_bytes(&entry.path())?,
            false => entry.metadata()?.len(),
        };
    }
    Ok(bytes)
}

fn clear(folder: &Path) -> Result<()> {
    fs::remove_dir_all(folder)?;
    Ok(fs::create_dir(folder)?)
}

/// Writes this many bytes, a MiB at a time.
fn write(path: &Path, bytes: u64) -> Result<Duration> {
    let block = vec![b'x'; 1 << 20];
    let begin = ProcessorWatch::start();
    let mut file = File::create(path)?;
    let mut left = bytes as usize;
    while left > 0 {
        let part = left.min(block.len());
        file.write_all(&block[..part])?;
        left -= part;
    }
    Ok(begin.elapsed())
}
