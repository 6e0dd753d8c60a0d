//! How fast each format is written, against a plain write of the same bytes.
//!
//! `cargo bench -p ascend-trace-export --bench export` exports a made-up recording of a training loop to
//! a file, each format several times in turn with the plain write, and prints the best of each:
//! slices, events or rows per second, the time that the plain write took, and how many times that the
//! export takes. Slices are the calls and the timed tasks; events are these, two for each arrow, and the
//! values of counters; rows are those of all tables. Times are those of the processor, so a busy machine tells the same. `ASCEND_TRACE_BENCH_STEPS` sets the length, `ASCEND_TRACE_BENCH_FOLDER` where files go.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::cell::Cell;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use ascend_trace_export::{Chrome, Csv, Exporter, FORMATS, Layout, Sink, Source};
use ascend_trace_model::Trace;
use ascend_trace_testkit::workload::{Workload, leading, run};

const TURNS: usize = 3;

/// What the processor spent on this thread: other load on the machine does not count.
struct Watch(Duration);

impl Watch {
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
struct Folder<'a>(&'a Path);

impl<'w> Sink<'w> for Folder<'_> {
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + 'w>> {
        let name = if name.is_empty() { "export" } else { name };
        let file = File::create(self.0.join(name))?;
        Ok(Box::new(BufWriter::with_capacity(1 << 20, file)))
    }
}

/// Counts lines.
#[derive(Clone, Default)]
struct Lines(Rc<Cell<u64>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.0.set(self.0.get() + lines as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> Sink<'w> for Lines {
    fn open(&mut self, _name: &str) -> io::Result<Box<dyn Write + 'w>> {
        Ok(Box::new(self.clone()))
    }
}

/// Lines of an export: Chrome's JSON has one for each event, CSV one for each row.
fn lines(format: &dyn Exporter, source: &Source<'_>) -> Result<u64> {
    let mut lines = Lines::default();
    format.export(source, &mut lines)?;
    Ok(lines.0.get())
}

/// What there is to write.
struct Amount {
    slices: u64,
    events: u64,
    rows: u64,
}

fn trace(steps: u32) -> Trace {
    let mut rows = Vec::new();
    let workload = Workload {
        steps,
        ..Workload::default()
    };
    run(workload, |row| rows.push(row));
    let (session, tables) = leading();
    Trace::from_rows(session, tables, rows)
}

fn main() -> Result<()> {
    let number = |name: &str, otherwise: u32| {
        let text = std::env::var(name).ok();
        text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    // `cargo test` runs benches too: then a short one is enough.
    let is_bench = std::env::args().any(|word| word == "--bench");
    let steps = number(
        "ASCEND_TRACE_BENCH_STEPS",
        if is_bench { 20_000 } else { 20 },
    );
    let trace = trace(steps);
    let begin = Watch::start();
    let source = Source::new(&trace);
    let analysis = begin.elapsed();
    let timed = trace.tasks().iter().filter(|it| it.time.is_some()).count();
    let slices = trace.calls().len() + timed;
    let amount = Amount {
        slices: slices as u64,
        events: lines(&Chrome, &source)?,
        rows: lines(&Csv, &source)?,
    };
    println!(
        "{} calls, {timed} timed tasks; analysis {:.0} ns a slice",
        trace.calls().len(),
        analysis.as_nanos() as f64 / slices as f64
    );
    let folder = match std::env::var_os("ASCEND_TRACE_BENCH_FOLDER") {
        Some(folder) => PathBuf::from(folder),
        None => std::env::temp_dir(),
    };
    let folder = folder.join(format!("ascend-trace-bench-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = FORMATS
        .iter()
        .try_for_each(|format| measure(*format, &source, &folder, &amount));
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure(
    format: &dyn Exporter,
    source: &Source<'_>,
    folder: &Path,
    amount: &Amount,
) -> Result<()> {
    let (mut best, mut plain) = (Duration::MAX, Duration::MAX);
    let mut bytes = 0;
    for _ in 0..TURNS {
        let begin = Watch::start();
        format.export(source, &mut Folder(folder))?;
        best = best.min(begin.elapsed());
        bytes = folder_bytes(folder)?;
        clear(folder)?;
        plain = plain.min(write(&folder.join("plain"), bytes)?);
        clear(folder)?;
    }
    let rate = |count: u64| count as f64 / best.as_secs_f64() / 1e6;
    let (count, rates) = match format.layout() {
        Layout::File { .. } => {
            let (slices, events) = (rate(amount.slices), rate(amount.events));
            (
                amount.slices,
                format!("{slices:5.2} M slices/s, {events:5.2} M events/s"),
            )
        }
        Layout::Directory { .. } => {
            let slices = rate(amount.slices);
            let text = format!(
                "{slices:5.2} M slices/s, {:5.2} M rows/s",
                rate(amount.rows)
            );
            (amount.rows, text)
        }
    };
    println!(
        "{:9} {rates}, {:4.0} bytes each; plain write {:6.1} ms, export {:5.1} times that",
        format.name(),
        bytes as f64 / count as f64,
        plain.as_secs_f64() * 1e3,
        best.as_secs_f64() / plain.as_secs_f64()
    );
    Ok(())
}

fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}

fn clear(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        fs::remove_file(entry?.path())?;
    }
    Ok(())
}

/// Writes this many bytes, a MiB at a time.
fn write(path: &Path, bytes: u64) -> Result<Duration> {
    let block = vec![b'x'; 1 << 20];
    let begin = Watch::start();
    let mut file = File::create(path)?;
    let mut left = bytes as usize;
    while left > 0 {
        let part = left.min(block.len());
        file.write_all(&block[..part])?;
        left -= part;
    }
    Ok(begin.elapsed())
}
